//! Events with their log-odds on the host.

use crate::recalibration::data::FitData;

use super::odds;

/// Rows of equal log-odds.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The log-odds `s`.
    pub score: f64,
    pub samples: usize,
    /// The number of them in which the event occurred.
    pub hits: usize,
}

/// The outcomes of an event: its rows by increasing log-odds, those of equal log-odds together.
#[derive(Debug, Clone)]
pub struct Outcomes {
    pub groups: Vec<Group>,
    pub samples: usize,
    pub hits: usize,
}

impl Outcomes {
    /// Class 1 of two classes, else each class.
    pub fn all(data: &FitData) -> Vec<Self> {
        let k = odds::events(data.classes);
        let scores: Vec<f64> = data.rows().flat_map(log_odds).collect();
        let of_event = |event: usize| {
            let class = if k == 1 { 1 } else { event };
            let hits = data.labels.iter().map(|&label| label == class);
            Self::new(scores.iter().skip(event).step_by(k).copied().zip(hits))
        };
        (0..k).map(of_event).collect()
    }

    fn new(rows: impl Iterator<Item = (f64, bool)>) -> Self {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|(s, _), (t, _)| s.total_cmp(t));
        let group = |rows: &[(f64, bool)]| Group {
            score: rows[0].0,
            samples: rows.len(),
            hits: rows.iter().filter(|(_, hit)| *hit).count(),
        };
        let groups: Vec<_> = rows.chunk_by(|(s, _), (t, _)| s == t).map(group).collect();
        Self {
            samples: rows.len(),
            hits: groups.iter().map(|group| group.hits).sum(),
            groups,
        }
    }

    /// What the event is fitted to where it occurs and where not: `(N₊+1)/(N₊+2)` and `1/(N₋+2)`, the
    /// means of the posterior of each under a uniform prior, so that separable data have a finite fit.
    ///
    /// J. Platt: *Probabilistic outputs for support vector machines*, 1999, section 2.2.
    pub fn targets(&self) -> (f64, f64) {
        let (hits, misses) = (self.hits as f64, (self.samples - self.hits) as f64);
        ((hits + 1.0) / (hits + 2.0), 1.0 / (misses + 2.0))
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
    let of_class = |(class, z): (usize, &f64)| match class == top {
        true => largest - second - below.ln(),
        false => z - largest - (sum - (z - largest).exp()).ln(),
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
