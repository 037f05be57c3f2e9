use burn::{
    config::Config,
    tensor::{Int, Tensor},
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};

use super::band::{Band, band_of_redraws, check_level};
use crate::{
    distribution::{Categorical, Predictive, Weights},
    error::{Result, check_count},
    estimator::{Block, Event, pool},
    parallel,
    score::{Brier, Corp},
};

/// The settings of a [`CorpDiagram`]: event, level of the band, and redraws.
#[derive(Config, Debug, Copy, PartialEq)]
#[must_use]
pub struct CorpReliability {
    /// The event, by default that the most likely class is the right one.
    pub event: Event,
    /// The probability with which the regression of a calibrated model lies in the band at one
    /// probability, 0.95 by default.
    #[config(default = 0.95)]
    pub level: f64,
    /// The number of redraws of the outcomes, 399 by default.
    #[config(default = 399)]
    pub redraws: usize,
    /// The seed of the redraws (ChaCha12), 0 by default.
    #[config(default = 0)]
    pub seed: u64,
}

impl Default for CorpReliability {
    fn default() -> Self {
        Self::new(Event::TopLabel)
    }
}

impl CorpReliability {
    /// Makes the diagram of data.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m + n log n)`, and `n` operations a redraw.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, an event that is not a
    /// class, a level that is not between 0 and 1, or no redraws.
    pub fn diagram(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<CorpDiagram> {
        check_level(self.level)?;
        check_count("the number of redraws", self.redraws)?;
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let ties = outcomes.ties().into_iter();
        let groups: Vec<(f64, usize)> = ties.map(|ties| (ties.first, ties.samples)).collect();
        let band = self.band(&groups, &outcomes.sorted_weights());
        let step = |block: Block| {
            let inside = |point: &CorpBand| {
                let is_here = (block.first..=block.last).contains(&point.probability);
                !is_here || point.band.contains(block.frequency())
            };
            CorpStep {
                lower: block.first,
                upper: block.last,
                count: block.samples,
                frequency: block.frequency(),
                is_inside: band.iter().all(inside),
            }
        };
        Ok(CorpDiagram {
            event: self.event,
            level: self.level,
            samples: predictions.len(),
            decomposition: Corp::of(&Brier, self.event, predictions, labels)?,
            steps: outcomes.isotonic().into_iter().map(step).collect(),
            band,
        })
    }

    /// The band at some of the probabilities, from regressions of redrawn outcomes.
    fn band(&self, groups: &[(f64, usize)], weights: &Weights) -> Vec<CorpBand> {
        let points = places(groups.len());
        let mut rng = StdRng::seed_from_u64(self.seed);
        let seeds: Vec<u64> = (0..self.redraws).map(|_| rng.next_u64()).collect();
        let drawn: Vec<Vec<f64>> = parallel::map(seeds.len(), &|k| {
            let mut rng = StdRng::seed_from_u64(seeds[k]);
            regression((groups, weights), &points, &mut rng)
        });
        let point = |(at, &group): (usize, &usize)| {
            let mut values: Vec<f64> = drawn.iter().map(|values| values[at]).collect();
            CorpBand {
                probability: groups[group].0,
                band: band_of_redraws(&mut values, self.level),
            }
        };
        points.iter().enumerate().map(point).collect()
    }
}

/// The most probabilities at which the band is computed.
const POINTS: usize = 101;

/// Some of so many places, evenly, with the first and the last.
fn places(count: usize) -> Vec<usize> {
    if count <= POINTS {
        (0..count).collect()
    } else {
        (0..POINTS)
            .map(|k| k * (count - 1) / (POINTS - 1))
            .collect()
    }
}

/// The isotonic regression of outcomes that are drawn from the probabilities, at some groups.
fn regression(
    (groups, weights): (&[(f64, usize)], &Weights),
    points: &[usize],
    rng: &mut StdRng,
) -> Vec<f64> {
    let mut next = 0..;
    let blocks = pool(groups.iter().map(|&(r, samples)| {
        let mut sums = [0.0; 2];
        for sample in next.by_ref().take(samples) {
            let (weight, hit) = (weights.at(sample), rng.random::<f64>() < r);
            sums[0] += weight;
            sums[1] += if hit { weight } else { 0.0 };
        }
        Block::of_ties(r, samples, sums)
    }));
    let mut block = blocks.iter().peekable();
    let value = |&point: &usize| {
        let r = groups[point].0;
        while block.next_if(|block| block.last < r).is_some() {}
        block.peek().map_or(f64::NAN, |block| block.frequency())
    };
    points.iter().map(value).collect()
}

/// A step of the isotonic regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorpStep {
    /// The least probability.
    pub lower: f64,
    /// The greatest probability.
    pub upper: f64,
    /// The number of samples.
    pub count: usize,
    /// The frequency of the event among them: the regression.
    pub frequency: f64,
    /// Whether the frequency lies in the band, at all probabilities of the step at which the band is known.
    pub is_inside: bool,
}

/// The band at a probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorpBand {
    /// The probability, one of the predictions.
    pub probability: f64,
    /// The interval that holds the regression of a calibrated model there with probability
    /// [`CorpDiagram::level`] or more, given the predictions.
    pub band: Band,
}

/// The CORP reliability diagram (Dimitriadis, Gneiting, Jordan 2021): the isotonic regression of the
/// outcomes of an event on its predicted probabilities, without bins, with a consistency band.
///
/// The band is computed from outcomes that are drawn from the predictions. Where the regression leaves the
/// band, the model is miscalibrated. The band holds at one probability at a time. The decomposition of the
/// Brier score belongs to the same regression.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, diagram::CorpReliability};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // says 90 % each time, and is right half of the time
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 40], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2);
/// let diagram = CorpReliability::default().diagram(&predictions, &labels)?;
/// let step = &diagram.steps[0];
/// assert_eq!((step.count, step.frequency, step.is_inside), (40, 0.5, false));
/// assert!(diagram.band[0].band.lower > 0.7); // a calibrated model is right more often
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct CorpDiagram {
    /// The event.
    pub event: Event,
    /// The probability of the band.
    pub level: f64,
    /// The number `n` of samples.
    pub samples: usize,
    /// The decomposition of the Brier score.
    pub decomposition: Corp,
    /// The isotonic regression, by increasing probability.
    pub steps: Vec<CorpStep>,
    /// The band at up to 101 of the predicted probabilities.
    pub band: Vec<CorpBand>,
}

impl CorpDiagram {
    /// The number of steps that leave the band.
    pub fn outside(&self) -> usize {
        self.steps.iter().filter(|step| !step.is_inside).count()
    }
}
