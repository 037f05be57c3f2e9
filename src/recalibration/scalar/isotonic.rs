use burn::config::Config;

use super::{
    event::EventOutcomes,
    table::{Knot, Table, bounded},
};
use crate::{
    error::Result,
    estimator::{Block, pool},
    recalibration::fitted::fitted_map,
};

/// Configuration of [`IsotonicRegression`], which it fits: the estimator of the paper, but for frequencies within
/// `1/(2(n+1))` of 0 and 1, which are moved there because their logits are infinite.
#[derive(Config, Debug)]
#[must_use]
pub struct IsotonicRegressionConfig {}

impl IsotonicRegressionConfig {
    pub(super) fn validate(&self) -> Result<()> {
        Ok(())
    }

    /// The ends of the blocks of pooled adjacent violators, with their frequencies.
    pub(super) fn knots(&self, event: &EventOutcomes) -> Vec<Knot> {
        let ends = |block: Block| {
            let value = bounded(block.frequency(), event.samples);
            [block.first, block.last].map(|place| Knot { place, value })
        };
        let blocks = pool(event.groups.iter().copied()).into_iter();
        let mut knots: Vec<_> = blocks.flat_map(ends).collect();
        knots.dedup();
        knots
    }
}

fitted_map! {
    /// Isotonic regression: the non-decreasing function of the log-odds of class 1 of two classes, or of
    /// each class, with the lowest log loss, which has the lowest Brier score as well (Zadrozny and Elkan:
    /// *Transforming classifier scores into accurate multiclass probability estimates*, 2002).
    ///
    /// ```text
    /// g(s_i) = max_{j ≤ i} min_{k ≥ i} mean(y_j..y_k)
    /// ```
    ///
    /// by pooling adjacent violators, `O(n log n)` with the sorting, in exact comparisons; samples of equal
    /// log-odds count as one with their number as its weight. From the last of a block of equal probability to the
    /// first of the next the map is a line in the log-odds, as in scikit-learn. Probabilities within `1/(2(n+1))` of 0 or
    /// 1 are moved to it, and beyond the log-odds of the fit the map is constant. A class that is never seen has
    /// that as its probability throughout.
    ///
    /// Another criterion than the log loss is an error: there is nothing to descend. The report has the log
    /// loss of the map.
    ///
    /// Nothing is kept: constant within blocks, it makes ties of different predictions, and where it
    /// passes ½ elsewhere than the original it changes the decision.
    IsotonicRegression: Table, "isotonic regression", Table::template, logits
}
