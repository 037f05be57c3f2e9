use rand::Rng;

use super::{CalibrationTest, TestOutcome, check_known, check_unweighted, moments};
use crate::{
    distribution::Geometry,
    error::{Result, check_samples},
    estimator::{JointKernel, SkceForm, null_skewness, null_variance},
    kernel::Kernel,
};

/// The asymptotic test of the unbiased quadratic estimator of the SKCE, with the statistic
/// `T = n·SKCE_uq` (Widmann et al. 2019, Theorem G.2 and appendix G).
///
/// If the model is calibrated, `T` converges to `Σ_k λ_k (Z_k² − 1)` with standard normal `Z_k` and
/// the eigenvalues `λ_k` of the operator with kernel `h`.
///
/// **The null distribution** is a shifted gamma distribution (Pearson's type III) with three moments: mean 0;
/// the variance given the predictions, exactly, `2 (n−1)⁻² Σ_{i≠j} k(p_i, p_j)² tr(C_i C_j)` with the
/// covariance `C_i = diag(p_i) − p_i p_iᵀ` that `δ_i` has under the hypothesis; and the skewness
/// given the predictions, from the third moment
/// `(n−1)⁻³ [8 Σ_{i,j,l distinct} k_ij k_jl k_li tr(C_i C_j C_l) + 4 Σ_{i≠j} k_ij³ E[(δ_iᵀδ_j)³]]`.
/// The labels enter through the statistic alone.
///
/// The skewness is exact up to some hundred samples (610 of ten classes). For more, it is an estimate from
/// about so many, drawn with probabilities in proportion to `tr C_i = 1 − ‖p_i‖²` and weighted by their
/// inverse: of a confident model it has all samples that matter. It is not clamped. One that is 0 or
/// negative gives the normal distribution; one beyond `√8`, the largest in the limit, gives the larger of
/// the tails for it and for `√8`.
///
/// For predictions other than of classes, and for a matrix-valued kernel the skewness alone, the moments
/// are unbiased estimates from targets redrawn from the predictions.
///
/// The p-value is a tail of the approximation, reported down to
/// [`TestOutcome::ASYMPTOTIC_FLOOR`].
///
/// `docs/levels.md` has levels and powers. At level 5 % and `n = 250` the test keeps the level; of weakly
/// miscalibrated data it rejects 32.5 %, where the bootstrap of the paper, which takes the variance of `h` from
/// the labels, rejects 15 %.
///
/// **Where it fails.** The limit needs many samples whose label is uncertain, whatever their number.
/// Where few errors are expected, `Σ_i (1 − max_c p_ic)` below some 20, the approximation does not hold in its
/// tail. The outcome says so by its [`caveat`](TestOutcome::caveat); [`ExactTest`](super::ExactTest) keeps its
/// level there, but redraws the labels.
///
/// Predictions by draws, [`Samples`](crate::distribution::Samples), are an error: the null is of
/// distributions that are known, and calibrated draws would be rejected the more often the fewer they are.
///
/// Cost: `n²·m` operations. A median bandwidth costs two passes over all pairs more.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct AsymptoticSkceTest<K = Kernel> {
    /// The kernel: on class predictions, or a [tensor product](crate::kernel::TensorKernel).
    pub kernel: K,
}

impl<K> AsymptoticSkceTest<K> {
    /// Creates the test.
    pub fn new(kernel: K) -> Self {
        Self { kernel }
    }
}

impl<P: Geometry, K: JointKernel<P>> CalibrationTest<P> for AsymptoticSkceTest<K> {
    /// The outcome; the statistic is `n·SKCE_uq`. The moments draw from the generator
    /// for many samples, and for predictions other than of classes.
    /// The errors are those of [`CalibrationTest::outcome`]; fewer than two samples.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        check_unweighted(predictions, NAME)?;
        let n = predictions.len();
        check_samples("the asymptotic test of the unbiased SKCE", 2, n)?;
        predictions.check()?;
        check_known(predictions, targets, NAME)?;
        let kernel = self.kernel.fixed(predictions)?;
        let pairs = kernel.pairs(predictions, targets)?;
        let estimate = pairs.estimate(SkceForm::Unbiased)?;
        let statistic = n as f64 * estimate;
        let deviation = null_variance(&kernel, predictions, rng)?.sqrt();
        let skewness = null_skewness(&kernel, predictions, rng)?;
        let tail = moments::upper_tail(statistic, deviation, skewness);
        Ok(TestOutcome::asymptotic(NAME, n, estimate, statistic, tail)
            .with_standardised(statistic / deviation)
            .with_expected_errors(predictions.expected_errors()))
    }
}

const NAME: &str = "asymptotic test of the unbiased SKCE";
