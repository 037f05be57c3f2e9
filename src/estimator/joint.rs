use std::fmt::Debug;

use burn::tensor::{Bool, Tensor};

use super::{PairMatrix, null_variance};
use crate::{
    distribution::{Batch as _, Geometry, Halves},
    error::{Result, check_parameter},
    kernel::{Kernel, TargetKernel, TensorKernel, White},
    ops::Computation,
};

/// A kernel on pairs of predictions and targets, `(P, y)`. The SKCE, the UCME and their tests use its pair
/// statistic
///
/// `h_ij = k((P_i, y_i), (P_j, y_j)) − E_Z k((P_i, Z), (P_j, y_j)) − E_Z' k((P_i, y_i), (P_j, Z'))
/// + E_{Z, Z'} k((P_i, Z), (P_j, Z'))`
///
/// with independent `Z ∼ P_i` and `Z' ∼ P_j` (Widmann et al. 2021, section 3). It is the product of a
/// [`Kernel`] on predictions and a [`TargetKernel`]: a [`TensorKernel`] on any predictions. On classes a
/// [`Kernel`] by itself has [`White`] on targets, `h_ij = k(p_i, p_j) δ_iᵀ δ_j`, and a
/// [`MatrixKernel`](crate::kernel::MatrixKernel) has
/// `h_ij = k(p_i, p_j) δ_iᵀ M δ_j`.
///
/// Your own kernel needs the first three functions; the others have defaults.
pub trait JointKernel<P: Geometry>: Clone + Debug {
    /// The kernel on predictions.
    fn on_predictions(&self) -> Kernel;

    /// The same with another kernel on predictions.
    fn with_kernel_on_predictions(&self, kernel: Kernel) -> Self;

    /// The kernel on targets.
    fn on_targets(&self) -> &dyn TargetKernel<P::Unconditional>;

    /// `h` of data, with the bandwidth fixed.
    ///
    /// # Errors
    ///
    /// Predictions, targets or parameters of the kernel that are not valid.
    fn pairs(&self, predictions: &P, targets: &P::Targets) -> Result<PairMatrix<'_, P>> {
        PairMatrix::checked(self, Computation::Auto, predictions, targets)
    }

    /// The residuals at test locations, `[J, n]`, differentiable:
    /// `z_ji = k((T_j, τ_j), (P_i, y_i)) − E_Z k((T_j, τ_j), (P_i, Z))`.
    ///
    /// # Panics
    ///
    /// If the kernel on targets is not one for such predictions.
    fn embeddings(
        &self,
        (locations, at): (&P, &P::Targets),
        (predictions, targets): (&P, &P::Targets),
    ) -> Tensor<2> {
        assert_valid(self, predictions);
        let kernel = self.on_targets();
        let expected = predictions.unconditional();
        let residual = kernel.between(at, targets, expected, 1)
            - kernel.expectation(expected, at, 1).transpose();
        let gram = self
            .on_predictions()
            .at_locations_of(locations, predictions);
        (gram * residual).squeeze_dim(0)
    }

    /// The same kernel with its bandwidth fixed.
    ///
    /// # Errors
    ///
    /// Parameters of the kernel that are not valid for such predictions.
    fn fixed(&self, predictions: &P) -> Result<Self> {
        self.on_targets()
            .validate_for(predictions.unconditional())?;
        let kernel = self.on_predictions();
        let kernel = kernel.with_bandwidth_of_predictions(predictions)?;
        Ok(self.with_kernel_on_predictions(kernel))
    }

    /// The standard deviation of the unbiased SKCE if the model is calibrated, given the predictions:
    /// `[1]`, detached, nothing is read back from a device. `σ = √(2 Σ_{i≠j} E h_ij²)/(n(n−1))`, at least
    /// what one pair makes that has the largest `h`, `σ ≥ 2·half_bound/(n(n−1))`: the predictions of a
    /// confident model may have no variance.
    ///
    /// The expectation `E h_ij²` is exact for classes. For others it is that of the data, `h_ij²`, of the
    /// same mean if the model is calibrated.
    ///
    /// - kept: whether a sample counts, `[n]`; all where there is none
    ///
    /// Cost: some `n × n` matrices.
    fn null_deviation(
        &self,
        predictions: &P,
        targets: &P::Targets,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        null_variance::deviation(self, &predictions.detach(), targets, (kept, None))
    }

    /// Half of a bound of `|h|`, which the distribution-free tests need: `|h| ≤ 2·half_bound`.
    ///
    /// It is that of `k_Y`, since `k_P ≤ 1`: `h = k_P ⟨φ(y) − μ_P, φ(y') − μ_P'⟩` in the Hilbert space
    /// of `k_Y`, and for `k_Y ≥ 0`, `‖φ(y) − μ_P‖² = k_Y(y, y) − 2 E k_Y(y, Z) + E k_Y(Z, Z') ≤ 2 sup k_Y`.
    /// It holds also where `k_P` is not positive definite.
    fn half_bound(&self) -> f64 {
        self.on_targets().half_bound()
    }
}

impl<'a, P: Geometry> PairMatrix<'a, P> {
    /// `h` of data as [`JointKernel::pairs`], by a computation.
    ///
    /// # Errors
    ///
    /// As [`JointKernel::pairs`].
    pub fn checked(
        kernel: &'a impl JointKernel<P>,
        computation: Computation,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        Self::from_halves(kernel, computation, predictions, targets, None)
    }

    /// `h` of data, of mean 0 over the pairs `i ≠ j` if the model is calibrated, where predictions are
    /// draws from distributions that are not known too: then the one half of the draws of each tells
    /// samples apart, and the expectations are over the other
    /// ([`Redraws::halves`](crate::distribution::Redraws::halves)), so that the target,
    /// one more draw, is not known from either. For other predictions, and of draws of several dimensions,
    /// as [`checked`](Self::checked), which takes draws for the whole distribution.
    ///
    /// # Errors
    ///
    /// As [`JointKernel::pairs`]; one draw, which has no halves.
    pub fn fair(
        kernel: &'a impl JointKernel<P>,
        computation: Computation,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let halves = predictions.halves();
        let has_one_draw = halves.is_none() && predictions.pooled(targets).is_some();
        let (name, expected) = ("the number of draws of each prediction", "at least 2");
        check_parameter(!has_one_draw, name, 1.0, expected)?;
        let halves = halves.filter(|halves| halves.compared.coordinates().is_some());
        Self::from_halves(kernel, computation, predictions, targets, halves)
    }

    /// `h` of valid data. The kernel compares the first half of the predictions, and residuals are those of the second;
    /// both are the predictions where there are no halves.
    fn from_halves(
        kernel: &'a impl JointKernel<P>,
        computation: Computation,
        predictions: &P,
        targets: &P::Targets,
        halves: Option<Halves<P>>,
    ) -> Result<Self> {
        let on_predictions = kernel.fixed(predictions)?.on_predictions();
        let kernels = (on_predictions, kernel.on_targets());
        let (compared, expected) = match halves {
            Some(halves) => (
                halves.compared.detach(),
                halves.expected.unconditional().detach(),
            ),
            None => {
                let all = predictions.detach();
                let expected = all.unconditional().clone();
                (all, expected)
            }
        };
        let samples = (&expected, targets);
        Ok(Self::new(kernels, compared, samples, computation))
    }

    /// `h` of a training batch, differentiable with respect to the predictions; nothing is checked but the
    /// kernel on targets, or read back.
    ///
    /// # Panics
    ///
    /// If the kernel on targets is not one for such predictions.
    pub fn unchecked(
        kernel: &'a impl JointKernel<P>,
        computation: Computation,
        predictions: &P,
        targets: &P::Targets,
    ) -> Self {
        assert_valid(kernel, predictions);
        let kernels = (kernel.on_predictions(), kernel.on_targets());
        let samples = (predictions.unconditional(), targets);
        Self::new(kernels, predictions.clone(), samples, computation)
    }
}

/// Panics if predictions have weights, or the kernel on targets does not fit them. It reads nothing back from the
/// device.
fn assert_valid<P: Geometry>(kernel: &impl JointKernel<P>, predictions: &P) {
    predictions.assert_unweighted();
    let valid = kernel
        .on_targets()
        .validate_for(predictions.unconditional());
    if let Err(error) = valid {
        panic!("{error}");
    }
}

impl<P: Geometry> JointKernel<P> for Kernel
where
    White: TargetKernel<P::Unconditional>,
{
    fn on_predictions(&self) -> Kernel {
        *self
    }

    fn with_kernel_on_predictions(&self, kernel: Kernel) -> Self {
        kernel
    }

    fn on_targets(&self) -> &dyn TargetKernel<P::Unconditional> {
        &White
    }
}

impl<P: Geometry, T: TargetKernel<P::Unconditional> + Clone> JointKernel<P> for TensorKernel<T> {
    fn on_predictions(&self) -> Kernel {
        self.predictions
    }

    fn with_kernel_on_predictions(&self, kernel: Kernel) -> Self {
        Self::new(kernel, self.targets.clone())
    }

    fn on_targets(&self) -> &dyn TargetKernel<P::Unconditional> {
        &self.targets
    }
}
