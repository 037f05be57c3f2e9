use std::fmt;

use super::{MeanEstimate, Score};
use crate::{
    distribution::{Predictive, Targets},
    error::Result,
};

/// The gain of a recalibration `h` of a model `f` in a proper score, from the same samples before and
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
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Improvement {
    /// The mean score before.
    pub before: MeanEstimate,
    /// The mean score after.
    pub after: MeanEstimate,
    /// The paired difference after − before: negative is a gain.
    pub difference: MeanEstimate,
    /// Whether the map is injective, where that is known.
    pub injective: Option<bool>,
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
        let each = Score::<P>::each(score, before, targets);
        let before_each = each.map_err(|error| error.of("before"))?;
        let (got, expected) = (after.dimensions(), before.dimensions());
        if got != expected {
            return Err(P::Targets::mismatch(got, expected).of("after"));
        }
        let each = Score::<Q>::each(score, after, targets);
        let after_each = each.map_err(|error| error.of("after"))?;
        let [before, after, difference] = MeanEstimate::paired(&before_each, &after_each);
        Ok(Self {
            before,
            after,
            difference,
            injective: None,
        })
    }

    /// Says whether the map is injective.
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

    /// The reason why the difference may not be the change of the calibration error; none for an
    /// injective map.
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
