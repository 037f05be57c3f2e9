use std::{fmt::Debug, ops::Range};

use burn::tensor::{DType, Device, Tensor};
use rand::Rng;

use super::{Redrawer, Redrawn, RedrawnBy, Targets};
use crate::{
    error::{Error, Result},
    radial::Distance,
};

/// Draws a target from the prediction of each of the given rows.
pub type Sampler<P> = Box<dyn Fn(&[usize], &mut dyn Rng) -> DrawnBy<P>>;

/// Targets of a kind of prediction on the host.
pub type DrawnBy<P> = <<P as Predictive>::Targets as Targets>::Drawn;

/// Predictive distributions of `n` samples: what the kernels, estimators, losses and tests of this
/// library ask of a model's predictions.
///
/// Its parameters are tensors, through which gradients flow. Making one asserts shapes and reads
/// nothing back; what takes data calls [`check`](Self::check).
pub trait Predictive: Clone + Debug {
    /// What is observed.
    type Targets: Targets;

    /// The number `n` of predictions.
    fn samples(&self) -> usize;

    /// The device of the parameters.
    fn device(&self) -> Device;

    /// The dtype of the parameters.
    fn dtype(&self) -> DType;

    /// The same predictions without gradients.
    fn detach(&self) -> Self;

    /// The same predictions, without gradients, on the device and in the dtype of others.
    fn like(&self, other: &Self) -> Self;

    /// The predictions of consecutive samples.
    fn slice_rows(&self, rows: Range<usize>) -> Self;

    /// The predictions of the given samples, in their order; one may come several times.
    fn select_rows(&self, rows: &[usize]) -> Self;

    /// Whether the parameters are valid.
    ///
    /// # Errors
    ///
    /// Which row holds what value, and what was expected.
    fn check(&self) -> Result<()>;

    /// Whether there is one valid target for each prediction.
    ///
    /// # Errors
    ///
    /// Which row holds what value, and what was expected.
    fn check_targets(&self, targets: &Self::Targets) -> Result<()>;

    /// The targets on the host, once [checked](Self::check_targets).
    ///
    /// # Errors
    ///
    /// As [`check_targets`](Self::check_targets).
    fn checked_targets(&self, targets: &Self::Targets) -> Result<DrawnBy<Self>> {
        self.check_targets(targets)?;
        Ok(targets.drawn())
    }

    /// Whether the others are over the same targets.
    ///
    /// # Errors
    ///
    /// The number of classes or dimensions of both, where they differ.
    fn check_like(&self, other: &Self) -> Result<()>;

    /// Whether predictions have this distance.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDistance`] otherwise.
    fn check_distance(&self, distance: Distance) -> Result<()> {
        match distance {
            Distance::TotalVariation => Err(Error::NoSuchDistance {
                distance: distance.name(),
                expected: "Euclidean, the 2-Wasserstein distance, or L1, that of the parameters",
            }),
            _ => Ok(()),
        }
    }

    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, of
    /// classes. None for other kinds.
    fn expected_errors(&self) -> Option<f64> {
        None
    }

    /// Points whose distances are those of the predictions, `[n, e]`, differentiable. None where the
    /// predictions have no such coordinates.
    fn coordinates(&self) -> Option<Tensor<2>>;

    /// Whether the distances are known to be those between points of a Hilbert space, which makes
    /// radial kernels on these predictions positive definite: see
    /// [`Kernel::is_positive_definite_on`](crate::kernel::Kernel::is_positive_definite_on).
    ///
    /// By default where there are [`coordinates`](Self::coordinates). The distances of a
    /// [`Mixture`](super::Mixture) of several components, and of [`Samples`](super::Samples) of more
    /// than one dimension, are not: the optimal couplings differ from pair to pair.
    fn has_hilbertian_distances(&self) -> bool {
        self.coordinates().is_some()
    }

    /// Distances between predictions and others within batches of consecutive rows, differentiable,
    /// subgradient 0 where they coincide.
    ///
    /// # Shapes
    ///
    /// - self: `batches · n` predictions
    /// - other: `batches · k` predictions
    /// - output: `[batches, n, k]`
    fn distances(&self, other: &Self, distance: Distance, batches: usize) -> Tensor<3> {
        let coordinates = |predictions: &Self| {
            let points = predictions
                .coordinates()
                .expect("a distance or coordinates");
            in_batches(points, batches)
        };
        distance.between(coordinates(self), coordinates(other))
    }

    /// Draws targets, on the host.
    fn sampler(&self) -> Sampler<Self>;

    /// Drawn targets as tensors on the device of the predictions.
    fn observed(&self, drawn: &DrawnBy<Self>) -> Self::Targets;

    /// Draws many sets of targets at once, each with one from every prediction.
    fn redrawer(&self) -> Redrawer<Self> {
        let rows: Vec<usize> = (0..self.samples()).collect();
        let sampler = self.sampler();
        Redrawer {
            batch: (NUMBERS / rows.len().max(1)).clamp(1, 1024),
            draw: Box::new(move |sets, rng| {
                Redrawn::from_sets((0..sets).map(|_| sampler(&rows, rng)).collect())
            }),
        }
    }

    /// Observed targets as a set among [redrawn](Self::redrawer) ones.
    fn as_redrawn(&self, drawn: &DrawnBy<Self>) -> RedrawnBy<Self> {
        Redrawn::from_sets(vec![drawn.clone()])
    }

    /// Two predictions of each sample that say the same of it, and are independent given what is to be
    /// predicted: of [`Samples`](super::Samples) the halves of the draws. None where a prediction is a
    /// distribution that is known.
    fn halves(&self) -> Option<(Self, Self)> {
        None
    }

    /// One target from each prediction.
    fn sample(&self, rng: &mut dyn Rng) -> Self::Targets {
        let rows: Vec<usize> = (0..self.samples()).collect();
        self.observed(&self.sampler()(&rows, rng))
    }

    /// Targets at which the calibration of the given rows is tested by a mean embedding: a draw from
    /// each prediction, independent of what was observed.
    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> Self::Targets {
        self.observed(&self.sampler()(rows, rng))
    }
}

/// Targets that are drawn at a time.
const NUMBERS: usize = 1 << 22;

/// `[batches · n, d] → [batches, n, d]`.
pub(crate) fn in_batches(rows: Tensor<2>, batches: usize) -> Tensor<3> {
    let [n, d] = rows.dims();
    rows.reshape([batches, n / batches, d])
}
