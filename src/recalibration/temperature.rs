use std::path::Path;

use burn::{
    config::Config,
    module::{Module, Param},
    store::ModuleRecord,
    tensor::{DType, Device, Int, Tensor},
};

use super::{
    FitReport, FitStatus,
    solver::{Solution, increasing_root, minimum},
};
use crate::{
    error::{Error, Result},
    host::{checked_labels, checked_rows, to_scalar},
    loss::Criterion,
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
/// [`TemperatureScalingConfig`]; saved and loaded by [`save`](Self::save) and [`load`](Self::load),
/// or as part of another module.
#[derive(Module, Debug)]
pub struct TemperatureScaling {
    /// `T`, of shape `[1]`; f64 where the device knows it.
    temperature: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

impl TemperatureScalingConfig {
    /// Fits the temperature to the mean log loss, which is convex in `1/T`: its unique minimum.
    ///
    /// Safeguarded Newton steps on the derivative with respect to `1/T`, in f64 on the host
    /// whatever the dtype. With `s` the largest difference between two logits of a row, `T` lies in
    /// `[e⁻²⁰ s, e²⁰ s]`; a fit that ends at a bound says so in its [report](TemperatureScaling::report),
    /// and so does one on rows of equal logits, which leaves `T = 1`.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, held out from training
    /// - labels: `[n]`
    ///
    /// Cost: about ten times `n·m` exponentials.
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, a logit that is NaN or infinite, a label that is not a
    /// class, or another number of labels than of rows.
    pub fn fit(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Result<TemperatureScaling> {
        let data = Data::new(&logits, &labels)?;
        let device = logits.device();
        let Some(bounds) = data.inverse_temperatures() else {
            let objective = data.log_loss(1.0).value;
            return Ok(TemperatureScaling::indifferent(objective, &device));
        };
        let (low, high) = bounds;
        let slope = |beta: f64| data.log_loss(beta).slope;
        let (beta, status, evaluations) = if slope(low) >= 0.0 {
            (low, FitStatus::UpperBound, 1)
        } else if slope(high) <= 0.0 {
            (high, FitStatus::LowerBound, 2)
        } else {
            // on the scale x = log β, where the derivative still increases through its root
            let f = |x: f64| {
                let at = data.log_loss(x.exp());
                (at.slope, at.curvature * x.exp())
            };
            let Solution {
                x,
                evaluations,
                converged,
            } = increasing_root(
                f,
                low.ln()..=high.ln(),
                0.0,
                self.tolerance,
                self.max_iterations,
            );
            let status = if converged {
                FitStatus::Converged
            } else {
                FitStatus::IterationLimit
            };
            (x.exp(), status, evaluations + 2)
        };
        let at = data.log_loss(beta);
        let report = FitReport {
            status,
            objective: at.value,
            gradient: Some(-at.slope * beta), // d/d log T = −β d/dβ
            evaluations: evaluations + 1,
        };
        Ok(TemperatureScaling::new(1.0 / beta, Some(report), &device))
    }

    /// Fits the temperature to any criterion, such as a loss of this library: the minimum that lies
    /// downhill from that of the log loss, by Brent's method.
    ///
    /// Downhill, because a calibration error alone does not reward sharpness: the SKCE and the MMCE
    /// of nearly uniform predictions can be lower still, at a temperature that nobody wants.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, held out from training
    /// - labels: `[n]`
    ///
    /// Cost: about 30 evaluations of the criterion, in f64 where the device knows it.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn fit_by(
        &self,
        criterion: &impl Criterion,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Result<TemperatureScaling> {
        let data = Data::new(&logits, &labels)?;
        let start = self.fit(logits.clone(), labels.clone())?;
        let device = logits.device();
        let logits = logits.detach().cast(finest(&device));
        let objective =
            |x: f64| to_scalar(criterion.forward(logits.clone() * x.exp(), labels.clone()));
        let Some((low, high)) = data.inverse_temperatures() else {
            return Ok(TemperatureScaling::indifferent(objective(0.0), &device));
        };
        let (low, high) = (low.ln(), high.ln());
        let Solution {
            x,
            evaluations,
            converged,
        } = minimum(
            objective,
            low..=high,
            -start.temperature().ln(),
            self.tolerance.max(1e-7),
            self.max_iterations,
        );
        let status = match converged {
            _ if x <= low => FitStatus::UpperBound,
            _ if x >= high => FitStatus::LowerBound,
            true => FitStatus::Converged,
            false => FitStatus::IterationLimit,
        };
        let report = FitReport {
            status,
            objective: objective(x),
            gradient: None,
            evaluations: evaluations + 1,
        };
        Ok(TemperatureScaling::new((-x).exp(), Some(report), &device))
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
        let device = device.clone().without_autodiff();
        let tensor = Tensor::<1>::from_data([temperature], (&device, finest(&device)));
        Self {
            temperature: Param::from_tensor(tensor),
            report,
        }
    }

    fn indifferent(objective: f64, device: &Device) -> Self {
        let status = FitStatus::Indifferent;
        let report = FitReport {
            status,
            objective,
            gradient: Some(0.0),
            evaluations: 1,
        };
        Self::new(1.0, Some(report), device)
    }

    /// The recalibrated logits `z/T`.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - output: `[n, m]`, in the dtype of the logits
    pub fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        let temperature = self.temperature.val().cast(logits.dtype());
        logits / temperature.reshape([1, 1])
    }

    /// The temperature `T`.
    pub fn temperature(&self) -> f64 {
        to_scalar(self.temperature.val())
    }

    /// How the fit went; none for a map that was loaded or built from a temperature.
    pub fn report(&self) -> Option<&FitReport> {
        self.report.as_ref()
    }

    /// Saves the map to a Burn record file, written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::Map`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.clone()
            .save_file(path)
            .map_err(|error| map_error(path, &error))
    }

    /// Loads a map that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// [`Error::Map`] if the file cannot be read, is not a record, holds another kind of map, or a
    /// temperature that is not a positive finite number.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
        let path = path.as_ref();
        let record = ModuleRecord::load(path).map_err(|error| map_error(path, &error))?;
        let map = Self::new(1.0, None, device)
            .try_load_record(record.cast_to_module_dtype())
            .map_err(|error| map_error(path, &error))?;
        Self::from_temperature(map.temperature(), device)
            .map_err(|error| map_error(path, &error))?;
        Ok(map)
    }
}

fn map_error(path: &Path, reason: &impl std::fmt::Display) -> Error {
    Error::Map {
        path: path.display().to_string(),
        reason: format!("not a saved temperature scaling: {reason}"),
    }
}

/// f64 where the device knows it.
fn finest(device: &Device) -> DType {
    if device.supports_dtype(DType::F64) {
        DType::F64
    } else {
        DType::F32
    }
}

/// Checked logits and labels on the host.
struct Data {
    classes: usize,
    logits: Vec<f64>,
    labels: Vec<usize>,
}

/// The mean log loss at an inverse temperature, with its first two derivatives.
struct LogLossAt {
    value: f64,
    slope: f64,
    curvature: f64,
}

impl Data {
    fn new(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Result<Self> {
        let [rows, classes] = logits.dims();
        let mut values = checked_rows(logits, "logit")?;
        let labels = checked_labels(labels, rows, classes)?;
        for row in values.chunks_mut(classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest); // softmax(βz) does not change for β > 0
        }
        Ok(Self {
            classes,
            logits: values,
            labels,
        })
    }

    /// The bounds of `β = 1/T`: `[e⁻²⁰/s, e²⁰/s]` for the largest difference `s` between two logits
    /// of a row; none if it is 0.
    fn inverse_temperatures(&self) -> Option<(f64, f64)> {
        let spread = self.logits.iter().copied().fold(0.0, f64::min).abs();
        (spread > 0.0).then(|| ((-20f64).exp() / spread, 20f64.exp() / spread))
    }

    /// `L(β) = mean(log Σ_c exp(βz_c) − βz_y)`, `L' = mean(E z − z_y)`, `L'' = mean(Var z)`, where
    /// `E` and `Var` are over the classes under `softmax(βz)`.
    fn log_loss(&self, beta: f64) -> LogLossAt {
        let mut sum = LogLossAt {
            value: 0.0,
            slope: 0.0,
            curvature: 0.0,
        };
        for (z, &y) in self.logits.chunks(self.classes).zip(&self.labels) {
            let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
            for &z in z {
                let weight = (beta * z).exp();
                s0 += weight;
                s1 += weight * z;
                s2 += weight * z * z;
            }
            let mean = s1 / s0;
            sum.value += s0.ln() - beta * z[y];
            sum.slope += mean - z[y];
            sum.curvature += s2 / s0 - mean * mean;
        }
        let n = self.labels.len() as f64;
        LogLossAt {
            value: sum.value / n,
            slope: sum.slope / n,
            curvature: sum.curvature / n,
        }
    }
}
