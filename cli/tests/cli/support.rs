//! What the tests of the command share.

pub use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub use approx::assert_relative_eq;
pub use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;
pub use serde_json::Value;

/// The folder of real data, named by the variable `BURN_CALIBRATION_DATA`, which the tests that are ignored need.
pub fn data_folder() -> PathBuf {
    let folder = std::env::var_os("BURN_CALIBRATION_DATA");
    folder
        .expect("BURN_CALIBRATION_DATA names the data folder")
        .into()
}

/// A folder of its own for each test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn calibration(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibration"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What a command that succeeds prints, and what it says on standard error.
#[track_caller]
pub fn done(folder: &Path, arguments: &str) -> (String, String) {
    let output = calibration(folder, arguments);
    let [text, said] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{arguments}: {said}");
    (text, said)
}

#[track_caller]
pub fn printed(folder: &Path, arguments: &str) -> String {
    done(folder, arguments).0
}

/// What a command prints that says nothing besides.
#[track_caller]
pub fn quiet(folder: &Path, arguments: &str) -> String {
    let (text, said) = done(folder, arguments);
    assert!(said.is_empty(), "{arguments}: {said}");
    text
}

#[track_caller]
pub fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&quiet(folder, &format!("{arguments} --json"))).unwrap()
}

/// The object, whatever is said on standard error.
#[track_caller]
pub fn found(folder: &Path, arguments: &str) -> Value {
    let text = printed(folder, &format!("{arguments} --json"));
    unnamed(serde_json::from_str(&text).unwrap())
}

/// Without names of classes, which a header or an option gives.
pub fn unnamed(mut found: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            Value::Object(members) => {
                for name in ["class_names", "finding"] {
                    members.remove(name);
                }
                members.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    strip(&mut found);
    found
}

pub fn complaint(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(complaint.lines().count(), 1, "one clear line: {complaint}");
    complaint
        .trim()
        .strip_prefix("calibration: ")
        .unwrap()
        .to_owned()
}

pub const ROWS: &str = "0.7,0.2,0.1\n0.1,0.8,0.1\n0.3,0.3,0.4\n0.25,0.5,0.25\n";
pub const LABELS: &str = "0\n1\n0\n2\n";

/// A folder with predictions of three classes, and labels.
pub fn example(test: &str) -> PathBuf {
    let folder = folder(test);
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    folder
}

pub fn npy(values: &[f64], shape: &[u64], order: npyz::Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .order(order)
        .shape(shape)
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Rows of numbers without a header.
pub fn read_csv(path: &Path) -> Vec<Vec<f64>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_path(path);
    let rows = reader.unwrap().into_deserialize();
    rows.collect::<csv::Result<_>>().unwrap()
}

pub fn rows() -> Vec<f64> {
    ROWS.split(['\n', ','])
        .filter_map(|field| field.parse().ok())
        .collect()
}

pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("a number, not {value}"))
}

#[track_caller]
pub fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

#[track_caller]
pub fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "{text}");
}

/// Writes small files.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[track_caller]
pub fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part} in\n{text}");
    }
}
