use rand::Rng;
use statrs::{
    distribution::{ContinuousCDF, Normal},
    statistics::Statistics,
};

use super::{CalibrationTest, TestOutcome, check_fair, check_unweighted};
use crate::{
    distribution::Geometry,
    error::{Error, Result},
    estimator::{JointKernel, PairMatrix, SkceForm, student},
    kernel::Kernel,
    ops::Computation,
};

/// The asymptotic test of the block estimator of the SKCE: `z = √N · mean/sd` over the `N = ⌊n/B⌋`
/// block estimates, against the upper tail of the normal distribution, for few blocks of Student's; `sd`
/// is the sample standard deviation, with the divisor `N − 1`, in the statistic, the p-value and the
/// [`standard_error`](TestOutcome::standard_error). The published code divides by `N`, which makes `z`
/// larger by the factor `√(N/(N − 1))`.
///
/// With `B = 2` the linear test (Widmann et al. 2019, Lemma 3 and Corollary G.1; Widmann et al.
/// 2021, Remark B.1). It needs no resampling, but has little power for small blocks, and the normal
/// approximation needs many blocks: choose `B` so that `N ≥ 50` or so. The outcome has a
/// [`standard_error`](TestOutcome::standard_error) and a one-sided confidence interval of the
/// error, [`lower_bound`](TestOutcome::lower_bound), and a [`caveat`](TestOutcome::caveat) where there
/// are fewer than [`TestOutcome::FEWEST_BLOCKS`] blocks, or few errors are expected.
///
/// **Few blocks.** With fewer than 30 the distribution of `z` is Student's with `N − 1` degrees of freedom.
/// It keeps the level for confident predictions, where the normal distribution does not. For others it is
/// conservative, because block estimates are skewed, so their mean and standard deviation are dependent:
/// `docs/levels.md` compares both.
///
/// For [`Samples`](crate::distribution::Samples) of one dimension one half of the draws is compared, the
/// other is the prediction ([`PairMatrix::fair`]), so that block estimates of a calibrated model
/// have mean 0. Draws of several dimensions are an error.
///
/// Cost: `n·B·m` operations; memory `O(n·m)` and a fixed number of kernel values, whatever `B`.
/// A median bandwidth is over all pairs, `O(n²)`: fix it for large `n`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct AsymptoticBlockSkceTest<K = Kernel> {
    /// The kernel: on class predictions, or a [tensor product](crate::kernel::TensorKernel).
    pub kernel: K,
    /// The number `B ≥ 2` of samples in a block.
    pub size: usize,
}

impl<K> AsymptoticBlockSkceTest<K> {
    /// Creates the test with blocks of `size` samples.
    pub fn new(kernel: K, size: usize) -> Self {
        Self { kernel, size }
    }

    /// Creates the test with blocks of two samples.
    pub fn linear(kernel: K) -> Self {
        Self::new(kernel, 2)
    }

    /// The outcome of block estimates from their mean and their standard deviation, with divisor `N − 1`,
    /// for example from merged sums.
    ///
    /// # Errors
    ///
    /// Fewer than two blocks, or [`Error::ZeroVariance`] if the deviation is 0.
    pub fn from_moments(
        &self,
        mean: f64,
        deviation: f64,
        blocks: usize,
        samples: usize,
    ) -> Result<TestOutcome> {
        check_blocks(blocks, self.size, samples)?;
        if deviation == 0.0 {
            return Err(Error::ZeroVariance {
                blocks,
                value: mean,
            });
        }
        let standard_error = deviation / (blocks as f64).sqrt();
        let statistic = mean / standard_error;
        let tail = match few_blocks(blocks) {
            Some(freedom) => student::upper_tail(statistic, freedom),
            None => Normal::standard().sf(statistic),
        };
        Ok(
            TestOutcome::asymptotic(NAME, samples, mean, statistic, tail)
                .with_standardised(statistic)
                .with_blocks(blocks, standard_error),
        )
    }
}

/// Checks that there are two blocks.
fn check_blocks(blocks: usize, size: usize, samples: usize) -> Result<()> {
    match blocks {
        0 | 1 => Err(Error::TooFewSamples {
            what: "the asymptotic test of two blocks",
            needed: 2 * size,
            got: samples,
        }),
        _ => Ok(()),
    }
}

impl<P: Geometry, K: JointKernel<P>> CalibrationTest<P> for AsymptoticBlockSkceTest<K> {
    /// The outcome; nothing is drawn from the generator. The statistic is `z`.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::outcome`]; a block size outside `2..=n`, fewer than two blocks, or
    /// [`Error::ZeroVariance`] if all blocks have the same estimate.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        _rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        check_unweighted(predictions, NAME)?;
        let n = predictions.len();
        SkceForm::Block(self.size).check_size(n)?;
        check_blocks(n / self.size, self.size, n)?;
        predictions.check_targets(targets)?;
        check_fair(predictions, targets, NAME)?;
        let pairs = PairMatrix::fair(&self.kernel, Computation::Auto, predictions, targets)?;
        let values = pairs.block_estimates(self.size);
        let blocks = values.len();
        let estimate = values.as_slice().mean();
        let deviation = if values.iter().all(|&value| value == values[0]) {
            0.0
        } else {
            values.as_slice().std_dev()
        };
        let outcome = self.from_moments(estimate, deviation, blocks, n)?;
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}

const NAME: &str = "asymptotic test of the block SKCE";

/// The degrees of freedom of Student's distribution, where the blocks are few.
pub(super) fn few_blocks(blocks: usize) -> Option<f64> {
    (blocks < TestOutcome::FEWEST_BLOCKS).then_some(blocks as f64 - 1.0)
}
