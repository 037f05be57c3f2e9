//! Profiles in formulas: value and slope of each, once for vectors of the processor, single numbers and kernels of
//! CubeCL.

use super::Profile;

/// The arithmetic in which formulas are computed.
pub(crate) trait Numbers: Copy {
    /// One number, a vector, or a variable of a kernel.
    type Number: Clone;

    /// `factor · x`
    fn scaled(self, x: Self::Number, factor: f64) -> Self::Number;
    /// `x + constant`
    fn plus(self, x: Self::Number, constant: f64) -> Self::Number;
    fn times(self, x: Self::Number, y: Self::Number) -> Self::Number;
    fn sqrt(self, x: Self::Number) -> Self::Number;
    /// `x/y`, 0 where `y` is 0 or subnormal.
    fn over(self, x: Self::Number, y: Self::Number) -> Self::Number;
    /// `exp(−factor · x)` of `x ≥ 0`, at least the smallest normal number.
    fn decay(self, x: Self::Number, factor: f64) -> Self::Number;
    /// `x^a` for `a > 0`, 0 where `x` is 0 or subnormal.
    fn power(self, x: Self::Number, a: f64) -> Self::Number;
    /// `(1 + x)^−a` of `x ≥ 0`, and `1/(1 + x)`.
    fn power_of_successor(self, x: Self::Number, a: f64) -> [Self::Number; 2];
}

/// A profile and its slope.
pub(crate) struct Value<N> {
    /// `κ(d/ν)`
    pub kernel: N,
    /// `∂κ/∂d` from a distance `d`; `(∂κ/∂d)/d = 2 ∂κ/∂(d²)` from its square. Either times what it is
    /// from is `−ν ∂κ/∂ν`. Finite, and at `d = 0` 0 where there is no derivative.
    pub slope: N,
}

impl Profile {
    /// The value at the distance `d`, with the rate `1/ν`.
    #[cfg_attr(optimised, inline(always))] // each copy, not optimised, needs its own stack
    pub(crate) fn of_distance<N: Numbers>(self, n: N, d: N::Number, rate: f64) -> Value<N::Number> {
        match self {
            Self::Exponential => {
                let kernel = n.decay(d, rate);
                let slope = n.scaled(kernel.clone(), -rate);
                Value { kernel, slope }
            }
            Self::GeneralisedExponential { exponent } => generalised(n, d, rate, exponent),
            // smooth functions of the square
            Self::Gaussian | Self::Matern32 | Self::Matern52 | Self::RationalQuadratic { .. } => {
                let value = self.of_square(n, n.times(d.clone(), d.clone()), rate);
                Value {
                    slope: n.times(value.slope, d),
                    ..value
                }
            }
        }
    }

    /// The value at the square `d²` of the distance, with the rate `1/ν`.
    #[cfg_attr(optimised, inline(always))] // each copy, not optimised, needs its own stack
    pub(crate) fn of_square<N: Numbers>(
        self,
        n: N,
        square: N::Number,
        rate: f64,
    ) -> Value<N::Number> {
        let precision = rate * rate;
        match self {
            Self::Exponential => {
                let d = n.sqrt(square);
                let kernel = n.decay(d.clone(), rate);
                let slope = n.over(n.scaled(kernel.clone(), -rate), d);
                Value { kernel, slope }
            }
            Self::Gaussian => {
                let kernel = n.decay(square, 0.5 * precision);
                let slope = n.scaled(kernel.clone(), -precision);
                Value { kernel, slope }
            }
            Self::GeneralisedExponential { exponent } => {
                let value = generalised(n, square, precision, 0.5 * exponent);
                Value {
                    slope: n.scaled(value.slope, 2.0),
                    ..value
                }
            }
            Self::Matern32 => {
                let u = n.scaled(n.sqrt(square), 3f64.sqrt() * rate);
                let decay = n.decay(u.clone(), 1.0);
                Value {
                    kernel: n.times(n.plus(u, 1.0), decay.clone()),
                    slope: n.scaled(decay, -3.0 * precision),
                }
            }
            Self::Matern52 => {
                let u = n.scaled(n.sqrt(square), 5f64.sqrt() * rate);
                let decay = n.decay(u.clone(), 1.0);
                let linear = n.plus(u.clone(), 1.0);
                let third = n.plus(n.scaled(u.clone(), 3f64.recip()), 1.0);
                let polynomial = n.plus(n.times(u, third), 1.0); // 1 + u + u²/3
                Value {
                    kernel: n.times(polynomial, decay.clone()),
                    slope: n.times(linear, n.scaled(decay, -5.0 / 3.0 * precision)),
                }
            }
            Self::RationalQuadratic { alpha } => {
                let x = n.scaled(square, precision / (2.0 * alpha));
                let [kernel, reciprocal] = n.power_of_successor(x, alpha);
                let slope = n.times(n.scaled(kernel.clone(), -precision), reciprocal);
                Value { kernel, slope }
            }
        }
    }
}

/// `κ = exp(−x^a)` and `∂κ/∂y` for `x = unit · y`.
#[cfg_attr(optimised, inline(always))]
fn generalised<N: Numbers>(n: N, y: N::Number, unit: f64, a: f64) -> Value<N::Number> {
    let x = n.scaled(y, unit);
    let power = n.power(x.clone(), a);
    let kernel = n.decay(power.clone(), 1.0);
    let slope = n.times(n.over(power, x), n.scaled(kernel.clone(), -a * unit));
    Value { kernel, slope }
}
