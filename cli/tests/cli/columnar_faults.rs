//! Files of Parquet that were made to break a reader, and some that were refused though they are right.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int8Array, Int64Array, RecordBatch, types::Int8Type,
};
use parquet::basic::Compression as Packed;
use parquet::{
    arrow::ArrowWriter,
    basic::Encoding,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType},
    file::{
        properties::{WriterProperties, WriterPropertiesBuilder},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};

use crate::*;

const EVALUATE: &str = "evaluate --predictions p --labels y.csv";

fn prepared(name: &str) -> (PathBuf, Value) {
    let folder = folder(name);
    write(&folder, &[("p", ROWS), ("y.csv", LABELS)]);
    let expected = found(&folder, EVALUATE);
    (folder, expected)
}

/// The columns of the rows.
fn columns() -> [Float64Array; 3] {
    [0, 1, 2].map(|column| rows().into_iter().skip(column).step_by(3).collect())
}

/// Runs with at most 1 GiB of memory: what is said of an error.
fn complaint_of_limited(folder: &Path, arguments: &str) -> String {
    let limited = "ulimit -d 1048576; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_calibration")]);
    shell.args(arguments.split(' ')).current_dir(folder);
    let output = shell.output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    complaint
}

/// A footer whose schema is a group within a group, so many times; Thrift's compact protocol.
fn nested(levels: u32) -> Vec<u8> {
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let mut count = levels + 2;
    while count >= 0x80 {
        footer.push(count as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    footer.extend([0x48, 1, b'r', 0x15, 2, 0]);
    for _ in 0..levels {
        footer.extend([0x35, 0, 0x18, 1, b'a', 0x15, 2, 0]);
    }
    footer.extend([0x15, 2, 0x25, 0, 0x18, 1, b'a', 0]);
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

#[test]
fn parquet_that_is_not_read() {
    let (folder, _) = prepared("parquet-not-read");
    let refused = |bytes: &[u8], expected: &str| {
        fs::write(folder.join("p"), bytes).unwrap();
        let found = complaint(&folder, EVALUATE);
        begins(&found, &format!("p: {expected}"));
    };
    let deep = "a schema of more than 100 levels, expected columns";
    for levels in [200, 10_000, 1_000_000] {
        refused(&nested(levels), deep);
    }
    let group = "column 0 (a): of the type Struct, expected numbers";
    refused(&nested(50), group);
    // the last bytes alone tell it, where columns are encrypted and the footer as well
    let encrypted = "encrypted Parquet, expected a file that is not encrypted";
    refused(b"PARE1234\x04\0\0\0PARE", encrypted);
    refused(b"PAR1", "not Parquet: no footer at its end");
    // the path of a column, and by what it is packed
    let mut packed = wide(1);
    let path = b"\x19\x18\x02c0\x15\0";
    let at = packed.windows(path.len()).position(|bytes| bytes == path);
    packed[at.unwrap() + path.len() - 1] = 8;
    let brotli = "column c0: is packed by BROTLI, expected Snappy, gzip, LZ4 or";
    refused(&packed, brotli);
    let broken = b"PAR1\x15\x02\x19\xfc\x03\0\0\0PAR1";
    refused(broken, "not Parquet: a footer that is broken");
}

/// Numbers by their place in a dictionary, words of an enumeration, and deltas.
#[test]
fn columns_of_more_types() {
    let (folder, expected) = prepared("more-types");
    let column = |(at, numbers): (usize, Float64Array)| {
        let keys = Int8Array::from(vec![0, 1, 2, 3]);
        let array = DictionaryArray::<Int8Type>::new(keys, Arc::new(numbers));
        (["cat", "dog", "emu"][at], Arc::new(array) as ArrayRef)
    };
    let named = columns().into_iter().enumerate().map(column);
    let batch = RecordBatch::try_from_iter(named).unwrap();
    fs::write(folder.join("p"), parquet(&batch, plain())).unwrap();
    assert_eq!(found(&folder, EVALUATE), expected);

    let delta = plain().set_encoding(Encoding::DELTA_BINARY_PACKED);
    let labels: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 0, 2]));
    let batch = RecordBatch::try_from_iter([("label", labels)]).unwrap();
    fs::write(folder.join("y.csv"), parquet(&batch, delta)).unwrap();
    assert_eq!(found(&folder, EVALUATE), expected);

    let schema = "message m { required binary label (ENUM); }";
    let words = ["cat", "dog", "cat", "emu"].map(ByteArray::from);
    let bytes = parquet_of::<ByteArrayType>(schema, plain(), &words);
    fs::write(folder.join("y.csv"), bytes).unwrap();
    let evaluate = format!("{EVALUATE} --classes cat,dog,emu");
    assert_eq!(found(&folder, &evaluate), expected);
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_dictionary_enabled(false)
}

fn parquet(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let (schema, mut bytes) = (batch.schema(), Vec::new());
    let writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties.build()));
    let mut writer = writer.unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Each column has the same values.
fn parquet_of<T: DataType>(
    schema: &str,
    properties: WriterPropertiesBuilder,
    values: &[T::T],
) -> Vec<u8> {
    let (schema, mut bytes) = (Arc::new(parse_message_type(schema).unwrap()), Vec::new());
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let typed = column.typed::<T>();
        typed.write_batch(values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// Parquet of so many columns, each with one value.
fn wide(columns: usize) -> Vec<u8> {
    let fields = lines(columns, |k| format!("required double c{k};"));
    let properties = plain().set_compression(Packed::UNCOMPRESSED);
    parquet_of::<DoubleType>(&format!("message m {{ {fields} }}"), properties, &[0.5])
}

/// Each column once: 40,000 of them are read, and what is wrong is told.
#[test]
fn many_columns_are_read() {
    let (folder, _) = prepared("many-columns");
    fs::write(folder.join("p"), wide(40_000)).unwrap();
    contains(&complaint(&folder, EVALUATE), "expected");
}

/// Numbers that name rows keep all their digits: neighbours beyond 2⁵³ are two rows.
#[test]
fn large_ids_are_told_apart() {
    let (folder, expected) = prepared("large ids");
    let ids: Vec<i64> = (0..4).map(|i| (1 << 53) + i).collect();
    let [a, b, c] = columns().map(|column| Arc::new(column) as ArrayRef);
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(ids.clone())) as ArrayRef),
        ("a", a),
        ("b", b),
        ("c", c),
    ]);
    fs::write(folder.join("p"), parquet(&batch.unwrap(), plain())).unwrap();
    let lines = ids.iter().zip(LABELS.lines());
    let mut lines: Vec<_> = lines.map(|(id, label)| format!("{id},{label}\n")).collect();
    lines.reverse();
    let lines = lines.concat();
    fs::write(folder.join("y.csv"), format!("id,label\n{lines}")).unwrap();
    let evaluate = format!("{EVALUATE} --id id");
    assert_eq!(found(&folder, &evaluate)["accuracy"], expected["accuracy"]);
}

/// The header of a page may say any size: no memory is taken for what the file cannot hold.
#[test]
fn pages_need_bounded_memory() {
    let (folder, _) = prepared("pages");
    fs::write(folder.join("y.csv"), "0\n1\n0\n1\n").unwrap();
    let evaluate = "evaluate --predictions p --positive --labels y.csv";
    let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.25, 0.5, 0.25]));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    for packed in [
        Packed::SNAPPY,
        Packed::LZ4_RAW,
        Packed::ZSTD(Default::default()),
    ] {
        // of two pages the first is shorter than what is left of the column
        let properties = plain().set_compression(packed);
        let properties = properties.set_write_batch_size(2);
        let mut bytes = parquet(&batch, properties.set_data_page_row_count_limit(2));
        fs::write(folder.join("p"), &bytes).unwrap();
        found(&folder, evaluate);
        // a data page and its size, a byte: almost 2 GiB in its place
        assert_eq!(bytes[4..7], [0x15, 0, 0x15]);
        assert!(bytes[7] < 0x80);
        bytes.splice(7..8, *b"\xfe\xff\xff\xff\x0f");
        fs::write(folder.join("p"), bytes).unwrap();
        let expected =
            "calibration: p: column a: unpacks to more than 64 MiB and to more than 200 times";
        begins(&complaint_of_limited(&folder, evaluate), expected);
    }
}
