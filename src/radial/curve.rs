//! Profiles in formulas: value and slope of each, once for vectors of the processor, single numbers,
//! tensors of a backend and kernels of CubeCL.

/// What formulas are computed in.
pub(crate) trait Numbers: Copy {
    /// One number, vector or tensor, or a variable of a kernel.
    type Number: Clone;

    /// `factor · x`
    fn scaled(self, x: Self::Number, factor: f64) -> Self::Number;
    /// `x + constant`
    fn plus(self, x: Self::Number, constant: f64) -> Self::Number;
    fn times(self, x: Self::Number, y: Self::Number) -> Self::Number;
    fn sqrt(self, x: Self::Number) -> Self::Number;
    /// 0 for numbers below.
    fn not_negative(self, x: Self::Number) -> Self::Number;
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

/// A [`Profile`](super::Profile) at a bandwidth `ν`. [`with_curve`] finds that of a profile.
pub(crate) trait Curve: Copy + Send + Sync {
    /// The value at the distance `d`.
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number>;

    /// The value at the square `d²` of the distance.
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number>;
}

/// `exp(−d/ν)`
#[derive(Clone, Copy)]
pub(crate) struct Exponential {
    /// `1/ν`
    pub rate: f64,
}

impl Curve for Exponential {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        let kernel = n.decay(d, self.rate);
        let slope = n.scaled(kernel.clone(), -self.rate);
        Value { kernel, slope }
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let d = n.sqrt(square);
        let Value { kernel, slope } = self.of_distance(n, d.clone());
        let slope = n.over(slope, d);
        Value { kernel, slope }
    }
}

/// `exp(−d²/(2ν²))`
#[derive(Clone, Copy)]
pub(crate) struct Gaussian {
    /// `1/ν²`
    pub precision: f64,
}

impl Curve for Gaussian {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        of_distance(self, n, d)
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let kernel = n.decay(square, 0.5 * self.precision);
        let slope = n.scaled(kernel.clone(), -self.precision);
        Value { kernel, slope }
    }
}

/// `exp(−(d/ν)^a)`
#[derive(Clone, Copy)]
pub(crate) struct GeneralisedExponential {
    /// `1/ν`
    pub rate: f64,
    pub exponent: f64,
}

impl GeneralisedExponential {
    /// `κ = exp(−x^a)` and `∂κ/∂x` for `x = unit · y`.
    #[inline(always)]
    fn of<N: Numbers>(n: N, y: N::Number, unit: f64, a: f64) -> Value<N::Number> {
        let x = n.scaled(y, unit);
        let power = n.power(x.clone(), a);
        let kernel = n.decay(power.clone(), 1.0);
        let slope = n.times(n.over(power, x), n.scaled(kernel.clone(), -a * unit));
        Value { kernel, slope }
    }
}

impl Curve for GeneralisedExponential {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        Self::of(n, d, self.rate, self.exponent)
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let value = Self::of(n, square, self.rate * self.rate, 0.5 * self.exponent);
        Value {
            slope: n.scaled(value.slope, 2.0),
            ..value
        }
    }
}

/// `(1 + u) exp(−u)`, `u = √3 d/ν`.
#[derive(Clone, Copy)]
pub(crate) struct Matern32 {
    /// `√3/ν`
    pub rate: f64,
}

impl Curve for Matern32 {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        let decay = n.decay(d.clone(), self.rate);
        let u = n.scaled(d, self.rate);
        let slope = n.times(n.scaled(u.clone(), -self.rate), decay.clone());
        let kernel = n.times(n.plus(u, 1.0), decay);
        Value { kernel, slope }
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let d = n.sqrt(square);
        let decay = n.decay(d.clone(), self.rate);
        let slope = n.scaled(decay.clone(), -self.rate * self.rate);
        let kernel = n.times(n.plus(n.scaled(d, self.rate), 1.0), decay);
        Value { kernel, slope }
    }
}

/// `(1 + u + u²/3) exp(−u)`, `u = √5 d/ν`.
#[derive(Clone, Copy)]
pub(crate) struct Matern52 {
    /// `√5/ν`
    pub rate: f64,
}

impl Matern52 {
    /// `κ`, and `(∂κ/∂u)/u = −(1 + u) exp(−u)/3`.
    #[inline(always)]
    fn of<N: Numbers>(self, n: N, u: N::Number) -> Value<N::Number> {
        let decay = n.decay(u.clone(), 1.0);
        let linear = n.plus(u.clone(), 1.0);
        let square = n.plus(
            n.times(u.clone(), n.plus(n.scaled(u, 3f64.recip()), 1.0)),
            1.0,
        );
        Value {
            kernel: n.times(square, decay.clone()),
            slope: n.times(linear, n.scaled(decay, -3f64.recip())),
        }
    }
}

impl Curve for Matern52 {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        let u = n.scaled(d, self.rate);
        let value = self.of(n, u.clone());
        Value {
            slope: n.times(value.slope, n.scaled(u, self.rate)),
            ..value
        }
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let value = self.of(n, n.scaled(n.sqrt(square), self.rate));
        Value {
            slope: n.scaled(value.slope, self.rate * self.rate),
            ..value
        }
    }
}

/// `(1 + d²/(2αν²))^−α`
#[derive(Clone, Copy)]
pub(crate) struct RationalQuadratic {
    /// `1/ν²`
    pub precision: f64,
    pub alpha: f64,
}

impl Curve for RationalQuadratic {
    #[inline(always)]
    fn of_distance<N: Numbers>(self, n: N, d: N::Number) -> Value<N::Number> {
        of_distance(self, n, d)
    }

    #[inline(always)]
    fn of_square<N: Numbers>(self, n: N, square: N::Number) -> Value<N::Number> {
        let Self { precision, alpha } = self;
        let x = n.scaled(square, precision / (2.0 * alpha));
        let [kernel, reciprocal] = n.power_of_successor(x, alpha);
        let slope = n.times(n.scaled(kernel.clone(), -precision), reciprocal);
        Value { kernel, slope }
    }
}

/// The value of a profile that is a function of the square.
#[inline(always)]
fn of_distance<N: Numbers>(curve: impl Curve, n: N, d: N::Number) -> Value<N::Number> {
    let value = curve.of_square(n, n.times(d.clone(), d.clone()));
    Value {
        slope: n.times(value.slope, d),
        ..value
    }
}

/// `$body` with `$curve` the [`Curve`] of a [`Profile`](super::Profile) at the rate `1/ν`.
macro_rules! with_curve {
    ($profile:expr, $rate:expr, $curve:ident => $body:expr) => {{
        use $crate::radial::{Profile, curve};
        let rate: f64 = $rate;
        let precision = rate * rate;
        match $profile {
            Profile::Exponential => {
                let $curve = curve::Exponential { rate };
                $body
            }
            Profile::Gaussian => {
                let $curve = curve::Gaussian { precision };
                $body
            }
            Profile::GeneralisedExponential { exponent } => {
                let $curve = curve::GeneralisedExponential { rate, exponent };
                $body
            }
            Profile::Matern32 => {
                let rate = 3f64.sqrt() * rate;
                let $curve = curve::Matern32 { rate };
                $body
            }
            Profile::Matern52 => {
                let rate = 5f64.sqrt() * rate;
                let $curve = curve::Matern52 { rate };
                $body
            }
            Profile::RationalQuadratic { alpha } => {
                let $curve = curve::RationalQuadratic { precision, alpha };
                $body
            }
        }
    }};
}
pub(crate) use with_curve;
