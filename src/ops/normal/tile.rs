//! A tile of pairs: a pack of rows and up to four packs of columns.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    NormalRows,
    pair::{Gaussian, KernelWeight, NUMBERS, PairTerms, coordinate, pair},
};
use crate::{
    ops::{
        formula::Number,
        simd::{aligned::Aligned, lanes::Lanes, real::Real, wide::Wide},
    },
    parallel::for_each_chunk,
    radial::Profile,
};

/// Packs of columns in a tile.
pub(super) const PACKS: usize = 4;
/// Derivatives of a coordinate: with respect to location and scale.
pub(super) const DERIVATIVES: usize = 2;

/// Samples in a pack: a vector of the widest processor.
pub(super) const fn pack<T>() -> usize {
    64 / size_of::<T>()
}

/// Samples side by side, `[pack][coordinate][number][lane]`, and copies of the last one.
pub(super) struct Packs<T> {
    pub d: usize,
    numbers: Aligned<T>,
}

impl<T: Real> Packs<T> {
    /// Packs the first `n` samples.
    pub fn new(rows: NormalRows<T>, n: usize, gaussian: Gaussian) -> Self {
        let d = rows.d;
        let size = d * NUMBERS * pack::<T>();
        let mut numbers = Aligned::zeros(n.div_ceil(pack::<T>()) * size);
        for_each_chunk(&mut numbers, size, 16, |(index, numbers)| {
            for lane in 0..pack::<T>() {
                let row = (index * pack::<T>() + lane).min(n - 1);
                for c in 0..d {
                    let [location, scale, target] = rows.at(row, c);
                    let prepared = gaussian.prepare(scale.to_f64()).map(T::new);
                    let all = [location, scale, target].into_iter().chain(prepared);
                    for (k, x) in all.enumerate() {
                        numbers[(c * NUMBERS + k) * pack::<T>() + lane] = x;
                    }
                }
            }
        });
        Self { d, numbers }
    }

    pub fn count(&self) -> usize {
        self.numbers.len() / (self.d * NUMBERS * pack::<T>())
    }

    /// `[coordinate][number][lane]`
    fn pack(&self, index: usize) -> &[T] {
        let size = self.d * NUMBERS * pack::<T>();
        &self.numbers[index * size..][..size]
    }
}

/// What is known of the pairs of a tile, `[row][pack][lane]`.
pub(super) struct TilePairs<T> {
    /// The kernel on predictions.
    pub kernel: Aligned<T>,
    /// The derivative of the kernel along a difference of coordinates over that difference.
    slope: Aligned<T>,
    /// The squared distances.
    squares: Aligned<T>,
    /// `Σ h` of each row.
    pub values: Vec<f64>,
}

impl<T: Real> TilePairs<T> {
    pub fn zeros() -> Self {
        let zeros = || Aligned::zeros(pack::<T>() * PACKS * pack::<T>());
        Self {
            kernel: zeros(),
            slope: zeros(),
            squares: zeros(),
            values: vec![0.0; pack::<T>()],
        }
    }

    /// Of a row and a pack of columns keeps some lanes.
    pub fn keep(&mut self, row: usize, index: usize, lanes: Range<usize>) {
        let at = (row * PACKS + index) * pack::<T>();
        for numbers in [&mut self.kernel, &mut self.slope] {
            let numbers = &mut numbers[at..][..pack::<T>()];
            numbers[..lanes.start].fill(T::new(0.0));
            numbers[lanes.end..].fill(T::new(0.0));
        }
    }

    /// Halves the pairs of samples with themselves, which have no slope, where rows and columns are the same.
    pub fn halve_diagonal(&mut self, index: usize) {
        for row in 0..pack::<T>() {
            let kernel = &mut self.kernel[(row * PACKS + index) * pack::<T>() + row];
            *kernel = kernel.times(T::new(0.5));
        }
    }
}

/// A kernel on predictions, `κ(W₂/ν)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormalRadial {
    pub profile: Profile,
    pub bandwidth: f64,
}

/// The first stage: kernel, slope and squared distances of a pack of rows with some packs of columns.
pub(super) struct NormalWeigh<'a, T> {
    pub radial: NormalRadial,
    pub rows: (&'a Packs<T>, usize),
    pub columns: (&'a Packs<T>, Range<usize>),
    pub pairs: &'a mut TilePairs<T>,
}

impl<T: Real> WithSimd for NormalWeigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let line = pack::<T>() / T::width::<S>();
        let (d, row) = (self.rows.0.d, self.rows.0.pack(self.rows.1));
        let squares = T::lanes_mut::<S>(&mut self.pairs.squares);
        for r in 0..pack::<T>() {
            for (k, index) in self.columns.1.clone().enumerate() {
                let column = T::lanes::<S>(self.columns.0.pack(index));
                for v in 0..line {
                    let mut sum = T::splat(simd, T::new(0.0));
                    for number in (0..d).flat_map(|c| [c * NUMBERS, c * NUMBERS + 1]) {
                        let of_row = T::splat(simd, row[number * pack::<T>() + r]);
                        let difference = T::sub(simd, of_row, column[number * line + v]);
                        sum = T::mul_add(simd, difference, difference, sum);
                    }
                    squares[(r * PACKS + k) * line + v] = sum;
                }
            }
        }
        let kernel = T::lanes_mut::<S>(&mut self.pairs.kernel);
        let slope = T::lanes_mut::<S>(&mut self.pairs.slope);
        let rate = self.radial.bandwidth.recip();
        let n = Lanes::<S, T>::new(simd);
        for (&square, (kernel, slope)) in squares.iter().zip(kernel.iter_mut().zip(slope)) {
            let value = self.radial.profile.of_square(n, square, rate);
            (*kernel, *slope) = (value.kernel, value.slope);
        }
    }
}

/// The second stage, the residuals, for a given number `D` of coordinates or for any (0). Writes the sums of rows.
/// Adds to the gradient, `[pack][coordinate][derivative][lane]`, of rows and columns alike; without one, it writes
/// `h` in the place of the kernel. Returns `ν ∂/∂ν Σ h`, 0 without a gradient.
pub(super) struct NormalTile<'a, T, const D: usize, const GRADIENT: bool> {
    pub gaussian: Gaussian,
    pub rows: (&'a Packs<T>, usize),
    /// Rows of the pack.
    pub count: usize,
    pub columns: (&'a Packs<T>, Range<usize>),
    pub pairs: &'a mut TilePairs<T>,
    pub sums: &'a mut [T],
}

impl<T: Real, const D: usize, const GRADIENT: bool> WithSimd for NormalTile<'_, T, D, GRADIENT> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (line, lanes) = (pack::<T>() / T::width::<S>(), pack::<T>());
        let d = if D == 0 { self.rows.0.d } else { D };
        let zero = Wide::<S, T>::splat(simd, T::new(0.0));
        let (mut one, mut many) = ([PairTerms::new(zero); 1], Vec::new());
        let (mut sum_of_one, mut sums_of_many) = ([[zero; DERIVATIVES]; 1], Vec::new());
        let (kept, row_sums) = match D {
            1 => (&mut one[..], &mut sum_of_one[..]),
            _ => {
                many.resize(d, PairTerms::new(zero));
                sums_of_many.resize(d, [zero; DERIVATIVES]);
                (&mut many[..], &mut sums_of_many[..])
            }
        };
        let numbers = self.rows.0.pack(self.rows.1);
        let mut row = vec![T::splat(simd, T::new(0.0)); d * NUMBERS];
        let kernels = T::lanes_mut::<S>(&mut self.pairs.kernel);
        let slopes = T::lanes::<S>(&self.pairs.slope);
        let squares = T::lanes::<S>(&self.pairs.squares);
        let mut total_stretch = 0.0;
        for r in 0..self.count {
            for (row, numbers) in row.iter_mut().zip(numbers.chunks_exact(lanes)) {
                *row = T::splat(simd, numbers[r]);
            }
            let first = coordinate::<S, T>(simd, &row, 1, 0);
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
                    let weight = KernelWeight {
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
                            _ => coordinate(simd, &row, 1, c),
                        },
                        #[inline(always)]
                        |c| coordinate(simd, &columns[v..], line, c),
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
            self.pairs.values[r] = value.sum().to_f64();
            total_stretch -= stretch.sum().to_f64();
            if GRADIENT {
                for (c, row_sums) in row_sums.iter().enumerate() {
                    for (k, sum) in row_sums.iter().enumerate() {
                        let at = ((self.rows.1 * d + c) * DERIVATIVES + k) * lanes + r;
                        self.sums[at] = self.sums[at].plus(sum.sum());
                    }
                }
            }
        }
        total_stretch
    }
}
