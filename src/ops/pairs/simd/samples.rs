//! What a pair statistic is of.

use std::ops::Range;

use super::{layout::squared_length, real::Real};

/// Samples of a pair statistic: points of `ℝ^d` and their residuals.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a, T> {
    /// `[n, d]`
    pub points: &'a [T],
    pub d: usize,
    pub residuals: Residuals<'a, T>,
}

/// What the inner products are of.
#[derive(Clone, Copy)]
pub(crate) enum Residuals<'a, T> {
    /// `e_y − p` for points `p` with labels `y`, each below `d`.
    Labels(&'a [u32]),
    /// `[n, m]`
    Rows { rows: &'a [T], m: usize },
}

impl<'a, T: Real> Samples<'a, T> {
    /// Takes labels of at least one sample.
    pub fn of_labels(points: &'a [T], labels: &'a [u32]) -> Self {
        Self {
            points,
            d: points.len() / labels.len(),
            residuals: Residuals::Labels(labels),
        }
    }

    pub fn count(&self) -> usize {
        self.points.len() / self.d
    }

    /// Coordinates of a residual.
    pub fn residual_size(&self) -> usize {
        match self.residuals {
            Residuals::Labels(_) => self.d,
            Residuals::Rows { m, .. } => m,
        }
    }

    /// A coordinate of the residuals, `[n, m]`, by its index.
    pub fn residual(&self, index: usize) -> f64 {
        match self.residuals {
            Residuals::Labels(labels) => {
                let (sample, class) = (index / self.d, index % self.d);
                f64::from(class == labels[sample] as usize) - self.points[index].to_f64()
            }
            Residuals::Rows { rows, .. } => rows[index].to_f64(),
        }
    }

    /// Consecutive samples.
    pub fn part(&self, samples: Range<usize>) -> Self {
        let rows_of = |d: usize| samples.start * d..samples.end * d;
        Samples {
            points: &self.points[rows_of(self.d)],
            d: self.d,
            residuals: match self.residuals {
                Residuals::Labels(labels) => Residuals::Labels(&labels[samples]),
                Residuals::Rows { rows, m } => Residuals::Rows {
                    rows: &rows[rows_of(m)],
                    m,
                },
            },
        }
    }

    /// The greatest magnitude of a coordinate.
    pub fn largest(&self) -> f64 {
        let magnitudes = self.points.iter().map(|x| x.to_f64().abs());
        magnitudes.fold(0.0, f64::max)
    }

    /// The greatest length of a point.
    pub fn longest(&self) -> f64 {
        let lengths = self.points.chunks_exact(self.d).map(squared_length);
        lengths.fold(0.0, f64::max).sqrt()
    }
}

/// What there is for points, `[n, d]`, and for residuals that are rows, `[n, m]`; residuals of labels
/// are part of the points.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gradients<X> {
    pub points: X,
    pub residuals: X,
}

impl<T> Gradients<Vec<T>> {
    /// Cuts into blocks of so many consecutive numbers; no blocks where a gradient is not wanted.
    pub fn blocks(&mut self, size: Gradients<usize>) -> impl Iterator<Item = Gradients<&mut [T]>> {
        let mut residuals = self.residuals.chunks_mut(size.residuals);
        let points = self.points.chunks_mut(size.points);
        points.map(move |points| Gradients {
            points,
            residuals: residuals.next().unwrap_or_default(),
        })
    }
}
