//! The numbers of a page of classes, each with a sentence on its meaning.

use burn_calibration::{
    distribution::Subject,
    names::{self, Name},
};

use super::{EceOfOrder, ReliabilitySection};
use crate::{
    number::{fixed, percent},
    table::{Cell, PageQuantity},
};

/// What the quantities of one event are of.
pub(super) fn event_in_words(subject: Subject) -> &'static str {
    match subject {
        Subject::Classes => "of the top label",
        Subject::Event => "of the event",
        Subject::Correctness => "of the confidence",
    }
}

impl ReliabilitySection {
    /// All numbers of the page.
    pub(super) fn all_quantities(&self) -> Vec<PageQuantity> {
        let of = event_in_words(self.subject);
        let first = match self.subject {
            Subject::Event => self.of_event(),
            Subject::Classes | Subject::Correctness => self.of_confidence(),
        };
        let mut quantities = first;
        quantities.extend(self.of_both(of));
        quantities.extend(self.ece_of_order.map(|error| error.quantity(of)));
        quantities
    }

    /// The quantities of an event in the large.
    fn of_event(&self) -> Vec<PageQuantity> {
        vec![
            PageQuantity::new(
                Name::new("frequency", "frequency of the event"),
                "How often the event occurred. It says nothing about the probabilities.",
                Cell::mean(&self.accuracy, percent),
            ),
            PageQuantity::new(
                Name::new("mean_risk", "mean probability of the event"),
                "How often the event would occur if the probabilities were right.",
                Cell::mean(&self.confidence, percent),
            ),
        ]
    }

    /// The quantities of confidence and accuracy.
    fn of_confidence(&self) -> Vec<PageQuantity> {
        vec![
            PageQuantity::new(
                names::ACCURACY,
                "How often the most likely class was right. It says nothing about the probabilities.",
                Cell::mean(&self.accuracy, percent),
            ),
            PageQuantity::new(
                names::CONFIDENCE,
                "The accuracy that the model predicts. It equals the accuracy if the model is calibrated, \
                 but also if over- and underconfidence cancel.",
                Cell::mean(&self.confidence, percent),
            ),
        ]
    }

    /// The quantities that are the same of the top label and of an event.
    fn of_both(&self, of: &str) -> [PageQuantity; 4] {
        [
            PageQuantity::new(
                names::BRIER,
                "Mean squared distance of the probabilities from the outcome, summed over all classes (an \
                 event and its complement are two), from 0 (best) to 2. It measures calibration and \
                 accuracy together.",
                Cell::mean(&self.brier, fixed),
            )
            .with_change(fixed),
            PageQuantity::new(
                names::LOG,
                "Mean of −ln of the probability of the outcome, 0 at best. Like the Brier score it \
                 measures calibration and accuracy together. A single confident error can dominate it.",
                Cell::mean_or(&self.log, "∞", fixed),
            )
            .with_change(fixed),
            PageQuantity::new(
                names::ECE_EVENT.of(of),
                "Mean distance of the marks in the diagram from the diagonal, weighted by samples. It \
                 depends on the bins, uses only one probability of each prediction, and is above 0 for a \
                 calibrated model too.",
                Cell::of(fixed(self.ece)),
            ),
            PageQuantity::new(
                names::KS.of(of),
                "Kolmogorov–Smirnov error: the largest gap between the cumulative sums of probabilities \
                 and of outcomes. It needs no bins, but uses only one probability of each prediction, and \
                 is above 0 for a calibrated model too.",
                Cell::of(fixed(self.ks)),
            ),
        ]
    }
}

impl EceOfOrder {
    fn quantity(&self, of: &str) -> PageQuantity {
        let (name, meaning) = match self.order {
            2.0 => (
                names::RMSCE_EVENT,
                "Root mean squared distance of the marks in the diagram from the diagonal, weighted by \
                 samples. It depends on the bins, and is above 0 for a calibrated model too.",
            ),
            f64::INFINITY => (
                names::MCE_EVENT,
                "Largest distance of a mark in the diagram from the diagonal. It depends on the bins, and \
                 marks with few samples decide it.",
            ),
            order => (
                Name::new("ece_of_order", "calibration error").with(format!("order {order}")),
                "Distance of this order of the marks in the diagram from the diagonal, weighted by \
                 samples. It depends on the bins, and is above 0 for a calibrated model too.",
            ),
        };
        PageQuantity::new(name.of(of), meaning, Cell::of(fixed(self.error)))
    }
}
