//! Radial kernels as functions of the separation that the tiles compute: `Σ_c |Δ_c|` or `Σ_c Δ_c²`.

use pulp::Simd;

use super::real::Real;

/// A kernel `k` of two vectors at a separation, and its derivatives.
pub(super) struct Value<V> {
    pub kernel: V,
    /// `∂k/∂x_c` over `k` and over the derivative of a coordinate: `sign(x_c − y_c)` for the sum of
    /// absolute differences, `x_c − y_c` for the sum of squares.
    pub slope: V,
    /// `ν ∂k/∂ν` over `k`.
    pub stretch: V,
}

/// A kernel, its bandwidth `ν` given.
pub(super) trait Radial<T: Real>: Copy + Send + Sync {
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>>;
}

/// `exp(−r)`, `r = rate · Σ|Δ|`.
#[derive(Clone, Copy)]
pub(super) struct ExponentialL1<T>(pub T);
/// `exp(−r²/2)`, `r = rate · Σ|Δ|`.
#[derive(Clone, Copy)]
pub(super) struct GaussianL1<T>(pub T);
/// `exp(−r)`, `r = rate · (ΣΔ²)^½`.
#[derive(Clone, Copy)]
pub(super) struct ExponentialEuclidean<T>(pub T);
/// `exp(−r²/2)`, `r = rate · (ΣΔ²)^½`.
#[derive(Clone, Copy)]
pub(super) struct GaussianEuclidean<T>(pub T);

#[inline(always)]
fn splat<S: Simd, T: Real>(simd: S, x: f64) -> T::Lanes<S> {
    T::splat(simd, T::new(x))
}

#[inline(always)]
fn exp_of_minus<S: Simd, T: Real>(simd: S, x: T::Lanes<S>) -> T::Lanes<S> {
    T::exp(simd, T::mul(simd, x, splat::<S, T>(simd, -1.0)))
}

impl<T: Real> Radial<T> for ExponentialL1<T> {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let r = T::mul(simd, separation, T::splat(simd, self.0));
        Value {
            kernel: exp_of_minus::<S, T>(simd, r),
            slope: splat::<S, T>(simd, -self.0.to_f64()),
            stretch: r,
        }
    }
}

impl<T: Real> Radial<T> for GaussianL1<T> {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let r = T::mul(simd, separation, T::splat(simd, self.0));
        let r2 = T::mul(simd, r, r);
        let half = T::mul(simd, r2, splat::<S, T>(simd, 0.5));
        Value {
            kernel: exp_of_minus::<S, T>(simd, half),
            slope: T::mul(simd, r, splat::<S, T>(simd, -self.0.to_f64())),
            stretch: r2,
        }
    }
}

impl<T: Real> Radial<T> for ExponentialEuclidean<T> {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let distance = T::sqrt(simd, separation);
        let r = T::mul(simd, distance, T::splat(simd, self.0));
        // where the distance is 0 the differences are, and any finite slope will do
        let distance = T::max(simd, distance, splat::<S, T>(simd, T::TINY));
        Value {
            kernel: exp_of_minus::<S, T>(simd, r),
            slope: T::div(simd, splat::<S, T>(simd, -self.0.to_f64()), distance),
            stretch: r,
        }
    }
}

impl<T: Real> Radial<T> for GaussianEuclidean<T> {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, separation: T::Lanes<S>) -> Value<T::Lanes<S>> {
        let precision = self.0.to_f64() * self.0.to_f64();
        let r2 = T::mul(simd, separation, splat::<S, T>(simd, precision));
        let half = T::mul(simd, r2, splat::<S, T>(simd, 0.5));
        Value {
            kernel: exp_of_minus::<S, T>(simd, half),
            slope: splat::<S, T>(simd, -precision),
            stretch: r2,
        }
    }
}
