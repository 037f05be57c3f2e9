use std::fmt;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{
    OmnibusOutcome,
    asymptotic_block::few_blocks,
    p_value::{resampling_p_value, standardised},
};
use crate::{
    estimator::{self, student},
    numbers::counted,
};

/// The outcome of a calibration test.
///
/// The p-value is never an extrapolation. An asymptotic approximation is verified down to
/// [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR), and a smaller p-value is reported as that bound, see
/// [`is_bound`](Self::is_bound). [`standardised`](Self::standardised) is the distance of the statistic
/// from its null distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct TestOutcome {
    /// The name of the test.
    pub name: &'static str,
    /// The estimate of the calibration error.
    pub estimate: f64,
    /// The statistic of the test, whose scale is that of its null distribution.
    pub statistic: f64,
    /// The statistic in standard deviations of its null distribution,
    /// `(statistic − null mean)/null standard deviation`.
    ///
    /// The mean and the deviation are those of the asymptotic distribution, or of the replicates of a
    /// test that resamples. `None` where they are not known or the deviation is 0, as for a
    /// distribution-free bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standardised: Option<f64>,
    /// The probability, if the model is calibrated, of a statistic at least as large: exactly,
    /// asymptotically, or as an upper bound, as the test and [`is_bound`](Self::is_bound) say.
    ///
    /// The p-value of an asymptotic approximation is at least [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR),
    /// that of a test that resamples at least `1/(replicates + 1)`.
    pub p_value: f64,
    /// Returns whether the p-value is only an upper bound of what is known. It is
    ///
    /// - where an asymptotic approximation gives less than
    ///   [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR): the p-value is that floor, "p < 0.001";
    /// - where no replicate is as large as the statistic: more replicates could give a smaller
    ///   p-value than `1/(replicates + 1)`;
    /// - always for a distribution-free test.
    pub is_bound: bool,
    /// The number `n` of samples.
    pub samples: usize,
    /// The number `R` of replicates, of a test that resamples: its p-value is `(1 + g)/(1 + R)`, where `g` of them
    /// reach the statistic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicates: Option<usize>,
    /// The standard error of the estimate, for tests whose estimate is asymptotically normal
    /// whether or not the model is calibrated: [`AsymptoticBlockSkceTest`](super::AsymptoticBlockSkceTest).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, for
    /// predictions over classes. It is an upper bound of the information in the labels, for any number of
    /// samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_errors: Option<f64>,
    /// The reason not to rely on the p-value. The test of the calibration mean embedding always has one.
    /// Another asymptotic test has one if there are fewer [expected errors](Self::expected_errors) than
    /// [`FEWEST_EXPECTED_ERRORS`](Self::FEWEST_EXPECTED_ERRORS), or fewer blocks than
    /// [`FEWEST_BLOCKS`](Self::FEWEST_BLOCKS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// The number of blocks of a block test.
    #[serde(skip)]
    blocks: Option<usize>,
    /// Whether the p-value rests on an asymptotic approximation.
    #[serde(skip)]
    asymptotic: bool,
    /// Whether a bound is strict: `p < 0.001`, not `p <= 0.001`.
    #[serde(skip)]
    strict: bool,
}

impl TestOutcome {
    /// The least p-value that an asymptotic approximation reports: `docs/levels.md` verifies the levels of
    /// asymptotic tests down to 0.1 %, and they are not known below.
    pub const ASYMPTOTIC_FLOOR: f64 = estimator::ASYMPTOTIC_FLOOR;

    /// The number of [expected errors](Self::expected_errors) below which the outcome of an
    /// asymptotic test has a [`caveat`](Self::caveat).
    pub const FEWEST_EXPECTED_ERRORS: f64 = 20.0;

    /// The number of blocks below which the outcome of an asymptotic block test has a
    /// [`caveat`](Self::caveat).
    pub const FEWEST_BLOCKS: usize = 30;

    /// The lower end of the one-sided confidence interval `[b, ∞)` of the calibration error:
    /// `b = estimate − Φ⁻¹(confidence) · standard error`, of few blocks with the quantile of Student's
    /// distribution.
    ///
    /// The interval covers the error of the model with probability `confidence` asymptotically.
    /// It excludes 0 (`b > 0`) if and only if the p-value is below `1 − confidence`, for a confidence
    /// below 99.9 %, where the p-value ends. A bound below 0 says nothing: the error is never
    /// negative.
    ///
    /// `None` where there is no [`standard_error`](Self::standard_error), or if `confidence` is
    /// not between 0 and 1.
    pub fn lower_bound(&self, confidence: f64) -> Option<f64> {
        let inside = confidence > 0.0 && confidence < 1.0;
        let error = self.standard_error.filter(|_| inside)?;
        let quantile = match self.blocks.and_then(few_blocks) {
            Some(freedom) => student::quantile(confidence, freedom),
            None => Normal::standard().inverse_cdf(confidence),
        };
        Some(self.estimate - quantile * error)
    }
}

impl TestOutcome {
    /// Creates the outcome of a test whose p-value is an upper bound at every sample size. The statistic is
    /// the estimate.
    pub(crate) fn bounded(name: &'static str, samples: usize, estimate: f64, bound: f64) -> Self {
        Self {
            name,
            estimate,
            statistic: estimate,
            standardised: None,
            p_value: bound,
            is_bound: true,
            samples,
            replicates: None,
            standard_error: None,
            expected_errors: None,
            caveat: None,
            blocks: None,
            asymptotic: false,
            strict: false,
        }
    }

    /// Creates the outcome of a test with an asymptotic null distribution, whose upper tail from the
    /// statistic on is `tail`.
    pub(crate) fn asymptotic(
        name: &'static str,
        samples: usize,
        estimate: f64,
        statistic: f64,
        tail: f64,
    ) -> Self {
        let below = tail < Self::ASYMPTOTIC_FLOOR;
        Self {
            statistic,
            p_value: tail.max(Self::ASYMPTOTIC_FLOOR),
            is_bound: below,
            asymptotic: true,
            strict: true,
            ..Self::bounded(name, samples, estimate, tail)
        }
    }

    /// Creates the outcome of a test by redraws, with the p-value `(1 + #)/(1 + R)` or that of a sequential
    /// test. The statistic is the estimate.
    pub(crate) fn redrawn(
        name: &'static str,
        samples: usize,
        estimate: f64,
        p_value: f64,
        redraws: usize,
    ) -> Self {
        let least = 1.0 / (1 + redraws) as f64;
        Self {
            is_bound: p_value <= least * (1.0 + 1e-9),
            replicates: Some(redraws),
            ..Self::bounded(name, samples, estimate, p_value)
        }
    }

    /// Creates the outcome of a test that compares its statistic with the replicates `drawn`.
    pub(crate) fn resampled(
        name: &'static str,
        samples: usize,
        estimate: f64,
        statistic: f64,
        p_value: f64,
        drawn: &[f64],
    ) -> Self {
        let outcome = Self {
            statistic,
            standardised: Some(standardised(statistic, drawn)).filter(|z| z.is_finite()),
            ..Self::redrawn(name, samples, estimate, p_value, drawn.len())
        };
        let least = 1.0 / (drawn.len() + 1) as f64;
        if least <= OmnibusOutcome::LEVEL {
            return outcome;
        }
        outcome.with_caveat(&format!(
            "so few replicates give a p-value of at least {least:.2}: the test cannot reject at 5 %"
        ))
    }

    /// Creates the outcome of a test of your own that draws replicates `T*` of its statistic `T` under the
    /// hypothesis: the p-value is `(1 + #{T* ≥ T})/(1 + R)`, the estimate the statistic.
    pub fn by_replicates(
        name: &'static str,
        samples: usize,
        statistic: f64,
        replicates: &[f64],
    ) -> Self {
        let p_value = resampling_p_value(statistic, replicates);
        Self::resampled(name, samples, statistic, statistic, p_value, replicates)
    }

    /// Sets the [standardised](Self::standardised) statistic, where it is a finite number.
    pub(crate) fn with_standardised(self, standardised: f64) -> Self {
        Self {
            standardised: Some(standardised).filter(|z| z.is_finite()),
            ..self
        }
    }

    /// Sets the number of [expected errors](Self::expected_errors), and the caveat that follows.
    pub(crate) fn with_expected_errors(self, expected_errors: Option<f64>) -> Self {
        let too_few = |errors: &f64| self.asymptotic && *errors < Self::FEWEST_EXPECTED_ERRORS;
        let caveat = expected_errors.filter(too_few).map(|errors| {
            format!(
                "{errors:.1} errors are expected: too few for this approximation, \
                 but not for an exact test or the omnibus test"
            )
        });
        Self {
            expected_errors,
            caveat: caveat.or(self.caveat),
            ..self
        }
    }

    /// Sets the [caveat](Self::caveat), unless there is one.
    pub(crate) fn with_caveat(self, caveat: &str) -> Self {
        Self {
            caveat: self.caveat.or_else(|| Some(caveat.to_owned())),
            ..self
        }
    }

    /// Sets the number of blocks of a test whose approximation needs many, the standard error of the estimate, and
    /// the caveat that follows.
    pub(crate) fn with_blocks(self, blocks: usize, standard_error: f64) -> Self {
        let caveat = format!(
            "{}: too few for this approximation, but not for an exact test",
            counted(blocks, "block")
        );
        let outcome = Self {
            blocks: Some(blocks),
            standard_error: Some(standard_error),
            ..self
        };
        if blocks < Self::FEWEST_BLOCKS {
            outcome.with_caveat(&caveat)
        } else {
            outcome
        }
    }
}

impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        writeln!(f, "    estimate      {:.4e}", self.estimate)?;
        writeln!(f, "    statistic     {:.4}", self.statistic)?;
        if let Some(standardised) = self.standardised {
            writeln!(
                f,
                "    standardised  {standardised:.1} (standard deviations of the null)"
            )?;
        }
        write!(f, "    p-value       ")?;
        match (self.is_bound, self.strict) {
            (true, true) => write!(f, "p < {}", short(self.p_value))?,
            (true, false) => write!(f, "p <= {}", short(rounded_up(self.p_value)))?,
            (false, _) if self.p_value >= 1e-3 => write!(f, "p = {:.4}", self.p_value)?,
            (false, _) => write!(f, "p = {:.2e}", self.p_value)?,
        }
        write!(f, "  (n = {}", self.samples)?;
        match self.replicates {
            Some(replicates) => write!(f, ", {})", counted(replicates, "replicate"))?,
            None => write!(f, ")")?,
        }
        match &self.caveat {
            Some(caveat) => write!(f, "\n    caveat        {caveat}"),
            None => Ok(()),
        }
    }
}

/// A number with as few digits as it has.
fn short(p: f64) -> String {
    match p {
        p if p >= 1e-4 || p == 0.0 => format!("{p}"),
        p => format!("{p:e}"),
    }
}

/// The least number of two significant digits that is not less.
fn rounded_up(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return p;
    }
    let unit = 10f64.powi(p.log10().floor() as i32 - 1);
    let up = (p / unit - 1e-6).ceil() * unit;
    format!("{up:.1e}").parse().expect("a number")
}
