//! Predictions of samples that a map was not fitted to.

use crate::recalibration::family::log_losses;

/// The probabilities of samples, their log losses, and how far their confidences are above what is right.
#[derive(Debug, Clone)]
pub struct Predictions {
    /// `[n, m]`, row after row.
    pub probabilities: Vec<f64>,
    pub losses: Vec<f64>,
    /// The largest probability of each row, less 1 where its class is the label: its mean is the overconfidence.
    pub excess: Vec<f64>,
}

impl Predictions {
    /// From logits, `[n, m]`.
    pub fn new(logits: Vec<f64>, labels: &[usize]) -> Self {
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
            excess: rows.map(|(row, &label)| excess(row, label)).collect(),
            probabilities,
        }
    }
}

/// The largest probability, less 1 where its class is the label.
pub fn excess(row: &[f64], label: usize) -> f64 {
    let largest = row.iter().copied().fold(0.0, f64::max);
    let likely = row.iter().position(|p| *p == largest);
    largest - f64::from(u8::from(likely == Some(label)))
}
