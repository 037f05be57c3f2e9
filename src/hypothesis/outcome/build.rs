use super::TestOutcome;
use crate::hypothesis::p_value::resampling_p_value;

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
        Self {
            statistic,
            standardised: standardised(statistic, drawn),
            ..Self::redrawn(name, samples, estimate, p_value, drawn.len())
        }
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

    /// Sets the [standard error](Self::standard_error) of the estimate.
    pub(crate) fn with_standard_error(self, standard_error: f64) -> Self {
        Self {
            standard_error: Some(standard_error),
            ..self
        }
    }

    /// Sets the number of [expected errors](Self::expected_errors), and the caveat that follows.
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

    /// Sets the [caveat](Self::caveat), unless there is one.
    pub(crate) fn with_caveat(self, caveat: &str) -> Self {
        Self {
            caveat: self.caveat.or_else(|| Some(caveat.to_owned())),
            ..self
        }
    }

    /// Sets the number of blocks of a test whose approximation needs many, and the caveat that follows.
    pub(crate) fn with_blocks(self, blocks: usize) -> Self {
        let caveat =
            format!("there are {blocks} blocks: too few for this approximation, use ExactTest");
        let outcome = Self {
            blocks: Some(blocks),
            ..self
        };
        if blocks < Self::FEWEST_BLOCKS {
            outcome.with_caveat(&caveat)
        } else {
            outcome
        }
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
