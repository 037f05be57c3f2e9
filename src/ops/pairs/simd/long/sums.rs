//! The gradient of long vectors: the lanes of the processor are coordinates.

use super::{LongTile, antisymmetric::antisymmetric};
use crate::ops::pairs::simd::{
    aligned::Aligned,
    layout::{Rows, Vectors},
    product::{Matrix, add_product},
    real::Real,
    slope::{Difference, Sign},
};

/// How the gradient of long vectors is summed.
pub(in crate::ops::pairs::simd) struct Long<'a, T> {
    pub slopes: LongSlopes<'a, T>,
    pub residuals: &'a Vectors<T>,
    /// The gradient of the residuals is apart unless they are of labels.
    pub apart: bool,
}

/// The [`Slopes`](super::super::slope::Slopes), with what each takes.
pub(in crate::ops::pairs::simd) enum LongSlopes<'a, T> {
    /// Points, scaled as for [`Sign`].
    Signs(&'a Vectors<T>),
    /// Points.
    Differences(&'a Vectors<T>),
    /// Labels, padded; neighbours should share theirs.
    Merged(&'a [u32]),
}

/// The gradient of a share of the pairs.
pub(in crate::ops::pairs::simd) struct Sums<T> {
    /// The gradient.
    sums: Rows<T>,
    /// Minus that of the residuals, if it is apart.
    residual_sums: Option<Rows<T>>,
    /// `Σ_j s_ij`, which multiplies the point.
    slope_sums: Aligned<T>,
}

impl<T: Real> Sums<T> {
    /// Adds another share.
    pub fn add(&mut self, other: &Self) {
        self.sums.numbers.add(&other.sums.numbers);
        if let (Some(sums), Some(others)) = (&mut self.residual_sums, &other.residual_sums) {
            sums.numbers.add(&others.numbers);
        }
        self.slope_sums.add(&other.slope_sums);
    }

    /// Writes the gradient of the `i`-th point.
    pub fn write(&self, i: usize, point: &[T], gradient: &mut [T]) {
        let slope = self.slope_sums[i];
        for ((&sum, gradient), &point) in self.sums.row(i).iter().zip(gradient).zip(point) {
            *gradient = sum.plus(slope.times(point));
        }
    }

    /// Writes the gradient of the `i`-th residual, if it is apart.
    pub fn write_residual(&self, i: usize, gradient: &mut [T]) {
        let Some(sums) = &self.residual_sums else {
            return;
        };
        for (&sum, gradient) in sums.row(i).iter().zip(gradient) {
            *gradient = sum.times(T::new(-1.0));
        }
    }
}

impl<T: Real> Long<'_, T> {
    pub fn zeros(&self) -> Sums<T> {
        let padded = self.residuals.rows.count();
        let d = match self.slopes {
            LongSlopes::Signs(points) | LongSlopes::Differences(points) => points.d,
            LongSlopes::Merged(_) => self.residuals.d,
        };
        Sums {
            sums: Rows::zeros(padded, d),
            residual_sums: self.apart.then(|| Rows::zeros(padded, self.residuals.d)),
            slope_sums: Aligned::zeros(padded),
        }
    }

    /// Adds the pairs of a tile with their weights, `[row][column]`, 0 for pairs that do not count: `s`,
    /// and what multiplies the residuals, see [`Weights`](super::super::gradient::Weights).
    pub(super) fn add(&self, tile: &LongTile, [slope, residual]: [&[T]; 2], sums: &mut Sums<T>) {
        let LongTile { rows, columns } = tile;
        let weights = Matrix::new(residual, columns.len(), [rows.len(), columns.len()]);
        let into = sums.residual_sums.as_mut().unwrap_or(&mut sums.sums);
        let stride = into.stride;
        let [of_rows, of_columns] = [rows, columns].map(|range| self.residuals.matrix(range));
        add_product(into.rows_mut(rows.clone()), stride, weights, of_columns);
        add_product(
            into.rows_mut(columns.clone()),
            stride,
            weights.transposed(),
            of_rows,
        );
        match self.slopes {
            LongSlopes::Merged(labels) => scatter(tile, labels, slope, sums),
            LongSlopes::Differences(points) => {
                antisymmetric(tile, slope, points, Difference, &mut sums.sums)
            }
            LongSlopes::Signs(points) => antisymmetric(tile, slope, points, Sign, &mut sums.sums),
        }
    }
}

/// `sums[i][y_j] −= s_ij`, `sums[j][y_i] −= s_ij`, and the sums of the slopes, see
/// [`scatter`](super::super::scatter).
fn scatter<T: Real>(tile: &LongTile, labels: &[u32], slope: &[T], into: &mut Sums<T>) {
    let LongTile { rows, columns } = tile;
    let width = columns.len();
    let stride = into.sums.stride;
    let mut totals = vec![T::new(0.0); width];
    let mut slopes = slope.chunks_exact(width);
    for run in labels[rows.clone()].chunk_by(u32::eq) {
        totals.fill(T::new(0.0));
        for slope in slopes.by_ref().take(run.len()) {
            for (total, &s) in totals.iter_mut().zip(slope) {
                *total = total.plus(s);
            }
        }
        let sums = into.sums.rows_mut(columns.clone()).chunks_exact_mut(stride);
        let slope_sums = &mut into.slope_sums[columns.clone()];
        for ((sums, slope_sum), &total) in sums.zip(slope_sums).zip(&totals) {
            let sum = &mut sums[run[0] as usize];
            *sum = sum.minus(total);
            *slope_sum = slope_sum.plus(total);
        }
    }
    for (i, mut slope) in rows.clone().zip(slope.chunks_exact(width)) {
        let sums = &mut into.sums.numbers[i * stride..][..stride];
        for run in labels[columns.clone()].chunk_by(u32::eq) {
            let (of_run, rest) = slope.split_at(run.len());
            let total = of_run.iter().fold(T::new(0.0), |total, &s| total.plus(s));
            let sum = &mut sums[run[0] as usize];
            *sum = sum.minus(total);
            into.slope_sums[i] = into.slope_sums[i].plus(total);
            slope = rest;
        }
    }
}
