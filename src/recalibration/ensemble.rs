use burn::{
    config::Config,
    module::Module,
    tensor::{
        Device, Tensor,
        activation::{log_softmax, softmax},
    },
};

use super::{
    FitReport, FitTask, Guarantees, LogitFit,
    data::{FitData, log_sum_exp},
    descent::{Evaluated, Limits, minimise},
    family::log_losses,
    fit::observer,
    fitted::{Form, fitted_map},
    parameter::{Parameter, check_shape, parameter_row},
    task::{Purpose, logit_criterion},
    temperature::{
        TemperatureScalingConfig, TemperedRows, check_prior, check_temperature,
        log_temperature_prior,
    },
};
use crate::{
    error::Result,
    host::{to_scalar, to_vec},
};

/// Configuration of [`EnsembleTemperatureScaling`], which it fits, with a prior of `log T` by default:
/// `with_prior(None)` is the estimator of Zhang et al.
#[derive(Config, Debug)]
#[must_use]
pub struct EnsembleTemperatureScalingConfig {
    /// The largest derivative with respect to `log T` and to the logarithms of the weights at which
    /// the fit has converged. Default: 10⁻⁷.
    #[config(default = 1e-7)]
    pub tolerance: f64,
    /// The most iterations. Default: 1000.
    #[config(default = 1000)]
    pub max_iterations: usize,
    /// The scale of the prior of `log T`, as for
    /// [`TemperatureScalingConfig`](super::TemperatureScalingConfig::prior). Default: 0.35.
    #[config(default = "Some(0.35)")]
    pub prior: Option<f64>,
}

fitted_map! {
    /// Ensemble temperature scaling: `p' = w₁ softmax(z/T) + w₂ softmax(z) + w₃/m` with weights on the
    /// simplex (Zhang, Kailkhura, Han: *Mix-n-Match*, 2020, section 3.2); the new logits are `log p'`.
    ///
    /// Keeps the order of the classes, hence the accuracy, and is injective unless `w₃` is 1 up to 10⁻⁵, where nothing is
    /// promised: `p'` is the gradient of `w₁ T log Σ exp(z/T) + w₂ log Σ exp(z)` up to a constant, convex in `z` and strictly
    /// so except for shifts.
    ///
    /// Fitted by descent in `log T` and the weights from the temperature of the log loss with
    /// `w = (0.9, 0.05, 0.05)`; a minimum with a weight of 0 is approached, not reached. Not convex: a
    /// fit that is no better than its temperature alone gives that temperature with `w₁ ≈ 1`.
    EnsembleTemperatureScaling: Ensemble, "ensemble temperature scaling", Ensemble::identity, logits
}

/// The parameters of [`EnsembleTemperatureScaling`].
#[derive(Module, Debug)]
pub struct Ensemble {
    /// `T`, of shape `[1]`.
    temperature: Parameter<1>,
    /// `log w`, of shape `[3]`.
    log_weights: Parameter<1>,
}

/// The start of the descent, and nearly the temperature alone.
const STARTS: [[f64; 3]; 2] = [[0.9, 0.05, 0.05], [1.0 - 2e-9, 1e-9, 1e-9]];

/// The least `w₁ + w₂` with which single precision keeps the order of the classes.
const LEAST: f64 = 1e-5;

impl LogitFit for EnsembleTemperatureScalingConfig {
    type Map = EnsembleTemperatureScaling;

    fn find(&self, task: &mut FitTask) -> Result<EnsembleTemperatureScaling> {
        check_prior(self.prior)?;
        let (data, criterion) = (&task.data, task.criterion);
        let (spread, n) = (data.spread(), data.mass());
        let temperature = TemperatureScalingConfig::new().with_prior(self.prior);
        let (log_beta, _) = temperature.fit_log_loss(&TemperedRows::new(data), &mut |_| {});
        let beta = match self.prior {
            Some(_) => log_beta.exp(),
            // separable data have no temperature: the start stays moderate, the descent goes on
            None => (log_beta.exp() * spread).clamp(1e-4, 1e4) / spread,
        };
        // a weight of 0 is approached slowly: the steps far from it are enough to compare maps
        let limits = match task.purpose {
            Purpose::Map => Limits::new(self.tolerance, self.max_iterations),
            Purpose::Candidate | Purpose::Fold => Limits::new(1e-5, 100),
        };
        let fits = STARTS.len() + usize::from(criterion.is_some());
        let log_loss = EnsembleLogLoss::new(data);
        let mut best: Option<(Vec<f64>, FitReport)> = None;
        for (fit, weights) in (1..).zip(STARTS) {
            let start: Vec<f64> = [beta].iter().chain(&weights).map(|x| x.ln()).collect();
            let mut observe = observer(&mut *task.progress, fit, fits);
            let at = |theta: &[f64]| {
                let (mut value, mut gradient) = log_loss.at(theta);
                if let Some(scale) = self.prior {
                    let [prior, slope] = log_temperature_prior(theta[0], scale);
                    value += prior / n;
                    gradient[0] += slope / n;
                }
                (value, gradient)
            };
            let found = minimise(at, &start, limits, &mut observe);
            if (best.as_ref()).is_none_or(|best| found.1.objective < best.1.objective) {
                best = Some(found);
            }
        }
        let (mut theta, mut report) = best.expect("two fits");
        if let Some(criterion) = criterion {
            let logits = data.tensor(data.logits.clone());
            let at = logit_criterion(criterion, data, |theta| {
                let [log_beta, weights] = [0..1, 1..4].map(|part| theta.clone().slice(part));
                mixture(logits.clone(), log_beta.exp(), log_softmax(weights, 0))
            });
            let mut observe = observer(&mut *task.progress, fits, fits);
            (theta, report) = minimise(at, &theta, limits, &mut observe);
        }
        let weights = parameter_row(theta[1..].to_vec(), &data.device).val();
        let form = Ensemble {
            temperature: parameter_row(vec![(-theta[0]).exp()], &data.device),
            log_weights: super::parameter::frozen(log_softmax(weights, 0)),
        };
        Ok(EnsembleTemperatureScaling::new(form, report))
    }
}

/// The mean log loss as a function of `log β` and the logarithms of the weights, up to a shift.
struct EnsembleLogLoss<'a> {
    rows: TemperedRows<'a>,
    /// The log loss of each row as it was, and that of the uniform prediction.
    original: Vec<f64>,
    uniform: f64,
}

impl<'a> EnsembleLogLoss<'a> {
    fn new(data: &'a FitData) -> Self {
        Self {
            rows: TemperedRows::new(data),
            original: log_losses(data.logits.clone(), &data.labels),
            uniform: (data.classes as f64).ln(),
        }
    }

    /// With the responsibilities `r_k = w_k p_k / Σ_l w_l p_l` of the three probabilities of a label, the
    /// derivatives are `mean(w_k − r_k)` with respect to `log w_k` and `mean(r₁ β (E z − z_y))` with respect to
    /// `log β`, where `E` is over the classes under `softmax(βz)`.
    fn at(&self, theta: &[f64]) -> Evaluated {
        let beta = theta[0].exp();
        let log_weights = [theta[1], theta[2], theta[3]];
        let shift = log_sum_exp(log_weights.into_iter());
        let means: [f64; 5] = self.rows.means(beta, |rows| {
            let mut sums = [0.0; 5];
            for row in rows {
                let tempered = beta * row.of_label - row.sum.ln();
                let terms = [tempered, -self.original[row.index], -self.uniform];
                let terms = [0, 1, 2].map(|k| log_weights[k] - shift + terms[k]);
                let (w, value) = (row.weight, log_sum_exp(terms.into_iter()));
                let parts = terms.map(|term| (term - value).exp());
                sums[0] -= w * value;
                sums[1] += w * (parts[0] * beta * row.excess);
                (0..3).for_each(|k| sums[k + 2] += w * parts[k]);
            }
            sums
        });
        let of_weights = [0, 1, 2].map(|k| (log_weights[k] - shift).exp() - means[k + 2]);
        (means[0], [&means[1..2], &of_weights].concat())
    }
}

/// `log(w₁ softmax(βz) + w₂ softmax(z) + w₃/m)`: `[n, m]`, from `[n, m]`, `[1]` and `[3]`, without
/// underflow.
fn mixture(logits: Tensor<2>, beta: Tensor<1>, log_weights: Tensor<1>) -> Tensor<2> {
    let [_, m] = logits.dims();
    let [first, second, third] =
        [0, 1, 2].map(|k| log_weights.clone().slice(k..k + 1).reshape([1, 1]));
    let tempered = log_softmax(logits.clone() * beta.reshape([1, 1]), 1) + first;
    let original = log_softmax(logits.clone(), 1) + second;
    let uniform = logits.zeros_like() - (m as f64).ln() + third;
    let largest = tempered.clone().max_pair(original.clone());
    let largest = largest.max_pair(uniform.clone()).detach();
    let [tempered, original, uniform] =
        [tempered, original, uniform].map(|term| (term - largest.clone()).exp());
    (tempered + original + uniform).log() + largest
}

impl EnsembleTemperatureScaling {
    /// Returns the temperature `T`.
    pub fn temperature(&self) -> f64 {
        to_scalar(self.form.temperature.val())
    }

    /// Returns the weights `w` of the scaled, the original and the uniform prediction; they sum to 1.
    pub fn weights(&self) -> [f64; 3] {
        let weights = to_vec(softmax(self.form.log_weights.val(), 0));
        [weights[0], weights[1], weights[2]]
    }
}

impl Form for Ensemble {
    fn row_names(&self, parameter: &str) -> &'static [&'static str] {
        match parameter {
            "log_weights" => &["log w₁", "log w₂", "log w₃"],
            _ => &[],
        }
    }

    fn check(&self) -> Result<(), String> {
        check_temperature(&self.temperature)?;
        check_shape(&self.log_weights, "log_weights", [3])
    }

    fn keeps(&self) -> Guarantees {
        let log_weights = to_vec(self.log_weights.val());
        if log_weights[0].exp() + log_weights[1].exp() < LEAST {
            Guarantees::NONE
        } else {
            Guarantees::ALL
        }
    }
}

impl Ensemble {
    fn identity(_: usize, device: &Device) -> Self {
        let thirds = (1f64 / 3.0).ln();
        Self {
            temperature: parameter_row(vec![1.0], device),
            log_weights: parameter_row(vec![thirds; 3], device),
        }
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let dtype = logits.dtype();
        let beta = self.temperature.val().recip().cast(dtype);
        mixture(logits, beta, self.log_weights.val().cast(dtype))
    }
}
