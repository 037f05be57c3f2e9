use std::fmt;

use super::{
    BoundedMean, Interval, MeanEstimate, Score,
    error_size::{FEWEST_ERRORS, check_errors},
    proper_score::check_scores,
};
use crate::{
    distribution::{Predictive, Targets, Weights},
    error::{Error, Result},
    estimator::differences,
    kernel::Kernel,
};

/// The gain of a recalibration `h` of a model `f` in a proper score or in the squared kernel calibration error
/// ([`Skce::improvement`](crate::estimator::Skce::improvement)), from the same samples before and after.
///
/// **Scores.** The difference of the mean scores estimates that of the upper bounds, without bias, and for an
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
/// Differences that are rounding, up to `1e-14` of the largest score (of classes, or of 1), count as 0.
///
/// Each sample is compared with itself, which makes the standard error far smaller than those of
/// both scores where they vary together. Use samples that the map was not fitted to.
///
/// **The SKCE** is a calibration error and not a bound of one: the difference means the same whether or not the map
/// is injective, and for two models too.
///
/// **Interval and p-value.** For scores they allow for events that were not observed in these samples,
/// namely errors of either model, by [`BoundedMean`]. The term that is added is the most extreme difference
/// that has a probability of 5 % or more among `n` samples, if labels come from the predictions before or
/// from those after: for classes the label is the most likely class or the second, real targets are drawn.
/// So neither of two models is refuted by samples without an error that both deem unlikely. Where real
/// targets are further out than either model expects, it lies three times as far from the mean as the most
/// extreme difference. Simulated coverage, for classes and for real targets at 8 to 2,000 samples, is in
/// `docs/levels.md`.
///
/// Those of the SKCE are Student's ([`MeanEstimate`]). There are none where fewer than 20 labels are wrong: the
/// jackknife knows nothing of errors that did not happen, and would be sure of a difference that is chance.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Improvement {
    /// The mean score, or the SKCE, before.
    pub before: MeanEstimate,
    /// The same after.
    pub after: MeanEstimate,
    /// The paired difference after − before: negative is a gain.
    pub difference: MeanEstimate,
    /// Whether the map is injective, where that is known.
    pub injective: Option<bool>,
    #[serde(skip)]
    pub(super) law: Law,
}

/// What the sampling error of a difference follows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Law {
    /// Scores, with what did not happen.
    Bounded(BoundedMean),
    /// Student's distribution, of an SKCE.
    Student {
        /// The kernel of both, its bandwidth fixed.
        kernel: Kernel,
        /// The labels that are not the most likely class, of the predictions that have fewer of them.
        errors: usize,
    },
}

impl Improvement {
    /// Compares the scores of the same samples before and after, as [`Score::improvement`] does.
    /// The errors are those of [`Score::improvement`].
    pub fn of<P, Q, S>(score: &S, before: &P, after: &Q, targets: &P::Targets) -> Result<Self>
    where
        P: Predictive,
        Q: Predictive<Targets = P::Targets>,
        S: Score<P> + Score<Q> + ?Sized,
    {
        let (plain_before, plain_after) = (before.parted().0, after.parted().0);
        Self::by(
            (before, &|targets| {
                Score::<P>::each_or_infinite(score, &plain_before, targets)
            }),
            (after, &|targets| {
                Score::<Q>::each_or_infinite(score, &plain_after, targets)
            }),
            targets,
            Score::<P>::name(score),
        )
    }

    /// Compares scores of two kinds of predictions, each given with the function from targets to its scores.
    /// The name is that of the score.
    ///
    /// # Errors
    ///
    /// As [`Score::improvement`].
    pub fn by<P, Q>(
        (before, score_before): (&P, &Scores<P::Targets>),
        (after, score_after): (&Q, &Scores<P::Targets>),
        targets: &P::Targets,
        name: &'static str,
    ) -> Result<Self>
    where
        P: Predictive,
        Q: Predictive<Targets = P::Targets>,
    {
        let (_, weights) = before.parted();
        check_same_weights(&weights, &after.parted().1)?;
        let finite = |when, values: Result<Vec<f64>>| {
            let values = values.and_then(|values| check_scores(name, values, targets));
            values.map_err(|error| error.of(when))
        };
        let before_each = finite("before", score_before(targets))?;
        let (got, expected) = (after.dimensions(), before.dimensions());
        if got != expected {
            return Err(P::Targets::mismatch(got, expected).of("after"));
        }
        let after_each = finite("after", score_after(targets))?;
        let is_of_classes = before.errors(targets).is_some();
        // probabilities are of size 1, and other scores have the units of the targets
        let least = if is_of_classes { 1.0 } else { 0.0 };
        let scores = before_each.iter().chain(&after_each);
        let size = scores.fold(least, |size: f64, score| size.max(score.abs()));
        let mut missed = Vec::new();
        let expected = before.expected_targets().into_iter();
        for (targets, probabilities) in expected.chain(after.expected_targets()) {
            // ∞ − ∞, NaN, is of no sample that either model deems possible
            let differences = differences(&score_before(&targets)?, &score_after(&targets)?, size);
            missed.push(differences.into_iter().zip(probabilities).collect());
        }
        let differences = differences(&before_each, &after_each, size);
        let [before, after, difference] = [&before_each, &after_each, &differences]
            .map(|values| MeanEstimate::weighted(values, &weights));
        let law = if is_of_classes {
            BoundedMean::with_missed(differences, missed)
        } else {
            BoundedMean::without_bounds(differences, &weights, missed)
        };
        Ok(Self {
            before,
            after,
            difference,
            injective: None,
            law: Law::Bounded(law.with_weights(weights)),
        })
    }

    /// Sets whether the map is injective.
    pub fn with_injective(self, injective: bool) -> Self {
        Self {
            injective: Some(injective),
            ..self
        }
    }

    /// The confidence interval of the difference, see [`BoundedMean::interval`] and
    /// [`MeanEstimate::interval`].
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1; [`TooFewErrors`](crate::error::Error::TooFewErrors) of an SKCE.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        match &self.law {
            Law::Bounded(mean) => mean.interval(level),
            Law::Student { errors, .. } => {
                check_errors(OF_SKCE, *errors, FEWEST_ERRORS)?;
                self.difference.interval(level)
            }
        }
    }

    /// The two-sided p-value of no difference, see [`BoundedMean::p_value`] and [`MeanEstimate::p_value`]: at least
    /// 0.001.
    ///
    /// # Errors
    ///
    /// [`TooFewErrors`](crate::error::Error::TooFewErrors) of an SKCE.
    pub fn p_value(&self) -> Result<f64> {
        match &self.law {
            Law::Bounded(mean) => Ok(mean.p_value(0.0)),
            Law::Student { errors, .. } => {
                check_errors(OF_SKCE, *errors, FEWEST_ERRORS)?;
                Ok(self.difference.p_value())
            }
        }
    }

    /// The kernel of an SKCE, its bandwidth fixed; none of scores.
    pub fn kernel(&self) -> Option<&Kernel> {
        match &self.law {
            Law::Bounded(_) => None,
            Law::Student { kernel, .. } => Some(kernel),
        }
    }

    /// The reason why the difference may not be the change of the calibration error; none for an
    /// injective map, and of an SKCE.
    pub fn warning(&self) -> Option<&'static str> {
        match self.injective {
            _ if self.kernel().is_some() => None,
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

/// Checks that predictions before and after have the same weights.
pub(super) fn check_same_weights(before: &Weights, after: &Weights) -> Result<()> {
    if before == after {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "the sample weights of the predictions before and after differ".into(),
        expected: "the same weights of the same samples",
    })
}

const OF_SKCE: &str = "the difference of two SKCE";

/// The scores of predictions for some targets, which may be infinite.
pub type Scores<'a, T> = dyn Fn(&T) -> Result<Vec<f64>> + 'a;

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
