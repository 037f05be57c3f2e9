//! What a pair statistic is of.

use std::ops::Range;

use super::{
    aligned::Aligned,
    layout::{PaddedVectors, squared_length, strip},
    real::Real,
};
use crate::parallel::for_each_chunk;

/// Samples of a pair statistic: points of `ℝ^d` and their residuals.
#[derive(Clone, Copy)]
pub(crate) struct PairSamples<'a, T> {
    /// `[n, d]`
    pub points: &'a [T],
    pub d: usize,
    /// What the inner products are of, `[n, m]`.
    pub residuals: &'a [T],
    pub m: usize,
    /// The labels `y`, each below `d`, if the residuals are `e_y − p` of the points `p`.
    pub labels: Option<&'a [u32]>,
}

/// `e_y − p` for points `p` with labels `y`, each below `d`.
pub(crate) fn residuals_of_labels<T: Real>(points: &[T], labels: &[u32], d: usize) -> Vec<T> {
    let mut residuals: Vec<T> = points.iter().map(|&p| T::new(0.0).minus(p)).collect();
    for (row, &label) in residuals.chunks_exact_mut(d).zip(labels) {
        row[label as usize] = row[label as usize].plus(T::new(1.0));
    }
    residuals
}

impl<T: Real> PairSamples<'_, T> {
    pub fn count(&self) -> usize {
        self.points.len() / self.d
    }

    pub fn point(&self, i: usize) -> &[T] {
        &self.points[i * self.d..][..self.d]
    }

    pub fn residual(&self, i: usize) -> &[T] {
        &self.residuals[i * self.m..][..self.m]
    }

    /// Consecutive samples.
    pub fn part(&self, samples: Range<usize>) -> Self {
        let rows_of = |d: usize| samples.start * d..samples.end * d;
        Self {
            points: &self.points[rows_of(self.d)],
            residuals: &self.residuals[rows_of(self.m)],
            labels: self.labels.map(|labels| &labels[samples]),
            ..*self
        }
    }

    /// The greatest length of a point.
    pub fn longest(&self) -> f64 {
        let lengths = self.points.chunks_exact(self.d).map(squared_length);
        lengths.fold(0.0, f64::max).sqrt()
    }
}

/// Samples in another order, as the pass reads them.
pub(super) struct Sorted<'a, T> {
    pub samples: PairSamples<'a, T>,
    /// The sample that comes to each place.
    order: Vec<usize>,
}

impl<'a, T: Real> Sorted<'a, T> {
    /// Sorts by label, so that sums by label are sums over neighbours, or leaves samples as they are.
    pub fn new(samples: PairSamples<'a, T>, by_label: bool) -> Self {
        let mut order: Vec<usize> = (0..samples.count()).collect();
        if let (Some(labels), true) = (samples.labels, by_label) {
            order.sort_by_key(|&i| labels[i]); // stable
        }
        Self { samples, order }
    }

    pub fn point(&self, place: usize) -> &[T] {
        self.samples.point(self.order[place])
    }

    /// The points, in strips too.
    pub fn points(&self) -> PaddedVectors<T> {
        PaddedVectors::new(self.order.len(), self.samples.d, true, |place, row| {
            row.copy_from_slice(self.point(place));
        })
    }

    /// The residuals, in strips too.
    pub fn residuals(&self) -> PaddedVectors<T> {
        PaddedVectors::new(self.order.len(), self.samples.m, true, |place, row| {
            row.copy_from_slice(self.samples.residual(self.order[place]));
        })
    }

    /// `−½|x|²` of the points, padded.
    pub fn halves(&self) -> Aligned<T> {
        let (n, d) = (self.order.len(), self.samples.d);
        let mut halves = Aligned::zeros(n.next_multiple_of(strip::<T>()));
        for_each_chunk(&mut halves[..n], 1, d, |(place, half)| {
            half[0] = T::new(-0.5 * squared_length(self.point(place)));
        });
        halves
    }

    /// The labels, padded with the last; zeros where there are none.
    pub fn labels(&self) -> Vec<u32> {
        let label = |&i: &usize| self.samples.labels.map_or(0, |labels| labels[i]);
        let mut labels: Vec<u32> = self.order.iter().map(label).collect();
        let padded = labels.len().next_multiple_of(strip::<T>());
        labels.resize(padded, labels.last().copied().unwrap_or(0));
        labels
    }

    /// Writes rows of `d` numbers in the order of the samples; `write(place, row)` writes one.
    pub fn write(&self, rows: &mut [T], d: usize, write: impl Fn(usize, &mut [T]) + Sync + Send) {
        let mut places = vec![0; self.order.len()];
        for (place, &i) in self.order.iter().enumerate() {
            places[i] = place;
        }
        for_each_chunk(rows, d, 1, |(i, row)| write(places[i], row));
    }
}
