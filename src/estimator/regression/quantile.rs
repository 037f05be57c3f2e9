use burn::tensor::Tensor;

use super::checks::{ObservedMarginals, check_levels};
use crate::{
    distribution::{HostMarginals, Marginals},
    error::Result,
    estimator::Estimator,
};

/// The calibration of quantiles: how often the target is at most the predicted quantile, at each of some
/// levels, over all samples and coordinates.
///
/// Source: Kuleshov et al. 2018. A calibrated model has frequencies equal to the levels; the reverse
/// does not hold. The default levels are 0.05, 0.1, …, 0.95.
///
/// For counts, and for predictions by a few draws, the probability of a target at most at a quantile is
/// above the level, by up to the step of the distribution function there. Such a target counts by the share
/// of its randomised transforms `F(y−) + v P(Y = y)`, `0 ≤ v ≤ 1`, that are at most the level (Czado,
/// Gneiting and Held 2009), so that the frequency of a calibrated model is the level. It lies between the
/// frequencies of targets below the quantile and of those at most there. For `S` draws the transform is the
/// rank among them, see [`HostMarginals::transform`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct QuantileCalibration {
    levels: Vec<f64>,
}

impl Default for QuantileCalibration {
    fn default() -> Self {
        Self {
            levels: usual_levels(),
        }
    }
}

impl QuantileCalibration {
    /// Compares frequencies with the given levels.
    ///
    /// # Errors
    ///
    /// No levels, or one that is not between 0 and 1.
    pub fn new(levels: Vec<f64>) -> Result<Self> {
        check_levels(&levels)?;
        Ok(Self { levels })
    }

    /// The observed frequency at each level.
    pub fn curve<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<QuantileCurve> {
        let (predictions, weights) = predictions.parted();
        let (observed, d) = (
            ObservedMarginals::new(&predictions, targets)?,
            predictions.dimensions(),
        );
        let mut sums = vec![0.0; self.levels.len()];
        for (at, &y) in observed.targets.iter().enumerate() {
            let step = CdfStep::of(&*observed.marginals, at, y);
            for (sum, &level) in sums.iter_mut().zip(&self.levels) {
                let share = match &step {
                    Some(step) => step.share_up_to(level),
                    None => {
                        let is_below = at_most_quantile(&*observed.marginals, at, y, level);
                        f64::from(u8::from(is_below))
                    }
                };
                *sum += weights.at(at / d) * share;
            }
        }
        let total = weights.total(predictions.len()) * d as f64;
        let point = |(&level, &sum): (&f64, &f64)| QuantilePoint {
            level,
            frequency: sum / total,
        };
        Ok(QuantileCurve {
            points: self.levels.iter().zip(&sums).map(point).collect(),
        })
    }
}

impl<P: Marginals> Estimator<P> for QuantileCalibration {
    /// The mean over the levels of `|frequency − level|`, see [`QuantileCurve::mean_absolute_error`].
    fn estimate(&self, predictions: &P, targets: &Tensor<2>) -> Result<f64> {
        Ok(self.curve(predictions, targets)?.mean_absolute_error())
    }
}

/// The ends of the step of a distribution function at a target: of its randomised transform.
pub(super) struct CdfStep {
    low: f64,
    high: f64,
}

impl CdfStep {
    /// None where the distribution function has no step there.
    pub fn of(marginals: &dyn HostMarginals, at: usize, y: f64) -> Option<Self> {
        let [low, high] = [0.0, 1.0].map(|v| marginals.transform(at, y, v));
        (low < high).then_some(Self { low, high })
    }

    /// The share of the step at most at a level.
    pub fn share_up_to(&self, level: f64) -> f64 {
        ((level - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Returns whether `y ≤ F⁻¹(level)` where there is no step, without the quantile where `F(y)` is clearly
/// off the level.
fn at_most_quantile(marginals: &dyn HostMarginals, at: usize, y: f64, level: f64) -> bool {
    let up_to = marginals.tails(at, y).lower;
    if up_to < level - ROUNDING {
        return true;
    }
    if up_to > level + ROUNDING {
        return false;
    }
    y <= marginals.quantile(at, level)
}

/// Beyond the rounding of a distribution function.
const ROUNDING: f64 = 1e-9;

/// The frequencies of targets that are at most the predicted quantiles.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[must_use]
pub struct QuantileCurve {
    /// A point for each level, in the order given.
    pub points: Vec<QuantilePoint>,
}

/// A point of a [`QuantileCurve`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct QuantilePoint {
    /// The level of the predicted quantiles.
    pub level: f64,
    /// The share of targets at most at these quantiles, of steps in part.
    pub frequency: f64,
}

impl QuantileCurve {
    /// `L⁻¹ Σ_l |frequency_l − level_l|`: biased upward for a calibrated model, by `O(n^{−½})`.
    pub fn mean_absolute_error(&self) -> f64 {
        self.mean(f64::abs)
    }

    /// `L⁻¹ Σ_l (frequency_l − level_l)²`, the calibration error of Kuleshov et al. except for the mean in
    /// place of a sum.
    pub fn mean_squared_error(&self) -> f64 {
        self.mean(|error| error * error)
    }

    fn mean(&self, f: impl Fn(f64) -> f64) -> f64 {
        let errors = self.points.iter().map(|p| f(p.frequency - p.level));
        errors.sum::<f64>() / self.points.len() as f64
    }
}

/// 0.05, 0.1, …, 0.95.
pub(super) fn usual_levels() -> Vec<f64> {
    (1..20).map(|level| f64::from(level) / 20.0).collect()
}
