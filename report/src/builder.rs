use super::{
    Report, Reportable,
    quantile_section::QuantileOptions,
    reliability_section::ReliabilityOptions,
    section::{After, Plan},
};
use burn_calibration::{error::Result, estimator::Binning};

/// Builds a [`Report`] from predictions of any kind, their targets and, optionally, recalibrated
/// predictions of the same samples.
///
/// Use other samples than those that the model was trained on and that the recalibration was fitted to: on
/// those both look better than they are.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::Normal;
/// use burn_calibration_report::ReportBuilder;
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let targets = Tensor::<2>::from_floats([[-1.0], [0.5], [2.0]], &Device::default());
/// let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
/// let report = ReportBuilder::new(&predictions, &targets).build()?;
/// let error = report.before.answer.estimates.0.get("root_mean_squared_error").unwrap();
/// assert!((error.value.0.as_ref().unwrap().number() - 1.75f64.sqrt()).abs() < 1e-6);
/// assert!(report.to_html().contains("3 predictions"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReportBuilder<'a, P: Reportable> {
    predictions: &'a P,
    targets: &'a P::Targets,
    after: Option<&'a dyn After<P>>,
    /// The predictions after, where they are of the same kind.
    alike: Option<&'a P>,
    title: String,
    notes: Vec<String>,
    level: f64,
    kernel: Option<P::Kernel>,
    seed: u64,
    rows: Vec<usize>,
    options: P::Options,
}

impl<'a, P: Reportable> ReportBuilder<'a, P> {
    /// Starts from predictions, as `n × m` probabilities, and targets, as labels `[n]` or vectors
    /// `[n, d]`.
    pub fn new(predictions: &'a P, targets: &'a P::Targets) -> Self {
        Self {
            predictions,
            targets,
            after: None,
            alike: None,
            title: "Calibration report".into(),
            notes: Vec::new(),
            level: 0.95,
            kernel: None,
            seed: 0,
            rows: Vec::new(),
            options: P::Options::default(),
        }
    }

    /// Adds recalibrated predictions of the same samples.
    pub fn with_after(self, after: &'a P) -> Self {
        Self {
            after: Some(after),
            alike: Some(after),
            ..self
        }
    }

    /// Adds recalibrated predictions of the same samples that are of another kind, such as mixtures after normal
    /// distributions.
    pub fn with_after_of(self, after: &'a dyn After<P>) -> Self {
        Self {
            after: Some(after),
            alike: None,
            ..self
        }
    }

    /// Sets the title of the page.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// Sets what to know of the data, a sentence each; the page shows it under the verdict.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Sets the probability of bands and confidence intervals, 0.95 by default.
    pub fn with_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// Sets the kernel of the SKCE. By default it is the exponential one over total variation for
    /// classes, and `exp(−W₂/ν) ⊗ exp(−‖y − y'‖²/2ℓ²)` for others, with the medians of the predictions
    /// before and of the targets.
    pub fn with_kernel(self, kernel: P::Kernel) -> Self {
        Self {
            kernel: Some(kernel),
            ..self
        }
    }

    /// Sets the seed, 0 by default: of the redraws and landmarks of the omnibus test, and of transforms where the
    /// predicted distribution function has steps.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the row of the data of each sample, where some rows were left out: the page names these rows.
    pub fn with_rows(self, rows: Vec<usize>) -> Self {
        Self { rows, ..self }
    }

    /// Computes all numbers and diagrams.
    ///
    /// Cost: `O(n²·m)` for the SKCE, for draws times the pairs of these, and for mixtures a linear program for each
    /// pair, unless they are
    /// [compared by their quantiles](burn_calibration::distribution::Mixture::compared_by_quantiles); above
    /// [`ALL_PAIRS`](crate::ALL_PAIRS) samples it is of blocks; that of the [`OmnibusTest`](burn_calibration::hypothesis::OmnibusTest), and that of the diagrams.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid; another number of targets, or of predictions after, than
    /// of predictions; other classes or dimensions after; another number of names than of classes; an
    /// invalid kernel; bins that are refused; a level that is not between 0 and 1. A score that is not
    /// finite and an SKCE of too few samples are not errors: the page says why they are missing.
    pub fn build(self) -> Result<Report<P::Section>> {
        let (before, targets) = (self.predictions, self.targets);
        let (plain, weights) = before.parted();
        plain.check()?;
        plain.check_targets(targets)?;
        if let Some(after) = self.alike {
            before.check_like(after)?;
        }
        let subject = before.subject(targets, self.options)?;
        let samples = before.len();
        let plan = Plan {
            targets,
            subject: &subject,
            level: self.level,
            kernel: plain.fixed_kernel(targets, self.kernel)?,
            seed: self.seed,
            rows: &self.rows,
        };
        let after = self.after.map(|after| after.assessed_after(before, &plan));
        let (after, changes) = after.transpose()?.unzip();
        Ok(Report {
            before: plan.assessed(before)?,
            after,
            changes: changes.unwrap_or_default(),
            title: self.title,
            notes: self.notes,
            samples,
            effective_samples: weights.effective(samples),
            level: self.level,
            kernel: plan.kernel,
            seed: self.seed,
            subject,
        })
    }
}

/// Settings of the diagrams of classes.
impl<P: Reportable<Options = ReliabilityOptions>> ReportBuilder<'_, P> {
    /// Sets a name for each class; by default they are called by number, from 0.
    pub fn with_class_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the largest number of classes with a diagram, 10 by default: those with the largest calibration errors.
    pub fn with_most_classes(mut self, most_classes: usize) -> Self {
        self.options.most_classes = most_classes;
        self
    }

    /// Shows the error of another order in the same bins beside the ECE, which is that of order 1: 2 is the root
    /// mean squared one, and infinity the largest gap.
    pub fn with_order(mut self, order: f64) -> Self {
        self.options.order = order;
        self
    }

    /// Sets whether the classes have an order, that of their numbers: then the page has the ranked probability score.
    pub fn with_ordered_classes(mut self, are_ordered: bool) -> Self {
        self.options.are_ordered = are_ordered;
        self
    }

    /// Sets the bins of all diagrams and of the ECE. By default they are 15 of equal width, and of equal mass for an event
    /// whose probabilities are all below a half.
    pub fn with_binning(mut self, binning: Binning) -> Self {
        self.options.binning = Some(binning);
        self
    }
}

/// Settings of the histogram of real numbers.
impl<P: Reportable<Options = QuantileOptions>> ReportBuilder<'_, P> {
    /// Sets the number of bins of the histogram, 10 by default.
    pub fn with_bins(mut self, bins: usize) -> Self {
        self.options.bins = bins;
        self
    }
}
