use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Rows, Saved, check_counts, check_merge, check_rows, check_samples,
    format::saved,
    moments::{GREATEST, Moments},
};
use burn_calibration::{
    error::{Error, Result},
    score::{Divergence, MeanEstimate},
};

/// The mean of a proper score and its standard error, from `n`, `Σ w_i s_i`, `Σ w_i² s_i²` and sums of the weights.
///
/// The sums are exact, so that accumulators merge exactly: the mean `Σ w_i s_i/Σ w_i` is rounded once,
/// and the standard error, `√(Σ (s_i − s̄)² / n(n − 1))` without weights, loses nothing to cancellation.
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
/// Memory: 200 to 400 bytes, 1 KB with weights. Cost: `m` operations a sample, and 50 for the sums, 500 with
/// weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "S: Kept")]
pub struct ScoreAccumulator<S> {
    #[serde(with = "by_name")]
    score: S,
    classes: usize,
    infinite: u64,
    finite: Moments,
}

impl<S: Kept> ScoreAccumulator<S> {
    /// Starts the sums of a score of predictions over `classes` classes.
    pub fn new(score: S, classes: usize) -> Self {
        Self {
            score,
            classes,
            infinite: 0,
            finite: Moments::default(),
        }
    }

    /// The score.
    pub fn score(&self) -> &S {
        &self.score
    }

    /// The number of samples whose score is infinite.
    pub fn infinite(&self) -> u64 {
        self.infinite
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
        check_samples(self)?;
        match self.infinite {
            0 => Ok(self.finite.estimate()),
            infinite => Err(Error::InfiniteScores {
                score: self.score.name(),
                infinite,
                samples: self.samples(),
            }),
        }
    }

    fn check(&self) -> Result<(), String> {
        check_counts([self.infinite, self.finite.count])?;
        self.finite.check()
    }
}

impl<S: Kept> Accumulator for ScoreAccumulator<S> {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        check_rows(self, rows)?;
        for row in rows.iter() {
            match self.score.of(row.p, row.y, row.logarithm) {
                score if score <= GREATEST => self.finite.add(score, row.weight.as_slice()),
                _ => self.infinite += 1,
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_merge(self, other)?;
        self.infinite += other.infinite;
        self.finite.merge(&other.finite);
        Ok(())
    }

    fn samples(&self) -> u64 {
        self.finite.count + self.infinite
    }

    fn weighted(&self) -> Option<bool> {
        self.finite.weighted()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.finite.held()
    }
}

saved!(ScoreAccumulator<S>, of S, "accumulator of a proper score");

/// A score of class probabilities that an accumulator can keep.
pub trait Kept: Divergence + Clone + Default + PartialEq {}

impl<S: Divergence + Clone + Default + PartialEq> Kept for S {}

/// A score is saved by its name.
mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Kept;

    pub fn serialize<S: Kept, Out: Serializer>(score: &S, out: Out) -> Result<Out::Ok, Out::Error> {
        out.collect_str(score.name())
    }

    pub fn deserialize<'de, S: Kept, D: Deserializer<'de>>(source: D) -> Result<S, D::Error> {
        let (score, found) = (S::default(), String::deserialize(source)?);
        let expected = score.name();
        if found == expected {
            Ok(score)
        } else {
            let reason = format!("it holds the {found}, expected the {expected}");
            Err(D::Error::custom(reason))
        }
    }
}
