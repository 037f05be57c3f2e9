//! Parquet. The files in `columnar/` are of pyarrow 26, pandas 3 and polars 2, made by
//! `columnar/make.py` there.

use crate::*;

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader/columnar");
    folder.join(name)
}

/// The columns of the predictions, and one of labels.
fn columns<'a>(columns: Option<&'a str>, label: &'a str) -> PredictionColumns<'a> {
    PredictionColumns {
        columns,
        label: Some((label, true)),
        ..PredictionColumns::default()
    }
}

#[test]
fn columns_of_every_writer() {
    for (name, tolerance) in [
        ("pandas", 0.0),
        ("category", 0.0),
        ("index", 0.0),
        ("polars", 0.0),
        ("lists", 0.0),
        ("fixed", 1e-7),
        ("split", 1e-7),
        ("plain", 1e-7),
        ("delta", 1e-7),
        ("half", 1e-3),
    ] {
        let path = path(&format!("{name}.parquet"));
        let (table, notes) = table_of(&path, &columns(None, "label")).unwrap();
        assert_eq!((table.numbers.columns, notes.len()), (3, 0), "{name}");
        for (found, expected) in table.numbers.values.iter().zip(rows()) {
            assert!(
                (found - expected).abs() <= tolerance,
                "{name}: {found}, {expected}"
            );
        }
        let cells: Vec<_> = table.labels[0].cells.iter().collect();
        let names = ["cat", "dog", "cat", "emu"];
        let is_right = cells == names || cells == ["0", "1", "0", "2"];
        assert!(is_right, "{name}: {cells:?}");
    }
    let bytes = fs::read(path("polars.parquet")).unwrap();
    let (_folder, packed) = file(gzip(&bytes));
    let (table, _) = table_of(&packed, &columns(None, "label")).unwrap();
    assert_eq!(
        (table.numbers.values, table.names),
        (rows(), ["cat", "dog", "emu"].map(str::to_owned).into())
    );
}

/// What ends too early, and lists of several lengths, are named.
#[test]
fn what_is_broken_is_named() {
    let bytes = fs::read(path("pandas.parquet")).unwrap();
    begins(&complaint(&bytes[..2000]), "not Parquet: ");
    let ragged = table_of(&path("ragged.parquet"), &PredictionColumns::default());
    let expected = "row 1, column 0 (probs): a list of 1 number, expected 2 as in the rows before";
    assert_eq!(ragged.unwrap_err().into_parts().1, expected);
}

/// Decimals are scaled, in predictions and labels; what is no number and no text is an error.
#[test]
fn types_are_read_right_or_refused() {
    let chosen = Some("cat,dog,emu");
    for (file, names) in [
        ("types.parquet", &["dec0", "dec2", "big"][..]),
        ("whole.parquet", &["dec0", "dec2"]),
    ] {
        for label in names {
            let (table, _) = table_of(&path(file), &columns(chosen, label)).unwrap();
            assert_eq!(table.numbers.values, rows(), "{file} {label}");
            let labels: Vec<f64> = table.labels[0].cells.iter().flat_map(str::parse).collect();
            assert_eq!(labels, [0.0, 1.0, 0.0, 2.0], "{file} {label}");
        }
    }
    for (name, kind) in [
        ("fixed", "of the type FixedSizeBinary"),
        ("bytes", "of the type Binary"),
        ("date", "of the type Date"),
        ("second", "of the type Timestamp"),
        ("nano", "of the type Timestamp"),
        ("span", "of the type Duration"),
        ("time", "of the type Time"),
        ("list", "lists"),
    ] {
        let path = path("types.parquet");
        let as_label = table_of(&path, &columns(chosen, name)).unwrap_err();
        let expected = format!("({name}): {kind}, expected labels as numbers or text");
        assert!(as_label.to_string().ends_with(&expected), "{as_label}");
        let as_number = PredictionColumns {
            columns: Some(name),
            ..PredictionColumns::default()
        };
        if name != "list" {
            let as_number = table_of(&path, &as_number).unwrap_err().to_string();
            assert!(
                as_number.contains(&format!("({name}): {kind}, expected numbers")),
                "{as_number}"
            );
        }
    }
}
