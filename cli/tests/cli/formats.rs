//! Formats of files, which are known by what they hold.

use std::process::Stdio;

use crate::*;

/// The same data in every format: the same object.
#[test]
fn formats_agree() {
    let folder = folder("formats");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("p.csv", ROWS.as_bytes());
    write("header.csv", format!("cat,dog,emu\n{ROWS}").as_bytes());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(ROWS.as_bytes()).unwrap();
    write("p.csv.gz", &gzip.finish().unwrap());
    write("p.npy", &npy(&rows(), &[4, 3], npyz::Order::C));
    let columns: Vec<f64> = (0..12).map(|k| rows()[k % 4 * 3 + k / 4]).collect();
    write("fortran.npy", &npy(&columns, &[4, 3], npyz::Order::Fortran));
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in [
        ("p.npy", npy(&rows(), &[4, 3], npyz::Order::C)),
        ("y.npy", npy(&[1.0, 2.0, 1.0, 3.0], &[4], npyz::Order::C)),
    ] {
        archive.start_file(name, options).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    write("both.npz", &archive.finish().unwrap().into_inner());
    write("y.csv", LABELS.as_bytes());

    let expected = unnamed(json(&folder, "evaluate --predictions p.csv --labels y.csv"));
    for predictions in [
        "header.csv",
        "p.csv.gz",
        "p.npy",
        "fortran.npy",
        "both.npz:p",
    ] {
        let found = json(
            &folder,
            &format!("evaluate --predictions {predictions} --labels y.csv"),
        );
        assert_eq!(unnamed(found), expected, "{predictions}");
    }
    let found = json(
        &folder,
        "evaluate --predictions p.npy --labels both.npz:y --one-based",
    );
    assert_eq!(unnamed(found), expected);
    let many = complaint(&folder, "evaluate --predictions both.npz --labels y.csv");
    assert_eq!(
        many,
        "both.npz: holds the arrays p, y, expected FILE.npz:ARRAY to name one"
    );
}

/// Whatever its name, a file is known by what it holds; standard input as well.
#[test]
fn formats_by_content() {
    let folder = folder("content");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    let packed = |bytes: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file("p.npy", zip::write::SimpleFileOptions::default())
        .unwrap();
    archive.write_all(&array).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![4, 3], &bytes);
    let tensors = safetensors::serialize([("p", tensor.unwrap())], None).unwrap();
    for (what, bytes) in [
        ("text", ROWS.as_bytes().to_vec()),
        ("gzip", packed(ROWS.as_bytes())),
        ("array", array.clone()),
        ("packed array", packed(&array)),
        ("archive", archive),
        ("safetensors", tensors),
    ] {
        fs::write(folder.join("data"), &bytes).unwrap();
        let by_name = found(&folder, "evaluate --predictions data --labels y.csv");
        assert_eq!(by_name, expected, "{what}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_calibration"))
            .args("evaluate --predictions - --labels y.csv --json".split(' '))
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{what}");
        assert_eq!(
            unnamed(serde_json::from_slice(&output.stdout).unwrap()),
            expected,
            "{what}"
        );
    }
    for (bytes, expected) in [
        #[cfg(not(feature = "parquet"))]
        (
            &b"PAR1xxxx"[..],
            "data: holds Parquet: expected a build with --features parquet, or text by pandas.read_parquet(",
        ),
        #[cfg(not(feature = "parquet"))]
        (
            &b"ARROW1xx"[..],
            "data: holds Arrow IPC: expected a build with --features parquet, or text by pandas.read_feather(",
        ),
        (
            &b"\x80\x04\x95xx"[..],
            "data: holds Python's pickle, expected",
        ),
        (b"PK\x03\x04xx", "data: "),
        (
            b"\x93NUMPY\x01\x00\x10\x00{'descr'",
            "data: ends within its header",
        ),
        (
            b"\x93NUMPY\x09\x00\x10\x00{'descr'",
            "data: NPY of version 9",
        ),
        (&packed(&packed(b"1")), "data: gzip within gzip"),
        (&packed(ROWS.as_bytes())[..30], "data: "),
        (b"", "data: holds no rows"),
        (
            b"<!DOCTYPE html>\n<p>1,2</p>",
            "data: holds HTML or XML, expected a table such as CSV",
        ),
        (
            b"\n {\"p\": [[0.5, 0.5]]}",
            "data: JSON Lines with the fields p, expected --columns to name those of the predictions",
        ),
        (
            b"[[0.5, 0.5]]",
            "data: holds a list of JSON, not an object on each line, expected a table such as CSV",
        ),
    ] {
        fs::write(folder.join("data"), bytes).unwrap();
        let found = complaint(&folder, "evaluate --predictions data --labels y.csv");
        begins(&found, expected);
    }
    // words in brackets are labels
    write(&folder, &[("w.csv", "[CLS]\n<unk>\n[CLS]\n{sep}\n")]);
    let words = "evaluate --predictions p.csv --labels w.csv --classes [CLS],<unk>,{sep}";
    assert_eq!(found(&folder, words), expected);
}
