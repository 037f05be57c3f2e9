//! Weights of samples in the pair statistic.

use std::ops::Range;

use burn::tensor::{Tensor, s};

use super::PairMatrix;
use crate::{
    distribution::{Geometry, Predictive, Weights, in_batches},
    estimator::{SkceForm, road::Road},
};

impl<P: Geometry> PairMatrix<'_, P> {
    /// The matrix of `w_i w_j h_ij`, whose means are over `w_i w_j`. Rows of residuals are multiplied by the weights.
    pub(crate) fn weighted(self, weights: &Weights) -> Self {
        let column = weights.column(&self.predictions.parameter());
        self.weighted_by(column)
    }

    /// As [`weighted`](Self::weighted), by a column on the device, `[n, 1]`.
    pub(crate) fn weighted_by(self, weights: Option<Tensor<2>>) -> Self {
        let Some(weights) = weights else {
            return self;
        };
        let road = match self.road {
            Road::Dense(None) => None,
            _ => {
                let sets = std::slice::from_ref(&self.targets);
                self.on_targets.residual_features(&self.predictions, sets)
            }
        };
        let rows = road.and_then(|rows| rows.into_iter().next());
        Self {
            road: rows.map_or(Road::Dense(None), |rows| Road::Rows(rows * weights.clone())),
            weights: Some(weights),
            ..self
        }
    }

    /// `w_i w_j` between samples in batches, `[batches, n, k]`, where they are not in the rows of residuals.
    pub(super) fn weights_of_pairs(
        &self,
        ranges: [Range<usize>; 2],
        batches: usize,
    ) -> Option<Tensor<3>> {
        let weights = self.weights.as_ref();
        let weights = weights.filter(|_| matches!(self.road, Road::Dense(_)))?;
        let [rows, columns] = ranges.map(|at| in_batches(weights.clone().slice(at), batches));
        Some(rows.matmul(columns.transpose()))
    }

    /// The weight of all pairs of a form over their number, `[1]`.
    pub(super) fn share(&self, form: SkceForm) -> Option<Tensor<1>> {
        let weights = self.weights.clone()?;
        let size = form.block_size(self.samples())?;
        let share = if form == SkceForm::Biased {
            weights.mean().square()
        } else {
            let blocks = self.samples() / size;
            let weights = weights.slice(0..blocks * size).reshape([blocks, size]);
            // twice each weight times those before it: the square of the sum less the squares would cancel
            let before = weights.clone().cumsum(1).slice(s![.., ..size as i32 - 1]);
            let pairs = before * weights.slice(s![.., 1..]);
            pairs.sum() * (2.0 / (blocks * size * (size - 1)) as f64)
        };
        let none = share.clone().equal_elem(0.0);
        Some(share.mask_fill(none, 1.0))
    }

    /// The weighted means of `h` over the pairs `i ≠ j` of each of these blocks, of samples with positive weights.
    ///
    /// # Panics
    ///
    /// If there are not as many weights as samples.
    pub fn weighted_block_estimates(self, size: usize, weights: &[f64]) -> Vec<f64> {
        assert_eq!(weights.len(), self.samples(), "a weight for each sample");
        let pairs = self.weighted(&Weights::new(weights));
        pairs.unbiased_values(SkceForm::Block(size)).values
    }

    /// Values whose mean is the unbiased SKCE, and whose sampling error is that of their mean: the block estimates,
    /// or the pseudo-values of the jackknife, `n U − (n−1) U_(−i) = (2 r_i − n U)/(n − 2)` for row sums `r` of at
    /// least three samples.
    pub(crate) fn unbiased_values(&self, form: SkceForm) -> UnbiasedValues {
        let weights = Weights::of(self.weights.clone());
        if let SkceForm::Block(size) = form {
            return block_values(&self.block_estimates(size), &weights, size);
        }
        let ((sums, squares), n) = (self.row_sums_and_squares(), self.samples());
        // U + 2 (r_i − (W − w_i) U)/(W − 2 Σw²/W) with r_i = Σ_j w_j h_ij, whose weighted mean is U: the pseudo-values
        // where each weight is 1
        let total = weights.total(n);
        let estimate = sums.iter().sum::<f64>() / weights.pairs(n);
        let scale = total - 2.0 * weights.squares(n) / total;
        let value =
            |(sum, w): (&f64, f64)| estimate + 2.0 * (sum / w - (total - w) * estimate) / scale;
        UnbiasedValues {
            values: sums.iter().zip(weights.all(n)).map(value).collect(),
            weights,
            squares: Some(squares),
        }
    }
}

/// Values whose weighted mean is the unbiased SKCE.
pub(crate) struct UnbiasedValues {
    pub values: Vec<f64>,
    pub weights: Weights,
    /// `Σ_{i≠j} h_ij²`; None of blocks.
    pub squares: Option<f64>,
}

/// The weighted means within blocks of their sums of `w_i w_j h_ij` over the number of pairs, and the weights of the
/// blocks.
fn block_values(sums: &[f64], weights: &Weights, size: usize) -> UnbiasedValues {
    let pairs = (size * (size - 1)) as f64;
    let share = |block: usize| weights.pairs_within(block * size..(block + 1) * size) / pairs;
    let shares: Vec<f64> = (0..sums.len()).map(share).collect();
    let means = sums.iter().zip(&shares).map(|(sum, share)| sum / share);
    UnbiasedValues {
        values: means.collect(),
        weights: Weights::new(&shares),
        squares: None,
    }
}
