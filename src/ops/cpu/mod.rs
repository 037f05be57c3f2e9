//! The pair statistic of the SKCE on the processor: one fused pass over all pairs of samples, in
//! memory linear in their number.
//!
//! A tile of 32 rows and up to 128 columns (half of that in f64) goes through its stages while it is
//! in the cache: separation and inner product of residuals ([`similarity`]), kernel, statistic and
//! slopes ([`weigh`]), sums over its rows and columns for the gradient ([`short`]). Tiles of long
//! vectors ([`long`]) are larger, and their inner products and sums products of matrices
//! ([`product`]). Vectors of the processor run through [`real`], over AVX-512, AVX2, NEON or single
//! numbers, chosen at run time. Both members of a pair are done at once.

mod aligned;
mod blocks;
mod chunks;
mod deal;
mod direct;
mod exp2;
mod gradient;
mod kernel_matrix;
mod layout;
mod long;
mod pass;
mod product;
mod radial;
mod real;
mod scatter;
mod select;
mod short;
mod similarity;
mod slope;
mod tile;
mod weigh;

use std::f64::consts::LOG2_E;

pub(crate) use chunks::for_each_chunk;
pub(crate) use exp2::exp;
use gradient::{Gradient, ValueOnly};
pub(crate) use kernel_matrix::kernel_matrix;
use layout::{LONG, Vectors, squared_length, strip};
use long::{Long, LongPass};
use pass::Pass;
use radial::{
    ExponentialEuclidean, ExponentialL1, GaussianEuclidean, GaussianExponent, GaussianL1, Radial,
};
pub(crate) use real::Real;
pub(crate) use select::order_statistics;
use short::Short;
use similarity::{Coordinate, Exponent, L1, SquaredEuclidean};
use slope::Slopes;
use weigh::Totals;

use super::pair_statistic::{PairKernel, Separation};

/// Blocks of fewer samples are summed pair by pair.
const SMALL_BLOCK: usize = 32;
/// From this bandwidth on, in units of the Euclidean distance, differences of points may be taken
/// after their sums.
const MERGED_FROM: f64 = 0.05;
/// Up to this length of the longest point, in bandwidths, squared distances may be taken from inner
/// products.
const EXPONENT_UP_TO: f64 = 4.0;

/// Sums over the pairs `i < j` within blocks.
pub(crate) struct PairSums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij` over all blocks with respect to the points, `[n, d]`, 0 for samples
    /// in no block; empty if it is not wanted.
    pub gradient: Vec<T>,
}

/// Samples of a pair statistic: points of `ℝ^d`, their residuals `e_y − p`.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a, T> {
    /// `[n, d]`
    pub points: &'a [T],
    /// Each below `d`.
    pub labels: &'a [u32],
    pub d: usize,
}

impl<T: Real> Samples<'_, T> {
    /// The greatest magnitude of a coordinate.
    fn largest(&self) -> f64 {
        let magnitudes = self.points.iter().map(|x| x.to_f64().abs());
        magnitudes.fold(0.0, f64::max)
    }

    /// The greatest length of a point.
    fn longest(&self) -> f64 {
        let lengths = self.points.chunks_exact(self.d).map(squared_length);
        lengths.fold(0.0, f64::max).sqrt()
    }
}

/// Over the first `⌊n/size⌋` blocks of consecutive samples.
pub(crate) fn pair_sums<T: Real>(
    samples: Samples<T>,
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: bool,
) -> PairSums<T> {
    let d = samples.d;
    let mut sums = PairSums {
        values: vec![0.0; samples.labels.len() / size],
        stretch: 0.0,
        gradient: vec![T::new(0.0); if gradient { samples.points.len() } else { 0 }],
    };
    let block = |k: usize| Samples {
        points: &samples.points[k * size * d..(k + 1) * size * d],
        labels: &samples.labels[k * size..(k + 1) * size],
        d,
    };
    if sums.values.len() > 1 && size < SMALL_BLOCK {
        let gradients = gradient.then_some(&mut *sums.gradient);
        sums.stretch = direct::blocks(
            block,
            size * d,
            kernel,
            bandwidth,
            &mut sums.values,
            gradients,
        );
    } else {
        for (k, value) in sums.values.iter_mut().enumerate() {
            let here = k * size * d..(k + 1) * size * d;
            let gradient = gradient
                .then_some(&mut sums.gradient)
                .map(|all| &mut all[here]);
            let totals = all_pairs(block(k), kernel, bandwidth, gradient);
            *value = totals.value;
            sums.stretch += totals.stretch;
        }
    }
    sums
}

/// `Σ h_ij` over the pairs `i < j` of each of the first `⌊n/size⌋` blocks, pair by pair: to the last bit
/// a function of the samples of the block alone, whatever the number of blocks and of threads.
pub(crate) fn block_sums(
    samples: Samples<f64>,
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> Vec<f64> {
    let d = samples.d;
    let block = |k: usize| Samples {
        points: &samples.points[k * size * d..(k + 1) * size * d],
        labels: &samples.labels[k * size..(k + 1) * size],
        d,
    };
    let mut values = vec![0.0; samples.labels.len() / size];
    direct::blocks(block, size * d, kernel, bandwidth, &mut values, None);
    values
}

/// The sums over all pairs, with the kernel's radial function chosen.
fn all_pairs<T: Real>(
    samples: Samples<T>,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: Option<&mut [T]>,
) -> Totals {
    let rate = kernel.scale() / bandwidth;
    match (kernel.separation, kernel.squared) {
        (Separation::L1 { .. }, false) => {
            let sums = (ExponentialL1(rate), L1, Slopes::Signs);
            fused(samples, sums, 1.0, gradient)
        }
        (Separation::L1 { .. }, true) => {
            let sums = (GaussianL1(rate), L1, Slopes::Signs);
            fused(samples, sums, 1.0, gradient)
        }
        (Separation::Euclidean, false) => {
            let radial = ExponentialEuclidean(rate);
            let sums = (radial, SquaredEuclidean, Slopes::Differences);
            fused(samples, sums, 1.0, gradient)
        }
        (Separation::Euclidean, true)
            if bandwidth < MERGED_FROM || samples.longest() * rate > EXPONENT_UP_TO =>
        {
            let radial = GaussianEuclidean(rate);
            let sums = (radial, SquaredEuclidean, Slopes::Differences);
            fused(samples, sums, 1.0, gradient)
        }
        (Separation::Euclidean, true) => {
            let sums = (GaussianExponent(rate), Exponent, Slopes::Merged);
            fused(samples, sums, rate * LOG2_E.sqrt(), gradient)
        }
    }
}

/// With the radial function, the coordinates' part of the separation of the scaled points, and how the
/// gradient is summed.
fn fused<T: Real, C: Coordinate<T>>(
    samples: Samples<T>,
    (radial, coordinate, slopes): (impl Radial<T>, C, Slopes),
    scale: f64,
    gradient: Option<&mut [T]>,
) -> Totals {
    let Samples { points, labels, d } = samples;
    let n = labels.len();
    // sorted by label, so that sums by label are sums over neighbours
    let mut order: Vec<usize> = (0..n).collect();
    if slopes == Slopes::Merged && gradient.is_some() {
        order.sort_by_key(|&i| labels[i]);
    }
    let point = |i: usize| &points[order[i] * d..][..d];
    let scaled = |factor: f64, strips: bool| {
        let factor = T::new(factor);
        let write = |x: &mut T, p: &T| *x = p.times(factor);
        Vectors::new(n, d, strips, |i, row: &mut [T]| {
            row.iter_mut().zip(point(i)).for_each(|(x, p)| write(x, p));
        })
    };
    let residual = |i: usize, row: &mut [T]| {
        row.iter_mut()
            .zip(point(i))
            .for_each(|(r, &p)| *r = p.times(T::new(-1.0)));
        let of_label = &mut row[labels[order[i]] as usize];
        *of_label = of_label.plus(T::new(1.0));
    };
    let long = d > LONG;
    let points = &scaled(scale, !long || !C::PRODUCT).with_halves();
    let residuals = &Vectors::new(n, d, !long, residual);
    let padded = n.next_multiple_of(strip::<T>());
    let mut sorted_labels: Vec<u32> = order.iter().map(|&i| labels[i]).collect();
    sorted_labels.resize(padded, sorted_labels.last().copied().unwrap_or(0));
    let signs; // points so great that their differences exceed 1
    let sum = match slopes {
        Slopes::Signs if gradient.is_some() => {
            signs = scaled(T::HUGE / samples.largest().max(1.0), !long);
            &signs
        }
        _ => points,
    };
    if long {
        let pass = LongPass {
            n,
            points,
            residuals,
            radial,
            coordinate,
        };
        let how = Long {
            slopes,
            labels: &sorted_labels,
            points: sum,
            residuals,
        };
        let (totals, sums) = pass.run(gradient.is_some().then_some(&how));
        if let (Some(sums), Some(gradient)) = (sums, gradient) {
            write(&order, d, gradient, |i, row| sums.write(i, point(i), row));
        }
        totals
    } else {
        let pass = Pass {
            n,
            points,
            residuals,
            radial,
            coordinate,
        };
        let Some(gradient) = gradient else {
            return pass.run(|| ValueOnly).0;
        };
        let (totals, sums) = pass.run(|| Short::new(slopes, &sorted_labels, sum, residuals));
        write(&order, d, gradient, |i, row| sums.write(i, point(i), row));
        totals
    }
}

/// Writes the gradient of sorted samples in their original order.
fn write<T: Real>(
    order: &[usize],
    d: usize,
    gradient: &mut [T],
    of: impl Fn(usize, &mut [T]) + Sync + Send,
) {
    let mut sorted = vec![0; order.len()];
    for (i, &original) in order.iter().enumerate() {
        sorted[original] = i;
    }
    for_each_chunk(gradient, d, 1, |(original, row)| of(sorted[original], row));
}
