//! Steps of distribution functions, as for counts and draws.

use std::f64::consts::PI;

use super::studentised::OverStep;
use crate::distribution::{Tails, upper_normal_quantile};

/// Parts of `[0, 1]` whose shares of transforms are compared.
pub(super) const PARTS: usize = 20;

/// A step of a distribution function, as for counts and draws: `u` and `1 − u` at both ends. The transform is uniform on it, and its numbers are means over it, of the
/// expectation that they have where there are no steps: no tie is decided at random.
pub(super) struct Step(pub [Tails; 2]);

/// The means of the normal score and of its square over a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scores {
    pub mean: f64,
    pub square: f64,
}

/// The width below which a step counts as its middle: means over it would be of rounding.
const NO_STEP: f64 = 1e-6;

impl Step {
    /// `u` at both ends.
    fn levels(&self) -> [f64; 2] {
        let [low, high] = &self.0;
        [low.lower, high.lower]
    }

    fn width(&self) -> f64 {
        let [low, high] = self.levels();
        high - low
    }

    /// The mean of `u − ½`.
    pub fn mean_level(&self) -> OverStep {
        let [low, high] = self.levels();
        OverStep {
            mean: 0.5 * (low + high) - 0.5,
            variance: self.width().powi(2) / 12.0,
        }
    }

    /// The share of the step between ¼ and ¾, the central 50 % interval.
    pub fn share_in_middle(&self) -> f64 {
        let [low, high] = self.levels();
        if self.width() < NO_STEP {
            return f64::from((0.25..=0.75).contains(&(0.5 * (low + high))));
        }
        (high.clamp(0.25, 0.75) - low.clamp(0.25, 0.75)) / self.width()
    }

    /// The means of the normal score `z` and of `z²`, by `∫ zφ = −φ` and `∫ z² φ = Φ − zφ`.
    pub fn scores(&self) -> Scores {
        let score = |Tails { lower, upper }: Tails| {
            let tail = lower.min(upper).max(f64::MIN_POSITIVE);
            upper_normal_quantile(tail).copysign(lower - upper)
        };
        let [low, high] = self.0;
        if self.width() < NO_STEP {
            let mean: f64 = score(high);
            let square = mean * mean;
            return Scores { mean, square };
        }
        let [low, high] = [low, high].map(score);
        let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let (below, above) = (density(low), density(high));
        Scores {
            mean: (below - above) / self.width(),
            square: 1.0 - (high * above - low * below) / self.width(),
        }
    }

    /// The probability of a target as far out on its side, or further.
    pub fn tail(&self) -> f64 {
        let [low, high] = &self.0;
        high.lower.min(low.upper).max(f64::MIN_POSITIVE)
    }

    /// Adds a weight to equal parts of `[0, 1]`, by the share of the step in each.
    pub fn add_to(&self, counts: &mut [f64; PARTS], weight: f64) {
        let [low, high] = self.levels().map(|u| u * PARTS as f64);
        let [first, last] = [low, high].map(|u| (u as usize).min(PARTS - 1));
        if first == last || self.width() < NO_STEP {
            counts[last] += weight;
            return;
        }
        for (part, count) in counts.iter_mut().enumerate().take(last + 1).skip(first) {
            let within = high.min(part as f64 + 1.0) - low.max(part as f64);
            *count += weight * (within / (high - low));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tails(lower: f64, upper: f64) -> Tails {
        Tails { lower, upper }
    }

    /// The means over a step are those of many transforms on it, and those of a point where there is none.
    #[test]
    fn means_over_steps() {
        let points = 100_000;
        for [low, high] in [
            [0.0, 0.3],
            [0.2, 0.9],
            [0.45, 1.0],
            [0.61, 0.64],
            [0.0, 1.0],
        ] {
            let step = Step([low, high].map(|u| tails(u, 1.0 - u)));
            let u = |k: i32| low + (high - low) * (f64::from(k) + 0.5) / f64::from(points);
            let mean = |of: &dyn Fn(f64) -> f64| {
                (0..points).map(|k| of(u(k))).sum::<f64>() / f64::from(points)
            };
            let (level, scores) = (step.mean_level(), step.scores());
            let square = |u: f64| (u - 0.5).powi(2);
            let score = |u: f64| upper_normal_quantile(u.min(1.0 - u)).copysign(u - 0.5);
            let is_in_middle = |u: f64| f64::from((u - 0.5).abs() <= 0.25);
            for (found, expected) in [
                (level.mean, mean(&|u| u - 0.5)),
                (level.variance, mean(&square) - level.mean.powi(2)),
                (step.share_in_middle(), mean(&is_in_middle)),
                (scores.mean, mean(&score)),
                (scores.square, mean(&|u| score(u).powi(2))),
            ] {
                assert!(
                    (found - expected).abs() < 2e-4,
                    "{low}, {high}: {found}, {expected}"
                );
            }
            let mut counts = [0.0; PARTS];
            step.add_to(&mut counts, 2.0);
            let below = |part: usize| (part as f64 / PARTS as f64).clamp(low, high);
            for (part, count) in counts.iter().enumerate() {
                let share = (below(part + 1) - below(part)) / (high - low);
                assert!(
                    (count - 2.0 * share).abs() < 1e-12,
                    "{low}, {high}: {counts:?}"
                );
            }
        }
        let point = Step([tails(0.975, 0.025); 2]);
        assert!((point.scores().square - 1.959963984540054f64.powi(2)).abs() < 1e-9);
        assert!((point.scores().mean - 1.959963984540054).abs() < 1e-9);
        let level = point.mean_level();
        assert_eq!((level.mean, level.variance), (0.475, 0.0));
        assert_eq!((point.tail(), point.share_in_middle()), (0.025, 0.0));
        // at most so many, on either side
        assert_eq!(Step([tails(0.1, 0.9), tails(0.4, 0.6)]).tail(), 0.4);
    }
}
