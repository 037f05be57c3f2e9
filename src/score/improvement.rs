use std::fmt;

use burn::tensor::{Int, Tensor};

use super::{MeanEstimate, ProperScore};
use crate::{
    distribution::Categorical,
    error::{Error, Result},
};

/// What a recalibration `h` of a model `f` gains in a proper score, from the same samples before and
/// after.
///
/// The difference of the mean scores estimates that of the upper bounds, without bias, and for an
/// injective `h` that of the proper calibration errors as well, though neither of these can be
/// estimated without bias (Gruber and Buettner 2022, Proposition 4.4):
///
/// `U_S(h∘f) − U_S(f) = CE_S(h∘f) − CE_S(f)`.
///
/// Proof: `E[S]` is the calibration error plus `E[g_S(P(Y | f(X)))]`, which an injective map does not
/// change. A map that is not injective (histogram binning, isotonic regression, a constant) makes the
/// latter greater, since predictions that it merges are no longer told apart: then the calibration
/// error falls by more than the score does. Temperature scaling is injective; data cannot tell whether
/// a map is, [`with_injective`](Self::with_injective) does.
///
/// Each sample is compared with itself, which makes the standard error far smaller than those of
/// both scores where they vary together. Use samples that the map was not fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Improvement {
    /// The mean score before.
    pub before: MeanEstimate,
    /// The mean score after.
    pub after: MeanEstimate,
    /// After − before, paired: lower is better, negative is a gain.
    pub difference: MeanEstimate,
    /// Whether the map is injective, where that is known.
    pub injective: Option<bool>,
}

impl Improvement {
    /// The same for a map that is known to be injective, or known not to be.
    pub fn with_injective(self, injective: bool) -> Self {
        Self {
            injective: Some(injective),
            ..self
        }
    }

    /// The confidence interval of the difference, see [`MeanEstimate::confidence_interval`].
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn confidence_interval(&self, level: f64) -> Result<(f64, f64)> {
        self.difference.confidence_interval(level)
    }

    /// The two-sided p-value of no difference, see [`MeanEstimate::p_value`].
    pub fn p_value(&self) -> f64 {
        self.difference.p_value()
    }

    /// Why the difference may not be the change of the calibration error; none for an injective map.
    pub fn warning(&self) -> Option<&'static str> {
        match self.injective {
            Some(true) => None,
            Some(false) => Some(
                "the map is not injective: the difference is that of the scores, not the change of the calibration error",
            ),
            None => Some(
                "the difference is the change of the calibration error only if the map is injective",
            ),
        }
    }
}

impl fmt::Display for Improvement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "before      {}", self.before)?;
        writeln!(f, "after       {}", self.after)?;
        write!(f, "difference  {}", self.difference)?;
        match self.warning() {
            Some(warning) => write!(f, "\n{warning}"),
            None => Ok(()),
        }
    }
}

impl ProperScore {
    /// What a recalibration gains: the mean scores before and after, and their paired difference.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, score::ProperScore};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let logits = Tensor::<2>::from_floats([[4.0, 0.0], [0.0, 6.0], [5.0, 0.0]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
    /// let before = Categorical::from_logits(logits.clone())?;
    /// let after = Categorical::from_logits(logits / 4.0)?; // a temperature: injective
    /// let gain = ProperScore::Log.improvement(&before, &after, &labels)?.with_injective(true);
    /// assert!(gain.difference.estimate < 0.0 && gain.warning().is_none());
    /// let (low, high) = gain.confidence_interval(0.95)?;
    /// assert!(low < 0.0 && high > 0.0); // three samples prove nothing
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - before, after: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m)`.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions before or after,
    /// another number of classes after than before, or, for the log score of predictions built from
    /// probabilities, an observed class of probability 0; the error says of which predictions.
    pub fn improvement(
        self,
        before: &Categorical,
        after: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Improvement> {
        check_comparable(before, after, labels)?;
        let scores_before = self
            .each(before, labels)
            .map_err(|error| of("before", error))?;
        let scores_after = self
            .each(after, labels)
            .map_err(|error| of("after", error))?;
        let [before, after, difference] = MeanEstimate::paired(&scores_before, &scores_after);
        Ok(Improvement {
            before,
            after,
            difference,
            injective: None,
        })
    }
}

/// Predictions over the same classes, as many as labels.
pub(super) fn check_comparable(
    before: &Categorical,
    after: &Categorical,
    labels: &Tensor<1, Int>,
) -> Result<()> {
    before.check_labels(labels)?;
    let classes = after.check_classes(before.classes());
    classes.map_err(|error| of("after", error))?;
    let labels = after.check_labels(labels);
    labels.map(|_| ()).map_err(|error| of("after", error))
}

/// An error of the predictions before or after.
pub(super) fn of(when: &'static str, error: Error) -> Error {
    Error::Recalibration {
        when,
        reason: Box::new(error),
    }
}
