//! Radial kernels as functions of the separation that the tiles compute: `Σ_c |Δ_c|` or `Σ_c Δ_c²`, or
//! an inner product that takes the place of the latter.

use std::f64::consts::{LN_2, LOG2_E};

use pulp::Simd;

use super::real::Real;

/// A kernel `k` of two vectors at a separation, and its derivatives.
pub(super) struct Value<V> {
    pub kernel: V,
    /// `∂k/∂x_c` over `k` and over the derivative of a coordinate: `sign(x_c − y_c)` for the sum of
    /// absolute differences, `x_c − y_c` for the sum of squares.
    pub slope: V,
    /// `ν ∂k/∂ν` over `k`, and over [`Radial::stretch_unit`].
    pub stretch: V,
}

/// A kernel, its bandwidth `ν` given.
pub(super) trait Radial<T: Real>: Copy + Send + Sync {
    /// Whether the gradient is summed as in [`Slopes::Merged`](super::slope::Slopes::Merged).
    const MERGED: bool = false;

    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>>;

    /// What multiplies the sums over stretches.
    fn stretch_unit(self) -> f64;
}

/// `exp(−r)`, `r = rate · Σ|Δ|`.
#[derive(Clone, Copy)]
pub(super) struct ExponentialL1(pub f64);
/// `exp(−r²/2)`, `r = rate · Σ|Δ|`.
#[derive(Clone, Copy)]
pub(super) struct GaussianL1(pub f64);
/// `exp(−r)`, `r = rate · (ΣΔ²)^½`.
#[derive(Clone, Copy)]
pub(super) struct ExponentialEuclidean(pub f64);
/// `exp(−r²/2)`, `r = rate · (ΣΔ²)^½`.
#[derive(Clone, Copy)]
pub(super) struct GaussianEuclidean(pub f64);
/// The same, from the exponent `−½ r² log₂e`, see [`Exponent`](super::similarity::Exponent).
#[derive(Clone, Copy)]
pub(super) struct GaussianExponent(pub f64);

#[inline(always)]
fn splat<S: Simd, T: Real>(simd: S, x: f64) -> T::Lanes<S> {
    T::splat(simd, T::new(x))
}

/// `exp(factor · x)`
#[inline(always)]
fn exp<S: Simd, T: Real>(simd: S, factor: f64, x: T::Lanes<S>) -> T::Lanes<S> {
    let factor = splat::<S, T>(simd, factor * LOG2_E);
    T::exp2(simd, T::mul(simd, x, factor))
}

impl<T: Real> Radial<T> for ExponentialL1 {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        Value {
            kernel: exp::<S, T>(simd, -self.0, separation),
            slope: splat::<S, T>(simd, -self.0),
            stretch: separation,
        }
    }

    fn stretch_unit(self) -> f64 {
        self.0
    }
}

impl<T: Real> Radial<T> for GaussianL1 {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let precision = self.0 * self.0;
        let squared = T::mul(simd, separation, separation);
        Value {
            kernel: exp::<S, T>(simd, -0.5 * precision, squared),
            slope: T::mul(simd, separation, splat::<S, T>(simd, -precision)),
            stretch: squared,
        }
    }

    fn stretch_unit(self) -> f64 {
        self.0 * self.0
    }
}

impl<T: Real> Radial<T> for ExponentialEuclidean {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let distance = T::sqrt(simd, separation);
        // where the distance is 0 the differences are, and any finite slope will do
        let positive = T::max(simd, distance, splat::<S, T>(simd, T::TINY));
        Value {
            kernel: exp::<S, T>(simd, -self.0, distance),
            slope: T::div(simd, splat::<S, T>(simd, -self.0), positive),
            stretch: distance,
        }
    }

    fn stretch_unit(self) -> f64 {
        self.0
    }
}

impl<T: Real> Radial<T> for GaussianEuclidean {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let precision = self.0 * self.0;
        Value {
            kernel: exp::<S, T>(simd, -0.5 * precision, separation),
            slope: splat::<S, T>(simd, -precision),
            stretch: separation,
        }
    }

    fn stretch_unit(self) -> f64 {
        self.0 * self.0
    }
}

impl<T: Real> Radial<T> for GaussianExponent {
    const MERGED: bool = true;

    #[inline(always)]
    fn of<S: Simd>(self, simd: S, exponent: T::Lanes<S>) -> Value<T::Lanes<S>> {
        Value {
            kernel: T::exp2(simd, exponent),
            slope: splat::<S, T>(simd, -self.0 * self.0),
            stretch: exponent,
        }
    }

    fn stretch_unit(self) -> f64 {
        -2.0 * LN_2
    }
}
