//! Small networks in PyTorch: see `fixtures/networks.py`.

use std::{collections::HashMap, fs, path::PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
use serde::Deserialize;
use tempfile::TempDir;

/// A network of `networks.json`.
#[derive(Deserialize)]
pub struct Reference {
    /// Height and width of the image.
    pub side: usize,
    /// Names and shapes of the weights in the layout of PyTorch.
    pub weights: Vec<(String, Vec<usize>)>,
    /// Logits of the image.
    pub logits: Vec<f64>,
    /// Part of the gradient of the sum of squared logits with respect to the image.
    pub gradient: Vec<f64>,
}

/// A weight in the layout of PyTorch.
pub struct Weight {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

pub fn fixture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    folder.join(name)
}

impl Reference {
    pub fn new(name: &str) -> Self {
        let text = fs::read_to_string(fixture("networks.json")).unwrap();
        let mut all: HashMap<String, Self> = serde_json::from_str(&text).unwrap();
        all.remove(name).unwrap()
    }

    /// The weights, which follow from their position.
    pub fn weights(&self) -> Vec<Weight> {
        let weight = |(stream, (name, shape)): (usize, &(String, Vec<usize>))| Weight {
            name: name.clone(),
            shape: shape.clone(),
            values: number(name, shape, stream as u32),
        };
        self.weights.iter().enumerate().map(weight).collect()
    }

    /// `[1, 3, side, side]`.
    pub fn image(&self, device: &Device) -> Tensor<4> {
        image(self.side, device)
    }
}

/// `[1, 3, side, side]`.
pub fn image(side: usize, device: &Device) -> Tensor<4> {
    let pixels = uniform(1000, 3 * side * side).map(|u| (4.0 * u - 2.0) as f32);
    let data = TensorData::new(pixels.collect::<Vec<_>>(), [1, 3, side, side]);
    Tensor::from_data(data, device)
}

/// The finalizer of MurmurHash3 of the index, 24 bits of it, in [0, 1).
fn uniform(stream: u32, count: usize) -> impl Iterator<Item = f64> {
    let start = 0x9E37_79B9_u32.wrapping_mul(stream + 1);
    (0..count as u32).map(move |i| {
        let mut h = i.wrapping_add(start);
        h ^= h >> 16;
        h = h.wrapping_mul(0x85EB_CA6B);
        h ^= h >> 13;
        h = h.wrapping_mul(0xC2B2_AE35);
        h ^= h >> 16;
        f64::from(h >> 8) / 16_777_216.0
    })
}

fn number(name: &str, shape: &[usize], stream: u32) -> Vec<f32> {
    let scaled = |u: f64| {
        if shape.len() > 1 {
            let fan_in = shape[1..].iter().product::<usize>() as f64;
            (2.0 * u - 1.0) * (6.0 / fan_in).sqrt()
        } else if name.ends_with("running_var") || name.ends_with(".weight") {
            u + 0.5
        } else {
            (u - 0.5) / 5.0
        }
    };
    let numbers = uniform(stream, shape.iter().product());
    numbers.map(|u| scaled(u) as f32).collect()
}

/// A safetensors file, which lives as long as its folder.
pub fn write(weights: &[Weight]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let bytes = |w: &Weight| w.values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let data: Vec<Vec<u8>> = weights.iter().map(bytes).collect();
    let views = weights.iter().zip(&data).map(|(weight, data)| {
        let view = TensorView::new(Dtype::F32, weight.shape.clone(), data).unwrap();
        (weight.name.clone(), view)
    });
    serialize_to_file(views, None, &path).unwrap();
    (folder, path)
}
