use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// The weight `λ` of a penalty as a function of the training step `t`.
///
/// A function of the step alone: training resumed from a checkpoint continues the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WeightSchedule {
    /// `λ(t) = λ`.
    Constant(f64),
    /// The weight grows from 0 in equal steps: `λ(t) = λ · min(t/T, 1)`.
    WarmUp {
        /// The final weight `λ`.
        weight: f64,
        /// The number `T` of steps until it is reached.
        steps: usize,
    },
    /// `λ(t) = a + (b − a) · min(t/T, 1)`.
    Linear {
        /// The first weight `a`.
        from: f64,
        /// The final weight `b`.
        to: f64,
        /// The number `T` of steps until it is reached.
        steps: usize,
    },
    /// `λ(t) = b + (a − b) · (1 + cos(π · min(t/T, 1)))/2`.
    Cosine {
        /// The first weight `a`.
        from: f64,
        /// The final weight `b`.
        to: f64,
        /// The number `T` of steps until it is reached.
        steps: usize,
    },
}

impl WeightSchedule {
    /// `λ(t)` at the 0-based step `t`. With `T = 0` the final weight holds from the start.
    pub fn at(&self, step: usize) -> f64 {
        let progress = |steps: usize| match steps {
            0 => 1.0,
            _ => (step as f64 / steps as f64).min(1.0),
        };
        match *self {
            Self::Constant(weight) => weight,
            Self::WarmUp { weight, steps } => weight * progress(steps),
            Self::Linear { from, to, steps } => from + (to - from) * progress(steps),
            Self::Cosine { from, to, steps } => {
                to + (from - to) * 0.5 * (1.0 + (PI * progress(steps)).cos())
            }
        }
    }

    /// Returns whether all weights are finite and none is negative.
    pub(super) fn is_valid(&self) -> bool {
        let valid = |weight: f64| weight.is_finite() && weight >= 0.0;
        match *self {
            Self::Constant(weight) | Self::WarmUp { weight, .. } => valid(weight),
            Self::Linear { from, to, .. } | Self::Cosine { from, to, .. } => {
                valid(from) && valid(to)
            }
        }
    }
}
