use burn::{config::Config, module::Module};
use serde::{Deserialize, Serialize};

use super::{
    cubic::NaturalSpline,
    event::{Event, sigmoid},
    table::{Table, Tabulate, bounded, check_margin, table_map},
};
use crate::{
    error::{Error, Result},
    recalibration::FitReport,
};

/// What the cumulative residual of [`SplineCalibration`] is a function of: `t_i = Σ_{j ≤ i} w_j / W`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplineAxis {
    /// The quantile of the probability, `w = 1` (Gupta et al. 2021). Among classes most probabilities
    /// are near 0, and a smooth correction there is large beside them: expect a lower
    /// Kolmogorov–Smirnov error, and a log loss that can be higher than without.
    Quantile,
    /// The variance of the samples so far, `w = p(1−p)`, at least 10⁻¹². The cumulative residual of a
    /// calibrated model is a random walk at a constant rate in it, and a correction vanishes where
    /// the prediction is certain.
    Variance,
}

/// Configuration of [`SplineCalibration`], which it fits.
#[derive(Config, Debug)]
pub struct SplineCalibrationConfig {
    /// The number of knots of the spline, at least 2, of which no more are used than there are different
    /// log-odds, and one. Default: 6, as Gupta et al. 2021.
    #[config(default = 6)]
    pub knots: usize,
    /// The axis of the spline. Default: variance.
    #[config(default = "SplineAxis::Variance")]
    pub axis: SplineAxis,
    /// How far the probabilities stay away from 0 and 1, where the derivative of a spline can lead: at
    /// least 10⁻³⁰, below ½. Default: `1/(2(n+1))` of `n` samples.
    #[config(default = "None")]
    pub margin: Option<f64>,
    /// The most log-odds at which the map is tabulated, at least 2, evenly among those of the fit.
    /// Default: 256.
    #[config(default = 256)]
    pub resolution: usize,
}

/// Spline calibration: a natural cubic spline `S` fitted by least squares to the cumulative residual of
/// class 1 of two classes, or of each class, by increasing probability,
///
/// ```text
/// R(t_i) = Σ_{j ≤ i} (y_j − p_j)/W,    t_i = Σ_{j ≤ i} w_j/W,    W = Σ_j w_j,    g = p + w S'(t)
/// ```
///
/// (Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley: *Calibration of neural networks using
/// splines*, 2021, with `w = 1`: the derivative of the cumulative accuracy is the accuracy. As in their
/// code the spline is fitted to the difference from the cumulative probability, which is the flatter.)
///
/// The squares are those of `∫ (S − R)² dt` by the trapezoidal rule. Samples of equal log-odds enter
/// together; `S'` is taken in the middle of their interval of `t`. The map has `g` at the log-odds of the
/// fit, at most as many as its resolution, kept away from 0 and 1 by a margin, and is linear in the
/// log-odds between and constant beyond. Cost: `O(n log n)`, and `O(nK²)` for `K` knots.
///
/// A criterion other than the log loss is an error: the spline is fitted by its squares. The report has
/// the log loss of the map.
///
/// Nothing is kept: the map need not increase, and is constant beyond the log-odds of the fit.
#[derive(Module, Debug)]
pub struct SplineCalibration {
    table: Table,
    #[module(skip)]
    report: Option<FitReport>,
}

/// The least weight of a sample.
const LEAST: f64 = 1e-12;

impl SplineAxis {
    fn weight(self, score: f64) -> f64 {
        match self {
            Self::Quantile => 1.0,
            Self::Variance => (sigmoid(score) * sigmoid(-score)).max(LEAST),
        }
    }
}

impl Tabulate for SplineCalibrationConfig {
    const CLOSED_FORM: (&'static str, &'static str) = (
        "spline calibration",
        "the spline is fitted to the cumulative accuracy by least squares",
    );

    fn validate(&self) -> Result<()> {
        for (name, value) in [
            ("the number of knots", self.knots),
            ("the resolution", self.resolution),
        ] {
            if value < 2 {
                return Err(Error::Parameter {
                    name,
                    value: value as f64,
                    expected: "at least 2",
                });
            }
        }
        check_margin(self.margin)
    }

    fn knots(&self, event: &Event) -> Vec<(f64, f64)> {
        let groups = &event.groups;
        let weight = |score: f64| self.axis.weight(score);
        let masses: Vec<f64> = (groups.iter())
            .map(|group| group.samples as f64 * weight(group.score))
            .collect();
        let whole: f64 = masses.iter().sum();
        // (t, R, weight of the trapezoidal rule) at the end of each group, and the middle of it
        let mut points = vec![(0.0, 0.0, 0.5 * masses[0] / whole)];
        let mut middles = Vec::with_capacity(groups.len());
        let (mut mass, mut residual) = (0.0, 0.0);
        for (i, group) in groups.iter().enumerate() {
            middles.push((mass + 0.5 * masses[i]) / whole);
            mass += masses[i];
            residual += group.hits as f64 - group.samples as f64 * sigmoid(group.score);
            let next = masses.get(i + 1).copied().unwrap_or(0.0);
            let trapezium = 0.5 * (masses[i] + next) / whole;
            points.push(((mass / whole).min(1.0), residual / whole, trapezium));
        }
        let spline = NaturalSpline::least_squares(&points, self.knots.min(points.len()));
        let value = |i: usize| {
            let score = groups[i].score;
            let g = sigmoid(score) + weight(score) * spline.derivative(middles[i].min(1.0));
            (score, bounded(g, self.margin, event.samples))
        };
        let last = groups.len() - 1;
        let count = self.resolution.min(groups.len());
        let steps = (count - 1).max(1);
        (0..count).map(|j| value(j * last / steps)).collect()
    }
}

table_map!(
    SplineCalibrationConfig,
    SplineCalibration,
    "spline calibration"
);
