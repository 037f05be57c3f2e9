//! A small network of one hidden layer whose outputs are positive factors, 1 at the start of a fit.

use burn::tensor::activation::tanh;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;

use super::common::*;

/// The sizes of a network `u ↦ exp(10 tanh((W₂ᵀ tanh(W₁ᵀu + b₁) + b₂)/10))`, whose factors lie in
/// `[e⁻¹⁰, e¹⁰]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub inputs: usize,
    pub hidden: usize,
    pub outputs: usize,
}

/// Its weights: `W₁ [inputs, hidden]`, `b₁ [1, hidden]`, `W₂ [hidden, outputs]`, `b₂ [1, outputs]`.
#[derive(Debug)]
pub(super) struct Weights([Tensor<2>; 4]);

/// The largest logarithm of a factor.
const BOUND: f64 = 10.0;

impl Sizes {
    fn shapes(self) -> [[usize; 2]; 4] {
        [
            [self.inputs, self.hidden],
            [1, self.hidden],
            [self.hidden, self.outputs],
            [1, self.outputs],
        ]
    }

    /// Random hidden units, and `W₂ = b₂ = 0`, where all factors are 1: the weights one after the
    /// other.
    pub fn start(self, seed: u64) -> Vec<f64> {
        let mut rng = StdRng::seed_from_u64(seed);
        let scale = (self.inputs as f64).sqrt().recip();
        let mut theta: Vec<f64> = (0..self.inputs * self.hidden)
            .map(|_| scale * rng.sample::<f64, _>(StandardNormal))
            .collect();
        theta.extend((0..self.hidden).map(|_| rng.random_range(-1.0..1.0)));
        theta.resize(theta.len() + (self.hidden + 1) * self.outputs, 0.0);
        theta
    }

    /// The weights that lie one after the other in `θ`.
    pub fn weights(self, theta: &Tensor<1>) -> Weights {
        let mut first = 0;
        Weights(self.shapes().map(|[rows, columns]| {
            let part = theta.clone().slice(first..first + rows * columns);
            first += rows * columns;
            part.reshape([rows, columns])
        }))
    }
}

impl Weights {
    /// The factors of each row: `[n, inputs] → [n, outputs]`.
    pub fn factors(&self, rows: Tensor<2>) -> Tensor<2> {
        let [w1, b1, w2, b2] = self.0.clone();
        let hidden = tanh(rows.matmul(w1) + b1);
        let exponent = hidden.matmul(w2) + b2;
        (tanh(exponent * BOUND.recip()) * BOUND).exp()
    }
}

/// The weights of a fitted map.
#[derive(Module, Debug)]
pub struct Network {
    w1: Parameter<2>,
    b1: Parameter<2>,
    w2: Parameter<2>,
    b2: Parameter<2>,
}

impl Network {
    pub(super) fn new(weights: Weights, device: &Device) -> Self {
        let [w1, b1, w2, b2] = (weights.0)
            .map(|weight| Parameter::new(to_vec(weight.clone().inner()), weight.dims(), device));
        Self { w1, b1, w2, b2 }
    }

    /// A network of two inputs whose factor is 1.
    pub fn template(device: &Device) -> Self {
        let zeros = |rows: usize, columns: usize| {
            Parameter::new(vec![0.0; rows * columns], [rows, columns], device)
        };
        Self {
            w1: zeros(2, 1),
            b1: zeros(1, 1),
            w2: zeros(1, 1),
            b2: zeros(1, 1),
        }
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.b2.dims()[1]
    }

    /// In the dtype of a tensor.
    pub(super) fn weights(&self, like: &Tensor<2>) -> Weights {
        Weights([&self.w1, &self.b1, &self.w2, &self.b2].map(|p| p.cast(like.dtype())))
    }

    /// Tells what is wrong with a network that was loaded: it has one output less than inputs.
    pub fn check(&self) -> Result<(), String> {
        let [inputs, hidden] = self.w1.dims();
        if inputs < 2 {
            return Err(format!("network.w1 has {inputs} rows, expected at least 2"));
        }
        self.b1.check_shape("network.b1", [1, hidden])?;
        self.w2.check_shape("network.w2", [hidden, inputs - 1])?;
        self.b2.check_shape("network.b2", [1, inputs - 1])
    }
}
