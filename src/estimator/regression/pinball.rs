use burn::tensor::Tensor;

use super::{
    checks::{ObservedMarginals, check_levels},
    quantile::usual_levels,
};
use crate::{
    distribution::Marginals,
    error::Result,
    estimator::{Estimator, Interval, MeanEstimate},
    host::tensor_like,
    score::BoundedMean,
};

/// The pinball score of predicted quantiles `q` at some levels `τ`: `max(τ(y − q), (τ − 1)(y − q))`,
/// averaged over levels and coordinates, in units of the targets.
///
/// Proper for the quantiles. Half the CRPS of a coordinate is its integral over all levels. The infimum of
/// its entropy is 0.
///
/// Source: Koenker and Bassett 1978.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Pinball {
    levels: Vec<f64>,
}

/// The levels are 0.05, 0.1, …, 0.95.
impl Default for Pinball {
    fn default() -> Self {
        Self {
            levels: usual_levels(),
        }
    }
}

impl Pinball {
    /// Takes the mean over the given levels.
    ///
    /// # Errors
    ///
    /// No levels, or one that is not between 0 and 1.
    pub fn new(levels: Vec<f64>) -> Result<Self> {
        check_levels(&levels)?;
        Ok(Self { levels })
    }

    /// The mean over the samples at each level, from data.
    pub fn by_level<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<Vec<MeanEstimate>> {
        let (plain, weights) = predictions.parted();
        let each = self.each(&plain, targets)?.into_iter();
        Ok(each
            .map(|values| MeanEstimate::weighted(&values, &weights))
            .collect())
    }

    /// The mean over samples and levels, with its standard error.
    pub fn mean<P: Marginals>(&self, predictions: &P, targets: &Tensor<2>) -> Result<MeanEstimate> {
        let (plain, weights) = predictions.parted();
        Ok(MeanEstimate::weighted(
            &self.values(&plain, targets)?,
            &weights,
        ))
    }

    /// The confidence interval of the mean over new samples, with the mean of the data, as
    /// [`Score::interval`](crate::score::Score::interval).
    ///
    /// # Errors
    ///
    /// As [`mean`](Self::mean), and a level that is not between 0 and 1.
    pub fn interval<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
        level: f64,
    ) -> Result<Interval> {
        let (plain, _) = predictions.parted();
        let scores = self.values(&plain, targets)?;
        let possible = |targets: &Tensor<2>| self.values(&plain, targets);
        BoundedMean::of_scores(predictions, scores, possible)?.interval(level)
    }

    /// The score of each sample, averaged over the levels.
    fn values<P: Marginals>(&self, predictions: &P, targets: &Tensor<2>) -> Result<Vec<f64>> {
        let each = self.each(predictions, targets)?;
        let sum = |i: usize| each.iter().map(|values| values[i]).sum::<f64>();
        let mean = |i: usize| sum(i) / each.len() as f64;
        Ok((0..each[0].len()).map(mean).collect())
    }

    /// The scores of the samples at each level.
    fn each<P: Marginals>(&self, predictions: &P, targets: &Tensor<2>) -> Result<Vec<Vec<f64>>> {
        let observed = ObservedMarginals::new(predictions, targets)?;
        let at_level = |&level: &f64| {
            observed.means(|at, y| {
                let above = y - observed.marginals.quantile(at, level);
                (level * above).max((level - 1.0) * above)
            })
        };
        Ok(self.levels.iter().map(at_level).collect())
    }
}

impl<P: Marginals> Estimator<P> for Pinball {
    fn estimate(&self, predictions: &P, targets: &Tensor<2>) -> Result<f64> {
        Ok(self.mean(predictions, targets)?.estimate)
    }
}

/// The pinball score of predicted quantiles, differentiable, averaged over the levels. The
/// subgradient of a target that equals its quantile is `½ − τ`.
///
/// # Shapes
///
/// - quantiles: `[n, L]`, at each of the levels
/// - targets: `[n]`
/// - output: `[n]`, in the dtype of the quantiles
///
/// # Panics
///
/// If there are not as many quantiles as levels, or targets as rows.
pub fn pinball(quantiles: Tensor<2>, targets: Tensor<1>, levels: &[f64]) -> Tensor<1> {
    let [n, l] = quantiles.dims();
    assert_eq!(l, levels.len(), "numbers of quantiles and of levels");
    assert_eq!([n], targets.dims(), "numbers of targets and of predictions");
    let slopes = levels.iter().map(|level| level - 0.5).collect();
    let slopes = tensor_like(slopes, [1, l], &quantiles);
    // max(τx, (τ − 1)x) = ½|x| + (τ − ½)x
    let above = targets.reshape([n, 1]) - quantiles; // [n, L]
    let scores = above.clone().abs() * 0.5 + above * slopes;
    scores.sum_dim(1).squeeze_dim(1) * (l as f64).recip()
}
