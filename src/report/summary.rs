use std::path::Path;

use burn::tensor::{Int, Tensor};

use super::{
    Reliability, ReliabilityDiagram,
    answer::{interval, omnibus},
};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    estimator::{Estimator, Event, KolmogorovSmirnov, Skce, Tce},
    file,
    host::int_tensor,
    hypothesis::OmnibusOutcome,
    kernel::Kernel,
    score::{Interval, MeanEstimate, Overconfidence, ProperScore},
};

/// What a page says about a model, before and after recalibration; built by
/// [`ReportBuilder`](super::ReportBuilder).
#[derive(Debug, Clone)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The number `n` of samples.
    pub samples: usize,
    /// What the `m` classes are called.
    pub class_names: Vec<String>,
    /// The classes that have a diagram of their own: those with most labels.
    pub shown_classes: Vec<usize>,
    /// Bins and level of all diagrams; the event is that of each. The level is also that of the
    /// confidence intervals.
    pub reliability: Reliability,
    /// The kernel of the SKCE. A median bandwidth is that of the predictions before, and used for
    /// those after as well, so that the two estimates are of one scale.
    pub kernel: Kernel,
    /// The number of samples of the SKCE: drawn at random where these are not all.
    pub skce_samples: usize,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The model.
    pub before: Summary,
    /// The recalibrated model, if there is one.
    pub after: Option<Summary>,
}

/// The numbers and diagrams of one set of predictions.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The omnibus test of all samples, or why there is none.
    pub omnibus: Result<OmnibusOutcome>,
    /// The overconfidence of the top label.
    pub overconfidence: Result<Interval>,
    /// The debiased calibration error of order 2 of the top label, that of [`Tce::default`].
    pub ece_debiased: Result<Interval>,
    /// The unbiased SKCE of all probabilities, or why there is none.
    pub skce: Result<Interval>,
    /// How often the most likely class was the right one, with its standard error.
    pub accuracy: MeanEstimate,
    /// The mean confidence in the most likely class.
    pub confidence: MeanEstimate,
    /// The Brier score.
    pub brier: MeanEstimate,
    /// The log score, or why it is infinite.
    pub log: Result<MeanEstimate>,
    /// The expected calibration error of the top label, in the bins of the diagram.
    pub ece: f64,
    /// The Kolmogorov–Smirnov calibration error of the top label.
    pub ks: f64,
    /// The diagram of the top label.
    pub top_label: ReliabilityDiagram,
    /// The diagrams of the classes in [`Report::shown_classes`].
    pub class_wise: Vec<ReliabilityDiagram>,
}

impl Report {
    /// Saves the page of [`to_html`](Self::to_html), written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), self.to_html().as_bytes())
    }

    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.class_names.len()
    }
}

/// What is computed of predictions.
pub(super) struct Plan<'a> {
    pub labels: &'a Tensor<1, Int>,
    pub reliability: Reliability,
    pub classes: &'a [usize],
    /// With a fixed bandwidth.
    pub kernel: Kernel,
    /// The samples of the SKCE, where it is not of all.
    pub rows: Option<&'a [usize]>,
    pub seed: u64,
}

impl Plan<'_> {
    pub fn summary(&self, predictions: &Categorical) -> Result<Summary> {
        let outcomes = Event::TopLabel.outcomes(predictions, self.labels)?;
        let correct: Vec<f64> = outcomes.pairs().map(|(_, correct)| correct).collect();
        let score = |score: ProperScore| score.upper_bound(predictions, self.labels);
        let diagram = |event| Reliability {
            event,
            ..self.reliability
        };
        let class_wise = self
            .classes
            .iter()
            .map(|&class| diagram(Event::Class(class)).diagram(predictions, self.labels))
            .collect::<Result<_>>()?;
        let top_label = diagram(Event::TopLabel).diagram(predictions, self.labels)?;
        let data = (predictions, self.labels);
        let level = self.reliability.level;
        Ok(Summary {
            omnibus: omnibus(self.kernel, data, self.seed),
            overconfidence: interval(&Overconfidence::default(), data, level),
            ece_debiased: interval(&Tce::default(), data, level),
            skce: self.skce(predictions),
            accuracy: MeanEstimate::of(&correct),
            confidence: MeanEstimate::of(&outcomes.probability),
            brier: score(ProperScore::Brier)?,
            log: score(ProperScore::Log),
            ece: top_label.ece(),
            ks: KolmogorovSmirnov::new(Event::TopLabel).estimate(predictions, self.labels)?,
            top_label,
            class_wise,
        })
    }

    fn skce(&self, predictions: &Categorical) -> Result<Interval> {
        let (skce, level) = (Skce::unbiased(self.kernel), self.reliability.level);
        match self.rows {
            None => interval(&skce, (predictions, self.labels), level),
            Some(rows) => {
                let index = int_tensor(rows.iter().copied(), &self.labels.device());
                let labels = self.labels.clone().select(0, index);
                interval(&skce, (&predictions.select_rows(rows), &labels), level)
            }
        }
    }
}
