//! Kernels as functions of the separation that the tiles compute.

use pulp::Scalar;

use super::{PairKernel, lanes::Lanes};
use crate::radial::{
    CoordinateSum, Profile,
    curve::{Numbers, Value},
};

/// `$body` with `$known` the same as a [`Radial`], its profile and the kind of its sum known to the
/// compiler: a loop in the body is compiled for each.
macro_rules! with_known {
    ($radial:expr, $known:ident => $body:expr) => {
        $crate::radial::for_each_profile!(with_known!(@ $radial, $known, $body,))
    };
    (@ $radial:expr, $known:ident, $body:expr, $($profile:ident $({ $parameter:ident })?),*) => {{
        use $crate::radial::{CoordinateSum, Profile};
        let radial = $radial;
        match (radial.sum, radial.profile) {
            $((CoordinateSum::Magnitudes, Profile::$profile $({ $parameter })?) => {
                let profile = Profile::$profile $({ $parameter })?;
                let sum = CoordinateSum::Magnitudes;
                let $known = Radial { profile, sum, ..radial };
                $body
            }
            (CoordinateSum::Squares, Profile::$profile $({ $parameter })?) => {
                let profile = Profile::$profile $({ $parameter })?;
                let sum = CoordinateSum::Squares;
                let $known = Radial { profile, sum, ..radial };
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
    /// The sum over coordinates that separations are.
    pub sum: CoordinateSum,
}

/// A kernel at a separation.
pub(super) struct At<N> {
    /// The distance, or its square: `−ν ∂κ/∂ν` is its product with the slope.
    pub separation: N,
    pub value: Value<N>,
}

impl Radial {
    pub fn new(kernel: PairKernel, bandwidth: f64) -> Self {
        Self {
            profile: kernel.profile(),
            rate: kernel.distance().scale() / bandwidth,
            sum: kernel.distance().sum(),
        }
    }

    /// The rate of an exponential profile that is nowhere less steep.
    pub fn steepest(self) -> f64 {
        self.rate * self.profile.steepness().sqrt()
    }

    #[inline(always)]
    pub fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number> {
        if self.sum == CoordinateSum::Magnitudes {
            let value = self.profile.of_distance(n, separation.clone(), self.rate);
            return At { separation, value };
        }
        let separation = n.not_negative(separation);
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
