use std::fmt;

use super::{
    BoundedMean, Interval, MeanEstimate, Score,
    bounded_mean::PossibleTerm,
    error_size::{FEWEST_ERRORS, check_errors},
    proper_score::check_scores,
};
use crate::{
    distribution::{Predictive, Targets, Weights},
    error::{Error, Result},
    estimator::differences,
    kernel::Kernel,
    numbers::significant,
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
/// **Interval and p-value.** For scores they are those of a paired t test where the differences show that these hold
/// (skewness, and that with what was not observed). Else they allow for events that were not observed in these samples,
/// namely errors of either model, by [`BoundedMean`]. The term that is added is the most extreme difference
/// that has a probability of 5 % or more among `n` samples, if labels come from the predictions before or
/// from those after: for classes the label is the most likely class or the second, real targets are drawn. Where
/// fewer than 0.13 second labels are expected, three eighths of their number takes the place of 5 %.
/// So neither of two models is refuted by samples without an error that both deem unlikely. Where real
/// targets are further out than either model expects, it lies three times as far from the mean as the most
/// extreme difference. Predictions that score alike in all rows, whatever happens there, do not tell how much they
/// differ in others: their interval is all numbers, and [`unbounded`](Self::unbounded) says why. Simulated coverage,
/// for classes and for real targets at 8 to 2,000 samples, is in `docs/levels.md`.
///
/// Intervals of the SKCE are Student's ([`MeanEstimate`]). There are none where fewer than 20 labels are wrong: the
/// jackknife knows nothing of errors that did not happen, and would be sure of a difference that is chance.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
#[must_use]
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
    /// The likeliest difference that did not happen and is infinite, in words, or that no row shows a difference.
    #[serde(skip)]
    pub(super) infinite: Option<String>,
}

/// The law of the sampling error of a difference.
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
        Self::between(&(before, score), &(after, score), targets)
    }

    /// Compares scores of predictions before and after, whatever the kinds of these are. The name of the score in
    /// messages is that of the score before.
    ///
    /// # Errors
    ///
    /// As [`Score::improvement`].
    pub fn between<T: Targets>(
        before: &dyn Scored<T>,
        after: &dyn Scored<T>,
        targets: &T,
    ) -> Result<Self> {
        let weights = before.weights();
        check_same_weights(&weights, &after.weights())?;
        let finite = |when, side: &dyn Scored<T>| {
            let values = side.scores(targets);
            let values = values.and_then(|values| {
                check_scores(before.name(), values, |row| side.target_text(targets, row))
            });
            values.map_err(|error| error.of(when))
        };
        let before_each = finite("before", before)?;
        let (got, expected) = (after.dimensions(), before.dimensions());
        if got != expected {
            return Err(T::mismatch(got, expected).of("after"));
        }
        let after_each = finite("after", after)?;
        let is_of_classes = before.are_classes(targets);
        // probabilities are of size 1, and other scores have the units of the targets
        let least = if is_of_classes { 1.0 } else { 0.0 };
        let scores = before_each.iter().chain(&after_each);
        let size = scores.fold(least, |size: f64, score| size.max(score.abs()));
        let mut missed = Vec::new();
        let mut infinite = (0.0, None);
        let expected = before.expected_targets().into_iter();
        for (targets, probabilities) in expected.chain(after.expected_targets()) {
            // ∞ − ∞, NaN, is of no sample that either model deems possible
            let each = (before.scores(&targets)?, after.scores(&targets)?);
            let differences = differences(&each.0, &each.1, size);
            let possible = |(value, probability)| PossibleTerm { value, probability };
            let terms: Vec<PossibleTerm> = (differences.into_iter().zip(probabilities))
                .map(possible)
                .collect();
            for (row, term) in terms.iter().enumerate() {
                if term.value.is_infinite() && term.probability > infinite.0 {
                    let when = if term.value > 0.0 { "after" } else { "before" };
                    let (name, target) = (before.name(), before.target_text(&targets, row));
                    let words = format!(
                        "row {row}: the {name} {when} of {target}, which did not happen but can be expected, is infinite"
                    );
                    infinite = (term.probability, Some(words));
                }
            }
            missed.push(terms);
        }
        let differences = differences(&before_each, &after_each, size);
        let is_zero = |difference: &f64| *difference == 0.0;
        let missed_terms = missed.iter().flatten().map(|term| &term.value);
        let differ_nowhere = differences.iter().chain(missed_terms).all(is_zero);
        let [before, after, difference] = [&before_each, &after_each, &differences]
            .map(|values| MeanEstimate::weighted(values, &weights));
        let law = if differ_nowhere {
            infinite.1 = Some(DIFFER_NOWHERE.into());
            BoundedMean::new(differences, f64::NEG_INFINITY, f64::INFINITY).with_weights(weights)
        } else {
            BoundedMean::of_differences(differences, weights, missed, is_of_classes)
        };
        Ok(Self {
            before,
            after,
            difference,
            injective: None,
            law: Law::Bounded(law),
            infinite: infinite.1,
        })
    }

    /// The reason why an end of the [interval](Self::interval) is infinite, if one is.
    pub fn unbounded(&self) -> Option<String> {
        let is_open = |mean: &BoundedMean| {
            let interval = mean.interval(0.95);
            interval
                .is_ok_and(|interval| interval.lower.is_infinite() || interval.upper.is_infinite())
        };
        if self.difference.samples < 2 {
            return Some("one sample does not show how much differences vary".into());
        }
        match &self.law {
            Law::Student { .. } if self.difference.effective < 2.0 => Some(format!(
                "the effective number of samples is {}, expected at least 2",
                significant(self.difference.effective, 3)
            )),
            Law::Bounded(mean) if !is_open(mean) => None,
            _ => self.infinite.clone(),
        }
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
                let interval = self.difference.interval(level)?;
                if self.infinite.is_none() {
                    return Ok(interval);
                }
                Ok(Interval {
                    lower: f64::NEG_INFINITY,
                    upper: f64::INFINITY,
                    ..interval
                })
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
        if self.kernel().is_some() {
            return None;
        }
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

/// The reason why the interval of predictions that score alike in all rows has no ends.
pub(super) const DIFFER_NOWHERE: &str =
    "the scores are the same in all rows, so nothing is known of rows where they differ";

/// A pair of predictions and a score, which an [`Improvement`] compares with another.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{
///     distribution::{Laplace, Normal},
///     score::{Improvement, LogScore},
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let targets = Tensor::<2>::from_floats([[0.1], [-0.4], [0.2], [0.3]], &device);
/// let (zeros, ones) = (targets.zeros_like(), targets.ones_like());
/// let normal = Normal::new(zeros.clone(), ones.clone());
/// let laplace = Laplace::new(zeros, ones / 4.0);
/// let gain = Improvement::between(&(&normal, &LogScore), &(&laplace, &LogScore), &targets)?;
/// assert!(gain.difference.estimate < 0.0);
/// # Ok(())
/// # }
/// ```
pub trait Scored<T> {
    /// The name of the score in messages.
    fn name(&self) -> &'static str;

    /// The number of classes, or of dimensions of the targets.
    fn dimensions(&self) -> usize;

    /// The weights of the samples.
    fn weights(&self) -> Weights;

    /// Tells whether the targets are classes.
    fn are_classes(&self, targets: &T) -> bool;

    /// The score of each prediction for some targets, which may be infinite.
    ///
    /// # Errors
    ///
    /// As [`Score::each_or_infinite`].
    fn scores(&self, targets: &T) -> Result<Vec<f64>>;

    /// The target of a row in the words of an error.
    fn target_text(&self, targets: &T, row: usize) -> String;

    /// Targets that can be expected of a calibrated model, with their probabilities
    /// ([`Redraws::expected_targets`](crate::distribution::Redraws::expected_targets)).
    fn expected_targets(&self) -> Vec<(T, Vec<f64>)>;
}

impl<P: Predictive, S: Score<P> + ?Sized> Scored<P::Targets> for (&P, &S) {
    fn name(&self) -> &'static str {
        self.1.name()
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    fn weights(&self) -> Weights {
        self.0.parted().1
    }

    fn are_classes(&self, targets: &P::Targets) -> bool {
        self.0.errors(targets).is_some()
    }

    fn scores(&self, targets: &P::Targets) -> Result<Vec<f64>> {
        self.1.each_or_infinite(&self.0.parted().0, targets)
    }

    fn target_text(&self, targets: &P::Targets, row: usize) -> String {
        self.0.target_text(targets, row)
    }

    fn expected_targets(&self) -> Vec<(P::Targets, Vec<f64>)> {
        self.0.expected_targets()
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
