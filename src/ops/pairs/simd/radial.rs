//! Kernels as functions of the separation that the tiles compute, and what the pairs of a tile need of them.

use std::ops::AddAssign;

use pulp::{Scalar, Simd, WithSimd};

use super::{PairKernel, Real};
use crate::{
    ops::{formula::Number, simd::wide::Wide},
    radial::{CoordinateSum, Profile, curve::Value},
};

/// `$body` with `$known` the same as a [`Radial`], its profile and the kind of its sum known to the
/// compiler: a loop in the body is compiled for each.
macro_rules! with_known {
    ($radial:expr, $known:ident => $body:expr) => {
        $crate::radial::for_each_profile!(with_known!(@ $radial, $known, $body,))
    };
    (@ $radial:expr, $known:ident, $body:expr, $($profile:ident $({ $parameter:ident })?),*) => {{
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
    fn of<S: Simd, T: Real>(self, separation: Wide<S, T>) -> At<Wide<S, T>> {
        let numbers = separation.arithmetic();
        if self.sum == CoordinateSum::Magnitudes {
            let value = self.profile.of_distance(numbers, separation, self.rate);
            return At { separation, value };
        }
        let separation = separation.max(0.0);
        let value = self.profile.of_square(numbers, separation, self.rate);
        At { separation, value }
    }

    /// The kernel of one pair, and its slope.
    pub fn value_of_pair(self, separation: f64) -> [f64; 2] {
        let value = self.of(Wide::<_, f64>::new(Scalar, separation)).value;
        [value.kernel.lanes, value.slope.lanes]
    }
}

/// Writes kernels in the place of separations.
pub(super) struct Kernels<'a, T> {
    pub radial: Radial,
    pub separations: &'a mut [T],
}

impl<T: Real> WithSimd for Kernels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let separations = T::lanes_mut::<S>(self.separations);
        with_known!(self.radial, radial => for x in separations {
            *x = radial.of(Wide::<S, T>::new(simd, *x)).value.kernel.lanes;
        });
    }
}

/// Sums over pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    /// `Σ h`
    pub value: f64,
    /// `ν ∂/∂ν Σ h`
    pub stretch: f64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.stretch += other.stretch;
    }
}

/// Vectors of pairs that are weighed at once: each waits long for its exponential.
const UNROLLED: usize = 4;

/// Takes separations in `first` and inner products of residuals in `second`, and sums the pair statistic `h = k·g`.
/// With a gradient, for each pair is written, with `k` the kernel, `g` the inner product of the residuals and
/// `s = g·∂k` the slope: `s` and `−k`.
pub(super) struct Weigh<'a, T> {
    pub radial: Radial,
    pub gradient: bool,
    pub first: &'a mut [T],
    pub second: &'a mut [T],
}

impl<T: Real> WithSimd for Weigh<'_, T> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        with_known!(self.radial, radial => weigh(simd, Self { radial, ..self }))
    }
}

#[inline(always)]
fn weigh<S: Simd, T: Real>(simd: S, tile: Weigh<T>) -> Totals {
    let zero = Wide::<S, T>::splat(simd, T::new(0.0));
    let [mut value, mut stretch] = [[zero; UNROLLED]; 2];
    let first = T::lanes_mut::<S>(tile.first).as_chunks_mut::<UNROLLED>();
    let second = T::lanes_mut::<S>(tile.second).as_chunks_mut::<UNROLLED>();
    for (first, second) in first.0.iter_mut().zip(second.0) {
        for v in 0..UNROLLED {
            let at = tile.radial.of(Wide::<S, T>::new(simd, first[v]));
            let (Value { kernel, slope }, product) = (at.value, Wide::new(simd, second[v]));
            value[v] = kernel.mul_add(product, value[v]);
            if tile.gradient {
                let slope = slope * product;
                stretch[v] = slope.mul_add(at.separation, stretch[v]);
                first[v] = slope.lanes;
                second[v] = (zero - kernel).lanes;
            }
        }
    }
    let total = |sums: [Wide<S, T>; UNROLLED]| {
        let [a, b, c, d] = sums;
        (a + b + c + d).sum().to_f64()
    };
    Totals {
        value: total(value),
        stretch: -total(stretch),
    }
}
