use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    Fit, FitOptions, FitReport, FitStatus, Guarantees, Recalibration, ScaleFamily,
    descent::Limits,
    fitted::{Form, checked, fitted_map, valid_map},
    influence::{coordinate_maps, mean_power},
    parameter::{Parameter, parameter_row},
    scale::{descend_factors, mean_log_score, powers},
    task::DistributionTask,
};
use crate::{error::Result, host::to_vec};

/// The logarithm of a factor lies in `[−40, 40]`, so that its square is a number of f32.
const BOUND: f64 = 40.0;

/// Configuration of [`VarianceScaling`], which it fits.
///
/// To the mean log score, in closed form in f64: with `z_ic = (y_ic − μ_ic)/σ_ic`, `s_c² = mean_i(z_ic²)`
/// for normal and `s_c = mean_i(|z_ic|)` for Laplace predictions. To any other criterion that is differentiable, such
/// as the CRPS or the SKCE, by descent from there in at most 200 iterations, to derivatives of at most 10⁻⁶ with
/// respect to the logarithms of the factors, in f64 where the device computes in it.
///
/// Every row counts; [`Robust`](super::Robust) leaves rows out that would rule the fit.
///
/// `s_c` lies in `[e⁻⁴⁰, e⁴⁰]`; a fit that ends at a bound says so in its report, as one does where
/// all targets of a coordinate are the predicted locations.
#[derive(Config, Debug)]
#[must_use]
pub struct VarianceScalingConfig {}

fitted_map! {
    /// Variance scaling: `σ_c ↦ s_c σ_c`, with one factor for each coordinate, which multiplies the variances by `s_c²`
    /// (Levi, Gispan, Giladi, Fetaya: *Evaluating and calibrating uncertainty prediction in regression tasks*, 2022, with
    /// one factor).
    ///
    /// Keeps the means and is injective. One factor for all coordinates is [temperature
    /// scaling](super::TemperatureScaling), `T = s²` for normal and `T = s` for Laplace predictions.
    /// Fitted by [`VarianceScalingConfig`].
    VarianceScaling: ScaleFactors, "variance scaling", |width, device| ScaleFactors::new(vec![1.0; width], device)
}

/// The parameters of [`VarianceScaling`].
#[derive(Module, Debug)]
pub struct ScaleFactors {
    /// `[d]`, or `[1]` for all coordinates; f64 where the device computes in it.
    pub(super) factors: Parameter<1>,
}

impl<P: ScaleFamily> Fit<P, Tensor<2>> for VarianceScalingConfig {
    type Map = VarianceScaling;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<VarianceScaling> {
        let task = DistributionTask::new(predictions, targets, options)?;
        let powers = powers(&task.predictions, &task.targets);
        let (form, report) = ScaleFactors::fit(&powers, BOUND, Limits::new(1e-6, 200), task);
        checked(VarianceScaling::new(form, report))
    }
}

impl VarianceScaling {
    /// Makes a map with the given factors: one for each coordinate, or one for all.
    ///
    /// # Errors
    ///
    /// If there is none, or one is not a positive finite number.
    pub fn from_factors(factors: Vec<f64>, device: &Device) -> Result<Self> {
        valid_map(Self::new(ScaleFactors::new(factors, device), None))
    }

    /// Returns the factors `s`: one for each coordinate, or one for all.
    pub fn factors(&self) -> Vec<f64> {
        to_vec(self.form.factors.val())
    }
}

impl ScaleFactors {
    fn new(factors: Vec<f64>, device: &Device) -> Self {
        Self {
            factors: parameter_row(factors, device),
        }
    }

    /// Fits one factor for each coordinate, or one for all, and tells how that went.
    ///
    /// - powers: `|z|^r` of each sample, a row for each factor
    /// - bound: the largest logarithm of a factor in absolute value
    pub(super) fn fit<P: ScaleFamily>(
        powers: &[Vec<f64>],
        bound: f64,
        limits: Limits,
        task: DistributionTask<P>,
    ) -> (Self, FitReport) {
        let (predictions, targets, weights) = (task.predictions, task.targets, task.weights);
        let FitOptions {
            criterion,
            progress,
            is_robust,
        } = task.options;
        // a criterion is minimised over every row
        let is_robust = is_robust && criterion.is_none();
        let fit = |t: &Vec<f64>| mean_power(t, &weights, is_robust);
        let found = powers.iter().map(fit).collect();
        let (means, warnings) = coordinate_maps(found, 1.0);
        let logarithm = |mean: f64| (mean.ln() / P::POWER).clamp(-bound, bound);
        let mut logarithms: Vec<f64> = means.into_iter().map(logarithm).collect();
        let descended = criterion.map(|criterion| {
            let (start, progress) = (&logarithms, &mut *progress);
            descend_factors(criterion, &predictions, &targets, start, limits, progress)
        });
        let report = descended.map(|(found, report)| {
            logarithms = found.iter().map(|x| x.clamp(-bound, bound)).collect();
            report
        });
        let factors = logarithms.iter().map(|logarithm| logarithm.exp()).collect();
        let form = Self::new(factors, &predictions.device());
        let mut report = report.unwrap_or_else(|| {
            let scaled = form.apply(predictions);
            let mean = mean_log_score(&scaled, &targets, &weights, &warnings);
            FitReport::found(mean, progress)
        });
        report.warnings = warnings;
        if logarithms.contains(&-bound) {
            report.status = FitStatus::LowerBound;
        } else if logarithms.contains(&bound) {
            report.status = FitStatus::UpperBound;
        }
        (form, report)
    }
}

impl Form for ScaleFactors {
    fn check(&self) -> Result<(), String> {
        let factors = to_vec(self.factors.val());
        if !factors.is_empty() && factors.iter().all(|factor| *factor > 0.0) {
            return Ok(());
        }
        Err(format!(
            "the factors are {factors:?}, expected positive ones"
        ))
    }

    fn width(&self) -> Option<usize> {
        Some(self.factors.dims()[0]).filter(|k| *k > 1)
    }

    fn keeps(&self) -> Guarantees {
        Guarantees {
            keeps_mean: true,
            ..Guarantees::decision(false, true)
        }
    }
}

impl ScaleFactors {
    fn apply<P: ScaleFamily>(&self, predictions: P) -> P {
        let [location, scale] = predictions.location_and_scale();
        let ([k], [_, d]) = (self.factors.dims(), scale.dims());
        assert!(
            k == 1 || k == d,
            "predictions of dimension {d}, expected {k}"
        );
        let factors = self.factors.val().cast(scale.dtype()).unsqueeze::<2>(); // [1, d] or [1, 1]
        P::with_location_and_scale(location, scale * factors)
    }
}

impl<P: ScaleFamily> Recalibration<P> for VarianceScaling {
    fn forward(&self, predictions: P) -> P {
        self.form.apply(predictions)
    }
}
