use burn::tensor::Tensor;

use super::{Predictive, predictive::in_batches};
use crate::{
    error::{Error, Result},
    radial::Distance,
};

/// Predictions with distances between them, which kernels on predictions need.
///
/// Predictions of a [`QuantileRecalibration`](crate::recalibration::QuantileRecalibration) have none in
/// closed form: take [`Samples::drawn_from`](super::Samples::drawn_from) them.
#[diagnostic::on_unimplemented(
    message = "there are no distances between predictions `{Self}`, which kernels compare",
    label = "predictions without distances",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`",
    note = "for a quantile recalibration use `predictions.samples(n, &mut rng)`, which have distances",
    note = "for other real predictions use `Samples::drawn_from(&predictions, n, &mut rng)`"
)]
pub trait Geometry: Predictive {
    /// Checks that predictions have this distance.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] otherwise.
    fn check_distance(&self, distance: Distance) -> Result<()> {
        match distance {
            Distance::TotalVariation => Err(Error::Unsupported {
                what: format!("there is no {distance} distance of such predictions"),
                expected: "Euclidean, the 2-Wasserstein distance, or L1, that of the parameters",
            }),
            Distance::Euclidean | Distance::L1 => Ok(()),
        }
    }

    /// The points whose distances are those of the predictions, `[n, e]`, differentiable. None where the
    /// predictions have no such coordinates.
    fn coordinates(&self) -> Option<Tensor<2>>;

    /// The mean spread of the predictions in units of their distances, `[1]`, detached, without reading
    /// back: the mean root of the total variance. None where the distance has a unit of its own, as for
    /// classes, where it counts as 1.
    ///
    /// It is the unit of the floor of a median bandwidth, see
    /// [`Bandwidth::MedianAtLeast`](crate::kernel::Bandwidth::MedianAtLeast).
    fn spread(&self) -> Option<Tensor<1>> {
        None
    }

    /// Returns whether the distances are those of the predictions, and not of a variable that they are
    /// [`Given`](super::Given).
    fn has_own_distances(&self) -> bool {
        true
    }

    /// The end of a finding by a kernel of these distances: "something is off …".
    fn compared(&self) -> &'static str {
        "in the whole prediction"
    }

    /// Returns whether the distances are known to be those between points of a Hilbert space, which makes
    /// radial kernels on these predictions positive definite: see
    /// [`Kernel::is_positive_definite_on`](crate::kernel::Kernel::is_positive_definite_on).
    ///
    /// By default where there are [`coordinates`](Self::coordinates). The distances of a
    /// [`Mixture`](super::Mixture) of several components, and of [`Samples`](super::Samples) of more
    /// than one dimension, are not: the optimal couplings differ from pair to pair.
    fn has_hilbertian_distances(&self) -> bool {
        self.coordinates().is_some()
    }

    /// The distances between predictions and others within batches of consecutive rows, differentiable,
    /// subgradient 0 where they coincide. By default between [`coordinates`](Self::coordinates); where
    /// there are none this function must be implemented.
    ///
    /// # Shapes
    ///
    /// - self: `batches · n` predictions
    /// - other: `batches · k` predictions
    /// - output: `[batches, n, k]`
    fn distances(&self, other: &Self, distance: Distance, batches: usize) -> Tensor<3> {
        let coordinates = |predictions: &Self| {
            let points = predictions.coordinates();
            in_batches(
                points.expect("coordinates, or distances of its own"),
                batches,
            )
        };
        distance.between(coordinates(self), coordinates(other))
    }
}
