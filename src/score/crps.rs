use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::Score;
use crate::{
    distribution::{AbsoluteMoments, Samples},
    error::{Result, check_samples},
};

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
        crps(predictions, targets, 0.5)
    }
}

/// The fair CRPS of Monte Carlo samples: with the mean over the `S(S − 1)` pairs of distinct samples in
/// place of all `S²`, so that its expectation over the samples is the CRPS of the distribution they are
/// from (Ferro 2014).
///
/// [`Crps`] of an empirical distribution is greater in expectation, by `E|X − X'|/2S`: it takes the
/// samples for the whole prediction. The fair one may be negative. It needs two samples or more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FairCrps;

impl Score<Samples> for FairCrps {
    fn name(&self) -> &'static str {
        "fair CRPS"
    }

    fn values(&self, predictions: &Samples, targets: &Tensor<2>) -> Tensor<1> {
        let s = predictions.draws_each() as f64;
        assert!(
            s > 1.0,
            "the fair CRPS of a single draw, expected at least 2"
        );
        crps(predictions, targets, 0.5 * s / (s - 1.0))
    }

    fn validate_for(&self, predictions: &Samples) -> Result<()> {
        check_samples("a fair CRPS", 2, predictions.draws_each())
    }
}

/// `Σ_c [E|X_c − y_c| − factor · E|X_c − X'_c|]`, `[n]`.
fn crps<P: AbsoluteMoments>(predictions: &P, targets: &Tensor<2>, factor: f64) -> Tensor<1> {
    let error = predictions.absolute_error(targets); // [n, d]
    let values = error - predictions.mean_difference() * factor;
    values.sum_dim(1).squeeze_dim(1)
}
