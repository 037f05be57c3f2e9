use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor, s},
};

use super::{
    Fit, FitOptions, FitReport, FitWarning, Recalibration,
    fitted::{Form, checked, fitted_map, valid_map},
    parameter::{Parameter, check_shape, parameter_row},
    task::{DistributionTask, NoDescent},
};
use crate::{
    distribution::{Batch as _, Predictive, QuantileForecasts, Targets, Weighted as _, Weights},
    error::{Error, Result, check_samples},
    host::to_vec,
    score::{MeanEstimate, Score, WeightedIntervalScore},
};

/// Configuration of [`ConformalShift`], which it fits: `O(K n log n)` on the host, without a criterion. The report
/// has the mean [`WeightedIntervalScore`] of the data of the fit with the shifts.
///
/// The level `τ` of the outermost quantiles needs `1/min(τ, 1 − τ) − 1` samples: 39 of 0.025, 99 of 0.01; fewer are
/// an error, of samples with weights by their effective number. A warning of the report tells where the score of samples that five fits leave out is no better with the
/// shifts, if the samples are enough for that.
#[derive(Config, Debug)]
#[must_use]
pub struct ConformalShiftConfig {}

fitted_map! {
    /// Conformal shifts of [`QuantileForecasts`]: `q_ik ↦ q_ik + s_k`, with one shift for each level, a quantile of the
    /// residuals `y_i − q_ik` of held-out samples, then put in order from the middle to the outside.
    ///
    /// Of the `n` residuals in their order, `s_k` is number `⌈τ_k (n + 1)⌉` for `τ_k > ½`, number `⌊τ_k (n + 1)⌋` for
    /// `τ_k < ½`, and the mean of both for the median. Quantiles that would cross are put in order by a running maximum
    /// for the upper levels and a running minimum for the lower ones, which only widens intervals.
    ///
    /// **Guarantee.** For a new sample that is exchangeable with those of the fit, `P(Y ≤ q_k) ≥ τ_k` for `τ_k > ½` and
    /// `P(Y < q_k) ≤ τ_k` for `τ_k < ½`, at every sample size and whatever the forecasts: so each central interval covers
    /// at least what it says, and, where no residuals are equal and nothing had to be put in order, at most `2/(n + 1)`
    /// more. That is an average over all samples: shifts do not know where forecasts are too narrow. Time series are
    /// not exchangeable; fit to a recent past there.
    ///
    /// Of samples with weights of mean 1 the ranks are sums of weights, and the new sample has weight 1 among them: the
    /// quantiles of Tibshirani, Barber, Candès and Ramdas 2019, whose guarantee is for weights that are the likelihood
    /// ratios of use to fit, and a new sample of the mean weight. Exact is the guarantee for equal weights only.
    ///
    /// A shift knows no bounds of the targets: quantiles of counts can fall below 0. Raising them to the bound,
    /// `forecasts.map(&|values| values.clamp_min(0.0))`, keeps the guarantee.
    ///
    /// Not injective where quantiles are put in order. Fitted by [`ConformalShiftConfig`].
    ///
    /// Source: Vovk, Gammerman and Shafer 2005; Romano, Patterson and Candès 2019, with a shift for each end.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::QuantileForecasts;
    /// use burn_calibration::recalibration::{ConformalShiftConfig, Fit, Recalibration};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let quantiles = Tensor::<2>::from_floats([[-1.0, 1.0]; 4], &device);
    /// let forecasts = QuantileForecasts::new(vec![0.2, 0.8], quantiles)?;
    /// let targets = Tensor::<2>::from_floats([[-3.0], [0.0], [1.0], [5.0]], &device);
    /// let map = ConformalShiftConfig::new().fit(forecasts.clone(), targets)?;
    /// assert_eq!(map.shifts(), [-2.0, 4.0]); // of -3 from -1, and of 5 from 1
    /// let wider = map.forward(forecasts).values().into_data().to_vec::<f32>().unwrap();
    /// assert_eq!(wider[..2], [-3.0, 5.0]);
    /// # Ok(())
    /// # }
    /// ```
    ConformalShift: LevelShifts, "conformal shift", LevelShifts::identity
}

/// The parameters of [`ConformalShift`].
#[derive(Module, Debug)]
pub struct LevelShifts {
    /// `[K]`.
    levels: Parameter<1>,
    /// `[K]`, in units of the targets.
    shifts: Parameter<1>,
}

impl Fit<QuantileForecasts, Tensor<2>> for ConformalShiftConfig {
    type Map = ConformalShift;
    type Scored = QuantileForecasts;

    fn fit_with(
        &self,
        forecasts: QuantileForecasts,
        targets: Tensor<2>,
        options: FitOptions<'_, QuantileForecasts>,
    ) -> Result<ConformalShift> {
        let refusal = NoDescent {
            map: ConformalShift::KIND,
            reason: "the shifts are quantiles of residuals",
        };
        let task = DistributionTask::without_criterion(forecasts, targets, options, refusal)?;
        let (forecasts, targets) = (task.predictions, task.targets);
        let observed = targets.drawn();
        let effective = task.weights.effective(observed.len());
        let levels = forecasts.levels().iter();
        let least = levels
            .map(|level| level.min(1.0 - level))
            .fold(0.5, f64::min);
        let needed = (least.recip() - 1.0 - ROUNDING).ceil() as usize;
        check_samples(
            "a conformal shift of the outermost level",
            needed,
            effective as usize,
        )?;
        let forecasts = forecasts.detach();
        let form = LevelShifts::from_residuals(&forecasts, &task.weights, &observed);
        let after = WeightedIntervalScore.mean(&form.apply(forecasts.clone()), &targets)?;
        let mut report = FitReport::found(after.estimate, task.options.progress);
        let change = left_out_change(&forecasts, &targets, needed)?;
        if let Some(change) = change.filter(|change| change.estimate > 0.0) {
            report.warnings.push(FitWarning::NoGain {
                change: change.estimate,
                standard_error: change.standard_error,
            });
        }
        checked(ConformalShift::new(form, report))
    }
}

/// The folds of samples that fits leave out.
const FOLDS: usize = 5;

/// The change of the mean score of samples that each of some fits leaves out; none where the others are too few.
fn left_out_change(
    forecasts: &QuantileForecasts,
    targets: &Tensor<2>,
    needed: usize,
) -> Result<Option<MeanEstimate>> {
    let (n, (forecasts, weights)) = (forecasts.len(), forecasts.parted());
    let mut changes = vec![0.0; n];
    for fold in 0..FOLDS {
        let (left, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|row| row % FOLDS == fold);
        let of_kept = weights.select(&kept);
        if (of_kept.effective(kept.len()) as usize) < needed {
            return Ok(None);
        }
        let observed = targets.select_rows(&kept).drawn();
        let form = LevelShifts::from_residuals(&forecasts.select_rows(&kept), &of_kept, &observed);
        let (before, targets) = (forecasts.select_rows(&left), targets.select_rows(&left));
        let scores = |forecasts| WeightedIntervalScore.each(forecasts, &targets);
        let (after, before) = (scores(&form.apply(before.clone()))?, scores(&before)?);
        for ((row, after), before) in left.into_iter().zip(after).zip(before) {
            changes[row] = after - before;
        }
    }
    Ok(Some(MeanEstimate::weighted(&changes, &weights)))
}

/// A rank is whole that is so close to a whole number.
const ROUNDING: f64 = 1e-9;

impl ConformalShift {
    /// Makes a map with a shift for each level.
    ///
    /// # Errors
    ///
    /// No levels, another number of shifts, a shift that is not finite, or levels that do not increase between 0 and 1.
    pub fn from_shifts(levels: Vec<f64>, shifts: Vec<f64>, device: &Device) -> Result<Self> {
        valid_map(Self::new(LevelShifts::new(levels, shifts, device), None))
    }

    /// The levels of the forecasts that the map takes.
    pub fn levels(&self) -> Vec<f64> {
        to_vec(self.form.levels.val())
    }

    /// The shift of each level, in units of the targets.
    pub fn shifts(&self) -> Vec<f64> {
        to_vec(self.form.shifts.val())
    }

    /// Checks that forecasts are at the levels of the map.
    ///
    /// # Errors
    ///
    /// The levels of both.
    pub fn check_levels(&self, forecasts: &QuantileForecasts) -> Result<()> {
        let (own, other) = (self.levels(), forecasts.levels());
        let is_same = |(own, other): (&f64, &f64)| (own - other).abs() < 1e-6; // f32 on some devices
        if own.len() == other.len() && own.iter().zip(other).all(is_same) {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("the forecasts are at the levels {other:?}, and the shifts at {own:?}"),
            expected: "the same levels",
        })
    }
}

impl LevelShifts {
    fn new(levels: Vec<f64>, shifts: Vec<f64>, device: &Device) -> Self {
        let [levels, shifts] = [levels, shifts].map(|values| parameter_row(values, device));
        Self { levels, shifts }
    }

    fn identity(width: usize, device: &Device) -> Self {
        let level = |k: usize| (k as f64 + 0.5) / width as f64;
        Self::new((0..width).map(level).collect(), vec![0.0; width], device)
    }

    /// The quantiles of the residuals of enough samples, among which a new one has weight 1.
    fn from_residuals(forecasts: &QuantileForecasts, weights: &Weights, targets: &[f64]) -> Self {
        let (n, levels) = (targets.len(), forecasts.levels().to_vec());
        let values = to_vec(forecasts.values());
        let shift = |(k, &level): (usize, &f64)| {
            let quantiles = values.iter().skip(k).step_by(levels.len());
            let residuals = targets.iter().zip(quantiles).map(|(y, q)| y - q);
            let mut residuals: Vec<(f64, f64)> = residuals.zip(weights.all(n)).collect();
            residuals.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let rank = level * (weights.total(n) + 1.0);
            // the last one with at most this rank, the new one in its place, and the first one with at least it
            let (mut low, mut high) = (residuals[0].0, residuals[n - 1].0);
            let mut below = 0.0;
            for (residual, weight) in residuals {
                if below + 1.0 <= rank + ROUNDING {
                    low = residual;
                }
                below += weight;
                if below >= rank - ROUNDING {
                    high = high.min(residual);
                }
            }
            if level < 0.5 {
                low
            } else if level > 0.5 {
                high
            } else {
                0.5 * (low + high)
            }
        };
        let shifts = levels.iter().enumerate().map(shift).collect();
        Self::new(levels, shifts, &forecasts.device())
    }
}

impl Form for LevelShifts {
    fn check(&self) -> Result<(), String> {
        check_shape(&self.shifts, "shifts", self.levels.dims())?;
        let levels = to_vec(self.levels.val());
        let are_inside = levels.iter().all(|level| *level > 0.0 && *level < 1.0);
        if levels.is_empty() || !are_inside || !levels.is_sorted_by(|a, b| a < b) {
            return Err(format!(
                "the levels are {levels:?}, expected increasing ones between 0 and 1"
            ));
        }
        Ok(())
    }

    fn width(&self) -> Option<usize> {
        Some(self.levels.dims()[0])
    }
}

impl Recalibration<QuantileForecasts> for ConformalShift {
    /// # Panics
    ///
    /// If there are not as many levels as in the fit; see [`ConformalShift::check_levels`].
    fn forward(&self, forecasts: QuantileForecasts) -> QuantileForecasts {
        self.form.apply(forecasts)
    }
}

impl LevelShifts {
    fn apply(&self, forecasts: QuantileForecasts) -> QuantileForecasts {
        let levels = forecasts.levels();
        let (got, expected) = (levels.len(), self.levels.dims()[0]);
        assert_eq!(got, expected, "the number of levels, expected {expected}");
        let shifts = self.shifts.val().cast(forecasts.dtype()).unsqueeze::<2>(); // [1, K]
        let shifted = forecasts.values() + shifts;
        let middle = levels.partition_point(|level| *level < 0.5).min(got - 1);
        // the lower ones down from the middle, the upper ones up from it
        let lower = shifted.clone().slice(s![.., ..=middle as i32]).flip([1]);
        let lower = lower.cummin(1).flip([1]).slice(s![.., ..middle as i32]);
        let upper = shifted.slice(s![.., middle as i32..]).cummax(1);
        forecasts.with_values(Tensor::cat(vec![lower, upper], 1))
    }
}
