//! Sums over pairs and their gradient.

use std::ops::Range;

use super::{
    Rows,
    packs::{Packs, pack},
    pair::Gaussian,
    tile::DERIVATIVES,
    weigh::Radial,
};
use crate::ops::{non_finite::poison_blocks, simd::wide::Select};

/// Smaller blocks are summed side by side.
const SIDE_BY_SIDE: usize = 128;

/// Sums over the pairs `i < j` within blocks.
pub(super) struct PairSums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij` over all blocks with respect to locations and scales, 0 for samples in no
    /// block; empty if it is not wanted.
    pub gradient: [Vec<T>; DERIVATIVES],
}

/// A kernel on predictions and one on targets, in units of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    pub gaussian: Gaussian,
    pub radial: Radial,
}

impl Pass {
    /// Over the first `⌊n/size⌋` blocks of consecutive samples; with half of the diagonal if wanted. A sample that
    /// is not finite makes the sum of its block and the gradient of that NaN.
    pub fn pair_sums<T: Select>(
        self,
        rows: Rows<T>,
        size: usize,
        with_diagonal: bool,
        gradient: bool,
    ) -> PairSums<T> {
        let mut sums = if gradient {
            self.sums::<T, true>(rows, size, with_diagonal)
        } else {
            self.sums::<T, false>(rows, size, with_diagonal)
        };
        let gradients = sums.gradient.each_mut().map(|g| (&mut g[..], rows.d));
        let totals = (&mut sums.values[..], &mut sums.stretch);
        poison_blocks(rows.non_finite(), size, totals, gradients);
        sums
    }

    /// The samples of a range, and copies of the last one.
    pub fn packs<T: Select>(self, rows: Rows<T>, samples: Range<usize>) -> Packs<T> {
        let sample = |place: usize| (samples.start + place).min(samples.end - 1);
        let count = samples.len().div_ceil(pack::<T>());
        Packs::new(count, rows, self.gaussian, sample)
    }

    fn sums<T: Select, const GRADIENT: bool>(
        self,
        rows: Rows<T>,
        size: usize,
        with_diagonal: bool,
    ) -> PairSums<T> {
        let blocks = rows.count() / size;
        let zeros = |()| vec![T::new(0.0); if GRADIENT { rows.locations.len() } else { 0 }];
        let mut sums = PairSums {
            values: Vec::with_capacity(blocks),
            stretch: 0.0,
            gradient: [(); DERIVATIVES].map(zeros),
        };
        if size < SIDE_BY_SIDE && blocks > 1 {
            self.side_by_side::<T, GRADIENT>(rows, size, &mut sums);
            return sums;
        }
        for first in (0..blocks).map(|block| block * size) {
            let packs = self.packs(rows, first..first + size);
            let (mut totals, mut gradient) = self.all_pairs::<T, GRADIENT>(&packs, size);
            if with_diagonal {
                let halves = self.itself::<T, GRADIENT>(&packs, size, 0.5, &mut gradient);
                totals.value += halves.iter().map(|h| h.to_f64()).sum::<f64>();
            }
            sums.values.push(totals.value);
            sums.stretch += totals.stretch;
            sums.write(rows, &gradient, |pack_index, lane| {
                let place = pack_index * pack::<T>() + lane;
                (place < size).then_some(first + place)
            });
        }
        sums
    }
}

impl<T: Select> PairSums<T> {
    /// Writes a gradient, `[pack][coordinate][derivative][lane]`, given the sample of pack and lane.
    pub fn write(
        &mut self,
        rows: Rows<T>,
        gradient: &[T],
        sample: impl Fn(usize, usize) -> Option<usize>,
    ) {
        let size = rows.d * DERIVATIVES * pack::<T>();
        for (index, gradient) in gradient.chunks_exact(size).enumerate() {
            for (k, numbers) in gradient.chunks_exact(pack::<T>()).enumerate() {
                for (lane, &x) in numbers.iter().enumerate() {
                    if let Some(row) = sample(index, lane) {
                        let at = row * rows.d + k / DERIVATIVES;
                        self.gradient[k % DERIVATIVES][at] = x.times(rows.unit);
                    }
                }
            }
        }
    }
}
