use burn::tensor::Tensor;

use super::{Bandwidth, Distance, Kernel, TargetKernel};
use crate::{
    distribution::Geometry,
    error::Result,
    ops::{
        Computation, NormalKernel, NormalSamples, Pairing, normal_blocks, normal_diagonal,
        normal_matrix, normal_statistic,
    },
};

/// The tensor product `k_P ⊗ k_Y` of a kernel on predictions and a kernel on targets, for any
/// predictive distribution (Widmann et al. 2021, section 3.1).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{
///     distribution::Normal, estimator::{Estimator, Skce},
///     kernel::{Bandwidth, Kernel, RealKernel, TensorKernel},
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let zeros = Tensor::<2>::zeros([2, 1], &device);
/// let predictions = Normal::new(zeros.clone(), zeros.ones_like()); // N(0, 1), twice
/// // exp(−W₂) ⊗ exp(−(y − y')²/2)
/// let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0))
///     .with_bandwidth(Bandwidth::Fixed(1.0));
/// let estimate = Skce::unbiased(kernel).estimate(&predictions, &zeros)?;
/// assert!((estimate - (1.0 - 2f64.sqrt() + 3f64.sqrt().recip())).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TensorKernel<T> {
    /// The kernel `k_P` on predictions.
    pub predictions: Kernel,
    /// The kernel `k_Y` on targets.
    pub targets: T,
}

impl<T> TensorKernel<T> {
    /// Creates the kernel from a kernel on predictions and one on targets.
    pub fn new(predictions: Kernel, targets: T) -> Self {
        Self {
            predictions,
            targets,
        }
    }

    /// `exp(−W₂(P, P')/ν) ⊗ k_Y`, with the 2-Wasserstein distance (of mixtures: that of
    /// [`Mixture`](crate::distribution::Mixture), over which the kernel is
    /// [not positive definite](Kernel::is_positive_definite_on)) and the median bandwidth.
    pub fn wasserstein(targets: T) -> Self {
        Self::new(Kernel::wasserstein(), targets)
    }

    /// The same with another bandwidth of the kernel on predictions.
    pub fn with_bandwidth(self, bandwidth: Bandwidth) -> Self {
        Self {
            predictions: self.predictions.with_bandwidth(bandwidth),
            ..self
        }
    }

    /// Predictions and targets as the fused pass takes them, if it has them and this kernel.
    fn as_normal<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
    ) -> Option<(NormalSamples, NormalKernel)>
    where
        T: TargetKernel<P>,
    {
        let (samples, length_scale) = self.targets.as_normal(predictions, targets)?;
        let is_valid =
            self.predictions.distance == Distance::Euclidean && self.predictions.validate().is_ok();
        let kernel = NormalKernel {
            profile: self.predictions.profile,
            length_scale,
        };
        (is_valid && samples.have_fused_pass()).then_some((samples, kernel))
    }

    /// Panics where the kernel on targets is not one for such predictions: in training. Nothing is read back.
    pub(crate) fn assert_valid_for<P: Geometry>(&self, predictions: &P)
    where
        T: TargetKernel<P>,
    {
        if let Err(error) = self.targets.validate_for(predictions) {
            panic!("{error}");
        }
    }

    /// The mean of `h` over pairs in one fused pass, `[1]`, differentiable; None where there is none.
    pub(crate) fn fused_mean<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        pairing: Pairing,
    ) -> Option<Tensor<1>>
    where
        T: TargetKernel<P>,
    {
        let (samples, kernel) = self.as_normal(predictions, targets)?;
        let points = match self.predictions.bandwidth {
            Bandwidth::Fixed(_) => samples.locations.clone(),
            _ => predictions.coordinates()?,
        };
        let size = pairing.size(predictions.len());
        let bandwidth = self
            .predictions
            .bandwidth_of_pairs(points, size, || predictions.spread());
        Some(normal_statistic(samples, bandwidth, kernel, pairing))
    }

    /// The mean of `h` over the pairs of each block of `size` consecutive samples by the fused pass, where
    /// there is one; the bandwidth must be fixed.
    pub(crate) fn fused_blocks<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        size: usize,
    ) -> Option<Vec<f64>>
    where
        T: TargetKernel<P>,
    {
        let (samples, kernel) = self.as_normal(predictions, targets)?;
        let bandwidth = self.predictions.fixed_bandwidth();
        Some(normal_blocks(&samples, bandwidth, kernel, size))
    }

    /// `h_ii`, `[n]`, detached.
    pub(crate) fn diagonal<P: Geometry>(
        &self,
        computation: Computation,
        predictions: &P,
        targets: &P::Targets,
    ) -> Tensor<1>
    where
        T: TargetKernel<P>,
    {
        match self.as_normal(predictions, targets) {
            Some((samples, kernel)) if computation != Computation::Composed => {
                normal_diagonal(&samples, kernel)
            }
            _ => {
                let n = predictions.len(); // k_P(P, P) = 1
                self.residual_product_within(predictions, targets, n) // [n, 1, 1]
                    .reshape([n])
            }
        }
    }

    /// `h` within batches, `[batches, n, n]`, differentiable.
    pub(crate) fn h_within<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        batches: usize,
    ) -> Tensor<3>
    where
        T: TargetKernel<P>,
    {
        let gram = self.predictions.gram_of(predictions, batches);
        gram * self.residual_product_within(predictions, targets, batches)
    }

    /// `h` of a batch of detached predictions, `[n, n]`: fused where there is a fused pass and the bandwidth
    /// is fixed.
    pub(crate) fn h_of_batch<P: Geometry>(&self, predictions: &P, targets: &P::Targets) -> Tensor<2>
    where
        T: TargetKernel<P>,
    {
        match self.predictions.bandwidth {
            Bandwidth::Fixed(_) => {
                let samples = (predictions, targets);
                self.h_between(Computation::Auto, samples, samples)
            }
            _ => self.h_within(predictions, targets, 1).squeeze_dim(0),
        }
    }

    /// The inner product of the residuals within batches, differentiable:
    /// `k_Y(y_i, y_j) − E_{P_i} k_Y(Z, y_j) − E_{P_j} k_Y(Z, y_i) + E_{P_i, P_j} k_Y(Z, Z')`.
    fn residual_product_within<P: Geometry>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        batches: usize,
    ) -> Tensor<3>
    where
        T: TargetKernel<P>,
    {
        let kernel = &self.targets;
        let single = kernel.expectation(predictions, targets, batches); // E_{P_i} k_Y(Z, y_j)
        kernel.between(targets, targets, predictions, batches) - single.clone() - single.transpose()
            + kernel.double_expectation(predictions, predictions, batches)
    }

    /// `h` between the rows and the columns of a tile, `[rows, columns]`, detached; fused where there
    /// is a fused pass, unless the computation is composed.
    pub(crate) fn h_between<P: Geometry>(
        &self,
        computation: Computation,
        (p, y): (&P, &P::Targets),
        (q, z): (&P, &P::Targets),
    ) -> Tensor<2>
    where
        T: TargetKernel<P>,
    {
        if computation != Computation::Composed
            && let Some((samples, kernel)) = self.as_normal(p, y)
            && let Some((others, _)) = self.as_normal(q, z)
        {
            let bandwidth = self.predictions.fixed_bandwidth();
            return normal_matrix(&samples, &others, bandwidth, kernel);
        }
        let kernel = &self.targets;
        let product = kernel.between(y, z, p, 1)
            - kernel.expectation(p, z, 1)
            - kernel.expectation(q, y, 1).transpose()
            + kernel.double_expectation(p, q, 1);
        let gram = self.predictions.between_of_by(computation, p, q);
        (gram * product).squeeze_dim(0)
    }

    /// `k_P(T_j, P_i) · (k_Y(τ_j, y_i) − E_{P_i} k_Y(τ_j, Z))`, `[J, n]`, differentiable.
    pub(crate) fn embeddings<P: Geometry>(
        &self,
        (locations, at): (&P, &P::Targets),
        (predictions, targets): (&P, &P::Targets),
    ) -> Tensor<2>
    where
        T: TargetKernel<P>,
    {
        let kernel = &self.targets;
        let residual = kernel.between(at, targets, predictions, 1)
            - kernel.expectation(predictions, at, 1).transpose();
        (self.predictions.at_locations_of(locations, predictions) * residual).squeeze_dim(0)
    }

    /// The same kernel with its bandwidth fixed, for valid parameters.
    pub(crate) fn fixed<P: Geometry>(self, predictions: &P) -> Result<Self>
    where
        T: TargetKernel<P>,
    {
        self.targets.validate_for(predictions)?;
        Ok(Self {
            predictions: self
                .predictions
                .with_bandwidth_of_predictions(predictions)?,
            ..self
        })
    }
}
