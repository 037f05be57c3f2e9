//! The quadratic estimators of the SKCE on many data sets that share their predictions.
//!
//! A data set has samples `s` with rows `i_s` and labels `y_s`. Let `D_i = Σ_{s: i_s = i} δ_s` be the
//! sum of the residuals of those with row `i`, a vector of `ℝ^m`. Then
//! `Σ_{s,t} h_st = Σ_ij k(p_i, p_j) D_iᵀD_j`: the residuals change from one data set to the other,
//! the Gram matrix of the rows does not, and the columns of all `D` are multiplied with it at once.

use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    Resample,
    sums::{add, quadratic_forms},
};
use crate::{
    error::{Result, check_samples},
    estimator::{Skce, SkceForm},
    host::{tensor_like, to_vec},
};

/// Numbers in the residuals `D` of the data sets that are held at once, on the host and the device.
const BATCH: usize = 1 << 21;

/// The biased or unbiased estimate of each of `count` data sets.
///
/// - skce: with a fixed bandwidth
/// - points: `[n, m]`
pub(super) fn replicates(
    skce: &Skce,
    points: &Tensor<2>,
    count: usize,
    draw: &mut dyn FnMut() -> Resample,
) -> Result<Vec<f64>> {
    let [n, m] = points.dims();
    let rows = to_vec(points.clone());
    let batch = (BATCH / (n * m)).max(1);
    let mut estimates = Vec::with_capacity(count);
    while estimates.len() < count {
        let wanted = batch.min(count - estimates.len());
        let sets: Vec<Resample> = (0..wanted).map(|_| draw()).collect();
        let totals = totals(skce, points, residual_sums(&rows, m, &sets), sets.len());
        for (set, total) in sets.iter().zip(totals) {
            estimates.push(estimate(skce.form, total, set, &rows, m)?);
        }
    }
    Ok(estimates)
}

/// `D` of each data set side by side: `n × (R·m)` in row-major order.
fn residual_sums(points: &[f64], m: usize, sets: &[Resample]) -> Vec<f64> {
    let width = sets.len() * m;
    let mut sums = vec![0.0; points.len() * sets.len()];
    for (r, set) in sets.iter().enumerate() {
        for (s, &label) in set.targets.iter().enumerate() {
            let row = set.row(s);
            let sum = &mut sums[row * width + r * m..][..m];
            add(sum, -1.0, &points[row * m..][..m]);
            sum[label] += 1.0;
        }
    }
    sums
}

/// `Σ_ij k(p_i, p_j) D_iᵀD_j` for each of `R` data sets.
fn totals(skce: &Skce, points: &Tensor<2>, sums: Vec<f64>, sets: usize) -> Vec<f64> {
    let [n, m] = points.dims();
    let sums = tensor_like(sums, [n, sets * m], points);
    quadratic_forms(&sums, sets, |tile| {
        let part = |rows: &Range<usize>| points.clone().slice(rows.clone()).unsqueeze();
        let gram = skce.kernel.between(part(&tile.rows), part(&tile.columns));
        gram.squeeze_dim(0)
    })
}

/// The estimate from `Σ_st h_st`; the diagonal is `h_ss = ‖δ_s‖² = 1 − 2 p[y] + ‖p‖²`.
fn estimate(form: SkceForm, total: f64, set: &Resample, points: &[f64], m: usize) -> Result<f64> {
    let samples = set.targets.len();
    let size = samples as f64;
    if form == SkceForm::Biased {
        return Ok(total / (size * size));
    }
    check_samples("an unbiased estimate of the SKCE", 2, samples)?;
    let square = |(s, &label): (usize, &usize)| {
        let p = &points[set.row(s) * m..][..m];
        1.0 - 2.0 * p[label] + p.iter().map(|p| p * p).sum::<f64>()
    };
    let diagonal: f64 = set.targets.iter().enumerate().map(square).sum();
    Ok((total - diagonal) / (size * (size - 1.0)))
}

impl Resample {
    /// The row of a sample.
    fn row(&self, sample: usize) -> usize {
        self.rows.as_ref().map_or(sample, |rows| rows[sample])
    }
}
