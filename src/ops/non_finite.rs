//! Samples that are not finite. There is one rule for every pass, whatever the instruction set: such a sample
//! makes its own row and column of a matrix NaN; a sum over pairs, and its gradient, are NaN if the sample is
//! in one of the pairs. Nothing else changes. Vectors may pass over what is not a number, so that results are
//! filled in after a pass.

use super::simd::real::Real;

/// The rows, `[n, width]`, that hold a number that is not finite.
pub(super) fn non_finite_rows<T: Real>(
    numbers: &[T],
    width: usize,
) -> impl Iterator<Item = usize> + '_ {
    let rows = numbers.chunks(width.max(1)).enumerate();
    let is_finite = |row: &[T]| row.iter().all(|x| x.to_f64().is_finite());
    rows.filter(move |(_, row)| !is_finite(row))
        .map(|(index, _)| index)
}

/// Makes some rows and columns of a matrix, `[n, k]`, NaN.
pub(super) fn poison<T: Real>(
    matrix: &mut [T],
    k: usize,
    rows: impl Iterator<Item = usize>,
    columns: impl Iterator<Item = usize>,
) {
    let nan = T::new(f64::NAN);
    rows.for_each(|i| matrix[i * k..][..k].fill(nan));
    for j in columns {
        matrix.iter_mut().skip(j).step_by(k).for_each(|x| *x = nan);
    }
}

/// Makes the sum of each block of `size` consecutive samples that holds one of the rows NaN, and its part of
/// gradients, `[n, width]`, where there are some.
pub(super) fn poison_blocks<T: Real>(
    rows: impl Iterator<Item = usize>,
    size: usize,
    (values, stretch): (&mut [f64], &mut f64),
    mut gradients: [(&mut [T], usize); 2],
) {
    for block in rows.map(|row| row / size) {
        let Some(value) = values.get_mut(block) else {
            continue; // a sample in no block
        };
        (*value, *stretch) = (f64::NAN, f64::NAN);
        for (gradient, width) in &mut gradients {
            if !gradient.is_empty() {
                let numbers = size * *width;
                gradient[block * numbers..][..numbers].fill(T::new(f64::NAN));
            }
        }
    }
}
