use std::sync::Arc;

use super::Categorical;
use crate::host::Numbers;

/// Class probabilities on the host, in f64 whatever the dtype, and what redraws of their labels start
/// from.
#[derive(Debug)]
pub(crate) struct ClassRows {
    /// `p_ic`, row by row.
    pub values: Numbers,
    /// The number `m` of classes.
    pub classes: usize,
    /// The most likely class of each sample, the first of several.
    pub top: Arc<[u32]>,
    /// The probability that each label is another class, as a sum of theirs: `1 − max_c p_ic` with all
    /// of its digits.
    pub doubt: Vec<f64>,
}

/// The most likely class, the first of several.
pub(crate) fn most_likely(p: &[f64]) -> usize {
    (1..p.len()).fold(0, |top, c| if p[c] > p[top] { c } else { top })
}

impl ClassRows {
    pub(super) fn of(predictions: &Categorical) -> Self {
        let values = Numbers::of(predictions.probabilities().detach());
        Self::new(values, predictions.classes())
    }

    pub(super) fn new(values: Numbers, classes: usize) -> Self {
        let rows = values.chunks(classes);
        let top: Arc<[u32]> = rows.map(|p| most_likely(p) as u32).collect();
        let others = |(p, &top): (&[f64], &u32)| {
            let top = top as usize;
            let others: f64 = p[..top].iter().chain(&p[top + 1..]).sum();
            others / (others + p[top])
        };
        let doubt = values.chunks(classes).zip(top.iter()).map(others).collect();
        Self {
            values,
            classes,
            top,
            doubt,
        }
    }

    /// The number `n` of samples.
    pub fn samples(&self) -> usize {
        self.top.len()
    }

    /// `p_i`.
    pub fn row(&self, sample: usize) -> &[f64] {
        &self.values[sample * self.classes..][..self.classes]
    }

    /// `p_i[c]`.
    pub fn probability(&self, sample: usize, class: u32) -> f64 {
        self.values[sample * self.classes + class as usize]
    }

    /// The confidence `r_i = max_c p_ic`.
    pub fn confidence(&self, sample: usize) -> f64 {
        self.probability(sample, self.top[sample])
    }

    /// `Σ_i (1 − max_c p_ic)`: how many of the most likely classes a calibrated model has wrong.
    pub fn expected_errors(&self) -> f64 {
        self.doubt.iter().sum()
    }
}
