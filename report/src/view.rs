use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::Result,
    estimator::{Binning, Event, Tce, TceForm},
    hypothesis::{OmnibusOutcome, OmnibusTest},
    names::Name,
};
use rand::rngs::StdRng;

use super::{
    distances::Distances as _,
    section::Reportable,
    size::{Size, Sizing},
};

/// An aspect whose calibration is looked at: predictions with targets, and what numbers of them are of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View<P: Reportable> {
    /// The class, where it is one against the rest.
    pub class: Option<usize>,
    /// The names of the classes of the view; empty where they are numbers.
    pub class_names: Vec<String>,
    /// The subject of the numbers, in words.
    pub of: SubjectWords,
    /// The predictions.
    pub predictions: P,
    /// The targets.
    pub targets: P::Targets,
    /// The bins of errors of an event.
    pub bins: Bins,
    /// Whether the classes have an order.
    pub is_ordered: bool,
}

/// The words for what numbers are of; none of real numbers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SubjectWords {
    /// The whole prediction.
    pub whole: String,
    /// The same of sums over classes, which may be an event and its complement.
    pub sum: String,
    /// The event of the view.
    pub event: String,
    /// The event of quantities of one event: class 1 of two classes.
    pub one: String,
}

impl SubjectWords {
    /// Words for the whole prediction, the event of the view, and the event of quantities of one event.
    pub(super) fn new([whole, event, one]: [String; 3], classes: usize) -> Self {
        let both = match classes {
            2 => ", summed over both outcomes",
            _ => "",
        };
        Self {
            sum: format!("{whole}{both}"),
            whole,
            event,
            one,
        }
    }
}

/// The bins of errors of an event, and the norm of their gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bins {
    /// The rule that makes the bins.
    pub binning: Binning,
    /// The order of the error that stands beside the ECE, which is that of order 1; infinite for the largest gap.
    pub order: f64,
}

impl Default for Bins {
    fn default() -> Self {
        Self {
            binning: Binning::Uniform { bins: 15 },
            order: 1.0,
        }
    }
}

impl Bins {
    /// The error of an event of an order.
    pub fn error(&self, event: Event, order: f64) -> Tce {
        (Tce::default().with_event(event))
            .with_binning(self.binning)
            .with_form(TceForm::PlugIn { order })
    }

    /// The bins in words: "15 equal-width bins".
    pub(super) fn words(&self) -> String {
        match self.binning {
            Binning::Uniform { bins } => format!("{bins} equal-width bins"),
            Binning::EqualMass { bins } => format!("{bins} equal-mass bins"),
            Binning::MedianVariance { minimum } => {
                format!("median-variance bins of at least {minimum} samples")
            }
            other => format!("{other:?}"),
        }
    }
}

impl<P: Reportable> View<P> {
    /// The whole predictions, or those of a class against the rest.
    ///
    /// - names: names of all classes; empty where they are numbers
    pub fn new(
        predictions: P,
        targets: P::Targets,
        class: Option<usize>,
        names: &[String],
    ) -> Self {
        let against_rest = |class: usize| {
            let name = names.get(class).cloned();
            let name = name.unwrap_or_else(|| class.to_string());
            vec![format!("other than {name}"), name]
        };
        Self {
            class,
            class_names: class.map_or_else(|| names.to_vec(), against_rest),
            of: predictions.words(class, names),
            predictions,
            targets,
            bins: Bins::default(),
            is_ordered: false,
        }
    }

    /// Sets the bins of errors of an event.
    pub fn with_bins(self, bins: Bins) -> Self {
        Self { bins, ..self }
    }

    /// Sets whether the classes have an order.
    pub fn with_order(self, is_ordered: bool) -> Self {
        Self { is_ordered, ..self }
    }

    /// Tests whether the predictions are calibrated.
    ///
    /// # Errors
    ///
    /// The errors of the test.
    pub fn omnibus(&self, test: OmnibusTest, rng: &mut StdRng) -> Result<OmnibusOutcome> {
        let outcome = test.outcome(&self.predictions, &self.targets, rng)?;
        Ok(outcome.with_class_names(&self.class_names))
    }

    /// Measures the errors, the first of them in the large, and the SKCE by a kernel last.
    pub fn sizes(&self, sizing: &Sizing, kernel: Option<P::Kernel>) -> Vec<(Name, Size)> {
        let mut sizes = self.predictions.sizes(&self.targets, sizing);
        let skce = kernel.and_then(|kernel| kernel.skce(self));
        sizes.extend(skce.map(|(name, size)| (name, sizing.skce(size))));
        sizes
    }
}

impl View<Categorical> {
    /// The event that the quantities of an event look at: the top label, or the one that is asked for.
    pub fn event(&self) -> Event {
        Event::of(&self.predictions)
    }

    /// The predictions and the labels.
    pub(super) fn data(&self) -> (&Categorical, &Tensor<1, Int>) {
        (&self.predictions, &self.targets)
    }
}
