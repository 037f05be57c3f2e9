use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Int, Tensor},
};

use rayon::prelude::*;

use super::{
    Fit, FitProgress, FitReport, FitStatus, Guarantees,
    data::FitData,
    file::{Parts, Stored, parameter},
    map::impl_recalibration,
    solver::{Solution, increasing_root, minimum},
};
use crate::{
    error::{Error, Result},
    host::to_scalar,
    loss::Criterion,
    ops::exp,
};

/// Configuration of [`TemperatureScaling`], which it fits.
#[derive(Config, Debug)]
pub struct TemperatureScalingConfig {
    /// The tolerance on `log T`. Default: 10⁻¹².
    ///
    /// A criterion other than the log loss is fitted from its values alone, which determine a
    /// minimum to half the digits: there the tolerance is at least 10⁻⁷.
    #[config(default = 1e-12)]
    pub tolerance: f64,
    /// The most iterations. Default: 200, of which bisection alone needs about 50.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Temperature scaling: `z ↦ z/T` (Guo, Pleiss, Sun, Weinberger 2017).
///
/// Keeps the order of the classes, hence the accuracy, and is injective. Fitted by
/// [`TemperatureScalingConfig`].
#[derive(Module, Debug)]
pub struct TemperatureScaling {
    /// `T`, of shape `[1]`; f64 where the device computes in it.
    temperature: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

impl Fit for TemperatureScalingConfig {
    type Map = TemperatureScaling;

    /// Fits the temperature: to the mean log loss, which is convex in `1/T`, at its unique minimum by
    /// safeguarded Newton steps in f64 on the host, about ten times `n·m` exponentials; to any other
    /// criterion at the minimum that lies downhill from that of the log loss by Brent's method, about
    /// 30 evaluations, in f64 where the device computes in it.
    ///
    /// With `s` the largest difference between two logits of a row, `T` lies in `[e⁻²⁰ s, e²⁰ s]`; a
    /// fit that ends at a bound says so in its report, and so does one on rows of equal logits, which
    /// leaves `T = 1`.
    fn fit_observed(
        &self,
        criterion: Option<&dyn Criterion>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        progress: &mut dyn FnMut(FitProgress),
    ) -> Result<TemperatureScaling> {
        let data = FitData::new(&logits, &labels)?;
        let (beta, report) = match criterion {
            None => self.fit_log_loss(&data, progress),
            Some(criterion) => self.fit_criterion(&data, criterion, progress),
        };
        Ok(TemperatureScaling::new(
            1.0 / beta,
            Some(report),
            &data.device,
        ))
    }
}

impl TemperatureScalingConfig {
    /// `β = 1/T` of the log loss.
    pub(super) fn inverse_temperature(&self, data: &FitData) -> f64 {
        self.fit_log_loss(data, &mut |_| {}).0
    }

    fn fit_log_loss(
        &self,
        data: &FitData,
        progress: &mut dyn FnMut(FitProgress),
    ) -> (f64, FitReport) {
        let loss = LogLoss::new(data);
        let Some((low, high)) = loss.bounds() else {
            return (1.0, indifferent(loss.at(1.0).value));
        };
        let mut evaluations = 0;
        let mut last = None;
        let mut at = |beta: f64| {
            let at = loss.at(beta);
            last = Some(at);
            evaluations += 1;
            progress(FitProgress {
                fit: 1,
                fits: 1,
                evaluations,
                objective: at.value,
            });
            at
        };
        let (beta, status) = if at(low).slope >= 0.0 {
            (low, FitStatus::UpperBound)
        } else if at(high).slope <= 0.0 {
            (high, FitStatus::LowerBound)
        } else {
            // on the scale x = log β, where the derivative still increases through its root
            let f = |x: f64| {
                let at = at(x.exp());
                (at.slope, at.curvature * x.exp())
            };
            let bracket = low.ln()..=high.ln();
            let Solution { x, converged, .. } =
                increasing_root(f, bracket, 0.0, self.tolerance, self.max_iterations);
            (x.exp(), ended(converged))
        };
        let at = last.expect("evaluated at a bound or within the tolerance of the minimum");
        let report = FitReport {
            status,
            objective: at.value,
            gradient: Some((at.slope * beta).abs()), // d/d log T = −β d/dβ
            evaluations,
            regularisation: None,
        };
        (beta, report)
    }

    fn fit_criterion(
        &self,
        data: &FitData,
        criterion: &dyn Criterion,
        progress: &mut dyn FnMut(FitProgress),
    ) -> (f64, FitReport) {
        let start = self.inverse_temperature(data);
        let (logits, labels) = (
            data.tensor(data.logits.clone()).inner(),
            data.labels_tensor().inner(),
        );
        let mut evaluations = 0;
        let mut objective = |x: f64| {
            let value = to_scalar(criterion.forward(logits.clone() * x.exp(), labels.clone()));
            evaluations += 1;
            progress(FitProgress {
                fit: 1,
                fits: 1,
                evaluations,
                objective: value,
            });
            value
        };
        let Some((low, high)) = LogLoss::new(data).bounds() else {
            return (1.0, indifferent(objective(0.0)));
        };
        let (low, high) = (low.ln(), high.ln());
        let Solution { x, converged, .. } = minimum(
            &mut objective,
            low..=high,
            start.ln(),
            self.tolerance.max(1e-7),
            self.max_iterations,
        );
        let status = match converged {
            _ if x <= low => FitStatus::UpperBound,
            _ if x >= high => FitStatus::LowerBound,
            converged => ended(converged),
        };
        let report = FitReport {
            status,
            objective: objective(x),
            gradient: None,
            evaluations,
            regularisation: None,
        };
        (x.exp(), report)
    }
}

fn ended(converged: bool) -> FitStatus {
    match converged {
        true => FitStatus::Converged,
        false => FitStatus::IterationLimit,
    }
}

/// Of logits that are equal within each row.
fn indifferent(objective: f64) -> FitReport {
    FitReport {
        status: FitStatus::Indifferent,
        objective,
        gradient: Some(0.0),
        evaluations: 1,
        regularisation: None,
    }
}

impl TemperatureScaling {
    /// A map with the given temperature.
    ///
    /// # Errors
    ///
    /// If the temperature is not a positive finite number.
    pub fn from_temperature(temperature: f64, device: &Device) -> Result<Self> {
        match temperature.is_finite() && temperature > 0.0 {
            true => Ok(Self::new(temperature, None, device)),
            false => Err(Error::Parameter {
                name: "the temperature",
                value: temperature,
                expected: "a positive finite number",
            }),
        }
    }

    fn new(temperature: f64, report: Option<FitReport>, device: &Device) -> Self {
        Self {
            temperature: parameter(vec![temperature], [1], device),
            report,
        }
    }

    /// The temperature `T`.
    pub fn temperature(&self) -> f64 {
        to_scalar(self.temperature.val())
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let temperature = self.temperature.val().cast(logits.dtype());
        logits / temperature.reshape([1, 1])
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn keeps(&self) -> Guarantees {
        Guarantees::ALL
    }
}

impl Stored for TemperatureScaling {
    const KIND: &'static str = "temperature scaling";

    fn restore(parts: &mut Parts) -> Result<Self, String> {
        let temperature = to_scalar(parts.take_shaped("temperature", [1])?.val());
        Self::from_temperature(temperature, &parts.device).map_err(|error| error.to_string())
    }
}

impl_recalibration!(TemperatureScaling);

/// Logits of a block, whose exponentials are taken together: they stay in the first-level cache.
const BLOCK: usize = 2048;

/// The mean log loss as a function of `β = 1/T`.
struct LogLoss<'a> {
    classes: usize,
    /// Less the largest of their row: `softmax(βz)` does not change.
    logits: Vec<f64>,
    labels: &'a [usize],
}

/// The mean log loss at an inverse temperature, with its first two derivatives.
#[derive(Clone, Copy)]
struct LogLossAt {
    value: f64,
    slope: f64,
    curvature: f64,
}

impl<'a> LogLoss<'a> {
    fn new(data: &'a FitData) -> Self {
        let mut logits = data.logits.clone();
        for row in logits.chunks_mut(data.classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest);
        }
        Self {
            classes: data.classes,
            logits,
            labels: &data.labels,
        }
    }

    /// The bounds of `β = 1/T`: `[e⁻²⁰/s, e²⁰/s]` for the largest difference `s` between two logits
    /// of a row; none if it is 0.
    fn bounds(&self) -> Option<(f64, f64)> {
        let spread = self.logits.iter().copied().fold(0.0, f64::min).abs();
        (spread > 0.0).then(|| ((-20f64).exp() / spread, 20f64.exp() / spread))
    }

    /// `L(β) = mean(log Σ_c exp(βz_c) − βz_y)`, `L' = mean(E z − z_y)`, `L'' = mean(Var z)`, where
    /// `E` and `Var` are over the classes under `softmax(βz)`.
    fn at(&self, beta: f64) -> LogLossAt {
        let rows = (BLOCK / self.classes).max(1);
        let blocks =
            (self.logits.par_chunks(rows * self.classes)).zip(self.labels.par_chunks(rows));
        let of_block = |(logits, labels): (&[f64], &[usize])| self.sums(beta, logits, labels);
        // in the order of the blocks: the same sum on any number of threads
        let sums: Vec<[f64; 3]> = blocks.map(of_block).collect();
        let n = self.labels.len() as f64;
        let mean = |k: usize| sums.iter().map(|sums| sums[k]).sum::<f64>() / n;
        LogLossAt {
            value: mean(0),
            slope: mean(1),
            curvature: mean(2),
        }
    }

    /// The three sums over some rows.
    fn sums(&self, beta: f64, logits: &[f64], labels: &[usize]) -> [f64; 3] {
        let mut weights: Vec<f64> = logits.iter().map(|z| beta * z).collect();
        exp(&mut weights);
        let [mut value, mut slope, mut curvature] = [0.0; 3];
        let mut product = 1.0f64; // of s₀ in [1, m]: one logarithm for many
        let rows = (logits.chunks(self.classes)).zip(weights.chunks(self.classes));
        for ((z, weights), &y) in rows.zip(labels) {
            let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
            for (weight, z) in weights.iter().zip(z) {
                s0 += weight;
                s1 += weight * z;
                s2 += weight * z * z;
            }
            product *= s0;
            if product > 1e200 {
                value += product.ln();
                product = 1.0;
            }
            let mean = s1 / s0;
            value -= beta * z[y];
            slope += mean - z[y];
            curvature += s2 / s0 - mean * mean;
        }
        [value + product.ln(), slope, curvature]
    }
}
