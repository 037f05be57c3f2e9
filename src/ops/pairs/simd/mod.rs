//! The pair statistic of the SKCE on the host: one fused pass over all pairs of samples, in
//! memory linear in their number.
//!
//! A tile of 32 rows and up to 128 columns (half of that in f64) goes through its stages while it is
//! in the cache: distance and inner product of residuals ([`similarity`]), kernel, statistic and
//! slopes ([`weigh`]), sums over its rows and columns for the gradient ([`short`]). Tiles of long
//! vectors ([`long`]) are larger, and their inner products and sums products of matrices
//! ([`product`]). Vectors are those of [`simd`](crate::ops::simd). Both members of a pair are done at
//! once.

mod blocks;
pub(crate) mod deal;
mod direct;
mod fused;
mod gradient;
mod kernel_matrix;
mod long;
mod pass;
mod radial;
mod samples;
mod scatter;
mod short;
mod slope;
mod sorted;
mod weigh;

use std::f64::consts::SQRT_2;

use fused::Fused;
pub(crate) use kernel_matrix::host_kernel_matrix;
use radial::{Radial, Separation};
pub(super) use samples::Gradients;
pub(crate) use samples::{Residuals, Samples};
use slope::Slopes;
use weigh::Totals;

use super::PairKernel;
use crate::ops::{
    non_finite::{non_finite_rows, poison_blocks},
    simd::{
        aligned, arch, lanes, layout, product,
        real::{self, Real},
        similarity::{self, Exponent, L1, SquaredEuclidean},
        tile,
    },
};

/// Blocks of fewer samples are summed pair by pair.
const SMALL_BLOCK: usize = 32;
/// From this bandwidth on, in units of the Euclidean distance, differences of points may be taken
/// after their sums.
const MERGED_FROM: f64 = 0.05;
/// Up to this length of the longest point, in bandwidths, squared distances may be taken from inner
/// products of points, and up to this length of the longest residual from those of residuals.
const EXPONENT_UP_TO: f64 = 4.0;
/// The length of `e_y − e_z`.
const LONGEST_RESIDUAL: f64 = SQRT_2;

/// Sums over the pairs `i < j` within blocks.
pub(crate) struct PairSums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij` over all blocks, 0 for samples in no block; empty if it is not wanted.
    pub gradient: Gradients<Vec<T>>,
}

/// Over the first `⌊n/size⌋` blocks of consecutive samples. A sample that is not finite makes the sum of its block
/// and the gradient of that NaN.
pub(crate) fn pair_sums<T: Real>(
    samples: Samples<T>,
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: bool,
) -> PairSums<T> {
    let zeros = |rows: &[T]| vec![T::new(0.0); if gradient { rows.len() } else { 0 }];
    let residuals: &[T] = match samples.residuals {
        Residuals::Labels(_) => &[],
        Residuals::Rows { rows, .. } => rows,
    };
    let mut gradient = Gradients {
        points: zeros(samples.points),
        residuals: zeros(residuals),
    };
    let mut gradients = gradient.blocks(Gradients {
        points: size * samples.d,
        residuals: size * samples.residual_size(),
    });
    let mut values = vec![0.0; samples.count() / size];
    let mut stretch = 0.0;
    let block = |k: usize| samples.part(k * size..(k + 1) * size);
    if values.len() > 1 && size < SMALL_BLOCK {
        let gradients = values.iter().map(|_| gradients.next()).collect();
        stretch = direct::blocks(block, kernel, bandwidth, &mut values, gradients);
    } else {
        for (k, value) in values.iter_mut().enumerate() {
            let totals = all_pairs(block(k), kernel, bandwidth, gradients.next());
            *value = totals.value;
            stretch += totals.stretch;
        }
    }
    drop(gradients);
    let widths = [samples.d, samples.residual_size()];
    poison_blocks(
        non_finite_rows(samples.points, widths[0]).chain(non_finite_rows(residuals, widths[1])),
        size,
        (&mut values, &mut stretch),
        [
            (&mut gradient.points, widths[0]),
            (&mut gradient.residuals, widths[1]),
        ],
    );
    PairSums {
        values,
        stretch,
        gradient,
    }
}

/// `Σ h_ij` over the pairs `i < j` of each of the first `⌊n/size⌋` blocks, pair by pair: to the last bit
/// a function of the samples of the block alone, whatever the number of blocks and of threads.
pub(crate) fn block_sums(
    samples: Samples<f64>,
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> Vec<f64> {
    let block = |k: usize| samples.part(k * size..(k + 1) * size);
    let mut values = vec![0.0; samples.count() / size];
    let no_gradients = values.iter().map(|_| None).collect();
    direct::blocks(block, kernel, bandwidth, &mut values, no_gradients);
    values
}

/// The sums over all pairs, with the kernel's radial function chosen.
fn all_pairs<T: Real>(
    samples: Samples<T>,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: Option<Gradients<&mut [T]>>,
) -> Totals {
    let radial = Radial::new(kernel, bandwidth);
    if !kernel.distance().is_euclidean() {
        return Fused::new(radial, L1, Slopes::Signs).run(samples, gradient);
    }
    // a steep kernel is as one of a smaller bandwidth
    let steepness = match samples.residuals {
        Residuals::Labels(_) => kernel.profile().steepness(),
        Residuals::Rows { .. } => f64::INFINITY,
    };
    let rate = radial.rate * steepness.sqrt();
    if rate > MERGED_FROM.recip() || samples.longest() * rate > EXPONENT_UP_TO {
        return Fused::new(radial, SquaredEuclidean, Slopes::Differences).run(samples, gradient);
    }
    let radial = Radial {
        separation: Separation::Exponents,
        ..radial
    };
    Fused {
        from_residuals: LONGEST_RESIDUAL * rate <= EXPONENT_UP_TO,
        ..Fused::new(radial, Exponent, Slopes::Merged)
    }
    .run(samples, gradient)
}
