//! Formats of files, which are known by what they hold.

use std::process::Stdio;

use crate::*;

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
    #[cfg(not(feature = "parquet"))]
    {
        fs::write(folder.join("data"), b"PAR1xxxx").unwrap();
        let found = complaint(&folder, "evaluate --predictions data --labels y.csv");
        begins(
            &found,
            "data: holds Parquet: expected a build with --features parquet, or text by pandas.read_parquet(",
        );
    }
    // words in brackets are labels
    write(&folder, &[("w.csv", "[CLS]\n<unk>\n[CLS]\n{sep}\n")]);
    let words = "evaluate --predictions p.csv --labels w.csv --classes [CLS],<unk>,{sep}";
    assert_eq!(found(&folder, words), expected);
}
