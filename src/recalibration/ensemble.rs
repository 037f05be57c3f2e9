use burn::tensor::activation::{log_softmax, softmax};

use rayon::prelude::*;

use super::{
    common::*,
    fit::Purpose,
    temperature::{check_prior, check_temperature, log_temperature_prior},
};
use crate::ops::exp;

/// Configuration of [`EnsembleTemperatureScaling`], which it fits.
#[derive(Config, Debug)]
pub struct EnsembleTemperatureScalingConfig {
    /// The largest derivative with respect to `log T` and to the logarithms of the weights at which
    /// the fit has converged. Default: 10⁻⁷.
    #[config(default = 1e-7)]
    pub tolerance: f64,
    /// The most iterations. Default: 1000.
    #[config(default = 1000)]
    pub max_iterations: usize,
    /// The scale of the prior of `log T`, as of
    /// [`TemperatureScalingConfig`](super::TemperatureScalingConfig::prior). Default: 0.35.
    #[config(default = "Some(0.35)")]
    pub prior: Option<f64>,
}

/// Ensemble temperature scaling: `p' = w₁ softmax(z/T) + w₂ softmax(z) + w₃/m` with weights on the
/// simplex (Zhang, Kailkhura, Han: *Mix-n-Match*, 2020, section 3.2); the new logits are `log p'`.
///
/// Keeps the order of the classes, hence the accuracy. Injective unless `w₃ = 1`: `p'` is the
/// gradient of `w₁ T log Σ exp(z/T) + w₂ log Σ exp(z)` up to a constant, convex in `z` and strictly so
/// but for shifts.
///
/// Fitted by descent in `log T` and the weights from the temperature of the log loss with
/// `w = (0.9, 0.05, 0.05)`; a minimum with a weight of 0 is approached, not reached. Not convex: a
/// fit that is no better than its temperature alone gives that temperature with `w₁ ≈ 1`.
pub type EnsembleTemperatureScaling = Fitted<Ensemble>;

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

impl LogitFit for EnsembleTemperatureScalingConfig {
    type Form = Ensemble;
    const NAME: &'static str = "ensemble-temperature";
    const ABOUT: &'static str = "A temperature mixed with the original and the uniform prediction";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn find(&self, task: Task) -> Result<FitOutcome<Ensemble>> {
        check_prior(self.prior)?;
        let (data, criterion) = (task.data, task.criterion);
        let (spread, n) = (data.spread(), data.samples() as f64);
        // separable data have no temperature: the start stays moderate, the descent goes on
        let beta = TemperatureScalingConfig::inverse_temperature(&data);
        let beta = (beta * spread).clamp(1e-4, 1e4) / spread;
        // a weight of 0 is approached slowly: the steps far from it are enough to compare maps
        let limits = match task.purpose {
            Purpose::Map => Limits::new(self.tolerance, self.max_iterations),
            Purpose::Candidate | Purpose::Fold => Limits::new(1e-5, 100),
        };
        let fits = STARTS.len() + usize::from(criterion.is_some());
        let log_loss = EnsembleLogLoss::new(&data);
        let mut best: Option<(Vec<f64>, FitReport)> = None;
        for (fit, weights) in (1..).zip(STARTS) {
            let start: Vec<f64> = [beta].iter().chain(&weights).map(|x| x.ln()).collect();
            let mut observe = observer(task.progress, fit, fits);
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
            let (logits, labels) = (data.tensor(data.logits.clone()), data.labels_tensor());
            let objective = |theta: &Tensor<1>| {
                let [log_beta, weights] = [0..1, 1..4].map(|part| theta.clone().slice(part));
                let log_weights = log_softmax(weights, 0);
                let mixed = mixture(logits.clone(), log_beta.exp(), log_weights);
                criterion.objective(&mixed, &labels)
            };
            let at = of_tensor(objective, &data.device);
            let mut observe = observer(task.progress, fits, fits);
            (theta, report) = minimise(at, &theta, limits, &mut observe);
        }
        let weights = Parameter::new(theta[1..].to_vec(), [3], &data.device).val();
        let form = Ensemble {
            temperature: Parameter::new(vec![(-theta[0]).exp()], [1], &data.device),
            log_weights: Parameter::from(log_softmax(weights, 0)),
        };
        Ok((form, report).into())
    }
}

/// The mean log loss as a function of `log β` and the logarithms of the weights, up to a shift.
struct EnsembleLogLoss<'a> {
    classes: usize,
    /// Less the largest of their row.
    logits: Vec<f64>,
    labels: &'a [usize],
    /// The logarithm of the original probability of each label.
    original: Vec<f64>,
}

/// Rows whose exponentials are taken together.
const ROWS: usize = 256;

impl<'a> EnsembleLogLoss<'a> {
    fn new(data: &'a FitData) -> Self {
        let mut logits = data.logits.clone();
        let of_row = |(row, &y): (&mut [f64], &usize)| {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest);
            row[y] - row.iter().map(|z| z.exp()).sum::<f64>().ln()
        };
        let rows = logits.chunks_mut(data.classes).zip(&data.labels);
        Self {
            original: rows.map(of_row).collect(),
            classes: data.classes,
            logits,
            labels: &data.labels,
        }
    }

    /// With the responsibilities `r_k = w_k p_k / Σ_l w_l p_l` of the three probabilities of a label, the
    /// derivatives are `mean(w_k − r_k)` with respect to `log w_k` and `mean(r₁ β (E z − z_y))` with respect to
    /// `log β`, where `E` is over the classes under `softmax(βz)`.
    fn at(&self, theta: &[f64]) -> Evaluated {
        let beta = theta[0].exp();
        let largest = theta[1..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = largest
            + (theta[1..].iter())
                .map(|w| (w - largest).exp())
                .sum::<f64>()
                .ln();
        let log_weights = [1, 2, 3].map(|k| theta[k] - shift);
        let blocks = (self.logits.par_chunks(ROWS * self.classes))
            .zip(self.labels.par_chunks(ROWS))
            .zip(self.original.par_chunks(ROWS));
        let of_block = |((z, labels), original)| self.sums(beta, log_weights, z, labels, original);
        // in the order of the blocks: the same sum on any number of threads
        let sums: Vec<[f64; 5]> = blocks.map(of_block).collect();
        let n = self.labels.len() as f64;
        let mean = |k: usize| sums.iter().map(|sums| sums[k]).sum::<f64>() / n;
        let of_weights = (0..3).map(|k| log_weights[k].exp() - mean(k + 2));
        (mean(0), [mean(1)].into_iter().chain(of_weights).collect())
    }

    /// Over some rows: of the log loss, of its derivative with respect to `log β`, and of `r`.
    fn sums(
        &self,
        beta: f64,
        log_weights: [f64; 3],
        logits: &[f64],
        labels: &[usize],
        original: &[f64],
    ) -> [f64; 5] {
        let m = self.classes;
        let uniform = -(m as f64).ln();
        let mut powers: Vec<f64> = logits.iter().map(|z| beta * z).collect();
        exp(&mut powers);
        let mut sums = [0.0; 5];
        let rows = logits
            .chunks(m)
            .zip(powers.chunks(m))
            .zip(labels.iter().zip(original));
        for ((z, powers), (&y, original)) in rows {
            let (mut s0, mut s1) = (0.0, 0.0);
            for (power, z) in powers.iter().zip(z) {
                s0 += power;
                s1 += power * z;
            }
            let terms = [beta * z[y] - s0.ln(), *original, uniform];
            let terms = [0, 1, 2].map(|k| log_weights[k] + terms[k]);
            let largest = terms.into_iter().fold(f64::NEG_INFINITY, f64::max);
            let parts = terms.map(|term| (term - largest).exp());
            let sum: f64 = parts.iter().sum();
            sums[0] -= largest + sum.ln();
            sums[1] += parts[0] / sum * beta * (s1 / s0 - z[y]);
            (0..3).for_each(|k| sums[k + 2] += parts[k] / sum);
        }
        sums
    }
}

/// `log(w₁ softmax(βz) + w₂ softmax(z) + w₃/m)`: `[n, m]`, from `[n, m]`, `[1]` and `[3]`, without
/// underflow.
fn mixture(logits: Tensor<2>, beta: Tensor<1>, log_weights: Tensor<1>) -> Tensor<2> {
    let [_, m] = logits.dims();
    let [first, second, third] =
        [0, 1, 2].map(|k| log_weights.clone().slice(k..k + 1).reshape([1, 1]));
    let terms = [
        log_softmax(logits.clone() * beta.reshape([1, 1]), 1) + first,
        log_softmax(logits.clone(), 1) + second,
        logits.zeros_like() - (m as f64).ln() + third,
    ];
    log_sum(terms.into())
}

/// The logarithm of the sum of exponentials of at least one term, without underflow.
pub(super) fn log_sum(terms: Vec<Tensor<2>>) -> Tensor<2> {
    let largest = (terms.clone().into_iter())
        .reduce(|a, b| a.max_pair(b))
        .expect("a term")
        .detach();
    let sum = terms
        .into_iter()
        .map(|term| (term - largest.clone()).exp())
        .reduce(|a, b| a + b)
        .expect("a term");
    sum.log() + largest
}

impl EnsembleTemperatureScaling {
    /// Gives the temperature `T`.
    pub fn temperature(&self) -> f64 {
        to_scalar(self.form.temperature.val())
    }

    /// Gives the weights `w` of the scaled, the original and the uniform prediction; they sum to 1.
    pub fn weights(&self) -> [f64; 3] {
        let weights = to_vec(softmax(self.form.log_weights.val(), 0));
        [weights[0], weights[1], weights[2]]
    }
}

impl Form for Ensemble {
    const KIND: &'static str = "ensemble temperature scaling";

    fn template(device: &Device) -> Self {
        let thirds = (1f64 / 3.0).ln();
        Self {
            temperature: Parameter::new(vec![1.0], [1], device),
            log_weights: Parameter::new(vec![thirds; 3], [3], device),
        }
    }

    fn check(&self) -> Result<(), String> {
        check_temperature(&self.temperature)?;
        self.log_weights.check_shape("log_weights", [3])
    }

    fn keeps(&self) -> Guarantees {
        Guarantees::ALL
    }
}

impl Apply<Tensor<2>> for Ensemble {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let dtype = logits.dtype();
        let beta = self.temperature.val().recip().cast(dtype);
        mixture(logits, beta, self.log_weights.cast(dtype))
    }
}
