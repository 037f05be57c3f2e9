use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::Score;
use crate::distribution::{Categorical, residuals};

/// The ranked probability score of classes that have an order, `Σ_k (P_k − 1[y ≤ k])²` with the cumulative
/// probabilities `P_k = p_0 + … + p_k`, in `[0, m − 1]`; strictly proper (Epstein 1969, Murphy 1971).
///
/// A probability costs more the farther its class is from the label, as between grades or stages. For two classes it is
/// half of the [`Brier`](super::Brier) score. Some texts divide it by `m − 1`.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, score::{RankedProbabilityScore, Score}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // both are as far from the first class by the Brier score
/// let rows = Tensor::<2>::from_floats([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0], &device);
/// let predictions = Categorical::from_probabilities(rows)?;
/// let scores = RankedProbabilityScore.each(&predictions, &labels)?;
/// assert_eq!(scores, [0.25, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedProbabilityScore;

impl Score<Categorical> for RankedProbabilityScore {
    fn name(&self) -> &'static str {
        "ranked probability score"
    }

    fn values(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let residuals = residuals(predictions.probabilities(), labels.clone()); // [n, m]
        residuals.cumsum(1).square().sum_dim(1).squeeze_dim(1)
    }
}
