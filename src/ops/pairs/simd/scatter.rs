//! The part of the gradient that goes to the label's class alone.
//!
//! With residuals `δ = e_y − p` a difference of points is `(e_yi − e_yj) − (δ_i − δ_j)`, so that the
//! sums over `s_ij (p_i − p_j)` and over `k_ij δ_j` need one pass over the `δ_j`, with weight `s − k`,
//! and `Σ_j s_ij e_yj`, which is a sum by label.

use pulp::{Simd, WithSimd};

use super::{
    layout::{QUAD, line, strip},
    real::Real,
    tile::Tile,
};

/// `sums[i][y_j] −= s_ij`, `sums[j][y_i] −= s_ij`, and the sums of the slopes.
pub(super) struct Scatter<'a, T> {
    pub tile: &'a Tile,
    pub d: usize,
    /// `s`, `[strip][row][column]`.
    pub slope: &'a [T],
    /// Sorted and padded: neighbours mostly share theirs.
    pub labels: &'a [u32],
    /// `[strip][c][column]`
    pub sums: &'a mut [T],
    pub slope_sums: &'a mut [T],
}

impl<T: Real> WithSimd for Scatter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (width, all_labels) = (strip::<T>(), self.labels);
        let quads = self.tile.quads::<T>();
        let strips = self.tile.strips.clone();
        let quads = strips.flat_map(|strip| quads.clone().map(move |row| (strip, row)));
        for ((strip, row), slope) in quads.zip(self.slope.chunks_exact(QUAD * width)) {
            let labels = &all_labels[row..row + QUAD];
            if labels[0] == labels[QUAD - 1] {
                self.add_to_columns::<S, QUAD>(simd, slope, strip, labels[0]);
            } else {
                for (slope, &label) in slope.chunks_exact(width).zip(labels) {
                    self.add_to_columns::<S, 1>(simd, slope, strip, label);
                }
            }
            let column_labels = &all_labels[strip * width..][..width];
            if column_labels[0] == column_labels[width - 1] {
                let mut totals = [T::new(0.0); QUAD];
                for (total, slope) in totals.iter_mut().zip(slope.chunks_exact(width)) {
                    let mut sum = T::splat(simd, T::new(0.0));
                    for &s in T::lanes::<S>(slope) {
                        sum = T::add(simd, sum, s);
                    }
                    *total = T::sum(simd, sum);
                }
                self.add_to_rows(row, column_labels[0], totals);
            } else {
                self.by_runs(row, column_labels, slope);
            }
        }
    }
}

impl<T: Real> Scatter<'_, T> {
    /// `N` rows that share a label.
    #[inline(always)]
    fn add_to_columns<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        slope: &[T],
        index: usize,
        label: u32,
    ) {
        let (width, line) = (strip::<T>(), line::<T, S>());
        let slope = &T::lanes::<S>(slope)[..N * line];
        let sums = &mut self.sums[(index * self.d + label as usize) * width..][..width];
        let slope_sums = &mut self.slope_sums[index * width..][..width];
        let sums = T::lanes_mut::<S>(sums)
            .iter_mut()
            .zip(T::lanes_mut::<S>(slope_sums));
        for (v, (sum, slope_sum)) in (0..line).zip(sums) {
            let mut total = slope[v];
            for n in 1..N {
                total = T::add(simd, total, slope[n * line + v]);
            }
            *sum = T::sub(simd, *sum, total);
            *slope_sum = T::add(simd, *slope_sum, total);
        }
    }

    /// Columns with several labels: the sums of each run of equal ones.
    fn by_runs(&mut self, row: usize, labels: &[u32], slope: &[T]) {
        let zero = [T::new(0.0); QUAD];
        let (mut totals, mut of) = (zero, labels[0]);
        for (j, &label) in labels.iter().enumerate() {
            if label != of {
                self.add_to_rows(row, of, totals);
                (totals, of) = (zero, label);
            }
            for (q, total) in totals.iter_mut().enumerate() {
                *total = total.plus(slope[q * labels.len() + j]);
            }
        }
        self.add_to_rows(row, of, totals);
    }

    /// Sums of a quad over columns that share a label.
    fn add_to_rows(&mut self, row: usize, label: u32, totals: [T; QUAD]) {
        let width = strip::<T>();
        let start = row / width * width * self.d + label as usize * width + row % width;
        for (q, total) in totals.into_iter().enumerate() {
            let sum = &mut self.sums[start + q];
            *sum = sum.minus(total);
            self.slope_sums[row + q] = self.slope_sums[row + q].plus(total);
        }
    }
}
