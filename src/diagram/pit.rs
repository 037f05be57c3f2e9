use serde::{Deserialize, Serialize};

use super::band::{Band, binomial_band, check_level, weighted_band};
use crate::{error::Result, estimator::regression::Pit};

/// The histogram of probability integral transforms, in bins of equal width, with the band of each bin:
/// what is uniform for a calibrated model (Dawid 1984; Gneiting, Balabdaoui, Raftery 2007).
///
/// A valley in the middle means that predictions are too certain, a hump that they are not certain enough,
/// and a slope that they are biased. The band is that of the count of a bin among independent uniform
/// numbers, from the binomial distribution: exact for one coordinate of independent samples. Errors of the coordinates of
/// a sample may depend on each other, so that the band of several coordinates is of as many independent numbers as there
/// are samples, each of which counts as often as there are coordinates: it covers whatever the dependence, and is too wide
/// where there is none. An end is up to one sample further out, as samples count by parts.
///
/// With weights a bar is the sum of the weights of its transforms, and the band is that of the weight of a bin among
/// independent uniform numbers with these weights, one for each sample, from 1,999 redraws. The band of as many samples as the effective
/// number would have the same variance, but not the same shape: one weight may be half of all.
///
/// For predictions with steps, and of draws, only transforms that are randomised are uniform,
/// [`Pit::randomised`]. A histogram inside the band does not prove that a model is calibrated, because it
/// averages over all predictions.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::Normal, estimator::regression::Pit, diagram::PitDiagram};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let targets = Tensor::<2>::zeros([40, 1], &Device::default());
/// let predictions = Normal::new(targets.clone() - 2.0, targets.ones_like()); // all too low
/// let diagram = PitDiagram::new(&Pit::new(&predictions, &targets)?, 10, 0.95)?;
/// assert_eq!(diagram.counts[9], 40);
/// assert!(diagram.band.upper < 40.0 && diagram.outside() == 10);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct PitDiagram {
    /// The coordinate of the targets, or none if all are counted together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<usize>,
    /// The number of transforms in each bin, right-closed, with 0 in the first.
    pub counts: Vec<usize>,
    /// The sum of the weights of the transforms in each bin, over the mean weight, if there are weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// The probability with which the bar of a bin lies in the band, or more, if the model is
    /// calibrated.
    pub level: f64,
    /// The least and the greatest bar inside the band, which is the same for all bins: a count, or a sum of weights over
    /// the mean weight.
    ///
    /// It holds for each bin separately: of 10 bins of a calibrated model, one may well be outside a band
    /// of 95 %.
    pub band: Band,
}

/// The band of counts of `n` samples of `d` coordinates without weights.
fn band_of_counts([n, d]: [usize; 2], bins: usize, level: f64) -> Band {
    let [lower, upper] = binomial_band(n, (bins as f64).recip(), level);
    // of d coordinates all counts but those of the first whole sample outside
    let ends = [(d * lower + 1).saturating_sub(d), d * upper + d - 1];
    ends.map(|count| count.min(n * d) as f64).into()
}

/// The band of the bars of a number of bins, of independent samples of `d` coordinates with these weights.
fn band_of_weights(weights: &[f64], d: usize, bins: usize, level: f64) -> Band {
    let shares = vec![(bins as f64).recip(); weights.len()];
    let Band { lower, upper } = weighted_band(&shares, weights, level);
    let total: f64 = weights.iter().sum();
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let (of_all, further) = (d as f64 * total, (d - 1) as f64 * least);
    Band {
        lower: (lower * of_all - further).max(0.0),
        upper: (upper * of_all + further).min(of_all),
    }
}

impl PitDiagram {
    /// Counts the transforms of all coordinates together.
    ///
    /// # Errors
    ///
    /// Fewer than two bins, or a level that is not between 0 and 1.
    pub fn new(pit: &Pit, bins: usize, level: f64) -> Result<Self> {
        Self::of(pit, None, bins, level)
    }

    /// Counts the transforms of one coordinate.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn of_coordinate(pit: &Pit, coordinate: usize, bins: usize, level: f64) -> Result<Self> {
        Self::of(pit, Some(coordinate), bins, level)
    }

    fn of(pit: &Pit, coordinate: Option<usize>, bins: usize, level: f64) -> Result<Self> {
        let coordinates = coordinate.map_or(0..pit.dimensions(), |one| one..one + 1);
        let d = coordinates.len();
        let (mut counts, mut weights) = (vec![0; bins], vec![0.0; bins]);
        for coordinate in coordinates {
            let histogram = pit.histogram(coordinate, bins)?;
            for (sum, count) in counts.iter_mut().zip(histogram.counts) {
                *sum += count;
            }
            for (sum, weight) in weights.iter_mut().zip(histogram.weights.iter().flatten()) {
                *sum += weight;
            }
        }
        check_level(level)?;
        let weights = pit.weights().are_given().then_some(weights);
        let n = counts.iter().sum::<usize>() / d;
        let band = if weights.is_some() {
            let of_samples: Vec<f64> = (0..n).map(|row| pit.weights().at(row)).collect();
            band_of_weights(&of_samples, d, bins, level)
        } else {
            band_of_counts([n, d], bins, level)
        };
        Ok(Self {
            coordinate,
            counts,
            weights,
            level,
            band,
        })
    }

    /// The number of transforms: samples, times coordinates where all are counted together.
    pub fn values(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The bar of a bin: its count, or the sum of its weights over the mean weight.
    ///
    /// # Panics
    ///
    /// If there is no such bin.
    pub fn bar(&self, bin: usize) -> f64 {
        (self.weights.as_ref()).map_or(self.counts[bin] as f64, |weights| weights[bin])
    }

    /// A bar, or an end of the band, as a density, relative to the mean bar: 1 if the model is calibrated.
    pub fn density(&self, bar: f64) -> f64 {
        bar * self.counts.len() as f64 / self.values() as f64
    }

    /// Returns whether the bar of a bin lies in the band.
    ///
    /// # Panics
    ///
    /// If there is no such bin.
    pub fn is_inside(&self, bin: usize) -> bool {
        self.band.contains_sum(self.bar(bin))
    }

    /// The number of bins outside the band.
    pub fn outside(&self) -> usize {
        let bins = 0..self.counts.len();
        bins.filter(|&bin| !self.is_inside(bin)).count()
    }
}
