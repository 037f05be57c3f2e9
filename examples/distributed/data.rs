//! The digits of the example `digits`, whole, and in batches.

use std::sync::Arc;

use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderBuilder, batcher::Batcher},
        dataset::InMemDataset,
    },
    tensor::{Device, Int, Tensor, TensorData},
};
use flate2::read::GzDecoder;

const FILE: &[u8] = include_bytes!("../digits/data/digits.csv.gz");
pub const PIXELS: usize = 64;

/// Pixels in 0..=1 and a label.
pub type Digit = (Vec<f32>, i64);

pub fn digits() -> csv::Result<Vec<Digit>> {
    let digit = |row: csv::Result<Vec<f32>>| {
        let row = row?;
        let image = row[..PIXELS].iter().map(|pixel| pixel / 16.0).collect();
        Ok((image, row[PIXELS] as i64))
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(GzDecoder::new(FILE));
    reader.deserialize().map(digit).collect()
}

/// Images `[n, PIXELS]` and labels `[n]`.
#[derive(Clone, Debug)]
pub struct Batch {
    pub images: Tensor<2>,
    pub labels: Tensor<1, Int>,
}

struct Batches;

impl Batcher<Digit, Batch> for Batches {
    fn batch(&self, digits: Vec<Digit>, device: &Device) -> Batch {
        let images: Vec<f32> = digits
            .iter()
            .flat_map(|(image, _)| image)
            .copied()
            .collect();
        let labels: Vec<i64> = digits.iter().map(|&(_, label)| label).collect();
        Batch {
            images: Tensor::from_data(TensorData::new(images, [digits.len(), PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [digits.len()]), device),
        }
    }
}

/// Not shuffled, so that one device and two see the same batches.
pub fn loader(digits: &[Digit], size: usize) -> Arc<dyn DataLoader<Batch>> {
    DataLoaderBuilder::new(Batches)
        .batch_size(size)
        .build(InMemDataset::new(digits.to_vec()))
}
