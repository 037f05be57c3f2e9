mod build;
mod words;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::asymptotic_block::few_blocks;
use crate::estimator::{self, student};

/// The outcome of a calibration test.
///
/// The p-value is never an extrapolation. An asymptotic approximation is verified down to
/// [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR), and a smaller p-value is reported as that bound, see
/// [`is_bound`](Self::is_bound). [`standardised`](Self::standardised) is the distance of the statistic
/// from its null distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TestOutcome {
    name: &'static str,
    estimate: f64,
    statistic: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    standardised: Option<f64>,
    p_value: f64,
    is_bound: bool,
    samples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicates: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_errors: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caveat: Option<String>,
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
    /// The least p-value that an asymptotic approximation reports: `docs/levels.md` verifies the
    /// levels of asymptotic tests down to 0.1 %, and nothing is known of them below.
    pub const ASYMPTOTIC_FLOOR: f64 = estimator::ASYMPTOTIC_FLOOR;

    /// The number of [expected errors](Self::expected_errors) below which the outcome of an
    /// asymptotic test has a [`caveat`](Self::caveat).
    pub const FEWEST_EXPECTED_ERRORS: f64 = 20.0;

    /// The number of blocks below which the outcome of an asymptotic block test has a
    /// [`caveat`](Self::caveat).
    pub const FEWEST_BLOCKS: usize = 30;

    /// The name of the test.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The estimate of the calibration error.
    pub fn estimate(&self) -> f64 {
        self.estimate
    }

    /// The statistic of the test, whose scale is that of its null distribution.
    pub fn statistic(&self) -> f64 {
        self.statistic
    }

    /// The statistic in standard deviations of its null distribution,
    /// `(statistic − null mean)/null standard deviation`.
    ///
    /// The mean and the deviation are those of the asymptotic distribution, or of the replicates of a
    /// test that resamples. `None` where they are not known or the deviation is 0, as for a
    /// distribution-free bound.
    pub fn standardised(&self) -> Option<f64> {
        self.standardised
    }

    /// The probability, if the model is calibrated, of a statistic at least as large: exactly,
    /// asymptotically, or as an upper bound, as the test and [`is_bound`](Self::is_bound) say.
    ///
    /// The p-value of an asymptotic approximation is at least [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR),
    /// that of a test that resamples at least `1/(replicates + 1)`.
    pub fn p_value(&self) -> f64 {
        self.p_value
    }

    /// Tells whether the p-value is only an upper bound of what is known. It is
    ///
    /// - where an asymptotic approximation gives less than
    ///   [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR): the p-value is that floor, "p < 0.001";
    /// - where no replicate is as large as the statistic: more replicates could give a smaller
    ///   p-value than `1/(replicates + 1)`;
    /// - always for a distribution-free test.
    pub fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// The number `n` of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The number `R` of replicates, of a test that resamples: its p-value is `(1 + g)/(1 + R)`, where `g` of them
    /// reach the statistic, and `g/R` where [`Redraws::Sequential`](super::Redraws::Sequential) stopped early.
    pub fn replicates(&self) -> Option<usize> {
        self.replicates
    }

    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, for
    /// predictions over classes. It bounds from above how much the labels can say, whatever the
    /// number of samples.
    pub fn expected_errors(&self) -> Option<f64> {
        self.expected_errors
    }

    /// The reason not to rely on the p-value: always one for the test of the calibration mean embedding; of
    /// another asymptotic test a sentence where there are fewer [expected errors](Self::expected_errors) than
    /// [`FEWEST_EXPECTED_ERRORS`](Self::FEWEST_EXPECTED_ERRORS), or fewer blocks than
    /// [`FEWEST_BLOCKS`](Self::FEWEST_BLOCKS).
    pub fn caveat(&self) -> Option<String> {
        self.caveat.clone()
    }

    /// The standard error of the estimate, for tests whose estimate is asymptotically normal
    /// whether or not the model is calibrated: [`AsymptoticBlockSkceTest`](super::AsymptoticBlockSkceTest).
    pub fn standard_error(&self) -> Option<f64> {
        self.standard_error
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn asymptotic(tail: f64) -> TestOutcome {
        TestOutcome::asymptotic("test", 100, 0.01, 1.0, tail).with_standardised(27.34)
    }

    #[test]
    fn a_tail_below_the_floor_is_a_bound() {
        for (tail, p, bound) in [
            (0.2, 0.2, false),
            (1e-3, 1e-3, false),
            (9e-4, 1e-3, true),
            (0.0, 1e-3, true),
        ] {
            let outcome = asymptotic(tail);
            assert_eq!((outcome.p_value(), outcome.is_bound()), (p, bound));
        }
    }

    #[test]
    fn replicates() {
        let resampled = |statistic: f64, p: f64| {
            let drawn: Vec<f64> = (0..1000).map(|t| f64::from(t % 2)).collect(); // ½ ± ½
            TestOutcome::resampled("test", 100, statistic, statistic, p, &drawn)
        };
        let outcome = resampled(5.5, 1.0 / 1001.0).with_expected_errors(Some(0.0));
        assert!(outcome.is_bound());
        assert_eq!(outcome.caveat(), None);
        assert!((outcome.standardised().unwrap() - 10.0).abs() < 0.01);
        let text = outcome.to_string();
        assert!(
            text.contains("p <= 0.001  (n = 100, 1000 replicates)"),
            "{text}"
        );
        let outcome = resampled(1.0, 2.0 / 1001.0);
        assert!(!outcome.is_bound() && outcome.to_string().contains("p = 0.0020  ("));
        let by_replicates = TestOutcome::by_replicates("test", 100, 2.0, &[1.0, 2.0, 3.0]);
        assert_eq!(by_replicates.p_value(), 0.75);
        // without deviation
        let none = TestOutcome::resampled("test", 100, 1.0, 1.0, 1.0, &[0.1; 99]);
        assert_eq!(none.standardised(), None);
    }

    #[test]
    fn an_outcome_serialises() {
        let outcome = asymptotic(1e-5).with_expected_errors(Some(1.0));
        let found = serde_json::to_value(&outcome).unwrap();
        assert_eq!(found["p_value"], 1e-3);
        assert_eq!(found["is_bound"], true);
        assert_eq!(found["expected_errors"], 1.0);
        assert!(found["caveat"].is_string());
    }
}
