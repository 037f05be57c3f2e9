use burn::config::Config;
use nalgebra::{DMatrix, DVector};

use super::{
    curve::{Curve, CurveShape},
    event::{EventOutcomes, sigmoid},
    table::{Knot, Table, bounded},
};
use crate::{
    error::Result,
    estimator::Block,
    recalibration::{at_least, fitted::fitted_map},
};

/// Configuration of [`SplineCalibration`], which it fits, on top of [`PlattScaling`](super::PlattScaling) with smoothed
/// targets.
#[derive(Config, Debug)]
#[must_use]
pub struct SplineCalibrationConfig {
    /// The number of knots of the spline, at least 2, of which no more are used than there are different
    /// log-odds, and one. Default: 6, as Gupta et al. 2021.
    #[config(default = 6)]
    pub knots: usize,
}

/// The probability of samples before the correction, and its variance, which weighs them.
struct Uncorrected {
    probability: f64,
    variance: f64,
}

/// A point of the cumulative residual `R(t)`, with its weight in the trapezoidal rule.
struct WeightedPoint {
    t: f64,
    residual: f64,
    weight: f64,
}

/// The least weight of a sample.
const LEAST: f64 = 1e-12;
/// The most log-odds at which the map is tabulated.
const RESOLUTION: usize = 256;

impl SplineCalibrationConfig {
    pub(super) fn validate(&self) -> Result<()> {
        at_least(2, "the number of knots", self.knots, "at least 2")
    }

    pub(super) fn knots(&self, event: &EventOutcomes) -> Vec<Knot> {
        let groups = &event.groups;
        let ([a, b], _) = Curve::<2>::fit_event(CurveShape::Platt, event, true);
        let base = |group: &Block| {
            let t = a * group.first + b;
            Uncorrected {
                probability: sigmoid(t),
                variance: (sigmoid(t) * sigmoid(-t)).max(LEAST),
            }
        };
        let base: Vec<Uncorrected> = groups.iter().map(base).collect();
        let masses: Vec<f64> = (groups.iter().zip(&base))
            .map(|(group, base)| group.weight * base.variance)
            .collect();
        let whole: f64 = masses.iter().sum();
        // at the end of each group; and the middles of groups
        let mut points = vec![WeightedPoint {
            t: 0.0,
            residual: 0.0,
            weight: 0.5 * masses[0] / whole,
        }];
        let mut middles = Vec::with_capacity(groups.len());
        let (mut mass, mut residual) = (0.0, 0.0);
        for (i, group) in groups.iter().enumerate() {
            middles.push((mass + 0.5 * masses[i]) / whole);
            mass += masses[i];
            residual += group.hits - group.weight * base[i].probability;
            let next = masses.get(i + 1).copied().unwrap_or(0.0);
            points.push(WeightedPoint {
                t: (mass / whole).min(1.0),
                residual: residual / whole,
                weight: 0.5 * (masses[i] + next) / whole,
            });
        }
        let spline = NaturalSpline::least_squares(&points, self.knots.min(points.len()));
        let value = |i: usize| {
            let slope = spline.derivative(middles[i].min(1.0));
            let g = base[i].probability + base[i].variance * slope;
            Knot {
                place: groups[i].first,
                value: bounded(g, event.samples),
            }
        };
        let last = groups.len() - 1;
        let count = RESOLUTION.min(groups.len());
        let steps = (count - 1).max(1);
        (0..count).map(|j| value(j * last / steps)).collect()
    }
}

fitted_map! {
    /// Spline calibration: a natural cubic spline `S` fitted by least squares to the cumulative residual of
    /// probabilities `q` of class 1 of two classes, or of each class, by increasing log-odds,
    ///
    /// ```text
    /// R(t_i) = Σ_{j ≤ i} (y_j − q_j)/W,    t_i = Σ_{j ≤ i} w_j/W,    W = Σ_j w_j,    g = q + w S'(t)
    /// ```
    ///
    /// (Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley: *Calibration of neural networks using
    /// splines*, 2021: the derivative of the cumulative accuracy is the accuracy). They correct the probabilities of
    /// the model over their quantiles, `w = 1`: among several classes most of these are near 0, where a smooth
    /// correction is large. Here the probabilities are those of [`PlattScaling`](super::PlattScaling) over their
    /// variance: `q = σ(a s + b)`, `w = q(1−q)`, at least 10⁻¹². In it the cumulative residual of calibrated
    /// probabilities is a random walk at a constant rate, and the correction vanishes where they are certain. The map
    /// does not depend on the scale of the logits of two classes.
    ///
    /// The squares are those of `∫ (S − R)² dt` by the trapezoidal rule. Samples of equal log-odds enter
    /// together; `S'` is taken in the middle of their interval of `t`. The map has `g` at the log-odds of the
    /// fit, at most 256 of them, evenly spread among all, at least `1/(2(n+1))` away from 0 and 1, and is linear in
    /// the log-odds between and constant beyond. Cost: `O(n log n)`, and `O(nK²)` for `K` knots.
    ///
    /// A criterion other than the log loss is an error: the spline is fitted by its squares. The report has
    /// the log loss of the map.
    ///
    /// Nothing is kept: the map need not increase, and is constant beyond the log-odds of the fit.
    SplineCalibration: Table, "spline calibration", Table::template, logits
}

/// Singular values below this times the largest are 0: of splines that the data do not see.
const RANK: f64 = 1e-10;

/// The natural cubic spline on `[0, 1]` with the values `v_j` at `K` evenly spaced knots: of shape `[K]` each.
#[derive(Debug)]
struct NaturalSpline {
    values: DVector<f64>,
    /// The second derivatives there, 0 at the ends.
    bends: DVector<f64>,
}

/// The place of a point: the interval that starts with a knot, at `u ∈ [0, 1]` of its width `h`.
struct KnotInterval {
    knot: usize,
    u: f64,
    h: f64,
}

impl KnotInterval {
    fn new(t: f64, knots: usize) -> Self {
        let h = 1.0 / (knots as f64 - 1.0);
        let knot = ((t / h) as usize).min(knots - 2);
        let u = t / h - knot as f64;
        Self { knot, u, h }
    }

    /// The weights of the two bends in the value.
    fn bend(&self) -> [f64; 2] {
        [1.0 - self.u, self.u].map(|x| self.h * self.h / 6.0 * (x * x * x - x))
    }
}

impl NaturalSpline {
    /// The spline of least weighted squared distance to points, the one of least
    /// values at its knots where several are: `O(nK + K³)` and `O(nK²)` for `n` points.
    fn least_squares(points: &[WeightedPoint], knots: usize) -> Self {
        let bends = bends(knots);
        let mut gram = DMatrix::zeros(knots, knots);
        let mut moment = DVector::zeros(knots);
        for point in points {
            let at = KnotInterval::new(point.t, knots);
            let [left, right] = at.bend();
            let mut basis: DVector<f64> =
                (bends.row(at.knot) * left + bends.row(at.knot + 1) * right).transpose();
            basis[at.knot] += 1.0 - at.u;
            basis[at.knot + 1] += at.u;
            gram.ger(point.weight, &basis, &basis, 1.0);
            moment.axpy(point.weight * point.residual, &basis, 1.0);
        }
        let svd = gram.svd(true, true);
        let rank = RANK * svd.singular_values.max();
        let values = (svd.solve(&moment, rank)).expect("both sides of the decomposition are there");
        Self {
            bends: bends * &values,
            values,
        }
    }

    /// `S'(t)`.
    pub fn derivative(&self, t: f64) -> f64 {
        let KnotInterval { knot, u, h } = KnotInterval::new(t, self.values.len());
        let rise = (self.values[knot + 1] - self.values[knot]) / h;
        let [left, right] = [1.0 - u, u].map(|x| h / 6.0 * (3.0 * x * x - 1.0));
        rise + right * self.bends[knot + 1] - left * self.bends[knot]
    }
}

/// The second derivatives at the knots as a linear function of the values, `[K, K]`:
/// `b_{j−1} + 4b_j + b_{j+1} = 6(v_{j−1} − 2v_j + v_{j+1})/h²`, and 0 at the ends.
fn bends(knots: usize) -> DMatrix<f64> {
    let scale = 6.0 * (knots as f64 - 1.0).powi(2);
    let mut system = DMatrix::identity(knots, knots);
    let mut differences = DMatrix::zeros(knots, knots);
    for j in 1..knots - 1 {
        for (column, (left, right)) in [(1.0, 1.0), (4.0, -2.0), (1.0, 1.0)]
            .into_iter()
            .enumerate()
        {
            system[(j, j + column - 1)] = left;
            differences[(j, j + column - 1)] = right * scale;
        }
    }
    (system.lu().solve(&differences)).expect("a diagonally dominant matrix has an inverse")
}
