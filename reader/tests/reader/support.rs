//! What the tests share.

pub use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
};

pub use burn_calibration_reader::*;
pub use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;

pub const ROWS: &str = "0.7,0.2,0.1\n0.1,0.8,0.1\n0.3,0.3,0.4\n0.25,0.5,0.25\n";

/// The numbers of the rows.
pub fn rows() -> Vec<f64> {
    let cells = ROWS.split(['\n', ',']);
    cells.filter_map(|cell| cell.parse().ok()).collect()
}

/// A folder with a file of some bytes under the name `p`, and the path of this.
pub fn file(bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The numbers of a file of predictions, and its notes.
pub fn table_of(path: &Path, columns: &PredictionColumns) -> Result<(Table, Vec<String>)> {
    let options = OpenOptions {
        are_probabilities: true,
        ..OpenOptions::default()
    };
    let mut file = Opened::new(path, &options)?;
    file.choose_predictions(columns)?;
    let notes = file.notes.clone();
    Ok((file.read(false)?, notes))
}

/// The same of bytes.
pub fn read(bytes: impl AsRef<[u8]>) -> Result<(Table, Vec<String>)> {
    let (_folder, path) = file(bytes);
    table_of(&path, &PredictionColumns::default())
}

/// What is wrong with bytes, without their name.
#[track_caller]
pub fn complaint(bytes: impl AsRef<[u8]>) -> String {
    let (_, reason) = read(bytes).unwrap_err().into_parts();
    reason
}

#[track_caller]
pub fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "{text}");
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

/// A ZIP of arrays, as NumPy packs them.
pub fn npz(arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Safetensors with the tensor `p`.
pub fn safetensors_of(dtype: safetensors::Dtype, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let tensor = safetensors::tensor::TensorView::new(dtype, shape.to_vec(), bytes);
    safetensors::serialize([("p", tensor.unwrap())], None).unwrap()
}
