use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{Crps, FairCrps, Score, crps::at_least_two};
use crate::{
    distribution::{Predictive, Samples},
    error::Result,
    ops::pairwise_distance,
    radial::Distance,
};

/// The energy score `E‖X − y‖₂ − ½ E‖X − X'‖₂` of the empirical distribution of Monte Carlo samples, in
/// units of the targets: over all `S²` pairs, at a cost of `O(n·d·S²)`.
///
/// Strictly proper for distributions over `ℝ^d`: unlike [`Crps`], which it is for `d = 1`, it sees how
/// coordinates depend on each other. Other kinds of predictions are scored through
/// [`Samples::drawn_from`], without a gradient.
///
/// The infimum of its entropy is 0, so that the mean is an upper bound of a calibration error.
///
/// Source: Gneiting and Raftery 2007, section 4.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergyScore;

impl Score<Samples> for EnergyScore {
    fn name(&self) -> &'static str {
        "energy score"
    }

    fn values(&self, predictions: &Samples, targets: &Tensor<2>) -> Tensor<1> {
        match predictions.dimensions() {
            1 => Crps.values(predictions, targets),
            _ => energy(predictions, targets, 0.5),
        }
    }
}

/// The fair energy score: with the mean over the `S(S − 1)` pairs of distinct samples, so that its
/// expectation over the samples is the energy score of the distribution they are from. It may be
/// negative, and needs two samples or more. See [`FairCrps`], which it is for `d = 1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FairEnergyScore;

impl Score<Samples> for FairEnergyScore {
    fn name(&self) -> &'static str {
        "fair energy score"
    }

    fn values(&self, predictions: &Samples, targets: &Tensor<2>) -> Tensor<1> {
        let s = predictions.draws_each() as f64;
        assert!(
            s > 1.0,
            "the fair energy score of a single draw, expected at least 2"
        );
        match predictions.dimensions() {
            1 => FairCrps.values(predictions, targets),
            _ => energy(predictions, targets, 0.5 * s / (s - 1.0)),
        }
    }

    fn validate_for(&self, predictions: &Samples) -> Result<()> {
        at_least_two(predictions, "a fair energy score")
    }
}

/// `E‖X − y‖₂ − factor · E‖X − X'‖₂`, `[n]`.
fn energy(predictions: &Samples, targets: &Tensor<2>, factor: f64) -> Tensor<1> {
    let draws = predictions.draws(); // [n, S, d]
    let [n, _, d] = draws.dims();
    assert_eq!(
        targets.dims(),
        [n, d],
        "shapes of the targets and of the predictions"
    );
    let targets = targets.clone().reshape([n, 1, d]);
    let error = mean(pairwise_distance(
        draws.clone(),
        targets,
        Distance::Euclidean,
    ));
    let spread = mean(pairwise_distance(draws.clone(), draws, Distance::Euclidean));
    error - spread * factor
}

/// `[n, S, T] → [n]`.
fn mean(distances: Tensor<3>) -> Tensor<1> {
    let [n, s, t] = distances.dims();
    let sums = distances.reshape([n, s * t]).sum_dim(1);
    sums.squeeze_dim(1) * ((s * t) as f64).recip()
}
