use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    packs::{Packs, pack},
    pair::{Gaussian, Kept, NUMBERS, Weight, own, pair},
    weigh::{PACKS, Weights},
};
use crate::ops::simd::wide::{Select, Wide};

/// Derivatives of a coordinate: with respect to location and scale.
pub(super) const DERIVATIVES: usize = 2;

/// Sums over pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    /// `Σ h`
    pub value: f64,
    /// `ν ∂/∂ν Σ h`; 0 without a gradient.
    pub stretch: f64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.stretch += other.stretch;
    }
}

/// The sums over the pairs of some rows of a pack with some packs of columns, for a given number `D` of
/// coordinates or for any (0). Adds to the gradient, `[pack][coordinate][derivative][lane]`, of rows and
/// columns alike; without one, it writes `h` in the place of the kernel.
pub(super) struct Tile<'a, T, const D: usize, const GRADIENT: bool> {
    pub gaussian: Gaussian,
    pub rows: (&'a Packs<T>, usize),
    /// Rows of the pack.
    pub count: usize,
    pub columns: (&'a Packs<T>, Range<usize>),
    pub weights: &'a mut Weights<T>,
    pub sums: &'a mut [T],
}

impl<T: Select, const D: usize, const GRADIENT: bool> WithSimd for Tile<'_, T, D, GRADIENT> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        let (line, lanes) = (pack::<T>() / T::width::<S>(), pack::<T>());
        let d = if D == 0 { self.rows.0.d } else { D };
        let zero = Wide::<S, T>::splat(simd, T::new(0.0));
        let (mut one, mut many) = ([Kept::new(zero); 1], Vec::new());
        let (mut sum_of_one, mut sums_of_many) = ([[zero; DERIVATIVES]; 1], Vec::new());
        let (kept, row_sums) = match D {
            1 => (&mut one[..], &mut sum_of_one[..]),
            _ => {
                many.resize(d, Kept::new(zero));
                sums_of_many.resize(d, [zero; DERIVATIVES]);
                (&mut many[..], &mut sums_of_many[..])
            }
        };
        let numbers = self.rows.0.pack(self.rows.1);
        let mut row = vec![T::splat(simd, T::new(0.0)); d * NUMBERS];
        let kernels = T::lanes_mut::<S>(&mut self.weights.kernel);
        let slopes = T::lanes::<S>(&self.weights.slope);
        let squares = T::lanes::<S>(&self.weights.squares);
        let mut totals = Totals::default();
        for r in 0..self.count {
            for (row, numbers) in row.iter_mut().zip(numbers.chunks_exact(lanes)) {
                *row = T::splat(simd, numbers[r]);
            }
            let first = own::<S, T>(simd, &row, 1, 0);
            row_sums.fill([zero; DERIVATIVES]);
            let (mut value, mut stretch) = (zero, zero);
            for (k, index) in self.columns.1.clone().enumerate() {
                let columns = T::lanes::<S>(self.columns.0.pack(index));
                let size = d * DERIVATIVES * lanes;
                let sums = if GRADIENT {
                    T::lanes_mut::<S>(&mut self.sums[index * size..][..size])
                } else {
                    &mut []
                };
                for v in 0..line {
                    let at = (r * PACKS + k) * line + v;
                    let weight = Weight {
                        kernel: Wide::new(simd, kernels[at]),
                        slope: Wide::new(simd, slopes[at]),
                    };
                    let residual = pair::<S, T, GRADIENT>(
                        self.gaussian,
                        weight,
                        d,
                        #[inline(always)]
                        |c| match D {
                            1 => first,
                            _ => own(simd, &row, 1, c),
                        },
                        #[inline(always)]
                        |c| own(simd, &columns[v..], line, c),
                        kept,
                        #[inline(always)]
                        |c, gradient: [Wide<S, T>; 4]| {
                            for (k, sum) in row_sums[c].iter_mut().enumerate() {
                                *sum = *sum + gradient[k];
                            }
                            for k in 0..DERIVATIVES {
                                let sum = &mut sums[(c * DERIVATIVES + k) * line + v];
                                *sum = T::add(simd, *sum, gradient[DERIVATIVES + k].lanes);
                            }
                        },
                    );
                    if GRADIENT {
                        value = weight.kernel.mul_add(residual, value);
                        let slope = weight.slope * Wide::new(simd, squares[at]);
                        stretch = slope.mul_add(residual, stretch);
                    } else {
                        let h = weight.kernel * residual;
                        kernels[at] = h.lanes;
                        value = value + h;
                    }
                }
            }
            totals.value += value.sum().to_f64();
            totals.stretch -= stretch.sum().to_f64();
            if GRADIENT {
                for (c, row_sums) in row_sums.iter().enumerate() {
                    for (k, sum) in row_sums.iter().enumerate() {
                        let at = ((self.rows.1 * d + c) * DERIVATIVES + k) * lanes + r;
                        self.sums[at] = self.sums[at].plus(sum.sum());
                    }
                }
            }
        }
        totals
    }
}
