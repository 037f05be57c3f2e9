//! Sums over pairs and their gradient.

use std::ops::Range;

use super::{
    Expectations, Rows,
    packs::{Packs, pack},
    term::Expectation,
    tile::DERIVATIVES,
    weigh::Radial,
};
use crate::{
    ops::{
        non_finite::{poison, poison_blocks},
        simd::wide::Select,
    },
    radial::Profile,
};

/// Smaller blocks are summed side by side.
const SIDE_BY_SIDE: usize = 128;

/// A kernel on predictions and targets, in units of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub expectations: Expectations,
    /// The length scale of the kernel on targets.
    pub length: f64,
    pub profile: Profile,
    pub bandwidth: f64,
}

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

/// A pass with expectations that the compiler knows.
#[derive(Clone, Copy)]
pub(super) struct Pass<E> {
    pub expectation: E,
    pub radial: Radial,
}

/// `$body` with `$pass` the pass of a setting.
macro_rules! with_pass {
    ($setting:expr, $pass:ident => $body:expr) => {{
        use $crate::ops::{
            Expectations,
            location_scale::{
                laplace_gaussian::LaplaceGaussian, laplace_laplacian::LaplaceLaplacian,
                normal_gaussian::NormalGaussian, normal_laplacian::NormalLaplacian, sums::Pass,
            },
        };
        let length = $setting.length;
        match $setting.expectations {
            Expectations::NormalGaussian => {
                let $pass = Pass::new(NormalGaussian { length }, $setting);
                $body
            }
            Expectations::NormalLaplacian => {
                let $pass = Pass::new(NormalLaplacian { length }, $setting);
                $body
            }
            Expectations::LaplaceGaussian => {
                let $pass = Pass::new(LaplaceGaussian { length }, $setting);
                $body
            }
            Expectations::LaplaceLaplacian => {
                let $pass = Pass::new(LaplaceLaplacian { length }, $setting);
                $body
            }
        }
    }};
}
pub(super) use with_pass;

impl Setting {
    /// Over the first `⌊n/size⌋` blocks of consecutive samples; with half of the diagonal if wanted. A sample that
    /// is not finite makes the sum of its block and the gradient of that NaN.
    pub fn pair_sums<T: Select>(
        self,
        rows: Rows<T>,
        size: usize,
        with_diagonal: bool,
        gradient: bool,
    ) -> PairSums<T> {
        let mut sums = with_pass!(self, pass => match gradient {
            true => pass.pair_sums::<T, true>(rows, size, with_diagonal),
            false => pass.pair_sums::<T, false>(rows, size, with_diagonal),
        });
        let gradients = sums.gradient.each_mut().map(|g| (&mut g[..], rows.d));
        let totals = (&mut sums.values[..], &mut sums.stretch);
        poison_blocks(rows.non_finite(1), size, totals, gradients);
        sums
    }

    /// `h_ij` between samples and others, `[n, k]`; NaN for those that are not finite.
    pub fn matrix<T: Select>(self, rows: Rows<T>, columns: Rows<T>) -> Vec<T> {
        let mut matrix = with_pass!(self, pass => pass.matrix(rows, columns));
        let k = columns.count();
        poison(&mut matrix, k, rows.non_finite(1), columns.non_finite(1));
        matrix
    }

    /// `h_ii`; NaN for samples that are not finite.
    pub fn diagonal<T: Select>(self, rows: Rows<T>) -> Vec<T> {
        let mut diagonal = with_pass!(self, pass => pass.diagonal(rows));
        poison(&mut diagonal, 1, rows.non_finite(1), std::iter::empty());
        diagonal
    }
}

impl<E: Expectation> Pass<E> {
    pub fn new(expectation: E, setting: Setting) -> Self {
        let radial = Radial {
            profile: setting.profile,
            bandwidth: setting.bandwidth,
            scale_factor: E::SCALE_FACTOR,
        };
        Self {
            expectation,
            radial,
        }
    }

    /// The samples of a range, and copies of the last one.
    pub fn packs<T: Select>(self, rows: Rows<T>, samples: Range<usize>) -> Packs<T> {
        let sample = |place: usize| (samples.start + place).min(samples.end - 1);
        let count = samples.len().div_ceil(pack::<T>());
        Packs::new(count, rows, self.expectation, sample)
    }

    fn pair_sums<T: Select, const GRADIENT: bool>(
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
