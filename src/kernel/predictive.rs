//! Kernels between predictions of any kind: on their coordinates where they have some, otherwise on their
//! distances.

use burn::tensor::{Bool, Tensor};

use super::{Bandwidth, Distances, Kernel, median_distance};
use crate::{
    distribution::{Batch as _, Geometry, in_batches},
    error::{Result, check_parameter},
    host::{HostNumbers, to_scalar, to_vec},
    ops::{median_of_pairs, median_of_tiles, subsample},
};

impl Kernel {
    /// Returns whether the kernel is known to be positive definite on such predictions: it is so [between
    /// points](Self::is_positive_definite), and their distances are [those of
    /// points](Geometry::has_hilbertian_distances).
    ///
    /// The mixture Wasserstein distance is not such a distance, against Widmann et al. 2021, Theorem D.1:
    /// the optimal couplings differ from pair to pair, so that the predictions have no common embedding. Of
    /// the equal mixtures of two normals `N(μ, σ)`, `{(2, 2), (0, 3)}`, `{(1, 1), (2, 3)}`, `{(2, 2), (0,
    /// 2)}`, `{(2, 1), (2, 3)}`, the Gaussian kernel with the median bandwidth 1.403 has the eigenvalue
    /// −0.0276. Nor is the exponential profile positive definite there with wide bandwidths: the tests have
    /// eight mixtures of three normals. The same holds of empirical distributions in two or more
    /// dimensions, where draws take the place of `(μ, σ)`. Predictions that are compared by their quantiles
    /// ([`Mixture::compared_by_quantiles`](crate::distribution::Mixture::compared_by_quantiles)) are points.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::{distribution::{Mixture, Normal}, kernel::Kernel};
    ///
    /// let device = Device::default();
    /// let member = |mean: f32| {
    ///     Normal::new(Tensor::full([4, 1], mean, &device), Tensor::ones([4, 1], &device))
    /// };
    /// assert!(Kernel::wasserstein().is_positive_definite_on(&member(0.0)));
    /// let ensemble = Mixture::ensemble(&[member(-1.0), member(1.0)]);
    /// assert!(!Kernel::wasserstein().is_positive_definite_on(&ensemble));
    /// ```
    pub fn is_positive_definite_on<P: Geometry>(&self, predictions: &P) -> bool {
        self.is_positive_definite() && predictions.has_hilbertian_distances()
    }

    /// The Gram matrix of each batch of predictions, `[batches, n, n]`, as [`gram`](Self::gram).
    ///
    /// - kept: whether a prediction counts in a median bandwidth, `[batches · n]`; all where there is none
    pub(crate) fn gram_of<P: Geometry>(
        &self,
        predictions: &P,
        batches: usize,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<3> {
        let distances = self.distances_of(predictions, predictions, batches);
        self.within(distances, kept, || predictions.spread())
    }

    /// The distances between predictions and others within batches.
    fn distances_of<P: Geometry>(&self, p: &P, q: &P, batches: usize) -> Distances {
        match (p.coordinates(), q.coordinates()) {
            (Some(x), Some(y)) => self.distances(in_batches(x, batches), in_batches(y, batches)),
            _ => Distances::Plain(p.distances(q, self.distance, batches)),
        }
    }

    /// The kernel between predictions, `[1, n, k]`, detached; the bandwidth must be fixed.
    pub(crate) fn between_of<P: Geometry>(&self, p: &P, q: &P) -> Tensor<3> {
        self.between_by_factors(p, q, &[1.0]).remove(0)
    }

    /// The same for each of the multiples of the bandwidth by some factors. Distances without coordinates are computed
    /// once.
    pub(crate) fn between_by_factors<P: Geometry>(
        &self,
        p: &P,
        q: &P,
        factors: &[f64],
    ) -> Vec<Tensor<3>> {
        let bandwidths = factors.iter().map(|factor| factor * self.fixed_bandwidth());
        match (p.coordinates(), q.coordinates()) {
            (Some(p), Some(q)) => {
                let [p, q] = [p, q].map(|points| points.unsqueeze::<3>());
                let of = |bandwidth| self.with_bandwidth(Bandwidth::Fixed(bandwidth));
                bandwidths
                    .map(|bandwidth| of(bandwidth).between(p.clone(), q.clone()))
                    .collect()
            }
            _ => {
                let distances = Distances::Plain(p.distances(q, self.distance, 1));
                bandwidths
                    .map(|bandwidth| self.at(distances.clone(), bandwidth))
                    .collect()
            }
        }
    }

    /// The kernel between test locations and data, `[1, J, n]`, differentiable with respect to both; a median
    /// bandwidth is that of all pairs of data, and detached from the gradient.
    pub(crate) fn at_locations_of<P: Geometry>(&self, locations: &P, data: &P) -> Tensor<3> {
        let distances = self.distances_of(locations, data, 1);
        self.of(distances, || {
            let some = subsampled(&data.detach());
            let median = median_of_pairs(some.distances(&some, self.distance, 1), None);
            self.bandwidth.floored(median, || data.detach().spread())
        })
    }

    /// Fixes a median bandwidth at that of all pairs of predictions, as
    /// [`with_bandwidth_of`](Self::with_bandwidth_of).
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate), predictions that are not valid, and a distance that such
    /// predictions do not have.
    pub fn with_bandwidth_of_predictions<P: Geometry>(self, predictions: &P) -> Result<Self> {
        predictions.check_distance(self.distance)?;
        predictions.check()?;
        self.validate_in(predictions.dtype())?;
        if !self.bandwidth.is_median() {
            return Ok(self);
        }
        let p = predictions.detach();
        let median = match p.coordinates() {
            Some(points) => {
                if let Some(&x) = HostNumbers::of(points.clone())
                    .iter()
                    .find(|x| !x.is_finite())
                {
                    let name = "a coordinate of the predictions";
                    check_parameter(false, name, x, "a finite number")?;
                }
                median_distance(&points, self.distance)
            }
            None => {
                let p = subsampled(&p);
                median_of_tiles(p.len(), p.dtype(), |rows, columns| {
                    let (rows, columns) = (p.slice_rows(rows), p.slice_rows(columns));
                    to_vec(rows.distances(&columns, self.distance, 1))
                })
            }
        };
        let least = match (self.bandwidth.floor(), p.spread()) {
            (0.0, _) => 0.0,
            (share, spread) => share * spread.map_or(1.0, to_scalar),
        };
        let fixed = self.with_bandwidth(Bandwidth::Fixed(median.max(least)));
        fixed.validate_in(predictions.dtype())?;
        Ok(fixed)
    }
}

/// The predictions whose distances have the median.
fn subsampled<P: Geometry>(predictions: &P) -> P {
    let rows = subsample(predictions.len());
    rows.map_or_else(
        || predictions.clone(),
        |rows| predictions.select_rows(&rows),
    )
}
