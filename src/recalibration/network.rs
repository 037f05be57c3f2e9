//! A small network of one hidden layer whose outputs are positive factors, 1 at the start of a fit.

use burn::{
    module::Module,
    tensor::{Device, Tensor, activation::tanh},
};
use pulp::Arch;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;

use super::{
    family::Ridge,
    parameter::{Parameter, check_shape, parameter},
};
use crate::{
    error::Result,
    ops::{MatrixView, add_product, exp},
};

/// The sizes of a network `u ↦ exp(10 tanh((W₂ᵀ tanh(W₁ᵀu + b₁) + b₂)/10))`, whose factors lie in
/// `[e⁻¹⁰, e¹⁰]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub inputs: usize,
    pub hidden: usize,
    pub outputs: usize,
}

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

    /// A ridge whose centre has random hidden units and `W₂ = b₂ = 0`, where all factors are 1. The weights are one after
    /// the other.
    pub fn ridge(self, seed: u64) -> Ridge {
        let mut rng = StdRng::seed_from_u64(seed);
        let scale = (self.inputs as f64).sqrt().recip();
        let mut theta: Vec<f64> = (0..self.inputs * self.hidden)
            .map(|_| scale * rng.sample::<f64, _>(StandardNormal))
            .collect();
        theta.extend((0..self.hidden).map(|_| rng.random_range(-1.0..1.0)));
        theta.resize(theta.len() + (self.hidden + 1) * self.outputs, 0.0);
        Ridge {
            weights: vec![1.0; theta.len()],
            centre: theta,
        }
    }

    /// The weights that lie one after the other in `θ`.
    fn parts(self, theta: &[f64]) -> [(&[f64], [usize; 2]); 4] {
        let mut rest = theta;
        self.shapes().map(|shape| {
            let part;
            (part, rest) = rest.split_at(shape[0] * shape[1]);
            (part, shape)
        })
    }

    /// The factors of rows, `[r, inputs]`.
    pub fn forward(self, theta: &[f64], rows: &[f64]) -> ForwardPass {
        let r = rows.len() / self.inputs;
        let layer = |rows: &[f64], (w, [inputs, outputs]): (&[f64], [usize; 2]), b: &[f64]| {
            let mut sums = b.repeat(r);
            let (rows, w) = (
                MatrixView::new(rows, inputs, [r, inputs]),
                MatrixView::new(w, outputs, [inputs, outputs]),
            );
            add_product(&mut sums, outputs, rows, w);
            sums
        };
        let [w1, (b1, _), w2, (b2, _)] = self.parts(theta);
        let mut hidden = layer(rows, w1, b1);
        hyperbolic_tangent(&mut hidden);
        let mut bounded = layer(&hidden, w2, b2);
        bounded.iter_mut().for_each(|x| *x /= BOUND);
        hyperbolic_tangent(&mut bounded);
        let mut factors: Vec<f64> = bounded.iter().map(|t| BOUND * (t - 1.0)).collect();
        exp(&mut factors);
        let largest = BOUND.exp();
        factors.iter_mut().for_each(|factor| *factor *= largest);
        ForwardPass {
            hidden,
            bounded,
            factors,
        }
    }

    /// Adds to the gradient what derivatives with respect to the factors, `[r, outputs]`, make of it.
    pub fn pull(
        self,
        theta: &[f64],
        rows: &[f64],
        pass: &ForwardPass,
        mut slopes: Vec<f64>,
        gradient: &mut [f64],
    ) {
        let Self {
            inputs,
            hidden,
            outputs,
        } = self;
        let r = rows.len() / inputs;
        Arch::new().dispatch(|| {
            for ((slope, factor), t) in slopes.iter_mut().zip(&pass.factors).zip(&pass.bounded) {
                *slope *= factor * (1.0 - t * t);
            }
        });
        let (w1, rest) = gradient.split_at_mut(inputs * hidden);
        let (b1, rest) = rest.split_at_mut(hidden);
        let (w2, b2) = rest.split_at_mut(hidden * outputs);
        let mut back = vec![0.0; r * hidden];
        let layer = |w: &mut [f64], b: &mut [f64], rows: &[f64], inputs, slopes: &[f64]| {
            let outputs = b.len();
            let [rows, slopes_of] =
                [(rows, inputs), (slopes, outputs)].map(|(x, k)| MatrixView::new(x, k, [r, k]));
            add_product(w, outputs, rows.transposed(), slopes_of);
            for row in slopes.chunks_exact(outputs) {
                b.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
            }
        };
        layer(w2, b2, &pass.hidden, hidden, &slopes);
        let (weights, shape) = self.parts(theta)[2];
        let slopes = MatrixView::new(&slopes, outputs, [r, outputs]);
        add_product(
            &mut back,
            hidden,
            slopes,
            MatrixView::new(weights, outputs, shape).transposed(),
        );
        Arch::new().dispatch(|| {
            for (slope, t) in back.iter_mut().zip(&pass.hidden) {
                *slope *= 1.0 - t * t;
            }
        });
        layer(w1, b1, rows, inputs, &back);
    }
}

/// Values of the layers of a network for some rows.
#[derive(Debug)]
pub(super) struct ForwardPass {
    /// `[r, hidden]`.
    hidden: Vec<f64>,
    /// The logarithms of the factors over their bound: `[r, outputs]`.
    bounded: Vec<f64>,
    /// `[r, outputs]`.
    pub factors: Vec<f64>,
}

/// `tanh` of each number, in its place.
fn hyperbolic_tangent(numbers: &mut [f64]) {
    let mut powers: Vec<f64> = numbers.iter().map(|x| -2.0 * x.abs()).collect();
    exp(&mut powers);
    Arch::new().dispatch(|| {
        for (x, power) in numbers.iter_mut().zip(&powers) {
            *x = ((1.0 - power) / (1.0 + power)).copysign(*x);
        }
    });
}

/// The weights of a fitted map: `W₁ [inputs, hidden]`, `b₁ [1, hidden]`, `W₂ [hidden, outputs]`,
/// `b₂ [1, outputs]`.
#[derive(Module, Debug)]
pub struct FactorNetwork {
    w1: Parameter<2>,
    b1: Parameter<2>,
    w2: Parameter<2>,
    b2: Parameter<2>,
}

impl FactorNetwork {
    pub(super) fn new(sizes: Sizes, theta: &[f64], device: &Device) -> Self {
        let [w1, b1, w2, b2] =
            (sizes.parts(theta)).map(|(weights, shape)| parameter(weights.to_vec(), shape, device));
        Self { w1, b1, w2, b2 }
    }

    /// A network of zeros, whose factors are 1.
    pub(super) fn zeros(sizes: Sizes, device: &Device) -> Self {
        let zeros = |shape: [usize; 2]| parameter(vec![0.0; shape[0] * shape[1]], shape, device);
        let [w1, b1, w2, b2] = sizes.shapes().map(zeros);
        Self { w1, b1, w2, b2 }
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.b2.dims()[1]
    }

    /// The factors of each row: `[n, inputs] → [n, outputs]`.
    pub fn factors(&self, rows: Tensor<2>) -> Tensor<2> {
        let weights = [&self.w1, &self.b1, &self.w2, &self.b2];
        let [w1, b1, w2, b2] = weights.map(|weights| weights.val().cast(rows.dtype()));
        let hidden = tanh(rows.matmul(w1) + b1);
        let exponent = hidden.matmul(w2) + b2;
        (tanh(exponent * BOUND.recip()) * BOUND).exp()
    }

    /// Returns what is wrong with a network that was loaded: it has one output less than inputs.
    pub fn check(&self) -> Result<(), String> {
        let [inputs, hidden] = self.w1.dims();
        if inputs < 2 {
            return Err(format!("network.w1 has {inputs} rows, expected at least 2"));
        }
        check_shape(&self.b1, "network.b1", [1, hidden])?;
        check_shape(&self.w2, "network.w2", [hidden, inputs - 1])?;
        check_shape(&self.b2, "network.b2", [1, inputs - 1])
    }
}
