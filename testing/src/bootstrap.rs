//! The test of the unbiased SKCE by the bootstrap, as in Widmann et al. 2019, appendix G, and 2021.

use burn::tensor::{Tensor, TensorData};
use burn_calibration::{
    distribution::Geometry,
    error::Result,
    estimator::JointKernel,
    hypothesis::{CalibrationTest, TestOutcome},
};
use rand::{Rng, RngExt};

/// The bootstrap of Arcones and Giné (1992) for degenerate U-statistics. For a resample with counts `w` and
/// `v = w − 1`, `n T* = n⁻¹ (vᵀ H v − Σ_i w_i H̃_ii)`, `H̃_ii = H_ii − 2n⁻¹ Σ_j H_ij + n⁻² Σ_jk H_jk`.
/// The statistic is the estimate. Conservative on small data: repeated samples add the diagonal of `H` to the
/// variance.
///
/// It takes the variance of `h` from the labels, so that it has less power than the test of the library, which
/// takes it from the predictions. Cost: `n²(m + R)` operations.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap<K> {
    /// The kernel.
    pub kernel: K,
    /// The number `R` of replicates.
    pub replicates: usize,
}

/// Rows of `H` that are held at once.
const ROWS: usize = 256;

impl<P: Geometry, K: JointKernel<P>> CalibrationTest<P> for Bootstrap<K> {
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let kernel = self.kernel.fixed(predictions)?;
        let pairs = kernel.pairs(predictions, targets)?;
        let n = pairs.samples();
        let mut counts = vec![-1.0; n * self.replicates]; // v, [n, R]
        for replicate in 0..self.replicates {
            for _ in 0..n {
                counts[rng.random_range(0..n) * self.replicates + replicate] += 1.0;
            }
        }
        let diagonal = pairs.diagonal(); // [n]
        let like = (&diagonal.device(), diagonal.dtype());
        let weights = TensorData::new(counts, [n, self.replicates]);
        let weights = Tensor::<2>::from_data(weights, like);
        let mut sums = Vec::with_capacity(n); // Σ_j H_ij
        let mut forms = Tensor::<2>::zeros([1, self.replicates], like); // vᵀ H v
        for start in (0..n).step_by(ROWS) {
            let rows = start..n.min(start + ROWS);
            let h = pairs.tile(rows.clone(), 0..n); // [rows, n]
            sums.extend(numbers(h.clone().sum_dim(1)));
            let product = h.matmul(weights.clone()) * weights.clone().slice(rows);
            forms = forms + product.sum_dim(0);
        }
        let size = n as f64;
        let total: f64 = sums.iter().sum();
        let diagonal = numbers(diagonal);
        let centred = diagonal.iter().zip(&sums);
        let centred: Vec<f64> =
            centred // H̃_ii
                .map(|(h, row)| h - 2.0 * row / size + total / (size * size))
                .collect();
        let centred_sum: f64 = centred.iter().sum();
        let centred = Tensor::<2>::from_data(TensorData::new(centred, [1, n]), like);
        let corrections = numbers(centred.matmul(weights)); // Σ_i v_i H̃_ii
        let replicates: Vec<f64> = (numbers(forms).iter().zip(corrections))
            .map(|(form, correction)| (form - correction - centred_sum) / (size * size))
            .collect();
        let skce = (total - diagonal.iter().sum::<f64>()) / (size * (size - 1.0));
        let name = "bootstrap of the unbiased SKCE";
        Ok(TestOutcome::by_replicates(name, n, skce, &replicates))
    }
}

fn numbers<const D: usize>(x: Tensor<D>) -> Vec<f64> {
    x.try_into_vec_as::<f64>().expect("numbers")
}
