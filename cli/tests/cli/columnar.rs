//! Parquet and Arrow IPC. The files in `columnar/` are of pyarrow 26, pandas 3 and polars 2, made by
//! `columnar/make.py` there.

use crate::*;

const EVALUATE: &str = "evaluate --label-column label --predictions";

/// The files of others, and the labels and the same numbers as text.
fn prepared(name: &str) -> PathBuf {
    let folder = folder(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/columnar");
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    fs::write(folder.join("p.csv"), format!("cat,dog,emu\n{ROWS}")).unwrap();
    folder
}

fn brier(folder: &Path, arguments: &str) -> f64 {
    number(&found(folder, arguments)["estimates"]["brier"])
}

#[test]
fn columns_of_every_writer() {
    let folder = prepared("columnar");
    let expected = brier(&folder, "evaluate --predictions p.csv --labels y.csv");
    for (name, tolerance) in [
        ("pandas.parquet", 1e-15),
        ("category.parquet", 1e-15),
        ("index.parquet", 1e-15),
        ("polars.parquet", 1e-15),
        ("lists.parquet", 1e-15),
        ("pandas.feather", 1e-15),
        ("category.feather", 1e-15),
        ("polars.arrow", 1e-15),
        ("polars.arrows", 1e-15),
        ("lists.arrow", 1e-15),
        ("fixed.parquet --classes cat,dog,emu", 1e-7),
        ("fixed.arrows --classes cat,dog,emu", 1e-7),
        ("split.parquet", 1e-7),
        ("plain.parquet", 1e-7),
        ("delta.parquet", 1e-7),
        ("half.parquet", 1e-3),
        ("half.feather", 1e-3),
    ] {
        let found = brier(&folder, &format!("{EVALUATE} {name}"));
        assert!(
            (found - expected).abs() <= tolerance * expected,
            "{name}: {found}, {expected}"
        );
    }
    // columns by name or number, labels in a file of their own
    for arguments in [
        "evaluate --predictions pandas.parquet --columns cat..emu --labels y.csv",
        "evaluate --predictions polars.arrow --columns 0-2 --labels y.parquet",
        "evaluate --predictions lists.arrow --columns probs --labels hot.parquet",
        "evaluate --predictions p.csv --labels y.parquet --label-column y",
        "evaluate --predictions p.csv --labels pandas.feather --label-column label",
    ] {
        assert_eq!(brier(&folder, arguments), expected, "{arguments}");
    }
    // packed, and from standard input
    let file = fs::read(folder.join("polars.parquet")).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&file).unwrap();
    fs::write(folder.join("packed"), gzip.finish().unwrap()).unwrap();
    assert_eq!(brier(&folder, &format!("{EVALUATE} packed")), expected);
}

/// What ends too early is named.
#[test]
fn what_is_broken_is_named() {
    let folder = prepared("columnar-broken");
    for (name, length, expected) in [
        ("pandas.parquet", 2000, "not Parquet: "),
        ("pandas.feather", 1000, "not Arrow IPC: no footer"),
        ("polars.arrows", 300, "not Arrow IPC: ends within "),
    ] {
        let file = fs::read(folder.join(name)).unwrap();
        fs::write(folder.join("broken"), &file[..length]).unwrap();
        let found = complaint(&folder, "evaluate --predictions broken --labels y.csv");
        begins(&found, &format!("broken: {expected}"));
    }
}

/// Decimals are scaled, in predictions and labels; what is no number and no text is an error.
#[test]
fn types_are_read_right_or_refused() {
    let folder = prepared("columnar-types");
    let expected = brier(&folder, "evaluate --predictions p.csv --labels y.csv");
    let evaluate = |file: &str, label: &str| {
        format!("evaluate --predictions {file} --columns cat,dog,emu --label-column {label}")
    };
    for (file, label) in [
        ("types.parquet", "dec0"),
        ("types.parquet", "dec2"),
        ("types.parquet", "big"),
        ("whole.parquet", "dec0"),
        ("whole.parquet", "dec2"),
        ("types.arrow", "dec0"),
        ("types.arrow", "dec2"),
        ("types.arrow", "big"),
    ] {
        let found = brier(&folder, &evaluate(file, label));
        assert_relative_eq!(found, expected, max_relative = 1e-12);
        let labels = format!("evaluate --predictions p.csv --labels {file} --label-column {label}");
        assert_eq!(brier(&folder, &labels), expected, "{file} {label}");
    }
    for (file, label, kind) in [
        ("types.parquet", "fixed", "of the type FixedSizeBinary"),
        ("types.parquet", "bytes", "of the type Binary"),
        ("types.parquet", "date", "of the type Date"),
        ("types.parquet", "second", "of the type Timestamp"),
        ("types.parquet", "nano", "of the type Timestamp"),
        ("types.parquet", "span", "of the type Duration"),
        ("types.parquet", "time", "of the type Time"),
        ("types.parquet", "list", "lists"),
        ("types.arrow", "fixed", "of the type FixedSizeBinary"),
        ("types.arrow", "bytes", "of the type Binary"),
        ("types.arrow", "date", "of the type Date"),
        ("types.arrow", "second", "of the type Timestamp"),
        ("types.arrow", "nano", "of the type Timestamp"),
        ("types.arrow", "span", "of the type Duration"),
        ("types.arrow", "time", "of the type Time"),
        ("types.arrow", "list", "lists"),
    ] {
        for arguments in [
            evaluate(file, label),
            format!("evaluate --predictions p.csv --labels {file} --label-column {label}"),
        ] {
            let found = complaint(&folder, &arguments);
            assert!(found.starts_with(&format!("{file}: column ")), "{found}");
            contains(
                &found,
                &format!("({label}): {kind}, expected labels as numbers or text"),
            );
        }
        // nor are they targets
        let targets = format!(
            "evaluate --family samples --predictions p.csv --targets {file} --label-column {label}"
        );
        if label != "list" {
            contains(
                &complaint(&folder, &targets),
                &format!("({label}): {kind}, expected numbers"),
            );
        }
    }
}
