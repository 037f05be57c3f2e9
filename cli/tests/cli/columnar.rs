//! Parquet. The files in `columnar/` are of pyarrow 26, pandas 3 and polars 2, made by
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
    let p = format!("cat,dog,emu\n{ROWS}");
    write(&folder, &[("y.csv", LABELS), ("p.csv", &p)]);
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
        ("fixed.parquet --classes cat,dog,emu", 1e-7),
        ("split.parquet", 1e-7),
        ("plain.parquet", 1e-7),
        ("delta.parquet", 1e-7),
        ("half.parquet", 1e-3),
    ] {
        let found = brier(&folder, &format!("{EVALUATE} {name}"));
        let is_near = (found - expected).abs() <= tolerance * expected;
        assert!(is_near, "{name}: {found}, {expected}");
    }
    // columns by name or number, labels in a file of their own
    for arguments in [
        "evaluate --predictions pandas.parquet --columns cat..emu --labels y.csv",
        "evaluate --predictions polars.parquet --columns 0-2 --labels y.parquet",
        "evaluate --predictions lists.parquet --columns probs --labels hot.parquet",
        "evaluate --predictions p.csv --labels y.parquet --label-column y",
        "evaluate --predictions p.csv --labels pandas.parquet --label-column label",
    ] {
        assert_eq!(brier(&folder, arguments), expected, "{arguments}");
    }
    // packed, and from standard input
    let file = fs::read(folder.join("polars.parquet")).unwrap();
    fs::write(folder.join("packed"), gzip(&file)).unwrap();
    assert_eq!(brier(&folder, &format!("{EVALUATE} packed")), expected);
}

/// What ends too early is named.
#[test]
fn what_is_broken_is_named() {
    let folder = prepared("columnar-broken");
    let file = fs::read(folder.join("pandas.parquet")).unwrap();
    fs::write(folder.join("broken"), &file[..2000]).unwrap();
    let found = complaint(&folder, "evaluate --predictions broken --labels y.csv");
    begins(&found, "broken: not Parquet: ");
}

/// Decimals are scaled, in predictions and labels; what is no number and no text is an error.
#[test]
fn types_are_read_right_or_refused() {
    let folder = prepared("columnar-types");
    let expected = brier(&folder, "evaluate --predictions p.csv --labels y.csv");
    let evaluate = |file: &str, label: &str| {
        format!("evaluate --predictions {file} --columns cat,dog,emu --label-column {label}")
    };
    let labels = |file: &str, label: &str| {
        format!("evaluate --predictions p.csv --labels {file} --label-column {label}")
    };
    for (file, names) in [
        ("types.parquet", &["dec0", "dec2", "big"][..]),
        ("whole.parquet", &["dec0", "dec2"]),
    ] {
        for label in names {
            let found = brier(&folder, &evaluate(file, label));
            assert_relative_eq!(found, expected, max_relative = 1e-12);
            let found = brier(&folder, &labels(file, label));
            assert_eq!(found, expected, "{file} {label}");
        }
    }
    for file in ["types.parquet"] {
        for (label, kind) in [
            ("fixed", "of the type FixedSizeBinary"),
            ("bytes", "of the type Binary"),
            ("date", "of the type Date"),
            ("second", "of the type Timestamp"),
            ("nano", "of the type Timestamp"),
            ("span", "of the type Duration"),
            ("time", "of the type Time"),
            ("list", "lists"),
        ] {
            for arguments in [evaluate(file, label), labels(file, label)] {
                let found = complaint(&folder, &arguments);
                begins(&found, &format!("{file}: column "));
                let expected = format!("({label}): {kind}, expected labels as numbers or text");
                contains(&found, &expected);
            }
            // nor are they targets
            let targets = labels(file, label).replace("--labels", "--family samples --targets");
            if label != "list" {
                let expected = format!("({label}): {kind}, expected numbers");
                contains(&complaint(&folder, &targets), &expected);
            }
        }
    }
}
