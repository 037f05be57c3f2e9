use burn::tensor::Tensor;

use super::checks::{errors_and_deviations, row_means};
use crate::{distribution::Marginals, error::Result, estimator::MeanEstimate};

/// Standardised errors `z = (y − μ)/σ`: of mean 0 and mean square 1 if the model is calibrated, whatever
/// the shape of its predictions.
///
/// A mean square above 1 tells of predictions that are too certain by a factor of its root, on average.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ZScores {
    /// The mean of `z`, over samples and coordinates.
    pub mean: MeanEstimate,
    /// The mean of `z²`.
    pub mean_square: MeanEstimate,
}

impl ZScores {
    /// Estimates both means; a predicted variance of 0 is an error.
    pub fn estimate<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Result<Self> {
        let (errors, deviations) = errors_and_deviations(predictions, targets)?;
        let scores: Vec<f64> = errors.iter().zip(&deviations).map(|(e, s)| e / s).collect();
        let squares: Vec<f64> = scores.iter().map(|z| z * z).collect();
        let mean = |values: &[f64]| MeanEstimate::of(&row_means(values, targets.dims()[1]));
        Ok(Self {
            mean: mean(&scores),
            mean_square: mean(&squares),
        })
    }

    /// The variance of `z`, `mean z² − (mean z)²`.
    pub fn variance(&self) -> f64 {
        self.mean_square.estimate - self.mean.estimate.powi(2)
    }

    /// The two-sided p-value of the hypothesis that `E z² = 1`, by the t-test of independent samples.
    pub fn p_value(&self) -> f64 {
        let excess = MeanEstimate {
            estimate: self.mean_square.estimate - 1.0,
            ..self.mean_square
        };
        excess.p_value()
    }
}
