use burn::tensor::{Int, Tensor};

use super::{
    Resample, Statistic, TestOutcome,
    p_value::{check_replicates, check_statistics, discrete_p_value},
};
use crate::{distribution::Categorical, error::Result};

/// The outcome of a statistic against that of data sets drawn under the hypothesis.
pub(super) fn evaluate(
    name: &'static str,
    statistic: &impl Statistic,
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    replicates: usize,
    mut redraw: impl FnMut() -> Resample,
) -> Result<TestOutcome> {
    check_replicates(replicates)?;
    let labels = predictions.check_labels(labels)?;
    let samples = labels.len();
    // the data come first, so that all statistics are computed in the same way
    let mut data = Some(Resample { rows: None, labels });
    let mut draw = || data.take().unwrap_or_else(&mut redraw);
    let values = statistic.replicates(predictions, 1 + replicates, &mut draw)?;
    check_statistics(&values)?;
    let (statistic, drawn) = (values[0], &values[1..]);
    let dtype = predictions.probabilities().dtype();
    Ok(TestOutcome {
        name,
        estimate: statistic,
        statistic,
        p_value: discrete_p_value(statistic, drawn, dtype),
        samples,
        replicates: Some(replicates),
        standard_error: None,
    })
}
