use super::{
    Resample, Statistic, TestOutcome,
    p_value::{check_replicates, check_statistics, discrete_p_value},
};
use crate::{distribution::Predictive, error::Result};

/// The outcome of a statistic against that of data sets drawn under the hypothesis.
pub(super) fn evaluate<P: Predictive>(
    name: &'static str,
    statistic: &impl Statistic<P>,
    predictions: &P,
    targets: &P::Targets,
    replicates: usize,
    mut redraw: impl FnMut() -> Resample<P>,
) -> Result<TestOutcome> {
    check_replicates(replicates)?;
    // the data come first, so that all statistics are computed in the same way
    let targets = predictions.checked_targets(targets)?;
    let mut data = Some(Resample {
        rows: None,
        targets,
    });
    let mut draw = || data.take().unwrap_or_else(&mut redraw);
    let values = statistic.replicates(predictions, 1 + replicates, &mut draw)?;
    check_statistics(&values)?;
    let (statistic, drawn) = (values[0], &values[1..]);
    let p_value = discrete_p_value(statistic, drawn, predictions.dtype());
    let outcome = TestOutcome::resampled(
        name,
        predictions.len(),
        statistic,
        statistic,
        p_value,
        drawn,
    );
    Ok(outcome.with_expected_errors(predictions.expected_errors()))
}
