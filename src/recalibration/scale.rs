use burn::tensor::Tensor;

use super::{
    FitReport, FitWarning, Progress,
    descent::{Limits, minimise, tensor_criterion},
    fit::observer,
};
use crate::{
    distribution::{Density, Laplace, Normal, Weights},
    host::{finest, to_vec},
    loss::Criterion,
};

/// Predictions with independent coordinates of the densities
/// `∝ exp(−|z_c|^r/r)/s_c`, `z_c = (y_c − μ_c)/s_c`.
pub trait ScaleFamily: Density<Targets = Tensor<2>> + Sync {
    /// The power `r`: 2 of normal, 1 of Laplace predictions.
    const POWER: f64;

    /// Returns the locations `μ` and the scales `s`, `[n, d]` each.
    fn location_and_scale(&self) -> [Tensor<2>; 2];

    /// Makes predictions with these locations and scales, `[n, d]` each.
    fn with_location_and_scale(location: Tensor<2>, scale: Tensor<2>) -> Self;

    /// Returns the predictions with the densities `f_i^{1/T}`, normalised (Widmann et al. 2021, Definition
    /// F.1), which keep their means. Their scales are `T^{1/r} s`: `σ² ↦ Tσ²` of normal and `β ↦ Tβ` of
    /// Laplace predictions. Differentiable, also in `T`.
    ///
    /// # Shapes
    ///
    /// - temperature: `[1]`, positive
    fn tempered(&self, temperature: Tensor<1>) -> Self {
        let [location, scale] = self.location_and_scale();
        let factor = temperature.powf_scalar(1.0 / Self::POWER);
        let factor = factor.cast(scale.dtype()).reshape([1, 1]);
        Self::with_location_and_scale(location, scale * factor)
    }
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

/// The errors `z_ic = (y_ic − μ_ic)/s_ic` of each coordinate, `[d, n]`, in f64.
pub(super) fn standardised_errors<P: ScaleFamily>(
    predictions: &P,
    targets: &Tensor<2>,
) -> Vec<Vec<f64>> {
    let [n, d] = targets.dims();
    let [location, scale] = predictions.location_and_scale().map(to_vec);
    let targets = to_vec(targets.clone());
    let error = |at: usize| (targets[at] - location[at]) / scale[at];
    let of_coordinate = |c: usize| (0..n).map(|i| error(i * d + c)).collect();
    (0..d).map(of_coordinate).collect()
}

/// `|z_ic|^r` of each coordinate, `[d, n]`, in f64.
pub(super) fn powers<P: ScaleFamily>(predictions: &P, targets: &Tensor<2>) -> Vec<Vec<f64>> {
    let mut powers = standardised_errors(predictions, targets);
    let numbers = powers.iter_mut().flatten();
    numbers.for_each(|z| *z = z.abs().powf(P::POWER));
    powers
}

/// The mean of [`powers`] over coordinates, `[n]`.
pub(super) fn mean_powers<P: ScaleFamily>(predictions: &P, targets: &Tensor<2>) -> Vec<f64> {
    let powers = powers(predictions, targets);
    let mean = |i: usize| powers.iter().map(|of| of[i]).sum::<f64>() / powers.len() as f64;
    (0..powers[0].len()).map(mean).collect()
}

/// The weighted `mean(−ln f_i(y_i))`, in f64, of the rows that no warning names.
pub(super) fn mean_log_score<P: ScaleFamily>(
    predictions: &P,
    targets: &Tensor<2>,
    weights: &Weights,
    warnings: &[FitWarning],
) -> f64 {
    let log_density = to_vec(predictions.log_density(targets));
    let is_named = |row: &usize| warnings.iter().any(|warning| warning.rows().contains(row));
    let kept: Vec<usize> = (0..log_density.len())
        .filter(|row| !is_named(row))
        .collect();
    let of_kept: Vec<f64> = kept.iter().map(|&row| log_density[row]).collect();
    -weights.select(&kept).mean(&of_kept)
}

/// Descends a criterion in the logarithms of factors of the scales, one for each coordinate or one for all, in f64
/// where the device computes in it. The criterion gets predictions with their weights.
pub(super) fn descend_factors<P: ScaleFamily>(
    criterion: &dyn Criterion<P>,
    predictions: &P,
    targets: &Tensor<2>,
    start: &[f64],
    limits: Limits,
    progress: Progress<'_>,
) -> (Vec<f64>, FitReport) {
    let device = predictions.device().without_autodiff();
    let recording = (&device.clone().autodiff(), finest(&device));
    let moved = |x: Tensor<2>| Tensor::from_data(x.detach().into_data(), recording);
    let [location, scale] = predictions.location_and_scale().map(moved);
    let targets = moved(targets.clone());
    let weights = predictions.sample_weights().map(moved);
    let objective = |logarithms: &Tensor<1>| {
        let scale = scale.clone() * logarithms.clone().exp().unsqueeze::<2>();
        let scaled = P::with_location_and_scale(location.clone(), scale);
        let weighted = scaled.with_sample_weights(weights.clone());
        criterion.value(&weighted.expect("weights"), &targets)
    };
    let at = tensor_criterion(objective, &device);
    minimise(at, start, limits, &mut observer(progress, 1, 1))
}
