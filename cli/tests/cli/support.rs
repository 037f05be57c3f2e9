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
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join("cli").join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The command with arguments, in a folder.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calibration"));
    let arguments = arguments.split_whitespace();
    command.args(arguments).current_dir(folder);
    command
}

pub fn calibration(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// The exit code, and what is said on standard error.
pub fn outcome(folder: &Path, arguments: &str) -> (i32, String) {
    let output = calibration(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().expect("no signal"), said)
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

/// Without names of classes, which a header or an option gives, and without notes, which name files.
pub fn unnamed(mut found: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            Value::Object(members) => {
                for name in ["class_names", "finding", "notes"] {
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
    let complaint = complaint.trim().strip_prefix("calibration: ");
    complaint.unwrap().to_owned()
}

pub const ROWS: &str = "0.7,0.2,0.1\n0.1,0.8,0.1\n0.3,0.3,0.4\n0.25,0.5,0.25\n";
pub const LABELS: &str = "0\n1\n0\n2\n";

/// A folder with predictions of three classes, and labels.
pub fn example(test: &str) -> PathBuf {
    let folder = folder(test);
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    folder
}

pub fn npy<T: npyz::AutoSerialize + Copy>(
    values: &[T],
    shape: &[u64],
    order: npyz::Order,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().order(order);
    let writer = options.shape(shape).writer(&mut bytes).begin_nd();
    let mut writer = writer.unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A ZIP of files, as NumPy packs arrays.
pub fn archive(method: zip::CompressionMethod, files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A file of safetensors with the tensor `p`.
pub fn safetensors_of(dtype: safetensors::Dtype, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let tensor = safetensors::tensor::TensorView::new(dtype, shape.to_vec(), bytes);
    safetensors::serialize([("p", tensor.unwrap())], None).unwrap()
}

/// So many lines.
pub fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    let lines = (0..count).map(line);
    lines.map(|line| line + "\n").collect()
}

/// Rows of numbers without a header.
pub fn read_csv(path: &Path) -> Vec<Vec<f64>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_path(path);
    let rows = reader.unwrap().into_deserialize();
    rows.collect::<csv::Result<_>>().unwrap()
}

pub fn rows() -> Vec<f64> {
    let fields = ROWS.split(['\n', ',']);
    fields.filter_map(|field| field.parse().ok()).collect()
}

#[track_caller]
pub fn number(value: &Value) -> f64 {
    let number = value.as_f64();
    number.unwrap_or_else(|| panic!("a number, not {value}"))
}

/// Two JSON numbers agree.
#[track_caller]
pub fn same_number(found: &Value, expected: &Value, tolerance: f64) {
    assert_relative_eq!(number(found), number(expected), max_relative = tolerance);
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
pub fn write(folder: &Path, files: &[(&str, impl AsRef<str>)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text.as_ref()).unwrap();
    }
}

pub fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[track_caller]
pub fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part} in\n{text}");
    }
}
