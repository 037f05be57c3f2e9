use burn::tensor::Tensor;

use super::checks::{Observed, check_level};
use crate::{distribution::Marginals, error::Result, estimator::MeanEstimate};

/// Coverage and width of the central prediction intervals `[F⁻¹((1−γ)/2), F⁻¹((1+γ)/2)]` at level `γ`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct IntervalCoverage {
    /// The level `γ`, which is the coverage if the model is calibrated.
    pub level: f64,
    /// The share of targets within, their ends included; of the coordinates of a sample their mean.
    pub coverage: MeanEstimate,
    /// The mean width, in units of the targets: sharpness. Among calibrated models less is better.
    pub width: MeanEstimate,
}

impl IntervalCoverage {
    /// Estimates coverage and width; a level that is not between 0 and 1 is an error.
    pub fn estimate<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        level: f64,
    ) -> Result<Self> {
        check_level(level)?;
        let observed = Observed::new(predictions, targets)?;
        let end = |at, level| observed.marginals.quantile(at, level);
        let ends = |at| (end(at, 0.5 - 0.5 * level), end(at, 0.5 + 0.5 * level));
        let covered = |at, y| {
            let (low, high) = ends(at);
            f64::from(low <= y && y <= high)
        };
        let width = |at, _| {
            let (low, high) = ends(at);
            high - low
        };
        Ok(Self {
            level,
            coverage: MeanEstimate::of(&observed.means(covered)),
            width: MeanEstimate::of(&observed.means(width)),
        })
    }
}
