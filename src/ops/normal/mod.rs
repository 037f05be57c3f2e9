//! The SKCE of normal predictions with a Gaussian kernel on targets as one operation on the host: a pass over
//! pairs in vectors of the processor, and its backward pass ([`backend`]).
//!
//! A tile of a pack of rows (16 in f32, 8 in f64) and up to four packs of columns goes through two stages
//! while it is in the cache: the kernel on predictions with its slope ([`weigh`]), and the residuals with
//! their gradient ([`tile`]), both members of a pair at once ([`pair`]). What depends on one sample alone
//! is computed once ([`packs`]). The expectations are those of
//! [`kernel::expectation`](crate::kernel::expectation).

mod all_pairs;
mod backend;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod host;
mod lanewise;
mod packs;
mod pair;
mod side_by_side;
mod sums;
mod tile;
mod weigh;

use burn::{backend::Dispatch, tensor::Tensor};

use backend::NormalStatistic;

use super::{Pairing, is_on_host, non_finite::non_finite_rows, simd::real::Real};
use crate::radial::Profile;

/// A kernel `κ(W₂(P, P')/ν) · exp(−‖y − y'‖₂²/2ℓ²)`, without its bandwidth `ν`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalKernel {
    /// The profile `κ` of the kernel on predictions, over their 2-Wasserstein distance.
    pub profile: Profile,
    /// The length scale `ℓ` of the kernel on targets.
    pub length_scale: f64,
}

/// Normal predictions and targets, `[n, d]` each.
#[derive(Debug, Clone)]
pub struct NormalSamples {
    /// The means.
    pub locations: Tensor<2>,
    /// The standard deviations.
    pub scales: Tensor<2>,
    /// The targets.
    pub targets: Tensor<2>,
}

impl NormalSamples {
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
pub fn normal_statistic(
    samples: NormalSamples,
    bandwidth: Tensor<1>,
    kernel: NormalKernel,
    pairing: Pairing,
) -> Tensor<1> {
    assert!(
        samples.have_fused_pass(),
        "the fused pass is for locations, scales and targets of one shape in f32 or f64 on the host, without \
         a gradient of the targets"
    );
    super::pairs::check(&samples.locations, &bandwidth, pairing);
    let NormalSamples {
        locations,
        scales,
        targets,
    } = samples;
    let (value, ..) = <Dispatch as NormalStatistic>::normal_statistic(
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
pub(crate) fn normal_matrix(
    samples: &NormalSamples,
    others: &NormalSamples,
    bandwidth: f64,
    kernel: NormalKernel,
) -> Tensor<2> {
    host::matrix(samples, others, bandwidth, kernel)
}

/// `h_ii`, detached: `[n]`.
///
/// # Panics
///
/// If there is no fused pass.
pub(crate) fn normal_diagonal(samples: &NormalSamples, kernel: NormalKernel) -> Tensor<1> {
    host::diagonal(samples, kernel)
}

/// The mean of `h` over the pairs of each of the first `⌊n/size⌋` blocks.
///
/// # Panics
///
/// If there is no fused pass.
pub(crate) fn normal_blocks(
    samples: &NormalSamples,
    bandwidth: f64,
    kernel: NormalKernel,
    size: usize,
) -> Vec<f64> {
    host::blocks(samples, bandwidth, kernel, size)
}

/// A power of 2 near the reciprocal of the length scale, in which lengths are measured without rounding.
pub(super) fn unit(length_scale: f64) -> f64 {
    assert!(
        length_scale.is_finite() && length_scale > 0.0,
        "the length scale of the target kernel is {length_scale}, expected a positive finite number"
    );
    (-length_scale.log2().round()).clamp(-120.0, 120.0).exp2()
}

/// A number in units of `1/unit`, so bounded that its square is finite.
pub(super) fn in_units<T: Real>(x: T, unit: T) -> T {
    let most = T::MAX.to_f64().sqrt() * 1e-3;
    T::new(x.times(unit).to_f64().clamp(-most, most))
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
        [self.locations, self.scales, self.targets].map(|numbers| in_units(numbers[at], self.unit))
    }

    /// The samples that hold a number that is not finite.
    fn non_finite(self) -> impl Iterator<Item = usize> + 'a {
        let all = [self.locations, self.scales, self.targets];
        all.into_iter()
            .flat_map(move |numbers| non_finite_rows(numbers, self.d))
    }
}
