use burn_calibration::{
    error,
    hypothesis::{AspectOutcome, OmnibusOutcome},
    names::Name,
};
use serde::Serialize;

use super::{
    size::Size,
    value::{Known, Named},
};

/// The answer about one set of predictions: is it calibrated, where does it fail, and how large are the errors? Text, JSON
/// and pages are made of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The omnibus test of all samples, or why there is none.
    pub omnibus: Known<OmnibusOutcome>,
    /// The sizes of the errors, the first of them in the large.
    pub intervals: Named<Size>,
}

impl Answer {
    /// Puts a test beside the sizes of errors, about which its sentences speak as well.
    pub fn new(omnibus: error::Result<OmnibusOutcome>, intervals: Vec<(Name, Size)>) -> Self {
        let known = intervals.iter().filter_map(|(name, size)| {
            let interval = size.interval.0.as_ref().ok()?;
            Some((name.clone(), *interval))
        });
        Self {
            omnibus: Known::of(omnibus.map(|outcome| outcome.beside(known))),
            intervals: Named(intervals),
        }
    }

    /// The aspects that fail, the most significant first; none unless the test rejects.
    pub fn findings(&self) -> Vec<&AspectOutcome> {
        match &self.omnibus.0 {
            Ok(outcome) if outcome.is_rejected() => outcome.failing(OmnibusOutcome::LEVEL),
            _ => Vec::new(),
        }
    }
}

/// One set of predictions: the answer about it, and the other numbers and diagrams of its page.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Assessed<S> {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// The other numbers, and the diagrams.
    pub page: S,
}
