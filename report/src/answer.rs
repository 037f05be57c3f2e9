use burn_calibration::{
    error,
    estimator::MeanEstimate,
    hypothesis::{AspectOutcome, OmnibusOutcome},
    names::Name,
};
use serde::Serialize;

use super::{
    estimate::{Estimate, Estimates, NamedEstimates, Tested, Value},
    size::Size,
    value::{Computed, Named},
};

/// The answer about one set of predictions: is it calibrated, where does it fail, and how large are the errors? Text, JSON
/// and pages are made of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The omnibus test of all samples, or why there is none.
    pub omnibus: Computed<OmnibusOutcome>,
    /// The sizes of the errors, the first of them in the large.
    pub intervals: Named<Size>,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// The tests that were asked for by their names, where they can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Named<Tested>>,
}

impl Answer {
    /// Puts a test beside the sizes of errors, about which its sentences speak as well.
    pub fn new(omnibus: error::Result<OmnibusOutcome>, intervals: Vec<(Name, Size)>) -> Self {
        let known = intervals.iter().filter_map(|(name, size)| {
            let interval = size.interval.0.as_ref().ok()?;
            Some((name.clone(), *interval))
        });
        Self {
            omnibus: Computed::of(omnibus.map(|outcome| outcome.beside(known))),
            intervals: Named(intervals),
            estimates: Estimates::default(),
            tests: None,
        }
    }

    /// Sets the estimates.
    pub fn with_estimates(self, estimates: NamedEstimates) -> Self {
        Self {
            estimates: Estimates(Named(estimates)),
            ..self
        }
    }

    /// Sets the tests that were asked for by their names.
    pub fn with_tests(self, tests: Vec<(Name, Tested)>) -> Self {
        Self {
            tests: Some(Named(tests)),
            ..self
        }
    }

    /// Names the rows of the data in findings and in reasons, where the samples are some of them: `rows[k]` is the row of
    /// sample `k`. Without rows they stay as they are.
    pub fn at_rows(mut self, rows: &[usize]) -> Self {
        let Computed(omnibus) = self.omnibus.at_rows(rows);
        self.omnibus = Computed(omnibus.map(|outcome| outcome.at_rows(rows)));
        self.intervals = self.intervals.map(|size| Size {
            interval: size.interval.at_rows(rows),
            tolerance: size.tolerance.map(|tolerance| tolerance.at_rows(rows)),
            ..size
        });
        self.estimates.0 = self.estimates.0.map(|estimate| Estimate {
            value: estimate.value.at_rows(rows),
            ..estimate
        });
        let of_test = |test: Tested| Tested {
            value: test.value.at_rows(rows),
            ..test
        };
        self.tests = self.tests.map(|tests| tests.map(of_test));
        self
    }

    /// The aspects that fail, the most significant first, but those of the SKCE, which does not say what is wrong, after
    /// the others; none unless the test rejects.
    pub fn findings(&self) -> Vec<&AspectOutcome> {
        let Ok(outcome) = &self.omnibus.0 else {
            return Vec::new();
        };
        if !outcome.is_rejected() {
            return Vec::new();
        }
        let mut failing = outcome.failing(outcome.level());
        failing.sort_by_key(|aspect| aspect.name.starts_with("skce")); // stable
        failing
    }
}

/// One set of predictions: the answer about it, and the diagrams of its page.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Assessed<S> {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// Averages of classes: what happened, and what was predicted.
    #[serde(skip)]
    pub summary: Named<Estimate>,
    /// The means over samples among the summary and the estimates, with their standard errors.
    pub means: Named<MeanEstimate>,
    /// The diagrams.
    pub page: S,
}

impl<S> Assessed<S> {
    pub(super) fn new(answer: Answer, summary: NamedEstimates, page: S) -> Self {
        let mean = |(name, estimate): &(Name, Estimate)| match estimate.value.0 {
            Ok(Value::Score(mean) | Value::Mean(mean)) => Some((name.clone(), mean)),
            _ => None,
        };
        let estimates = summary.iter().chain(&answer.estimates.0.0);
        Self {
            means: Named(estimates.filter_map(mean).collect()),
            summary: Named(summary),
            answer,
            page,
        }
    }

    /// The number of an estimate or of the summary by its key, NaN where there is none.
    pub(super) fn number(&self, key: &str) -> f64 {
        let estimates = &self.answer.estimates.0;
        let estimate = self.summary.get(key).or_else(|| estimates.get(key));
        let value = estimate.and_then(|estimate| estimate.value.0.as_ref().ok());
        value.map_or(f64::NAN, Value::number)
    }
}
