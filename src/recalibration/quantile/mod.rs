//! Recalibration of the levels of each coordinate.

mod recalibrated;

pub use self::recalibrated::QuantileRecalibrated;

use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    Fit, FitOptions, FitReport, Guarantees, Recalibration,
    fitted::{Form, checked, fitted_map, valid_map},
    parameter::{Parameter, check_shape},
    scalar::table::{Knot, padded, padded_rows},
    task::{DistributionTask, NoDescent},
};
use crate::{
    distribution::Marginals,
    error::{Result, check_parameter},
};

/// Configuration of [`QuantileRecalibration`], which it fits.
///
/// `O(n log n)` on the host. The report has the mean squared difference between the recalibrated `p_i` and
/// their expected ranks, 0 if all are different. A coordinate of which no `p_i` is between 0 and 1 is an
/// error, and so is a criterion: there is nothing to descend.
#[derive(Config, Debug)]
#[must_use]
pub struct QuantileRecalibrationConfig {}

fitted_map! {
    /// Quantile recalibration: `F_c ↦ R_c ∘ F_c`, where the map `R_c` of levels, fitted to each coordinate,
    /// makes the predicted distribution function at the targets uniform (Kuleshov, Fenner, Ermon: *Accurate
    /// uncertainties for deep learning using calibrated regression*, 2018).
    ///
    /// With the probability integral transforms `p_i = F_i(y_i)` of `n` samples in their order, `R` is the
    /// isotonic regression of the expected ranks `R(p_(k)) = k/(n + 1)`, linear from `(0, 0)` through these
    /// points to `(1, 1)`. The ranks increase by themselves, and pooling adjacent violators has nothing to
    /// do but give the same value to equal `p_i`. A `p_i` of exactly 0 or 1 keeps its rank but makes no knot,
    /// so that no probability is lost at infinity.
    ///
    /// `R` increases strictly, hence the map is injective (of predictions with positive densities, and except
    /// for the rounding of `F` in the tails), but it changes means and medians: nothing else is kept. It makes
    /// each coordinate calibrated in quantiles over all samples, which is less than calibration: the
    /// distributions may still be wrong for each of them. Fitted by [`QuantileRecalibrationConfig`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::{Marginals, Normal};
    /// use burn_calibration::recalibration::{Fit, QuantileRecalibrationConfig, Recalibration};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let standard = Normal::new(Tensor::zeros([3, 1], &device), Tensor::ones([3, 1], &device));
    /// let targets = Tensor::<2>::from_floats([[0.0], [4.0], [-4.0]], &device);
    /// let map = QuantileRecalibrationConfig::new().fit(standard.clone(), targets.clone())?;
    /// let levels = map.forward(standard).cdf(&targets).into_data().to_vec::<f32>().unwrap();
    /// assert_eq!(levels, [0.5, 0.75, 0.25]);
    /// # Ok(())
    /// # }
    /// ```
    QuantileRecalibration: Quantiles, "quantile recalibration", Quantiles::identity
}

/// The parameters of [`QuantileRecalibration`].
#[derive(Module, Debug)]
pub struct Quantiles {
    /// `[d, l]`, from 0 to 1 in each row, the last repeated up to the longest.
    levels: Parameter<2>,
    /// The recalibrated levels, `[d, l]`.
    values: Parameter<2>,
}

impl<P: Marginals> Fit<P, Tensor<2>> for QuantileRecalibrationConfig {
    type Map = QuantileRecalibration;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<QuantileRecalibration> {
        let refusal = NoDescent {
            map: QuantileRecalibration::KIND,
            reason: "the ranks make the levels uniform already",
        };
        let task = DistributionTask::without_criterion(predictions, targets, options, refusal)?;
        let (predictions, targets) = (task.predictions, task.targets);
        let [n, d] = targets.dims();
        // beside pseudo-observations the samples are worth their effective number
        let mass = task.weights.effective(n);
        let scale = mass / task.weights.total(n);
        let samples = task.weights.all(n).map(|w| w * scale);
        let transforms = recalibrated::levels(&predictions, &targets); // [n, d]
        let mut squares = 0.0;
        let mut curves = Vec::new();
        for c in 0..d {
            let levels = transforms.iter().skip(c).step_by(d).copied();
            let mut levels: Vec<WeightedLevel> = (levels.zip(samples.clone()))
                .map(|(level, weight)| WeightedLevel { level, weight })
                .collect();
            levels.sort_by(|p, q| p.level.total_cmp(&q.level));
            check_parameter(
                levels.iter().any(WeightedLevel::is_inside),
                "the number of targets of a coordinate with a level between 0 and 1",
                0.0,
                "at least 1",
            )?;
            let curve = LevelCurve::from_ranks(&levels);
            let mut before = 0.0;
            let residual = |&WeightedLevel { level, weight }: &WeightedLevel| {
                let rank = (before + 0.5 * (weight + 1.0)) / (mass + 1.0);
                before += weight;
                weight * (curve.at(level) - rank).powi(2)
            };
            squares += levels.iter().map(residual).sum::<f64>();
            curves.push(curve.knots().to_vec());
        }
        let report = FitReport::found(squares / (mass * d as f64), task.options.progress);
        let form = Quantiles::new(curves, &predictions.device());
        checked(QuantileRecalibration::new(form, report))
    }
}

impl QuantileRecalibration {
    /// Makes a map with the given knots `(level, recalibrated level)` of each coordinate.
    ///
    /// # Errors
    ///
    /// No coordinates, or knots that do not lead from `(0, 0)` to `(1, 1)` without decreasing.
    pub fn from_knots(knots: Vec<Vec<Knot>>, device: &Device) -> Result<Self> {
        valid_map(Self::new(Quantiles::new(knots, device), None))
    }

    /// Returns the knots `(level, recalibrated level)` of each coordinate, by increasing level, from `(0,
    /// 0)` to `(1, 1)`. The map is linear between them.
    pub fn knots(&self) -> Vec<Vec<Knot>> {
        let curves = self.form.curves();
        curves.iter().map(|curve| curve.knots().to_vec()).collect()
    }
}

impl Quantiles {
    /// For knots of each coordinate.
    fn new(knots: Vec<Vec<Knot>>, device: &Device) -> Self {
        let [levels, values] = padded(knots, device);
        Self { levels, values }
    }

    fn identity(width: usize, device: &Device) -> Self {
        let line = vec![Knot::from([0.0; 2]), Knot::from([1.0; 2])];
        Self::new(vec![line; width], device)
    }

    fn curves(&self) -> Vec<LevelCurve> {
        self.try_curves().expect("knots that were checked")
    }

    fn try_curves(&self) -> Result<Vec<LevelCurve>, String> {
        let knots = padded_rows(&self.levels, &self.values).into_iter();
        knots.map(LevelCurve::new).collect()
    }
}

impl Form for Quantiles {
    fn check(&self) -> Result<(), String> {
        check_shape(&self.values, "values", self.levels.dims())?;
        if self.levels.dims()[0] == 0 {
            return Err("there is no coordinate".into());
        }
        self.try_curves().map(drop)
    }

    fn width(&self) -> Option<usize> {
        Some(self.levels.dims()[0])
    }

    /// It is injective if all maps of levels increase strictly. A fitted one does, except for rounding to
    /// f32 on devices that do not compute in f64.
    fn keeps(&self) -> Guarantees {
        let injective = self.curves().iter().all(LevelCurve::is_strict);
        Guarantees::decision(false, injective)
    }
}

impl<P: Marginals> Recalibration<P, QuantileRecalibrated<P>> for QuantileRecalibration {
    fn forward(&self, predictions: P) -> QuantileRecalibrated<P> {
        QuantileRecalibrated::new(predictions, self.form.curves())
    }
}

/// A distribution function on the unit interval, for recalibrated levels: a non-decreasing function of `[0, 1]` onto itself, linear between knots.
#[derive(Debug, Clone, PartialEq)]
struct LevelCurve {
    /// The knots from `(0, 0)` to `(1, 1)`.
    knots: Vec<Knot>,
}

/// The level of a target with the weight of its sample.
struct WeightedLevel {
    level: f64,
    weight: f64,
}

impl WeightedLevel {
    fn is_inside(&self) -> bool {
        self.level > 0.0 && self.level < 1.0
    }
}

impl LevelCurve {
    /// Creates the map from knots, repeated ones of which are dropped; or what is wrong with them.
    pub fn new(mut knots: Vec<Knot>) -> Result<Self, String> {
        knots.dedup();
        let ends = [knots.first(), knots.last()].map(Option::<&Knot>::copied);
        if ends != [0.0, 1.0].map(|end| Some(Knot::from([end; 2]))) {
            return Err("the knots do not lead from (0, 0) to (1, 1)".into());
        }
        let increases =
            |pair: &[Knot]| pair[0].place <= pair[1].place && pair[0].value <= pair[1].value;
        match knots.windows(2).position(|pair| !increases(pair)) {
            Some(at) => Err(format!("the knots decrease after the {at}th")),
            None => Ok(Self { knots }),
        }
    }

    /// The isotonic regression of the expected ranks `k/(n + 1)` of `n` levels in their order on the
    /// levels: those of equal levels are pooled to their mean. Of levels with weights the rank is
    /// `(W + (w + 1)/2)/(N + 1)`, with the weight `W` of those before and the weight `N` of all. Levels of 0 and 1 have a
    /// rank and no knot.
    ///
    /// - levels: increasing, in `[0, 1]`, each with its weight
    pub fn from_ranks(levels: &[WeightedLevel]) -> Self {
        let weight = |levels: &[WeightedLevel]| levels.iter().map(|one| one.weight).sum::<f64>();
        let n = weight(levels);
        let mut knots = vec![Knot::from([0.0; 2])];
        let mut before = 0.0;
        for group in levels.chunk_by(|p, q| p.level == q.level) {
            let own = weight(group);
            let middle = before + 0.5 * (own + 1.0);
            if group[0].is_inside() {
                knots.push([group[0].level, middle / (n + 1.0)].into());
            }
            before += own;
        }
        knots.push([1.0; 2].into());
        Self { knots }
    }

    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// Whether different levels have different values, and no value is jumped over.
    pub fn is_strict(&self) -> bool {
        let strict = |pair: &[Knot]| pair[0].place < pair[1].place && pair[0].value < pair[1].value;
        self.knots.windows(2).all(strict)
    }

    /// `1 − R(1 − x)`, the map of upper tails.
    pub fn complement(&self) -> Self {
        let knots = self.knots.iter().rev();
        Self {
            knots: knots
                .map(|knot| [1.0 - knot.place, 1.0 - knot.value].into())
                .collect(),
        }
    }

    /// The value at a level.
    pub fn at(&self, level: f64) -> f64 {
        interpolate(&self.knots, |knot| [knot.place, knot.value], level)
    }

    /// The level of a value.
    pub fn inverse(&self, value: f64) -> f64 {
        interpolate(&self.knots, |knot| [knot.value, knot.place], value)
    }
}

/// Linear between knots; NaN stays NaN.
///
/// - point: the argument and the value of a knot
fn interpolate(knots: &[Knot], point: impl Fn(&Knot) -> [f64; 2], x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let right = knots.partition_point(|knot| point(knot)[0] < x);
    if right == 0 {
        return point(&knots[0])[1];
    }
    let Some(knot) = knots.get(right) else {
        return point(&knots[right - 1])[1];
    };
    let [[x0, y0], [x1, y1]] = [&knots[right - 1], knot].map(point); // x0 < x ≤ x1
    let way = (x - x0) / (x1 - x0);
    y0 * (1.0 - way) + y1 * way
}
