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
    write("p.csv.gz", &gzip(ROWS.as_bytes()));
    let p = npy(&rows(), &[4, 3], npyz::Order::C);
    write("p.npy", &p);
    let columns: Vec<f64> = (0..12).map(|k| rows()[k % 4 * 3 + k / 4]).collect();
    write("fortran.npy", &npy(&columns, &[4, 3], npyz::Order::Fortran));
    let y = npy(&[1.0, 2.0, 1.0, 3.0], &[4], npyz::Order::C);
    write("both.npz", &archive(PACKED, &[("p.npy", p), ("y.npy", y)]));
    write("y.csv", LABELS.as_bytes());

    let expected = unnamed(json(&folder, "evaluate --predictions p.csv --labels y.csv"));
    for files in [
        "header.csv --labels y.csv",
        "p.csv.gz --labels y.csv",
        "p.npy --labels y.csv",
        "fortran.npy --labels y.csv",
        "both.npz:p --labels y.csv",
        "p.npy --labels both.npz:y --one-based",
    ] {
        let found = json(&folder, &format!("evaluate --predictions {files}"));
        assert_eq!(unnamed(found), expected, "{files}");
    }
    let many = complaint(&folder, "evaluate --predictions both.npz --labels y.csv");
    let expected = "both.npz: holds the arrays p, y, expected FILE.npz:ARRAY to name one";
    assert_eq!(many, expected);
}

const PACKED: zip::CompressionMethod = zip::CompressionMethod::Deflated;

/// Whatever its name, a file is known by what it holds; standard input as well.
#[test]
fn formats_by_content() {
    let folder = folder("content");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensors = safetensors_of(safetensors::Dtype::F64, &[4, 3], &bytes);
    for (what, bytes) in [
        ("text", ROWS.as_bytes().to_vec()),
        ("gzip", gzip(ROWS.as_bytes())),
        ("array", array.clone()),
        ("packed array", gzip(&array)),
        ("archive", archive(PACKED, &[("p.npy", array)])),
        ("safetensors", tensors),
    ] {
        fs::write(folder.join("data"), &bytes).unwrap();
        let by_name = found(&folder, "evaluate --predictions data --labels y.csv");
        assert_eq!(by_name, expected, "{what}");
        let mut piped = command(&folder, "evaluate --predictions - --labels y.csv --json");
        let piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{what}");
        let found = unnamed(serde_json::from_slice(&output.stdout).unwrap());
        assert_eq!(found, expected, "{what}");
    }
    for (bytes, expected) in [
        #[cfg(not(feature = "parquet"))]
        (
            &b"PAR1xxxx"[..],
            "data: holds Parquet: expected a build with --features parquet, or text by pandas.read_parquet(",
        ),
        (
            &b"ARROW1xx"[..],
            "data: holds Arrow IPC (pandas.read_feather(…).to_csv(…, index=False) converts it), expected text",
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
        (&gzip(&gzip(b"1")), "data: gzip within gzip"),
        (&gzip(ROWS.as_bytes())[..30], "data: "),
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
