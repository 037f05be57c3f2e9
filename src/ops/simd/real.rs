//! `f32` and `f64` as vectors of whatever width the processor has.

use std::{
    cmp::Ordering,
    fmt::Debug,
    ops::{Add, AddAssign, Mul, Sub, SubAssign},
};

use pulp::{
    Simd,
    bytemuck::{self, Pod},
};

use super::powers::{EXP2_F32, EXP2_F64, Exp2, LOG2_F32, LOG2_F64};

/// A floating-point type and its vectors `Lanes<S>` on the instruction set `S`.
pub trait Real:
    Pod
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
{
    /// A vector.
    type Lanes<S: Simd>: Pod;

    /// The greatest finite number.
    const MAX: f64;
    /// The smallest normal number.
    const MIN_POSITIVE: f64;
    /// The exponential function in this type.
    const EXP2: Exp2;
    /// The logarithm in this type, see [`log2`](super::powers::log2).
    const LOG2: &'static [f64];

    fn new(x: f64) -> Self;
    fn to_f64(self) -> f64;
    /// The order of numbers, without a branch: what selections are fast with.
    fn total_cmp(&self, other: &Self) -> Ordering;

    /// Vectors at a time; the rest that does not fill one is dropped.
    fn lanes<S: Simd>(slice: &[Self]) -> &[Self::Lanes<S>];
    fn lanes_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Lanes<S>];

    fn splat<S: Simd>(simd: S, x: Self) -> Self::Lanes<S>;
    fn plus<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn minus<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn times<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn over<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    /// `a·b + c`
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Lanes<S>,
        b: Self::Lanes<S>,
        c: Self::Lanes<S>,
    ) -> Self::Lanes<S>;
    fn min<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn max<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn abs<S: Simd>(simd: S, a: Self::Lanes<S>) -> Self::Lanes<S>;
    fn sqrt<S: Simd>(simd: S, a: Self::Lanes<S>) -> Self::Lanes<S>;
    /// The sum of the lanes.
    fn sum<S: Simd>(simd: S, a: Self::Lanes<S>) -> Self;
    /// `2^k` from `k + bias + 1.5 · 2^(digits − 1)`, see [`exp2`](super::powers::exp2).
    fn power_of_two<S: Simd>(simd: S, shifted: Self::Lanes<S>) -> Self::Lanes<S>;
    /// `k` and `m` of positive normal numbers `2^k·m` with `√½ ≤ m < √2`.
    fn split<S: Simd>(simd: S, x: Self::Lanes<S>) -> (Self::Lanes<S>, Self::Lanes<S>);
    /// `yes` where `a < b`, otherwise `no`.
    fn where_less<S: Simd>(
        simd: S,
        less: [Self::Lanes<S>; 2],
        yes: Self::Lanes<S>,
        no: Self::Lanes<S>,
    ) -> Self::Lanes<S>;
}

/// `$body` with `$T` the type of the dtype, f32 or f64.
macro_rules! with_real {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            burn::tensor::DType::F32 => {
                type $T = f32;
                $body
            }
            burn::tensor::DType::F64 => {
                type $T = f64;
                $body
            }
            other => panic!("points of {other:?}, expected f32 or f64"),
        }
    };
}
pub(crate) use with_real;

/// Functions of vectors that `pulp` has.
macro_rules! by_pulp {
    ($t:ident: $($name:ident($($x:ident),+) = $pulp:ident;)*) => {
        pastey::paste! {$(
            #[inline(always)]
            fn $name<S: Simd>(simd: S, $($x: Self::Lanes<S>),+) -> Self::Lanes<S> {
                simd.[<$pulp _ $t s>]($($x),+)
            }
        )*}
    };
}

macro_rules! impl_real {
    ($t:ident as $u:ident, |$simd:ident, $bits:ident| $shift:expr) => {
        pastey::paste! {
            impl Real for $t {
                type Lanes<S: Simd> = S::[<$t s>];

                const MAX: f64 = $t::MAX as f64;
                const MIN_POSITIVE: f64 = $t::MIN_POSITIVE as f64;
                const EXP2: Exp2 = [<EXP2_ $t:upper>];
                const LOG2: &'static [f64] = &[<LOG2_ $t:upper>];

                #[inline(always)]
                fn new(x: f64) -> Self {
                    x as $t
                }
                #[inline(always)]
                fn to_f64(self) -> f64 {
                    f64::from(self)
                }
                #[inline(always)]
                fn total_cmp(&self, other: &Self) -> Ordering {
                    self.total_cmp(other)
                }
                #[inline(always)]
                fn lanes<S: Simd>(slice: &[Self]) -> &[Self::Lanes<S>] {
                    S::[<as_simd_ $t s>](slice).0
                }
                #[inline(always)]
                fn lanes_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Lanes<S>] {
                    S::[<as_mut_simd_ $t s>](slice).0
                }
                #[inline(always)]
                fn splat<S: Simd>(simd: S, x: Self) -> Self::Lanes<S> {
                    simd.[<splat_ $t s>](x)
                }
                by_pulp! {
                    $t:
                    plus(a, b) = add;
                    minus(a, b) = sub;
                    times(a, b) = mul;
                    over(a, b) = div;
                    mul_add(a, b, c) = mul_add_e;
                    min(a, b) = min;
                    max(a, b) = max;
                    abs(a) = abs;
                    sqrt(a) = sqrt;
                }
                #[inline(always)]
                fn sum<S: Simd>(simd: S, a: Self::Lanes<S>) -> Self {
                    simd.[<reduce_sum_ $t s>](a)
                }
                #[inline(always)]
                fn power_of_two<S: Simd>($simd: S, shifted: Self::Lanes<S>) -> Self::Lanes<S> {
                    let $bits = shifted;
                    $shift
                }
                #[inline(always)]
                fn split<S: Simd>(
                    simd: S,
                    x: Self::Lanes<S>,
                ) -> (Self::Lanes<S>, Self::Lanes<S>) {
                    const DIGITS: u32 = $t::MANTISSA_DIGITS - 1;
                    const DIGIT_BITS: $u = (1 << DIGITS) - 1;
                    const UNIT: $t = (DIGIT_BITS + 1) as $t; // its last digit is 1
                    const BIAS: $t = ($t::MAX_EXP - 1) as $t;
                    const LEAST: $u = std::$t::consts::FRAC_1_SQRT_2.to_bits(); // of `m`
                    let splat = |bits| simd.[<splat_ $u s>](bits);
                    let bits = simd.[<transmute_ $u s_ $t s>](x);
                    let bits = simd.[<add_ $u s>](bits, splat((1.0 as $t).to_bits() - LEAST));
                    let mut k = [bits];
                    for word in bytemuck::cast_slice_mut::<_, $u>(&mut k) {
                        *word >>= DIGITS; // one instruction; there is no such function for u64
                    }
                    let k = simd.[<or_ $u s>](k[0], splat(UNIT.to_bits()));
                    let k = simd.[<transmute_ $t s_ $u s>](k);
                    let digits = simd.[<and_ $u s>](bits, splat(DIGIT_BITS));
                    let m = simd.[<add_ $u s>](digits, splat(LEAST));
                    let bias = Self::splat(simd, UNIT + BIAS);
                    (Self::minus(simd, k, bias), simd.[<transmute_ $t s_ $u s>](m))
                }
                #[inline(always)]
                fn where_less<S: Simd>(
                    simd: S,
                    [a, b]: [Self::Lanes<S>; 2],
                    yes: Self::Lanes<S>,
                    no: Self::Lanes<S>,
                ) -> Self::Lanes<S> {
                    simd.[<select_ $t s>](simd.[<less_than_ $t s>](a, b), yes, no)
                }
            }
        }
    };
}

// the exponent is moved to its place by a shift, or by a product with a power of two
impl_real!(f32 as u32, |simd, bits| {
    let bits = simd.transmute_u32s_f32s(bits);
    simd.transmute_f32s_u32s(simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(23)))
});
impl_real!(f64 as u64, |simd, bits| {
    let bits = simd.transmute_u64s_f64s(bits);
    simd.transmute_f64s_u64s(simd.mul_u64s(bits, simd.splat_u64s(1 << 52)))
});
