use burn::tensor::Tensor;

use super::checks::{Observed, check_level};
use crate::{
    distribution::{Marginals, central},
    error::Result,
    estimator::MeanEstimate,
};

/// Coverage and width of the central prediction intervals `[F⁻¹((1−γ)/2), F⁻¹((1+γ)/2)]` at level `γ`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct IntervalCoverage {
    /// The level `γ`.
    pub level: f64,
    /// The coverage if the model is calibrated: the level, but of predictions by draws, see
    /// [`HostMarginals::coverage`](crate::distribution::HostMarginals::coverage).
    pub expected: f64,
    /// The share of targets within, their ends included; of the coordinates of a sample their mean.
    pub coverage: MeanEstimate,
    /// The mean width, in units of the targets: sharpness. Among calibrated models less is better.
    pub width: MeanEstimate,
}

impl IntervalCoverage {
    /// For each sample the share of its coordinates within the central interval at a level `γ`, ends included:
    /// the numbers whose mean is [`coverage`](Self::coverage).
    ///
    /// # Errors
    ///
    /// Those of [`estimate`](Self::estimate).
    pub fn each<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        level: f64,
    ) -> Result<Vec<f64>> {
        check_level(level)?;
        let observed = Observed::new(predictions, targets)?;
        Ok(observed.covered(level))
    }

    /// Estimates coverage and width; a level that is not between 0 and 1 is an error.
    pub fn estimate<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        level: f64,
    ) -> Result<Self> {
        check_level(level)?;
        let observed = Observed::new(predictions, targets)?;
        let width = |at, _| {
            let [low, high] = observed.ends(at, level);
            high - low
        };
        Ok(Self {
            level,
            expected: observed.expected(level),
            coverage: MeanEstimate::of(&observed.covered(level)),
            width: MeanEstimate::of(&observed.means(width)),
        })
    }
}

impl Observed {
    /// The ends of the central interval at a level.
    fn ends(&self, at: usize, level: f64) -> [f64; 2] {
        central(level).map(|level| self.marginals.quantile(at, level))
    }

    /// The coverage of a calibrated model.
    fn expected(&self, level: f64) -> f64 {
        let each = self.means(|at, y| self.marginals.coverage(at, level, y));
        each.iter().sum::<f64>() / each.len() as f64
    }

    /// For each sample the share of its coordinates within the interval.
    fn covered(&self, level: f64) -> Vec<f64> {
        self.means(|at, y| {
            let [low, high] = self.ends(at, level);
            f64::from(low <= y && y <= high)
        })
    }
}
