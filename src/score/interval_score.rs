use burn::tensor::{Tensor, s};

use super::{MeanEstimate, Score};
use crate::{
    distribution::{Batch as _, Predictive, QuantileForecasts, Weighted as _},
    error::{Error, Result},
    estimator::regression::pinball,
    host::to_vec,
};

/// The weighted interval score of quantile forecasts: twice the pinball score `max(τ(y − q), (τ − 1)(y − q))`,
/// averaged over the levels `τ`, in units of the targets.
///
/// With levels in pairs `α/2` and `1 − α/2`, with or without the median, it is that of Bracher et al. 2021,
/// `(½|y − m| + Σ_k α_k/2 · IS_k)/(K + ½)` of the interval scores `IS_k` of the `K` central intervals, and
/// approximates the CRPS. That is the convention of scoringutils, where the median has half the weight of an interval.
///
/// Proper for the quantiles; the infimum of its entropy is 0. Scores of forecasts at different levels are different
/// scores.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::QuantileForecasts, score::{Score, WeightedIntervalScore}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let quantiles = Tensor::<2>::from_floats([[1.0, 3.0, 8.0]], &device);
/// let forecasts = QuantileForecasts::new(vec![0.25, 0.5, 0.75], quantiles)?;
/// let targets = Tensor::<2>::from_floats([[10.0]], &device);
/// let parts = WeightedIntervalScore.parts(&forecasts, &targets)?;
/// // (½ · 7 + ¼ · (8 − 1) + (10 − 8))/1.5
/// let score = WeightedIntervalScore.mean(&forecasts, &targets)?.estimate;
/// assert!((score - 7.25 / 1.5).abs() < 1e-6);
/// assert!((parts.dispersion.estimate - 1.75 / 1.5).abs() < 1e-6);
/// assert!((parts.underprediction.estimate - 5.5 / 1.5).abs() < 1e-6);
/// assert_eq!(parts.overprediction.estimate, 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WeightedIntervalScore;

/// The parts of a [`WeightedIntervalScore`], which sum up to it (Bracher et al. 2021).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
#[must_use]
pub struct IntervalScoreParts {
    /// The weighted widths of the central intervals: sharpness, without the targets.
    pub dispersion: MeanEstimate,
    /// The distances of targets below intervals and medians: forecasts that are too high.
    pub overprediction: MeanEstimate,
    /// The distances of targets above them: forecasts that are too low.
    pub underprediction: MeanEstimate,
}

impl Score<QuantileForecasts> for WeightedIntervalScore {
    fn name(&self) -> &'static str {
        "weighted interval score"
    }

    fn values(&self, forecasts: &QuantileForecasts, targets: &Tensor<2>) -> Tensor<1> {
        pinball(forecasts.values(), column(targets), forecasts.levels()) * 2.0
    }
}

impl WeightedIntervalScore {
    /// The parts of the mean score, from data.
    ///
    /// # Errors
    ///
    /// Forecasts or targets that are not valid, with the row; a level `τ ≠ ½` without its counterpart `1 − τ`.
    pub fn parts(
        &self,
        forecasts: &QuantileForecasts,
        targets: &Tensor<2>,
    ) -> Result<IntervalScoreParts> {
        let (forecasts, weights) = forecasts.parted();
        forecasts.check()?;
        let targets = forecasts.checked_targets(targets)?;
        let (levels, pairs) = (forecasts.levels(), forecasts.central_intervals());
        let is_paired = |k: &usize| pairs.iter().any(|pair| pair.contains(k));
        let single: Vec<usize> = (0..levels.len()).filter(|k| !is_paired(k)).collect();
        if let Some(k) = single.iter().find(|&&k| levels[k] != 0.5) {
            return Err(Error::Unsupported {
                what: format!(
                    "the parts of the weighted interval score are of central intervals, and the level {} has no \
                     counterpart {}",
                    levels[*k],
                    ((1.0 - levels[*k]) * 1e9).round() / 1e9
                ),
                expected: "levels in pairs, with or without 0.5",
            });
        }
        let values = to_vec(forecasts.values());
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        let share = 2.0 / levels.len() as f64;
        for (quantiles, y) in values.chunks(levels.len()).zip(targets) {
            let median = single.iter().map(|&k| quantiles[k]);
            let (mut over, mut under) = median.fold((0.0, 0.0), |_, median: f64| {
                (0.5 * (median - y).max(0.0), 0.5 * (y - median).max(0.0))
            });
            let mut dispersion = 0.0;
            for &[low, high] in &pairs {
                dispersion += levels[low] * (quantiles[high] - quantiles[low]);
                over += (quantiles[low] - y).max(0.0);
                under += (y - quantiles[high]).max(0.0);
            }
            let row = [dispersion, over, under];
            let pairs = parts.iter_mut().zip(row);
            pairs.for_each(|(part, value)| part.push(share * value));
        }
        let [dispersion, overprediction, underprediction] =
            parts.map(|part| MeanEstimate::weighted(&part, &weights));
        Ok(IntervalScoreParts {
            dispersion,
            overprediction,
            underprediction,
        })
    }
}

/// The quantile score of quantile forecasts at one of their levels, the pinball score
/// `max(τ(y − q), (τ − 1)(y − q))`, in units of the targets. Twice its mean over all levels is the
/// [`WeightedIntervalScore`].
///
/// Source: Koenker and Bassett 1978.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct QuantileScore {
    /// The level `τ`.
    pub level: f64,
}

impl QuantileScore {
    /// The place of the level among those of forecasts.
    fn place(&self, forecasts: &QuantileForecasts) -> Result<usize> {
        let place = (forecasts.levels().iter()).position(|level| *level == self.level);
        place.ok_or_else(|| Error::Unsupported {
            what: format!(
                "the forecasts have no quantiles at the level {}",
                self.level
            ),
            expected: "one of their levels",
        })
    }
}

impl Score<QuantileForecasts> for QuantileScore {
    fn name(&self) -> &'static str {
        "quantile score"
    }

    fn values(&self, forecasts: &QuantileForecasts, targets: &Tensor<2>) -> Tensor<1> {
        let place = self.place(forecasts).expect("a level of the forecasts");
        let quantiles = forecasts.values().slice(s![.., place..place + 1]);
        pinball(quantiles, column(targets), &[self.level])
    }

    fn validate_for(&self, forecasts: &QuantileForecasts) -> Result<()> {
        self.place(forecasts).map(drop)
    }
}

/// Targets of one dimension, `[n, 1] → [n]`.
fn column(targets: &Tensor<2>) -> Tensor<1> {
    let [n, d] = targets.dims();
    assert_eq!(d, 1, "the dimension of the targets, expected 1");
    targets.clone().reshape([n])
}
