//! The engine of redraws: sets of targets drawn from the predictions, shared by all statistics of a call.
//!
//! An [`Evaluator`] computes a statistic of many sets that share their predictions, and what depends on
//! the predictions alone once. Labels come as differences from the most likely classes
//! ([`LabelSets`](crate::distribution::LabelSets)), of which confident models have few:
//!
//! | file | statistic | cost of a set with `f` differences |
//! | --- | --- | --- |
//! | `sums` | sums over samples: confidence, Brier score, log score, classes | `f` |
//! | `bins` | ECE, MCE, TCE of the top label, Kolmogorov–Smirnov, counts in bins | `n`; of counts `f` |
//! | `line` | MMCE | `n` |
//! | `skce/classes` | SKCE, biased and unbiased | `f²/2`, or `n²/2` where that is less |
//! | `skce/low_rank_classes` | SKCE of a kernel of low rank `J` | `f·J` |
//! | `skce/vectors` | SKCE of predictions over vectors | `n²·r` with `r` features of the residuals |
//! | `skce/low_rank_vectors` | the same of kernels of low rank `J` on predictions and targets | `n·J²` |
//! | `least` | the least likely label | `f` |
//! | `others` | labels among the classes that are not the most likely one | `f` and the pairs of classes |
//! | `outcomes` | of an event: Spiegelhalter, Hosmer–Lemeshow, Cox | `n` times a constant |
//! | [`OneByOne`] | any | an estimate |

mod bins;
mod detail;
mod least;
mod line;
mod others;
mod outcomes;
mod skce;
mod sums;

use rand::Rng;

pub(super) use bins::{BinnedCounts, ClassWiseError, CumulativeGap, binned_error};
pub use detail::{Detail, Place};
pub(super) use detail::{p_value_of_count, p_value_of_sum};
pub(super) use least::LeastLikelyLabel;
pub(super) use line::confidence_kernel;
pub(super) use others::{CHI_SQUARE, LARGEST, OtherLabels};
pub(super) use outcomes::{EventStatistic, OfEvent, test_of_event};
pub(super) use skce::{
    ClassPoints, ClassSkce, VectorSkce, low_rank_of_labels, low_rank_of_targets,
    with_bandwidth_of_some,
};
pub(super) use sums::{BRIER, CLASSES, CONFIDENCE, LOG, SampleSums};

use crate::{
    distribution::{Categorical, Flip, LabelSets, Predictive, Redrawer, Redrawn, RedrawnBy},
    error::Result,
    hypothesis::p_value::check_statistics,
};

/// Computes a statistic of sets `S` of targets for the same predictions: [`RedrawnBy`] says which sets a kind of
/// prediction has.
pub trait Evaluator<S> {
    /// The number of numbers of each set, 1 by default.
    fn width(&self) -> usize {
        1
    }

    /// The numbers of each set, one set after another.
    ///
    /// # Errors
    ///
    /// An error says which condition the data violate.
    fn values(&self, sets: &S) -> Result<Vec<f64>>;

    /// The details of each number of the data, which are one set: by default none are known.
    ///
    /// # Errors
    ///
    /// An error says which condition the data violate.
    fn details(&self, _data: &S) -> Result<Vec<Detail>> {
        Ok(vec![Detail::default(); self.width()])
    }
}

/// An evaluator of the targets of predictions `P`.
pub(super) type EvaluatorOf<'a, P = Categorical> = Box<dyn Evaluator<RedrawnBy<P>> + 'a>;

/// A number of each set of labels by its differences from the most likely classes, on all threads.
pub(super) struct EachSet<F>(pub F);

impl<F: Fn(&[Flip]) -> f64 + Sync> Evaluator<LabelSets> for EachSet<F> {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(&self.0))
    }
}

/// An estimate of each set, one after another.
pub(super) struct OneByOne<'a, P, F> {
    pub predictions: &'a P,
    pub estimate: F,
}

impl<P: Predictive, F> Evaluator<RedrawnBy<P>> for OneByOne<'_, P, F>
where
    F: Fn(&P, &P::Targets) -> Result<f64>,
{
    fn values(&self, sets: &RedrawnBy<P>) -> Result<Vec<f64>> {
        let estimate = |set| {
            let targets = self.predictions.observed(&sets.set(set));
            (self.estimate)(self.predictions, &targets)
        };
        (0..sets.len()).map(estimate).collect()
    }
}

/// The statistics of data and of redrawn targets.
pub(super) struct Engine<'a, S> {
    redrawer: Redrawer<S>,
    evaluators: &'a [Box<dyn Evaluator<S> + 'a>],
    /// The numbers of the data, of every evaluator in turn.
    pub data: Vec<f64>,
    /// Their details.
    pub details: Vec<Detail>,
    /// The numbers of each redraw, for every number of `data`.
    pub drawn: Vec<Vec<f64>>,
}

impl<'a, S> Engine<'a, S> {
    /// The statistics of checked data, which are one set of targets.
    pub fn new(
        redrawer: Redrawer<S>,
        data: S,
        evaluators: &'a [Box<dyn Evaluator<S> + 'a>],
    ) -> Result<Self> {
        let mut engine = Self {
            redrawer,
            evaluators,
            data: Vec::new(),
            details: Vec::new(),
            drawn: Vec::new(),
        };
        engine.data = engine.evaluate(&data)?.concat();
        for evaluator in evaluators {
            engine.details.extend(evaluator.details(&data)?);
        }
        engine.drawn = vec![Vec::new(); engine.data.len()];
        Ok(engine)
    }

    /// The number of redraws so far.
    pub fn len(&self) -> usize {
        self.drawn.first().map_or(0, Vec::len)
    }

    /// Draws so many sets more.
    pub fn extend(&mut self, count: usize, rng: &mut dyn Rng) -> Result<()> {
        let wanted = self.len() + count;
        while self.len() < wanted {
            let sets = self.redrawer.batch.min(wanted - self.len());
            let values = self.evaluate(&(self.redrawer.draw)(sets, rng))?;
            for (drawn, values) in self.drawn.iter_mut().zip(values) {
                drawn.extend(values);
            }
        }
        Ok(())
    }

    /// The values of the sets, for every number of an evaluator.
    fn evaluate(&self, sets: &S) -> Result<Vec<Vec<f64>>> {
        let mut columns = Vec::new();
        for evaluator in self.evaluators {
            let (width, values) = (evaluator.width(), evaluator.values(sets)?);
            check_statistics(&values)?;
            let column = |c: usize| values.iter().copied().skip(c).step_by(width).collect();
            columns.extend((0..width).map(column));
        }
        Ok(columns)
    }
}
