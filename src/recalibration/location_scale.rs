use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    Fit, FitOptions, FitReport, FitStatus, Guarantees, Recalibration, ScaleFamily,
    fitted::{Form, checked, fitted_map, valid_map},
    influence::{RobustFit, allowance, coordinate_maps, robust},
    parameter::{Parameter, check_shape, parameter_row},
    scale::{mean_log_score, standardised_errors},
    task::{DistributionTask, NoDescent},
};
use crate::{
    distribution::Weights,
    error::Result,
    host::to_vec,
    root::{Evaluation, increasing_root},
};

/// The logarithm of a factor lies in `[−40, 40]`, as for variance scaling.
const BOUND: f64 = 40.0;
/// A power lies in `1 ± 5`.
const MOST: f64 = 5.0;
/// Relative spread of `ln σ` that counts as rounding.
const NEGLIGIBLE: f64 = 1e-12;
const STEPS: usize = 200;

/// Configuration of [`LocationScaleRecalibration`], which it fits.
///
/// To the mean log score, on the host in f64. With `z = (y − μ)/σ` and `x = ln σ − mean(ln σ)`, the score
/// of a power `γ = 1 + g` is convex in `g` for each shift `b`, and least for the weights
/// `w ∝ |z − b|^r e^{−rgx}` with `Σ wx = 0`; the best `b` for each `g` is the mean of `z` (the median of
/// Laplace predictions) with the weights `e^{−rgx}`. The fit takes both in turn. `O(n log n)`.
///
/// Every row counts; [`Robust`](super::Robust) leaves rows out that would rule the fit.
///
/// The power is 1 where all `σ` of a coordinate are equal, and in `[−4, 6]`; the logarithm of the factor
/// at the mean of `ln σ` is in `[−40, 40]`. A fit that ends at a bound says so in its report. A criterion is an
/// error.
#[derive(Config, Debug)]
#[must_use]
pub struct LocationScaleRecalibrationConfig {}

fitted_map! {
    /// Location-scale recalibration: `μ_c ↦ μ_c + b_c σ_c`, `σ_c ↦ s_c σ_c^{γ_c}` for each coordinate.
    ///
    /// Three numbers for each coordinate: a bias `b` in units of the predicted deviation, a factor, and a power,
    /// which is below 1 for a network whose deviations vary more than its errors do, as that of one that
    /// overfits does. With `b = 0` and `γ = 1` it is [variance scaling](super::VarianceScaling). It stays
    /// within the family, and is injective if no power is 0. Fitted by [`LocationScaleRecalibrationConfig`].
    ///
    /// The power is the slope of a regression of `ln |y − μ|` on `ln σ` by maximum likelihood: multiplicative
    /// heteroscedasticity (Harvey: *Estimating regression models with multiplicative heteroscedasticity*, 1976).
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::Normal;
    /// use burn_calibration::recalibration::{Fit, LocationScaleRecalibrationConfig, Recalibration};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// // the errors are 2 where 1 and where 4 is predicted, and 1 more than that
    /// let mean = Tensor::<2>::zeros([4, 1], &device);
    /// let deviation = Tensor::<2>::from_floats([[1.0], [1.0], [4.0], [4.0]], &device);
    /// let targets = Tensor::<2>::from_floats([[2.0], [-2.0], [2.0], [-2.0]], &device);
    /// let map = LocationScaleRecalibrationConfig::new().fit(Normal::new(mean, deviation), targets)?;
    /// assert!(map.powers()[0].abs() < 1e-9 && (map.factors()[0] - 2.0).abs() < 1e-9);
    /// # Ok(())
    /// # }
    /// ```
    LocationScaleRecalibration: LocationScales, "location-scale recalibration", LocationScales::identity
}

/// The parameters of [`LocationScaleRecalibration`], one for each coordinate.
#[derive(Module, Debug)]
pub struct LocationScales {
    /// `b`, in predicted deviations, `[d]`.
    shifts: Parameter<1>,
    /// `ln s`, `[d]`.
    logarithms: Parameter<1>,
    /// `γ`, `[d]`.
    powers: Parameter<1>,
}

impl<P: ScaleFamily> Fit<P, Tensor<2>> for LocationScaleRecalibrationConfig {
    type Map = LocationScaleRecalibration;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<LocationScaleRecalibration> {
        let refusal = NoDescent {
            map: LocationScaleRecalibration::KIND,
            reason: "",
        };
        let task = DistributionTask::without_criterion(predictions, targets, options, refusal)?;
        let (predictions, targets, weights) = (task.predictions, task.targets, task.weights);
        let [_, scale] = predictions.location_and_scale();
        let logarithms: Vec<f64> = to_vec(scale).into_iter().map(f64::ln).collect();
        let errors = standardised_errors(&predictions, &targets);
        let coordinate = |(c, z): (usize, &Vec<f64>)| {
            let own = logarithms.iter().skip(c).step_by(errors.len());
            let own: Vec<f64> = own.copied().collect();
            let allowance = allowance(&weights, task.options.is_robust);
            CoordinateFit::robust(z, &own, &weights, allowance, P::POWER)
        };
        let found: Result<Vec<RobustFit<CoordinateFit>>> =
            errors.iter().enumerate().map(coordinate).collect();
        let (coordinates, warnings) = coordinate_maps(found?, IDENTITY);
        let form = LocationScales::new(&coordinates, &predictions.device());
        let mean = mean_log_score(&form.apply(predictions), &targets, &weights, &warnings);
        let mut report = FitReport::found(mean, task.options.progress);
        report.warnings = warnings;
        let statuses = [
            FitStatus::LowerBound,
            FitStatus::UpperBound,
            FitStatus::IterationLimit,
        ];
        let ended = |status: &FitStatus| coordinates.iter().any(|one| one.status == *status);
        report.status = statuses.into_iter().find(ended).unwrap_or(report.status);
        checked(LocationScaleRecalibration::new(form, report))
    }
}

/// The parameters of one coordinate.
#[derive(Debug, Clone, Copy)]
struct CoordinateFit {
    shift: f64,
    logarithm: f64,
    power: f64,
    status: FitStatus,
}

/// Leaves a coordinate as it is.
const IDENTITY: CoordinateFit = CoordinateFit {
    shift: 0.0,
    logarithm: 0.0,
    power: 1.0,
    status: FitStatus::Converged,
};

impl CoordinateFit {
    /// Fits to all rows but those that would rule the fit.
    fn robust(
        z: &[f64],
        logarithms: &[f64],
        weights: &Weights,
        allowance: impl Fn(usize) -> f64,
        r: f64,
    ) -> Result<RobustFit<Self>> {
        robust(z.len(), allowance, |rows| {
            let of = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
            let (z, logarithms) = (of(z), of(logarithms));
            let one = Self::fit(&z, &logarithms, &weights.select(rows), r);
            let power = |z: f64| z.abs().powf(r).min(1e300);
            let change = |(z, l): (&f64, &f64)| {
                let factor = one.logarithm + (one.power - 1.0) * l; // of this row
                power((z - one.shift) * (-factor).exp()) - power(*z) + r * factor
            };
            let changes = z.iter().zip(&logarithms).map(change).collect();
            Ok((one, changes))
        })
    }

    /// - z: `(y − μ)/σ`
    /// - logarithms: `ln σ`
    fn fit(z: &[f64], logarithms: &[f64], weights: &Weights, r: f64) -> Self {
        let of_samples: Vec<f64> = weights.all(z.len()).collect();
        let centre = weights.mean(logarithms);
        let x: Vec<f64> = logarithms.iter().map(|l| l - centre).collect();
        let varies = x
            .iter()
            .any(|x| x.abs() > NEGLIGIBLE * (1.0 + centre.abs()));
        let (mut shift, mut g) = (0.0, 0.0);
        let mut status = FitStatus::IterationLimit;
        for _ in 0..STEPS {
            let before = (shift, g);
            let terms = x.iter().zip(&of_samples);
            let terms: Vec<f64> = terms.map(|(x, w)| w * (-r * g * x).exp()).collect();
            shift = weighted_location(z, &terms, r);
            if varies {
                g = best_power(z, &x, &of_samples, shift, r, g);
            }
            let moved =
                |before: f64, after: f64| (before - after).abs() > 1e-12 * (1.0 + after.abs());
            if !moved(before.0, shift) && !moved(before.1, g) {
                status = FitStatus::Converged;
                break;
            }
        }
        // the best factor at the centre: its r-th power is the mean of |z − b|^r e^{−rgx}
        let term = |(z, x): (&f64, &f64)| (z - shift).abs().powf(r) * (-r * g * x).exp();
        let mean = weights.mean(&z.iter().zip(&x).map(term).collect::<Vec<_>>());
        let at_centre = (mean.ln() / r).clamp(-BOUND, BOUND);
        if at_centre == -BOUND || g == -MOST {
            status = FitStatus::LowerBound;
        } else if at_centre == BOUND || g == MOST {
            status = FitStatus::UpperBound;
        }
        Self {
            shift,
            logarithm: at_centre - g * centre,
            power: 1.0 + g,
            status,
        }
    }
}

/// The `g` with `Σ w_i x_i = 0`, `w_i = v_i |z_i − b|^r e^{−r g x_i}` and the weights `v` of the samples: that sum falls
/// as `g` grows.
fn best_power(z: &[f64], x: &[f64], of_samples: &[f64], shift: f64, r: f64, start: f64) -> f64 {
    let logarithms: Vec<f64> = z.iter().map(|z| r * (z - shift).abs().ln()).collect();
    let slope = |g: f64| {
        let exponent = |(l, x): (&f64, &f64)| l - r * g * x;
        let exponents: Vec<f64> = logarithms.iter().zip(x).map(exponent).collect();
        let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            // every target is the location
            return Evaluation {
                value: 0.0,
                derivative: 1.0,
            };
        }
        let [mut sum, mut first, mut second] = [0.0; 3];
        for ((e, x), v) in exponents.iter().zip(x).zip(of_samples) {
            let w = v * (e - largest).exp();
            sum += w;
            first += w * x;
            second += w * x * x;
        }
        let mean = first / sum;
        Evaluation {
            value: -mean,
            derivative: r * (second / sum - mean * mean),
        }
    };
    if slope(0.0).value == 0.0 {
        return 0.0;
    }
    increasing_root(slope, -MOST..=MOST, start, 1e-14, 200).0
}

/// The `b` of least `Σ w_i |z_i − b|^r`: the weighted mean, or for `r = 1` the weighted median.
fn weighted_location(z: &[f64], weights: &[f64], r: f64) -> f64 {
    let total: f64 = weights.iter().sum();
    if r == 2.0 {
        let sum: f64 = z.iter().zip(weights).map(|(z, w)| z * w).sum();
        return sum / total;
    }
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_by(|&i, &j| z[i].total_cmp(&z[j]));
    let mut below = 0.0;
    for (place, &i) in order.iter().enumerate() {
        below += weights[i];
        if below > 0.5 * total {
            return z[i];
        }
        if below == 0.5 * total {
            let next = order.get(place + 1).map_or(z[i], |&j| z[j]);
            return 0.5 * (z[i] + next);
        }
    }
    z[order[order.len() - 1]]
}

impl LocationScaleRecalibration {
    /// Makes a map with a shift `b`, a factor `s` and a power `γ` of each coordinate.
    ///
    /// # Errors
    ///
    /// If there is no coordinate, a number is not finite, or a factor is not positive.
    pub fn from_parameters(parameters: &[[f64; 3]], device: &Device) -> Result<Self> {
        let coordinate = |&[shift, factor, power]: &[f64; 3]| CoordinateFit {
            shift,
            logarithm: factor.ln(),
            power,
            status: FitStatus::Converged,
        };
        let coordinates: Vec<_> = parameters.iter().map(coordinate).collect();
        valid_map(Self::new(LocationScales::new(&coordinates, device), None))
    }

    /// Returns the shifts `b`, in predicted deviations.
    pub fn shifts(&self) -> Vec<f64> {
        to_vec(self.form.shifts.val())
    }

    /// Returns the factors `s`.
    pub fn factors(&self) -> Vec<f64> {
        (to_vec(self.form.logarithms.val()).into_iter().map(f64::exp)).collect()
    }

    /// Returns the powers `γ`.
    pub fn powers(&self) -> Vec<f64> {
        to_vec(self.form.powers.val())
    }
}

impl LocationScales {
    fn new(coordinates: &[CoordinateFit], device: &Device) -> Self {
        let parameter = |of: fn(&CoordinateFit) -> f64| {
            parameter_row(coordinates.iter().map(of).collect(), device)
        };
        Self {
            shifts: parameter(|one| one.shift),
            logarithms: parameter(|one| one.logarithm),
            powers: parameter(|one| one.power),
        }
    }
}

impl Form for LocationScales {
    fn check(&self) -> Result<(), String> {
        let dims = self.shifts.dims();
        if dims == [0] {
            return Err("there is no coordinate".into());
        }
        check_shape(&self.logarithms, "logarithms", dims)?;
        check_shape(&self.powers, "powers", dims)
    }

    fn width(&self) -> Option<usize> {
        Some(self.shifts.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        let injective = to_vec(self.powers.val()).iter().all(|power| *power != 0.0);
        Guarantees {
            keeps_mean: to_vec(self.shifts.val()).iter().all(|shift| *shift == 0.0),
            ..Guarantees::decision(false, injective)
        }
    }
}

impl LocationScales {
    pub(super) fn identity(width: usize, device: &Device) -> Self {
        Self::new(&vec![IDENTITY; width], device)
    }

    pub(super) fn apply<P: ScaleFamily>(&self, predictions: P) -> P {
        let [location, scale] = predictions.location_and_scale();
        let ([k], [_, d]) = (self.shifts.dims(), scale.dims());
        assert_eq!(k, d, "predictions of dimension {d}, expected {k}");
        let row = |parameter: &Parameter<1>| parameter.val().cast(scale.dtype()).unsqueeze::<2>(); // [1, d]
        let location = location + scale.clone() * row(&self.shifts);
        let recalibrated = (scale.clone().log() * row(&self.powers) + row(&self.logarithms)).exp();
        P::with_location_and_scale(location, recalibrated)
    }
}

impl<P: ScaleFamily> Recalibration<P> for LocationScaleRecalibration {
    fn forward(&self, predictions: P) -> P {
        self.form.apply(predictions)
    }
}
