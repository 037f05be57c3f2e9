use burn::tensor::Tensor;

use super::JointKernel;
use crate::{
    distribution::{Batch as _, Categorical, Geometry, Predictive, Targets},
    error::Result,
    estimator::Estimator,
    host::to_scalar,
    kernel::Kernel,
};

/// The squared unnormalised calibration mean embedding at test locations `(T_j, τ_j)`,
///
/// `UCME² = J⁻¹ Σ_j [n⁻¹ Σ_i z_ji]²`, `z_ji = k(T_j, p_i) · e_{τ_j}ᵀ M δ_i`,
///
/// for classes, and for any predictions
/// `z_ji = k_P(T_j, P_i) (k_Y(τ_j, y_i) − E_{Z∼P_i} k_Y(τ_j, Z))` by a
/// [`TensorKernel`](crate::kernel::TensorKernel). For a scalar kernel on classes, `M = I`, it is
/// `z_ji = k(T_j, p_i) · (1[τ_j = y_i] − p_i[τ_j])`. Each `z_j`
/// has mean 0 if the model is calibrated; for an analytic kernel and locations drawn from a density,
/// one of the means is not 0 otherwise, almost surely. Linear in the number of samples.
///
/// At least 0, and biased upward by the mean of `Var(z_j)/n`. Widmann et al. 2021,
/// appendix C; after the mean embedding tests of Chwialkowski et al. 2015.
///
/// ```
/// use burn::tensor::{Device, Distribution, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, estimator::{Estimator, Ucme}, kernel::Kernel};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let normal = |rows| Tensor::<2>::random([rows, 3], Distribution::Normal(0.0, 1.0), &device);
/// // ten locations, with each class in turn
/// let classes = Tensor::<1, Int>::arange(0..10, &device) % 3;
/// let ucme = Ucme::new(Kernel::gaussian(), &Categorical::from_logits(normal(10))?, &classes)?;
///
/// let predictions = Categorical::from_logits(normal(200))?;
/// let labels = Tensor::<1, Int>::zeros([200], &device); // not calibrated: always the first class
/// assert!(ucme.estimate(&predictions, &labels)? > 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Ucme<K = Kernel, P: Predictive = Categorical> {
    kernel: K,
    /// `T_j`.
    predictions: P,
    /// `τ_j`.
    targets: P::Targets,
}

impl<P: Geometry, K: JointKernel<P>> Ucme<K, P> {
    /// Creates the estimator with the given test locations: predictions `T_j` and targets `τ_j`. They
    /// must not depend on the data.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, another number of targets than of predictions, or a
    /// kernel that is not valid for them.
    pub fn new(kernel: K, predictions: &P, targets: &P::Targets) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        kernel.fixed(predictions)?;
        Ok(Self {
            kernel,
            predictions: predictions.detach(),
            targets: targets.clone(),
        })
    }

    /// Fixes a median bandwidth at that of the given predictions.
    pub(crate) fn fixed(&self, predictions: &P) -> Result<Self> {
        self.predictions.check_like(predictions)?;
        predictions.check()?;
        Ok(Self {
            kernel: self.kernel.fixed(&predictions.detach())?,
            ..self.clone()
        })
    }

    /// The number `J` of test locations.
    pub fn locations(&self) -> usize {
        self.predictions.len()
    }

    /// `z_ji` for each location and sample, differentiable, `[J, n]`, in the dtype of the predictions.
    ///
    /// A median bandwidth is that of all pairs of the predictions, which takes an `n × n` matrix.
    ///
    /// Cost: `J·n·m` operations for `m` classes or dimensions.
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and targets differ, or the predictions are over other classes or
    /// dimensions than the locations.
    pub fn embeddings(&self, predictions: &P, targets: &P::Targets) -> Tensor<2> {
        if let Err(error) = self.predictions.check_like(predictions) {
            panic!("test locations of another kind: {error}");
        }
        assert_eq!(
            predictions.len(),
            targets.len(),
            "numbers of predictions and targets"
        );
        let locations = self.predictions.like(predictions);
        let locations = (&locations, &self.targets);
        self.kernel.embeddings(locations, (predictions, targets))
    }

    /// `UCME²` as a differentiable tensor, `[1]`, for training; of no samples 0.
    ///
    /// Cost and panics: as [`embeddings`](Self::embeddings).
    pub fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        match predictions.len() {
            0 => predictions.zero(),
            _ => mean_square(self.embeddings(predictions, targets)),
        }
    }
}

impl<P: Geometry, K: JointKernel<P>> Estimator<P> for Ucme<K, P> {
    /// The estimate of `UCME²` from data; a median bandwidth is that of the predictions.
    ///
    /// Cost: `J·n·m` operations, and those of a
    /// [median bandwidth](crate::kernel::median_distance); memory `O(J·n)`.
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        let fixed = self.fixed(predictions)?;
        predictions.check_targets(targets)?;
        Ok(to_scalar(fixed.value(&predictions.detach(), targets)))
    }
}

/// `J⁻¹ Σ_j [n⁻¹ Σ_i z_ji]²`, `[J, n] → [1]`.
fn mean_square(embeddings: Tensor<2>) -> Tensor<1> {
    let [locations, samples] = embeddings.dims();
    // products: in Burn 0.22.1 the gradient of a division by a scalar goes through f32
    let means = embeddings.sum_dim(1) * (samples as f64).recip();
    means.square().sum() * (locations as f64).recip()
}
