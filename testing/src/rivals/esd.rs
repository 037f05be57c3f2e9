//! The expected squared difference of Yoon et al. 2023.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    loss::Criterion,
};

use super::TopLabel;

/// The expected squared difference of a batch (Yoon et al. 2023): no bins, no kernel, no bandwidth.
///
/// With confidences `r_i` and correctness `c_i` of the top label it estimates
/// `E_{r'}[(E[(c − r) 1(r ≤ r')])²]`, the mean squared difference of the cumulative accuracy and the
/// cumulative confidence, by the mean over ordered triples of different samples
/// `(n(n−1)(n−2))⁻¹ Σ_{i≠j≠k≠i} d_j d_k 1(r_j ≤ r_i) 1(r_k ≤ r_i)` with `d = c − r`. That is the mean of
/// `ḡ_i² − s_i²/(n−1)` with the mean and the sample variance of `g_ij = d_j 1(r_j ≤ r_i)` over `j ≠ i`, as
/// Yoon et al. write it. The gradient flows through `d`, not through `c` or the order of the confidences.
///
/// Unbiased, hence it can be negative; 0 with gradient 0 for fewer than three samples. It jumps where two
/// confidences cross. Cost: `n²` comparisons and a matrix of `n × n` numbers. The authors add it on samples
/// that are held out from the cross-entropy.
#[derive(Debug)]
pub struct Esd;

impl Criterion for Esd {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let n = predictions.len();
        if n == 0 {
            return predictions.probabilities().sum();
        }
        let top = TopLabel::of(predictions, labels);
        let triples = n as f64 * (n as f64 - 1.0) * (n as f64 - 2.0);
        let r = top.confidence.clone().detach();
        let above = r.clone().expand([n, n]).lower(r.transpose().expand([n, n])); // r_i < r_j
        let ones = Tensor::<2>::ones([n, n], (&top.correct.device(), top.correct.dtype()));
        let diagonal = Tensor::<2>::eye(n, &ones.device()).bool();
        let up_to = ones.mask_fill(above, 0.0).mask_fill(diagonal, 0.0); // 1(r_j ≤ r_i), j ≠ i
        let d = top.correct - top.confidence; // [n, 1]
        let sums = up_to.clone().matmul(d.clone()); // Σ_j g_ij
        let squares = up_to.matmul(d.square()); // Σ_j g_ij²
        (sums.square() - squares).sum() * triples.max(1.0).recip()
    }
}
