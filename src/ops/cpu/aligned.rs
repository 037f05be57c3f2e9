//! Numbers that start at a cache line: a vector that straddles two lines loads at half the speed.

use std::ops::{Deref, DerefMut};

use pulp::bytemuck::{self, Pod, Zeroable};

use super::real::Real;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

// SAFETY: bytes without padding, valid whatever they are
unsafe impl Zeroable for Line {}
unsafe impl Pod for Line {}

/// A fixed number of `T`, at first 0.
#[derive(Clone)]
pub(super) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Real> Aligned<T> {
    pub fn zeros(len: usize) -> Self {
        Self {
            lines: vec![Line::zeroed(); (len * size_of::<T>()).div_ceil(size_of::<Line>())],
            len,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Real> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<T: Real> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl<T: Real> Aligned<T> {
    /// Adds as many others.
    pub fn add(&mut self, other: &Self) {
        for (a, &b) in self.iter_mut().zip(&**other) {
            *a = a.plus(b);
        }
    }
}
