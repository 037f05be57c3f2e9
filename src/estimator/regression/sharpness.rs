use super::checks::row_means;
use crate::{distribution::Marginals, error::Result, estimator::MeanEstimate, host::to_vec};

/// The spread of predictions, whatever was observed: of two calibrated models the sharper one says more
/// (Gneiting, Balabdaoui, Raftery 2007). The widths of intervals are in
/// [`IntervalCoverage`](super::IntervalCoverage).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Sharpness {
    /// The mean predicted standard deviation, over samples and coordinates, in units of the targets.
    pub standard_deviation: MeanEstimate,
    /// The mean predicted variance.
    pub variance: MeanEstimate,
}

impl Sharpness {
    /// Computes the mean standard deviation and variance.
    pub fn estimate<P: Marginals>(predictions: &P) -> Result<Self> {
        predictions.check()?;
        let variances = predictions.detach().variances(); // [n, d]
        let d = variances.dims()[1];
        let variances = to_vec(variances);
        let deviations: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        let mean = |values: &[f64]| MeanEstimate::of(&row_means(values, d));
        Ok(Self {
            standard_deviation: mean(&deviations),
            variance: mean(&variances),
        })
    }
}
