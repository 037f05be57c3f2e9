//! Expectations of kernels on real targets, in closed form: `E k(y, Z)` and `E k(Z, Z')` for `k` the
//! Gaussian or Laplacian kernel of length scale `ℓ` and `Z`, `Z'` normal or Laplace.
//!
//! Both are functions of the difference `Δ` of the two locations: the law of `y − Z` or `Z − Z'` is
//! `Δ` plus noise that is symmetric about 0. Two normals are one with the sum of the variances; two
//! Laplace distributions need a form of their own.
//!
//! Everything is elementwise over tensors of one shape, in the dtype of the input, in any dimension;
//! nothing is read back. First derivatives with respect to every tensor are exact and finite, second
//! derivatives are not supported: the special functions are [formulas](crate::ops::Formula), which carry
//! their slopes as constants.
//!
//! Accurate to rounding: no term of a formula cancels another, at equal and nearly equal scales, at
//! `Δ = 0` and far in the tails; derivatives with respect to a scale or variance relative to the value
//! over that parameter. Standard deviations and scales below `ℓ·m^¼` for the smallest
//! positive number `m` of the dtype (3e−10·ℓ in f32), 0 among them, are taken for it, which changes no
//! digit, and have gradient 0.

mod gaussian;
mod laplacian;
mod smoothed;

pub(crate) use gaussian::{
    GaussianNormal, gaussian_laplace, gaussian_laplace_pair, gaussian_normal,
};
pub(crate) use laplacian::{laplacian_laplace, laplacian_laplace_pair, laplacian_normal};

use burn::tensor::Tensor;

/// `x/ℓ`, kept away from 0 so that it and the square of its reciprocal are finite.
fn relative<const D: usize>(x: Tensor<D>, length: f64) -> Tensor<D> {
    let smallest = x.dtype().finfo().expect("a float tensor").min_positive;
    (x * length.recip()).clamp_min(smallest.sqrt().sqrt())
}

/// The smaller and the larger of two numbers, by one mask: at a tie each output is one of the inputs,
/// so that a symmetric function of the outputs has the right gradients.
fn ordered<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> [Tensor<D>; 2] {
    let swap = y.clone().lower(x.clone());
    [
        x.clone().mask_where(swap.clone(), y.clone()),
        y.mask_where(swap, x),
    ]
}
