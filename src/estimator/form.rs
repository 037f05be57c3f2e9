use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, check_samples},
    ops::Pairing,
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
