//! The SKCE of many sets of targets. The kernel on predictions is exact or of low rank, the targets are labels,
//! as differences from the most likely classes, or vectors:
//!
//! | kernel | labels | vectors |
//! | --- | --- | --- |
//! | exact | `classes` | `vectors` |
//! | of [low rank](low_rank::LowRankSkce) | `low_rank_classes` | `low_rank_vectors` |

mod classes;
mod equal_labels;
mod host_kernel;
mod low_rank;
mod low_rank_classes;
mod low_rank_vectors;
mod vectors;

pub use classes::ClassSkce;
pub use host_kernel::ClassPoints;
use host_kernel::HostKernel;
pub use low_rank::with_bandwidth_of_some;
pub use low_rank_classes::low_rank_of_labels;
pub use low_rank_vectors::low_rank_of_targets;
pub use vectors::VectorSkce;

use crate::{distribution::Weights, estimator::SkceForm};

/// The biased or unbiased estimate from `Σ_ij h_ij` and `Σ_i h_ii` of so many samples.
fn estimate(
    form: SkceForm,
    (samples, weights): (usize, &Weights),
    total: f64,
    diagonal: f64,
) -> f64 {
    match form {
        SkceForm::Biased => total / weights.total(samples).powi(2),
        _ => (total - diagonal) / weights.pairs(samples),
    }
}
