//! The soft-binned ECE of Karandikar et al. 2021.

use burn::tensor::{Int, Tensor, TensorData, activation::softmax};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    loss::Criterion,
};

use super::TopLabel;

/// What the soft-binned ECE compares with the accuracy `A_b` of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // the study takes the first, the tests both
pub enum SoftEceForm {
    /// The mean confidence of the bin, `(n⁻¹ Σ_b S_b |A_b − C_b|^p)^{1/p}`.
    Binned,
    /// Each confidence of its own, `(n⁻¹ Σ_ib u_ib |A_b − r_i|^p)^{1/p}`: at least as large, by Jensen's
    /// inequality. Yoon et al. (2023) compare with this form.
    LabelBinned,
}

/// The soft-binned expected calibration error of a batch (Karandikar et al. 2021).
///
/// With confidences `r_i` and correctness `c_i` of the top label, bins around `ξ_b = (2b − 1)/2B` and
/// memberships `u_ib ∝ exp(−(r_i − ξ_b)²/T)` that sum to 1 over the bins,
/// `(n⁻¹ Σ_b S_b |A_b − C_b|^p)^{1/p}` with `S_b = Σ_i u_ib`, `A_b = S_b⁻¹ Σ_i u_ib c_i` and
/// `C_b = S_b⁻¹ Σ_i u_ib r_i`. The gradient flows through `r`, in the memberships too, not through `c`.
///
/// It is an estimate from the batch itself, hence of a calibrated model positive, of the order
/// `√(number of bins in use/n)`, and no penalty of the whole prediction. The root has gradient 0 where the
/// error is 0, and an empty batch gives 0. Cost: `O(nB)` operations and memory, besides the softmax.
///
/// Karandikar, Cain, Tran, Lakshminarayanan, Shlens, Mozer, Roelofs 2021, equations 11 and 12. They search
/// for `T` and the weight; 15 bins and `T = 0.01`, the default, are those of Yoon et al. (2023).
#[derive(Debug)]
pub struct SoftEce {
    /// The number `B` of bins of equal width.
    pub bins: usize,
    /// The temperature `T` of the memberships: they are those of hard bins for `T → 0`.
    pub temperature: f64,
    /// The norm `p ≥ 1`.
    pub norm: f64,
    /// What is compared with the accuracy of a bin.
    pub form: SoftEceForm,
}

impl Default for SoftEce {
    fn default() -> Self {
        Self {
            bins: 15,
            temperature: 0.01,
            norm: 2.0,
            form: SoftEceForm::Binned,
        }
    }
}

impl SoftEce {
    /// The centres of the bins, `[1, B]`.
    fn centres(&self, like: &Tensor<2>) -> Tensor<2> {
        let width = (self.bins as f64).recip();
        let centres = (0..self.bins).map(|b| (b as f64 + 0.5) * width).collect();
        let centres = TensorData::new::<f64, _>(centres, [1, self.bins]);
        Tensor::from_data(centres, (&like.device(), like.dtype()))
    }

    /// `|x|^p`, subgradient 0 at 0.
    fn power(&self, x: Tensor<2>) -> Tensor<2> {
        x.abs().powf_scalar(self.norm)
    }
}

impl Criterion for SoftEce {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let n = predictions.len();
        if n == 0 {
            return predictions.probabilities().sum();
        }
        let top = TopLabel::of(predictions, labels);
        let (r, c) = (top.confidence, top.correct); // [n, 1] each
        let distances = (r.clone() - self.centres(&r)).square(); // [n, B]
        let memberships = softmax(distances * -self.temperature.recip(), 1);
        let sizes = memberships.clone().sum_dim(0); // [1, B]
        // the square of what divides has an inverse
        let least = r.dtype().finfo().expect("a float tensor").min_positive;
        let mean = |x: Tensor<2>| {
            (memberships.clone() * x).sum_dim(0) / sizes.clone().clamp_min(least.sqrt())
        };
        let errors = match self.form {
            SoftEceForm::Binned => self.power(mean(c - r)) * sizes.clone(), // [1, B]
            SoftEceForm::LabelBinned => self.power(mean(c) - r) * memberships.clone(), // [n, B]
        };
        let error = errors.sum() * (n as f64).recip();
        let zero = error.clone().lower_equal_scalar(0.0);
        let root = error.mask_fill(zero.clone(), 1.0);
        root.powf_scalar(self.norm.recip()).mask_fill(zero, 0.0)
    }
}
