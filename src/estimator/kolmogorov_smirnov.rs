use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::Event;
use crate::{distribution::Categorical, error::Result, estimator::Estimator};

/// The Kolmogorov–Smirnov calibration error of an event, by default the top label:
/// `max_σ |Σ_{i: r_i ≤ σ} (r_i − c_i)|/n`, the largest distance of the cumulative predicted
/// probability from the cumulative frequency.
///
/// It needs no bins and no bandwidth. Samples with equal probabilities are added together, so the value
/// does not depend on their order. At most the ECE of the event with a bin for each distinct probability;
/// biased upward, by `O(n^{−½})` for a calibrated model. Gupta et al. 2021; Gruber and Buettner 2022,
/// Definition 2.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[must_use]
pub struct KolmogorovSmirnov {
    /// The event.
    pub event: Event,
}

impl KolmogorovSmirnov {
    /// Estimates the error of an event.
    pub fn new(event: Event) -> Self {
        Self { event }
    }
}

impl Estimator for KolmogorovSmirnov {
    /// The estimate from data. Cost: `O(n log n)`.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let mut sorted: Vec<_> = outcomes.all().collect();
        sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for ties in sorted.chunk_by(|a, b| a.score == b.score) {
            let terms = ties
                .iter()
                .map(|one| one.weight * (one.score - one.occurred));
            sum += terms.sum::<f64>();
            largest = largest.max(sum.abs());
        }
        Ok(largest / outcomes.total())
    }
}
