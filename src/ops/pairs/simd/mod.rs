//! The pair statistic of the SKCE on the host: one fused pass over all pairs of samples, in
//! memory linear in their number.
//!
//! A tile of 32 rows and some strips of 32 columns (half of that in f64) goes through its stages while it
//! is in the cache: distance and inner product of residuals ([`similarity`]), kernel, statistic and
//! slopes ([`radial`]), sums over its rows and columns for the gradient ([`sums`]). Both
//! members of a pair are done at once. Vectors of the processor are those of [`simd`](crate::ops::simd). Profile and
//! distance are looked up for each tile, so that the code exists once for a type of numbers and an instruction set.
//!
//! Pairs of long vectors whose squared distances keep their digits are done by products of matrices ([`long`]), and
//! small blocks pair by pair ([`direct`]).

mod direct;
mod kernel_matrix;
mod long;
mod pass;
mod radial;
mod sums;

use std::ops::Range;

pub(crate) use kernel_matrix::host_kernel_matrix;
use long::LongPairs;
use pass::Pass;
use radial::{Radial, Totals};

use super::PairKernel;
use crate::{
    ops::{
        non_finite::{non_finite_rows, poison_blocks},
        simd::{
            arch,
            layout::{self, PaddedVectors},
            product,
            real::Real,
            similarity,
        },
    },
    parallel::for_each_chunk,
};

/// Blocks of fewer samples are summed pair by pair.
const SMALL_BLOCK: usize = 32;
/// Numbers of residuals that are computed at once, where no gradient is asked for: 8 MB in f64.
const AT_ONCE: usize = 1 << 20;

/// Samples of a pair statistic: points of `ℝ^d` and their residuals.
#[derive(Clone, Copy)]
pub(crate) struct PairSamples<'a, T> {
    /// `[n, d]`
    pub points: &'a [T],
    pub d: usize,
    /// The vectors whose inner products are taken, `[n, m]`.
    pub residuals: &'a [T],
    pub m: usize,
    /// The labels `y`, each below `d`, if the residuals are `e_y − p` of the points `p`.
    pub labels: Option<&'a [u32]>,
}

/// `e_y − p` for points `p` with labels `y`, each below `d`.
pub(crate) fn residuals_of_labels<T: Real>(points: &[T], labels: &[u32], d: usize) -> Vec<T> {
    let mut residuals: Vec<T> = points.iter().map(|&p| T::new(0.0) - p).collect();
    for (row, &label) in residuals.chunks_exact_mut(d).zip(labels) {
        row[label as usize] += T::new(1.0);
    }
    residuals
}

impl<T: Real> PairSamples<'_, T> {
    pub fn count(&self) -> usize {
        self.points.len() / self.d
    }

    pub fn point(&self, i: usize) -> &[T] {
        &self.points[i * self.d..][..self.d]
    }

    pub fn residual(&self, i: usize) -> &[T] {
        &self.residuals[i * self.m..][..self.m]
    }

    /// Consecutive samples.
    pub fn part(&self, samples: Range<usize>) -> Self {
        let rows_of = |d: usize| samples.start * d..samples.end * d;
        Self {
            points: &self.points[rows_of(self.d)],
            residuals: &self.residuals[rows_of(self.m)],
            labels: self.labels.map(|labels| &labels[samples]),
            ..*self
        }
    }
}

/// Sums over the pairs `i < j` within blocks.
pub(crate) struct PairSums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij` over all blocks, 0 for samples in no block; empty if it is not wanted. That of
    /// residuals of labels is part of that of the points.
    pub points: Vec<T>,
    pub residuals: Vec<T>,
}

/// Over the first `⌊n/size⌋` blocks of consecutive samples. A sample that is not finite makes the sum of its block
/// and the gradient of that NaN.
pub(crate) fn pair_sums<T: Real>(
    samples: PairSamples<T>,
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: bool,
) -> PairSums<T> {
    let zeros = |wanted: bool, rows: &[T]| vec![T::new(0.0); if wanted { rows.len() } else { 0 }];
    let mut sums = PairSums {
        values: vec![0.0; samples.count() / size],
        stretch: 0.0,
        points: zeros(gradient, samples.points),
        residuals: zeros(gradient && samples.labels.is_none(), samples.residuals),
    };
    let count = sums.values.len();
    let part = |k: usize| samples.part(k * size..(k + 1) * size);
    let mut blocks: Vec<_> = parts(&mut sums.points, size * samples.d, count)
        .zip(parts(&mut sums.residuals, size * samples.m, count))
        .map(|gradient| (<[_; 2]>::from(gradient), Totals::default()))
        .collect();
    if size < SMALL_BLOCK {
        for_each_chunk(&mut blocks, 1, size * size * samples.d, |(k, block)| {
            let (rows, totals) = &mut block[0];
            let rows = gradient.then_some(rows);
            *totals = direct::all_pairs(part(k), kernel, bandwidth, rows);
        });
    } else {
        for (k, (rows, totals)) in blocks.iter_mut().enumerate() {
            let rows = gradient.then_some(rows);
            *totals = all_pairs(part(k), kernel, bandwidth, rows);
        }
    }
    for (value, (_, totals)) in sums.values.iter_mut().zip(blocks) {
        *value = totals.value;
        sums.stretch += totals.stretch; // in order, whatever the number of threads
    }
    let (d, m) = (samples.d, samples.m);
    poison_blocks(
        non_finite_rows(samples.points, d).chain(non_finite_rows(samples.residuals, m)),
        size,
        (&mut sums.values, &mut sums.stretch),
        [(&mut sums.points, d), (&mut sums.residuals, m)],
    );
    sums
}

/// The parts of blocks of so many consecutive numbers; empty where there are none.
fn parts<T>(numbers: &mut [T], size: usize, count: usize) -> impl Iterator<Item = &mut [T]> {
    let mut parts = numbers.chunks_mut(size);
    (0..count).map(move |_| parts.next().unwrap_or_default())
}

/// `Σ w_i w_j h_ij` over the pairs `i < j` of each of the first `⌊n/size⌋` blocks of points with labels: to the last bit
/// a function of the samples of the block alone, whatever the number of blocks and of threads. Weights are 1 where there
/// are none.
pub(crate) fn block_sums<T: Real>(
    (points, d): (&[T], usize),
    (labels, weights): (&[u32], Option<&[f64]>),
    size: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> Vec<f64> {
    let used = labels.len() / size * size;
    let of_part = |first: usize, last: usize| {
        let points = &points[first * d..last * d];
        let mut residuals = residuals_of_labels(points, &labels[first..last], d);
        if let Some(weights) = weights {
            for (row, &w) in residuals.chunks_mut(d).zip(&weights[first..last]) {
                row.iter_mut().for_each(|r| *r = *r * T::new(w));
            }
        }
        let samples = PairSamples {
            points,
            d,
            residuals: &residuals,
            m: d,
            labels: None, // with weights they are not those of labels
        };
        pair_sums(samples, size, kernel, bandwidth, false).values
    };
    // some blocks at a time: the residuals are as many as the points
    let step = (AT_ONCE / (size * d)).max(1) * size;
    let parts = (0..used).step_by(step);
    parts
        .flat_map(|first| of_part(first, used.min(first + step)))
        .collect()
}

/// The sums over all pairs of some samples; writes the gradient of points and residuals, if there is one.
fn all_pairs<T: Real>(
    samples: PairSamples<T>,
    kernel: PairKernel,
    bandwidth: f64,
    gradient: Option<&mut [&mut [T]; 2]>,
) -> Totals {
    let radial = Radial::new(kernel, bandwidth);
    if let Some(pairs) = LongPairs::new(samples, radial) {
        return pairs.sums(gradient);
    }
    let pass = Pass {
        radial,
        n: samples.count(),
        points: PaddedVectors::new(samples.points, samples.d),
        residuals: PaddedVectors::new(samples.residuals, samples.m),
        by_label: samples.labels.is_some(),
    };
    let (totals, sums) = pass.run(gradient.is_some());
    if let (Some(gradient), Some(sums)) = (gradient, sums) {
        sums.write(gradient);
    }
    totals
}
