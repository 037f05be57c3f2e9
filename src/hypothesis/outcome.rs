use std::fmt;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::asymptotic_block::few_blocks;
use crate::estimator::student;

/// What a calibration test found.
///
/// The p-value is never an extrapolation. An asymptotic approximation is verified down to
/// [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR), and its p-value is reported down to there: a smaller
/// one is reported as that bound, see [`is_bound`](Self::is_bound). How far the statistic is from its
/// null distribution is what [`standardised`](Self::standardised) says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TestOutcome {
    name: &'static str,
    estimate: f64,
    statistic: f64,
    standardised: Option<f64>,
    p_value: f64,
    is_bound: bool,
    samples: usize,
    replicates: Option<usize>,
    /// Of the estimate, where it is asymptotically normal for every model, calibrated or not.
    standard_error: Option<f64>,
    expected_errors: Option<f64>,
    caveat: Option<String>,
    /// Of a test of blocks, their number.
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
    pub const ASYMPTOTIC_FLOOR: f64 = 1e-3;

    /// The number of [expected errors](Self::expected_errors) below which the outcome of an
    /// asymptotic test has a [`caveat`](Self::caveat).
    pub const FEWEST_EXPECTED_ERRORS: f64 = 20.0;

    /// The number of blocks below which the outcome of an asymptotic block test has a
    /// [`caveat`](Self::caveat).
    pub const FEWEST_BLOCKS: usize = 30;

    /// Of a test whose p-value is an upper bound at every sample size. The statistic is the estimate.
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

    /// Of a test with an asymptotic null distribution, whose upper tail from the statistic on is
    /// `tail`. A tail below [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR) is reported as that bound.
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

    /// Of a test by so many redraws, with the p-value `(1 + #)/(1 + R)` or that of a sequential test. The
    /// statistic is the estimate.
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

    /// Of a test that compares its statistic with the replicates `drawn`.
    pub(crate) fn resampled(
        name: &'static str,
        samples: usize,
        estimate: f64,
        statistic: f64,
        p_value: f64,
        drawn: &[f64],
    ) -> Self {
        Self {
            statistic,
            standardised: standardised(statistic, drawn),
            ..Self::redrawn(name, samples, estimate, p_value, drawn.len())
        }
    }

    /// With replicates that are drawn from an asymptotic approximation.
    pub(crate) fn of_an_approximation(self) -> Self {
        Self {
            asymptotic: true,
            ..self
        }
    }

    /// With a [standardised](Self::standardised) statistic, where it is a finite number.
    pub(crate) fn with_standardised(self, standardised: f64) -> Self {
        Self {
            standardised: Some(standardised).filter(|z| z.is_finite()),
            ..self
        }
    }

    /// With a [standard error](Self::standard_error) of the estimate.
    pub(crate) fn with_standard_error(self, standard_error: f64) -> Self {
        Self {
            standard_error: Some(standard_error),
            ..self
        }
    }

    /// With the number of [expected errors](Self::expected_errors), and the caveat that follows.
    pub(crate) fn with_expected_errors(self, expected_errors: Option<f64>) -> Self {
        let too_few = |errors: &f64| self.asymptotic && *errors < Self::FEWEST_EXPECTED_ERRORS;
        let caveat = expected_errors.filter(too_few).map(|errors| {
            format!(
                "{errors:.1} errors are expected: too few for this approximation, \
                 use ExactTest or OmnibusTest"
            )
        });
        Self {
            expected_errors,
            caveat: caveat.or(self.caveat),
            ..self
        }
    }

    /// Of a test whose approximation needs many blocks, of which there are so many.
    pub(crate) fn with_blocks(self, blocks: usize) -> Self {
        let caveat = (blocks < Self::FEWEST_BLOCKS).then(|| {
            format!("there are {blocks} blocks: too few for this approximation, use ExactTest")
        });
        Self {
            caveat: self.caveat.or(caveat),
            blocks: Some(blocks),
            ..self
        }
    }

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
    /// That of an asymptotic approximation is at least [`ASYMPTOTIC_FLOOR`](Self::ASYMPTOTIC_FLOOR),
    /// that of a test that resamples at least `1/(replicates + 1)`.
    pub fn p_value(&self) -> f64 {
        self.p_value
    }

    /// Whether the p-value is only an upper bound of what is known. It is
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

    /// The number of replicates, of a test that resamples: its p-value is a multiple of
    /// `1/(replicates + 1)`.
    pub fn replicates(&self) -> Option<usize> {
        self.replicates
    }

    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, for
    /// predictions over classes. It bounds from above how much the labels can say, whatever the
    /// number of samples.
    pub fn expected_errors(&self) -> Option<f64> {
        self.expected_errors
    }

    /// Why the p-value is not to be relied on: a sentence where an asymptotic test has fewer
    /// [expected errors](Self::expected_errors) than
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
    /// up to 99.9 %, where the p-value ends. A bound below 0 says nothing: the error is never
    /// negative.
    ///
    /// `None` where there is no [`standard_error`](Self::standard_error), or if `confidence` is
    /// not between 0 and 1.
    pub fn lower_bound(&self, confidence: f64) -> Option<f64> {
        let inside = confidence > 0.0 && confidence < 1.0;
        let error = self.standard_error.filter(|_| inside)?;
        let quantile = match self.blocks.and_then(|n| Some((n, few_blocks(n)?))) {
            // of z, whose standard deviation has the divisor N and not N − 1
            Some((blocks, freedom)) => {
                student::quantile(confidence, freedom) * (blocks as f64 / freedom).sqrt()
            }
            None => Normal::standard().inverse_cdf(confidence),
        };
        Some(self.estimate - quantile * error)
    }
}

/// `(t − mean)/deviation` of replicates; `None` where that is no finite number.
fn standardised(statistic: f64, drawn: &[f64]) -> Option<f64> {
    let size = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / size;
    let squares: f64 = drawn.iter().map(|t| (t - mean).powi(2)).sum();
    let deviation = (squares / (size - 1.0)).sqrt();
    let standardised = (statistic - mean) / deviation;
    // equal replicates have a deviation of 0 but for rounding
    let varies = deviation > 1e-12 * mean.abs();
    Some(standardised).filter(|z| varies && z.is_finite())
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
            (true, true) => write!(f, "p < {}", Short(self.p_value))?,
            (true, false) => write!(f, "p <= {}", Short(rounded_up(self.p_value)))?,
            (false, _) => write!(f, "p = {}", Digits(self.p_value))?,
        }
        write!(f, "  (n = {}", self.samples)?;
        match self.replicates {
            Some(replicates) => write!(f, ", {replicates} replicates)")?,
            None => write!(f, ")")?,
        }
        match &self.caveat {
            Some(caveat) => write!(f, "\n    caveat        {caveat}"),
            None => Ok(()),
        }
    }
}

/// Four decimals, or an exponent where they would show too little.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            p if p >= 1e-3 => write!(f, "{p:.4}"),
            p => write!(f, "{p:.2e}"),
        }
    }
}

/// As few digits as the number has.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            p if p >= 1e-4 || p == 0.0 => write!(f, "{p}"),
            p => write!(f, "{p:e}"),
        }
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
    fn they_read_well() {
        let head = "test\n    estimate      1.0000e-2\n    statistic     1.0000\n    \
                    standardised  27.3 (standard deviations of the null)\n    p-value       ";
        let outcome = asymptotic(1e-44).with_expected_errors(Some(1.53));
        let caveat = "1.5 errors are expected: too few for this approximation, use ExactTest or \
                      OmnibusTest";
        assert_eq!(outcome.caveat().as_deref(), Some(caveat));
        assert_eq!(
            outcome.to_string(),
            format!("{head}p < 0.001  (n = 100)\n    caveat        {caveat}")
        );
        let outcome = asymptotic(0.034).with_expected_errors(Some(20.0));
        assert_eq!(outcome.caveat(), None);
        assert_eq!(outcome.to_string(), format!("{head}p = 0.0340  (n = 100)"));
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
        let caveat = outcome
            .of_an_approximation()
            .with_expected_errors(Some(2.5));
        assert!(caveat.caveat().is_some());
        // without deviation
        let none = TestOutcome::resampled("test", 100, 1.0, 1.0, 1.0, &[0.1; 99]);
        assert_eq!(none.standardised(), None);
    }

    #[test]
    fn bounds_are_rounded_up() {
        for (p, up) in [
            (1.0 / 1001.0, "0.001"),
            (1.0 / 1000.0, "0.001"),
            (1.0 / 61.0, "0.017"),
            (1.0 / 20.0, "0.05"),
            (1.0 / 3.0, "0.34"),
            (3.71e-6, "3.8e-6"),
            (1.0, "1"),
        ] {
            assert_eq!(Short(rounded_up(p)).to_string(), up);
        }
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
