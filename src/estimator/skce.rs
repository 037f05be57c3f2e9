use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{
    JointKernel, PairMatrix,
    pair::{self, into_blocks},
};
use crate::{
    distribution::{Predictive, Targets},
    error::{Error, Result},
    kernel::{ClassKernel, Kernel},
    ops::{
        Computation, PairKernel, Pairing, has_fused_pass, is_on_host, pair_statistic,
        residual_statistic,
    },
};

/// Which estimator of the squared kernel calibration error (Widmann et al. 2019, Table 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkceForm {
    /// `n⁻² Σ_{i,j} h_ij`: at least 0 for a kernel that is
    /// [positive definite](crate::kernel::Kernel::is_positive_definite_on) on the predictions, biased
    /// upward; `n ≥ 1`.
    Biased,
    /// `2/(n(n−1)) Σ_{i<j} h_ij`: the U-statistic, unbiased with minimum variance, can be
    /// negative; `n ≥ 2`.
    Unbiased,
    /// The mean over `⌊n/B⌋` consecutive blocks of `B ≥ 2` samples of each block's U-statistic:
    /// unbiased, cost `O(n·B)`; an incomplete last block is dropped. `B = 2` is the linear
    /// estimator, `B = n` the U-statistic.
    Block(usize),
}

impl SkceForm {
    /// Whether there are enough samples.
    pub(crate) fn check_size(self, samples: usize) -> Result<()> {
        match self {
            Self::Biased => Ok(()),
            _ if samples < 2 => Err(Error::TooFewSamples {
                what: "an unbiased estimate of the SKCE",
                needed: 2,
                got: samples,
            }),
            Self::Block(size) if !(2..=samples).contains(&size) => {
                Err(Error::BlockSize { size, samples })
            }
            _ => Ok(()),
        }
    }
}

/// The squared kernel calibration error: `E[k(P, P') · δᵀδ']` over two independent samples, 0 if
/// and only if the model is calibrated (for a universal kernel such as the exponential one). Of a
/// [`MatrixKernel`](crate::kernel::MatrixKernel), `E[k(P, P') · δᵀMδ']`.
///
/// Widmann, Lindsten, Zachariah: *Calibration tests in multi-class classification: a unifying
/// framework*, 2019, section 4 and Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Skce<K = Kernel> {
    /// The kernel on predictions.
    pub kernel: K,
    /// The estimator.
    pub form: SkceForm,
    /// Fused where possible by default.
    #[serde(default)]
    pub computation: Computation,
}

impl<K> Skce<K> {
    /// An estimator, fused where possible.
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

    /// The same estimator, fused or composed.
    pub fn with_computation(self, computation: Computation) -> Self {
        Self {
            computation,
            ..self
        }
    }

    /// The estimate of any kind of predictions as a differentiable tensor, for training; composed of
    /// tensor operations. Of too small batches as [`value`](Self::value), which is that of classes.
    ///
    /// # Shapes
    ///
    /// - predictions, targets: `n` samples (not checked: nothing is read back)
    /// - output: `[1]`, in the dtype of the predictions
    ///
    /// Cost: some `n²·d` operations for targets of `ℝ^d`, `n·B·d` for blocks, and memory for as many
    /// numbers while gradients are recorded. A median bandwidth is detached. Mixtures solve a linear
    /// program for each pair on the host.
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and targets differ, or on a block size below 2.
    pub fn value_of<P: Predictive>(&self, predictions: &P, targets: &P::Targets) -> Tensor<1>
    where
        K: JointKernel<P>,
    {
        let n = predictions.samples();
        assert_eq!(n, targets.samples(), "numbers of predictions and targets");
        let size = match self.form {
            SkceForm::Biased if n > 0 => {
                return self.kernel.h(predictions, targets, 1).mean();
            }
            SkceForm::Unbiased if n > 1 => n,
            SkceForm::Block(size) if n > 1 => {
                assert!(size >= 2, "blocks of {size} samples, expected at least 2");
                size.min(n)
            }
            _ => {
                let options = (&predictions.device(), predictions.dtype());
                return Tensor::zeros([1], options);
            }
        };
        let blocks = n / size;
        let predictions = predictions.slice_rows(0..blocks * size);
        let targets = targets.slice_rows(0..blocks * size);
        let h = self.kernel.h(&predictions, &targets, blocks); // [blocks, B, B]
        let diagonal = Tensor::<2>::eye(size, &h.device()).bool().unsqueeze::<3>();
        let pairs = (blocks * size * (size - 1)) as f64;
        h.mask_fill(diagonal.expand([blocks, size, size]), 0.0)
            .sum()
            * pairs.recip()
    }

    /// The estimate from data.
    ///
    /// # Shapes
    ///
    /// - predictions, targets: `n` samples, of classes or whatever the kernel is for
    ///
    /// Cost: `n²·m/2` operations for `m` classes in tiles (`n·B·m` for blocks), memory `O(n·m)`; a
    /// median bandwidth costs one pass more, see [`median_distance`](crate::kernel::median_distance).
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, as a label that is not a class; another number of
    /// targets than of predictions, a bandwidth that is not positive, a kernel matrix of another
    /// number of classes, a block size outside `2..=n`, one sample for an unbiased form, or a fused
    /// computation that does not exist.
    pub fn estimate<P: Predictive>(&self, predictions: &P, targets: &P::Targets) -> Result<f64>
    where
        K: JointKernel<P>,
    {
        self.form.check_size(predictions.samples())?;
        let pairs = self.kernel.pairs(predictions, targets)?;
        let pairs = pairs.with_computation(self.computation);
        pairs.estimate(self.form, self.computation)
    }
}

impl<K: ClassKernel> Skce<K> {
    /// The estimate as a differentiable tensor, for training.
    ///
    /// Where data would be an error, a batch has a value: fewer than two samples give 0 with
    /// gradient 0 for the unbiased forms (the last batch of an epoch may be that small), and a
    /// block larger than the batch is the whole batch.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`
    /// - labels: `[n]`, classes in `0..m` (not checked: nothing is read back)
    /// - output: `[1]`, in the dtype of the probabilities
    ///
    /// Cost: `n²·m` operations, `n·B·m` for blocks. Memory `O(n·m)` by the fused
    /// [`pair_statistic`](crate::ops::pair_statistic), which has exponential and Gaussian profiles in
    /// f32 and f64 (with a matrix [`residual_statistic`](crate::ops::residual_statistic), on the host); else a few `n × n`
    /// matrices, `n × B` for blocks.
    ///
    /// # Panics
    ///
    /// If the numbers of probabilities and labels differ, on a block size below 2, on a kernel
    /// matrix of another number of classes, or if a fused computation is asked for that does not
    /// exist.
    pub fn value(&self, probabilities: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        let [n, _] = probabilities.dims();
        assert_eq!(
            n,
            labels.dims()[0],
            "{n} predictions but {} labels",
            labels.dims()[0]
        );
        if let Some(value) = self.fused_value(&probabilities, &labels) {
            return value;
        }
        let residuals = pair::residuals(&self.kernel, probabilities.clone(), labels);
        match self.form {
            SkceForm::Biased if n > 0 => pair::within(
                &self.kernel.scalar(),
                probabilities.unsqueeze(),
                residuals.unsqueeze(),
            )
            .mean(),
            SkceForm::Unbiased if n > 1 => self.block_mean(probabilities, residuals, n),
            SkceForm::Block(size) if n > 1 => {
                assert!(size >= 2, "blocks of {size} samples, expected at least 2");
                self.block_mean(probabilities, residuals, size.min(n))
            }
            _ => probabilities.sum() * 0.0,
        }
    }

    /// None if the computation is composed, or there are no pairs.
    fn fused_value(&self, probabilities: &Tensor<2>, labels: &Tensor<1, Int>) -> Option<Tensor<1>> {
        let fused = match (self.computation, self.kernel.fused()) {
            (Computation::Composed, _) | (Computation::Auto, None) => return None,
            (Computation::Fused, None) => panic!("{:?} has no fused path", self.kernel),
            (_, Some(fused)) => fused,
        };
        let residuals = match self.kernel.matrix() {
            None => Residuals::OfLabels(labels.clone()),
            Some(_) if self.computation == Computation::Auto && !is_on_host(probabilities) => {
                return None;
            }
            Some(_) => {
                let (p, labels) = (probabilities.clone(), labels.clone());
                Residuals::Rows(pair::residuals(&self.kernel, p, labels))
            }
        };
        let pass = FusedPass {
            kernel: self.kernel.scalar(),
            fused,
            form: self.form,
            computation: self.computation,
        };
        pass.value(probabilities, residuals)
    }

    fn block_mean(&self, points: Tensor<2>, residuals: Tensor<2>, size: usize) -> Tensor<1> {
        let (points, residuals) = (into_blocks(points, size), into_blocks(residuals, size));
        block_values(&self.kernel.scalar(), points, residuals).mean()
    }
}

/// The U-statistic `Σ_{i≠j} h_ij / (B(B−1))` of each block: `[blocks]`.
///
/// - points: `[blocks, B, d]`, residuals: `[blocks, B, m]`
fn block_values(kernel: &Kernel, points: Tensor<3>, residuals: Tensor<3>) -> Tensor<1> {
    let [blocks, size, _] = points.dims();
    let diagonal = pair::diagonal(residuals.clone()).sum_dim(1); // [blocks, 1, 1]
    let total = pair::within(kernel, points, residuals).sum_dims(&[1, 2]); // [blocks, 1, 1]
    (total - diagonal).reshape([blocks]) * ((size * (size - 1)) as f64).recip()
}

/// What the inner products are of.
pub(super) enum Residuals {
    /// `e_y − p`.
    OfLabels(Tensor<1, Int>),
    /// `[n, m]`
    Rows(Tensor<2>),
}

/// The SKCE by a fused pass.
pub(super) struct FusedPass {
    pub kernel: Kernel,
    /// The same as the pass knows it.
    pub fused: PairKernel,
    pub form: SkceForm,
    pub computation: Computation,
}

impl FusedPass {
    /// None if the computation is composed, or there are no pairs.
    pub fn value(&self, points: &Tensor<2>, residuals: Residuals) -> Option<Tensor<1>> {
        let n = points.dims()[0];
        let exists = match residuals {
            Residuals::OfLabels(_) => has_fused_pass(points),
            Residuals::Rows(_) => is_on_host(points),
        };
        match self.computation {
            _ if n < 2 => return None,
            Computation::Composed => return None,
            Computation::Auto if !exists => return None,
            _ => (),
        }
        let pairing = match self.form {
            SkceForm::Biased => Pairing::All,
            SkceForm::Unbiased => Pairing::Blocks { size: n },
            SkceForm::Block(size) => {
                assert!(size >= 2, "blocks of {size} samples, expected at least 2");
                Pairing::Blocks { size: size.min(n) }
            }
        };
        let size = match pairing {
            Pairing::All => n,
            Pairing::Blocks { size } => size,
        };
        let points = points.clone();
        let bandwidth = self.kernel.bandwidth_of_pairs(points.clone(), size);
        Some(match residuals {
            Residuals::OfLabels(labels) => {
                pair_statistic(points, labels, bandwidth, self.fused, pairing)
            }
            Residuals::Rows(rows) => {
                residual_statistic(points, rows, bandwidth, self.fused, pairing)
            }
        })
    }
}
