//! `zᵀ C⁻¹ z` for a covariance that may be singular.

use nalgebra::{DMatrix, DVector};

/// `zᵀ C⁺ z` with the pseudo-inverse of a covariance.
pub(super) struct QuadraticForm {
    /// The coordinates that vary, and their deviations.
    kept: Vec<(usize, f64)>,
    /// Eigenvectors of the correlation matrix over the roots of their eigenvalues, as columns.
    whitening: DMatrix<f64>,
}

impl QuadraticForm {
    /// The form, by the eigenvalues of the correlation matrix of `C`.
    ///
    /// Variances up to `tolerances[0] · scale` count as 0, and their coordinates are dropped; so do
    /// eigenvalues up to `tolerances[1]`. Both are those that rounding may have left.
    ///
    /// - covariance: `[d, d]`, scale: `[d]`, a size to compare each variance with
    pub fn new(covariance: &DMatrix<f64>, scale: &[f64], tolerances: [f64; 2]) -> Self {
        let kept: Vec<(usize, f64)> = (0..scale.len())
            .filter(|&i| covariance[(i, i)] > tolerances[0] * scale[i])
            .map(|i| (i, covariance[(i, i)].sqrt()))
            .collect();
        if kept.is_empty() {
            return Self {
                kept,
                whitening: DMatrix::zeros(0, 0),
            };
        }
        let correlation = DMatrix::from_fn(kept.len(), kept.len(), |a, b| {
            let ((i, deviation), (j, other)) = (kept[a], kept[b]);
            covariance[(i, j)] / (deviation * other)
        });
        let eigen = correlation.symmetric_eigen();
        let columns: Vec<DVector<f64>> = eigen
            .eigenvalues
            .iter()
            .zip(eigen.eigenvectors.column_iter())
            .filter(|(eigenvalue, _)| **eigenvalue > tolerances[1])
            .map(|(eigenvalue, vector)| vector / eigenvalue.sqrt())
            .collect();
        Self {
            kept,
            whitening: DMatrix::from_columns(&columns),
        }
    }

    /// The rank of `C`.
    pub fn rank(&self) -> usize {
        self.whitening.ncols()
    }

    /// `zᵀ C⁺ z`, in which coordinates without variance do not count.
    ///
    /// - z: `[d]`
    pub fn value(&self, z: &[f64]) -> f64 {
        let scaled = self.kept.iter().map(|&(i, deviation)| z[i] / deviation);
        let z = DVector::from_iterator(self.kept.len(), scaled);
        self.whitening.tr_mul(&z).norm_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCES: [f64; 2] = [1e-10; 2];

    #[test]
    fn by_hand() {
        // C = [[2, 1], [1, 2]], C⁻¹ = [[2, −1], [−1, 2]]/3
        let c = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]);
        let form = QuadraticForm::new(&c, &[2.0, 2.0], TOLERANCES);
        assert!((form.value(&[1.0, 3.0]) - (2.0 - 6.0 + 18.0) / 3.0).abs() < 1e-12);
        assert_eq!(form.rank(), 2);
    }

    #[test]
    fn a_repeated_coordinate_counts_once() {
        let c = DMatrix::from_row_slice(2, 2, &[4.0, 8.0, 8.0, 16.0]);
        let form = QuadraticForm::new(&c, &[4.0, 16.0], TOLERANCES);
        assert!((form.value(&[1.0, 2.0]) - 0.25).abs() < 1e-12);
        assert_eq!(form.rank(), 1);
    }

    #[test]
    fn without_variance() {
        let c = DMatrix::from_row_slice(2, 2, &[1e-17, 0.0, 0.0, 1.0]);
        let form = QuadraticForm::new(&c, &[1.0, 1.0], TOLERANCES);
        assert_eq!((form.value(&[1e-9, 2.0]), form.rank()), (4.0, 1));
        assert_eq!(form.value(&[1.0, 2.0]), 4.0);
        let form = QuadraticForm::new(&DMatrix::zeros(1, 1), &[1.0], TOLERANCES);
        assert_eq!((form.value(&[1e-9]), form.rank()), (0.0, 0));
    }
}
