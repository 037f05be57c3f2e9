use rand::Rng;

use super::{
    CalibrationTest, NullDistribution, TestOutcome, bootstrap, moments,
    null::check_known,
    p_value::{check_replicates, resampling_p_value},
    sample_matrix, spectrum,
};
use crate::{
    distribution::Predictive,
    error::{Result, check_samples},
    estimator::{JointKernel, PairMatrix, SkceForm},
    kernel::Kernel,
    ops::Computation,
};

/// The asymptotic test of the unbiased quadratic estimator of the SKCE, with the statistic
/// `T = n·SKCE_uq` (Widmann et al. 2019, Theorem G.2 and appendix G).
///
/// The null distribution is that of [`NullDistribution`], whose documentation has what each costs
/// and how well it keeps its level. The default is [`Gamma`](NullDistribution::Gamma), by three moments. The
/// others draw replicates `T*`, and their p-value is `(1 + #{T* ≥ T})/(1 + R)`, never 0.
/// [`ExactTest`](super::ExactTest) needs no approximation, but redraws the labels. The outcome has a
/// [`caveat`](TestOutcome::caveat) if too few errors are expected for any of these nulls.
///
/// Predictions by draws, [`Samples`](crate::distribution::Samples), are an error: these nulls are of
/// distributions that are known, and calibrated draws would be rejected the more often the fewer they are.
///
/// A median bandwidth costs two passes over all pairs more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymptoticSkceTest<K = Kernel> {
    /// The kernel: on class predictions, or a [tensor product](crate::kernel::TensorKernel).
    pub kernel: K,
    /// The null distribution.
    pub null: NullDistribution,
    /// The number `R` of replicates of a null that resamples, 1000 by default.
    pub replicates: usize,
}

impl<K> AsymptoticSkceTest<K> {
    /// Creates the test with the default null distribution, [`NullDistribution::Gamma`].
    pub fn new(kernel: K) -> Self {
        Self {
            kernel,
            null: NullDistribution::default(),
            replicates: 1000,
        }
    }

    /// Returns the same with another null distribution.
    pub fn with_null(self, null: NullDistribution) -> Self {
        Self { null, ..self }
    }

    /// Returns the same with another number of replicates, for a null that resamples.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }

    fn check_samples(&self, got: usize) -> Result<()> {
        let needed = match self.null {
            NullDistribution::Spectrum => spectrum::FEWEST,
            _ => 2,
        };
        check_samples("the asymptotic test of the unbiased SKCE", needed, got)
    }
}

impl<P: Predictive, K: JointKernel<P>> CalibrationTest<P> for AsymptoticSkceTest<K> {
    /// The outcome; the statistic is `n·SKCE_uq`. The null by moments draws from the generator
    /// for many samples, and for predictions other than of classes; the others always.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::evaluate`]; fewer than two samples (four for the spectrum), or no
    /// replicates for a null that resamples.
    fn evaluate(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let n = predictions.len();
        self.check_samples(n)?;
        if self.null != NullDistribution::Gamma {
            check_replicates(self.replicates)?;
        }
        predictions.check()?;
        check_known(predictions, targets, NAME)?;
        let kernel = self.kernel.fixed(predictions)?;
        let pairs = kernel.pairs(predictions, targets)?;
        let statistic = || {
            let skce = pairs.estimate(SkceForm::Unbiased, Computation::Auto)?;
            Ok(n as f64 * skce)
        };
        let (statistic, replicates) = match self.null {
            NullDistribution::Gamma => {
                let statistic = statistic()?;
                let deviation = kernel.null_variance(predictions, rng)?.sqrt();
                let skewness = kernel.null_skewness(predictions, rng)?;
                let tail = moments::upper_tail(statistic, deviation, skewness);
                let estimate = statistic / n as f64;
                return Ok(TestOutcome::asymptotic(NAME, n, estimate, statistic, tail)
                    .with_standardised(statistic / deviation)
                    .with_expected_errors(predictions.expected_errors()));
            }
            NullDistribution::Bootstrap => bootstrap::arcones_gine(&pairs, self.replicates, rng),
            NullDistribution::Multiplier => bootstrap::multiplier(&pairs, self.replicates, rng),
            NullDistribution::Spectrum => {
                let h = sample_matrix::off_diagonal(&kernel, &pairs, predictions, targets, rng)?;
                (statistic()?, spectrum::replicates(h, self.replicates, rng))
            }
        };
        let p_value = resampling_p_value(statistic, &replicates);
        let estimate = statistic / n as f64;
        let outcome = TestOutcome::resampled(NAME, n, estimate, statistic, p_value, &replicates);
        Ok(outcome
            .of_an_approximation()
            .with_expected_errors(predictions.expected_errors()))
    }
}

const NAME: &str = "asymptotic test of the unbiased SKCE";
