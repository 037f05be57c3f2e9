use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{
    checks::{ObservedMarginals, check_level},
    quantile::CdfStep,
};
use crate::{
    distribution::{Marginals, central},
    error::Result,
    estimator::{Estimator, MeanEstimate},
};

/// Coverage and width of the central prediction intervals `[F⁻¹((1−γ)/2), F⁻¹((1+γ)/2)]` at level `γ`.
///
/// The [`estimate`](Estimator::estimate) is `|coverage − γ|`, which is 0, or small, if the model is
/// calibrated.
///
/// A level that is not between 0 and 1 is an error of each method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct IntervalCoverage {
    /// The level `γ`.
    pub level: f64,
}

impl IntervalCoverage {
    /// Takes the intervals at a level `γ`.
    pub fn new(level: f64) -> Self {
        Self { level }
    }

    /// The share of targets inside the interval, which is the level if the model is calibrated: the mean of
    /// [`each`](Self::each).
    pub fn coverage<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<MeanEstimate> {
        let (plain, weights) = predictions.parted();
        let each = self.each(&plain, targets)?;
        Ok(MeanEstimate::weighted(&each, &weights))
    }

    /// For each sample the share of its coordinates within its interval. A target at an end that is a step
    /// of its distribution function, as for counts and draws, counts in part, as in
    /// [`QuantileCalibration`](super::QuantileCalibration).
    pub fn each<P: Marginals>(&self, predictions: &P, targets: &Tensor<2>) -> Result<Vec<f64>> {
        check_level(self.level)?;
        let observed = ObservedMarginals::new(predictions, targets)?;
        Ok(
            observed.means(|at, y| match CdfStep::of(&*observed.marginals, at, y) {
                Some(step) => {
                    let [below, up_to] = central(self.level).map(|level| step.share_up_to(level));
                    up_to - below
                }
                None => {
                    let [low, high] = self.ends(&observed, at);
                    f64::from(u8::from(low <= y && y <= high))
                }
            }),
        )
    }

    /// The mean width, in units of the targets: sharpness. Among calibrated models less is better.
    pub fn width<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<MeanEstimate> {
        check_level(self.level)?;
        let (plain, weights) = predictions.parted();
        let observed = ObservedMarginals::new(&plain, targets)?;
        let width = |at, _| {
            let [low, high] = self.ends(&observed, at);
            high - low
        };
        Ok(MeanEstimate::weighted(&observed.means(width), &weights))
    }

    /// The ends of the interval of a coordinate of a sample.
    fn ends(&self, observed: &ObservedMarginals, at: usize) -> [f64; 2] {
        central(self.level).map(|level| observed.marginals.quantile(at, level))
    }
}

impl<P: Marginals> Estimator<P> for IntervalCoverage {
    fn estimate(&self, predictions: &P, targets: &Tensor<2>) -> Result<f64> {
        let coverage = self.coverage(predictions, targets)?;
        Ok((coverage.estimate - self.level).abs())
    }
}
