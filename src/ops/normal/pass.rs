//! The pass over pairs of normal predictions: vectors of columns for each row, whose expectations are those of the
//! formula [`GaussianNormal`], multiplied over the coordinates.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::{
    kernel::expectation::GaussianNormal,
    ops::{
        formula::{Formula, Number},
        simd::{aligned::Aligned, lanes::Lanes, real::Real, wide::Wide},
    },
    radial::Profile,
};

/// Numbers of a coordinate of a sample: location, scale and target.
const NUMBERS: usize = 3;
/// Derivatives of a coordinate: with respect to location and scale.
pub(super) const DERIVATIVES: usize = 2;
/// Lanes of the widest vector of a processor.
const WIDEST: usize = 16;

/// Samples side by side, `[coordinate][number][sample]`, padded by zeros to whole vectors.
pub(super) struct Columns<T> {
    pub n: usize,
    pub d: usize,
    /// Padded number of samples.
    pub stride: usize,
    numbers: Aligned<T>,
}

impl<T: Real> Columns<T> {
    /// Takes `[n, d]` locations, scales and targets.
    pub fn new([n, d]: [usize; 2], of: [&[T]; NUMBERS], bounded: impl Fn(T) -> T) -> Self {
        let stride = n.next_multiple_of(WIDEST);
        let mut numbers = Aligned::zeros(d * NUMBERS * stride);
        for (place, numbers) in numbers.chunks_exact_mut(stride).enumerate() {
            let (c, of) = (place / NUMBERS, of[place % NUMBERS]);
            for (x, row) in numbers.iter_mut().zip(of.chunks_exact(d)) {
                *x = bounded(row[c]);
            }
        }
        Self {
            n,
            d,
            stride,
            numbers,
        }
    }

    /// One sample in all lanes.
    #[inline(always)]
    fn splat<S: Simd>(&self, simd: S, row: usize, into: &mut [[Wide<S, T>; NUMBERS]]) {
        for (c, numbers) in into.iter_mut().enumerate() {
            for (k, x) in numbers.iter_mut().enumerate() {
                *x = Wide::splat(simd, self.numbers[(c * NUMBERS + k) * self.stride + row]);
            }
        }
    }

    /// Coordinate `c` of the samples of a vector.
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, vector: usize, c: usize) -> [Wide<S, T>; NUMBERS] {
        let (lanes, line) = (T::lanes::<S>(&self.numbers), self.stride / T::width::<S>());
        let place = c * NUMBERS * line + vector;
        let number = |k: usize| Wide::new(simd, lanes[place + k * line]);
        [number(0), number(1), number(2)]
    }
}

/// A kernel `κ(W₂/ν)` on predictions, and a Gaussian kernel on targets.
#[derive(Clone, Copy)]
pub(super) struct PairKernels {
    pub profile: Profile,
    pub bandwidth: f64,
    pub targets: GaussianNormal,
}

/// The expectations of a coordinate with their slopes: of `i` at the target of `j`, of `j` at that of `i`, and of both.
#[derive(Clone, Copy)]
struct Terms<W> {
    expectations: [(W, [W; 2]); 3],
    /// The products of the expectations of the coordinates before.
    before: [W; 3],
}

/// A pair of samples: `h = kernel · residual`.
struct Pair<W> {
    kernel: W,
    /// The derivative of the kernel along a difference of coordinates over that difference.
    slope: W,
    square: W,
    residual: W,
}

impl PairKernels {
    #[inline(always)]
    fn pair<S: Simd, T: Real>(
        self,
        simd: S,
        i: impl Fn(usize) -> [Wide<S, T>; NUMBERS],
        j: impl Fn(usize) -> [Wide<S, T>; NUMBERS],
        terms: &mut [Terms<Wide<S, T>>],
    ) -> Pair<Wide<S, T>> {
        let zero = Wide::splat(simd, T::new(0.0));
        let one = zero.constant(1.0);
        let (mut square, mut between, mut products) = (zero, zero, [one; 3]);
        for (c, terms) in terms.iter_mut().enumerate() {
            let ([m, s, y], [m2, s2, y2]) = (i(c), j(c));
            let differences = [m - m2, s - s2, y - y2];
            square = differences[0].mul_add(differences[0], square);
            square = differences[1].mul_add(differences[1], square);
            between = differences[2].mul_add(differences[2], between);
            let (v, v2) = (s * s, s2 * s2);
            let of_i = self.targets.at([m - y2, v]);
            let of_j = self.targets.at([m2 - y, v2]);
            let of_both = self.targets.at([m - m2, v + v2]);
            terms.before = products;
            terms.expectations = [of_i, of_j, of_both];
            products = [
                products[0] * of_i.0,
                products[1] * of_j.0,
                products[2] * of_both.0,
            ];
        }
        let [of_i, of_j, of_both] = products;
        let numbers = Lanes::<S, T>::new(simd);
        let rate = self.bandwidth.recip();
        let value = self.profile.of_square(numbers, square.lanes, rate);
        Pair {
            kernel: Wide::new(simd, value.kernel),
            slope: Wide::new(simd, value.slope),
            square,
            residual: self.targets.of_squares(between) - (of_i + of_j) + of_both,
        }
    }
}

#[inline(always)]
fn no_terms<S: Simd, T: Real>(simd: S, d: usize) -> Vec<Terms<Wide<S, T>>> {
    let zero = Wide::splat(simd, T::new(0.0));
    let (expectations, before) = ([(zero, [zero; 2]); 3], [zero; 3]);
    vec![
        Terms {
            expectations,
            before
        };
        d
    ]
}

/// Sums over pairs.
pub(super) struct Sums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij`, `[coordinate][derivative][sample]`; empty if it is not wanted.
    pub gradient: Aligned<T>,
}

/// Adds the pairs `i < j` of some rows within blocks of so many samples, and half of the diagonal if wanted.
pub(super) struct AddRows<'a, T, const GRADIENT: bool> {
    pub kernels: PairKernels,
    pub columns: &'a Columns<T>,
    pub rows: Range<usize>,
    pub size: usize,
    pub with_diagonal: bool,
    pub sums: &'a mut Sums<T>,
}

impl<T: Real, const GRADIENT: bool> WithSimd for AddRows<'_, T, GRADIENT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (columns, width) = (self.columns, T::width::<S>());
        let (d, line) = (columns.d, columns.stride / width);
        let zero = Wide::<S, T>::splat(simd, T::new(0.0));
        let mut terms = no_terms(simd, d);
        let mut row = vec![[zero; NUMBERS]; d];
        let mut of_row = vec![[zero; DERIVATIVES]; d];
        for i in self.rows {
            let block = i / self.size;
            let counted = i + usize::from(!self.with_diagonal)..(block + 1) * self.size;
            columns.splat(simd, i, &mut row);
            of_row.fill([zero; DERIVATIVES]);
            let (mut value, mut stretch) = (zero, zero);
            for vector in counted.start / width..counted.end.div_ceil(width) {
                let Pair {
                    mut kernel,
                    mut slope,
                    square,
                    residual,
                } = self.kernels.pair(
                    simd,
                    #[inline(always)]
                    |c| row[c],
                    #[inline(always)]
                    |c| columns.at(simd, vector, c),
                    &mut terms,
                );
                let lanes = vector * width..(vector + 1) * width;
                if lanes.start <= i || lanes.end > counted.end {
                    let mut shares = [T::new(0.0); WIDEST];
                    for (share, j) in shares.iter_mut().zip(lanes) {
                        let weight = if j == i { 0.5 } else { 1.0 };
                        *share = T::new(if counted.contains(&j) { weight } else { 0.0 });
                    }
                    let shares = Wide::new(simd, T::lanes::<S>(&shares)[0]);
                    (kernel, slope) = (kernel * shares, slope * shares);
                }
                value = kernel.mul_add(residual, value);
                if !GRADIENT {
                    continue;
                }
                let through = slope * residual;
                stretch = through.mul_add(square, stretch);
                let sums = T::lanes_mut::<S>(&mut self.sums.gradient);
                let mut after = [-kernel, -kernel, kernel];
                for (
                    c,
                    Terms {
                        expectations,
                        before,
                    },
                ) in terms.iter().enumerate().rev()
                {
                    let [(of_i, to_i), (of_j, to_j), (of_both, to_both)] = *expectations;
                    let [m, s, _] = row[c];
                    let [m2, s2, _] = columns.at(simd, vector, c);
                    let [by_i, by_j, by_both] = [
                        after[0] * before[0],
                        after[1] * before[1],
                        after[2] * before[2],
                    ];
                    let to_location = by_both.mul_add(to_both[0], through * (m - m2));
                    let (to_variance, to_scale) = (by_both * to_both[1], through * (s - s2));
                    let to_variances = [
                        by_i.mul_add(to_i[1], to_variance) * 2.0,
                        by_j.mul_add(to_j[1], to_variance) * 2.0,
                    ];
                    let [location, scale] = of_row[c];
                    of_row[c] = [
                        location + by_i.mul_add(to_i[0], to_location),
                        scale + s.mul_add(to_variances[0], to_scale),
                    ];
                    let of_column = [
                        by_j * to_j[0] - to_location,
                        s2 * to_variances[1] - to_scale,
                    ];
                    for (k, of_column) in of_column.into_iter().enumerate() {
                        let sum = &mut sums[(c * DERIVATIVES + k) * line + vector];
                        *sum = T::add(simd, *sum, of_column.lanes);
                    }
                    after = [after[0] * of_i, after[1] * of_j, after[2] * of_both];
                }
            }
            self.sums.values[block] += value.sum().to_f64();
            self.sums.stretch -= stretch.sum().to_f64();
            for (place, of_row) in of_row
                .as_flattened()
                .iter()
                .enumerate()
                .filter(|_| GRADIENT)
            {
                let sum = &mut self.sums.gradient[place * columns.stride + i];
                *sum = sum.plus(of_row.sum());
            }
        }
    }
}
