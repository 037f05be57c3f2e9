use std::fmt;

use burn::tensor::{Int, Tensor};

use super::{BoundedMean, Interval, error_size::clopper_pearson};
use crate::{
    distribution::{Categorical, Predictive},
    error::{Error, Result},
    estimator::{Event, check_level},
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
/// assert_eq!(counts.to_string(), "20.0 expected, 10 observed, O/E 0.500 [0.245, 0.881]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
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

    /// The ratio of data with its interval. With weights of the samples it is the weighted frequency over the weighted
    /// mean probability, with the interval of a [`BoundedMean`](super::BoundedMean).
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of) and [`ratio`](Self::ratio).
    pub fn interval(
        event: Event,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        level: f64,
    ) -> Result<Interval> {
        let outcomes = event.weighted_outcomes(predictions, labels)?;
        if !outcomes.weights.are_given() {
            return Self::of(event, &predictions.parted().0, labels)?.ratio(level);
        }
        let expected = check_expected(outcomes.mean(|r, _| r))?;
        let occurred = outcomes.pairs().map(|(_, c)| c).collect();
        let frequency = BoundedMean::new(occurred, 0.0, 1.0).with_weights(outcomes.weights);
        let interval = frequency.interval(level)?;
        let ends = (interval.lower / expected, interval.upper / expected);
        Ok(Interval::new(interval.estimate / expected, ends, level))
    }

    /// The ratio with the interval of Clopper and Pearson (1934) for the frequency, divided by the mean
    /// probability: at least of its level at every sample size, given the predictions, with no events as
    /// well. It is wider than necessary if the frequencies of samples differ (Hoeffding 1956).
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1; a mean probability of 0, for which there is no ratio.
    pub fn ratio(&self, level: f64) -> Result<Interval> {
        check_level(level)?;
        check_expected(self.expected)?;
        let (events, n) = (self.observed as f64, self.samples as f64);
        let (least, most) = clopper_pearson(events, n, level);
        let ends = (least * n / self.expected, most * n / self.expected);
        Ok(Interval::new(events / self.expected, ends, level))
    }
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
    /// The counts, and the ratio with its interval of 95 % where events are expected.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            observed, expected, ..
        } = self;
        write!(
            f,
            "{} expected, {observed} observed",
            numbers::expected(*expected)
        )?;
        if let Ok(ratio) = self.ratio(0.95) {
            let [estimate, lower, upper] =
                [ratio.estimate, ratio.lower, ratio.upper].map(|x| significant(x, 3));
            write!(f, ", O/E {estimate} [{lower}, {upper}]")?;
        }
        Ok(())
    }
}
