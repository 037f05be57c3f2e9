//! The derivative of a coordinate's part of the separation.

use pulp::Simd;

use super::real::Real;

/// How the part of the gradient through the kernel is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slopes {
    /// Over the signs of differences of points.
    Signs,
    /// Over differences of points.
    Differences,
    /// Over points first, together with the part through the residuals: half of the work, but
    /// digits cancel where the bandwidth is small.
    Merged,
}

/// The derivative with respect to `y_c`, from `y_c − x_c`.
pub(super) trait Slope<T: Real>: Copy {
    fn of<S: Simd>(self, simd: S, difference: T::Lanes<S>) -> T::Lanes<S>;
}

/// `sign(y_c − x_c)`, for points that are multiplied by a number as great as possible, see [`Real::HUGE`].
#[derive(Clone, Copy)]
pub(super) struct Sign;
/// `y_c − x_c`
#[derive(Clone, Copy)]
pub(super) struct Difference;

impl<T: Real> Slope<T> for Sign {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, difference: T::Lanes<S>) -> T::Lanes<S> {
        let one = T::splat(simd, T::new(1.0));
        let minus_one = T::splat(simd, T::new(-1.0));
        T::min(simd, T::max(simd, difference, minus_one), one)
    }
}

impl<T: Real> Slope<T> for Difference {
    #[inline(always)]
    fn of<S: Simd>(self, _: S, difference: T::Lanes<S>) -> T::Lanes<S> {
        difference
    }
}
