use burn::tensor::{Int, Tensor};
use rand::Rng;

use super::{
    CalibrationTest, NullDistribution, TestOutcome, bootstrap, moments,
    p_value::{check_replicates, resampling_p_value},
    sample_matrix, spectrum,
};
use crate::{
    distribution::Categorical,
    error::{Error, Result},
    estimator::{Skce, pair::Pairs},
    kernel::Kernel,
};

/// The asymptotic test of the unbiased quadratic estimator of the SKCE, with the statistic
/// `T = n·SKCE_uq` (Widmann et al. 2019, Theorem G.2 and appendix G).
///
/// The null distribution is that of [`NullDistribution`], whose documentation has what each costs
/// and how well it keeps its level. The one by moments is the default; the others draw replicates
/// `T*`, and their p-value is `(1 + #{T* ≥ T})/(1 + R)`, never 0. Where labels can be redrawn often
/// enough, [`ExactTest`](super::ExactTest) needs no approximation.
///
/// A median bandwidth costs two passes over all pairs more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymptoticSkceTest {
    /// The kernel on predictions.
    pub kernel: Kernel,
    /// The null distribution.
    pub null: NullDistribution,
    /// The number `R` of replicates of a null that resamples, 1000 by default.
    pub replicates: usize,
}

impl AsymptoticSkceTest {
    /// With the default null distribution, [`NullDistribution::Gamma`].
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            null: NullDistribution::default(),
            replicates: 1000,
        }
    }

    /// With another null distribution.
    pub fn with_null(self, null: NullDistribution) -> Self {
        Self { null, ..self }
    }

    /// With another number of replicates, for a null that resamples.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }

    fn check_samples(&self, got: usize) -> Result<()> {
        let needed = match self.null {
            NullDistribution::Spectrum => spectrum::FEWEST,
            _ => 2,
        };
        match got < needed {
            true => Err(Error::TooFewSamples {
                what: "the asymptotic test of the unbiased SKCE",
                needed,
                got,
            }),
            false => Ok(()),
        }
    }
}

impl CalibrationTest for AsymptoticSkceTest {
    /// The outcome; the statistic is `n·SKCE_uq`. The null by moments draws from the generator
    /// only for more than 512 samples, the others always.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::evaluate`]; fewer than two samples (four for the spectrum), or no
    /// replicates for a null that resamples.
    fn evaluate(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let n = predictions.samples();
        self.check_samples(n)?;
        if self.null != NullDistribution::Gamma {
            check_replicates(self.replicates)?;
        }
        let pairs = Pairs::new(self.kernel, predictions, labels)?;
        let kernel = *pairs.kernel(); // its bandwidth fixed
        let statistic = || Ok(n as f64 * Skce::unbiased(kernel).estimate_pairs(&pairs)?);
        let (statistic, replicates) = match self.null {
            NullDistribution::Gamma => {
                let statistic = statistic()?;
                let variance = moments::conditional_variance(&kernel, predictions);
                let h = sample_matrix::off_diagonal(kernel, predictions, labels, rng)?;
                let skewness = moments::skewness(h, n);
                let p_value = moments::upper_tail(statistic, variance.sqrt(), skewness);
                return Ok(outcome(statistic, p_value, n, None));
            }
            NullDistribution::Bootstrap => bootstrap::arcones_gine(&pairs, self.replicates, rng),
            NullDistribution::Multiplier => bootstrap::multiplier(&pairs, self.replicates, rng),
            NullDistribution::Spectrum => {
                let h = sample_matrix::off_diagonal(kernel, predictions, labels, rng)?;
                (statistic()?, spectrum::replicates(h, self.replicates, rng))
            }
        };
        let p_value = resampling_p_value(statistic, &replicates);
        Ok(outcome(statistic, p_value, n, Some(self.replicates)))
    }
}

fn outcome(statistic: f64, p_value: f64, samples: usize, replicates: Option<usize>) -> TestOutcome {
    TestOutcome {
        name: "asymptotic test of the unbiased SKCE",
        estimate: statistic / samples as f64,
        statistic,
        p_value,
        samples,
        replicates,
        standard_error: None,
    }
}
