use burn::{
    config::Config,
    tensor::{Int, Tensor},
};
use serde::{Deserialize, Serialize};

use super::band::{Band, check_level, consistency_band, weighted_band};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    estimator::{Binning, Event, EventBin, Outcomes, equal_width_bin},
};

/// The settings of a [`ReliabilityDiagram`]: event, bins, and level of the bands.
#[derive(Config, Debug, Copy, PartialEq)]
#[must_use]
pub struct Reliability {
    /// The event, by default that the most likely class is the right one.
    pub event: Event,
    /// The bins, by default 15 of equal width.
    #[config(default = "Binning::Uniform { bins: 15 }")]
    pub binning: Binning,
    /// The probability with which the frequency of a calibrated model lies in the band of a bin, at least,
    /// 0.95 by default.
    #[config(default = 0.95)]
    pub level: f64,
}

impl Default for Reliability {
    fn default() -> Self {
        Self::new(Event::TopLabel)
    }
}

impl Reliability {
    /// Makes the diagram of data.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: that of [`Binning::partition`], and `O(n_b·s_b)` for the band of a bin of `n_b` samples,
    /// with the standard deviation `s_b ≤ √n_b/2` of the number of times that the event occurs.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, an event that is
    /// not a class, bins as [`Binning::partition`] refuses them, or a level that is not between 0
    /// and 1.
    pub fn diagram(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<ReliabilityDiagram> {
        check_level(self.level)?;
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let (probability, weights) = (&outcomes.probability, &outcomes.weights);
        let partition = self.binning.partition_weighted(probability, 1, weights)?;
        let mut bins: Vec<_> = partition
            .iter()
            .map(|rows| self.bin(rows, &outcomes))
            .collect();
        bins.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
        Ok(ReliabilityDiagram {
            event: self.event,
            level: self.level,
            samples: predictions.len(),
            bins,
            histogram: self.histogram(probability),
        })
    }

    fn bin(&self, rows: &[usize], outcomes: &Outcomes) -> ReliabilityBin {
        let weights = &outcomes.weights;
        let members: Vec<f64> = rows.iter().map(|&row| outcomes.probability[row]).collect();
        let least = members.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = members.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (lower, upper) = match self.binning {
            Binning::Uniform { bins } => {
                let b = equal_width_bin(greatest, bins) as f64;
                (b / bins as f64, (b + 1.0) / bins as f64)
            }
            _ => (least, greatest),
        };
        let bin = EventBin::of(rows, |row| outcomes.sample(row));
        let band = if weights.are_given() {
            let of_rows: Vec<f64> = rows.iter().map(|&row| weights.at(row)).collect();
            weighted_band(&members, &of_rows, self.level)
        } else {
            consistency_band(&members, self.level)
        };
        ReliabilityBin {
            lower,
            upper,
            count: members.len(),
            weight: weights.are_given().then_some(bin.weight),
            confidence: bin.probability,
            frequency: bin.frequency,
            band,
        }
    }

    fn histogram(&self, probability: &[f64]) -> Vec<usize> {
        let bars = match self.binning {
            Binning::Uniform { bins } => bins.min(MOST_BARS),
            _ => 15,
        };
        let mut histogram = vec![0; bars];
        for &p in probability {
            histogram[equal_width_bin(p, bars)] += 1;
        }
        histogram
    }
}

/// More bars than this cannot be told apart.
const MOST_BARS: usize = 50;

/// A bin of a [`ReliabilityDiagram`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReliabilityBin {
    /// The lower end: the edge of a bin of equal width, the smallest probability in any other.
    pub lower: f64,
    /// The upper end, likewise.
    pub upper: f64,
    /// The number `n_b` of samples, at least 1.
    pub count: usize,
    /// The sum of their weights, over the mean weight of all samples, if there are weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Their mean predicted probability `r̄_b`.
    pub confidence: f64,
    /// The frequency of the event among them, `c̄_b`.
    pub frequency: f64,
    /// The consistency band: the smallest and the largest frequency of the central interval that holds that
    /// of a calibrated model with probability [`ReliabilityDiagram::level`] or more, given the predictions.
    ///
    /// It holds for each bin separately: of 20 bins of a calibrated model, one is expected outside a band
    /// of 95 %.
    pub band: Band,
}

impl ReliabilityBin {
    /// `c̄_b − r̄_b`: negative where the model is overconfident.
    pub fn gap(&self) -> f64 {
        self.frequency - self.confidence
    }

    /// Returns whether the frequency lies in the band.
    pub fn is_inside(&self) -> bool {
        self.band.contains_sum(self.frequency)
    }
}

/// The predicted probabilities of an event against its frequencies, bin by bin (DeGroot and
/// Fienberg 1983; Niculescu-Mizil and Caruana 2005), with consistency bands (Bröcker and
/// Smith 2007).
///
/// Where a bin lies off the diagonal and outside its band, the model is miscalibrated there; a point inside
/// its band does not show that it is calibrated. The diagram is about one event, and depends on the bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct ReliabilityDiagram {
    /// The event.
    pub event: Event,
    /// The probability of the bands.
    pub level: f64,
    /// The number `n` of samples.
    pub samples: usize,
    /// The occupied bins, by increasing probability.
    pub bins: Vec<ReliabilityBin>,
    /// The number of samples in bars of equal width from 0 to 1, right-closed: as many as there are
    /// bins of equal width, but at most 50; 15 for other bins.
    pub histogram: Vec<usize>,
}

impl ReliabilityDiagram {
    /// The expected calibration error in these bins, `Σ_b (n_b/n) |r̄_b − c̄_b|`: that of
    /// [`Ece`](crate::estimator::Ece) with the same event and bins.
    pub fn ece(&self) -> f64 {
        self.mean(|bin| bin.gap().abs())
    }

    /// The mean predicted probability of the event.
    pub fn confidence(&self) -> f64 {
        self.mean(|bin| bin.confidence)
    }

    /// The frequency of the event.
    pub fn frequency(&self) -> f64 {
        self.mean(|bin| bin.frequency)
    }

    /// The number of bins whose frequency is outside their band.
    pub fn outside(&self) -> usize {
        self.bins.iter().filter(|bin| !bin.is_inside()).count()
    }

    fn mean(&self, of: impl Fn(&ReliabilityBin) -> f64) -> f64 {
        let weight = |bin: &ReliabilityBin| bin.weight.unwrap_or(bin.count as f64);
        let weighted = self.bins.iter().map(|bin| weight(bin) * of(bin));
        weighted.sum::<f64>() / self.bins.iter().map(weight).sum::<f64>()
    }
}
