use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Density, Geometry, Marginals},
    estimator::{Estimator, Skce, regression::Pinball},
    hypothesis::CalibrationTest,
    kernel::{RealKernel, TargetKernel},
};
use burn_calibration_testing::bootstrap::Bootstrap;
use rand::{SeedableRng, rngs::StdRng};

use crate::{Result, kernel::kernel};

/// The names of the scores.
pub const SCORES: [&str; 6] = [
    "MSE",
    "NLL",
    "pinball",
    "SKCE, biased",
    "SKCE, unbiased",
    "p-value",
];

/// What is said of predictions, as `SCORES`: the mean squared error, the mean negative log-likelihood,
/// the mean pinball loss over 19 levels, both estimates of the SKCE, and the p-value of the bootstrap
/// test.
pub fn scores<P>(predictions: &P, targets: &Tensor<2>, seed: u64) -> Result<[f64; 6]>
where
    P: Marginals + Density + Geometry,
    RealKernel: TargetKernel<P::Unconditional>,
{
    let levels = (1..20).map(|i| 0.05 * f64::from(i)).collect();
    let number = |x: Tensor<1>| x.into_scalar::<f64>();
    let test = Bootstrap {
        kernel: kernel(),
        replicates: 1000,
    };
    let outcome = test.outcome(predictions, targets, &mut StdRng::seed_from_u64(seed))?;
    Ok([
        number((predictions.means() - targets.clone()).square().mean()),
        -number(predictions.log_density(targets).mean()),
        Pinball::new(levels)?.estimate(predictions, targets)?,
        Skce::biased(kernel()).estimate(predictions, targets)?,
        outcome.estimate,
        outcome.p_value,
    ])
}
