use burn::tensor::Tensor;

use super::{Tempered, TemperedLogScore};
use crate::{
    distribution::{Density, Laplace, Normal},
    error::Result,
    host::to_vec,
};

/// Predictions with independent coordinates of the densities
/// `∝ exp(−|z_c|^r/r)/s_c`, `z_c = (y_c − μ_c)/s_c`.
pub trait ScaleFamily: Density<Targets = Tensor<2>> {
    /// The power `r`: 2 of normal, 1 of Laplace predictions.
    const POWER: f64;

    /// Gives the locations `μ` and the scales `s`, `[n, d]` each.
    fn location_and_scale(&self) -> [Tensor<2>; 2];

    /// Makes predictions with these locations and scales, `[n, d]` each.
    fn with_location_and_scale(location: Tensor<2>, scale: Tensor<2>) -> Self;
}

impl ScaleFamily for Normal {
    const POWER: f64 = 2.0;

    fn location_and_scale(&self) -> [Tensor<2>; 2] {
        [self.mean(), self.standard_deviation()]
    }

    fn with_location_and_scale(location: Tensor<2>, scale: Tensor<2>) -> Self {
        Self::new(location, scale)
    }
}

impl ScaleFamily for Laplace {
    const POWER: f64 = 1.0;

    fn location_and_scale(&self) -> [Tensor<2>; 2] {
        [self.location(), self.scale()]
    }

    fn with_location_and_scale(location: Tensor<2>, scale: Tensor<2>) -> Self {
        Self::new(location, scale)
    }
}

/// `|z_ic|^r` of each coordinate, `[d, n]`, in f64.
pub(super) fn powers<P: ScaleFamily>(predictions: &P, targets: &Tensor<2>) -> Vec<Vec<f64>> {
    let [location, scale] = predictions.location_and_scale();
    let [n, d] = location.dims();
    let (location, scale) = (to_vec(location), to_vec(scale));
    let targets = to_vec(targets.clone());
    let power = |at: usize| {
        ((targets[at] - location[at]) / scale[at])
            .abs()
            .powf(P::POWER)
    };
    let of_coordinate = |c: usize| (0..n).map(|i| power(i * d + c)).collect();
    (0..d).map(of_coordinate).collect()
}

/// The mean over coordinates, `[n]`.
pub(super) fn mean_over_coordinates(powers: &[Vec<f64>]) -> Vec<f64> {
    let mean = |i: usize| powers.iter().map(|of| of[i]).sum::<f64>() / powers.len() as f64;
    (0..powers[0].len()).map(mean).collect()
}

impl<P: ScaleFamily> Tempered for P {
    /// `s ↦ T^{1/r} s`: `σ² ↦ Tσ²` of normal and `β ↦ Tβ` of Laplace predictions.
    fn tempered(&self, temperature: Tensor<1>) -> Self {
        let [location, scale] = self.location_and_scale();
        let factor = temperature.powf_scalar(1.0 / P::POWER).cast(scale.dtype());
        P::with_location_and_scale(location, scale * factor.reshape([1, 1]))
    }

    /// The log score is least at `T = mean(|z|^r)`.
    fn log_score(&self, targets: &Tensor<2>) -> Result<TemperedLogScore> {
        let powers = mean_over_coordinates(&powers(self, targets));
        let k = self.dimensions() as f64 / P::POWER;
        Ok(TemperedLogScore::of_scale(
            self.log_density(targets),
            powers,
            k,
        ))
    }
}
