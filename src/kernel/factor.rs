//! Cholesky factors of symmetric positive semi-definite matrices.

use crate::error::{Error, Result, check_values};

/// Relative to the largest entry of the matrix.
pub(super) const TOLERANCE: f64 = 1e-9;

pub(super) fn largest(matrix: &[Vec<f64>]) -> f64 {
    let entries = matrix.iter().flatten();
    entries.fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
}

/// Square, at least 2 × 2, finite and symmetric.
pub(super) fn check_symmetric(matrix: &[Vec<f64>]) -> Result<()> {
    let size = matrix.len();
    if size < 2 {
        return Err(Error::TooFewClasses { got: size });
    }
    for (row, entries) in matrix.iter().enumerate() {
        if entries.len() != size {
            return Err(Error::KernelMatrix {
                reason: format!(
                    "row {row} of the kernel matrix has {} entries, expected {size}, as many as rows",
                    entries.len()
                ),
            });
        }
    }
    let finite = (f64::is_finite, "a finite number");
    let what = "the entry of the kernel matrix";
    check_values(&matrix.concat(), (size, "class"), what, finite)?;
    let tolerance = TOLERANCE * largest(matrix);
    let below = (0..size).flat_map(|row| (0..row).map(move |column| (row, column)));
    for (row, column) in below {
        let (value, mirrored) = (matrix[row][column], matrix[column][row]);
        if (value - mirrored).abs() > tolerance {
            return Err(Error::KernelMatrix {
                reason: format!(
                    "the kernel matrix is {value} at ({row}, {column}) and {mirrored} at ({column}, {row}), expected a symmetric matrix"
                ),
            });
        }
    }
    Ok(())
}

/// The columns of `L` with `M = L Lᵀ`, by a Cholesky decomposition that takes the largest diagonal
/// entry next and stops where none is left: what remains of a positive semi-definite matrix is 0.
pub(super) fn factor(matrix: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let size = matrix.len();
    let tolerance = TOLERANCE * largest(matrix);
    let symmetric = |i: usize, j: usize| 0.5 * (matrix[i][j] + matrix[j][i]);
    let row = |i| (0..size).map(|j| symmetric(i, j)).collect();
    let mut rest: Vec<Vec<f64>> = (0..size).map(row).collect();
    let mut columns = Vec::new();
    for _ in 0..size {
        let by_diagonal = |i: &usize, j: &usize| rest[*i][*i].total_cmp(&rest[*j][*j]);
        let pivot = (0..size).max_by(by_diagonal).expect("not empty");
        let value = rest[pivot][pivot];
        if value <= tolerance {
            break;
        }
        let column: Vec<f64> = rest[pivot].iter().map(|a| a / value.sqrt()).collect();
        for (row, a) in rest.iter_mut().zip(&column) {
            row.iter_mut()
                .zip(&column)
                .for_each(|(entry, b)| *entry -= a * b);
        }
        columns.push(column);
    }
    match (0..size).find(|&row| largest(&rest[row..=row]) > tolerance) {
        Some(row) => Err(Error::KernelMatrix {
            reason: format!(
                "the kernel matrix is not positive semi-definite: its Cholesky decomposition fails in row {row}"
            ),
        }),
        None => Ok(columns),
    }
}
