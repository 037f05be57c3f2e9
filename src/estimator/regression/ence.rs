use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::{
    distribution::{Batch as _, Marginals, Weights},
    error::{Result, check_values},
    estimator::{Binning, Estimator},
    host::{rounding, to_vec},
    numbers::tied,
};

/// The expected normalised calibration error of predicted standard deviations,
///
/// `B⁻¹ Σ_b |RMV_b − RMSE_b|/RMV_b`,
///
/// over bins of equal mass by predicted standard deviation `σ`: the root of the mean variance,
/// `RMV_b² = mean σ²`, against the root of the mean squared error, `RMSE_b² = mean (y − μ)²`. Coordinates
/// are binned together.
///
/// Without units. For a calibrated model biased upward, by `O((n/B)^{−½})`: it grows with the number of
/// bins (Pernot 2023). It sees mean and variance only.
///
/// Source: Levi et al. 2022, equations 7 and 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Ence {
    /// The number `B` of bins, fewer where standard deviations are equal.
    pub bins: usize,
}

/// Samples of similar predicted standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct VarianceBin {
    /// The number of samples, times coordinates.
    pub size: usize,
    /// `RMV`, the root of the mean predicted variance.
    pub root_mean_variance: f64,
    /// `RMSE`, the root of the mean squared error of the predicted means.
    pub root_mean_squared_error: f64,
}

impl Default for Ence {
    fn default() -> Self {
        Self { bins: 15 }
    }
}

impl Ence {
    /// Creates the estimator with this number of bins.
    pub fn new(bins: usize) -> Self {
        Self { bins }
    }

    /// The bins, in the order of increasing standard deviation: what a reliability diagram of regression
    /// shows.
    /// The errors are those of [`estimate`](Self::estimate).
    pub fn bins<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<Vec<VarianceBin>> {
        let Errors { errors, deviations } = errors_and_deviations(predictions, targets)?;
        let rounding = rounding(predictions.dtype());
        let points = tied(&deviations, |at| rounding * deviations[at]);
        let partition = Binning::EqualMass { bins: self.bins }.partition_weighted(
            &points,
            1,
            &Weights::default(),
        )?;
        let root_mean_square = |members: &[usize], values: &[f64]| {
            let sum: f64 = members.iter().map(|&i| values[i] * values[i]).sum();
            (sum / members.len() as f64).sqrt()
        };
        let bin = |members: &Vec<usize>| VarianceBin {
            size: members.len(),
            root_mean_variance: root_mean_square(members, &deviations),
            root_mean_squared_error: root_mean_square(members, &errors),
        };
        Ok(partition.iter().map(bin).collect())
    }
}

impl<P: Marginals> Estimator<P> for Ence {
    /// The estimate from data; no bins and a predicted variance of 0 are errors.
    fn estimate(&self, predictions: &P, targets: &Tensor<2>) -> Result<f64> {
        let bins = self.bins(predictions, targets)?;
        let error = |bin: &VarianceBin| {
            (bin.root_mean_variance - bin.root_mean_squared_error).abs() / bin.root_mean_variance
        };
        Ok(bins.iter().map(error).sum::<f64>() / bins.len() as f64)
    }
}

/// Errors `y − μ` and standard deviations `σ > 0`, `n × d` each.
struct Errors {
    errors: Vec<f64>,
    deviations: Vec<f64>,
}

fn errors_and_deviations<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Result<Errors> {
    predictions.check()?;
    let predictions = predictions.detach();
    let targets = predictions.checked_targets(targets)?.into_iter();
    let pairs = targets.zip(to_vec(predictions.means()));
    let errors = pairs.map(|(y, mean)| y - mean).collect();
    let variances = predictions.variances();
    let d = variances.dims()[1];
    let deviations: Vec<f64> = to_vec(variances).into_iter().map(f64::sqrt).collect();
    let positive = (|deviation| deviation > 0.0, "a positive number");
    check_values(&deviations, (d, "coordinate"), "the scale", positive)?;
    Ok(Errors { errors, deviations })
}
