//! The SKCE as one operation: a fused pass over pairs, in vectors of the host ([`simd`]) or by a kernel of
//! CubeCL ([`cube`]), or composed of tensor operations, and its backward pass ([`backend`]).

mod backend;
mod composed;
#[cfg(feature = "cube")]
pub(super) mod cube;
#[cfg(any(feature = "cube", feature = "remote"))]
mod fusion;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod host;
pub(super) mod simd;

use burn::{
    backend::Dispatch,
    tensor::{Int, Tensor},
};

use backend::PairStatistic;
pub(crate) use backend::has_fused_pass;
pub(crate) use host::{block_values, kernel_matrix};
pub(crate) use simd::{block_sums, host_kernel_matrix};

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

/// Which pairs the statistic is a mean of.
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
/// with tiles in shared memory, compiled for each profile and its parameter; tested on wgpu, while for
/// CUDA it was type-checked and never run. For other dtypes than f32 and f64, on CubeCL's processor, and
/// where a cube has fewer than 256 units, a loop over rows composed of tensor operations.
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
/// outside `2..=n`, or a backend that this crate was not compiled for. On Flex and NdArray also on a
/// label out of range, a bandwidth that is not a positive finite number, and a dtype other than f32
/// and f64; elsewhere nothing is read back.
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
    let form = PairMean {
        kernel,
        pairing,
        by_label: true,
    };
    let none = points.clone().detach();
    statistic([points, none], labels, bandwidth, form)
}

/// The mean of `h_ij = k(x_i, x_j) r_i·r_j` over pairs of samples, for any points and residuals: as
/// [`pair_statistic`], which has the residuals of labels and is faster for them. With residuals `Lᵀδ` it
/// has the matrix-valued kernel `k·M` with `M = L Lᵀ`.
///
/// The gradient reaches points, residuals and bandwidth. On Flex and NdArray by the same fused pass; on
/// other backends by a loop over rows composed of tensor operations, in linear memory too.
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
    let none = Tensor::empty([1], &points.device());
    let form = PairMean {
        kernel,
        pairing,
        by_label: false,
    };
    statistic([points, residuals], none, bandwidth, form)
}

/// The pair statistic whose mean is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairMean {
    kernel: PairKernel,
    pairing: Pairing,
    /// Whether the residuals are `e_y − p` for points `p` with labels `y`.
    by_label: bool,
}

fn statistic(
    [points, residuals]: [Tensor<2>; 2],
    labels: Tensor<1, Int>,
    bandwidth: Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let (value, ..) = <Dispatch as PairStatistic>::pair_statistic(
        points.into_dispatch(),
        residuals.into_dispatch(),
        labels.into_dispatch(),
        bandwidth.into_dispatch(),
        form,
        false,
    );
    Tensor::from_dispatch(value)
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

/// The factors of `Σ_{i<j} h` over all blocks, and of `Σ_i h_ii`, in the mean.
pub(super) fn normalisation(pairing: Pairing, n: usize) -> (f64, f64) {
    match pairing {
        Pairing::All => (2.0 / (n * n) as f64, 1.0 / (n * n) as f64),
        Pairing::Blocks { size } => (2.0 / ((n / size) * size * (size - 1)) as f64, 0.0),
    }
}
