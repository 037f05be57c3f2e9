use std::fmt::Debug;

use super::{BoundedMean, Improvement, Interval, MeanEstimate};
use crate::{
    distribution::{Batch as _, Predictive, Targets},
    error::{Error, Result},
    host::to_vec,
};

/// A proper score of predictive distributions of the kind `P`, as a loss: lower is better.
///
/// The types say which predictions have which score: [`Brier`](super::Brier) and
/// [`Spherical`](super::Spherical) of classes, [`LogScore`](super::LogScore) of classes and where there is
/// a density, [`Crps`](super::Crps) where expected absolute differences are known.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::Normal, score::{Crps, Score}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let mean = Tensor::<2>::from_floats([[0.0], [1.0]], &device);
/// let predictions = Normal::new(mean.clone(), mean.ones_like());
/// let bound = Crps.upper_bound(&predictions, &mean)?; // hits the means
/// let expected = (2f64.sqrt() - 1.0) / std::f64::consts::PI.sqrt();
/// assert!((bound.estimate - expected).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
pub trait Score<P: Predictive>: Debug {
    /// The name of the score in messages.
    fn name(&self) -> &'static str;

    /// The score of each prediction, `[n]`, differentiable in all parameters, without reading anything
    /// back.
    ///
    /// # Panics
    ///
    /// If there are not as many targets as predictions, of the same dimension.
    fn values(&self, predictions: &P, targets: &P::Targets) -> burn::tensor::Tensor<1>;

    /// The score of each prediction of data, `[n]`, without gradients: where a score is infinite it is not
    /// bounded, as [`values`](Self::values) may for the sake of training.
    fn values_of_data(&self, predictions: &P, targets: &P::Targets) -> burn::tensor::Tensor<1> {
        self.values(predictions, targets)
    }

    /// Returns whether the infimum of the generalised entropy, `inf_P E_{Y∼P} S(P, Y)`, is 0, as it is by
    /// default; it is −∞ otherwise.
    fn is_bounded(&self) -> bool {
        true
    }

    /// Checks that such predictions have this score.
    ///
    /// # Errors
    ///
    /// The requirement that they do not meet.
    fn validate_for(&self, _predictions: &P) -> Result<()> {
        Ok(())
    }

    /// The score of each prediction on the host, from data.
    ///
    /// Scored in blocks of 1024 samples, which bounds the memory.
    ///
    /// # Errors
    ///
    /// Parameters or targets that are not valid, other numbers or dimensions of one than of the other,
    /// or a score that is not finite: which row holds what.
    fn each(&self, predictions: &P, targets: &P::Targets) -> Result<Vec<f64>> {
        let values = self.each_or_infinite(predictions, targets)?;
        check_scores(self.name(), values, |row| {
            predictions.target_text(targets, row)
        })
    }

    /// The score of each prediction on the host, which may be infinite: that of a class of probability 0.
    ///
    /// # Errors
    ///
    /// As [`each`](Self::each), except for scores that are not finite.
    fn each_or_infinite(&self, predictions: &P, targets: &P::Targets) -> Result<Vec<f64>> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        self.validate_for(predictions)?;
        let (n, predictions) = (predictions.len(), predictions.detach());
        let mut values = Vec::with_capacity(n);
        for start in (0..n).step_by(BLOCK) {
            let rows = start..n.min(start + BLOCK);
            let (block, targets) = (
                predictions.slice_rows(rows.clone()),
                targets.slice_rows(rows),
            );
            values.extend(to_vec(self.values_of_data(&block, &targets)));
        }
        Ok(values)
    }

    /// The mean score from data, with its standard error.
    /// The errors are those of [`each`](Self::each).
    fn mean(&self, predictions: &P, targets: &P::Targets) -> Result<MeanEstimate> {
        let (plain, weights) = predictions.parted();
        let each = self.each(&plain, targets)?;
        Ok(MeanEstimate::weighted(&each, &weights))
    }

    /// The confidence interval of the mean score of new samples, with the mean of the data.
    ///
    /// It is Student's where the scores show that this holds. Elsewhere scores that did not happen, but can be
    /// expected of a calibrated model, count too ([`BoundedMean`]): of 20 predictions of 2 % without an event the
    /// data do not say what an event costs. An end is infinite where an infinite score can be expected. Scores
    /// that no model expects, of outliers, are in no interval. Simulated coverage is in `docs/levels.md`.
    ///
    /// Cost: the scores of the data, and of each set of
    /// [expected targets](crate::distribution::Redraws::expected_targets).
    ///
    /// # Errors
    ///
    /// As [`each`](Self::each), and a level that is not between 0 and 1.
    fn interval(&self, predictions: &P, targets: &P::Targets, level: f64) -> Result<Interval> {
        let (plain, _) = predictions.parted();
        let scores = self.each(&plain, targets)?;
        let possible = |targets: &_| self.each_or_infinite(&plain, targets);
        BoundedMean::of_scores(predictions, scores, possible)?.interval(level)
    }

    /// The upper bound `U_S = E[S] − inf_P g_S(P)` of the proper calibration error (Gruber and Buettner
    /// 2022, Theorem 4.3), where the infimum of the generalised entropy `g_S` is 0: the mean score.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where the infimum is −∞, and as [`each`](Self::each).
    fn upper_bound(&self, predictions: &P, targets: &P::Targets) -> Result<MeanEstimate> {
        if self.is_bounded() {
            self.mean(predictions, targets)
        } else {
            Err(Error::Unsupported {
                what: format!(
                    "the {} gives no upper bound of a calibration error: the infimum of its entropy is −∞",
                    self.name()
                ),
                expected: "a score whose entropy is bounded, such as the CRPS",
            })
        }
    }

    /// Compares mean scores before and after a recalibration, with their paired difference, which
    /// for an injective map is the change of the proper calibration error, whether or not there is an
    /// upper bound of it; see [`Improvement`]. The predictions after may be of another kind.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, score::{LogScore, Score}};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let logits = Tensor::<2>::from_floats([[4.0, 0.0], [0.0, 6.0], [5.0, 0.0]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
    /// let before = Categorical::from_logits(logits.clone())?;
    /// let after = Categorical::from_logits(logits / 4.0)?; // a temperature: injective
    /// let gain = LogScore.improvement(&before, &after, &labels)?.with_injective(true);
    /// assert!(gain.difference.estimate < 0.0 && gain.warning().is_none());
    /// let interval = gain.interval(0.95)?;
    /// assert!(interval.lower < 0.0 && interval.upper > 0.0); // three samples prove nothing
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`each`](Self::each), and predictions after that are over other classes or dimensions; the error
    /// says of which predictions.
    fn improvement<Q>(&self, before: &P, after: &Q, targets: &P::Targets) -> Result<Improvement>
    where
        Q: Predictive<Targets = P::Targets>,
        Self: Score<Q> + Sized,
    {
        Improvement::of(self, before, after, targets)
    }
}

/// Checks that scores are finite.
pub(super) fn check_scores(
    score: &'static str,
    values: Vec<f64>,
    target: impl Fn(usize) -> String,
) -> Result<Vec<f64>> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(Error::Score {
            score,
            row,
            target: target(row),
            value: values[row],
        }),
        None => Ok(values),
    }
}

/// The number of samples that are scored at once.
const BLOCK: usize = 1024;
