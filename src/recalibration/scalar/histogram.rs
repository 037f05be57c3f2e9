use serde::{Deserialize, Serialize};

use super::{
    event::{EventOutcomes, TiedRows},
    table::{KnotTable, Tabulate},
};
use crate::recalibration::common::*;

/// The edges of the bins of [`HistogramBinning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BinEdges {
    /// Bins that end after the samples of rank `⌈bn/B⌉` for `b = 1..B`, halfway to the next log-odds. Samples of
    /// equal log-odds share a bin, which can leave fewer bins.
    EqualMass,
    /// Bins that end at the probabilities `b/B`.
    EqualWidth,
}

/// Configuration of [`HistogramBinning`], which it fits.
#[derive(Config, Debug)]
pub struct HistogramBinningConfig {
    /// The number `B` of bins. Default: 15.
    #[config(default = 15)]
    pub bins: usize,
    /// The edges of the bins. Default: equal mass.
    #[config(default = "BinEdges::EqualMass")]
    pub edges: BinEdges,
    /// The number `α` of hits and of misses added to each bin: at least 10⁻³⁰. Default: ½, with which
    /// the probability of a bin is the mean of its posterior under Jeffreys' prior.
    #[config(default = 0.5)]
    pub smoothing: f64,
}

/// Histogram binning: in each bin of the probability of class 1 of two classes, or of each class, the
/// fraction of the samples in which it occurs (Zadrozny and Elkan: *Obtaining calibrated probability
/// estimates from decision trees and naive Bayesian classifiers*, 2001), smoothed,
///
/// ```text
/// g = (k + α)/(n_b + 2α)
/// ```
///
/// for `k` hits among the `n_b` samples of bin `b`, hence never 0 or 1. A bin of equal width without
/// samples has the probability at its centre. Bins are right-closed. Cost: `O(n log n)`.
///
/// A criterion other than the log loss is an error: there is nothing to descend. The report has the log
/// loss of the map.
///
/// Nothing is kept: predictions in the same bin become ties, neighbouring bins need not increase,
/// and the decision changes where a bin crosses ½.
pub type HistogramBinning = Fitted<KnotTable<HistogramBinningConfig>>;

impl HistogramBinningConfig {
    /// The log-odds at which one bin ends and the next begins.
    fn edges(&self, event: &EventOutcomes) -> Vec<f64> {
        match self.edges {
            BinEdges::EqualWidth => (1..self.bins).map(|b| self.logit(b as f64)).collect(),
            BinEdges::EqualMass => {
                let mut edges = Vec::new();
                let (mut below, mut bin) = (0, 1);
                for pair in event.groups.windows(2) {
                    below += pair[0].samples;
                    if bin < self.bins && below >= self.rank(bin, event) {
                        edges.push(0.5 * pair[0].score + 0.5 * pair[1].score);
                        while bin < self.bins && below >= self.rank(bin, event) {
                            bin += 1;
                        }
                    }
                }
                edges
            }
        }
    }

    /// How many samples lie in the first bins.
    fn rank(&self, bins: usize, event: &EventOutcomes) -> usize {
        (bins as u128 * event.samples as u128).div_ceil(self.bins as u128) as usize
    }

    /// The log-odds of `b/B`.
    fn logit(&self, b: f64) -> f64 {
        (b / (self.bins as f64 - b)).ln()
    }
}

impl Tabulate for HistogramBinningConfig {
    const KIND: &'static str = "histogram binning";
    const NAME: &'static str = "histogram";
    const ABOUT: &'static str = "Histogram binning of each class (by the log loss alone)";
    const CLOSED_FORM: &'static str =
        "the frequency in a bin has the least log loss and the least Brier score already";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn validate(&self) -> Result<()> {
        at_least(1, "the number of bins", self.bins, "at least 1")?;
        check_parameter(
            (1e-30..f64::INFINITY).contains(&self.smoothing),
            "the smoothing of a bin",
            self.smoothing,
            "a finite number of at least 1e-30",
        )
    }

    fn knots(&self, event: &EventOutcomes) -> Vec<(f64, f64)> {
        let edges = self.edges(event);
        let mut groups = &event.groups[..];
        let mut value = |bin: usize| {
            let inside = |group: &TiedRows| edges.get(bin).is_none_or(|&edge| group.score <= edge);
            let (here, rest) = groups.split_at(groups.partition_point(inside));
            groups = rest;
            let samples: usize = here.iter().map(|group| group.samples).sum();
            let hits: usize = here.iter().map(|group| group.hits).sum();
            match samples {
                0 => self.logit(bin as f64 + 0.5),
                _ => {
                    let misses = (samples - hits) as f64;
                    ((hits as f64 + self.smoothing) / (misses + self.smoothing)).ln()
                }
            }
        };
        let mut below = value(0);
        let mut knots = vec![];
        for (bin, &edge) in (1..).zip(&edges) {
            let above = value(bin);
            knots.extend([(edge, below), (edge, above)]);
            below = above;
        }
        if knots.is_empty() {
            knots.push((0.0, below));
        }
        knots
    }
}
