use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::{
    file::impl_distribution_map,
    tempered::{LogScore, Tempered},
};
use crate::{
    error::{Error, Result},
    host::to_scalar,
    recalibration::{
        FitReport, FitStatus,
        file::{Parts, Stored, parameter},
        solver::{increasing_root, minimum},
    },
};

/// `log T` lies in `[−80, 80]`, so that `T` is a number of f32.
const BOUND: f64 = 80.0;

/// Configuration of [`DistributionTemperature`], which it fits.
#[derive(Config, Debug)]
pub struct DistributionTemperatureConfig {
    /// The tolerance on `log T`. Default: 10⁻¹².
    ///
    /// A criterion other than the log score is fitted from its values alone, which determine a
    /// minimum to half the digits of the predictions' dtype: there the tolerance is at least 10⁻⁷.
    #[config(default = 1e-12)]
    pub tolerance: f64,
    /// The most iterations. Default: 200, of which bisection alone needs about 50.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Temperature scaling of distributions: the densities `f_i^{1/T}`, normalised (Widmann et al. 2021,
/// Definition F.1), within the family of the predictions, see [`Tempered`].
///
/// Keeps the means, hence squared and (but for Beta and Dirichlet predictions) absolute errors, and is
/// injective. One map serves predictions of any family. Fitted by [`DistributionTemperatureConfig`].
#[derive(Module, Debug)]
pub struct DistributionTemperature {
    /// `T`, of shape `[1]`; f64 where the device computes in it.
    temperature: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

impl DistributionTemperatureConfig {
    /// Fits the temperature to the mean log score `mean(−ln f_i(y_i))`, which is convex in `1/T`, at its
    /// unique minimum in f64 on the host: for normal predictions `T = mean(z²)`, Laplace
    /// `T = mean(|z|)`, power exponential `T = κ/d · mean(q^κ)`, over samples and coordinates; for Beta
    /// and Dirichlet predictions by safeguarded Newton steps on `log T`.
    ///
    /// `T` lies in `[e⁻⁸⁰, e⁸⁰]`; a fit that ends at a bound says so in its report, as one does where
    /// all targets are the predicted locations and nothing is too sharp.
    ///
    /// # Errors
    ///
    /// No predictions, a parameter that is invalid, a target that is NaN, infinite, or where the
    /// densities are 0 or infinite, or another number of targets or coordinates.
    pub fn fit<P: Tempered>(
        &self,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<DistributionTemperature> {
        let log_score = checked(predictions, targets)?;
        let (beta, report) = self.least(&log_score);
        let device = predictions.device();
        Ok(DistributionTemperature::new(
            1.0 / beta,
            Some(report),
            &device,
        ))
    }

    /// Fits the temperature to any criterion of predictions and targets, such as the CRPS or the SKCE,
    /// at the minimum that lies downhill from that of the log score, by Brent's method: about 30
    /// evaluations on detached predictions in their own dtype.
    ///
    /// Downhill from there, because a calibration error alone does not reward sharpness: see
    /// [`Fit::fit_by`](crate::recalibration::Fit::fit_by). The bounds are those of [`fit`](Self::fit).
    ///
    /// # Shapes
    ///
    /// - criterion: gives `[1]`
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn fit_by<P: Tempered>(
        &self,
        criterion: impl Fn(&P, &P::Targets) -> Tensor<1>,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<DistributionTemperature> {
        let log_score = checked(predictions, targets)?;
        let (start, _) = self.least(&log_score);
        let (predictions, device) = (predictions.detach(), predictions.device());
        let mut evaluations = 0;
        let mut objective = |log_beta: f64| {
            evaluations += 1;
            let map = DistributionTemperature::new((-log_beta).exp(), None, &device);
            to_scalar(criterion(&map.forward(&predictions), targets))
        };
        let tolerance = self.tolerance.max(1e-7);
        let (bounds, limit) = (-BOUND..=BOUND, self.max_iterations);
        let solution = minimum(&mut objective, bounds, start.ln(), tolerance, limit);
        let report = FitReport {
            status: status(solution.x, solution.converged),
            objective: objective(solution.x),
            gradient: None,
            evaluations,
            regularisation: None,
        };
        let temperature = (-solution.x).exp();
        Ok(DistributionTemperature::new(
            temperature,
            Some(report),
            &device,
        ))
    }

    /// The `β = 1/T` of the least log score.
    fn least(&self, log_score: &LogScore) -> (f64, FitReport) {
        let mut evaluations = 0;
        let mut at = |log_beta: f64| {
            evaluations += 1;
            log_score.at(log_beta.exp())
        };
        let slope = |[_, slope, _]: [f64; 3]| slope;
        let (x, converged) = if let Some(beta) = log_score.minimum() {
            (beta.ln().clamp(-BOUND, BOUND), true)
        } else if slope(at(-BOUND)) >= 0.0 {
            (-BOUND, true)
        } else if slope(at(BOUND)) <= 0.0 {
            (BOUND, true)
        } else {
            // on the scale x = log β, where the derivative still increases through its root
            let f = |x: f64| {
                let [_, slope, curvature] = at(x);
                (slope, curvature * x.exp())
            };
            let (bounds, limit) = (-BOUND..=BOUND, self.max_iterations);
            let solution = increasing_root(f, bounds, 0.0, self.tolerance, limit);
            (solution.x, solution.converged)
        };
        let [value, slope, _] = at(x);
        let report = FitReport {
            status: status(x, converged),
            objective: value,
            gradient: Some((slope * x.exp()).abs()), // d/d log T = −β d/dβ
            evaluations,
            regularisation: None,
        };
        (x.exp(), report)
    }
}

/// The log score of predictions and targets that are valid.
fn checked<P: Tempered>(predictions: &P, targets: &P::Targets) -> Result<LogScore> {
    predictions.check()?;
    predictions.check_targets(targets)?;
    predictions.log_score(targets)
}

/// Of a fit that ended at `x = −log T`.
fn status(x: f64, converged: bool) -> FitStatus {
    match converged {
        _ if x <= -BOUND => FitStatus::UpperBound,
        _ if x >= BOUND => FitStatus::LowerBound,
        true => FitStatus::Converged,
        false => FitStatus::IterationLimit,
    }
}

impl DistributionTemperature {
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

    /// The recalibrated predictions, differentiable.
    pub fn forward<P: Tempered>(&self, predictions: &P) -> P {
        predictions.tempered(self.temperature.val())
    }
}

impl Stored for DistributionTemperature {
    const KIND: &'static str = "temperature scaling of distributions";

    fn restore(parts: &mut Parts) -> Result<Self, String> {
        let temperature = to_scalar(parts.take_shaped("temperature", [1])?.val());
        Self::from_temperature(temperature, &parts.device).map_err(|error| error.to_string())
    }
}

impl_distribution_map!(DistributionTemperature);
