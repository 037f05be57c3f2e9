//! The sums of kernel values over pairs of equal labels, of many sets of labels at once: each set has a lane of a vector.

use std::array;

use pulp::{
    Arch, Simd, WithSimd,
    bytemuck::{Pod, cast_slice_mut},
};

use crate::{
    distribution::{LabelSets, Redrawn as _},
    ops::Real,
};

/// Sets whose labels are compared at once.
pub const LANES: usize = 32;

/// A kernel value as a term of a sum.
pub trait Term: Pod + Default + Send + Sync {
    /// The precision of the kernel, and the type of labels beside it.
    type Number: Real;
    /// A vector of terms.
    type Lanes<S: Simd>: Pod;

    /// The term of a kernel value from 0 to 1.
    fn new(kernel: Self::Number) -> Self;

    /// The number that a sum of less than [`MOST_TERMS`] terms is.
    fn to_f64(self) -> f64;

    /// The term in each lane.
    fn splat<S: Simd>(simd: S, term: Self) -> Self::Lanes<S>;

    /// The sum, with the term where both labels are equal.
    fn plus_where_equal<S: Simd>(
        simd: S,
        sum: Self::Lanes<S>,
        term: Self::Lanes<S>,
        labels: [<Self::Number as Real>::Lanes<S>; 2],
    ) -> Self::Lanes<S>;
}

impl Term for f64 {
    type Number = f64;
    type Lanes<S: Simd> = S::f64s;

    fn new(kernel: f64) -> Self {
        kernel
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, term: Self) -> S::f64s {
        simd.splat_f64s(term)
    }

    #[inline(always)]
    fn plus_where_equal<S: Simd>(
        simd: S,
        sum: S::f64s,
        term: S::f64s,
        [label, other]: [S::f64s; 2],
    ) -> S::f64s {
        // adding −0 changes no number, so that it is no operation of its own
        let nothing = simd.splat_f64s(-0.0);
        let term = simd.select_f64s(simd.equal_f64s(label, other), term, nothing);
        simd.add_f64s(sum, term)
    }
}

/// In single precision, the distance of a number from 1 to 2 to the next.
pub const UNIT: f64 = f32::EPSILON as f64;
/// Fewer terms than these, each at most `1/UNIT = 2²³`, have a sum that is a `u32`.
pub const MOST_TERMS: usize = 1 << 9;

/// Multiples of [`UNIT`].
impl Term for u32 {
    type Number = f32;
    type Lanes<S: Simd> = S::u32s;

    #[inline(always)]
    fn new(kernel: f32) -> Self {
        (kernel + 1.0).to_bits() - 1f32.to_bits()
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        UNIT * f64::from(self)
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, term: Self) -> S::u32s {
        simd.splat_u32s(term)
    }

    #[inline(always)]
    fn plus_where_equal<S: Simd>(
        simd: S,
        sum: S::u32s,
        term: S::u32s,
        [label, other]: [S::f32s; 2],
    ) -> S::u32s {
        let nothing = simd.splat_u32s(0);
        let term = simd.select_u32s(simd.equal_f32s(label, other), term, nothing);
        simd.add_u32s(sum, term)
    }
}

/// The labels of all sets as numbers: of [`LANES`] sets, `n` samples; and so on. Lanes without a set
/// repeat the most likely classes.
pub fn in_lanes<T: Real>(sets: &LabelSets, n: usize) -> Vec<[T; LANES]> {
    let chunks = sets.len().div_ceil(LANES);
    let mut labels: Vec<[T; LANES]> = Vec::with_capacity(chunks * n);
    for _ in 0..chunks {
        let reference = sets.reference().iter();
        labels.extend(reference.map(|&class| [T::new(f64::from(class)); LANES]));
    }
    for set in 0..sets.len() {
        for flip in sets.flips(set) {
            let row = &mut labels[set / LANES * n + flip.sample as usize];
            row[set % LANES] = T::new(f64::from(flip.class));
        }
    }
    labels
}

/// The label of a sample in each lane, and those of others.
#[derive(Clone, Copy)]
pub struct Equal<'a, T> {
    pub own: &'a [T; LANES],
    pub labels: &'a [[T; LANES]],
    /// The weight of the sample.
    pub weight: f64,
}

/// The kernel of a sample with others at a bandwidth, and a sum of each lane.
pub struct AtBandwidth<'a, T> {
    pub terms: &'a [T],
    pub sums: &'a mut [f64],
}

impl<N: Real> Equal<'_, N> {
    /// Adds `w Σ_j k_j 1[y_j = y]` at `B` bandwidths, for which labels are compared once.
    pub fn add<T: Term<Number = N>, const B: usize, const V: usize>(self, at: [AtBandwidth<T>; B]) {
        Arch::new().dispatch(SumsOfEqual::<T, B, V> { equal: self, at });
    }
}

struct SumsOfEqual<'a, T: Term, const B: usize, const V: usize> {
    equal: Equal<'a, T::Number>,
    at: [AtBandwidth<'a, T>; B],
}

impl<T: Term, const B: usize, const V: usize> WithSimd for SumsOfEqual<'_, T, B, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Equal {
            own,
            labels,
            weight,
        } = self.equal;
        let terms = self.at.each_ref().map(|at| &at.terms[..labels.len()]);
        let mut equal = [[T::default(); LANES]; B];
        for (part, own) in T::Number::lanes::<S>(own).chunks_exact(V).enumerate() {
            let vectors = part * V..(part + 1) * V;
            let own: [_; V] = array::from_fn(|v| own[v]); // in registers
            let mut sums = [[T::splat(simd, T::default()); V]; B];
            for (j, labels) in labels.iter().enumerate() {
                let labels = &T::Number::lanes::<S>(labels)[vectors.clone()];
                for (sums, terms) in sums.iter_mut().zip(terms) {
                    let term = T::splat(simd, terms[j]);
                    for (sum, (&label, &own)) in sums.iter_mut().zip(labels.iter().zip(&own)) {
                        *sum = T::plus_where_equal(simd, *sum, term, [label, own]);
                    }
                }
            }
            for (equal, sums) in equal.iter_mut().zip(sums) {
                cast_slice_mut(equal)[vectors.clone()].copy_from_slice(&sums);
            }
        }
        for (at, equal) in self.at.into_iter().zip(equal) {
            for (sum, term) in at.sums.iter_mut().zip(equal) {
                *sum += weight * term.to_f64();
            }
        }
    }
}
