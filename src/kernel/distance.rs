use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::ops::{Metric, Separation, pairwise_distance};

/// A distance between predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Distance {
    /// `½ Σ_c |p_c − q_c|`, between 0 and 1 for probabilities.
    TotalVariation,
    /// `Σ_c |p_c − q_c|`.
    L1,
    /// `(Σ_c (p_c − q_c)²)^½`.
    Euclidean,
}

impl Distance {
    /// The same for the fused pair statistic.
    pub(crate) fn separation(self) -> Separation {
        match self {
            Self::TotalVariation => Separation::L1 { scale: 0.5 },
            Self::L1 => Separation::L1 { scale: 1.0 },
            Self::Euclidean => Separation::Euclidean,
        }
    }

    /// Distances between all rows of `x` and all rows of `y`, within each batch; subgradient 0
    /// where points coincide, see [`pairwise_distance`].
    ///
    /// # Shapes
    ///
    /// - x: `[batch, n, d]`
    /// - y: `[batch, k, d]`
    /// - output: `[batch, n, k]`
    pub fn between(self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        match self {
            Self::TotalVariation => pairwise_distance(x, y, Metric::L1) * 0.5,
            Self::L1 => pairwise_distance(x, y, Metric::L1),
            Self::Euclidean => pairwise_distance(x, y, Metric::Euclidean),
        }
    }
}
