use serde::{Deserialize, Serialize};

use super::{
    event::{EventOutcomes, TiedRows},
    table::{KnotTable, Tabulate, bounded, check_margin},
};
use crate::{
    estimator::{Block, pool},
    recalibration::common::*,
};

/// The form of [`IsotonicRegression`] between the blocks of equal probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Interpolation {
    /// A line in the log-odds from the last of a block to the first of the next, as in scikit-learn.
    Linear,
    /// A step halfway between them.
    Step,
    /// A line from the mean log-odds of a block to that of the next: centred isotonic regression (Oron and
    /// Flournoy: *Centered isotonic regression*, 2017). It increases between the first and the last, but for
    /// blocks at 0 and 1, which stay as wide as they are.
    Centred,
}

/// Configuration of [`IsotonicRegression`], which it fits.
#[derive(Config, Debug)]
pub struct IsotonicRegressionConfig {
    /// The form of the map between its blocks. Default: linear.
    #[config(default = "Interpolation::Linear")]
    pub interpolation: Interpolation,
    /// The least distance of the probabilities from 0 and 1, whose logarithm is not finite: at least
    /// 10⁻³⁰, below ½. Default: `1/(2(n+1))` of `n` samples.
    #[config(default = "None")]
    pub margin: Option<f64>,
}

/// Isotonic regression: the non-decreasing function of the log-odds of class 1 of two classes, or of
/// each class, with the least log loss, which has the least Brier score as well (Zadrozny and Elkan:
/// *Transforming classifier scores into accurate multiclass probability estimates*, 2002).
///
/// ```text
/// g(s_i) = max_{j ≤ i} min_{k ≥ i} mean(y_j..y_k)
/// ```
///
/// by pooling adjacent violators, `O(n log n)` with the sorting, in exact comparisons; samples of equal
/// log-odds count as one with their number as its weight. Probabilities within a margin of 0 or 1 are
/// moved to it, and beyond the log-odds of the fit the map is constant. A class that is never seen has
/// the margin as its probability throughout.
///
/// Another criterion than the log loss is an error: there is nothing to descend. The report has the log
/// loss of the map.
///
/// Nothing is kept: constant within blocks, it makes ties of different predictions, and where it
/// passes ½ elsewhere than the original it changes the decision.
pub type IsotonicRegression = Fitted<KnotTable<IsotonicRegressionConfig>>;

/// Pools adjacent violators among the groups of equal log-odds.
fn pooled(event: &EventOutcomes) -> Vec<Block> {
    let block = |group: &TiedRows| Block::of_ties(group.score, group.samples, group.hits);
    pool(event.groups.iter().map(block))
}

impl Tabulate for IsotonicRegressionConfig {
    const KIND: &'static str = "isotonic regression";
    const NAME: &'static str = "isotonic";
    const ABOUT: &'static str = "Isotonic regression of each class (by the log loss alone)";
    const CLOSED_FORM: &'static str =
        "pooling adjacent violators has the least log loss and the least Brier score already";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn validate(&self) -> Result<()> {
        check_margin(self.margin)
    }

    fn knots(&self, event: &EventOutcomes) -> Vec<(f64, f64)> {
        let blocks = pooled(event);
        let value = |block: &Block| bounded(block.frequency(), self.margin, event.samples);
        let last = blocks.len() - 1;
        let ends = |(i, block): (usize, &Block)| {
            let middle = |i: usize| 0.5 * blocks[i].last + 0.5 * blocks[i + 1].first;
            let (first, last) = match self.interpolation {
                Interpolation::Centred if (1..block.samples).contains(&block.hits) => {
                    let centre = block.sum / block.samples as f64;
                    let centre = centre.clamp(block.first, block.last);
                    (centre, centre)
                }
                Interpolation::Linear | Interpolation::Centred => (block.first, block.last),
                Interpolation::Step => (
                    if i == 0 { block.first } else { middle(i - 1) },
                    if i == last { block.last } else { middle(i) },
                ),
            };
            [(first, value(block)), (last, value(block))]
        };
        let mut knots: Vec<_> = blocks.iter().enumerate().flat_map(ends).collect();
        knots.dedup();
        knots
    }
}
