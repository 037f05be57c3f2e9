use std::f64::consts::LOG2_E;

use pulp::Simd;

use crate::ops::{
    formula::Number,
    simd::{real::Real, wide::Wide},
};

/// Numbers of a coordinate of a sample, those of [`Coordinate`].
pub(super) const NUMBERS: usize = 6;

/// A coordinate of some samples.
#[derive(Clone, Copy)]
pub(super) struct Coordinate<W> {
    pub location: W,
    pub scale: W,
    pub target: W,
    /// `p = 1/(ℓ² + σ²)`
    precision: W,
    /// `½ log₂ pℓ²`
    peak: W,
    /// `σp`
    scaled: W,
}

/// Coordinate `c` of samples, from `[coordinate][number]` with so many vectors of each number.
#[inline(always)]
pub(super) fn coordinate<S: Simd, T: Real>(
    simd: S,
    numbers: &[T::Lanes<S>],
    stride: usize,
    c: usize,
) -> Coordinate<Wide<S, T>> {
    let numbers = &numbers[c * NUMBERS * stride..];
    let number = |k: usize| Wide::new(simd, numbers[k * stride]);
    Coordinate {
        location: number(0),
        scale: number(1),
        target: number(2),
        precision: number(3),
        peak: number(4),
        scaled: number(5),
    }
}

/// The kernel on targets of one coordinate, `exp(−Δ²/2ℓ²)`, and its expectations under normal predictions,
/// `(pℓ²)^½ exp(−½pΔ²)` with `p = 1/(ℓ² + v)` and the variance `v` of one or the sum of the variances of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gaussian {
    /// `ℓ`
    pub length: f64,
}

/// `E k(Δ + noise of one prediction) = 2^exponent`, and its derivatives over that.
#[derive(Clone, Copy)]
pub(super) struct Single<W> {
    pub exponent: W,
    pub to_location: W,
    pub to_scale: W,
}

/// `E k(Δ + noise of two predictions) = 2^exponent · factor`, and its derivatives over `2^exponent`.
#[derive(Clone, Copy)]
struct Double<W> {
    exponent: W,
    factor: W,
    to_location: W,
    to_scales: [W; 2],
}

impl Gaussian {
    /// What a prediction of this scale needs besides: `p`, `½ log₂ pℓ²` and `σp`.
    pub fn prepare(self, scale: f64) -> [f64; NUMBERS - 3] {
        let square = self.length * self.length;
        let precision = (square + scale * scale).recip();
        [
            precision,
            0.5 * (precision * square).log2(),
            scale * precision,
        ]
    }

    /// `log₂ k(Δ)`
    #[inline(always)]
    fn kernel<S: Simd, T: Real>(self, delta: Wide<S, T>) -> Wide<S, T> {
        delta * delta * (-0.5 * LOG2_E / (self.length * self.length))
    }

    #[inline(always)]
    pub fn single<S: Simd, T: Real>(
        self,
        own: Coordinate<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Single<Wide<S, T>> {
        let slope = own.precision * delta;
        let square = slope * delta;
        Single {
            exponent: square.mul_add(square.constant(-0.5 * LOG2_E), own.peak),
            to_location: -slope,
            to_scale: own.scaled.mul_add(square, -own.scaled),
        }
    }

    #[inline(always)]
    fn double<S: Simd, T: Real>(
        self,
        own: Coordinate<Wide<S, T>>,
        other: Coordinate<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Double<Wide<S, T>> {
        let square = delta.constant(self.length * self.length);
        let spread = own.scale.mul_add(own.scale, square);
        let precision = other.scale.mul_add(other.scale, spread).reciprocal();
        let factor = precision.sqrt() * self.length;
        let slope = precision * delta;
        let square = slope * delta;
        let to_scale = factor * precision * (square - 1.0);
        Double {
            exponent: square * (-0.5 * LOG2_E),
            factor,
            to_location: -(slope * factor),
            to_scales: [own.scale * to_scale, other.scale * to_scale],
        }
    }
}

/// The expectations of a coordinate of a pair, and the product of the factors of the coordinates before.
#[derive(Clone, Copy)]
pub(super) struct PairTerms<W> {
    before: W,
    first: Single<W>,
    second: Single<W>,
    both: Double<W>,
}

impl<W: Copy> PairTerms<W> {
    /// A pair to be written over.
    pub fn new(zero: W) -> Self {
        let single = Single {
            exponent: zero,
            to_location: zero,
            to_scale: zero,
        };
        Self {
            before: zero,
            first: single,
            second: single,
            both: Double {
                exponent: zero,
                factor: zero,
                to_location: zero,
                to_scales: [zero; 2],
            },
        }
    }
}

/// The kernel on predictions, and its slope along a difference of coordinates over that difference.
#[derive(Clone, Copy)]
pub(super) struct KernelWeight<W> {
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
pub(super) fn pair<S: Simd, T: Real, const GRADIENT: bool>(
    gaussian: Gaussian,
    KernelWeight { kernel, slope }: KernelWeight<Wide<S, T>>,
    d: usize,
    i: impl Fn(usize) -> Coordinate<Wide<S, T>>,
    j: impl Fn(usize) -> Coordinate<Wide<S, T>>,
    kept: &mut [PairTerms<Wide<S, T>>],
    mut add: impl FnMut(usize, [Wide<S, T>; 4]),
) -> Wide<S, T> {
    let (none, one) = (kernel.constant(-0.0), kernel.constant(1.0)); // x + (−0) is x
    let mut exponents = [none; 4];
    let mut factor = one;
    for (c, kept) in kept.iter_mut().enumerate().take(d) {
        let (i, j) = (i(c), j(c));
        let first = gaussian.single(i, i.location - j.target);
        let second = gaussian.single(j, j.location - i.target);
        let both = gaussian.double(i, j, i.location - j.location);
        if GRADIENT {
            *kept = PairTerms {
                before: factor,
                first,
                second,
                both,
            };
        }
        let between = gaussian.kernel(i.target - j.target);
        exponents = [
            exponents[0] + between,
            exponents[1] + first.exponent,
            exponents[2] + second.exponent,
            exponents[3] + both.exponent,
        ];
        factor = factor * both.factor;
    }
    let [between, first, second, both] = exponents;
    let (between, first) = (between.exp2(), first.exp2());
    let (second, both) = (second.exp2(), both.exp2());
    let residual = both.mul_add(factor, between - (first + second));
    if GRADIENT {
        let through = slope * residual;
        let (first, second, both) = (first * kernel, second * kernel, both * kernel);
        let mut after = one;
        for c in (0..d).rev() {
            let (i, j) = (i(c), j(c));
            let terms = kept[c];
            let both = both * terms.before * after;
            let to_location =
                both.mul_add(terms.both.to_location, through * (i.location - j.location));
            let to_scale = through * (i.scale - j.scale);
            let [to_scale_i, to_scale_j] = terms.both.to_scales;
            add(
                c,
                [
                    to_location - first * terms.first.to_location,
                    both.mul_add(to_scale_i, to_scale) - first * terms.first.to_scale,
                    -to_location - second * terms.second.to_location,
                    both.mul_add(to_scale_j, -to_scale) - second * terms.second.to_scale,
                ],
            );
            after = after * terms.both.factor;
        }
    }
    residual
}
