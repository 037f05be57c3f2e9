use rand::Rng;

use super::{CalibrationTest, TestOutcome, check_fair, check_unweighted};
use crate::{
    distribution::Geometry,
    error::{Error, Result},
    estimator::{JointKernel, Skce, SkceForm},
    kernel::Kernel,
};

/// The distribution-free test of an estimator of the SKCE: an upper bound of the p-value that holds
/// at every sample size and for every distribution, and is therefore loose (Widmann et al. 2019,
/// Lemma 2).
///
/// With `B = 2·sup k`, the p-value of an estimate `t` is at most
///
/// - biased: `exp(−½ max(0, √(nt/B) − 1)²)`;
/// - unbiased: `exp(−⌊n/2⌋ t²/(2B²))` for `t > 0`, and 1 for `t ≤ 0`;
/// - blocks of `b` samples: the same with `⌊n/b⌋·⌊b/2⌋` in place of `⌊n/2⌋`.
///
/// `B` bounds `|h|` whatever the sign of `k`, since `|δᵀδ'| ≤ ‖δ‖₁ ‖δ'‖_∞ ≤ 2`; for a tensor product, where
/// the kernel on targets is not negative ([`JointKernel::half_bound`]). The bounds need a bandwidth that
/// does not depend on the labels, which the median heuristic satisfies given the predictions.
///
/// The bounds of the unbiased and block forms hold for any kernel on predictions, positive definite or
/// not. They are Hoeffding's: a U-statistic is a mean, over permutations, of means of `⌊n/2⌋`
/// independent `h` of mean 0 in `[−B, B]`. For `|h| = |k_P| |⟨r, r'⟩| ≤ B` Cauchy–Schwarz is needed in
/// the Hilbert space of the kernel on targets alone. The bound of the biased form needs more: it is
/// that of the norm of a mean of elements `Φ_i` with `h_ij = ⟨Φ_i, Φ_j⟩`. On predictions on which the
/// kernel is [not known to be positive definite](crate::kernel::Kernel::is_positive_definite_on), such as
/// mixtures, there need be no such elements, the estimate can be negative, and the biased form is an
/// error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct DistributionFreeSkceTest<K = Kernel> {
    /// The estimator.
    pub skce: Skce<K>,
}

impl<K> DistributionFreeSkceTest<K> {
    /// Tests with an estimator.
    pub fn new(skce: Skce<K>) -> Self {
        Self { skce }
    }
}

impl<P: Geometry, K: JointKernel<P>> CalibrationTest<P> for DistributionFreeSkceTest<K> {
    /// The outcome; nothing is drawn from the generator. The statistic is the estimate.
    ///
    /// # Errors
    ///
    /// As [`Skce::fair_estimate`], draws of several dimensions, and [`Error::NotPositiveDefinite`] for the biased form and a kernel that is
    /// not known to be positive definite on such predictions.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        _rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let Skce { form, kernel, .. } = &self.skce;
        if *form == SkceForm::Biased
            && !kernel.on_predictions().is_positive_definite_on(predictions)
        {
            return Err(Error::NotPositiveDefinite {
                what: "the distribution-free test of the biased SKCE",
                expected: "the unbiased or the block SKCE",
            });
        }
        let name = match form {
            SkceForm::Biased => "distribution-free test of the biased SKCE",
            SkceForm::Unbiased => "distribution-free test of the unbiased SKCE",
            SkceForm::Block(_) => "distribution-free test of the block SKCE",
        };
        check_unweighted(predictions, name)?;
        predictions.check_targets(targets)?;
        check_fair(predictions, targets, name)?;
        let estimate = self.skce.fair_estimate(predictions, targets)?;
        let n = predictions.len();
        let p_value = bound(*form, kernel.half_bound(), estimate, n);
        let outcome = TestOutcome::bounded(name, n, estimate, p_value);
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}

/// The bound of the p-value for an estimate `t` from `n` samples.
fn bound(form: SkceForm, half_bound: f64, t: f64, n: usize) -> f64 {
    let b = 2.0 * half_bound;
    let independent_pairs = match form {
        SkceForm::Biased => {
            let excess = ((n as f64 * t / b).max(0.0).sqrt() - 1.0).max(0.0);
            return (-0.5 * excess * excess).exp();
        }
        SkceForm::Unbiased => n / 2,
        SkceForm::Block(size) => (n / size) * (size / 2),
    };
    if t > 0.0 {
        (-(independent_pairs as f64) * t * t / (2.0 * b * b)).exp()
    } else {
        1.0
    }
}
