use burn::tensor::Tensor;

use super::{
    checks::{Observed, check_level},
    quantile::Step,
};
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
    /// The share of targets within, which is the level if the model is calibrated; of the coordinates of a
    /// sample their mean. A target at an end that is a step of its distribution function, as of counts and
    /// of draws, counts in part, as in [`QuantileCalibration`](super::QuantileCalibration).
    pub coverage: MeanEstimate,
    /// The mean width, in units of the targets: sharpness. Among calibrated models less is better.
    pub width: MeanEstimate,
}

impl IntervalCoverage {
    /// For each sample the share of its coordinates within the central interval at a level `γ`: the numbers whose mean is [`coverage`](Self::coverage).
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

    /// For each sample the share of its coordinates within the interval.
    fn covered(&self, level: f64) -> Vec<f64> {
        self.means(|at, y| match Step::of(&*self.marginals, at, y) {
            Some(step) => {
                let [below, up_to] = central(level).map(|level| step.share_up_to(level));
                up_to - below
            }
            None => {
                let [low, high] = self.ends(at, level);
                f64::from(u8::from(low <= y && y <= high))
            }
        })
    }
}
