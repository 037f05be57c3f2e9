use burn::tensor::Tensor;
use rand::Rng;
use rand_distr::{Distribution, Gamma, Open01};

use super::{
    Density, Predictive, Sampler, Targets, gamma::stirling_tensor, location_scale::check_positive,
};
use crate::{
    error::{Error, Result, check_values},
    host::to_vec,
};

/// Dirichlet predictions of points of the simplex: `n` rows of `m` concentrations `α_c > 0`, with the
/// density `Γ(α₀)/Π_c Γ(α_c) · Π_c y_c^{α_c − 1}`, `α₀ = Σ_c α_c`, with respect to the Lebesgue measure of
/// the first `m − 1` coordinates.
///
/// There is no closed form of a Hilbertian distance between them: for kernels take
/// [`Samples::drawn_from`](super::Samples::drawn_from) them.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Density, Dirichlet};
///
/// let device = Device::default();
/// let predictions = Dirichlet::new(Tensor::<2>::from_floats([[1.0, 1.0, 1.0]], &device));
/// let target = Tensor::<2>::from_floats([[0.2, 0.3, 0.5]], &device);
/// let log_density = predictions.log_density(&target).into_data().to_vec::<f32>().unwrap()[0];
/// assert!((log_density - 2f32.ln()).abs() < 1e-5); // uniform over a triangle of area ½
/// ```
#[derive(Debug, Clone)]
pub struct Dirichlet {
    /// `[n, m]`.
    concentration: Tensor<2>,
}

impl Dirichlet {
    /// Creates predictions from concentrations.
    ///
    /// # Shapes
    ///
    /// - concentration: `[n, m]`, positive (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If there are fewer than two coordinates.
    pub fn new(concentration: Tensor<2>) -> Self {
        let [_, m] = concentration.dims();
        assert!(
            m >= 2,
            "Dirichlet predictions of {m} coordinates, expected at least 2"
        );
        Self { concentration }
    }

    /// The concentrations `α`, `[n, m]`.
    pub fn concentration(&self) -> Tensor<2> {
        self.concentration.clone()
    }

    /// The means `α_c/α₀`, `[n, m]`, differentiable.
    pub fn mean(&self) -> Tensor<2> {
        self.concentration() / self.concentration().sum_dim(1)
    }
}

impl Predictive for Dirichlet {
    type Targets = Tensor<2>;

    fn parameter(&self) -> Tensor<2> {
        self.concentration()
    }

    /// The number `m` of coordinates of the targets.
    fn dimensions(&self) -> usize {
        self.concentration.dims()[1]
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self::new(f(self.concentration()))
    }

    fn check(&self) -> Result<()> {
        check_positive(&self.concentration, "α")
    }

    /// Checks that there is one point of the simplex for each prediction; a coordinate may be 0, where
    /// the density is 0 or infinite.
    fn check_targets(&self, targets: &Tensor<2>) -> Result<()> {
        targets.check(self.len(), self.dimensions(), self.dtype())?;
        check_unit_interval(targets, 0.0..=1.0, "a number in [0, 1]")?;
        let targets = to_vec(targets.clone());
        for (row, point) in targets.chunks(self.dimensions()).enumerate() {
            let sum: f64 = point.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::Sum {
                    row,
                    what: "the coordinates of the target",
                    sum,
                    tolerance: SUM_TOLERANCE,
                });
            }
        }
        Ok(())
    }

    fn sampler(&self) -> Sampler<Self> {
        let m = self.dimensions();
        let concentration = to_vec(self.concentration());
        Box::new(move |rows, rng| {
            let draw = |&row: &usize| draw_dirichlet(&concentration[row * m..][..m], rng);
            rows.iter().flat_map(draw).collect()
        })
    }
}

impl Density for Dirichlet {
    /// `Σ_c α_c ln(y_c α₀/α_c) − Σ_c ln y_c + g(α₀) − Σ_c g(α_c)` with `g(x) = ln Γ(x) − x ln x + x`, so
    /// that no large numbers are subtracted.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let alpha = self.concentration(); // [n, m]
        let total = alpha.clone().sum_dim(1); // [n, 1]
        let ratio = targets.clone() * total.clone() / alpha.clone();
        let terms = alpha.clone() * ratio.log() - targets.clone().log() - stirling_tensor(alpha);
        (terms.sum_dim(1) + stirling_tensor(total)).squeeze_dim(1)
    }
}

/// The distance from 1 that the sum of the coordinates of a target may have.
const SUM_TOLERANCE: f64 = 1e-5;

/// A draw from `Dir(α)`: normalised gamma variables, in logarithms so that a small `α` does not
/// underflow, `log Γ(a) ∼ log Γ(a + 1) + log(U)/a`.
pub(super) fn draw_dirichlet(alpha: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
    let log_gamma = |&a: &f64| {
        let gamma = Gamma::new(a + 1.0, 1.0).expect("a positive shape");
        let uniform: f64 = Open01.sample(rng);
        gamma.sample(rng).ln() + uniform.ln() / a
    };
    let logs: Vec<f64> = alpha.iter().map(log_gamma).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Checks that all targets are within an interval.
pub(crate) fn check_unit_interval(
    targets: &Tensor<2>,
    interval: impl std::ops::RangeBounds<f64>,
    expected: &'static str,
) -> Result<()> {
    let values = to_vec(targets.clone());
    let inside = (|value| interval.contains(&value), expected);
    let columns = (targets.dims()[1], "coordinate");
    check_values(&values, columns, "the target", inside)
}
