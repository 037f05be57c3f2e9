use burn::tensor::{Int, Tensor};
use rand::{Rng, RngExt};

use super::{
    CalibrationTest, Resample, Statistic, TestOutcome, label_sampler::LabelSampler, redraw,
};
use crate::{distribution::Categorical, error::Result};

/// Consistency resampling of any [`Statistic`]: resamples the predictions with replacement, and
/// draws the label of each from it.
///
/// Each replicate is a data set of the size of the given one, from its predictions, under the
/// hypothesis. The p-value `(1 + #{T* ≥ T})/(1 + R)` is asymptotically valid for a
/// statistic that converges; an ECE of the full vector in many bins does not, and calibrated models
/// are rejected far too often (docs/paper_widmann2019.md): use the exact test for it. Unlike
/// [`ExactTest`](super::ExactTest) it takes the spread of the predictions into account as well,
/// which says what the statistic would be on other data; to test the hypothesis that one is exact,
/// and preferable. Bröcker, Smith: *Increasing the reliability of reliability diagrams*, 2007.
///
/// A resample repeats predictions. A statistic that depends on how often they coincide (a median
/// bandwidth, bins of equal mass) differs for that reason as well; the quadratic SKCE keeps the
/// bandwidth of the data.
///
/// Cost: as [`ExactTest`](super::ExactTest).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConsistencyTest<S> {
    /// The statistic.
    pub statistic: S,
    /// The number `R` of replicates, 1000 by default.
    pub replicates: usize,
}

impl<S: Statistic> ConsistencyTest<S> {
    /// With 1000 replicates.
    pub fn new(statistic: S) -> Self {
        Self {
            statistic,
            replicates: 1000,
        }
    }

    /// With another number of replicates.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }
}

impl<S: Statistic> CalibrationTest for ConsistencyTest<S> {
    /// The outcome; the statistic is the estimate.
    ///
    /// # Errors
    ///
    /// As [`Statistic::estimate`]; no replicates, or a statistic that is NaN.
    fn evaluate(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let (n, sampler) = (predictions.samples(), LabelSampler::new(predictions));
        let redraw = || {
            let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
            let labels = rows.iter().map(|&row| sampler.draw(row, rng)).collect();
            Resample {
                rows: Some(rows),
                labels,
            }
        };
        redraw::evaluate(
            "consistency resampling",
            &self.statistic,
            predictions,
            labels,
            self.replicates,
            redraw,
        )
    }
}
