use std::fmt;

use burn::tensor::{Int, Tensor};

use super::{
    BoundedMean, Interval, MeanEstimate,
    bounded_mean::{MOST_SKEWNESS, crossing, normal_quantile},
};
use crate::{
    distribution::{Categorical, Predictive},
    error::{Error, Result},
    estimator::{Event, Outcomes, ScoredSample, check_level, student},
    numbers::{self, significant},
};

/// The calibration of an event in the large: the observed number of events, and the expected number `E =
/// Σ_i r_i`.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, estimator::Event, score::ObservedExpected};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.8, 0.2]; 100], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..100, &device).lower_elem(10).int();
/// let counts = ObservedExpected::of(Event::Class(1), &predictions, &labels)?;
/// assert_eq!(counts.to_string(), "20.0 expected, 10 observed, O/E 0.500");
/// let interval = ObservedExpected::interval(Event::Class(1), &predictions, &labels, 0.95)?;
/// assert!((interval.lower - 0.245).abs() < 1e-3 && (interval.upper - 0.881).abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ObservedExpected {
    /// The number `O` of samples in which the event occurred.
    pub observed: usize,
    /// The number that is expected, `E`.
    pub expected: f64,
    /// The number `n` of samples.
    pub samples: usize,
}

impl ObservedExpected {
    /// Counts the events of data.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or an event that is not a
    /// class.
    pub fn of(event: Event, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Self> {
        let outcomes = event.outcomes(predictions, labels)?;
        Ok(Self {
            observed: outcomes.occurred.iter().filter(|&&c| c == 1).count(),
            expected: outcomes.probability.iter().sum(),
            samples: predictions.len(),
        })
    }

    /// The ratio with its interval, for new samples: of the event's mean in the population over its mean probability. With
    /// weights it is the weighted frequency over the weighted mean probability.
    ///
    /// A ratio `ρ` is in the interval if the mean of `c_i − ρ r_i` can be 0 (Fieller 1954). The limits of this mean are
    /// Student's where these terms show that they hold, else those of a [`BoundedMean`]: no event is no certainty that
    /// there is none. Simulated coverage is in `docs/levels.md`. The upper end is infinite where the mean probability
    /// can be 0.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of); a level that is not between 0 and 1; a mean probability of 0, for which there is no ratio.
    pub fn interval(
        event: Event,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        level: f64,
    ) -> Result<Interval> {
        check_level(level)?;
        let outcomes = event.weighted_outcomes(predictions, labels)?;
        let expected = check_expected(outcomes.mean(|sample| sample.score))?;
        let estimate = outcomes.mean(|sample| sample.occurred) / expected;
        let [lower, upper] = if residuals(&outcomes, estimate)
            .or_student(MOST_SKEWNESS)
            .is_student()
        {
            by_student(&outcomes, level)
        } else {
            by_bounds(&outcomes, estimate, level)
        };
        Ok(Interval {
            estimate,
            lower,
            upper,
            level,
        })
    }

    /// The ratio `O/E`.
    ///
    /// # Errors
    ///
    /// A mean probability of 0, for which there is no ratio.
    pub fn ratio(&self) -> Result<f64> {
        Ok(self.observed as f64 / check_expected(self.expected)?)
    }
}

/// The mean of `c_i − ρ r_i`.
fn residuals(outcomes: &Outcomes, ratio: f64) -> BoundedMean {
    let [lowest, highest] = outcomes.range();
    let terms = outcomes.all().map(|one| one.occurred - ratio * one.score);
    BoundedMean::new(terms.collect(), -ratio * highest, 1.0 - ratio * lowest)
        .with_weights(outcomes.weights.clone())
}

/// The least and the greatest ratio `ρ` with `(c̄ − ρ r̄)² ≤ t² Var(c̄ − ρ r̄)`.
fn by_student(outcomes: &Outcomes, level: f64) -> [f64; 2] {
    let mean = |of: fn(ScoredSample) -> f64| {
        let values: Vec<f64> = outcomes.all().map(of).collect();
        MeanEstimate::weighted(&values, &outcomes.weights)
    };
    let variance = |of| mean(of).standard_error.powi(2);
    let (r, c) = (mean(|one| one.score), mean(|one| one.occurred));
    let t = student::upper_quantile(0.5 * (1.0 - level), r.effective - 1.0);
    let of_sum = variance(|one| one.score + one.occurred);
    let covariance = 0.25 * (of_sum - variance(|one| one.score - one.occurred));
    let square = |mean: MeanEstimate| mean.estimate.powi(2) - (t * mean.standard_error).powi(2);
    // a ρ² − 2 b ρ + c ≤ 0
    let (a, b) = (square(r), r.estimate * c.estimate - t * t * covariance);
    let root = (b * b - a * square(c)).max(0.0).sqrt();
    if a > 0.0 {
        [((b - root) / a).max(0.0), (b + root) / a]
    } else {
        [0.0, f64::INFINITY]
    }
}

/// The least and the greatest ratio whose mean of `c_i − ρ r_i` is 0 at the limits of a [`BoundedMean`].
fn by_bounds(outcomes: &Outcomes, estimate: f64, level: f64) -> [f64; 2] {
    if outcomes.samples() < 2 {
        return [0.0, f64::INFINITY];
    }
    let z = normal_quantile(level);
    let [lower, upper] =
        [0, 1].map(|side| move |ratio: f64| residuals(outcomes, ratio).roots(0.0)[side]);
    let mut most = 2.0 * estimate.max(1.0);
    while upper(most) < z && most < f64::MAX / 2.0 {
        most *= 2.0;
    }
    [
        crossing([0.0, estimate], -z, lower),
        crossing([estimate, most], z, upper),
    ]
}

fn check_expected(expected: f64) -> Result<f64> {
    if expected > 0.0 {
        return Ok(expected);
    }
    Err(Error::Unsupported {
        what: "the ratio of observed to expected events where none is expected".into(),
        expected: "a probability above 0",
    })
}

impl fmt::Display for ObservedExpected {
    /// The counts, and the ratio where events are expected.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            observed, expected, ..
        } = self;
        write!(
            f,
            "{} expected, {observed} observed",
            numbers::expected(*expected)
        )?;
        if let Ok(ratio) = self.ratio() {
            write!(f, ", O/E {}", significant(ratio, 3))?;
        }
        Ok(())
    }
}
