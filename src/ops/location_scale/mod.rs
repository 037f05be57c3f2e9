//! The SKCE of location-scale predictions as one operation on the host: a pass over pairs in vectors of
//! the processor, and its backward pass ([`backend`]).
//!
//! A tile of a pack of rows (16 in f32, 8 in f64) and up to four packs of columns goes through two stages
//! while it is in the cache: the kernel on predictions with its slope ([`weigh`]), and the residuals with
//! their gradient ([`tile`]), both members of a pair at once ([`pair`]). What depends on one sample alone
//! is computed once ([`packs`]). The expectations are those of
//! [`kernel::expectation`](crate::kernel::expectation) ([`term`]); [`at_points`] has those at given points, of
//! which features are made.

mod all_pairs;
mod at_points;
mod backend;
mod erfcx;
mod exponential;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod host;
mod lanewise;
mod laplace_gaussian;
mod laplace_laplacian;
mod mixtures;
mod normal_gaussian;
mod normal_laplacian;
mod packs;
mod pair;
mod side_by_side;
mod sums;
mod term;
#[cfg(test)]
mod tests;
mod tile;
mod weigh;

use burn::{backend::Dispatch, tensor::Tensor};

pub(crate) use at_points::expectations_at;
use backend::LocationScaleStatistic;
pub(crate) use erfcx::{F32 as ERFCX_F32, F64 as ERFCX_F64};
pub(crate) use mixtures::{Mixtures, OnTargets, mixture_matrix, mixture_residuals};

use super::{Pairing, is_on_host, non_finite::non_finite_rows, simd::real::Real};
use crate::radial::Profile;

/// The expectations of a kernel on targets that the fused pass knows: the family of the predictions, and
/// the profile of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expectations {
    /// Normal predictions, whose scales are standard deviations, and `exp(−‖y − y'‖₂²/2ℓ²)`.
    NormalGaussian,
    /// Normal predictions and `exp(−‖y − y'‖₁/ℓ)`.
    NormalLaplacian,
    /// Laplace predictions, whose scales are those of the density `exp(−|x − μ|/β)/2β`, and
    /// `exp(−‖y − y'‖₂²/2ℓ²)`.
    LaplaceGaussian,
    /// Laplace predictions and `exp(−‖y − y'‖₁/ℓ)`.
    LaplaceLaplacian,
}

/// A kernel `κ(W₂(P, P')/ν) · k_Y(y, y')` that the fused pass has, without its bandwidth `ν`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocationScaleKernel {
    /// The profile `κ` of the kernel on predictions, over their 2-Wasserstein distance.
    pub profile: Profile,
    /// The family of the predictions and the profile of the kernel `k_Y` on targets.
    pub expectations: Expectations,
    /// The length scale `ℓ` of the kernel on targets.
    pub length_scale: f64,
}

/// Location-scale predictions and targets, `[n, d]` each.
#[derive(Debug, Clone)]
pub struct LocationScaleSamples {
    /// The locations.
    pub locations: Tensor<2>,
    /// The scales.
    pub scales: Tensor<2>,
    /// The targets.
    pub targets: Tensor<2>,
}

impl LocationScaleSamples {
    /// Whether there is a fused pass: in f32 and f64 in the memory of the host, where no gradient is asked
    /// for with respect to the targets.
    pub(crate) fn have_fused_pass(&self) -> bool {
        let all = [&self.locations, &self.scales, &self.targets];
        let [n, d] = self.locations.dims();
        is_on_host(&self.locations)
            && all
                .iter()
                .all(|x| x.dims() == [n, d] && x.dtype() == self.locations.dtype())
            && n > 0
            && d > 0
            && !self.targets.is_tracked()
    }
}

/// The mean of `h_ij` over pairs of samples, fused: no `n × n` matrix is stored, neither for the value nor
/// for the gradient, which reaches locations, scales and bandwidth.
///
/// `h_ij = κ(W₂(P_i, P_j)/ν) [k_Y(y_i, y_j) − E k_Y(Y_i, y_j) − E k_Y(y_i, Y_j) + E k_Y(Y_i, Y_j)]` with
/// independent `Y_i ∼ P_i` and `Y_j ∼ P_j`.
///
/// On Flex and NdArray, in vectors of the host on all of rayon's threads (the same result for the same
/// number of them). While gradients are recorded the same pass sums them too, and the backward pass only
/// scales them.
///
/// # Shapes
///
/// - samples: `n` of `d` coordinates
/// - bandwidth: `[1]`, positive, in the dtype of the samples
/// - output: `[1]`, in the dtype of the samples
///
/// Cost: `n²·d/2` coordinates of pairs (`n·B·d/2` for blocks of `B`); memory `O(n·d)`.
///
/// # Panics
///
/// If shapes, dtypes or devices disagree, on no samples or coordinates, a block size outside `2..=n`, a
/// bandwidth or length scale that is not a positive finite number, targets that are tracked, a dtype other
/// than f32 and f64, and on other backends than Flex and NdArray.
///
/// Numbers that are not finite make the result NaN, and the gradient of all samples in their block; those in no
/// block change nothing.
pub fn location_scale_statistic(
    samples: LocationScaleSamples,
    bandwidth: Tensor<1>,
    kernel: LocationScaleKernel,
    pairing: Pairing,
) -> Tensor<1> {
    assert!(
        samples.have_fused_pass(),
        "the fused pass is for locations, scales and targets of one shape in f32 or f64 on the host, without \
         a gradient of the targets"
    );
    super::pairs::check(&samples.locations, &bandwidth, pairing);
    let LocationScaleSamples {
        locations,
        scales,
        targets,
    } = samples;
    let (value, ..) = <Dispatch as LocationScaleStatistic>::location_scale_statistic(
        locations.into_dispatch(),
        scales.into_dispatch(),
        targets.into_dispatch(),
        bandwidth.into_dispatch(),
        kernel,
        pairing,
        false,
    );
    Tensor::from_dispatch(value)
}

/// `h` between samples and others, detached: `[n, k]`.
///
/// # Panics
///
/// If there is no fused pass for both.
pub(crate) fn location_scale_matrix(
    samples: &LocationScaleSamples,
    others: &LocationScaleSamples,
    bandwidth: f64,
    kernel: LocationScaleKernel,
) -> Tensor<2> {
    host::matrix(samples, others, bandwidth, kernel)
}

/// `h_ii`, detached: `[n]`.
///
/// # Panics
///
/// If there is no fused pass.
pub(crate) fn location_scale_diagonal(
    samples: &LocationScaleSamples,
    kernel: LocationScaleKernel,
) -> Tensor<1> {
    host::diagonal(samples, kernel)
}

/// The mean of `h` over the pairs of each of the first `⌊n/size⌋` blocks.
///
/// # Panics
///
/// If there is no fused pass.
pub(crate) fn location_scale_blocks(
    samples: &LocationScaleSamples,
    bandwidth: f64,
    kernel: LocationScaleKernel,
    size: usize,
) -> Vec<f64> {
    host::blocks(samples, bandwidth, kernel, size)
}

/// Locations, scales and targets on the host, row by row, in units of `1/unit`.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    locations: &'a [T],
    scales: &'a [T],
    targets: &'a [T],
    d: usize,
    /// A power of 2.
    unit: T,
}

impl<'a, T: Real> Rows<'a, T> {
    fn count(&self) -> usize {
        self.locations.len() / self.d
    }

    /// Location, scale and target of a coordinate, so bounded that their squares are finite.
    fn at(&self, row: usize, c: usize) -> [T; 3] {
        let at = row * self.d + c;
        let most = T::MAX.to_f64().sqrt() * 1e-3;
        [self.locations, self.scales, self.targets].map(|numbers| {
            let x = numbers[at].times(self.unit).to_f64();
            T::new(x.clamp(-most, most))
        })
    }

    /// The samples, of so many rows each, that hold a number that is not finite.
    fn non_finite(self, rows: usize) -> impl Iterator<Item = usize> + 'a {
        let width = rows * self.d;
        let all = [self.locations, self.scales, self.targets];
        all.into_iter()
            .flat_map(move |numbers| non_finite_rows(numbers, width))
    }
}
