use crate::{
    distribution::Predictive,
    error::{Error, Result},
};

/// Checks that `h` has mean 0 over the pairs of samples if the model is calibrated: that predictions are known
/// distributions, or draws of one dimension, see
/// [`PairMatrix::fair`](crate::estimator::PairMatrix::fair).
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
