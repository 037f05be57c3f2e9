//! Checks of the data that the estimators of this module take.

use burn::tensor::Tensor;

use crate::{
    distribution::{HostMarginals, Marginals},
    error::{Result, check_count, check_inside},
    host::to_vec,
};

/// Marginal distributions and targets on the host, both valid.
pub(super) struct ObservedMarginals {
    pub marginals: Box<dyn HostMarginals>,
    /// `n × d`.
    pub targets: Vec<f64>,
    /// The dimension `d` of the targets.
    pub dimensions: usize,
}

impl ObservedMarginals {
    pub fn new<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        Ok(Self {
            marginals: predictions.on_host(),
            targets: to_vec(targets.clone()),
            dimensions: targets.dims()[1],
        })
    }

    /// The mean over the coordinates of each sample of `f(number of the coordinate, target)`.
    pub fn means(&self, f: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let values = self.targets.iter().enumerate().map(|(at, &y)| f(at, y));
        row_means(&values.collect::<Vec<_>>(), self.dimensions)
    }
}

/// The mean over the coordinates of each sample, `n × d` to `n`.
pub(super) fn row_means(values: &[f64], dimensions: usize) -> Vec<f64> {
    let mean = |row: &[f64]| row.iter().sum::<f64>() / dimensions as f64;
    values.chunks(dimensions).map(mean).collect()
}

/// Checks that there is a level, and that each is between 0 and 1.
pub(super) fn check_levels(levels: &[f64]) -> Result<()> {
    check_count("the number of levels", levels.len())?;
    levels.iter().try_for_each(|&level| check_level(level))
}

pub(super) fn check_level(level: f64) -> Result<()> {
    check_inside("a level", level)
}
