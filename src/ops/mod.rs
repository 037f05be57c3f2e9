//! Operations with their own backward pass, behind the kernels.
//!
//! Composing a pairwise distance from tensor operations makes automatic differentiation keep one
//! `n × n` matrix for each coordinate. The operation here keeps the points alone and recomputes
//! the rest, so that neither pass holds more than a few `n × n` matrices, on every backend. Its
//! gradient is finite where points coincide.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::ops::{Metric, pairwise_distance};
//!
//! let device = Device::default().autodiff();
//! let x = Tensor::<3>::from_floats([[[0.2, 0.8], [0.2, 0.8]]], &device).require_grad();
//! let distances = pairwise_distance(x.clone(), x.clone(), Metric::Euclidean); // [1, 2, 2], all 0
//! let gradients = distances.sum().backward();
//! let gradient = x.grad(&gradients).unwrap();
//! assert_eq!(gradient.abs().sum().into_scalar::<f32>(), 0.0); // not NaN
//! ```

mod computation;
pub(crate) mod cpu;
mod pair_statistic;
mod pairwise_distance;

pub use computation::Computation;
pub use pair_statistic::{PairKernel, Pairing, Separation, pair_statistic};
pub(crate) use pair_statistic::{kernel_matrix, median_separation};
pub use pairwise_distance::{Metric, pairwise_distance};
