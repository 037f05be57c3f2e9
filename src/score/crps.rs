use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::Score;
use crate::distribution::AbsoluteMoments;

/// The continuous ranked probability score, summed over the `d` coordinates,
///
/// `Σ_c ∫ (F_c(x) − 1[y_c ≤ x])² dx = Σ_c [E|X_c − y_c| − ½ E|X_c − X'_c|]`,
///
/// in units of the targets; for a certain prediction it is the absolute error.
///
/// Strictly proper for `d = 1`, and in more dimensions for the marginal distributions: it does not see
/// how coordinates depend on each other. Closed forms for normal and Laplace predictions and their
/// mixtures; of Monte Carlo samples that of their empirical distribution, at a cost of
/// `O(n·d·S log S)`. Mixtures of `K` components cost `O(n·d·K²)`.
///
/// The infimum of its entropy is 0, so that the mean is an upper bound of a calibration error.
///
/// Source: Gneiting and Raftery 2007; Grimit et al. 2006 for mixtures of normals; Jordan, Krüger, Lerch
/// 2019.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crps;

impl<P: AbsoluteMoments> Score<P> for Crps {
    fn name(&self) -> &'static str {
        "CRPS"
    }

    fn values(&self, predictions: &P, targets: &Tensor<2>) -> Tensor<1> {
        let error = predictions.absolute_error(targets); // [n, d]
        let values = error - predictions.mean_difference() * 0.5;
        values.sum_dim(1).squeeze_dim(1)
    }
}
