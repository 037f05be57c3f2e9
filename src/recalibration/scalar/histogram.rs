use burn::config::Config;

use super::{
    event::EventOutcomes,
    table::{Knot, Table},
};
use crate::{
    error::{Result, check_count, check_parameter},
    estimator::Block,
    recalibration::fitted::fitted_map,
};

/// Configuration of [`HistogramBinning`], which it fits, with half a hit and half a miss added to each bin by default:
/// `with_smoothing(1e-30)` gives the frequencies of the paper.
#[derive(Config, Debug)]
#[must_use]
pub struct HistogramBinningConfig {
    /// The number `B` of bins. Default: 15.
    #[config(default = 15)]
    pub bins: usize,
    /// The number `α` of hits and of misses added to each bin: at least 10⁻³⁰. Default: ½, with which
    /// the probability of a bin is the mean of its posterior under Jeffreys' prior.
    #[config(default = 0.5)]
    pub smoothing: f64,
}

impl HistogramBinningConfig {
    pub(super) fn validate(&self) -> Result<()> {
        check_count("the number of bins", self.bins)?;
        check_parameter(
            (1e-30..f64::INFINITY).contains(&self.smoothing),
            "the smoothing of a bin",
            self.smoothing,
            "a finite number of at least 1e-30",
        )
    }

    /// Two knots at each log-odds where one bin ends and the next begins.
    pub(super) fn knots(&self, event: &EventOutcomes) -> Vec<Knot> {
        let mut before = 0.0;
        let numbered = |group: &Block| {
            let bin = (before * self.bins as f64 / event.samples) as u64;
            before += group.weight;
            (bin, *group)
        };
        let numbered: Vec<(u64, Block)> = event.groups.iter().map(numbered).collect();
        let bins: Vec<_> = numbered.chunk_by(|a, b| a.0 == b.0).collect();
        let value = |bin: &[(u64, Block)]| {
            let samples: f64 = bin.iter().map(|(_, group)| group.weight).sum();
            let hits: f64 = bin.iter().map(|(_, group)| group.hits).sum();
            let misses = samples - hits;
            ((hits + self.smoothing) / (misses + self.smoothing)).ln()
        };
        let jump = |pair: &[&[(u64, Block)]]| {
            let [below, above] = [pair[0], pair[1]];
            let place = 0.5 * below[below.len() - 1].1.first + 0.5 * above[0].1.first;
            [below, above].map(|bin| Knot {
                place,
                value: value(bin),
            })
        };
        if bins.len() == 1 {
            return vec![[0.0, value(bins[0])].into()];
        }
        bins.windows(2).flat_map(jump).collect()
    }
}

fitted_map! {
    /// Histogram binning: in each bin of the probability of class 1 of two classes, or of each class, the
    /// fraction of the samples in which it occurs (Zadrozny and Elkan: *Obtaining calibrated probability
    /// estimates from decision trees and naive Bayesian classifiers*, 2001), smoothed,
    ///
    /// ```text
    /// g = (k + α)/(n_b + 2α)
    /// ```
    ///
    /// for `k` hits among the `n_b` samples of bin `b`, hence never 0 or 1. Bins have equal mass: they end after the
    /// samples of rank `⌈bn/B⌉` for `b = 1..B`, halfway to the next log-odds. Samples of equal log-odds share a bin,
    /// which can leave fewer bins. Bins are right-closed. Cost: `O(n log n)`.
    ///
    /// A criterion other than the log loss is an error: there is nothing to descend. The report has the log
    /// loss of the map.
    ///
    /// Nothing is kept: predictions in the same bin become ties, neighbouring bins need not increase,
    /// and the decision changes where a bin crosses ½.
    HistogramBinning: Table, "histogram binning", Table::template, logits
}
