use std::{fs::File, io::Read, path::Path};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use flate2::read::GzDecoder;

use crate::Result;

/// Log-probabilities with their labels.
pub struct Predictions {
    /// `[n, m]`, f64.
    pub logits: Tensor<2>,
    /// `[n]`.
    pub labels: Tensor<1, Int>,
}

impl Predictions {
    pub fn read(folder: &Path, name: &str, device: &Device) -> Result<Self> {
        let open = |name: String| {
            let path = folder.join(name);
            File::open(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let probabilities = rows(GzDecoder::new(open(format!("{name}.csv.gz"))?))?;
        let labels = rows(open("labels.csv".into())?)?;
        let (n, m) = (
            probabilities.len(),
            probabilities.first().map_or(0, Vec::len),
        );
        let logits: Vec<f64> = probabilities.iter().flatten().map(|p| p.ln()).collect();
        let labels: Vec<i64> = labels.iter().map(|row| row[0] as i64 - 1).collect();
        let size = labels.len();
        Ok(Self {
            logits: Tensor::from_data(TensorData::new(logits, [n, m]), (device, DType::F64)),
            labels: Tensor::from_data(TensorData::new(labels, [size]), device),
        })
    }

    pub fn samples(&self) -> usize {
        self.labels.dims()[0]
    }

    /// The first and the second half.
    pub fn halves(&self) -> (Self, Self) {
        let n = self.samples();
        let part = |rows: std::ops::Range<usize>| Self {
            logits: self.logits.clone().slice(rows.clone()),
            labels: self.labels.clone().slice(rows),
        };
        (part(0..n / 2), part(n / 2..n))
    }
}

fn rows(reader: impl Read) -> Result<Vec<Vec<f64>>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(reader);
    Ok(reader.deserialize().collect::<csv::Result<_>>()?)
}
