//! Formulas that are computed at each place of tensors, with their derivatives: one definition, in vectors of
//! the processor on the host and in tensor operations elsewhere.

mod erfcx;
mod exponential;

use std::ops::{Add, Div, Mul, Neg, Sub};

use burn::tensor::{DType, Tensor, TensorData};
use pulp::{Simd, WithSimd};

pub(crate) use erfcx::{erfcx, erfcx_difference, erfcx_with_slopes};
pub(crate) use exponential::{exponential_difference, second_exponential_difference};

use super::{
    backends::is_on_host,
    gradient::linearised,
    simd::{
        arch::Arch,
        real::{Real, with_real},
        wide::Wide,
    },
};
use crate::{host::Memory, parallel};

/// A number of a formula: a vector of the processor, or a tensor that is not tracked.
pub(crate) trait Number:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// Whether numbers are in f64.
    fn is_f64(&self) -> bool;

    /// The smallest normal number.
    fn smallest(&self) -> f64;

    /// A number at each place.
    fn constant(&self, x: f64) -> Self;

    fn abs(self) -> Self;

    fn sqrt(self) -> Self;

    /// `e^x` for `x ≤ 11`; vectors stay at the smallest normal number.
    fn exp(self) -> Self;

    /// `self·b + c`
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// `yes` where `self < bound`, otherwise `no`.
    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self;

    /// `1/x`
    #[inline(always)]
    fn reciprocal(self) -> Self {
        self.constant(1.0) / self
    }

    /// `x` for numbers below the bound, otherwise that.
    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        self.clone().where_less(bound.clone(), self, bound)
    }
}

impl<const D: usize> Number for Tensor<D> {
    fn is_f64(&self) -> bool {
        self.dtype() == DType::F64
    }

    fn smallest(&self) -> f64 {
        let float = self.dtype().finfo().expect("a float tensor");
        float.min_positive
    }

    fn constant(&self, x: f64) -> Self {
        self.full_like(x)
    }

    fn abs(self) -> Self {
        Tensor::abs(self)
    }

    fn sqrt(self) -> Self {
        Tensor::sqrt(self)
    }

    fn exp(self) -> Self {
        Tensor::exp(self)
    }

    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }

    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self {
        no.mask_where(self.lower(bound), yes)
    }
}

/// A function of `K` numbers.
pub(crate) trait Formula<const K: usize>: Copy + Send + Sync {
    /// The value and the partial derivatives. Implementations are always inlined.
    fn at<X: Number>(self, arguments: [X; K]) -> (X, [X; K]);
}

/// The values of a formula at each place of tensors of one shape, differentiable once.
pub(crate) fn elementwise<const D: usize, const K: usize>(
    formula: impl Formula<K>,
    arguments: [&Tensor<D>; K],
) -> Tensor<D> {
    let is_tracked = arguments.iter().any(|x| x.is_tracked());
    let plain = arguments.map(|x| x.clone().detach());
    let (value, slopes) = if plain.iter().all(is_on_host) {
        in_vectors(formula, plain, is_tracked)
    } else {
        let (value, slopes) = formula.at(plain);
        (value, slopes.into())
    };
    let inputs = arguments.into_iter().zip(slopes);
    let tracked = inputs.filter(|(x, _)| x.is_tracked());
    tracked.fold(value, |value, (x, slope)| linearised(value, x, slope))
}

/// The values of a formula in the place of its arguments.
pub(crate) fn in_place<T: Real>(formula: impl Formula<1>, numbers: &mut [T]) {
    let whole = numbers.len() / PACK * PACK;
    let (whole, rest) = numbers.split_at_mut(whole);
    let mut padded = [T::new(1.0); PACK];
    padded[..rest.len()].copy_from_slice(rest);
    for numbers in [whole, &mut padded] {
        Arch::new().dispatch(InPlace { formula, numbers });
    }
    rest.copy_from_slice(&padded[..rest.len()]);
}

/// `e^x` in the place of each non-positive `x`.
pub(crate) fn exp<T: Real>(numbers: &mut [T]) {
    in_place(Exponential, numbers);
}

/// `e^x`
#[derive(Clone, Copy)]
struct Exponential;

impl Formula<1> for Exponential {
    #[inline(always)]
    fn at<X: Number>(self, [x]: [X; 1]) -> (X, [X; 1]) {
        let value = x.exp();
        (value.clone(), [value])
    }
}

/// Some numbers in whole vectors, and the formula that is written in their place.
struct InPlace<'a, F, T> {
    formula: F,
    numbers: &'a mut [T],
}

impl<F: Formula<1>, T: Real> WithSimd for InPlace<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for x in T::lanes_mut::<S>(self.numbers) {
            let (value, _) = self.formula.at([Wide::<S, T>::new(simd, *x)]);
            *x = value.lanes;
        }
    }
}

/// The value of a formula for one number.
pub(crate) fn value_at(formula: impl Formula<1>, x: f64) -> f64 {
    let (value, _) = formula.at([Wide::splat(pulp::Scalar::new(), x)]);
    value.lanes
}

/// Places that a thread takes at once.
const AT_ONCE: usize = 1 << 12;
/// Numbers in whole vectors of any processor.
const PACK: usize = 16;

/// The value, and derivatives if they are wanted, on all threads.
fn in_vectors<const D: usize, const K: usize>(
    formula: impl Formula<K>,
    arguments: [Tensor<D>; K],
    slopes: bool,
) -> (Tensor<D>, Vec<Tensor<D>>) {
    let (device, dtype) = (arguments[0].device(), arguments[0].dtype());
    let (shape, n) = (arguments[0].shape(), arguments[0].shape().num_elements());
    let memory = arguments.map(Memory::of);
    let mut tensors: Vec<Tensor<D>> = with_real!(dtype, T => {
        let arguments = memory.each_ref().map(|x| x.slice::<T>());
        let parts = parallel::map(n.div_ceil(AT_ONCE), &|part| {
            let places = part * AT_ONCE..n.min((part + 1) * AT_ONCE);
            Part::compute(formula, arguments.map(|x| &x[places.clone()]), slopes)
        });
        (0..if slopes { 1 + K } else { 1 }).map(|k| {
            let mut numbers: Vec<T> = parts.iter().flat_map(|part| &part[k]).copied().collect();
            numbers.truncate(n); // only the last part is padded
            Tensor::from_data(TensorData::new(numbers, shape.clone()), (&device, dtype))
        }).collect()
    });
    let slopes = tensors.split_off(1);
    (tensors.swap_remove(0), slopes)
}

/// A formula at some places, in whole vectors.
struct Part<'a, F, T, const K: usize> {
    formula: F,
    arguments: &'a [Vec<T>; K],
    /// The value, and derivatives if they are wanted.
    results: &'a mut [Vec<T>],
}

impl<F: Formula<K>, T: Real, const K: usize> Part<'_, F, T, K> {
    /// The value, and derivatives if they are wanted, with numbers that fill up the last vector.
    fn compute(formula: F, arguments: [&[T]; K], slopes: bool) -> Vec<Vec<T>> {
        let len = arguments[0].len().next_multiple_of(PACK);
        let padded = arguments.map(|x| {
            let mut x = x.to_vec();
            x.resize(len, T::new(1.0));
            x
        });
        let mut results = vec![vec![T::new(0.0); len]; if slopes { 1 + K } else { 1 }];
        Arch::new().dispatch(Part {
            formula,
            arguments: &padded,
            results: &mut results,
        });
        results
    }
}

impl<F: Formula<K>, T: Real, const K: usize> WithSimd for Part<'_, F, T, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for at in 0..T::lanes::<S>(&self.arguments[0]).len() {
            let mut x = [Wide::<S, T>::splat(simd, T::new(0.0)); K];
            for (x, numbers) in x.iter_mut().zip(self.arguments) {
                *x = Wide::new(simd, T::lanes::<S>(numbers)[at]);
            }
            let (value, slopes) = self.formula.at(x);
            let (first, rest) = self.results.split_at_mut(1);
            T::lanes_mut::<S>(&mut first[0])[at] = value.lanes;
            for (result, slope) in rest.iter_mut().zip(slopes) {
                T::lanes_mut::<S>(result)[at] = slope.lanes;
            }
        }
    }
}
