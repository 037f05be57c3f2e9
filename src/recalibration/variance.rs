use super::{
    FitWarning, ScaleFamily,
    common::*,
    influence::{self, mean_power},
    scale::{descend_factors, mean_log_score, mean_over_coordinates, powers},
};

/// The logarithm of a factor lies in `[−40, 40]`, so that its square is a number of f32.
const BOUND: f64 = 40.0;

/// Configuration of [`VarianceScaling`], which it fits.
///
/// To the mean log score, in closed form in f64: with `z_ic = (y_ic − μ_ic)/σ_ic`, `s_c² = mean_i(z_ic²)`
/// for normal and `s_c = mean_i(|z_ic|)` for Laplace predictions; one factor takes the mean over
/// coordinates too. To any other criterion that is differentiable, such as the CRPS or the SKCE, by
/// descent from there, in f64 where the device computes in it.
///
/// A row is set aside, and named in the report, where the mean log score of the others would become worse because
/// of it: of all rows but those, and any 1 % more (one at least), the fit raises the mean log score of a coordinate
/// by at most `(0.1 + 8/(n−1))/r`, whatever the data (`r` is 2 of normal and 1 of Laplace predictions).
///
/// `s_c` lies in `[e⁻⁴⁰, e⁴⁰]`; a fit that ends at a bound says so in its report, as one does where
/// all targets of a coordinate are the predicted locations.
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
/// scaling](super::TemperatureScaling), `T = s²` for normal and `T = s` for Laplace predictions.
/// Fitted by [`VarianceScalingConfig`].
pub type VarianceScaling = Fitted<ScaleFactors>;

/// The parameters of [`VarianceScaling`].
#[derive(Module, Debug)]
pub struct ScaleFactors {
    /// `[d]`, or `[1]` for all coordinates; f64 where the device computes in it.
    factors: Parameter<1>,
}

impl<P: ScaleFamily> Fit<P, Tensor<2>> for VarianceScalingConfig {
    type Map = VarianceScaling;

    fn fit_observed(
        &self,
        criterion: Option<&dyn Objective<P, Tensor<2>>>,
        predictions: P,
        targets: Tensor<2>,
        progress: Progress<'_>,
    ) -> Result<VarianceScaling> {
        predictions.check()?;
        predictions.check_targets(&targets)?;
        let device = predictions.device().without_autodiff();
        let (factors, warnings) = self.closed_form(&predictions, &targets);
        let (form, report) = match criterion {
            None => {
                let form = ScaleFactors::new(factors, &device);
                let mean = mean_log_score(&form.apply(predictions), &targets);
                observer(progress, 1, 1)(1, mean);
                (form, FitReport::closed_form(mean))
            }
            Some(criterion) => {
                let start: Vec<f64> = factors.iter().map(|factor| factor.ln()).collect();
                let (data, limits) = (
                    (&predictions, &targets),
                    Limits::new(self.tolerance, self.max_iterations),
                );
                let (logarithms, report) =
                    descend_factors(criterion, data, &start, limits, progress);
                let factors = logarithms.into_iter().map(bounded).collect();
                (ScaleFactors::new(factors, &device), report)
            }
        };
        let status = status(&form.factors.to_vec(), report.status);
        Fitted::checked(
            form,
            FitReport {
                status,
                warnings,
                ..report
            },
        )
    }
}

impl VarianceScalingConfig {
    /// The factors, and what there is to say about the rows.
    fn closed_form<P: ScaleFamily>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> (Vec<f64>, Vec<FitWarning>) {
        let powers = powers(predictions, targets);
        let powers = if self.per_coordinate {
            powers
        } else {
            vec![mean_over_coordinates(&powers)]
        };
        let (mut set_aside, mut fitted) = (vec![], true);
        let factor = |powers: &Vec<f64>| {
            let (power, found) = mean_power(powers);
            fitted &= found.map.is_some();
            set_aside.extend(found.set_aside);
            bounded(power.ln() / P::POWER)
        };
        let factors = powers.iter().map(factor).collect();
        (factors, influence::warning(set_aside, fitted))
    }
}

/// The factor of a logarithm within the bounds.
fn bounded(logarithm: f64) -> f64 {
    logarithm.clamp(-BOUND, BOUND).exp()
}

/// The status: at a bound if a factor is.
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
    /// Makes a map with the given factors: one, or one for each coordinate.
    ///
    /// # Errors
    ///
    /// If there is none, or one is not a positive finite number.
    pub fn from_factors(factors: Vec<f64>, device: &Device) -> Result<Self> {
        check(&factors)?;
        Ok(Self::new(ScaleFactors::new(factors, device), None))
    }

    /// Gives the factors `s`: one for each coordinate, or one for all.
    pub fn factors(&self) -> Vec<f64> {
        self.form.factors.to_vec()
    }
}

fn check(factors: &[f64]) -> Result<()> {
    at_least(1, "the number of factors", factors.len(), "at least 1")?;
    (factors.iter()).try_for_each(|&s| check_positive("a factor", s))
}

impl ScaleFactors {
    fn new(factors: Vec<f64>, device: &Device) -> Self {
        let shape = [factors.len()];
        Self {
            factors: Parameter::new(factors, shape, device),
        }
    }
}

impl Form for ScaleFactors {
    const KIND: &'static str = "variance scaling";

    fn template(device: &Device) -> Self {
        Self::new(vec![1.0], device)
    }

    fn check(&self) -> Result<(), String> {
        check(&self.factors.to_vec()).map_err(|error| error.to_string())
    }

    fn width(&self) -> Option<usize> {
        Some(self.factors.dims()[0]).filter(|k| *k > 1)
    }

    fn keeps(&self) -> Guarantees {
        Guarantees {
            injective: true,
            injective_on_log_probabilities: true,
            keeps_mean: true,
            ..Guarantees::NONE
        }
    }
}

impl<P: ScaleFamily> Apply<P> for ScaleFactors {
    fn apply(&self, predictions: P) -> P {
        let [location, scale] = predictions.location_and_scale();
        let ([k], [_, d]) = (self.factors.dims(), scale.dims());
        assert!(
            k == 1 || k == d,
            "predictions of dimension {d}, expected {k}"
        );
        let factors = self.factors.cast(scale.dtype()).unsqueeze::<2>(); // [1, d] or [1, 1]
        P::with_location_and_scale(location, scale * factors)
    }
}
