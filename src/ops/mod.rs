//! Operations with their own backward pass, behind the kernels.
//!
//! [`pair_statistic`] is the SKCE as one operation: distance, kernel, residual product, sum and
//! gradient tile by tile, in memory linear in the number of samples. On the host (Flex, NdArray)
//! it is one pass in vectors of whatever width there is (AVX-512, AVX2, NEON), on all threads; on
//! wgpu and CUDA one kernel of CubeCL, with tiles in shared memory. [`residual_statistic`] is the same
//! for any residuals, which matrix-valued kernels need. The losses and estimators use them where they
//! exist; [`Computation`] forces them, or the composition from tensor operations that they are tested
//! against.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{kernel::{Distance, Profile}, ops::{PairKernel, Pairing, pair_statistic}};
//!
//! let device = Device::default().autodiff();
//! let points = Tensor::<2>::from_floats([[1.0, 0.0], [0.0, 1.0]], &device).require_grad();
//! let labels = Tensor::<1, Int>::from_ints([1, 0], &device);
//! let bandwidth = Tensor::<1>::from_floats([1.0], &device).require_grad(); // may be learnt
//! let kernel = PairKernel::new(Distance::Euclidean, Profile::Gaussian);
//! let skce = pair_statistic(points, labels, bandwidth.clone(), kernel, Pairing::Blocks { size: 2 });
//! let slope = bandwidth.grad(&skce.clone().backward()).unwrap().into_scalar::<f32>();
//! let skce = skce.into_scalar::<f32>();
//! assert!((skce - -2.0 * (-1.0f32).exp()).abs() < 1e-6); // exp(−2/2ν²)·(−2)
//! assert!((slope - 2.0 * skce).abs() < 1e-5); // its derivative is 2/ν³ of it
//! ```
//!
//! [`normal_statistic`] is the SKCE of normal predictions with a Gaussian kernel on targets, on the host, in
//! the same way.
//!
//! [`laplacian_sum`] is the matrix of a Laplacian kernel on the line times a vector, which is what the
//! MMCE is made of: one sort and two sweeps on the host.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::ops::laplacian_sum;
//!
//! let device = Device::default();
//! let confidences = Tensor::<1>::from_floats([0.9, 0.5, 0.9], &device);
//! let residuals = Tensor::<1>::from_floats([0.1, -0.5, -0.9], &device);
//! let sums = laplacian_sum(confidences, residuals.clone(), 0.4);
//! let mmce = (residuals * sums).sum().into_scalar::<f32>() / 9.0; // squared, unweighted
//! // 0.9 twice, with weights of 0.1 − 0.9 together, and 0.5, one bandwidth away
//! let expected = (0.8f32.powi(2) + 0.5f32.powi(2) + 2.0 * 0.8 * 0.5 * (-1.0f32).exp()) / 9.0;
//! assert!((mmce - expected).abs() < 1e-6);
//! ```
//!
//! [`pairwise_distance`] computes all other distances. Automatic differentiation of a distance that is
//! composed of tensor operations keeps one `n × n` matrix for each coordinate. This function keeps only the
//! points and recomputes the rest, so neither pass needs more than a few `n × n` matrices, on every
//! backend. Its gradient is finite where points coincide.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::{kernel::Distance, ops::pairwise_distance};
//!
//! let device = Device::default().autodiff();
//! let x = Tensor::<3>::from_floats([[[0.2, 0.8], [0.2, 0.8]]], &device).require_grad();
//! let distances = pairwise_distance(x.clone(), x.clone(), Distance::Euclidean); // [1, 2, 2], all 0
//! let gradients = distances.sum().backward();
//! let gradient = x.grad(&gradients).unwrap();
//! assert_eq!(gradient.abs().sum().into_scalar::<f32>(), 0.0); // not NaN
//! ```

#![allow(deprecated)] // Burn deprecates the NdArray backend; it stays a feature here

mod backends;
mod formula;
mod gradient;
mod laplacian;
mod median;
mod non_finite;
mod normal;
mod pairs;
mod pairwise_distance;
mod simd;
mod softmax;
mod transport;

pub(crate) use backends::is_on_host;
pub(crate) use formula::{
    Formula, Number, elementwise, erfcx, erfcx_difference, erfcx_with_slopes, exp,
    exponential_difference, in_place, second_exponential_difference, value_at,
};
pub(crate) use gradient::linearised;
pub(crate) use laplacian::Line;
pub use laplacian::laplacian_sum;
#[doc(hidden)]
pub use median::{distance_order_statistics, median_of_blocks};
pub(crate) use median::{mean_or_one, median_of_pairs, median_of_tiles, middle_ranks, subsample};
pub use normal::{NormalKernel, NormalSamples, normal_statistic};
pub use pairs::{PairKernel, Pairing, pair_statistic, residual_statistic};
pub(crate) use pairs::{
    block_sums, block_values, has_fused_pass, host_kernel_matrix, kernel_matrix,
};
pub use pairwise_distance::{pairwise_distance, squared_euclidean_distance};
#[doc(hidden)]
pub use simd::arch::on_instruction_sets;
pub(crate) use simd::{
    product::{MatrixView, add_product, product},
    real::Real,
};
pub(crate) use softmax::softmax;
pub(crate) use transport::{WeightedPoints, transport_distances};

use serde::{Deserialize, Serialize};

/// The way in which a quantity that has a fused path is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Computation {
    /// Fused where there is a fused path for the kernel and the device, otherwise composed. The SKCE of
    /// classes has one in f32 and f64 on the host, wgpu and CUDA, that of normal predictions and the MMCE
    /// on the host.
    #[default]
    Auto,
    /// One pass by [`pair_statistic`], a few rows at a time on a device without a
    /// fused one; a kernel that has no fused path is a panic in a loss and an error on data. The MMCE,
    /// which always has one, by [`laplacian_sum`]: other devices are read back to the host.
    Fused,
    /// Tensor operations on `n × n` matrices, or on tiles of them: the reference that the fused path
    /// is tested against.
    Composed,
}
