use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::{
    file::impl_distribution_map,
    scale::{ScaleFamily, mean_powers},
};
use crate::{
    error::{Error, Result},
    host::{finest, to_vec},
    recalibration::{
        FitReport, FitStatus,
        descent::{Limits, minimise},
        file::{Parts, Stored, parameter},
    },
};

/// The logarithm of a factor lies in `[−40, 40]`, so that its square is a number of f32.
const BOUND: f64 = 40.0;

/// Configuration of [`VarianceScaling`], which it fits.
#[derive(Config, Debug)]
pub struct VarianceScalingConfig {
    /// Whether each coordinate has its own factor. Default: yes.
    #[config(default = true)]
    pub per_coordinate: bool,
    /// The largest derivative with respect to the logarithm of a factor at which a descent by another
    /// criterion than the log score has converged. Default: 10⁻⁶.
    #[config(default = 1e-6)]
    pub tolerance: f64,
    /// The most iterations of that descent. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Variance scaling: `σ_c ↦ s_c σ_c`, with one factor for all coordinates or one for each, which
/// multiplies the variances by `s_c²` (Levi, Gispan, Giladi, Fetaya: *Evaluating and calibrating
/// uncertainty prediction in regression tasks*, 2022, with one factor).
///
/// Keeps the means and is injective. One factor for all is [temperature
/// scaling](super::DistributionTemperature), `T = s²` for normal and `T = s` for Laplace predictions.
/// Fitted by [`VarianceScalingConfig`].
#[derive(Module, Debug)]
pub struct VarianceScaling {
    /// `[d]`, or `[1]` for all coordinates; f64 where the device computes in it.
    factors: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

impl VarianceScalingConfig {
    /// Fits the factors to the mean log score, in closed form in f64: with
    /// `z_ic = (y_ic − μ_ic)/σ_ic`, `s_c² = mean_i(z_ic²)` for normal and `s_c = mean_i(|z_ic|)` for
    /// Laplace predictions; one factor takes the mean over coordinates too.
    ///
    /// `s_c` lies in `[e⁻⁴⁰, e⁴⁰]`; a fit that ends at a bound says so in its report, as one does where
    /// all targets of a coordinate are the predicted locations.
    ///
    /// # Errors
    ///
    /// No predictions, a parameter that is invalid, a target that is NaN or infinite, or another number
    /// of targets or coordinates.
    pub fn fit<P: ScaleFamily>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<VarianceScaling> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let factors = self.closed_form(predictions, targets);
        let mut map = VarianceScaling::new(factors, None, &predictions.device());
        let log_density = to_vec(map.forward(predictions).log_density(targets));
        let mean = log_density.iter().sum::<f64>() / log_density.len() as f64;
        let report = FitReport::closed_form(-mean);
        map.report = Some(FitReport {
            status: status(&map.factors(), report.status),
            ..report
        });
        Ok(map)
    }

    /// Fits the factors to any differentiable criterion of predictions and targets, such as the CRPS or
    /// the SKCE, by descent from the fit to the log score, in f64 where the device computes in it; see
    /// [`Fit::fit_by`](crate::recalibration::Fit::fit_by).
    ///
    /// # Shapes
    ///
    /// - criterion: gives `[1]`
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn fit_by<P: ScaleFamily>(
        &self,
        criterion: impl Fn(&P, &Tensor<2>) -> Tensor<1>,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<VarianceScaling> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let start = self.closed_form(predictions, targets);
        let start: Vec<f64> = start.iter().map(|factor| factor.ln()).collect();
        let device = predictions.device().without_autodiff();
        let recording = (&device.clone().autodiff(), finest(&device));
        let moved = |x: Tensor<2>| Tensor::from_data(x.detach().into_data(), recording);
        let [location, scale] = predictions.location_and_scale().map(moved);
        let targets = moved(targets.clone());
        let objective = |logarithms: &Tensor<1>| {
            let scale = scale.clone() * logarithms.clone().exp().unsqueeze::<2>();
            let scaled = P::with_location_and_scale(location.clone(), scale);
            criterion(&scaled, &targets)
        };
        let limits = Limits {
            tolerance: self.tolerance,
            iterations: self.max_iterations,
        };
        let (logarithms, report) = minimise(objective, &start, &device, limits, &mut |_, _| {});
        let factors: Vec<f64> = logarithms.into_iter().map(bounded).collect();
        let report = FitReport {
            status: status(&factors, report.status),
            ..report
        };
        Ok(VarianceScaling::new(factors, Some(report), &device))
    }

    fn closed_form<P: ScaleFamily>(&self, predictions: &P, targets: &Tensor<2>) -> Vec<f64> {
        let powers = mean_powers(predictions, targets);
        let powers = match self.per_coordinate {
            true => powers,
            false => vec![powers.iter().sum::<f64>() / powers.len() as f64],
        };
        let factor = |power: &f64| bounded(power.ln() / P::POWER);
        powers.iter().map(factor).collect()
    }
}

/// The factor of a logarithm within the bounds.
fn bounded(logarithm: f64) -> f64 {
    logarithm.clamp(-BOUND, BOUND).exp()
}

/// At a bound if a factor is.
fn status(factors: &[f64], otherwise: FitStatus) -> FitStatus {
    let any = |bound: f64, reached: fn(&f64, &f64) -> bool| {
        factors.iter().any(|factor| reached(factor, &bound.exp()))
    };
    match otherwise {
        _ if any(-BOUND, f64::le) => FitStatus::LowerBound,
        _ if any(BOUND, f64::ge) => FitStatus::UpperBound,
        status => status,
    }
}

impl VarianceScaling {
    /// A map with the given factors: one, or one for each coordinate.
    ///
    /// # Errors
    ///
    /// If there is none, or one is not a positive finite number.
    pub fn from_factors(factors: Vec<f64>, device: &Device) -> Result<Self> {
        check(&factors)?;
        Ok(Self::new(factors, None, device))
    }

    fn new(factors: Vec<f64>, report: Option<FitReport>, device: &Device) -> Self {
        let shape = [factors.len()];
        Self {
            factors: parameter(factors, shape, device),
            report,
        }
    }

    /// The factors `s`: one for each coordinate, or one for all.
    pub fn factors(&self) -> Vec<f64> {
        to_vec(self.factors.val())
    }

    /// The recalibrated predictions, differentiable.
    ///
    /// # Panics
    ///
    /// If the map was fitted to another number of coordinates.
    pub fn forward<P: ScaleFamily>(&self, predictions: &P) -> P {
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

fn check(factors: &[f64]) -> Result<()> {
    let error = |name, value, expected| Error::Parameter {
        name,
        value,
        expected,
    };
    if factors.is_empty() {
        return Err(error("the number of factors", 0.0, "at least 1"));
    }
    match factors.iter().find(|s| !(s.is_finite() && **s > 0.0)) {
        Some(&factor) => Err(error("a factor", factor, "a positive finite number")),
        None => Ok(()),
    }
}

impl Stored for VarianceScaling {
    const KIND: &'static str = "variance scaling";

    fn restore(parts: &mut Parts) -> Result<Self, String> {
        let map = Self {
            factors: parts.take("factors")?,
            report: None,
        };
        check(&map.factors()).map_err(|error| error.to_string())?;
        Ok(map)
    }
}

impl_distribution_map!(VarianceScaling);
