use std::fmt;

use statrs::distribution::{ContinuousCDF, Normal};

/// What a calibration test found.
#[derive(Debug, Clone, PartialEq)]
pub struct TestOutcome {
    pub(super) name: &'static str,
    pub(super) estimate: f64,
    pub(super) statistic: f64,
    pub(super) p_value: f64,
    pub(super) samples: usize,
    pub(super) replicates: Option<usize>,
    /// Of the estimate, where it is asymptotically normal for every model, calibrated or not.
    pub(super) standard_error: Option<f64>,
}

impl TestOutcome {
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

    /// The probability, if the model is calibrated, of a statistic at least as large: exactly,
    /// asymptotically, or as an upper bound, as the test says.
    pub fn p_value(&self) -> f64 {
        self.p_value
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

    /// The standard error of the estimate, for tests whose estimate is asymptotically normal
    /// whether or not the model is calibrated: [`AsymptoticBlockSkceTest`](super::AsymptoticBlockSkceTest).
    pub fn standard_error(&self) -> Option<f64> {
        self.standard_error
    }

    /// The lower end of the one-sided confidence interval `[b, ∞)` of the calibration error:
    /// `b = estimate − Φ⁻¹(confidence) · standard error`.
    ///
    /// The interval covers the error of the model with probability `confidence` asymptotically.
    /// It excludes 0 (`b > 0`) if and only if the p-value is below `1 − confidence`. A bound below
    /// 0 says nothing: the error is never negative.
    ///
    /// `None` where there is no [`standard_error`](Self::standard_error), or if `confidence` is
    /// not between 0 and 1.
    pub fn lower_bound(&self, confidence: f64) -> Option<f64> {
        let inside = confidence > 0.0 && confidence < 1.0;
        let error = self.standard_error.filter(|_| inside)?;
        Some(self.estimate - Normal::standard().inverse_cdf(confidence) * error)
    }
}

impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        writeln!(f, "    estimate   {:.4e}", self.estimate)?;
        writeln!(f, "    statistic  {:.4}", self.statistic)?;
        write!(
            f,
            "    p-value    {}  (n = {}",
            PValue(self.p_value),
            self.samples
        )?;
        match self.replicates {
            Some(replicates) => write!(f, ", {replicates} replicates)"),
            None => write!(f, ")"),
        }
    }
}

/// Four decimals, or an exponent where they would show too little.
struct PValue(f64);

impl fmt::Display for PValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            p if p >= 1e-3 => write!(f, "{p:.4}"),
            p => write!(f, "{p:.2e}"),
        }
    }
}
