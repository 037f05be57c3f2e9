//! Events with their log-odds on the host.

use crate::{
    distribution::Weights,
    estimator::{Block, ScoredSample},
    recalibration::data::FitData,
};

use super::odds;

/// The outcomes of an event: its rows by increasing log-odds, those of equal log-odds together.
#[derive(Debug, Clone)]
pub struct EventOutcomes {
    pub groups: Vec<Block>,
    pub samples: f64,
    pub hits: f64,
}

/// The targets of samples with an event and without it.
pub struct EventTargets {
    pub hit: f64,
    pub miss: f64,
}

impl EventOutcomes {
    /// Class 1 of two classes, otherwise each class.
    pub fn all(data: &FitData) -> Vec<Self> {
        Self::weighted(data, &data.weights)
    }

    /// As [`all`](Self::all), with weights. The numbers of samples are sums of weights whose sum is the effective number
    /// of samples.
    pub fn weighted(data: &FitData, weights: &Weights) -> Vec<Self> {
        let k = odds::events(data.classes);
        let n = data.samples();
        let scale = weights.effective(n) / weights.total(n);
        let scores: Vec<f64> = data.rows().flat_map(log_odds).collect();
        let of_event = |event: usize| {
            let class = if k == 1 { 1 } else { event };
            let scores = scores.iter().skip(event).step_by(k);
            let rows = scores.zip(&data.labels).zip(weights.all(n));
            let sample = |((&score, &label), w): ((&f64, &usize), f64)| ScoredSample {
                score,
                occurred: f64::from(label == class),
                weight: w * scale,
            };
            Self::new(Block::ties(rows.map(sample)))
        };
        (0..k).map(of_event).collect()
    }

    fn new(groups: Vec<Block>) -> Self {
        Self {
            samples: groups.iter().map(|group| group.weight).sum(),
            hits: groups.iter().map(|group| group.hits).sum(),
            groups,
        }
    }

    /// Whether all samples with the event have greater log-odds than all without, and there are some of both.
    pub fn is_separated(&self) -> bool {
        let mut groups = self.groups.iter();
        let first = groups.position(|group| group.hits > 0.0);
        let both = self.hits > 0.0 && self.hits < self.samples;
        let from = first.unwrap_or(0);
        let rest = &self.groups[from..];
        both && rest.iter().all(|group| group.hits == group.weight)
    }

    /// The Mann–Whitney statistic of the log-odds of samples with and without the event, standardised: about
    /// normal if they do not depend on it, negative if the event is the rarer the greater they are. 0 without
    /// samples of both.
    pub fn rank_statistic(&self) -> f64 {
        let (hits, misses) = (self.hits, self.samples - self.hits);
        let (mut below, mut sum) = (0.0, 0.0);
        for group in &self.groups {
            let missed = group.weight - group.hits;
            sum += group.hits * (below + 0.5 * missed);
            below += missed;
        }
        let variance = hits * misses * (hits + misses + 1.0) / 12.0;
        if variance > 0.0 {
            (sum - 0.5 * hits * misses) / variance.sqrt()
        } else {
            0.0
        }
    }

    /// The smoothed targets of samples with the event and without it: `(N₊+1)/(N₊+2)` and `1/(N₋+2)`. They are
    /// the means of the posterior of each under a uniform prior, so that separable data have a finite fit.
    ///
    /// J. Platt: *Probabilistic outputs for support vector machines*, 1999, section 2.2.
    pub fn targets(&self) -> EventTargets {
        let (hits, misses) = (self.hits, self.samples - self.hits);
        EventTargets {
            hit: (hits + 1.0) / (hits + 2.0),
            miss: 1.0 / (misses + 2.0),
        }
    }
}

/// The [`odds::log_odds`] of a row: rows that are equal have equal log-odds, to the last bit.
fn log_odds(row: &[f64]) -> Vec<f64> {
    if let [first, second] = *row {
        return vec![second - first];
    }
    let greatest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let largest = greatest(row);
    let top = row.iter().position(|z| *z >= largest).unwrap_or(0);
    let mut others = row.to_vec();
    others.remove(top);
    let second = greatest(&others);
    let below: f64 = others.iter().map(|z| (z - second).exp()).sum();
    let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
    let of_class = |(class, z): (usize, &f64)| {
        if class == top {
            largest - second - below.ln()
        } else {
            z - largest - (sum - (z - largest).exp()).ln()
        }
    };
    row.iter().enumerate().map(of_class).collect()
}

/// `log σ(t)`.
pub(super) fn log_sigmoid(t: f64) -> f64 {
    t.min(0.0) - (-t.abs()).exp().ln_1p()
}

/// `σ(t)`.
pub(super) fn sigmoid(t: f64) -> f64 {
    log_sigmoid(t).exp()
}
