//! Formats, which are known by what a file holds.

use crate::*;

/// An NPY file of any dtype.
fn array(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// The numbers of one table, to the last bit.
#[test]
fn formats_agree() {
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let columns: Vec<f64> = (0..12).map(|k| rows()[k % 4 * 3 + k / 4]).collect();
    let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
    let jsonl: String = (ROWS.lines())
        .map(|row| format!("{{\"p\": [{row}], \"label\": 1}}\n"))
        .collect();
    for (what, bytes) in [
        ("text", ROWS.into()),
        ("a header", format!("cat,dog,emu\n{ROWS}").into()),
        ("gzip", gzip(ROWS.as_bytes())),
        ("columns", npy(&columns, &[4, 3], npyz::Order::Fortran)),
        ("a packed array", gzip(&array)),
        ("an archive", npz(&[("p", &array)])),
        (
            "safetensors",
            safetensors_of(safetensors::Dtype::F64, &[4, 3], &bytes),
        ),
        ("an array", array),
    ] {
        let (table, _) = read(bytes).unwrap();
        assert_eq!(
            (table.numbers.columns, table.numbers.values),
            (3, rows()),
            "{what}"
        );
    }
    let (_folder, path) = file(jsonl);
    let columns = PredictionColumns {
        columns: Some("p"),
        label: Some(("label", true)),
        ..PredictionColumns::default()
    };
    let (table, _) = table_of(&path, &columns).unwrap();
    assert_eq!(table.numbers.values, rows());
    assert_eq!(table.names, ["p.0", "p.1", "p.2"]);
    assert_eq!(&table.labels[0].cells[3], "1");
}

/// Each type of numbers with its largest and its least.
#[test]
fn types_of_numbers() {
    use half::{bf16, f16};
    macro_rules! case {
        ($number:ty, $npy:literal, $safetensors:ident, $to:expr) => {
            let numbers = [<$number>::MIN, <$number>::MAX];
            let little = numbers.map(|x| x.to_le_bytes()).concat();
            let big = numbers.map(|x| x.to_be_bytes()).concat();
            let dtype = safetensors::Dtype::$safetensors;
            let expected: [f64; 2] = numbers.map($to);
            for bytes in [
                array(concat!("<", $npy), "(2,)", &little),
                array(concat!(">", $npy), "(2,)", &big),
                safetensors_of(dtype, &[2, 1], &little),
            ] {
                assert_eq!(read(bytes).unwrap().0.numbers.values, expected, $npy);
            }
        };
    }
    case!(u8, "u1", U8, f64::from);
    case!(i8, "i1", I8, f64::from);
    case!(u16, "u2", U16, f64::from);
    case!(i16, "i2", I16, f64::from);
    case!(u32, "u4", U32, f64::from);
    case!(i32, "i4", I32, f64::from);
    case!(u64, "u8", U64, |x| x as f64);
    case!(i64, "i8", I64, |x| x as f64);
    case!(f16, "f2", F16, f64::from);
    case!(bf16, "V2", BF16, f64::from);
    case!(f64, "f8", F64, f64::from);
    let truth = array("|b1", "(2, 2)", &[1, 0, 0, 1]);
    assert_eq!(read(truth).unwrap().0.numbers.values, [1.0, 0.0, 0.0, 1.0]);
    let single = array("<f4", "(1, 1)", &0.1f32.to_le_bytes());
    assert_eq!(read(single).unwrap().0.numbers.values, [f64::from(0.1f32)]);
}

#[test]
fn what_is_not_read_is_named() {
    let eight = [0; 96];
    let cases: [(&[u8], &str); 17] = [
        (b"", "holds no rows"),
        (b"\xff\xfe0\0", "holds text as UTF-16, not UTF-8"),
        (b"ARROW1xx", "holds Arrow IPC (pandas.read_feather("),
        (
            b"\x80\x04\x95xx",
            "holds Python's pickle, expected text such as CSV",
        ),
        (
            b"\x93NUMPY\x09\x00\x10\x00{'descr'",
            "NPY of version 9, expected 1, 2 or 3",
        ),
        (
            b"\x93NUMPY\x01\x00\x10\x00{'descr'",
            "ends within its header",
        ),
        (&gzip(&gzip(b"1")), "gzip within gzip, expected it once"),
        (
            b"<!DOCTYPE html>",
            "holds HTML or XML, expected a table such as CSV",
        ),
        (
            b"[[0.5, 0.5]]",
            "holds a list of JSON, not an object on each line",
        ),
        (b"0.5,0.5\n\xe9,1\n", "line 2: no text in UTF-8"),
        (
            b"0.5,0.5\n\xd8,\x80\n", // a character across two cells
            "line 2: no text in UTF-8",
        ),
        (
            &array("<c16", "(4, 3)", &[]),
            "an array of dtype <c16, expected numbers",
        ),
        (
            &array("<f8", "(2, 2, 3)", &eight),
            "an array of 3 dimensions (2 × 2 × 3), expected one or two",
        ),
        (
            &array("<f8", "(3, 3)", &eight),
            "goes on after the 9 numbers of its shape",
        ),
        (
            &array("<f8", "(100000000, 4)", &eight),
            "ends before the last of 400000000 numbers of its shape",
        ),
        (
            &array("<f8", "(4611686018427387904, 4)", &eight),
            "4611686018427387904 rows of 4 numbers, expected at most",
        ),
        (
            &npz(&[("p", b""), ("y", b"")]),
            "holds the arrays p, y, expected FILE.npz:ARRAY to name one",
        ),
    ];
    for (bytes, expected) in cases {
        begins(&complaint(bytes), expected);
    }
}

/// A byte that changed is an error of an archive, and of gzip.
#[test]
fn archives_are_checked() {
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let archive = npz(&[("p", &array)]);
    // the last bytes of the data, which end where the central directory begins
    let end = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02");
    let end = end.unwrap();
    for at in end - 40..end {
        let mut broken = archive.clone();
        broken[at] ^= 1;
        complaint(&broken);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(ROWS.as_bytes()).unwrap();
    let mut gzip = gzip.finish().unwrap();
    let at = gzip.windows(3).position(|bytes| bytes == b"0.7").unwrap();
    gzip[at + 2] = b'6';
    complaint(&gzip);
}

/// 100 MiB in 100 kB.
#[test]
fn what_unpacks_to_too_much_is_refused() {
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    let row = format!("0.5,{}0.5\n", " ".repeat(1 << 20));
    member.write_all(row.as_bytes()).unwrap();
    let bomb = member.finish().unwrap().repeat(100);
    let expected = "unpacks to more than 64 MiB and to more than 200 times its size";
    begins(&complaint(bomb), expected);
}
