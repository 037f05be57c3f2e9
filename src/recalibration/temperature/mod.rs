//! Temperature scaling of logits and of predictive distributions.

mod log_loss;

use std::ops::RangeInclusive;

use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use self::log_loss::Search;
use super::{
    Fit, FitOptions, FitReport, FitStatus, FitTask, Guarantees, LogitFit, Progress, Recalibration,
    ScaleFamily,
    data::FitData,
    descent::{Limits, minimise},
    fit::observer,
    fitted::{Form, checked, fitted_map},
    parameter::{Parameter, check_shape, parameter_row},
    scale::mean_powers,
    task::{DistributionTask, logit_criterion},
    variance::ScaleFactors,
};
use crate::{
    error::{Result, check_positive},
    host::{to_scalar, to_vec},
};

pub(super) use self::log_loss::TemperedRows;

/// Configuration of [`TemperatureScaling`], which it fits, of logits with a prior of `log T` by default:
/// `with_prior(None)` is the estimator of Guo et al.
///
/// To the mean log loss of logits and labels, or the mean log score `mean(−ln f_i(y_i))` of predictive
/// distributions and targets, in f64 on the host. Both are convex in `1/T`. For distributions the minimum has
/// a closed form: `T = mean(z²)` of normal predictions and `T = mean(|z|)` of Laplace ones, over samples and
/// coordinates. For logits safeguarded Newton steps on `log T` find it, about ten times `n·m` exponentials.
/// With the [prior](Self::prior) the sum can have several minima. All of them lie between `T = 1` and the
/// temperature of the log loss alone, and the lowest is found, for logits of any scale.
///
/// Another criterion is fitted at the minimum that lies downhill from that one, by its derivative with respect
/// to `log T`, in f64 where the device computes in it.
///
/// With `s` the largest difference between two logits of a row, the temperature of the log loss alone lies in
/// `[e⁻²⁰ s, e²⁰ s]`; that of distributions lies in `[e⁻⁸⁰, e⁸⁰]`. A fit that ends at a bound says so in its
/// report, and so does one on rows of equal logits, which leaves `T = 1`.
#[derive(Config, Debug)]
#[must_use]
pub struct TemperatureScalingConfig {
    /// The tolerance on `log T`. Default: 10⁻¹².
    ///
    /// For a criterion other than the log loss the largest derivative with respect to `log T` at which the
    /// fit has converged; at least 10⁻⁹.
    #[config(default = 1e-12)]
    pub tolerance: f64,
    /// The most iterations. Default: 200, of which bisection alone needs about 50.
    #[config(default = 200)]
    pub max_iterations: usize,
    /// The scale `s` of a prior of `log T`, Student's t of three degrees of freedom about 0, of logits
    /// alone: `2 log(1 + (log T)²/(3 s²))/n` is added to their mean log loss. Default: 0.35; of 0.25, 0.35
    /// and 0.5 that whose temperatures of 20 to 200 predictions of 16 models had the lowest log loss on
    /// others.
    ///
    /// Without it, logits that are right in all `n` rows have a temperature near 0, and six right rows make
    /// certainty. Its weight vanishes with `n`: of 5,000 predictions of the four CIFAR-10 networks of
    /// `docs/recalibration.md` it moves `T` by less than 0.003.
    #[config(default = "Some(0.35)")]
    pub prior: Option<f64>,
}

fitted_map! {
    /// Temperature scaling: `z ↦ z/T` of logits (Guo, Pleiss, Sun, Weinberger 2017), and `f ↦ f^{1/T}`,
    /// normalised, of predictive densities within their family (Widmann et al. 2021, Definition F.1), see
    /// [`ScaleFamily::tempered`].
    ///
    /// Keeps the order of the classes, hence the accuracy; for distributions the means, hence squared and
    /// absolute errors. It is injective. Fitted by [`TemperatureScalingConfig`].
    TemperatureScaling: Temperature, "temperature scaling", |_, device| Temperature::new(1.0, device), logits
}

/// The parameter of [`TemperatureScaling`].
#[derive(Module, Debug)]
pub struct Temperature {
    /// `T`, of shape `[1]`; f64 where the device computes in it.
    temperature: Parameter<1>,
}

/// The largest logarithm of a temperature of distributions in absolute value: `T` is a number of f32.
const BOUND: f64 = 80.0;

impl TemperatureScalingConfig {
    /// `β = 1/T` of the log loss, without a prior.
    pub(super) fn inverse_temperature(data: &FitData) -> f64 {
        let (config, rows) = (Self::new().with_prior(None), TemperedRows::new(data));
        config.fit_log_loss(&rows, &mut |_| {}).0.exp()
    }

    /// The derivative of the log loss at a temperature of 1, standardised: about standard normal if the predictions
    /// are calibrated, negative if they are underconfident. NaN of logits that are equal within each row.
    pub(super) fn score_statistic(data: &FitData) -> f64 {
        let [slope, square] = TemperedRows::new(data).means(1.0, |rows| {
            rows.fold([0.0; 2], |[slope, square], row| {
                let w = row.weight;
                [slope + w * row.excess, square + w * w * row.variance]
            })
        });
        slope / (square / data.samples() as f64).sqrt()
    }

    /// The `log β` of the lowest log loss, with the prior.
    pub(super) fn fit_log_loss(
        &self,
        rows: &TemperedRows,
        progress: Progress<'_>,
    ) -> (f64, FitReport) {
        let mut search = Search {
            config: self,
            rows,
            observe: &mut observer(progress, 1, 1),
            evaluations: 0,
        };
        let mut bounds = rows.bounds();
        let mut found = search.root(bounds.clone().unwrap_or(0.0..=0.0), 0.0, None);
        if let (Some(scale), Some(_)) = (self.prior, &bounds) {
            found = search.lowest(found, scale);
            bounds = Some(f64::NEG_INFINITY..=f64::INFINITY);
        }
        let status = if found.converged {
            FitStatus::Converged
        } else {
            FitStatus::IterationLimit
        };
        let gradient = Some(found.slope.abs());
        let report = FitReport::new(status, found.value, gradient, search.evaluations);
        within(found.x, bounds, report)
    }

    /// The limits of a descent by another criterion.
    fn limits(&self) -> Limits {
        Limits::new(self.tolerance.max(1e-9), self.max_iterations)
    }
}

/// An error unless the scale of a prior is valid.
pub(super) fn check_prior(scale: Option<f64>) -> Result<()> {
    scale.map_or(Ok(()), |scale| {
        check_positive("the scale of the prior", scale)
    })
}

/// The negative logarithm of the prior of `log T` of a scale, up to a constant, and its derivative, at `log β`.
pub(super) fn log_temperature_prior(x: f64, scale: f64) -> [f64; 2] {
    let c = 3.0 * scale * scale;
    [2.0 * (x * x / c).ln_1p(), 4.0 * x / (c + x * x)]
}

/// The result of a fit that ended at `log β`, which has no bounds where it does not matter.
fn within(x: f64, bounds: Option<RangeInclusive<f64>>, report: FitReport) -> (f64, FitReport) {
    let status = match &bounds {
        None => FitStatus::Indifferent,
        Some(bounds) if x <= *bounds.start() => FitStatus::UpperBound,
        Some(bounds) if x >= *bounds.end() => FitStatus::LowerBound,
        Some(_) => report.status,
    };
    let x = bounds.map_or(0.0, |bounds| x.clamp(*bounds.start(), *bounds.end()));
    (x, FitReport { status, ..report })
}

impl LogitFit for TemperatureScalingConfig {
    type Map = TemperatureScaling;

    fn find(&self, task: &mut FitTask) -> Result<TemperatureScaling> {
        check_prior(self.prior)?;
        let (data, progress) = (&task.data, &mut *task.progress);
        let rows = TemperedRows::new(data);
        let (x, report) = match task.criterion {
            None => self.fit_log_loss(&rows, progress),
            Some(criterion) => {
                let (start, _) = self.fit_log_loss(&rows, &mut |_| {});
                let logits = data.tensor(data.logits.clone());
                let (low, high) = rows.bounds().unwrap_or(0.0..=0.0).into_inner();
                // constant beyond the bounds: a descent that gets there ends
                let at = logit_criterion(criterion, data, |x| {
                    logits.clone() * x.clone().clamp(low, high).exp().reshape([1, 1])
                });
                let mut observe = observer(progress, 1, 1);
                let (x, report) = minimise(at, &[start], self.limits(), &mut observe);
                within(x[0], rows.bounds(), report)
            }
        };
        let form = Temperature::new((-x).exp(), &data.device);
        Ok(TemperatureScaling::new(form, report))
    }
}

impl<P: ScaleFamily> Fit<P, Tensor<2>> for TemperatureScalingConfig {
    type Map = TemperatureScaling;
    type Scored = P;

    /// Variance scaling with one factor for all coordinates, whose power is the temperature.
    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<TemperatureScaling> {
        let task = DistributionTask::new(predictions, targets, options)?;
        let powers = [mean_powers(&task.predictions, &task.targets)];
        let (device, bound) = (task.predictions.device(), BOUND / P::POWER);
        let (scale, report) = ScaleFactors::fit(&powers, bound, self.limits(), task);
        let temperature = to_vec(scale.factors.val())[0].powf(P::POWER);
        let form = Temperature::new(temperature, &device);
        checked(TemperatureScaling::new(form, report))
    }
}

impl TemperatureScaling {
    /// Makes a map with the given temperature.
    ///
    /// # Errors
    ///
    /// If the temperature is not a positive finite number.
    pub fn from_temperature(temperature: f64, device: &Device) -> Result<Self> {
        check_positive("the temperature", temperature)?;
        Ok(Self::new(Temperature::new(temperature, device), None))
    }

    /// Returns the temperature `T`.
    pub fn temperature(&self) -> f64 {
        to_scalar(self.form.temperature.val())
    }
}

impl Temperature {
    fn new(temperature: f64, device: &Device) -> Self {
        Self {
            temperature: parameter_row(vec![temperature], device),
        }
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let temperature = self.temperature.val().cast(logits.dtype());
        logits / temperature.reshape([1, 1])
    }
}

impl Form for Temperature {
    fn check(&self) -> Result<(), String> {
        check_temperature(&self.temperature)
    }

    fn keeps(&self) -> Guarantees {
        Guarantees {
            keeps_mean: true,
            ..Guarantees::ALL
        }
    }
}

/// Returns what is wrong with a temperature that was loaded.
pub(super) fn check_temperature(temperature: &Parameter<1>) -> Result<(), String> {
    check_shape(temperature, "the temperature", [1])?;
    let t = to_scalar(temperature.val());
    if t > 0.0 {
        Ok(())
    } else {
        Err(format!(
            "the temperature is {t}, expected a positive number"
        ))
    }
}

impl<P: ScaleFamily> Recalibration<P> for TemperatureScaling {
    fn forward(&self, predictions: P) -> P {
        predictions.tempered(self.form.temperature.val())
    }
}
