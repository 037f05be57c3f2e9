use burn::tensor::{Int, Tensor, TensorCreationOptions, TensorData};
use rand::{Rng, RngExt};
use statrs::function::beta::{beta_reg, ln_beta};

use super::{Categorical, dirichlet::draw_dirichlet};
use crate::error::{Error, Result};

/// A generative model of predictions and labels whose calibration error is known: predictions
/// `P ∼ Dir(α)`; labels drawn from the prediction with probability `1 − π`, from `β` with probability
/// `π`. It is calibrated if and only if `π = 0`.
///
/// Widmann et al. 2019, section 7 and appendix J.2. Their M1–M3 have `α = (0.1, …, 0.1)` over 10
/// classes and `π = 0`; `π = ½` with `β = e₁`; and `π = 1` with uniform `β`.
///
/// ```
/// use burn::tensor::Device;
/// use burn_calibration::{distribution::DirichletModel, estimator::{Ece, Estimator}};
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let mut rng = StdRng::seed_from_u64(0);
/// let model = DirichletModel::new(vec![0.1; 10], 0.5, vec![0.1; 10])?;
/// let (predictions, labels) = model.sample(250, &Device::default(), &mut rng);
/// let estimate = Ece::uniform(10).estimate(&predictions, &labels)?;
/// assert!(estimate > model.expected_calibration_error()); // many classes, few samples: biased
/// # Ok(())
/// # }
/// ```
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
    /// # Errors
    ///
    /// Fewer than two classes, an entry of `α` that is not a positive finite number, `π` outside
    /// `[0, 1]`, or a `β` that is not a distribution over as many classes.
    pub fn new(alpha: Vec<f64>, pi: f64, beta: Vec<f64>) -> Result<Self> {
        let parameter = |name, value, expected| Error::Parameter {
            name,
            value,
            expected,
        };
        if alpha.len() < 2 {
            return Err(Error::TooFewClasses { got: alpha.len() });
        }
        if let Some(&value) = alpha.iter().find(|a| !(a.is_finite() && **a > 0.0)) {
            let name = "an entry of the Dirichlet parameter";
            return Err(parameter(name, value, "a positive finite number"));
        }
        if !(0.0..=1.0).contains(&pi) {
            let name = "the probability of a label that ignores the prediction";
            return Err(parameter(name, pi, "a number in [0, 1]"));
        }
        if beta.len() != alpha.len() {
            let name = "the number of classes of the label distribution";
            let expected = "that of the Dirichlet parameter";
            return Err(parameter(name, beta.len() as f64, expected));
        }
        if let Some(&value) = beta.iter().find(|b| !(0.0..=1.0).contains(*b)) {
            let name = "an entry of the label distribution";
            return Err(parameter(name, value, "a number in [0, 1]"));
        }
        let sum: f64 = beta.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            let name = "the sum of the label distribution";
            return Err(parameter(name, sum, "1"));
        }
        Ok(Self { alpha, pi, beta })
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
        (Categorical::valid(rows), labels)
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

    /// The mean total variation distance of two independent predictions,
    ///
    /// `E‖P − P'‖_TV = 2 B(α₀, α₀)/α₀ · Σ_c 1/(B(α_c, α_c) B(α₀ − α_c, α₀ − α_c))`,
    ///
    /// a bandwidth that does not depend on the sample. Widmann et al. 2019, appendix J.2.2, from the
    /// mean difference `4 B(a+b, a+b)/((a+b) B(a, a) B(b, b))` of two `Beta(a, b)` variables. (The
    /// last line there is right; the one before it lacks a factor ½.)
    pub fn mean_total_variation(&self) -> f64 {
        let total: f64 = self.alpha.iter().sum();
        let log_both = ln_beta(total, total);
        let term = |&a: &f64| {
            let rest = total - a;
            (log_both - ln_beta(a, a) - ln_beta(rest, rest)).exp()
        };
        2.0 / total * self.alpha.iter().map(term).sum::<f64>()
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
