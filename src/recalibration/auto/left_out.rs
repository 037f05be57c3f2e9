//! Predictions of samples that a map was not fitted to.

use crate::{distribution::Subject, recalibration::family::log_losses};

/// The probabilities of samples, their log losses, and how far these are above what happens.
#[derive(Debug, Clone)]
pub struct LeftOutPredictions {
    /// `[n, m]`, row after row.
    pub probabilities: Vec<f64>,
    pub losses: Vec<f64>,
    /// Of classes the largest probability of each row, less 1 where its class is the label: its mean is the
    /// overconfidence. Of an event its probability, less 1 where it happens.
    pub excess: Vec<f64>,
}

impl LeftOutPredictions {
    /// From logits, `[n, m]`.
    pub fn new(logits: Vec<f64>, labels: &[usize], subject: Subject) -> Self {
        let m = logits.len() / labels.len();
        let mut probabilities = logits.clone();
        for row in probabilities.chunks_mut(m) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z = (*z - largest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        let rows = probabilities.chunks(m).zip(labels);
        Self {
            losses: log_losses(logits, labels),
            excess: rows
                .map(|(row, &label)| excess(row, label, subject))
                .collect(),
            probabilities,
        }
    }
}

/// The probability of the most likely class, or of the event, less 1 where the label is of it: above 0 where it
/// is not.
pub fn excess(row: &[f64], label: usize, subject: Subject) -> f64 {
    let class = match subject {
        Subject::Classes => (1..row.len()).fold(0, |k, c| if row[c] > row[k] { c } else { k }),
        Subject::Event | Subject::Correctness => 1,
    };
    let happens = f64::from(u8::from(class == label));
    row[class].max(f64::MIN_POSITIVE) - happens
}
