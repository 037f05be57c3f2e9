//! Penalties of others, to hold the SKCE against: by the formulas of their authors.
//!
//! They are part of the study of penalties (`papers/penalties`) and not of the library. `tests/suite/loss/rivals.rs`
//! tests them.

mod esd;
mod soft_avuc;
mod soft_ece;

pub use esd::Esd;
pub use soft_avuc::SoftAvUc;
pub use soft_ece::{SoftEce, SoftEceForm};

use burn::tensor::{Int, Tensor};
use burn_calibration::distribution::{Batch as _, Categorical, Predictive};

/// The most likely class of each sample of a batch. Nothing is read back from the device.
struct TopLabel {
    /// `r_i = max_c p_ic`, `[n, 1]`.
    confidence: Tensor<2>,
    /// `c_i`, 1 where that class is the label, else 0, `[n, 1]`; without gradient.
    correct: Tensor<2>,
}

impl TopLabel {
    /// Panics if the numbers of predictions and labels differ, or on labels that are no classes where they
    /// are on the host.
    fn of(predictions: &Categorical, labels: &Tensor<1, Int>) -> Self {
        predictions.assert_targets(labels);
        let n = predictions.len();
        let (confidence, class) = predictions.probabilities().max_dim_with_indices(1);
        let wrong = class
            .cast(labels.dtype())
            .not_equal(labels.clone().reshape([n, 1]));
        let correct = confidence.ones_like().mask_fill(wrong, 0.0);
        Self {
            confidence,
            correct,
        }
    }
}
