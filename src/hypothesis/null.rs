use serde::{Deserialize, Serialize};

use crate::{
    distribution::Predictive,
    error::{Error, Result},
};

/// Checks that `h` has mean 0 over the pairs of samples if the model is calibrated: that predictions are known
/// distributions, or draws of one dimension, see
/// [`JointKernel::with_fair_pairs`](crate::estimator::JointKernel::with_fair_pairs).
pub(super) fn check_fair<P: Predictive>(
    predictions: &P,
    targets: &P::Targets,
    test: &str,
) -> Result<()> {
    match predictions.dimensions() {
        1 => Ok(()),
        _ => check_known(predictions, targets, test),
    }
}

/// Checks that predictions are distributions that are known, not draws: what a null distribution is made from.
pub(super) fn check_known<P: Predictive>(
    predictions: &P,
    targets: &P::Targets,
    test: &str,
) -> Result<()> {
    match predictions.pooled(targets) {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported {
            what: format!("the {test} has no null distribution for predictions by draws"),
            expected: "an exact test, which redraws the target from all draws",
        }),
    }
}

/// The approximation of [`AsymptoticSkceTest`](super::AsymptoticSkceTest) to the null distribution of
/// `T = n·SKCE_uq`.
///
/// If the model is calibrated, `T` converges to `Σ_k λ_k (Z_k² − 1)` with standard normal `Z_k` and
/// the eigenvalues `λ_k` of the operator with kernel `h` (Widmann et al. 2019, Theorem G.2).
///
/// `docs/levels.md` has the levels and powers on which the default was chosen. At level 5 % and `n = 250`
/// all keep the level; of weakly miscalibrated data [`Gamma`](Self::Gamma) rejects 32.5 %, the others 15 to
/// 21 %. The cost is `n²·m` operations, for the two bootstraps `n²(m + R)`. The last three take the variance of `h` from
/// the labels; those of a miscalibrated model vary more than its predictions say, which widens the
/// null and costs power. [`Gamma`](Self::Gamma) takes it from the predictions.
///
/// **Where they fail.** The limit needs many samples whose label is uncertain, whatever their number.
/// Where few errors are expected, `Σ_i (1 − max_c p_ic)` below some 20, no approximation holds in its
/// tail. The last three fail worst, since labels without an error show no variance: of ten simulated
/// classes with 2.5 expected errors in 250, [`Multiplier`](Self::Multiplier) and
/// [`Spectrum`](Self::Spectrum) reject 12 to 13 % at level 5 %, and [`Bootstrap`](Self::Bootstrap) takes
/// its variance from the labels as well. The outcome says so by its
/// [`caveat`](super::TestOutcome::caveat); [`ExactTest`](super::ExactTest) keeps its level there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NullDistribution {
    /// A shifted gamma distribution (Pearson's type III) with three moments: mean 0; the variance
    /// given the predictions, exactly, `2 (n−1)⁻² Σ_{i≠j} k(p_i, p_j)² tr(C_i C_j)` with the
    /// covariance `C_i = diag(p_i) − p_i p_iᵀ` that `δ_i` has under the hypothesis; and the skewness
    /// given the predictions, from the third moment
    /// `(n−1)⁻³ [8 Σ_{i,j,l distinct} k_ij k_jl k_li tr(C_i C_j C_l) + 4 Σ_{i≠j} k_ij³ E[(δ_iᵀδ_j)³]]`.
    /// The labels enter through the statistic alone.
    ///
    /// The skewness is exact up to some hundred samples (610 of ten classes). Of more, it is an estimate
    /// from about so many, drawn with probabilities in proportion to `tr C_i = 1 − ‖p_i‖²` and weighted by
    /// their inverse: of a confident model it has all samples that matter. It is not clamped. One that
    /// is 0 or negative gives the normal distribution; one beyond `√8`, the largest in the limit, gives the
    /// larger of the tails for it and for `√8`.
    ///
    /// Of predictions other than of classes, and for a matrix-valued kernel the skewness alone, the
    /// moments are unbiased estimates from targets redrawn from the predictions.
    ///
    /// No replicates: the p-value is a tail of the approximation, reported down to
    /// [`TestOutcome::ASYMPTOTIC_FLOOR`](super::TestOutcome::ASYMPTOTIC_FLOOR).
    #[default]
    Gamma,
    /// The bootstrap of Arcones and Giné (1992) for degenerate U-statistics, as in Widmann et al.
    /// 2019, appendix G. For a resample with counts `w` and `v = w − 1`,
    /// `T* = n⁻¹ (vᵀ H v − Σ_i w_i H̃_ii)`, `H̃_ii = H_ii − 2n⁻¹ Σ_j H_ij + n⁻² Σ_jk H_jk`. Conservative
    /// on small data: repeated samples add the diagonal of `H` to its variance.
    Bootstrap,
    /// The multiplier or wild bootstrap: `T* = (n−1)⁻¹ Σ_{i≠j} ε_i ε_j H_ij` with independent signs.
    Multiplier,
    /// Replicates of `Σ_k λ_k (Z_k² − 1)` with the eigenvalues of the centred matrix of `h` over
    /// `n − 1`, its diagonal set to 0 (with the diagonal the null is as wide as the bootstrap's).
    /// From a random subset of 512 samples where there are more: it never needs a larger matrix.
    Spectrum,
}
