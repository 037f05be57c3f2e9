use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};

use super::{JointKernel, PairMatrix};
use crate::{
    distribution::{Batch as _, Geometry},
    error::{Error, Result, check_samples},
    estimator::Estimator,
    kernel::Kernel,
    ops::{Computation, Pairing},
};

/// The estimators of the squared kernel calibration error (Widmann et al. 2019, Table 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkceForm {
    /// `n⁻² Σ_{i,j} h_ij`: at least 0 for a kernel that is
    /// [positive definite](crate::kernel::Kernel::is_positive_definite_on) on the predictions, biased
    /// upward; `n ≥ 1`.
    Biased,
    /// `2/(n(n−1)) Σ_{i<j} h_ij`: the U-statistic, unbiased with minimum variance, can be
    /// negative; `n ≥ 2`.
    Unbiased,
    /// The mean over `⌊n/B⌋` consecutive blocks of `B ≥ 2` samples of each block's U-statistic: unbiased,
    /// cost `O(n·B)`; an incomplete last block is left out. `B = 2` is the linear estimator, `B = n` the
    /// U-statistic.
    Block(usize),
}

impl SkceForm {
    /// The size of the blocks in a batch of so many samples: all samples where there are no blocks. None
    /// if there are no pairs.
    ///
    /// # Panics
    ///
    /// If blocks hold fewer than two samples.
    pub(crate) fn block_size(self, samples: usize) -> Option<usize> {
        match self {
            Self::Biased => (samples > 0).then_some(samples),
            _ if samples < 2 => None,
            Self::Unbiased => Some(samples),
            Self::Block(size) => {
                assert!(size >= 2, "blocks of {size} samples, expected at least 2");
                Some(size.min(samples))
            }
        }
    }

    /// The pairs that a fused pass over so many samples takes.
    pub(crate) fn pairing(self, samples: usize) -> Pairing {
        match self {
            Self::Biased => Pairing::All,
            _ => Pairing::Blocks {
                size: self.block_size(samples).unwrap_or(samples),
            },
        }
    }

    /// Checks that there are enough samples.
    pub(crate) fn check_size(self, samples: usize) -> Result<()> {
        match self {
            Self::Biased => Ok(()),
            Self::Block(size) if samples >= 2 && !(2..=samples).contains(&size) => {
                Err(Error::BlockSize { size, samples })
            }
            _ => check_samples("an unbiased estimate of the SKCE", 2, samples),
        }
    }
}

/// The squared kernel calibration error: `E[k(P, P') · δᵀδ']` over two independent samples, 0 if and only
/// if the model is calibrated (for a universal kernel such as the exponential one). For a
/// [`MatrixKernel`](crate::kernel::MatrixKernel), `E[k(P, P') · δᵀMδ']`.
///
/// Source: Widmann et al. 2019, section 4 and Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Skce<K = Kernel> {
    /// The kernel on predictions.
    pub kernel: K,
    /// The estimator.
    pub form: SkceForm,
    /// The computation, fused where possible by default.
    #[serde(default)]
    pub computation: Computation,
}

impl<K> Skce<K> {
    /// Creates an estimator that is fused where possible.
    pub fn new(kernel: K, form: SkceForm) -> Self {
        Self {
            kernel,
            form,
            computation: Computation::Auto,
        }
    }

    /// The biased estimator.
    pub fn biased(kernel: K) -> Self {
        Self::new(kernel, SkceForm::Biased)
    }

    /// The unbiased quadratic estimator.
    pub fn unbiased(kernel: K) -> Self {
        Self::new(kernel, SkceForm::Unbiased)
    }

    /// The unbiased linear estimator: blocks of two.
    pub fn linear(kernel: K) -> Self {
        Self::block(kernel, 2)
    }

    /// The unbiased estimator over blocks of `size` samples.
    pub fn block(kernel: K, size: usize) -> Self {
        Self::new(kernel, SkceForm::Block(size))
    }

    /// Sets whether the computation is fused or composed.
    pub fn with_computation(self, computation: Computation) -> Self {
        Self {
            computation,
            ..self
        }
    }

    /// Returns the estimate as a differentiable tensor, for training.
    ///
    /// A batch always has a value, even if [`estimate`](Estimator::estimate) would return an error for so
    /// few samples. A batch of fewer than two samples, such as the last one of an epoch, gives 0 with
    /// gradient 0 for the unbiased forms. A block larger than the batch is the whole batch.
    ///
    /// # Shapes
    ///
    /// - predictions, targets: `n` samples
    /// - output: `[1]`, in the dtype of the predictions
    ///
    /// Cost: `n²·m` operations for `m` classes or dimensions, `n·B·m` for blocks. For classes memory
    /// `O(n·m)` by the fused [`pair_statistic`](crate::ops::pair_statistic), in f32 and f64 (with a matrix
    /// [`residual_statistic`](crate::ops::residual_statistic), on the processor); for normal predictions of
    /// `d` coordinates `O(n·d)` by [`normal_statistic`](crate::ops::normal_statistic), for `κ(W₂/ν)` and a
    /// Gaussian kernel on targets, on the processor; for Laplace predictions on the line `O(n·r)` for `r`
    /// [features](crate::kernel::TargetKernel::residual_features); otherwise some `n × n` matrices, `n × B`
    /// for blocks, and of mixtures without features some of their components. A median bandwidth is
    /// detached. Mixtures solve a linear program for each pair on the host.
    ///
    /// # Panics
    ///
    /// If shapes or dtypes of predictions and targets do not fit, on labels that are no classes where they
    /// are on the host (elsewhere nothing is read back), on a block size below 2, on a kernel matrix of
    /// another number of classes, on a bandwidth or a length scale whose square is no number of the dtype (in f32
    /// outside 1e-18 to 1e18), or if a fused computation is asked for that does not exist.
    pub fn value<P: Geometry>(&self, predictions: &P, targets: &P::Targets) -> Tensor<1>
    where
        K: JointKernel<P>,
    {
        self.value_of_kept(predictions, targets, None)
    }

    /// Returns the value over the pairs of samples that count. A median bandwidth is that of these pairs.
    ///
    /// - kept: whether a sample counts, `[n]`; all if there is none
    pub(crate) fn value_of_kept<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1>
    where
        K: JointKernel<P>,
    {
        let (predictions, weights) = &predictions.batch_parts();
        predictions.assert_targets(targets);
        if self.form.block_size(predictions.len()).is_none() {
            return predictions.zero();
        }
        let weights = weights_of_kept(weights.clone(), kept.clone(), &predictions.parameter());
        let pairs = PairMatrix::unchecked(&self.kernel, self.computation, predictions, targets)
            .with_median_of(kept)
            .weighted_by(weights);
        let value = pairs.value(self.form);
        value.unwrap_or_else(|| panic!("{:?} has no fused path", self.kernel))
    }

    /// Returns the estimate from data whose unbiased forms have mean 0 if the model is calibrated, of
    /// [`Samples`](crate::distribution::Samples) of one dimension as well: [`estimate`](Estimator::estimate) takes
    /// their draws for the whole distribution, and is the larger the fewer there are. The estimate of `Samples` depends
    /// on the order of the draws of a prediction, because it compares their first half and takes expectations over the
    /// second. See [`PairMatrix::fair`].
    ///
    /// # Errors
    ///
    /// As [`estimate`](Estimator::estimate); one draw.
    pub fn fair_estimate<P: Geometry>(&self, predictions: &P, targets: &P::Targets) -> Result<f64>
    where
        K: JointKernel<P>,
    {
        let (plain, weights) = &predictions.parted();
        plain.check_targets(targets)?;
        if plain.pooled(targets).is_none() {
            return self.estimate(predictions, targets);
        }
        self.form.check_size(predictions.len())?;
        let pairs = PairMatrix::fair(&self.kernel, self.computation, plain, targets)?;
        pairs.weighted(weights).estimate(self.form)
    }
}

impl<P: Geometry, K: JointKernel<P>> Estimator<P> for Skce<K> {
    /// The estimate from data.
    ///
    /// Cost: `n²·m/2` operations for `m` classes in tiles (`n·B·m` for blocks), memory `O(n·m)`; a
    /// median bandwidth costs one pass more, see [`median_distance`](crate::kernel::median_distance).
    ///
    /// # Errors
    ///
    /// As [`Estimator::estimate`]; a kernel matrix of another number of classes, a block size outside
    /// `2..=n`, one sample for an unbiased form, or a fused computation that does not exist.
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        self.form.check_size(predictions.len())?;
        let (plain, weights) = predictions.parted();
        let pairs = PairMatrix::checked(&self.kernel, self.computation, &plain, targets)?;
        pairs.weighted(&weights).estimate(self.form)
    }
}

/// The mean of `h_ij` over all pairs of the biased form, over the pairs `i ≠ j` within blocks of the others:
/// `[blocks, B, B]` to `[1]`.
pub(super) fn mean(h: Tensor<3>, form: SkceForm) -> Tensor<1> {
    let [blocks, size, _] = h.dims();
    if form == SkceForm::Biased {
        return h.mean();
    }
    let pairs = (blocks * size * (size - 1)) as f64;
    let diagonal = diagonal(&h);
    h.mask_fill(diagonal, 0.0).sum() * pairs.recip()
}

/// The weights of samples, `[n, 1]`: 0 for those that do not count. None where all count alike.
pub(crate) fn weights_of_kept(
    weights: Option<Tensor<2>>,
    kept: Option<Tensor<1, Bool>>,
    like: &Tensor<2>,
) -> Option<Tensor<2>> {
    let Some(kept) = kept else {
        return weights;
    };
    let n = kept.dims()[0];
    let all = || Tensor::ones([n, 1], (&like.device(), like.dtype()));
    let dropped = kept.bool_not().reshape([n, 1]);
    Some(weights.unwrap_or_else(all).mask_fill(dropped, 0.0))
}

/// The diagonals of square matrices, `[blocks, B, B]`.
fn diagonal(h: &Tensor<3>) -> Tensor<3, Bool> {
    let [blocks, size, _] = h.dims();
    let diagonal = Tensor::<2>::eye(size, &h.device()).bool().unsqueeze::<3>();
    diagonal.expand([blocks, size, size])
}
