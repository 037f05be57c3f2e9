use std::{fmt, sync::Arc};

use burn::tensor::Tensor;

use crate::{
    distribution::Density,
    error::Result,
    host::to_vec,
    recalibration::{
        FitWarning,
        influence::{self, mean_power},
    },
};

/// Predictions whose family has all tempered densities `f^{1/T}`, normalised, with respect to a reference
/// measure (Widmann et al. 2021, Definition F.1), which keep the mean.
///
/// | family | reference measure | `f^{1/T}`, normalised |
/// | --- | --- | --- |
/// | normal | Lebesgue | `σ² ↦ Tσ²` |
/// | Laplace | Lebesgue | `β ↦ Tβ` |
///
/// Mixtures are not among them: a power of a sum is none.
pub trait Tempered: Density {
    /// Gives the predictions with the densities `f_i^{1/T}`, normalised, differentiable also in `T`.
    ///
    /// # Shapes
    ///
    /// - temperature: `[1]`, positive
    fn tempered(&self, temperature: Tensor<1>) -> Self;

    /// Gives the mean log score `mean(−ln f_i(y_i))` of the tempered predictions, on the host in f64, of
    /// parameters and targets that were checked.
    ///
    /// # Errors
    ///
    /// A target at which it is infinite.
    fn log_score(&self, targets: &Self::Targets) -> Result<TemperedLogScore>;
}

/// The mean log score of tempered predictions as a function of `β = 1/T`: convex, since they are an
/// exponential family in `β`.
#[derive(Clone)]
pub struct TemperedLogScore {
    at: Arc<dyn Fn(f64) -> [f64; 3] + Send + Sync>,
    minimum: Option<f64>,
    warnings: Vec<FitWarning>,
}

impl TemperedLogScore {
    /// Takes a function that gives the value and the first two derivatives at `β`.
    pub fn new(at: impl Fn(f64) -> [f64; 3] + Send + Sync + 'static) -> Self {
        Self {
            at: Arc::new(at),
            minimum: None,
            warnings: vec![],
        }
    }

    /// Adds the `β` of the minimum, where it is known; 0 and infinite stand for none inside.
    pub fn with_minimum(self, beta: f64) -> Self {
        Self {
            minimum: Some(beta),
            ..self
        }
    }

    /// `c + aβ − k ln β`, least at `β = k/a`: of densities `∝ exp(−a_i)` whose normalising constants are
    /// multiplied by `T^{−k}`.
    ///
    /// - log_density: `ln f_i(y_i)`, `[n]`
    /// - powers: `a_i/k`
    ///
    /// Of the rows that would not rule the minimum.
    pub(in crate::recalibration) fn of_scale(
        log_density: Tensor<1>,
        powers: Vec<f64>,
        k: f64,
    ) -> Self {
        let (power, found) = mean_power(&powers);
        let energy = k * power;
        let log_density = to_vec(log_density);
        let kept = (0..powers.len()).filter(|i| !found.set_aside.contains(i));
        let rests: Vec<f64> = kept.map(|i| -log_density[i] - k * powers[i]).collect();
        let rest = rests.iter().sum::<f64>() / rests.len() as f64;
        let at = move |beta: f64| {
            let value = rest + energy * beta - k * beta.ln();
            [value, energy - k / beta, k / (beta * beta)]
        };
        Self {
            warnings: influence::warning(found.set_aside, found.map.is_some()),
            ..Self::new(at).with_minimum(power.recip())
        }
    }

    /// Gives the value and the first two derivatives at `β > 0`.
    pub fn at(&self, beta: f64) -> [f64; 3] {
        (self.at)(beta)
    }

    /// Gives what there is to say about the rows.
    pub(super) fn warnings(&self) -> &[FitWarning] {
        &self.warnings
    }

    /// Gives the `β` of the minimum, where it is known in closed form.
    pub fn minimum(&self) -> Option<f64> {
        self.minimum
    }
}

impl fmt::Debug for TemperedLogScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemperedLogScore")
            .field("minimum", &self.minimum)
            .finish_non_exhaustive()
    }
}
