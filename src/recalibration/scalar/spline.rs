use serde::{Deserialize, Serialize};

use super::{
    cubic::NaturalSpline,
    event::{EventOutcomes, sigmoid},
    platt,
    table::{KnotTable, Tabulate, bounded, check_margin},
};
use crate::recalibration::common::*;

/// The probabilities `q` that [`SplineCalibration`] corrects, with the weights `w` of its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SplineBase {
    /// The probabilities of the model over their quantiles: `q = p`, `w = 1` (Gupta et al. 2021). Among several
    /// classes most probabilities are near 0, and a smooth correction there is large beside them:
    /// expect a lower Kolmogorov–Smirnov error, and a log loss that can be higher than without.
    Model,
    /// The probabilities of [`PlattScaling`](super::PlattScaling) over their variance: `q = σ(a s + b)`,
    /// `w = q(1−q)`, at least 10⁻¹². In it the cumulative residual of calibrated probabilities is a
    /// random walk at a constant rate, and the correction vanishes where they are certain. The map does
    /// not depend on the scale of the logits of two classes.
    Platt,
}

/// Configuration of [`SplineCalibration`], which it fits.
#[derive(Config, Debug)]
pub struct SplineCalibrationConfig {
    /// The number of knots of the spline, at least 2, of which no more are used than there are different
    /// log-odds, and one. Default: 6, as Gupta et al. 2021.
    #[config(default = 6)]
    pub knots: usize,
    /// The probabilities that are corrected. Default: Platt scaling.
    #[config(default = "SplineBase::Platt")]
    pub base: SplineBase,
    /// The least distance of the probabilities from 0 and 1, where the derivative of a spline can lead: at
    /// least 10⁻³⁰, below ½. Default: `1/(2(n+1))` of `n` samples.
    #[config(default = "None")]
    pub margin: Option<f64>,
    /// The most log-odds at which the map is tabulated, at least 2, evenly among those of the fit.
    /// Default: 256.
    #[config(default = 256)]
    pub resolution: usize,
}

/// Spline calibration: a natural cubic spline `S` fitted by least squares to the cumulative residual of
/// probabilities `q` of class 1 of two classes, or of each class, by increasing log-odds,
///
/// ```text
/// R(t_i) = Σ_{j ≤ i} (y_j − q_j)/W,    t_i = Σ_{j ≤ i} w_j/W,    W = Σ_j w_j,    g = q + w S'(t)
/// ```
///
/// (Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley: *Calibration of neural networks using
/// splines*, 2021, with [`SplineBase::Model`]: the derivative of the cumulative accuracy is the
/// accuracy. As in their code the spline is fitted to its difference from the cumulative probability,
/// which is the flatter.)
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
pub type SplineCalibration = Fitted<KnotTable<SplineCalibrationConfig>>;

/// The least weight of a sample.
const LEAST: f64 = 1e-12;

impl SplineBase {
    /// `q` and `w` of each group.
    fn of(self, event: &EventOutcomes) -> Vec<(f64, f64)> {
        let scores = event.groups.iter().map(|group| group.score);
        match self {
            Self::Model => scores.map(|s| (sigmoid(s), 1.0)).collect(),
            Self::Platt => {
                let (a, b) = platt::scale(event);
                let of_score = |s: f64| {
                    let t = a * s + b;
                    (sigmoid(t), (sigmoid(t) * sigmoid(-t)).max(LEAST))
                };
                scores.map(of_score).collect()
            }
        }
    }
}

impl Tabulate for SplineCalibrationConfig {
    const KIND: &'static str = "spline calibration";
    const NAME: &'static str = "spline";
    const ABOUT: &'static str =
        "A spline through the cumulative frequencies of each class (by the log loss alone)";
    const CLOSED_FORM: &'static str =
        "the spline is fitted to the cumulative accuracy by least squares";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn validate(&self) -> Result<()> {
        at_least(2, "the number of knots", self.knots, "at least 2")?;
        at_least(2, "the resolution", self.resolution, "at least 2")?;
        check_margin(self.margin)
    }

    fn knots(&self, event: &EventOutcomes) -> Vec<(f64, f64)> {
        let groups = &event.groups;
        let base = self.base.of(event);
        let masses: Vec<f64> = (groups.iter().zip(&base))
            .map(|(group, (_, w))| group.samples as f64 * w)
            .collect();
        let whole: f64 = masses.iter().sum();
        // (t, R, weight of the trapezoidal rule) at the end of each group, and the middle of it
        let mut points = vec![(0.0, 0.0, 0.5 * masses[0] / whole)];
        let mut middles = Vec::with_capacity(groups.len());
        let (mut mass, mut residual) = (0.0, 0.0);
        for (i, group) in groups.iter().enumerate() {
            middles.push((mass + 0.5 * masses[i]) / whole);
            mass += masses[i];
            residual += group.hits as f64 - group.samples as f64 * base[i].0;
            let next = masses.get(i + 1).copied().unwrap_or(0.0);
            let trapezium = 0.5 * (masses[i] + next) / whole;
            points.push(((mass / whole).min(1.0), residual / whole, trapezium));
        }
        let spline = NaturalSpline::least_squares(&points, self.knots.min(points.len()));
        let value = |i: usize| {
            let (q, w) = base[i];
            let g = q + w * spline.derivative(middles[i].min(1.0));
            (groups[i].score, bounded(g, self.margin, event.samples))
        };
        let last = groups.len() - 1;
        let count = self.resolution.min(groups.len());
        let steps = (count - 1).max(1);
        (0..count).map(|j| value(j * last / steps)).collect()
    }
}
