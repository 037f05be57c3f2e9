use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Observations, Rows, Saved,
    format::saved,
    moments::{GREATEST, Moments},
};
use burn_calibration::{
    error::{Error, Result},
    score::{Divergence, MeanEstimate},
};

/// The mean of a proper score `Σ w_i s_i/Σ w_i` and its standard error, `√(Σ (s_i − s̄)² / n(n − 1))` without weights,
/// from sums that merge.
///
/// Without weights it is [`Score::upper_bound`](burn_calibration::score::Score::upper_bound) of all predictions
/// together. With weights the mean is as well. Its standard error is the root of
///
/// ```text
/// Σ w²(s − s̄)² / (W² − 2 W Σw³/Σw² + Σw²),   W = Σ w,
/// ```
///
/// whose square is unbiased if weights do not depend on scores; that of
/// [`MeanEstimate::weighted`] is the jackknife's, which needs all samples at once.
///
/// Log scores above `10¹⁰⁰`, so those of observed classes with probability 0, count as infinite and are left
/// out of the sums.
///
/// Memory: 200 bytes. Cost: `m` operations a sample, and some 500 for the sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "S: Kept")]
pub struct ScoreAccumulator<S> {
    #[serde(skip)]
    score: S,
    /// The score on file.
    #[serde(rename = "score")]
    name: String,
    observations: Observations,
    finite: Moments,
}

impl<S: Kept> ScoreAccumulator<S> {
    /// Starts the sums of a score of predictions over `classes` classes.
    pub fn new(score: S, classes: usize) -> Self {
        Self {
            name: score.name().into(),
            score,
            observations: Observations::none(classes),
            finite: Moments::default(),
        }
    }

    /// The score.
    pub fn score(&self) -> &S {
        &self.score
    }

    /// The number of samples whose score is infinite.
    pub fn infinite(&self) -> u64 {
        self.observations.samples - self.finite.count
    }

    /// The sum of the weights of the samples with a finite score: their number where there are no weights.
    pub fn weight(&self) -> f64 {
        self.finite.weight()
    }

    /// The mean with its standard error.
    ///
    /// # Errors
    ///
    /// No samples, or [`Error::InfiniteScores`].
    pub fn mean(&self) -> Result<MeanEstimate> {
        self.observations.check_any()?;
        match self.infinite() {
            0 => Ok(self.finite.estimate()),
            infinite => Err(Error::InfiniteScores {
                score: self.score.name(),
                infinite,
                samples: self.samples(),
            }),
        }
    }

    fn check(&self) -> Result<(), String> {
        let (found, expected) = (&self.name, self.score.name());
        if found != expected {
            return Err(format!("it holds the {found}, expected the {expected}"));
        }
        self.observations.check()?;
        if self.finite.count > self.observations.samples {
            return Err("it has more scores than samples".into());
        }
        self.finite.check()
    }
}

impl<S: Kept> Accumulator for ScoreAccumulator<S> {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        self.observations = self.observations.with_rows(rows)?;
        for row in rows.iter() {
            let score = self.score.of(row.p, row.y, row.logarithm);
            if score <= GREATEST {
                self.finite.add(score, row.weight);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.observations = self.observations.with(other.observations)?;
        self.finite.merge(&other.finite);
        Ok(())
    }

    fn observations(&self) -> Observations {
        self.observations
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

saved!(ScoreAccumulator<S>, of S, "accumulator of a proper score");

/// A score of class probabilities that an accumulator can keep.
pub trait Kept: Divergence + Clone + Default + PartialEq {}

impl<S: Divergence + Clone + Default + PartialEq> Kept for S {}
