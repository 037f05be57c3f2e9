//! Profiles on the device: the same formulas as on the host, recorded as operations of the kernel.

use std::{
    hash::{Hash, Hasher},
    marker::PhantomData,
};

use cubecl::{
    ir::{ConstantValue, ElemType, FloatKind, Scope},
    prelude::*,
};

use crate::radial::{
    Profile,
    curve::{Numbers, Value},
};

/// A profile that a kernel is compiled for, with its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Compiled(pub(super) Profile);

impl Eq for Compiled {} // a valid parameter is a number

impl Hash for Compiled {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_string().hash(state);
    }
}

/// `κ` and its slope from the distance in bandwidths, or from its square; see [`Value`].
#[cube]
pub(super) fn curve<F: Float>(
    separation: F,
    #[comptime] profile: Compiled,
    #[comptime] squared: bool,
) -> (F, F) {
    intrinsic!(|scope| {
        let n = Recorded::<F>(scope, PhantomData);
        let Value { kernel, slope } = if squared {
            profile.0.of_square(n, separation, 1.0)
        } else {
            profile.0.of_distance(n, separation, 1.0)
        };
        (kernel, slope)
    })
}

/// Numbers of the kernel that this scope is of.
#[derive(Clone, Copy)]
struct Recorded<'a, F>(&'a Scope, PhantomData<F>);

impl<F: Float> Recorded<'_, F> {
    fn constant(self, x: f64) -> NativeExpand<F> {
        F::elem_type(self.0)
            .constant(ConstantValue::Float(x))
            .into()
    }

    /// The smallest normal number.
    fn least(self) -> NativeExpand<F> {
        self.constant(match F::elem_type(self.0) {
            ElemType::Float(FloatKind::F64) => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        })
    }
}

impl<F: Float> Numbers for Recorded<'_, F> {
    type Number = NativeExpand<F>;

    fn scaled(self, x: NativeExpand<F>, factor: f64) -> NativeExpand<F> {
        self.times(x, self.constant(factor))
    }

    fn plus(self, x: NativeExpand<F>, constant: f64) -> NativeExpand<F> {
        F::__expand_add(self.0, x, self.constant(constant))
    }

    fn times(self, x: NativeExpand<F>, y: NativeExpand<F>) -> NativeExpand<F> {
        F::__expand_mul(self.0, x, y)
    }

    fn sqrt(self, x: NativeExpand<F>) -> NativeExpand<F> {
        F::__expand_sqrt(self.0, x)
    }

    fn over(self, x: NativeExpand<F>, y: NativeExpand<F>) -> NativeExpand<F> {
        over::expand::<F>(self.0, x, y, self.least())
    }

    fn decay(self, x: NativeExpand<F>, factor: f64) -> NativeExpand<F> {
        F::__expand_exp(self.0, self.scaled(x, -factor))
    }

    fn power(self, x: NativeExpand<F>, a: f64) -> NativeExpand<F> {
        power::expand::<F>(self.0, x, self.constant(a), self.least())
    }

    fn power_of_successor(self, x: NativeExpand<F>, a: f64) -> [NativeExpand<F>; 2] {
        let one = self.constant(1.0);
        let successor = self.plus(x, 1.0);
        let reciprocal = F::__expand_div(self.0, one, successor);
        // log(1 + x) = 2 artanh(s): a device's logarithm has few digits near 1
        let s = F::__expand_div(self.0, x, self.plus(x, 2.0));
        let square = self.times(s, s);
        let series = (0..TERMS).rev().fold(self.constant(0.0), |sum, k| {
            self.plus(self.times(sum, square), 2.0 / f64::from(2 * k + 1))
        });
        let near = self.times(s, series);
        let far = F::__expand_ln(self.0, successor);
        let log = at_most_half::expand::<F>(self.0, x, near, far);
        [self.decay(log, a), reciprocal]
    }
}

/// Terms of `artanh(s)/s` for `s ≤ ⅕`, exact to rounding in f64.
const TERMS: u32 = 12;

#[cube]
fn over<F: Float>(x: F, y: F, least: F) -> F {
    let is_normal = y >= least;
    let divisor = select(is_normal, y, F::new(1.0));
    select(is_normal, x / divisor, F::new(0.0))
}

#[cube]
fn power<F: Float>(x: F, a: F, least: F) -> F {
    let is_normal = x >= least;
    let base = select(is_normal, x, F::new(1.0));
    select(is_normal, (a * base.ln()).exp(), F::new(0.0))
}

#[cube]
fn at_most_half<F: Float>(x: F, then: F, or_else: F) -> F {
    select(x <= F::new(0.5), then, or_else)
}
