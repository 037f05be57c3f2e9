use std::cmp::Reverse;

use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::StdRng, seq::index};

use super::{Reliability, Report, summary::Plan};
use crate::{
    distribution::{Categorical, Predictive},
    error::{Error, Result},
    estimator::Binning,
    kernel::Kernel,
};

/// Builds a [`Report`] from predictions, labels and, optionally, recalibrated predictions of the
/// same samples.
///
/// The samples must be others than those on which the model was trained and the recalibration was
/// fitted: on these both look better than they are.
#[derive(Debug, Clone)]
pub struct ReportBuilder<'a> {
    predictions: &'a Categorical,
    labels: &'a Tensor<1, Int>,
    after: Option<&'a Categorical>,
    title: String,
    class_names: Option<Vec<String>>,
    most_classes: usize,
    reliability: Reliability,
    kernel: Kernel,
    skce_samples: usize,
    seed: u64,
}

impl<'a> ReportBuilder<'a> {
    /// Of predictions `n × m` and labels `[n]`.
    pub fn new(predictions: &'a Categorical, labels: &'a Tensor<1, Int>) -> Self {
        Self {
            predictions,
            labels,
            after: None,
            title: "Calibration report".into(),
            class_names: None,
            most_classes: 10,
            reliability: Reliability::default(),
            kernel: Kernel::exponential(),
            skce_samples: 20_000,
            seed: 0,
        }
    }

    /// And of recalibrated predictions of the same samples.
    pub fn with_after(self, after: &'a Categorical) -> Self {
        Self {
            after: Some(after),
            ..self
        }
    }

    /// With a title.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// With a name for each class; by default they are called by number, from 0.
    pub fn with_class_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            class_names: Some(names.into_iter().map(Into::into).collect()),
            ..self
        }
    }

    /// With diagrams of at most so many classes, 10 by default: those with most labels.
    pub fn with_most_classes(self, most_classes: usize) -> Self {
        Self {
            most_classes,
            ..self
        }
    }

    /// With other bins for all diagrams and for the ECE.
    pub fn with_binning(self, binning: Binning) -> Self {
        Self {
            reliability: self.reliability.with_binning(binning),
            ..self
        }
    }

    /// With consistency bands and confidence intervals of another probability, 0.95 by default.
    pub fn with_level(self, level: f64) -> Self {
        Self {
            reliability: self.reliability.with_level(level),
            ..self
        }
    }

    /// With another kernel for the SKCE, by default the exponential one over total variation with
    /// the median bandwidth.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// With the SKCE on at most so many samples, 20,000 by default, drawn at random where there are
    /// more: it costs the square of their number. The page says so. The omnibus test is of all samples.
    pub fn with_skce_samples(self, skce_samples: usize) -> Self {
        Self {
            skce_samples,
            ..self
        }
    }

    /// With another seed, 0 by default: of the redraws of the omnibus test, and of the samples of the
    /// SKCE. Nothing else is drawn.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Computes all numbers and diagrams.
    ///
    /// Cost: `O(s²·m)` for the `s` samples of the SKCE, that of the
    /// [`OmnibusTest`](crate::hypothesis::OmnibusTest), and that of the diagrams
    /// ([`Reliability::diagram`]).
    ///
    /// # Errors
    ///
    /// A label that is not a class; another number of labels, or of predictions after, than of
    /// predictions; other classes after; another number of names than of classes; an invalid kernel;
    /// bins or a level as [`Reliability::diagram`] refuses them. A log score that is infinite and an
    /// SKCE of too few samples are no error: the page says why they are missing.
    pub fn build(self) -> Result<Report> {
        let (before, m) = (self.predictions, self.predictions.classes());
        let labels = before.check_labels(self.labels)?;
        if let Some(after) = self.after {
            after.check_classes(m)?;
            after.check_labels(self.labels)?;
        }
        let class_names = match self.class_names {
            Some(names) if names.len() != m => {
                return Err(Error::Parameter {
                    name: "the number of class names",
                    value: names.len() as f64,
                    expected: "one for each class",
                });
            }
            Some(names) => names,
            None => (0..m).map(|class| class.to_string()).collect(),
        };
        let shown_classes = most_frequent(&labels, m, self.most_classes);
        let rows = subset(labels.len(), self.skce_samples, self.seed);
        let points = match &rows {
            Some(rows) => before.select_rows(rows).probabilities(),
            None => before.probabilities(),
        };
        let kernel = self.kernel.with_bandwidth_of(&points.detach())?;
        let plan = Plan {
            labels: self.labels,
            reliability: self.reliability,
            classes: &shown_classes,
            kernel,
            rows: rows.as_deref(),
            seed: self.seed,
        };
        Ok(Report {
            before: plan.summary(before)?,
            after: self.after.map(|after| plan.summary(after)).transpose()?,
            title: self.title,
            samples: labels.len(),
            class_names,
            shown_classes,
            reliability: self.reliability,
            kernel,
            skce_samples: rows.as_ref().map_or(labels.len(), Vec::len),
            seed: self.seed,
        })
    }
}

/// The classes with most labels, in their order; of equally many the first.
fn most_frequent(labels: &[usize], classes: usize, most: usize) -> Vec<usize> {
    let mut counts = vec![0usize; classes];
    for &label in labels {
        counts[label] += 1;
    }
    let mut order: Vec<usize> = (0..classes).collect();
    order.sort_by_key(|&class| Reverse(counts[class])); // stable
    order.truncate(most);
    order.sort_unstable();
    order
}

/// Rows drawn without replacement, in their order, where not all are wanted.
pub(super) fn subset(samples: usize, wanted: usize, seed: u64) -> Option<Vec<usize>> {
    (samples > wanted).then(|| {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut rows = index::sample(&mut rng, samples, wanted).into_vec();
        rows.sort_unstable();
        rows
    })
}
