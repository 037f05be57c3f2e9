//! Scalar maps: a function of the log-odds of an event, one for two classes, one for each class of
//! more.
//!
//! For two classes the event is class 1 and the map gives `(log(1−g), log g)` with the recalibrated
//! probability `g`. For `m > 2` classes each is an event against the others, with log-odds
//! `s_c = log p_c − log(1−p_c)`, and the map gives `log(g_c / Σ_d g_d)`. Such a class-wise map keeps
//! neither the order of the classes nor the accuracy, and nothing is known of its injectivity.
//!
//! A map of few parameters is a `Curve`, one of knots a `Table`.

mod curve;
pub(super) mod event;
mod histogram;
mod isotonic;
mod logistic;
mod odds;
mod spline;
pub(super) mod table;
mod venn_abers;

use burn::tensor::{Device, Tensor};

use self::event::EventOutcomes;
use super::{
    FitTask, Recalibration,
    task::{NoDescent, closed_form},
};
use crate::error::Result;

pub use curve::{
    BetaCalibration, BetaCalibrationConfig, PlattScaling, PlattScalingConfig, QuadraticScaling,
    QuadraticScalingConfig,
};
pub use histogram::{HistogramBinning, HistogramBinningConfig};
pub use isotonic::{IsotonicRegression, IsotonicRegressionConfig};
pub use spline::{SplineCalibration, SplineCalibrationConfig};
pub use table::Knot;
pub use venn_abers::{VennAbers, VennAbersConfig, VennAbersInterval};

/// The recalibrated logits of a map that gives `log g` and `log(1−g)` of log-odds, `[n, k]` each.
fn recalibrated(
    logits: Tensor<2>,
    log_probabilities: impl FnOnce(Tensor<2>) -> [Tensor<2>; 2],
) -> Tensor<2> {
    let [occurs, not] = log_probabilities(odds::log_odds(logits));
    odds::logits(occurs, not)
}

/// Makes a map of the outcomes of each event, in closed form, with its log loss as the report; no map if another
/// criterion is asked for.
fn closed_form_by_event<M: Recalibration>(
    task: &mut FitTask,
    refusal: NoDescent,
    make: impl FnOnce(&[EventOutcomes], &Device) -> M,
) -> Result<M> {
    refusal.check(task.criterion)?;
    let map = make(&EventOutcomes::all(&task.data), &task.data.device);
    Ok(closed_form(map, task))
}
