//! Kernels as functions of the separation that the tiles compute: `Σ_c |Δ_c|` or `Σ_c Δ_c²`, or an inner
//! product that takes the place of the latter.

use pulp::{Scalar, Simd, WithSimd};

use super::{PairKernel, arch::Arch, lanes::Lanes, real::Real};
use crate::radial::{
    Profile,
    curve::{Curve, Numbers, Value},
};

/// `$body` with the [`Form`] of a [`Radial`].
macro_rules! with_form {
    ($radial:expr, $form:ident => $body:expr) => {{
        use crate::{
            ops::pairs::simd::radial::{OfDistance, OfSquare, Separation},
            radial::curve::with_curve,
        };
        let radial = $radial;
        match radial.separation {
            Separation::Magnitudes => with_curve!(radial.profile, radial.rate, curve => {
                let $form = OfDistance(curve);
                $body
            }),
            squares => with_curve!(radial.profile, radial.rate, curve => {
                let $form = OfSquare(curve, squares.unit());
                $body
            }),
        }
    }};
}
pub(super) use with_form;

/// A kernel at a bandwidth.
#[derive(Clone, Copy)]
pub(super) struct Radial {
    pub profile: Profile,
    /// The distance in bandwidths, over the separation or its root.
    pub rate: f64,
    pub separation: Separation,
}

/// What a kernel is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separation {
    /// `Σ|Δ|`
    Magnitudes,
    /// `ΣΔ²`
    Squares,
    /// `−½ ΣΔ²`, see [`Exponent`](super::similarity::Exponent); then the gradient is summed as in
    /// [`Slopes::Merged`](super::slope::Slopes::Merged).
    Exponents,
}

impl Separation {
    /// What it is multiplied with to be a sum over coordinates.
    pub fn unit(self) -> f64 {
        match self {
            Self::Magnitudes | Self::Squares => 1.0,
            Self::Exponents => -2.0,
        }
    }
}

impl Radial {
    /// Takes sums over coordinates.
    pub fn new(kernel: PairKernel, bandwidth: f64) -> Self {
        Self {
            profile: kernel.profile(),
            rate: kernel.distance().scale() / bandwidth,
            separation: if kernel.distance().is_euclidean() {
                Separation::Squares
            } else {
                Separation::Magnitudes
            },
        }
    }

    /// The kernel of one pair.
    pub fn of(self, separation: f64) -> At<f64> {
        let n = Lanes::<_, f64>::new(Scalar);
        with_form!(self, form => form.of(n, separation))
    }

    /// Writes the kernel in place of each separation.
    pub fn kernels<T: Real>(self, separations: &mut [T]) {
        let whole = separations.len() / MOST_LANES * MOST_LANES;
        let (whole, rest) = separations.split_at_mut(whole);
        let mut padded = [T::new(0.0); MOST_LANES];
        padded[..rest.len()].copy_from_slice(rest);
        for numbers in [whole, &mut padded] {
            Arch::new().dispatch(Kernels(self, numbers));
        }
        rest.copy_from_slice(&padded[..rest.len()]);
    }
}

/// Lanes of the widest vectors of the narrowest type.
const MOST_LANES: usize = 16;

/// A kernel at a separation.
pub(super) struct At<N> {
    /// The distance, or its square: `−ν ∂κ/∂ν` is its product with the slope.
    pub separation: N,
    pub value: Value<N>,
}

/// A profile with what it is computed from, known to the compiler.
pub(super) trait Form: Copy {
    fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number>;
}

#[derive(Clone, Copy)]
pub(super) struct OfDistance<C>(pub C);
/// A curve of squares, which are not below 0, with their unit.
#[derive(Clone, Copy)]
pub(super) struct OfSquare<C>(pub C, pub f64);

impl<C: Curve> Form for OfDistance<C> {
    #[inline(always)]
    fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number> {
        let value = self.0.of_distance(n, separation.clone());
        At { separation, value }
    }
}

impl<C: Curve> Form for OfSquare<C> {
    #[inline(always)]
    fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number> {
        let separation = n.not_negative(n.scaled(separation, self.1));
        let value = self.0.of_square(n, separation.clone());
        At { separation, value }
    }
}

struct Kernels<'a, T>(Radial, &'a mut [T]);

impl<T: Real> WithSimd for Kernels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_form!(self.0, form => kernels::<S, T, _>(simd, form, self.1));
    }
}

#[inline(always)]
fn kernels<S: Simd, T: Real, F: Form>(simd: S, form: F, separations: &mut [T]) {
    for x in T::lanes_mut::<S>(separations) {
        *x = form.of(Lanes::<S, T>::new(simd), *x).value.kernel;
    }
}
