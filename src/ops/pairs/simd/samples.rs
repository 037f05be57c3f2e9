//! What a pair statistic is of.

use std::ops::Range;

use super::Real;

/// Samples of a pair statistic: points of `ℝ^d` and their residuals.
#[derive(Clone, Copy)]
pub(crate) struct PairSamples<'a, T> {
    /// `[n, d]`
    pub points: &'a [T],
    pub d: usize,
    /// The vectors whose inner products are taken, `[n, m]`.
    pub residuals: &'a [T],
    pub m: usize,
    /// The labels `y`, each below `d`, if the residuals are `e_y − p` of the points `p`.
    pub labels: Option<&'a [u32]>,
}

/// `e_y − p` for points `p` with labels `y`, each below `d`.
pub(crate) fn residuals_of_labels<T: Real>(points: &[T], labels: &[u32], d: usize) -> Vec<T> {
    let mut residuals: Vec<T> = points.iter().map(|&p| T::new(0.0) - p).collect();
    for (row, &label) in residuals.chunks_exact_mut(d).zip(labels) {
        row[label as usize] += T::new(1.0);
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
}
