use serde::{Deserialize, Serialize};

/// How the null distribution of `T = n·SKCE_uq` is approximated.
///
/// If the model is calibrated, `T` converges to `Σ_k λ_k (Z_k² − 1)` with standard normal `Z_k` and
/// the eigenvalues `λ_k` of the operator of `h` (Widmann et al. 2019, Theorem G.2). The
/// approximations differ in what they take for it, in level and power on small data, and in cost:
///
/// | | M1, `n = 250` | binary, `n = 250` | binary, `n = 16` | power | cost |
/// | --- | --- | --- | --- | --- | --- |
/// | `Gamma` | LEVELS
///
/// The columns are rejections at level 5 % of calibrated data sets (`docs/levels.md`)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NullDistribution {
    #[default]
    Gamma,
    Bootstrap,
    Multiplier,
    Spectrum,
}
