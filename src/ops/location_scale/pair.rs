use pulp::Simd;

use super::term::{Expectation, NUMBERS, Own, Term};
use crate::ops::simd::wide::{Select, Wide};

/// The terms of a coordinate of a pair, and the products of the factors of the coordinates before.
#[derive(Clone, Copy)]
pub(super) struct Kept<W> {
    before: [W; 3],
    first: Term<W, 1>,
    second: Term<W, 1>,
    both: Term<W, 2>,
}

impl<W: Copy> Kept<W> {
    /// A pair to be written over.
    pub fn new(zero: W) -> Self {
        let term = Term {
            exponent: zero,
            factor: zero,
            to_location: zero,
            to_scales: [zero],
        };
        Self {
            before: [zero; 3],
            first: term,
            second: term,
            both: Term {
                exponent: zero,
                factor: zero,
                to_location: zero,
                to_scales: [zero; 2],
            },
        }
    }
}

/// Coordinate `c` of samples, from `[coordinate][number]` with so many vectors of each number.
#[inline(always)]
pub(super) fn own<S: Simd, T: Select>(
    simd: S,
    numbers: &[T::Lanes<S>],
    stride: usize,
    c: usize,
) -> Own<Wide<S, T>> {
    let numbers = &numbers[c * NUMBERS * stride..];
    let number = |k: usize| Wide::new(simd, numbers[k * stride]);
    Own {
        location: number(0),
        scale: number(1),
        target: number(2),
        prepared: [number(3), number(4), number(5)],
    }
}

/// The kernel on predictions, and its slope along a difference of coordinates over that difference.
#[derive(Clone, Copy)]
pub(super) struct Weight<W> {
    pub kernel: W,
    pub slope: W,
}

/// The residual `R` of pairs, `h = k R`:
/// `R = k_Y(y_i, y_j) − E k_Y(Y_i, y_j) − E k_Y(y_i, Y_j) + E k_Y(Y_i, Y_j)`.
///
/// Arrays are not mapped, and closures are always inlined: those that are not are compiled for any
/// processor, and are slow.
///
/// Calls `add(c, gradient)` with the derivatives of `h` with respect to coordinate `c` of location and
/// scale of `i`, and of location and scale of `j`.
#[inline(always)]
pub(super) fn pair<S: Simd, T: Select, E: Expectation, const GRADIENT: bool>(
    expectation: E,
    Weight { kernel, slope }: Weight<Wide<S, T>>,
    d: usize,
    i: impl Fn(usize) -> Own<Wide<S, T>>,
    j: impl Fn(usize) -> Own<Wide<S, T>>,
    kept: &mut [Kept<Wide<S, T>>],
    mut add: impl FnMut(usize, [Wide<S, T>; 4]),
) -> Wide<S, T> {
    let (none, one) = (kernel.constant(-0.0), kernel.constant(1.0)); // x + (−0) is x
    let mut exponents = [none; 4];
    let mut factors = [one; 3];
    for (c, kept) in kept.iter_mut().enumerate().take(d) {
        let (i, j) = (i(c), j(c));
        let first = expectation.single(i, i.location - j.target);
        let second = expectation.single(j, j.location - i.target);
        let both = expectation.double(i, j, i.location - j.location);
        if GRADIENT {
            *kept = Kept {
                before: factors,
                first,
                second,
                both,
            };
        }
        let between = expectation.kernel(i.target - j.target);
        exponents = [
            exponents[0] + between,
            exponents[1] + first.exponent,
            exponents[2] + second.exponent,
            exponents[3] + both.exponent,
        ];
        factors = [
            factors[0] * first.factor,
            factors[1] * second.factor,
            factors[2] * both.factor,
        ];
    }
    let [between, first, second, both] = exponents;
    let (between, first) = (between.exp2(), first.exp2());
    let (second, both) = (second.exp2(), both.exp2());
    let residual = both.mul_add(
        factors[2],
        between - first.mul_add(factors[0], second * factors[1]),
    );
    if GRADIENT {
        let through = slope * residual;
        let weights = [first * kernel, second * kernel, both * kernel];
        let mut after = [one; 3];
        for c in (0..d).rev() {
            let (i, j) = (i(c), j(c));
            let terms = kept[c];
            let first = weights[0] * terms.before[0] * after[0];
            let second = weights[1] * terms.before[1] * after[1];
            let both = weights[2] * terms.before[2] * after[2];
            let to_location =
                both.mul_add(terms.both.to_location, through * (i.location - j.location));
            let to_scale = through * (i.scale - j.scale) * E::SCALE_FACTOR;
            let [to_scale_i, to_scale_j] = terms.both.to_scales;
            add(
                c,
                [
                    to_location - first * terms.first.to_location,
                    both.mul_add(to_scale_i, to_scale) - first * terms.first.to_scales[0],
                    -to_location - second * terms.second.to_location,
                    both.mul_add(to_scale_j, -to_scale) - second * terms.second.to_scales[0],
                ],
            );
            after = [
                after[0] * terms.first.factor,
                after[1] * terms.second.factor,
                after[2] * terms.both.factor,
            ];
        }
    }
    residual
}
