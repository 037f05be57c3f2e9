//! `f32` and `f64` as vectors of whatever width the processor has.

use std::fmt::Debug;

use pulp::{Simd, bytemuck::Pod};

/// A floating-point type and its vectors `Lanes<S>` on the instruction set `S`.
pub trait Real: Pod + Debug + PartialOrd + Send + Sync {
    /// A vector.
    type Lanes<S: Simd>: Pod;

    /// The greatest finite number.
    const MAX: Self;
    /// The smallest normal number.
    const MIN_POSITIVE: f64;
    /// Below this a distance counts as 0.
    const TINY: f64;
    /// Multiplies numbers of at most 1 so that the differences of all normal ones exceed 1.
    const HUGE: f64;

    fn new(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;

    /// Vectors at a time; the rest that does not fill one is dropped.
    fn lanes<S: Simd>(slice: &[Self]) -> &[Self::Lanes<S>];
    fn lanes_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Lanes<S>];

    fn splat<S: Simd>(simd: S, x: Self) -> Self::Lanes<S>;
    fn add<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn sub<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn mul<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn div<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
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
    /// `2^k` from `k + bias + 1.5 · 2^(digits − 1)`, see [`exp2`](super::exp2).
    fn power_of_two<S: Simd>(simd: S, shifted: Self::Lanes<S>) -> Self::Lanes<S>;

    /// Lanes in a vector.
    fn width<S: Simd>() -> usize {
        size_of::<Self::Lanes<S>>() / size_of::<Self>()
    }

    /// `2^x` for `x ≤ 0`, see [`exp2`](super::exp2).
    fn exp2<S: Simd>(simd: S, x: Self::Lanes<S>) -> Self::Lanes<S>;
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
    ($t:ident, $tiny:expr, $huge:expr, $exp2:path, |$simd:ident, $bits:ident| $shift:expr) => {
        pastey::paste! {
            impl Real for $t {
                type Lanes<S: Simd> = S::[<$t s>];

                const MAX: Self = $t::MAX;
                const MIN_POSITIVE: f64 = $t::MIN_POSITIVE as f64;
                const TINY: f64 = $tiny;
                const HUGE: f64 = $huge;

                #[inline(always)]
                fn new(x: f64) -> Self {
                    x as $t
                }
                #[inline(always)]
                fn to_f64(self) -> f64 {
                    f64::from(self)
                }
                #[inline(always)]
                fn plus(self, other: Self) -> Self {
                    self + other
                }
                #[inline(always)]
                fn minus(self, other: Self) -> Self {
                    self - other
                }
                #[inline(always)]
                fn times(self, other: Self) -> Self {
                    self * other
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
                    add(a, b) = add;
                    sub(a, b) = sub;
                    mul(a, b) = mul;
                    div(a, b) = div;
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
                fn exp2<S: Simd>(simd: S, x: Self::Lanes<S>) -> Self::Lanes<S> {
                    $exp2(simd, x)
                }
            }
        }
    };
}

// the exponent is moved to its place by a shift, or by a product with a power of two
impl_real!(
    f32,
    1e-19,
    1.0 / f32::MIN_POSITIVE as f64,
    super::exp2::exp2_f32,
    |simd, bits| {
        let bits = simd.transmute_u32s_f32s(bits);
        simd.transmute_f32s_u32s(simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(23)))
    }
);
impl_real!(
    f64,
    1e-154,
    1.0 / f64::MIN_POSITIVE,
    super::exp2::exp2_f64,
    |simd, bits| {
        let bits = simd.transmute_u64s_f64s(bits);
        simd.transmute_f64s_u64s(simd.mul_u64s(bits, simd.splat_u64s(1 << 52)))
    }
);
