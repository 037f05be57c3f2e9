use std::{
    iter::repeat_n,
    ops::{Deref, DerefMut},
};

use aligned_vec::{AVec, ConstAlign};

use super::real::Real;

/// A fixed number of `T`, at first 0, that start at a cache line: a vector that straddles two lines loads
/// at half the speed.
#[derive(Clone)]
pub(crate) struct Aligned<T>(AVec<T, ConstAlign<64>>);

impl<T: Real> Aligned<T> {
    pub fn zeros(len: usize) -> Self {
        Self(AVec::from_iter(64, repeat_n(T::new(0.0), len)))
    }

    /// Adds as many others.
    pub fn add(&mut self, other: &Self) {
        for (a, &b) in self.iter_mut().zip(&**other) {
            *a += b;
        }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
