use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::pair::{self, Pairs, into_blocks};
use crate::{
    distribution::Categorical,
    error::{Error, Result},
    host::to_scalar,
    kernel::{ClassKernel, Kernel},
    ops::{Computation, Pairing, has_fused_pass, pair_statistic},
    tiles::{SIDE, upper_tiles},
};

/// Which estimator of the squared kernel calibration error (Widmann et al. 2019, Table 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkceForm {
    /// `n⁻² Σ_{i,j} h_ij`: at least 0 for a positive definite kernel, biased upward; `n ≥ 1`.
    Biased,
    /// `2/(n(n−1)) Σ_{i<j} h_ij`: the U-statistic, unbiased with minimum variance, can be
    /// negative; `n ≥ 2`.
    Unbiased,
    /// The mean over `⌊n/B⌋` consecutive blocks of `B ≥ 2` samples of each block's U-statistic:
    /// unbiased, cost `O(n·B)`; an incomplete last block is dropped. `B = 2` is the linear
    /// estimator, `B = n` the U-statistic.
    Block(usize),
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

impl<K: ClassKernel> Skce<K> {
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
    /// [`pair_statistic`](crate::ops::pair_statistic), which has scalar kernels with an exponential or
    /// Gaussian profile in f32 and f64; else a few `n × n` matrices, `n × B` for blocks.
    /// A median bandwidth takes such matrices but on the processor.
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
        let kernel = match (self.computation, self.kernel.fused()) {
            (Computation::Composed, _) | (Computation::Auto, None) => return None,
            (Computation::Auto, Some(_)) if !has_fused_pass(probabilities) => return None,
            (Computation::Fused, None) => panic!("{:?} has no fused path", self.kernel),
            (_, Some(kernel)) => kernel,
        };
        let n = probabilities.dims()[0];
        let pairing = match self.form {
            _ if n < 2 => return None,
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
        let scalar = self.kernel.scalar();
        let bandwidth = scalar.bandwidth_of_pairs(probabilities.clone(), size);
        let (points, labels) = (probabilities.clone(), labels.clone());
        Some(pair_statistic(points, labels, bandwidth, kernel, pairing))
    }

    fn block_mean(&self, points: Tensor<2>, residuals: Tensor<2>, size: usize) -> Tensor<1> {
        let (points, residuals) = (into_blocks(points, size), into_blocks(residuals, size));
        block_values(&self.kernel.scalar(), points, residuals).mean()
    }

    /// The estimate from data.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `n²·m/2` operations in tiles (`n·B·m` for blocks), memory `O(n·m)`; a median bandwidth
    /// costs one pass more, see [`median_distance`](crate::kernel::median_distance).
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, a bandwidth
    /// that is not positive, a kernel matrix of another number of classes, a block size outside
    /// `2..=n`, one sample for an unbiased form, or a fused computation that does not exist.
    pub fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.check_size(predictions.samples())?;
        self.estimate_pairs(&Pairs::new(&self.kernel, predictions, labels)?)
    }

    pub(crate) fn estimate_pairs(&self, pairs: &Pairs) -> Result<f64> {
        let n = pairs.samples();
        self.check_size(n)?;
        if self.kernel.fused().is_some() {
            let fixed = Skce::new(*pairs.kernel(), self.form).with_computation(self.computation);
            if let Some(value) = fixed.fused_value(pairs.points(), pairs.labels()) {
                return Ok(to_scalar(value));
            }
        } else if self.computation == Computation::Fused {
            return Err(Error::NoFusedPath {
                kernel: format!("{:?}", self.kernel),
            });
        }
        if let SkceForm::Block(size) = self.form {
            let (points, residuals) = pairs.blocks(size);
            return Ok(to_scalar(
                block_values(pairs.kernel(), points, residuals).mean(),
            ));
        }
        let total: f64 = upper_tiles(n, SIDE)
            .map(|tile| tile.multiplicity() * to_scalar(pairs.tile(&tile).sum()))
            .sum();
        Ok(match self.form {
            SkceForm::Biased => total / (n as f64 * n as f64),
            _ => (total - to_scalar(pairs.diagonal().sum())) / (n as f64 * (n as f64 - 1.0)),
        })
    }

    pub(crate) fn check_size(&self, samples: usize) -> Result<()> {
        match self.form {
            SkceForm::Biased => Ok(()),
            _ if samples < 2 => Err(Error::TooFewSamples {
                what: "an unbiased estimate of the SKCE",
                needed: 2,
                got: samples,
            }),
            SkceForm::Block(size) if !(2..=samples).contains(&size) => {
                Err(Error::BlockSize { size, samples })
            }
            _ => Ok(()),
        }
    }
}

/// The U-statistic `Σ_{i≠j} h_ij / (B(B−1))` of each block: `[blocks]`.
///
/// - points: `[blocks, B, d]`, residuals: `[blocks, B, m]`
pub(crate) fn block_values(kernel: &Kernel, points: Tensor<3>, residuals: Tensor<3>) -> Tensor<1> {
    let [blocks, size, _] = points.dims();
    let diagonal = pair::diagonal(residuals.clone()).sum_dim(1); // [blocks, 1, 1]
    let total = pair::within(kernel, points, residuals).sum_dims(&[1, 2]); // [blocks, 1, 1]
    (total - diagonal).reshape([blocks]) * ((size * (size - 1)) as f64).recip()
}
