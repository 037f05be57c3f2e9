//! Predictions and labels with a known calibration error.

use burn::tensor::{Int, Tensor, TensorCreationOptions, TensorData};
use burn_calibration::distribution::Categorical;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma, Open01};
use statrs::function::beta::beta_reg;

use crate::data::{dot, pairs};

/// A generative model of predictions and labels whose calibration error is known: predictions
/// `P ∼ Dir(α)`; labels drawn from the prediction with probability `1 − π`, from `β` with probability
/// `π`. It is calibrated if and only if `π = 0`.
///
/// Widmann et al. 2019, section 7 and appendix J.2. Their M1–M3 have `α = (0.1, …, 0.1)` over 10
/// classes and `π = 0`; `π = ½` with `β = e₁`; and `π = 1` with uniform `β`.
#[derive(Debug, Clone, PartialEq)]
pub struct DirichletModel {
    alpha: Vec<f64>,
    pi: f64,
    beta: Vec<f64>,
}

impl DirichletModel {
    /// Creates the model with the parameter `α` of the predictions, the probability `π` and the
    /// distribution `β` of the labels that ignore them.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes, or not as many entries in `β` as in `α`.
    pub fn new(alpha: Vec<f64>, pi: f64, beta: Vec<f64>) -> Self {
        assert!(
            alpha.len() >= 2 && alpha.len() == beta.len(),
            "{alpha:?} {beta:?}"
        );
        Self { alpha, pi, beta }
    }

    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.alpha.len()
    }

    /// `n ≥ 1` predictions with their labels, independent of each other: `n × m` and `[n]`.
    ///
    /// Drawn on the host in f64, and given to the device, in the dtype of the options (that of the
    /// device where they name none).
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn sample(
        &self,
        n: usize,
        options: impl Into<TensorCreationOptions>,
        rng: &mut dyn Rng,
    ) -> (Categorical, Tensor<1, Int>) {
        assert!(n > 0, "a sample of 0 predictions");
        let options = options.into();
        let m = self.classes();
        let mut rows = Vec::with_capacity(n * m);
        let mut labels = Vec::with_capacity(n);
        for _ in 0..n {
            let row = draw_dirichlet(&self.alpha, rng);
            let ignored = rng.random_bool(self.pi);
            let label = draw(if ignored { &self.beta } else { &row }, rng);
            labels.push(label as i64);
            rows.extend(row);
        }
        let labels = Tensor::from_data(TensorData::new(labels, [n]), &options.device);
        let rows = Tensor::from_data(TensorData::new(rows, [n, m]), options);
        let predictions = Categorical::from_probabilities(rows).expect("probabilities");
        (predictions, labels)
    }

    /// The expected calibration error with respect to total variation, exactly:
    ///
    /// `E‖E[e_Y | P] − P‖_TV = π Σ_c [β_c I(β_c; α_c, α₀ − α_c) − (α_c/α₀) I(β_c; α_c + 1, α₀ − α_c)]`
    ///
    /// with `α₀ = Σ_c α_c` and the regularised incomplete beta function `I` (Widmann et al. 2019,
    /// appendix J.2.1). For a one-hot `β` and symmetric `α` it is `π (m − 1)/m`.
    pub fn expected_calibration_error(&self) -> f64 {
        let total: f64 = self.alpha.iter().sum();
        let term = |(&a, &b): (&f64, &f64)| {
            b * beta_reg(a, total - a, b) - a / total * beta_reg(a + 1.0, total - a, b)
        };
        self.pi * self.alpha.iter().zip(&self.beta).map(term).sum::<f64>()
    }

    /// The squared kernel calibration error `E k(P, P') r(P)ᵀ r(P')` of the residuals
    /// `r(P) = E[e_Y | P] − P = π (β − P)`, by all pairs of so many predictions.
    pub fn skce(
        &self,
        kernel: &dyn Fn(&[f64], &[f64]) -> f64,
        predictions: usize,
        rng: &mut dyn Rng,
    ) -> f64 {
        if self.pi == 0.0 {
            return 0.0;
        }
        let row = |_| {
            let row = draw_dirichlet(&self.alpha, rng);
            let residuals = self.beta.iter().zip(&row).map(|(b, p)| self.pi * (b - p));
            (residuals.collect::<Vec<f64>>(), row)
        };
        let rows: Vec<_> = (0..predictions).map(row).collect();
        let term = |(i, j): (usize, usize)| {
            let ((r, p), (s, q)) = (&rows[i], &rows[j]);
            kernel(p, q) * dot(r, s)
        };
        pairs(predictions).map(term).sum::<f64>() / pairs(predictions).count() as f64
    }
}

/// A class from a distribution over classes.
fn draw(distribution: &[f64], rng: &mut dyn Rng) -> usize {
    let mut rest: f64 = rng.random();
    let chosen = distribution.iter().position(|p| {
        rest -= p;
        rest < 0.0
    });
    // the probabilities may sum to a little less than 1
    let last = || distribution.iter().rposition(|&p| p > 0.0);
    chosen.or_else(last).expect("a distribution")
}

/// A draw from `Dir(α)`: normalised gamma variables, in logarithms so that a small `α` does not
/// underflow, `log Γ(a) ∼ log Γ(a + 1) + log(U)/a`.
fn draw_dirichlet(alpha: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
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
