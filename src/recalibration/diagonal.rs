use std::ops::Range;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use nalgebra::{DMatrix, DVector};

use super::{
    FitReport, FitTask, Guarantees, Regularisation, at_least,
    data::{FitData, Moments},
    family::{ParametricMaps, Ridge, Settings, fit_family},
    fitted::{Form, fitted_map, regularised_map},
    network::Sizes,
    parameter::{Parameter, check_shape, parameter_row},
    scalar::table::knots_below,
    temperature::TemperatureScalingConfig,
};
use crate::{
    distribution::Weights,
    error::{Result, check_count},
    host::to_vec,
};

regularised_map! {
    /// Configuration of [`DiagonalScaling`], which it fits, shrunk to the temperature by cross-validation by default:
    /// `Regularisation::Fixed(0.0)` is the estimator of Rahimi et al.
    DiagonalScalingConfig for DiagonalScaling by Diagonal();
    {
        /// Hidden units of the network that gives the slope. Default: 16.
        hidden: usize = 16,
        /// Knots, at quantiles of the logits of the fit. Default: 33.
        knots: usize = 33,
    }
    /// The weight of the squared distance of the network's weights from their start, where the map is the
    /// temperature. Default: by cross-validation in 5 folds.
    regularisation = "Regularisation::CrossValidated { folds: 5 }",
    tolerance = 1e-5, max_iterations = 200
}

fitted_map! {
    /// The diagonal order-preserving map DIAG: `z_c ↦ w(z_c)` with one increasing function `w` for all
    /// logits (Rahimi, Shaban, Cheng, Hartley, Boots: *Intra order-preserving functions for calibration of
    /// multi-class neural networks*, 2020, section 3.4).
    ///
    /// Keeps the order of the classes, hence the accuracy, and has an inverse as a map of logits. `w` is the
    /// integral of a positive network, as there, but by a quadrature that is exact: the network is evaluated at the
    /// knots and linear between them, so that `w` increases by construction. Beyond the knots it goes on with the
    /// slope at its ends. Without weights it is `z/T` with the temperature of the log loss, towards which it is
    /// regularised.
    ///
    /// On log-probabilities it is injective as a map of predictions too. Proof: let
    /// `w(log p_c) = w(log q_c) + κ` for all classes. If `κ > 0`, then `p_c > q_c` for all, but both sum to 1.
    ///
    /// On other logits it is injective only where `w` is affine. Elsewhere slopes differ at some `x` and `y`.
    /// For small `κ` the logits `(x, y)` and `(w⁻¹(w(x) − κ), w⁻¹(w(y) − κ))` are of different predictions,
    /// which become the same.
    DiagonalScaling: Diagonal, "diagonal scaling", Diagonal::identity, logits
}

/// The parameters of [`DiagonalScaling`].
#[derive(Module, Debug)]
pub struct Diagonal {
    /// `[k]`, increasing.
    knots: Parameter<1>,
    /// `w` at the knots, `[k]`.
    values: Parameter<1>,
    /// The slope of `w` at the knots, `[k]`, positive.
    slopes: Parameter<1>,
}

struct DiagonalFamily {
    network: Sizes,
    /// Its centre has random hidden units that do nothing yet.
    ridge: Ridge,
    /// `1/T`.
    beta: f64,
    knots: Vec<f64>,
    /// The matrix that takes slopes at the knots to coefficients of the intervals, `[3(k + 1), k]`.
    linear: DMatrix<f64>,
    /// The knots to mean 0 and variance 1.
    standardised: Vec<f64>,
}

/// Logits one after the other among the `k + 1` intervals that the knots make of the line.
struct Located {
    rows: usize,
    interval: Vec<u32>,
    /// The distance from the knot at the left end, or from the first knot to its left.
    distance: Vec<f64>,
}

impl DiagonalFamily {
    fn new(data: &FitData, hidden: usize, knots: usize, seed: u64) -> Self {
        let knots = quantiles(data.logits.clone(), knots);
        let Moments { mean, deviation } = centre(&data.logits);
        let network = Sizes {
            inputs: 1,
            hidden,
            outputs: 1,
        };
        Self {
            network,
            ridge: network.ridge(seed),
            beta: TemperatureScalingConfig::inverse_temperature(data),
            standardised: knots.iter().map(|x| (x - mean) / deviation).collect(),
            linear: coefficients(&knots),
            knots,
        }
    }

    /// The slopes at the knots.
    fn slopes(&self, theta: &[f64]) -> DVector<f64> {
        let pass = self.network.forward(theta, &self.standardised);
        DVector::from_vec(pass.factors) * self.beta
    }
}

/// The matrix that takes the slopes at the knots to the coefficients `v, s, b` of each interval of
/// `w(x) = w(x₀) + v + s d + b d²`, `d` from the knot to the left: `[3(k + 1), k]`.
fn coefficients(knots: &[f64]) -> DMatrix<f64> {
    let k = knots.len();
    let mut linear = DMatrix::zeros(3 * (k + 1), k);
    for interval in 0..=k {
        let left = interval.saturating_sub(1);
        for i in 0..left {
            let half = 0.5 * (knots[i + 1] - knots[i]);
            linear[(3 * interval, i)] += half;
            linear[(3 * interval, i + 1)] += half;
        }
        linear[(3 * interval + 1, left)] = 1.0;
        if (1..k).contains(&interval) {
            let bend = 0.5 / (knots[interval] - knots[left]);
            linear[(3 * interval + 2, interval)] = bend;
            linear[(3 * interval + 2, left)] = -bend;
        }
    }
    linear
}

impl ParametricMaps for DiagonalFamily {
    type Inputs = Located;

    fn ridge(&self) -> &Ridge {
        &self.ridge
    }

    fn inputs(&self, data: &FitData) -> Located {
        let locate = |z: &f64| {
            let interval = self.knots.partition_point(|knot| knot <= z);
            (interval as u32, z - self.knots[interval.saturating_sub(1)])
        };
        let (interval, distance) = data.logits.iter().map(locate).unzip();
        Located {
            rows: data.samples(),
            interval,
            distance,
        }
    }

    /// The coefficients `v, s, b` of each interval of `w(x) = v + s d + b d²`.
    fn coefficients(&self, theta: &[f64]) -> Vec<f64> {
        let mut coefficients: Vec<f64> = (&self.linear * self.slopes(theta)).data.into();
        let values = coefficients.iter_mut().step_by(3);
        values.for_each(|v| *v += self.beta * self.knots[0]);
        coefficients
    }

    fn pull(
        &self,
        coefficients: &[f64],
        inputs: &Located,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    ) {
        let m = inputs.interval.len() / inputs.rows;
        let entries = rows.start * m..rows.end * m;
        let (intervals, distances) = (&inputs.interval[entries.clone()], &inputs.distance[entries]);
        let (coefficients, _) = coefficients.as_chunks::<3>();
        let of = |(&interval, d): (&u32, &f64)| {
            let [v, s, b] = coefficients[interval as usize];
            v + d * (s + b * d)
        };
        let mut logits: Vec<f64> = intervals.iter().zip(distances).map(of).collect();
        slopes(&mut logits);
        let (gradient, _) = gradient.as_chunks_mut::<3>();
        for ((&interval, d), slope) in intervals.iter().zip(distances).zip(&logits) {
            let [v, s, b] = &mut gradient[interval as usize];
            *v += slope;
            *s += slope * d;
            *b += slope * d * d;
        }
    }

    fn chain(&self, theta: &[f64], gradient: Vec<f64>) -> Vec<f64> {
        let of_slopes = self.linear.tr_mul(&DVector::from_vec(gradient)) * self.beta;
        let pass = self.network.forward(theta, &self.standardised);
        let mut gradient = vec![0.0; theta.len()];
        let rows = &self.standardised;
        (self.network).pull(theta, rows, &pass, of_slopes.data.into(), &mut gradient);
        gradient
    }
}

/// Distinct quantiles of the numbers, at most so many; at least three, beside the numbers if need be.
fn quantiles(mut numbers: Vec<f64>, count: usize) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len() - 1;
    let rank = |k: usize| (k as f64 / (count - 1) as f64 * last as f64).round() as usize;
    let mut knots: Vec<f64> = (0..count).map(|k| numbers[rank(k)]).collect();
    // so far apart that they differ in f32 as well
    let least = 1e-5 * numbers[0].abs().max(numbers[last].abs());
    knots.dedup_by(|next, knot| *next - *knot <= least);
    if knots.len() < 3 {
        let (low, high) = (numbers[0], numbers[last]);
        let width = (high - low).max(1e-3 * high.abs().max(low.abs())).max(1e-3);
        knots = vec![low - 0.5 * width, low + 0.5 * width, low + 1.5 * width];
    }
    knots
}

/// The mean and the standard deviation, 1 if that is 0.
pub(super) fn centre(numbers: &[f64]) -> Moments {
    let found = Moments::of(numbers, &Weights::default());
    let deviation = match found.deviation {
        0.0 => 1.0,
        deviation => deviation,
    };
    Moments { deviation, ..found }
}

impl Diagonal {
    fn fit(
        hidden: usize,
        knots: usize,
        settings: Settings,
        task: &mut FitTask,
    ) -> Result<(Self, FitReport)> {
        check_count("the number of hidden units", hidden)?;
        at_least(3, "the number of knots", knots, "at least 3")?;
        let family = |data: &FitData| DiagonalFamily::new(data, hidden, knots, settings.seed);
        let (family, theta, report) = fit_family(family, settings, task)?;
        let coefficients = family.coefficients(&theta);
        let of_knots = |at: usize| coefficients.iter().skip(3 + at).step_by(3).copied();
        let [values, slopes] = [0, 1].map(|at| of_knots(at).collect::<Vec<f64>>());
        let form = Self::new([family.knots, values, slopes], &task.data.device);
        Ok((form, report))
    }

    /// Knots with the values and slopes there.
    fn new(numbers: [Vec<f64>; 3], device: &Device) -> Self {
        let [knots, values, slopes] = numbers.map(|numbers| parameter_row(numbers, device));
        Self {
            knots,
            values,
            slopes,
        }
    }

    fn identity(_: usize, device: &Device) -> Self {
        let line = vec![-1.0, 0.0, 1.0];
        Self::new([line.clone(), line, vec![1.0; 3]], device)
    }
}

/// A knot of the function of [`DiagonalScaling`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DiagonalKnot {
    /// The logit `z`.
    pub place: f64,
    /// `w(z)`.
    pub value: f64,
    /// The slope of `w` there.
    pub slope: f64,
}

impl DiagonalScaling {
    /// Returns the knots of `w` with its values and slopes there.
    pub fn knots(&self) -> Vec<DiagonalKnot> {
        let Diagonal {
            knots,
            values,
            slopes,
        } = &self.form;
        let [places, values, slopes] = [knots, values, slopes].map(|numbers| to_vec(numbers.val()));
        let knot = |k: usize| DiagonalKnot {
            place: places[k],
            value: values[k],
            slope: slopes[k],
        };
        (0..places.len()).map(knot).collect()
    }
}

impl Form for Diagonal {
    fn check(&self) -> Result<(), String> {
        check_shape(&self.values, "values", self.knots.dims())?;
        check_shape(&self.slopes, "slopes", self.knots.dims())?;
        let increases = |parameter: &Parameter<1>| {
            let numbers = to_vec(parameter.val());
            numbers.len() >= 3 && numbers.windows(2).all(|pair| pair[0] < pair[1])
        };
        let positive = to_vec(self.slopes.val()).iter().all(|slope| *slope > 0.0);
        if increases(&self.knots) && increases(&self.values) && positive {
            Ok(())
        } else {
            Err("the function does not increase".into())
        }
    }

    fn keeps(&self) -> Guarantees {
        let slopes = to_vec(self.slopes.val());
        Guarantees {
            injective: slopes.windows(2).all(|pair| pair[0] == pair[1]), // w is affine
            ..Guarantees::ALL
        }
    }
}

impl Diagonal {
    /// `w(x) = v_i + s_i d + b_i d²` with `d = x − x_i` between two knots: the two-point Clenshaw–Curtis rule,
    /// which is exact for a slope that is linear there.
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let ([n, m], [k]) = (logits.dims(), self.knots.dims());
        let [knots, values, slopes] =
            [&self.knots, &self.values, &self.slopes].map(|p| p.val().cast(logits.dtype()));
        let numbers = logits.reshape([n * m]);
        let options = (&numbers.device(), numbers.dtype());
        let padding = Tensor::full([(k + 1).next_power_of_two() - k], f64::INFINITY, options);
        let table = Tensor::cat(vec![knots.clone(), padding], 0).unsqueeze();
        // how many knots lie below each number, 0..=k
        let interval = knots_below(&table, &numbers.clone().detach().unsqueeze());
        let interval = interval.clamp_max(k as i64).squeeze_dim::<1>(0);
        // of the intervals, of which the first is left of all knots: [k + 1]
        let left = |x: &Tensor<1>| Tensor::cat(vec![x.clone().slice(0..1), x.clone()], 0);
        let steps = |x: &Tensor<1>| x.clone().slice(1..k) - x.clone().slice(0..k - 1);
        let none = slopes.clone().slice(0..1).zeros_like();
        let bends = steps(&slopes) / steps(&knots) * 0.5;
        let bends = Tensor::cat(vec![none.clone(), bends, none.clone()], 0);
        // w is finite where the logits are
        let greatest = numbers.dtype().finfo().map_or(f64::MAX, |float| float.max);
        let ceilings = Tensor::cat(vec![values.clone(), none + greatest], 0);
        let of = |coefficients: Tensor<1>| coefficients.select(0, interval.clone());
        let distance = numbers - of(left(&knots));
        let slope = of(left(&slopes)) + of(bends) * distance.clone();
        let w = of(left(&values)) + distance * slope;
        // rounding must not pass the value at the next knot
        let w = w.min_pair(of(ceilings)).clamp_min(-greatest);
        w.reshape([n, m])
    }
}
