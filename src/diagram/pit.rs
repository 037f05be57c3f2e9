use serde::{Deserialize, Serialize};

use super::band::{binomial_band, check_level};
use crate::{error::Result, estimator::regression::Pit};

/// The histogram of probability integral transforms, in bins of equal width, with the band of each bin:
/// what is uniform for a calibrated model (Dawid 1984; Gneiting, Balabdaoui, Raftery 2007).
///
/// A valley in the middle means that predictions are too certain, a hump that they are not certain enough,
/// and a slope that they are biased. The band is that of the count of a bin among independent uniform
/// numbers, from the binomial distribution: exact for one coordinate of independent samples, and for all of
/// them where the predictions have independent coordinates, as normal and Laplace ones do.
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
/// assert!(diagram.band.1 < 40 && diagram.outside() == 10);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedPit")]
#[non_exhaustive]
pub struct PitDiagram {
    /// The coordinate of the targets, or none if all are counted together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<usize>,
    /// The number of transforms in each bin, right-closed, with 0 in the first.
    pub counts: Vec<usize>,
    /// The probability with which the count of a bin lies in the band, or more, if the model is
    /// calibrated.
    pub level: f64,
    /// The least and the greatest count inside the band, which is the same for all bins.
    ///
    /// It holds for each bin separately: of 10 bins of a calibrated model, one may well be outside a band
    /// of 95 %.
    pub band: (usize, usize),
}

/// What a saved diagram is made of: the band follows from it.
#[derive(Deserialize)]
struct SavedPit {
    coordinate: Option<usize>,
    counts: Vec<usize>,
    level: f64,
}

impl TryFrom<SavedPit> for PitDiagram {
    type Error = String;

    fn try_from(saved: SavedPit) -> Result<Self, String> {
        let values = (saved.counts.iter()).try_fold(0usize, |sum, &count| sum.checked_add(count));
        if saved.counts.len() < 2 || values.is_none_or(|values| values == 0) {
            return Err(format!(
                "the counts of a histogram are {:?}, expected two bins or more with a value",
                saved.counts
            ));
        }
        let diagram = Self::of(saved.counts, saved.coordinate, saved.level);
        diagram.map_err(|error| error.to_string())
    }
}

impl PitDiagram {
    /// Counts the transforms of all coordinates together.
    ///
    /// # Errors
    ///
    /// Fewer than two bins, or a level that is not between 0 and 1.
    pub fn new(pit: &Pit, bins: usize, level: f64) -> Result<Self> {
        let mut counts = vec![0; bins];
        for coordinate in 0..pit.dimensions() {
            let histogram = pit.histogram(coordinate, bins)?;
            let pairs = counts.iter_mut().zip(histogram.counts);
            pairs.for_each(|(sum, count)| *sum += count);
        }
        Self::of(counts, None, level)
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
        let histogram = pit.histogram(coordinate, bins)?;
        Self::of(histogram.counts, Some(coordinate), level)
    }

    fn of(counts: Vec<usize>, coordinate: Option<usize>, level: f64) -> Result<Self> {
        check_level(level)?;
        let values = counts.iter().sum();
        Ok(Self {
            band: binomial_band(values, (counts.len() as f64).recip(), level),
            coordinate,
            counts,
            level,
        })
    }

    /// The number of transforms: samples, times coordinates where all are counted together.
    pub fn values(&self) -> usize {
        self.counts.iter().sum()
    }

    /// A count as a density, relative to the mean count: 1 if the model is calibrated.
    pub fn density(&self, count: usize) -> f64 {
        count as f64 * self.counts.len() as f64 / self.values() as f64
    }

    /// Returns whether the count of a bin lies in the band.
    ///
    /// # Panics
    ///
    /// If there is no such bin.
    pub fn is_inside(&self, bin: usize) -> bool {
        (self.band.0..=self.band.1).contains(&self.counts[bin])
    }

    /// The number of bins outside the band.
    pub fn outside(&self) -> usize {
        let bins = 0..self.counts.len();
        bins.filter(|&bin| !self.is_inside(bin)).count()
    }
}
