//! Exponents of the Gaussian kernel from the inner products of residuals, which saves a product of
//! matrices.
//!
//! With `δ = e_y − p` the points have `p_i·p_j = δ_i·δ_j + 1[y_i = y_j] − δ_i[y_j] − δ_j[y_i]`, and
//! `−½|p_i − p_j|² = p_i·p_j − ½|p_i|² − ½|p_j|²`. An exponent needs digits after the point alone, which
//! it has where the bandwidth is not small against a residual; the inner product of residuals needs all
//! of its digits, and has no such recovery from that of points.

use pulp::{Simd, WithSimd};

use super::{LongTile, panels::Panels};
use crate::ops::pairs::simd::{aligned::Aligned, arch::Arch, layout::Rows, real::Real};

/// What exponents take besides the inner products of residuals.
pub(in crate::ops::pairs::simd) struct Exponents<'a, T> {
    /// The label of each sample, padded.
    pub labels: &'a [u32],
    /// `−½ |p|²` of each point, padded.
    pub halves: Aligned<T>,
}

impl<T: Real> Exponents<'_, T> {
    /// Writes `−½ |p_i − p_j|²` for the pairs of a tile, from `δ_i·δ_j`; all `[row][column]`.
    pub(super) fn write(
        &self,
        tile: &LongTile,
        residuals: &Rows<T>,
        side_by_side: &Panels<T>,
        products: &[T],
        exponents: &mut [T],
    ) {
        let LongTile { rows, columns } = tile;
        let width = columns.len();
        let lines = exponents.chunks_exact_mut(width);
        for ((i, line), products) in rows.clone().zip(lines).zip(products.chunks_exact(width)) {
            let label = self.labels[i];
            Arch::new().dispatch(Line {
                label,
                residual: residuals.row(i),
                own: self.halves[i],
                labels: &self.labels[columns.clone()],
                halves: &self.halves[columns.clone()],
                of_label: side_by_side.coordinate(label as usize, columns),
                products,
                exponents: line,
            });
        }
    }
}

/// One sample `i` with others, `j`.
struct Line<'a, T> {
    /// `y_i`
    label: u32,
    /// `δ_i`
    residual: &'a [T],
    /// `−½ |p_i|²`
    own: T,
    /// `y_j`
    labels: &'a [u32],
    /// `−½ |p_j|²`
    halves: &'a [T],
    /// `δ_j[y_i]`
    of_label: &'a [T],
    /// `δ_i·δ_j`
    products: &'a [T],
    exponents: &'a mut [T],
}

impl<T: Real> WithSimd for Line<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, &y) in self.exponents.iter_mut().zip(self.labels) {
            let same = T::new(f64::from(y == self.label));
            *x = same.minus(self.residual[y as usize]);
        }
        let others = self.products.iter().zip(self.of_label).zip(self.halves);
        for (x, ((&product, &other), &half)) in self.exponents.iter_mut().zip(others) {
            let inner = product.plus(x.minus(other));
            *x = inner.plus(self.own.plus(half));
        }
    }
}
