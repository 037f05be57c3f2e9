use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::Score;
use crate::distribution::Marginals;

/// The Dawid–Sebastiani score `Σ_c [ln σ_c² + (y_c − μ_c)²/σ_c²]` of predictions with means `μ` and
/// variances `σ²`.
///
/// Proper, and strictly so for mean and variance, which is all it sees; for normal predictions
/// it is twice the [`LogScore`](super::LogScore) less `d ln 2π`. It depends on the units of the targets
/// as the log score does. The infimum of its entropy is −∞: there is no upper bound of a calibration
/// error.
///
/// Source: Dawid and Sebastiani 1999.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DawidSebastiani;

impl<P: Marginals> Score<P> for DawidSebastiani {
    fn name(&self) -> &'static str {
        "Dawid–Sebastiani score"
    }

    fn values(&self, predictions: &P, targets: &Tensor<2>) -> Tensor<1> {
        let (means, variances) = (predictions.means(), predictions.variances()); // [n, d]
        assert_eq!(
            targets.dims(),
            means.dims(),
            "shapes of the targets and of the predictions"
        );
        let squares = (targets.clone() - means).square() / variances.clone();
        (variances.log() + squares).sum_dim(1).squeeze_dim(1)
    }

    fn is_bounded(&self) -> bool {
        false
    }
}
