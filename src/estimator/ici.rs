use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Event, ScoredSample};
use crate::{distribution::Categorical, error::Result, estimator::Estimator};

/// The integrated calibration index of an event, by default the top label: the mean distance `|r_i − r̂_i|` of the
/// probabilities from the smoothed frequencies, with E50, E90 and Emax, the median, the 90th percentile and the maximum of
/// the same distances (Austin and Steyerberg 2019).
///
/// The smoothed frequency `r̂` is the isotonic regression of the outcomes on the probabilities, as in
/// [`Corp`](crate::score::Corp): it has nothing to choose. Austin and Steyerberg take loess, whose values depend on its
/// span; so compare numbers of one smoother only. All four are above 0 for a calibrated model too, ICI by about
/// `O(n^{−⅓})`.
///
/// A percentile is the smallest distance that this share of the samples, or of their weights, does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[must_use]
pub struct Ici {
    /// The event.
    pub event: Event,
}

/// Distances of the probabilities of an event from the smoothed frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct IciErrors {
    /// ICI, the mean distance.
    pub mean: f64,
    /// E50, the median distance.
    pub median: f64,
    /// E90, the 90th percentile of the distances.
    pub ninetieth: f64,
    /// Emax, the largest distance.
    pub largest: f64,
}

/// The distance of a probability from the regression, with the weight of its sample.
struct Distance {
    size: f64,
    weight: f64,
}

impl Ici {
    /// Estimates the index of an event.
    pub fn new(event: Event) -> Self {
        Self { event }
    }

    /// Returns the mean, the median, the 90th percentile and the maximum of the distances.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, estimator::{Event, Ici}};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::<2>::from_floats([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
    /// let predictions = Categorical::from_probabilities(rows)?;
    /// // the isotonic regression is 0, 1, 1
    /// let errors = Ici::new(Event::Class(1)).errors(&predictions, &labels)?;
    /// assert_eq!((errors.median, errors.ninetieth, errors.largest), (0.25, 0.5, 0.5));
    /// assert!((errors.mean - 1.0 / 3.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m + n log n)`, on the host in f64.
    ///
    /// # Errors
    ///
    /// No samples, a label that is not a class, another number of labels than of predictions, or an event that is not a
    /// class.
    pub fn errors(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<IciErrors> {
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let blocks = outcomes.isotonic();
        let distance = |sample: ScoredSample| {
            let block = &blocks[blocks.partition_point(|block| block.last < sample.score)];
            Distance {
                size: (sample.score - block.frequency()).abs(),
                weight: sample.weight,
            }
        };
        let mut distances: Vec<Distance> = outcomes.all().map(distance).collect();
        distances.sort_by(|a, b| a.size.total_cmp(&b.size));
        let total = outcomes.total();
        let percentile = |share: f64| {
            let mut below = 0.0;
            let reached = distances.iter().find(|distance| {
                below += distance.weight;
                below >= share * total * (1.0 - 1e-12) // the sum is rounded
            });
            (reached.or(distances.last())).map_or(0.0, |distance| distance.size)
        };
        let terms = distances.iter().map(|one| one.weight * one.size);
        let sum: f64 = terms.sum();
        Ok(IciErrors {
            mean: sum / total,
            median: percentile(0.5),
            ninetieth: percentile(0.9),
            largest: percentile(1.0),
        })
    }
}

impl Estimator for Ici {
    /// The mean distance, see [`errors`](Self::errors).
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(self.errors(predictions, labels)?.mean)
    }
}
