use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use crate::{
    distribution::Categorical,
    error::{Error, Result},
    host::to_vec,
};

/// The expected calibration error of the top label with bins of equal width:
/// `Σ_b |Σ_{i∈b} (c_i − r_i)| / n`, for the confidence `r_i = max_c p_ic` and the correctness `c_i`.
///
/// Bins are right-closed, `((b−1)/B, b/B]`, with 0 in the first. Not differentiable. Biased, upward
/// for calibrated models, and dependent on the bins: prefer [`Skce`](super::Skce) to compare models.
/// Guo, Pleiss, Sun, Weinberger: *On calibration of modern neural networks*, 2017, equation 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ece {
    /// The number of bins, 15 by default.
    pub bins: usize,
}

impl Default for Ece {
    fn default() -> Self {
        Self { bins: 15 }
    }
}

impl Ece {
    /// With the given number of bins.
    pub fn new(bins: usize) -> Self {
        Self { bins }
    }

    /// The estimate from data.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// No bins, a label that is not a class, or another number of labels than of predictions.
    pub fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        if self.bins == 0 {
            return Err(Error::Parameter {
                name: "the number of bins",
                value: 0.0,
                expected: "at least 1",
            });
        }
        let (binary, correct) = predictions.top_label(labels)?;
        let correct = correct.try_into_vec_as::<i64>().expect("an int tensor");
        let confidence = to_vec(binary.probabilities().slice([0..correct.len(), 1..2]));
        let mut gap = vec![0.0; self.bins]; // Σ_{i∈b} (c_i − r_i)
        for (&r, &c) in confidence.iter().zip(&correct) {
            gap[self.bin(r)] += c as f64 - r;
        }
        Ok(gap.iter().map(|gap| gap.abs()).sum::<f64>() / correct.len() as f64)
    }

    /// The bin `b` (0-based) with `b/B < r ≤ (b+1)/B`; 0 lies in the first.
    fn bin(&self, r: f64) -> usize {
        ((r * self.bins as f64).ceil() as usize).clamp(1, self.bins) - 1
    }
}
