//! The digits: 8 × 8 pixels with a label, from the UCI "Optical Recognition of Handwritten Digits"
//! test set (E. Alpaydin, C. Kaynak 1998, CC BY 4.0); see `data/README.md`.

use std::error::Error;

use burn::tensor::{Device, Int, Tensor, TensorData};
use flate2::read::GzDecoder;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

const FILE: &[u8] = include_bytes!("data/digits.csv.gz");
pub const PIXELS: usize = 64;

/// Digits to train on.
pub const TRAINING: usize = 300;
/// Digits that the penalty is of.
pub const HELD_OUT: usize = 500;
/// Digits to fit the temperature to; the rest is for the tests.
pub const VALIDATION: usize = 300;

pub struct Digits {
    /// `PIXELS` numbers in 0..=1 for each digit.
    images: Vec<f32>,
    labels: Vec<i64>,
}

/// Images `[n, PIXELS]` and labels `[n]`.
pub struct Batch {
    pub images: Tensor<2>,
    pub labels: Tensor<1, Int>,
}

/// A random division of the digits.
pub struct Split<'a> {
    pub digits: &'a Digits,
    pub training_rows: Vec<usize>,
    pub held_out_rows: Vec<usize>,
    pub validation: Batch,
    pub test: Batch,
}

impl Digits {
    pub fn load() -> Result<Self, Box<dyn Error>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(GzDecoder::new(FILE));
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        for row in reader.deserialize() {
            let row: Vec<f32> = row?;
            images.extend(row[..PIXELS].iter().map(|pixel| pixel / 16.0));
            labels.push(row[PIXELS] as i64);
        }
        Ok(Self { images, labels })
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn select(&self, rows: &[usize], device: &Device) -> Batch {
        let image = |&row: &usize| &self.images[row * PIXELS..(row + 1) * PIXELS];
        let images: Vec<f32> = rows.iter().flat_map(image).copied().collect();
        let labels: Vec<i64> = rows.iter().map(|&row| self.labels[row]).collect();
        Batch {
            images: Tensor::from_data(TensorData::new(images, [rows.len(), PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [rows.len()]), device),
        }
    }

    pub fn split(&self, seed: u64, device: &Device) -> Split<'_> {
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.shuffle(&mut StdRng::seed_from_u64(seed));
        let (training, rest) = rows.split_at(TRAINING);
        let (held_out, rest) = rest.split_at(HELD_OUT);
        let (validation, test) = rest.split_at(VALIDATION);
        Split {
            digits: self,
            training_rows: training.to_vec(),
            held_out_rows: held_out.to_vec(),
            validation: self.select(validation, device),
            test: self.select(test, device),
        }
    }
}
