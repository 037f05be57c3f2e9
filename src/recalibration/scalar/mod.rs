//! Scalar maps: a function of the log-odds of an event, one for two classes, one for each class of
//! more.
//!
//! For two classes the event is class 1 and the map gives `(log(1−g), log g)` with the recalibrated
//! probability `g`. For `m > 2` classes each is an event against the others, with log-odds
//! `s_c = log p_c − log(1−p_c)`, and the map gives `log(g_c / Σ_d g_d)`. Such a class-wise map keeps
//! neither the order of the classes nor the accuracy, and nothing is known of its injectivity.
//!
//! A map is an [`EventMap`]: one of few parameters is a `Curve`, one of knots a `Table`.

mod cubic;
mod curve;
mod curves;
pub(super) mod event;
mod histogram;
mod isotonic;
mod logistic;
mod odds;
mod spline;
pub(super) mod table;
mod venn_abers;

use self::event::EventOutcomes;
use super::{common::*, task::closed_form};

pub use curves::*;
pub use histogram::{HistogramBinning, HistogramBinningConfig};
pub use isotonic::{IsotonicRegression, IsotonicRegressionConfig};
pub use spline::{SplineCalibration, SplineCalibrationConfig};
pub use venn_abers::{VennAbers, VennAbersConfig, VennAbersInterval};

/// The parameters of a function of log-odds for each of `k` events.
pub trait EventMap: Module + burn::module::ModuleDisplay {
    /// The kind of the map, in words.
    const KIND: &'static str;

    /// The names of the rows of parameters in the documentation, by the names of these.
    const ROWS: &'static [(&'static str, &'static [&'static str])] = &[];

    /// The map of a number of events, for a record to replace.
    fn template(events: usize, device: &Device) -> Self;

    /// Returns what is wrong with parameters that were loaded.
    fn check(&self) -> Result<(), String>;

    /// The number `k` of events.
    fn events(&self) -> usize;

    /// What the map of two classes keeps.
    fn keeps(&self) -> Guarantees {
        Guarantees::NONE
    }

    /// `log g` and `log(1−g)` of log-odds: `[n, k]` each.
    fn log_probabilities(&self, scores: Tensor<2>) -> [Tensor<2>; 2];
}

impl<M: EventMap> Form for M {
    const KIND: &'static str = M::KIND;
    const ROWS: &'static [(&'static str, &'static [&'static str])] = M::ROWS;

    fn template(width: usize, device: &Device) -> Self {
        M::template(odds::events(width), device)
    }

    fn check(&self) -> Result<(), String> {
        match self.events() {
            k @ (0 | 2) => Err(format!("no map has {k} events")),
            _ => EventMap::check(self),
        }
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.events()))
    }

    fn keeps(&self) -> Guarantees {
        if self.events() == 1 {
            EventMap::keeps(self)
        } else {
            Guarantees::NONE
        }
    }
}

impl<M: EventMap> Apply<Tensor<2>> for M {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let [occurs, not] = self.log_probabilities(odds::log_odds(logits));
        odds::logits(occurs, not)
    }
}

/// Makes a map of the outcomes of each event, in closed form, and reports its log loss; no map for the given
/// reason, if another criterion is asked for.
fn closed_form_of_events<M: EventMap>(
    task: Task,
    reason: &str,
    make: impl FnOnce(&[EventOutcomes], &Device) -> M,
) -> Result<FitOutcome<M>> {
    no_criterion(task.criterion.is_some(), M::KIND, &format!(": {reason}"))?;
    let map = make(&EventOutcomes::all(&task.data), &task.data.device);
    Ok(closed_form(map, task))
}
