//! `zᵀ C⁻¹ z` for a covariance that may be singular.

use nalgebra::{DMatrix, DVector};

/// `zᵀ C⁺ z` with the pseudo-inverse, and the rank of `C`.
pub(super) struct QuadraticForm {
    pub value: f64,
    pub rank: usize,
}

impl QuadraticForm {
    /// The form, by the eigenvalues of the correlation matrix of `C`.
    ///
    /// Eigenvalues below `tolerance` count as 0, and so do variances below `tolerance · scale`,
    /// which are those that rounding may have left. A coordinate without variance adds nothing if
    /// it is 0 up to rounding, and makes the form infinite if it is not: that cannot happen.
    ///
    /// - z: `[d]`, covariance: `[d, d]`, scale: `[d]`, a size to compare each variance with
    pub fn new(z: &[f64], covariance: &DMatrix<f64>, scale: &[f64], tolerance: f64) -> Self {
        let varies = |&i: &usize| covariance[(i, i)] > tolerance * scale[i];
        let impossible = |i: usize| !varies(&i) && z[i] * z[i] > IMPOSSIBLE * scale[i];
        if (0..z.len()).any(impossible) {
            return Self {
                value: f64::INFINITY,
                rank: 0,
            };
        }
        let kept: Vec<usize> = (0..z.len()).filter(varies).collect();
        if kept.is_empty() {
            return Self {
                value: 0.0,
                rank: 0,
            };
        }
        let deviation = |i: usize| covariance[(i, i)].sqrt();
        let z = DVector::from_iterator(kept.len(), kept.iter().map(|&i| z[i] / deviation(i)));
        let correlation = DMatrix::from_fn(kept.len(), kept.len(), |a, b| {
            let (i, j) = (kept[a], kept[b]);
            covariance[(i, j)] / (deviation(i) * deviation(j))
        });
        let eigen = correlation.symmetric_eigen();
        let coordinates = eigen.eigenvectors.tr_mul(&z);
        let terms: Vec<f64> = eigen
            .eigenvalues
            .iter()
            .zip(&coordinates)
            .filter(|(eigenvalue, _)| **eigenvalue > tolerance)
            .map(|(eigenvalue, z)| z * z / eigenvalue)
            .collect();
        Self {
            value: terms.iter().sum(),
            rank: terms.len(),
        }
    }
}

/// A coordinate whose square is at most this part of its scale is 0 up to rounding.
const IMPOSSIBLE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: f64 = 1e-10;

    #[test]
    fn by_hand() {
        // C = [[2, 1], [1, 2]], C⁻¹ = [[2, −1], [−1, 2]]/3
        let c = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]);
        let form = QuadraticForm::new(&[1.0, 3.0], &c, &[2.0, 2.0], TOLERANCE);
        assert!((form.value - (2.0 - 6.0 + 18.0) / 3.0).abs() < 1e-12);
        assert_eq!(form.rank, 2);
    }

    #[test]
    fn a_repeated_coordinate_counts_once() {
        let c = DMatrix::from_row_slice(2, 2, &[4.0, 8.0, 8.0, 16.0]);
        let form = QuadraticForm::new(&[1.0, 2.0], &c, &[4.0, 16.0], TOLERANCE);
        assert!((form.value - 0.25).abs() < 1e-12);
        assert_eq!(form.rank, 1);
    }

    #[test]
    fn without_variance() {
        let c = DMatrix::from_row_slice(2, 2, &[1e-17, 0.0, 0.0, 1.0]);
        let form = QuadraticForm::new(&[1e-9, 2.0], &c, &[1.0, 1.0], TOLERANCE);
        assert_eq!((form.value, form.rank), (4.0, 1));
        let form = QuadraticForm::new(&[1.0, 2.0], &c, &[1.0, 1.0], TOLERANCE);
        assert_eq!(form.value, f64::INFINITY);
        let form = QuadraticForm::new(&[1e-9], &DMatrix::zeros(1, 1), &[1.0], TOLERANCE);
        assert_eq!((form.value, form.rank), (0.0, 0));
    }
}
