//! The SKCE as one operation: a fused pass over pairs, in vectors of the host ([`host`], [`simd`]) or by a kernel
//! of CubeCL ([`backend`], [`cube`]), or composed of tensor operations ([`composed`]).

#[cfg(feature = "cube")]
mod backend;
mod composed;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "cube")]
mod fusion;
mod host;
pub(super) mod simd;

use burn::tensor::{Int, Tensor};

pub(super) use host::checked_bandwidth;
pub(crate) use host::{block_values, kernel_matrix};
pub(crate) use simd::{block_sums, host_kernel_matrix};

use super::{backends::is_on_host, gradient::linearised};
use crate::radial::{Distance, Profile};

/// A kernel of the fused pair statistic, `κ(d(x, y)/ν)`: any profile over any distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairKernel {
    distance: Distance,
    profile: Profile,
}

impl PairKernel {
    /// The kernel with this distance and profile, whose parameter must be [valid](Profile::validate).
    pub fn new(distance: Distance, profile: Profile) -> Self {
        Self { distance, profile }
    }

    /// The distance.
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }
}

/// The pairs whose mean the statistic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pairing {
    /// All `n²`, each sample with itself too.
    All,
    /// The pairs of two samples within the first `⌊n/size⌋` blocks of consecutive samples.
    Blocks {
        /// Samples in a block, `2..=n`; `n` for all pairs.
        size: usize,
    },
}

impl Pairing {
    /// The number of samples in a block, of `n` in all.
    pub(crate) fn size(self, n: usize) -> usize {
        match self {
            Self::All => n,
            Self::Blocks { size } => size,
        }
    }
}

/// The mean of `h_ij = k(p_i, p_j) δ_i·δ_j` over pairs of samples, with residuals `δ = e_y − p`,
/// fused: no `n × n` matrix is stored, neither for the value nor for the gradient, which reaches
/// the points and the bandwidth.
///
/// On Flex and NdArray a pass over tiles in vectors of the host, on all of rayon's threads (the
/// same result for the same number of them); while gradients are recorded the same pass sums them
/// too, and the backward pass only scales them. On wgpu and CUDA the same in one kernel of CubeCL,
/// with tiles in shared memory, compiled for each profile and its parameter. For other dtypes than f32 and
/// f64, on CubeCL's processor, over the network, and where a cube has fewer than 256 units, a loop over rows
/// composed of tensor operations.
///
/// # Shapes
///
/// - points: `[n, m]`, probabilities
/// - labels: `[n]`, classes in `0..m`
/// - bandwidth: `[1]`, positive, in the dtype of the points
/// - output: `[1]`, in the dtype of the points
///
/// Cost: `n²·m/2` pairs of coordinates (`n·B·m/2` for blocks of `B`), twice that on wgpu and CUDA;
/// memory `O(n·m)`.
///
/// # Panics
///
/// If shapes, dtypes or devices disagree, on points without samples or coordinates, a block size
/// outside `2..=n`, or a backend that this crate was not compiled for. On Flex and NdArray in f32 and f64 also on
/// a label out of range, and on a bandwidth that is not a positive finite number; elsewhere nothing is read back.
///
/// A point that is not finite makes the result NaN, and on Flex and NdArray the gradient of all samples in its
/// block; one that is in no block changes nothing.
pub fn pair_statistic(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    bandwidth: Tensor<1>,
    kernel: PairKernel,
    pairing: Pairing,
) -> Tensor<1> {
    check(&points, &bandwidth, pairing);
    let ([n, _], [count]) = (points.dims(), labels.dims());
    assert_eq!(n, count, "{n} points but {count} labels");
    let form = PairMean { kernel, pairing };
    if is_on_host(&points) {
        return host::label_mean(points, labels, bandwidth, form);
    }
    #[cfg(feature = "cube")]
    if backend::has_kernel(&points) {
        return backend::pair_mean(points, labels, bandwidth, form);
    }
    let residuals = composed::residuals(points.clone(), labels);
    composed::composed(points, residuals, bandwidth, form)
}

/// The mean of `h_ij = k(x_i, x_j) r_i·r_j` over pairs of samples, for any points and residuals: as
/// [`pair_statistic`], which has the residuals of labels and is faster for them. With residuals `Lᵀδ` it
/// has the matrix-valued kernel `k·M` with `M = L Lᵀ`.
///
/// The gradient reaches points, residuals and bandwidth. On Flex and NdArray by the same fused pass in f32 and f64;
/// otherwise by a loop over rows composed of tensor operations, in linear memory too.
///
/// # Shapes
///
/// - points: `[n, d]`
/// - residuals: `[n, m]`, in the dtype of the points
/// - bandwidth: `[1]`, positive, in the dtype of the points
/// - output: `[1]`, in the dtype of the points
///
/// Cost: `n²·(d + m)/4` pairs of coordinates (`n·B·(d + m)/4` for blocks of `B`); memory `O(n·(d + m))`.
///
/// # Panics
///
/// As [`pair_statistic`]; if the numbers or dtypes of points and residuals differ, and on residuals
/// without coordinates.
pub fn residual_statistic(
    points: Tensor<2>,
    residuals: Tensor<2>,
    bandwidth: Tensor<1>,
    kernel: PairKernel,
    pairing: Pairing,
) -> Tensor<1> {
    check(&points, &bandwidth, pairing);
    let ([n, _], [count, m]) = (points.dims(), residuals.dims());
    assert_eq!(n, count, "{n} points but {count} residuals");
    assert!(m > 0, "residuals without coordinates");
    assert_eq!(residuals.dtype(), points.dtype(), "dtype of the residuals");
    let form = PairMean { kernel, pairing };
    if is_on_host(&points) {
        return host::residual_mean(points, residuals, bandwidth, form);
    }
    composed::composed(points, residuals, bandwidth, form)
}

/// The pair statistic whose mean is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairMean {
    kernel: PairKernel,
    pairing: Pairing,
}

/// Returns whether there is a fused pass over points with labels, on the host or by a kernel of CubeCL.
pub(crate) fn has_fused_pass(points: &Tensor<2>) -> bool {
    #[cfg(feature = "cube")]
    if backend::has_kernel(points) {
        return true;
    }
    is_on_host(points)
}

/// A mean, `[1]`, with its gradients with respect to inputs and to the bandwidth.
pub(super) fn linearised_mean<const N: usize>(
    value: Tensor<1>,
    slopes: [(&Tensor<2>, Tensor<2>); N],
    (bandwidth, to_bandwidth): (&Tensor<1>, Tensor<1>),
) -> Tensor<1> {
    let tracked = slopes.into_iter().filter(|(input, _)| input.is_tracked());
    let value = tracked.fold(value, |value, (input, slope)| {
        linearised(value, input, slope)
    });
    if bandwidth.is_tracked() {
        linearised(value, bandwidth, to_bandwidth)
    } else {
        value
    }
}

pub(super) fn check(points: &Tensor<2>, bandwidth: &Tensor<1>, pairing: Pairing) {
    let [n, d] = points.dims();
    assert!(n > 0 && d > 0, "{n} points of {d} coordinates");
    let [count] = bandwidth.dims();
    assert_eq!(count, 1, "{count} bandwidths, expected 1");
    assert_eq!(bandwidth.dtype(), points.dtype(), "dtype of the bandwidth");
    if let Pairing::Blocks { size } = pairing {
        assert!(
            (2..=n).contains(&size),
            "blocks of {size} of {n} samples, expected 2 to {n}"
        );
    }
}

/// The factors of sums in a mean over pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanFactors {
    /// The factor of `Σ_{i<j} h` over all blocks.
    pub pairs: f64,
    /// The factor of `Σ_i h_ii`.
    pub diagonal: f64,
}

impl MeanFactors {
    /// The factors for `n` samples.
    pub fn new(pairing: Pairing, n: usize) -> Self {
        let (pairs, diagonal) = match pairing {
            Pairing::All => (n * n, ((n * n) as f64).recip()),
            Pairing::Blocks { size } => ((n / size) * size * (size - 1), 0.0),
        };
        Self {
            pairs: 2.0 / pairs as f64,
            diagonal,
        }
    }
}
