//! The gradient of long vectors: the lanes of the processor are coordinates.

use super::{LongTile, antisymmetric::antisymmetric};
use crate::ops::cpu::{
    aligned::Aligned,
    layout::{Rows, Vectors},
    product::{Matrix, add_product},
    real::Real,
    slope::{Difference, Sign, Slopes},
};

/// How the gradient of long vectors is summed.
pub(in crate::ops::cpu) struct Long<'a, T> {
    pub slopes: Slopes,
    /// Padded; neighbours should share theirs for [`Slopes::Merged`].
    pub labels: &'a [u32],
    /// Scaled as for [`Sign`] for [`Slopes::Signs`].
    pub points: &'a Vectors<T>,
    pub residuals: &'a Vectors<T>,
}

/// The gradient of a share of the pairs.
pub(in crate::ops::cpu) struct Sums<T> {
    /// The gradient.
    sums: Rows<T>,
    /// `Σ_j s_ij`, which multiplies the point.
    slope_sums: Aligned<T>,
}

impl<T: Real> Sums<T> {
    /// Adds another share.
    pub fn add(&mut self, other: &Self) {
        self.sums.numbers.add(&other.sums.numbers);
        self.slope_sums.add(&other.slope_sums);
    }

    /// Writes the gradient of the `i`-th point.
    pub fn write(&self, i: usize, point: &[T], gradient: &mut [T]) {
        let slope = self.slope_sums[i];
        for ((&sum, gradient), &point) in self.sums.row(i).iter().zip(gradient).zip(point) {
            *gradient = sum.plus(slope.times(point));
        }
    }
}

impl<T: Real> Long<'_, T> {
    pub fn zeros(&self) -> Sums<T> {
        let padded = self.labels.len();
        Sums {
            sums: Rows::zeros(padded, self.residuals.d),
            slope_sums: Aligned::zeros(padded),
        }
    }

    /// Adds the pairs of a tile with their weights, `[row][column]`, 0 for pairs that do not count: `s`,
    /// and what multiplies the residuals, see [`Weights`](crate::ops::cpu::gradient::Weights).
    pub(super) fn add(&self, tile: &LongTile, [slope, residual]: [&[T]; 2], sums: &mut Sums<T>) {
        let LongTile { rows, columns } = tile;
        let weights = Matrix::new(residual, columns.len(), [rows.len(), columns.len()]);
        let stride = sums.sums.stride;
        let [of_rows, of_columns] = [rows, columns].map(|range| self.residuals.matrix(range));
        add_product(
            sums.sums.rows_mut(rows.clone()),
            stride,
            weights,
            of_columns,
        );
        add_product(
            sums.sums.rows_mut(columns.clone()),
            stride,
            weights.transposed(),
            of_rows,
        );
        match self.slopes {
            Slopes::Merged => self.scatter(tile, slope, sums),
            Slopes::Differences => {
                antisymmetric(tile, slope, self.points, Difference, &mut sums.sums)
            }
            Slopes::Signs => antisymmetric(tile, slope, self.points, Sign, &mut sums.sums),
        }
    }

    /// `sums[i][y_j] −= s_ij`, `sums[j][y_i] −= s_ij`, and the sums of the slopes, see
    /// [`scatter`](crate::ops::cpu::scatter).
    fn scatter(&self, tile: &LongTile, slope: &[T], into: &mut Sums<T>) {
        let LongTile { rows, columns } = tile;
        let width = columns.len();
        let stride = into.sums.stride;
        let minus = |a: &mut T, b: T| *a = a.plus(b.times(T::new(-1.0)));
        let mut totals = vec![T::new(0.0); width];
        let mut slopes = slope.chunks_exact(width);
        for run in self.labels[rows.clone()].chunk_by(u32::eq) {
            totals.fill(T::new(0.0));
            for slope in slopes.by_ref().take(run.len()) {
                for (total, &s) in totals.iter_mut().zip(slope) {
                    *total = total.plus(s);
                }
            }
            let sums = into.sums.rows_mut(columns.clone()).chunks_exact_mut(stride);
            let slope_sums = &mut into.slope_sums[columns.clone()];
            for ((sums, slope_sum), &total) in sums.zip(slope_sums).zip(&totals) {
                minus(&mut sums[run[0] as usize], total);
                *slope_sum = slope_sum.plus(total);
            }
        }
        for (i, mut slope) in rows.clone().zip(slope.chunks_exact(width)) {
            let sums = &mut into.sums.numbers[i * stride..][..stride];
            for run in self.labels[columns.clone()].chunk_by(u32::eq) {
                let (of_run, rest) = slope.split_at(run.len());
                let total = of_run.iter().fold(T::new(0.0), |total, &s| total.plus(s));
                minus(&mut sums[run[0] as usize], total);
                into.slope_sums[i] = into.slope_sums[i].plus(total);
                slope = rest;
            }
        }
    }
}
