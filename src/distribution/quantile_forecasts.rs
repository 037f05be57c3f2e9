use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::{
    Predictive, Redraws, Sampler,
    weights::{carries_weights, refuse},
};
use crate::{
    error::{
        Error, Result, check_count, check_inside, check_parameter, check_samples, check_values,
    },
    host::{tensor_like, to_vec},
};

/// Quantile forecasts: distributions of real numbers that are known only at some levels `τ_1 < … < τ_K`,
/// such as published forecasts of epidemics, energy and sales.
///
/// Row `i` says `P(Y_i < q_ik) ≤ τ_k ≤ P(Y_i ≤ q_ik)` for each level. A target of a calibrated model falls
/// between two quantiles with a known probability, `τ_{k+1} − τ_k`. Nothing else is known, so these
/// predictions have no distribution function, no density and no distance. They have
/// [`WeightedIntervalScore`](crate::score::WeightedIntervalScore),
/// [`QuantileCoverage`](crate::estimator::regression::QuantileCoverage),
/// [`OmnibusTest`](crate::hypothesis::OmnibusTest) and
/// [`ConformalShift`](crate::recalibration::ConformalShift).
///
/// Quantiles may be equal, as for counts. A target may equal a quantile: then its side of the level is not
/// known, and tests and intervals allow for both.
///
/// Quantiles are finite. Leave out a level with infinite quantiles.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Predictive, QuantileForecasts};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let quantiles = Tensor::<2>::from_floats([[1.0, 3.0, 8.0], [2.0, 5.0, 4.0]], &Device::default());
/// let forecasts = QuantileForecasts::new(vec![0.1, 0.5, 0.9], quantiles)?;
/// let error = forecasts.check().unwrap_err().to_string();
/// assert!(error.starts_with("row 1: the quantile at level 0.5 is 5 and that at level 0.9 is 4"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct QuantileForecasts {
    levels: Vec<f64>,
    /// `[n, K]`.
    values: Tensor<2>,
    sample_weights: Option<Tensor<2>>,
}

impl QuantileForecasts {
    /// Creates forecasts from levels and the quantiles at these.
    ///
    /// # Shapes
    ///
    /// - values: `[n, K]`, finite and not decreasing in any row (estimators and tests check that, this function
    ///   does not)
    ///
    /// # Errors
    ///
    /// No levels, a level that is not between 0 and 1, levels that do not increase, or another number of columns.
    pub fn new(levels: Vec<f64>, values: Tensor<2>) -> Result<Self> {
        check_count("the number of levels", levels.len())?;
        for (k, &level) in levels.iter().enumerate() {
            check_inside("a level of the quantiles", level)?;
            let rises = k == 0 || levels[k - 1] < level;
            let expected = "more than the level before it";
            check_parameter(rises, "a level of the quantiles", level, expected)?;
        }
        match values.dims() {
            [_, got] if got != levels.len() => Err(Error::Width {
                what: "the quantiles",
                columns: "column",
                got,
                expected: levels.len(),
            }),
            _ => Ok(Self {
                levels,
                values,
                sample_weights: None,
            }),
        }
    }

    /// The levels `τ_1 < … < τ_K`.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The quantiles, `[n, K]`.
    pub fn values(&self) -> Tensor<2> {
        self.values.clone()
    }

    /// The places of the levels `τ < ½` and `1 − τ` of each central interval, the widest first.
    pub fn central_intervals(&self) -> Vec<[usize; 2]> {
        central_intervals(&self.levels)
    }

    /// Sorts the quantiles of each row, for models that fit each level separately and whose quantiles cross
    /// (Chernozhukov, Fernández-Val and Galichon 2010). The sum of the pinball scores over the levels never
    /// rises: an exchange of two quantiles that cross changes it by `(τ_k − τ_l)(q_k − q_l) < 0`. Rows
    /// whose quantiles do not cross do not change.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::{Predictive, QuantileForecasts};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let quantiles = Tensor::<2>::from_floats([[1.0, 3.0, 2.0]], &Device::default());
    /// let crossing = QuantileForecasts::new(vec![0.1, 0.5, 0.9], quantiles)?;
    /// let sorted = crossing.rearranged();
    /// assert!(crossing.check().is_err() && sorted.check().is_ok());
    /// assert_eq!(sorted.values().into_data().to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rearranged(&self) -> Self {
        self.with_values(self.values().sort(1))
    }

    /// The same levels with other quantiles of the same samples.
    pub(crate) fn with_values(&self, values: Tensor<2>) -> Self {
        Self {
            values,
            ..self.clone()
        }
    }
}

/// Levels are equal that differ by less.
const ROUNDING: f64 = 1e-9;

/// The places of the levels `τ < ½` and `1 − τ` of each central interval, the widest first.
pub(crate) fn central_intervals(levels: &[f64]) -> Vec<[usize; 2]> {
    let partner = |(low, level): (usize, &f64)| {
        let is_partner = |other: &f64| (1.0 - level - other).abs() < ROUNDING;
        let high = levels.iter().position(is_partner)?;
        (low < high).then_some([low, high])
    };
    levels.iter().enumerate().filter_map(partner).collect()
}

impl Predictive for QuantileForecasts {
    type Targets = Tensor<2>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    fn parameter(&self) -> Tensor<2> {
        self.values()
    }

    fn dimensions(&self) -> usize {
        1
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            sample_weights: self.sample_weights.clone().map(f),
            ..self.with_values(f(self.values()))
        }
    }

    fn check(&self) -> Result<()> {
        refuse(&self.sample_weights)?;
        let k = self.levels.len();
        check_samples("a set of predictions", 1, self.len())?;
        let values = to_vec(self.values());
        let finite = (
            f64::is_finite,
            "a finite number; leave out a level whose quantiles are infinite",
        );
        check_values(&values, (k, "level"), "the quantile", finite)?;
        for (row, quantiles) in values.chunks(k).enumerate() {
            if let Some(at) = quantiles.windows(2).position(|pair| pair[0] > pair[1]) {
                return Err(Error::Crossing {
                    row,
                    levels: [self.levels[at], self.levels[at + 1]],
                    values: [quantiles[at], quantiles[at + 1]],
                });
            }
        }
        Ok(())
    }

    /// Checks that the levels are the same too.
    fn check_like(&self, other: &Self) -> Result<()> {
        if self.levels == other.levels {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!(
                "the quantiles are at the levels {:?} and at {:?}",
                self.levels, other.levels
            ),
            expected: "the same levels of both",
        })
    }

    /// Draws the level of a target, uniformly, and a target at it: linear between two quantiles, and beyond the
    /// outer ones with exponential tails. The forecasts say nothing of where between two quantiles a target is, and
    /// tests look only at between which it is.
    fn sampler(&self) -> Sampler<Self> {
        let (levels, values) = (self.levels.clone(), to_vec(self.values()));
        let k = levels.len();
        Box::new(move |rows, rng| {
            let draw = |&row: &usize| draw(&levels, &values[row * k..][..k], rng);
            rows.iter().map(draw).collect()
        })
    }
}

carries_weights!([] QuantileForecasts);

impl Redraws for QuantileForecasts {
    /// The quantile at each level, with half of the probability of either side up to the next one; and targets far
    /// beyond the outer quantiles, with theirs. Between two quantiles pinball scores are linear, and their differences
    /// are constant far out: so these targets have the most extreme differences.
    fn expected_targets(&self) -> Vec<(Tensor<2>, Vec<f64>)> {
        let (k, n, levels) = (self.levels.len(), self.len(), &self.levels);
        let values = to_vec(self.values());
        let column = |target: &dyn Fn(&[f64]) -> f64, probability: f64| {
            let targets = values.chunks(k).map(target).collect();
            (
                tensor_like(targets, [n, 1], &self.values),
                vec![probability; n],
            )
        };
        let next = |level: usize| levels.get(level).copied().unwrap_or(1.0);
        let before = |level: usize| if level > 0 { levels[level - 1] } else { 0.0 };
        let mut expected = vec![
            column(&|row| row[0] - FAR * unit(levels, row), levels[0]),
            column(
                &|row| row[k - 1] + FAR * unit(levels, row),
                1.0 - levels[k - 1],
            ),
        ];
        let quantiles = 0..k;
        expected.extend(
            quantiles
                .map(|level| column(&|row| row[level], 0.5 * (next(level + 1) - before(level)))),
        );
        expected
    }
}

/// Units beyond the outer quantiles at which a target is far from these.
const FAR: f64 = 10.0;

/// The unit of the distances of targets beyond the outer quantiles: these differ from them, whatever the quantiles.
fn unit(levels: &[f64], quantiles: &[f64]) -> f64 {
    let last = levels.len() - 1;
    let unit = (quantiles[last] - quantiles[0]) / (levels[last] - levels[0]);
    if unit > 0.0 {
        unit
    } else if quantiles[0] != 0.0 {
        quantiles[0].abs()
    } else {
        1.0
    }
}

/// Draws a target from one forecast.
fn draw(levels: &[f64], quantiles: &[f64], rng: &mut dyn Rng) -> f64 {
    let last = levels.len() - 1;
    let level: f64 = rng.random();
    let above = levels.partition_point(|&other| other <= level);
    let unit = unit(levels, quantiles);
    if above == 0 {
        let depth = (level.max(f64::MIN_POSITIVE) / levels[0]).ln();
        return quantiles[0] + unit * levels[0] * depth;
    }
    if above > last {
        let rest = 1.0 - levels[last];
        return quantiles[last] - unit * rest * ((1.0 - level) / rest).ln();
    }
    let way = (level - levels[above - 1]) / (levels[above] - levels[above - 1]);
    let (low, high) = (quantiles[above - 1], quantiles[above]);
    (low + way * (high - low)).min(high) // of equal quantiles it is these
}
