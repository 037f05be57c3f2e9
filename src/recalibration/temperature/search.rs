//! The temperature of the lowest log loss of logits, with the prior of its logarithm.

use std::ops::RangeInclusive;

use super::{TemperatureScalingConfig, TemperedRows, log_temperature_prior};
use crate::root::increasing_root;

/// The distance of two points that are looked at, on the scale of the prior where that is finer.
const STEP: f64 = 0.25;

/// A point that was found, on the scale `x = log β`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Minimum {
    pub x: f64,
    pub value: f64,
    /// The derivative with respect to `x`.
    pub slope: f64,
    /// Whether the search ended within the tolerance.
    pub converged: bool,
}

/// A search for minima of the log loss.
pub(super) struct Search<'a> {
    pub config: &'a TemperatureScalingConfig,
    pub rows: &'a TemperedRows<'a>,
    /// Progress callback: the number of evaluations, and the value.
    pub observe: &'a mut dyn FnMut(usize, f64),
    pub evaluations: usize,
}

impl Search<'_> {
    fn at(&mut self, x: f64, prior: Option<f64>) -> [f64; 3] {
        let found = self.rows.log_loss(x.exp(), prior);
        self.evaluations += 1;
        (self.observe)(self.evaluations, found[0]);
        found
    }

    fn point(&mut self, x: f64, prior: Option<f64>) -> Minimum {
        let [value, slope, _] = self.at(x, prior);
        Minimum {
            x,
            value,
            slope: slope * x.exp(),
            converged: true,
        }
    }

    /// The minimum in a bracket, or the end of it that is nearer: the derivative with respect to `β` increases through
    /// its root on the scale of `log β` too.
    pub fn root(
        &mut self,
        bracket: RangeInclusive<f64>,
        start: f64,
        prior: Option<f64>,
    ) -> Minimum {
        let (tolerance, limit) = (self.config.tolerance, self.config.max_iterations);
        let slope = |x: f64| {
            let [_, slope, curvature] = self.at(x, prior);
            (slope, curvature * x.exp())
        };
        let (x, converged) = increasing_root(slope, bracket, start, tolerance, limit);
        Minimum {
            converged,
            ..self.point(x, prior)
        }
    }

    /// The lowest minimum of the log loss `L` with the prior `P`, `F = L + P/n`, by that of `L` alone.
    ///
    /// `L` is convex in `β`, so that it falls up to its minimum `x_L` and rises beyond it; `P` falls up to 0 and rises
    /// beyond it. Outside the interval between 0 and `x_L` both have slopes of one sign: `F` has no minimum there,
    /// also where `x_L` is a bound, of separable data. Within it there can be several, and `F ≤ F(x_L)` at the
    /// lowest one; so `L ≤ F(x_L)` there, as `P ≥ 0`. The points from `x_L` towards 0 with such an `L` are an interval, and
    /// each change of the sign of the slope in it is a bracket of a minimum. `L` is a mean of functions
    /// `log Σ exp(−exp(x) d)` and does not change its slope within a fraction of a unit of `x`, nor `P` within a fraction of
    /// its scale: the steps are shorter.
    pub fn lowest(&mut self, alone: Minimum, scale: f64) -> Minimum {
        let (prior, n) = (Some(scale), self.rows.mass());
        let mut here = self.point(alone.x, prior);
        let (limit, width) = (here.value, 3f64.sqrt() * scale);
        let mut best = here;
        let towards = -alone.x.signum();
        while here.x != 0.0 {
            let step = STEP * here.x.abs().max(width).min(1.0);
            let next = if here.x.abs() <= step {
                0.0
            } else {
                here.x + towards * step
            };
            let there = self.point(next, prior);
            if towards * here.slope <= 0.0 && towards * there.slope >= 0.0 {
                let ends = here.x.min(next)..=here.x.max(next);
                let found = self.root(ends, 0.5 * (here.x + next), prior);
                if found.value <= best.value {
                    best = found;
                }
            }
            // where `x_L` is a bound, 0 can be beyond it
            if next == 0.0 && there.value < best.value {
                best = there;
            }
            here = there;
            let loss = here.value - log_temperature_prior(here.x, scale)[0] / n;
            if loss > limit && towards * here.slope > 0.0 {
                break;
            }
        }
        best
    }
}
