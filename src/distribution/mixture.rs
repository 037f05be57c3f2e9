use std::fmt::Debug;

use burn::tensor::{Tensor, activation::softmax};
use rand::RngExt;

use super::{
    Geometry, Predictive, Redraws, Sampler,
    class_rows::choose,
    predictive::in_batches,
    weights::{carries_weights, refuse},
};
use crate::{
    error::{Error, Result, checks::check_simplex},
    host::to_vec,
    ops::{WeightedPoints, transport_distances},
    radial::{CoordinateSum, Distance},
};

/// Predictions of vectors of `ℝ^d` that a [`Mixture`] can be made of.
pub trait Component: Geometry<Targets = Tensor<2>> {
    /// Rows of several sets of as many predictions in turn: row `i` of each set, then row `i + 1`.
    ///
    /// # Panics
    ///
    /// If the sets differ in size or dimension, or there is none.
    fn interleave(sets: &[Self]) -> Self;

    /// `E|X_ic − X'_ic|` for independent draws from row `i` of both, `[n, d]`, differentiable.
    ///
    /// # Shapes
    ///
    /// - other: as many predictions
    fn absolute_difference(&self, other: &Self) -> Tensor<2>;
}

/// Mixtures: `n` predictions of `K` weighted components each, such as an ensemble of models.
///
/// The distance is that of Delon and Desolneux (Widmann et al. 2021, D.3), `MW² = min_π Σ_kl π_kl
/// d(component_k, component_l)²` over couplings `π` of the weights, a linear program for each pair of
/// predictions, solved on the host. It is **not** the distance of a Hilbert space, even if the distance of
/// the components is, contrary to Theorem D.1 of that paper. Kernels over it are not positive definite, see
/// [`Kernel::is_positive_definite_on`](crate::kernel::Kernel::is_positive_definite_on). The biased SKCE can
/// be negative, and its distribution-free test refuses such predictions; every other estimator and test
/// takes them. The cost of a pair grows with `K³`: with many components, or thousands of predictions, take
/// [`compared_by_quantiles`](Self::compared_by_quantiles).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Mixture, Normal, Predictive};
///
/// let device = Device::default();
/// let member = |mean: f32| {
///     Normal::new(Tensor::full([4, 1], mean, &device), Tensor::ones([4, 1], &device))
/// };
/// let ensemble = Mixture::ensemble(&[member(-1.0), member(1.0)]);
/// assert_eq!((ensemble.len(), ensemble.components()), (4, 2));
/// ```
#[derive(Debug, Clone)]
pub struct Mixture<C> {
    /// `[n, K]`.
    weights: Tensor<2>,
    /// `n · K` rows, those of a prediction in sequence.
    components: C,
    sample_weights: Option<Tensor<2>>,
    /// The quantiles that kernels compare, `[n, d·Q]`; None where they compare components.
    pub(super) quantiles: Option<Tensor<2>>,
}

impl<C: Component> Mixture<C> {
    /// Creates predictions from weights and components. `K` consecutive components make a prediction.
    ///
    /// # Shapes
    ///
    /// - weights: `[n, K]`, rows of probabilities (estimators and tests check that, this function does not)
    /// - components: `n · K` predictions
    ///
    /// # Panics
    ///
    /// If there are not as many components as weights, or they carry weights of samples, which are of the mixture.
    pub fn new(weights: Tensor<2>, components: C) -> Self {
        let [n, k] = weights.dims();
        assert_no_sample_weights(&components);
        assert_eq!(
            n * k,
            components.len(),
            "numbers of weights and of components"
        );
        Self {
            weights,
            components,
            sample_weights: None,
            quantiles: None,
        }
    }

    /// Creates predictions from the output of a network for the weights, by a softmax over each row.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, K]`
    /// - components: `n · K` predictions
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn from_logits(logits: Tensor<2>, components: C) -> Self {
        Self::new(softmax(logits, 1), components)
    }

    /// The mixture of the predictions of several models with equal weights.
    ///
    /// # Panics
    ///
    /// If there are none, or their numbers of predictions or dimensions differ, or one carries weights of samples.
    pub fn ensemble(members: &[C]) -> Self {
        members.iter().for_each(assert_no_sample_weights);
        let components = C::interleave(members);
        let (n, k) = (members[0].len(), members.len());
        let options = (&components.device(), components.dtype());
        let weights = Tensor::full([n, k], (k as f64).recip(), options);
        Self::new(weights, components)
    }

    /// The weights, `[n, K]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.clone()
    }

    /// All components, `n · K` rows, those of a prediction in sequence.
    pub fn all_components(&self) -> &C {
        &self.components
    }

    /// The number `K` of components of each prediction.
    pub fn components(&self) -> usize {
        self.weights.dims()[1]
    }

    /// The weights within batches, `[batches, n, K]`.
    pub(crate) fn weights_in_batches(&self, batches: usize) -> Tensor<3> {
        in_batches(self.weights(), batches)
    }
}

/// A component has no samples of its own.
fn assert_no_sample_weights<C: Component>(components: &C) {
    assert!(
        components.sample_weights().is_none(),
        "components with weights of samples, expected components without: weigh the mixture of them"
    );
}

impl<C: Component> Predictive for Mixture<C> {
    type Targets = Tensor<2>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    fn parameter(&self) -> Tensor<2> {
        self.weights()
    }

    fn dimensions(&self) -> usize {
        self.components.dimensions()
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        let k = self.components();
        let of_component = |parameter: Tensor<2>| {
            let [rows, w] = parameter.dims();
            let mapped = f(parameter.reshape([rows / k, k * w])); // a row for each prediction
            let n = mapped.dims()[0];
            mapped.reshape([n * k, w])
        };
        Self {
            sample_weights: self.sample_weights.clone().map(f),
            quantiles: self.quantiles.clone().map(f),
            ..Self::new(f(self.weights()), self.components.map(&of_component))
        }
    }

    fn check(&self) -> Result<()> {
        refuse(&self.sample_weights)?;
        self.components.check()?;
        let columns = (self.components(), "component");
        let what = ["the weight", "the weights"];
        check_simplex(&to_vec(self.weights()), columns, what, SUM_TOLERANCE)
    }

    fn sampler(&self) -> Sampler<Self> {
        let k = self.components();
        let weights = to_vec(self.weights());
        let component = self.components.sampler();
        Box::new(move |rows, rng| {
            let chosen: Vec<usize> = rows
                .iter()
                .map(|row| row * k + choose(&weights[row * k..][..k], rng.random()))
                .collect();
            component(&chosen, rng)
        })
    }
}

carries_weights!([C: Component] Mixture<C>);

impl<C: Component> Redraws for Mixture<C> {}

impl<C: Component> Geometry for Mixture<C> {
    fn check_distance(&self, distance: Distance) -> Result<()> {
        match (&self.quantiles, distance.sum()) {
            (Some(_), CoordinateSum::Magnitudes) => Err(Error::Unsupported {
                what: format!("there is no {distance} distance of predictions by their quantiles"),
                expected: "Euclidean, the 2-Wasserstein distance",
            }),
            _ => self.components.check_distance(distance),
        }
    }

    /// The quantiles that are compared, or the coordinates of the only component; otherwise None.
    fn coordinates(&self) -> Option<Tensor<2>> {
        match self.components() {
            1 => self.components.coordinates(),
            _ => self.quantiles.clone(),
        }
    }

    /// The spread of the components, each counting as much.
    fn spread(&self) -> Option<Tensor<1>> {
        self.components.spread()
    }

    /// The distances of coordinates where both have some of the same kind. Otherwise solves `batches · n · k`
    /// linear programs on the host, see [`Mixture`]. The gradient is exact where the best coupling is unique:
    /// the coupling is constant for that of the components, the dual potentials for that of the weights.
    fn distances(&self, other: &Self, distance: Distance, batches: usize) -> Tensor<3> {
        let is_one = |mixture: &Self| mixture.components() == 1;
        if let (true, Some(x), Some(y)) = (
            is_one(self) == is_one(other),
            self.coordinates(),
            other.coordinates(),
        ) {
            return distance.between(in_batches(x, batches), in_batches(y, batches));
        }
        let side = |mixture: &Self| {
            let points = mixture.components.coordinates();
            let points = points.expect("components have coordinates");
            WeightedPoints {
                weights: mixture.weights_in_batches(batches),
                points: in_batches(points, batches),
            }
        };
        transport_distances(side(self), side(other), distance)
    }
}

/// Largest allowed distance of the sum of a row of weights from 1.
const SUM_TOLERANCE: f64 = 1e-5;
