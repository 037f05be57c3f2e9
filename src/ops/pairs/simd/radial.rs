//! Kernels as functions of the separation that the tiles compute.

use pulp::Scalar;

use super::{PairKernel, lanes::Lanes, similarity::Similarity};
use crate::radial::{
    CoordinateSum, Profile,
    curve::{Numbers, Value},
};

/// `$body` with `$known` the same as a [`Radial`], its profile and the kind of its separation known to the
/// compiler: a loop in the body is compiled for each.
macro_rules! with_known {
    ($radial:expr, $known:ident => $body:expr) => {
        $crate::radial::for_each_profile!(with_known!(@ $radial, $known, $body,))
    };
    (@ $radial:expr, $known:ident, $body:expr, $($profile:ident $({ $parameter:ident })?),*) => {{
        use $crate::{ops::pairs::simd::radial::Separation, radial::Profile};
        let radial = $radial;
        match (radial.separation, radial.profile) {
            $((Separation::Magnitudes, Profile::$profile $({ $parameter })?) => {
                let profile = Profile::$profile $({ $parameter })?;
                let separation = Separation::Magnitudes;
                let $known = Radial { profile, separation, ..radial };
                $body
            }
            (_, Profile::$profile $({ $parameter })?) => {
                let profile = Profile::$profile $({ $parameter })?;
                let separation = Separation::Squares;
                let $known = Radial { profile, separation, ..radial };
                $body
            })*
        }
    }};
}
pub(super) use with_known;

/// A kernel at a bandwidth.
#[derive(Clone, Copy)]
pub(super) struct Radial {
    pub profile: Profile,
    /// The distance in bandwidths, over the separation or its root.
    pub rate: f64,
    pub separation: Separation,
    /// The square over the separation, if it is not of magnitudes.
    pub unit: f64,
}

/// What a kernel is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separation {
    /// `Σ|Δ|`
    Magnitudes,
    /// `ΣΔ²`
    Squares,
    /// `x·y − ½|x|² − ½|y|² = −½ ΣΔ²`: half of the work of the squares, but digits cancel where points are
    /// longer than they are apart.
    Exponents,
}

impl Separation {
    pub fn similarity(self) -> Similarity {
        match self {
            Self::Magnitudes => Similarity::Magnitudes,
            Self::Squares => Similarity::Squares,
            Self::Exponents => Similarity::InnerProduct,
        }
    }
}

/// A kernel at a separation.
pub(super) struct At<N> {
    /// The distance, or its square: `−ν ∂κ/∂ν` is its product with the slope.
    pub separation: N,
    pub value: Value<N>,
}

impl Radial {
    /// Takes sums over coordinates.
    pub fn new(kernel: PairKernel, bandwidth: f64) -> Self {
        Self {
            profile: kernel.profile(),
            rate: kernel.distance().scale() / bandwidth,
            separation: match kernel.distance().sum() {
                CoordinateSum::Magnitudes => Separation::Magnitudes,
                CoordinateSum::Squares => Separation::Squares,
            },
            unit: 1.0,
        }
    }

    /// The same from [`Separation::Exponents`].
    pub fn of_exponents(self) -> Self {
        Self {
            separation: Separation::Exponents,
            unit: -2.0,
            ..self
        }
    }

    #[inline(always)]
    pub fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number> {
        if self.separation == Separation::Magnitudes {
            let value = self.profile.of_distance(n, separation.clone(), self.rate);
            return At { separation, value };
        }
        let separation = n.not_negative(n.scaled(separation, self.unit));
        At {
            separation: separation.clone(),
            value: self.profile.of_square(n, separation, self.rate),
        }
    }

    /// The kernel of one pair.
    pub fn of_pair(self, separation: f64) -> At<f64> {
        self.of(Lanes::<_, f64>::new(Scalar), separation)
    }
}
