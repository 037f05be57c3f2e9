use burn::tensor::{Int, Tensor, TensorData};

use super::pair;
use crate::{
    distribution::Categorical,
    error::Result,
    host::{to_scalar, to_vec},
    kernel::{ClassKernel, Kernel},
};

/// The squared unnormalised calibration mean embedding at test locations `(T_j, τ_j)`,
///
/// `UCME² = J⁻¹ Σ_j [n⁻¹ Σ_i z_ji]²`, `z_ji = k(T_j, p_i) · e_{τ_j}ᵀ M δ_i`,
///
/// which for a scalar kernel, `M = I`, is `z_ji = k(T_j, p_i) · (1[τ_j = y_i] − p_i[τ_j])`. Each `z_j`
/// has mean 0 if the model is calibrated; for an analytic kernel and locations drawn from a density,
/// one of the means is not 0 otherwise, almost surely. Linear in the number of samples.
///
/// At least 0, and biased upward by the mean of `Var(z_j)/n`. Widmann, Lindsten, Zachariah:
/// *Calibration tests beyond classification*, 2021, appendix C; after the mean embedding tests of
/// Chwialkowski et al. 2015.
///
/// ```
/// use burn::tensor::Device;
/// use burn_calibration::{distribution::DirichletModel, estimator::Ucme, kernel::Kernel};
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let (device, mut rng) = (Device::default(), StdRng::seed_from_u64(0));
/// // locations that are uniform over the simplex, with uniform classes
/// let uniform = DirichletModel::new(vec![1.0; 3], 1.0, vec![1.0 / 3.0; 3])?;
/// let (predictions, classes) = uniform.sample(10, &device, &mut rng);
/// let ucme = Ucme::new(Kernel::gaussian(), &predictions, &classes)?;
///
/// let model = DirichletModel::new(vec![0.5; 3], 0.8, vec![1.0, 0.0, 0.0])?; // not calibrated
/// let (predictions, labels) = model.sample(200, &device, &mut rng);
/// assert!(ucme.estimate(&predictions, &labels)? > 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ucme<K = Kernel> {
    kernel: K,
    classes: usize,
    /// `T_j`, row by row.
    predictions: Vec<f64>,
    /// `τ_j`.
    targets: Vec<usize>,
}

impl<K: ClassKernel> Ucme<K> {
    /// With the given test locations: predictions `T_j` and classes `τ_j`. They must not depend on
    /// the data.
    ///
    /// # Shapes
    ///
    /// - predictions: `J × m`
    /// - targets: `[J]`
    ///
    /// # Errors
    ///
    /// A target that is not a class, another number of them than of predictions, or a kernel that is
    /// not valid for so many classes.
    pub fn new(kernel: K, predictions: &Categorical, targets: &Tensor<1, Int>) -> Result<Self> {
        kernel.validate_for(predictions.classes())?;
        Ok(Self {
            kernel,
            classes: predictions.classes(),
            targets: predictions.check_labels(targets)?,
            predictions: to_vec(predictions.probabilities().detach()),
        })
    }

    /// The number `J` of test locations.
    pub fn locations(&self) -> usize {
        self.targets.len()
    }

    /// `z_ji` for each location and sample, differentiable.
    ///
    /// A median bandwidth is that of all pairs of the probabilities, which takes an `n × n` matrix.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`
    /// - labels: `[n]`, classes in `0..m` (not checked: nothing is read back)
    /// - output: `[J, n]`, in the dtype of the probabilities
    ///
    /// Cost: `J·n·m` operations.
    ///
    /// # Panics
    ///
    /// If the numbers of probabilities and labels differ, or the number of classes is not that of
    /// the locations.
    pub fn embeddings(&self, probabilities: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<2> {
        self.embeddings_by(self.kernel.scalar(), probabilities, labels)
    }

    fn embeddings_by(
        &self,
        kernel: Kernel,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<2> {
        let [n, m] = probabilities.dims();
        assert_eq!(
            m, self.classes,
            "classes of the predictions and the locations"
        );
        assert_eq!(n, labels.dims()[0], "numbers of predictions and labels");
        let options = (&probabilities.device(), probabilities.dtype());
        let shape = [self.locations(), m];
        let one_hot = |&target| (0..m).map(move |c| f64::from(c == target));
        let one_hot: Vec<f64> = self.targets.iter().flat_map(one_hot).collect();
        let one_hot = Tensor::<2>::from_data(TensorData::new(one_hot, shape), options); // e_τ
        let locations = TensorData::new(self.predictions.clone(), shape);
        let locations = Tensor::<2>::from_data(locations, options);

        let residuals = pair::residuals(&self.kernel, probabilities.clone(), labels); // [n, rank]
        let targets = self.kernel.fold(one_hot); // [J, rank]
        let gram = kernel.at_locations(locations.unsqueeze(), probabilities.unsqueeze());
        gram.squeeze_dim::<2>(0) * targets.matmul(residuals.transpose()) // [J, n]
    }

    /// `UCME²` as a differentiable tensor, for training; of no samples 0.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`
    /// - labels: `[n]`, classes in `0..m` (not checked: nothing is read back)
    /// - output: `[1]`, in the dtype of the probabilities
    ///
    /// Cost and panics: as [`embeddings`](Self::embeddings).
    pub fn value(&self, probabilities: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        match probabilities.dims() {
            [0, _] => probabilities.sum(),
            _ => mean_square(self.embeddings(probabilities, labels)),
        }
    }

    /// The estimate of `UCME²` from data; a median bandwidth is that of the predictions.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `J·n·m` operations, and those of a
    /// [median bandwidth](crate::kernel::median_distance); memory `O(J·n)`.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or another number
    /// of classes than the locations have.
    pub fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        predictions.check_labels(labels)?;
        predictions.check_classes(self.classes)?;
        let probabilities = predictions.probabilities().detach();
        let kernel = self.kernel.scalar().with_bandwidth_of(&probabilities)?;
        let embeddings = self.embeddings_by(kernel, probabilities, labels.clone());
        Ok(to_scalar(mean_square(embeddings)))
    }
}

/// `J⁻¹ Σ_j [n⁻¹ Σ_i z_ji]²`, `[J, n] → [1]`.
fn mean_square(embeddings: Tensor<2>) -> Tensor<1> {
    let [locations, samples] = embeddings.dims();
    // products: in Burn 0.22.1 the gradient of a division by a scalar goes through f32
    let means = embeddings.sum_dim(1) * (samples as f64).recip();
    means.square().sum() * (locations as f64).recip()
}
