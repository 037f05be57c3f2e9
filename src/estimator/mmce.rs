use burn::tensor::{Bool, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::skce::weights_of_kept;
use crate::{
    distribution::{Batch as _, Categorical, Predictive, Weighted as _, most_likely_on_device},
    error::{Result, check_samples},
    estimator::Estimator,
    host::to_scalar,
    kernel::{Bandwidth, Distance, Kernel},
    ops::{Computation, is_on_host, laplacian_sum},
};

/// The estimators of the squared maximum mean calibration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MmceForm {
    /// `n⁻² Σ_ij (c_i − r_i)(c_j − r_j) k_ij`: at least 0, biased upward.
    Unweighted,
    /// Wrong and right predictions have equal total weights: `n₀⁻² Σ_{wrong,wrong} r_i r_j k + n₁⁻²
    /// Σ_{right,right} (1−r_i)(1−r_j) k − 2/(n₀n₁) Σ_{right,wrong} (1−r_i) r_j k`; an empty group drops its
    /// terms.
    Weighted,
    /// `2/(n(n−1)) Σ_{i<j} (c_i − r_i)(c_j − r_j) k_ij`: unbiased, can be negative; `n ≥ 2`.
    Unbiased,
}

/// The squared maximum mean calibration error of the confidence `r_i = max_c p_ic` against the
/// correctness `c_i = 1[argmax p_i = y_i]`, with `k(r, r') = exp(−|r − r'|/ν)`.
///
/// The gradient flows through `r`, not through `c`. It is half the SKCE of the top label as
/// a prediction of two classes (Kumar et al. 2018; Widmann et al. 2019, Example I.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Mmce {
    /// The estimator.
    pub form: MmceForm,
    /// The bandwidth `ν`, 0.4 by default.
    pub bandwidth: f64,
    /// The computation, fused on the host by default.
    #[serde(default)]
    pub computation: Computation,
}

impl Default for Mmce {
    fn default() -> Self {
        Self {
            form: MmceForm::Unweighted,
            bandwidth: 0.4,
            computation: Computation::Auto,
        }
    }
}

impl Mmce {
    /// The default bandwidth 0.4 with the given estimator.
    pub fn new(form: MmceForm) -> Self {
        Self {
            form,
            ..Self::default()
        }
    }

    /// Sets whether the computation is fused or composed.
    pub fn with_computation(self, computation: Computation) -> Self {
        Self {
            computation,
            ..self
        }
    }

    /// Returns the estimate of the squared MMCE as a differentiable tensor, `[1]`, for training.
    ///
    /// An empty batch gives 0, and so does one sample in the unbiased form, with gradient 0.
    ///
    /// Cost: `O(n log n)` operations and memory `O(n)` for the pairs by the fused
    /// [`laplacian_sum`] on the host, to which it reads other devices back; `n²` operations and a few `n × n`
    /// matrices composed, which is what other devices do by default.
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and labels differ, on labels that are no classes where they are on the
    /// host (elsewhere nothing is read back), or in a fused computation if the bandwidth is not a positive
    /// finite number.
    pub fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        self.value_of_kept(predictions, labels, None)
    }

    /// Returns the value over the samples that count.
    ///
    /// - kept: whether a sample counts, `[n]`; all if there is none
    pub(crate) fn value_of_kept(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        let (predictions, weights) = &predictions.batch_parts();
        predictions.assert_targets(labels);
        let n = predictions.len();
        if n == 0 {
            return predictions.zero();
        }
        let class = most_likely_on_device(predictions.probabilities()); // [n, 1]
        let confidence = predictions.probabilities().gather(1, class.clone());
        let correct = class
            .cast(labels.dtype())
            .equal(labels.clone().reshape([n, 1])); // [n, 1]
        let counts = weights_of_kept(weights.clone(), kept, &confidence); // [n, 1]
        let counting = |x: Tensor<2>| match &counts {
            Some(counts) => x * counts.clone(),
            None => x,
        };
        let ones = confidence.ones_like();
        let right = ones.clone().mask_fill(correct.bool_not(), 0.0); // c
        let residual = counting(right.clone() - confidence.clone()); // c − r
        let KernelSums { total, diagonal } = match self.form {
            MmceForm::Weighted => {
                // each residual over the size of its group; what does not count is in neither, and 0
                let wrong = ones - right.clone();
                let of_group = |group: Tensor<2>| group.clone() * counting(group).sum_dim(0);
                let size = of_group(right) + of_group(wrong);
                // 0 where a whole group does not count, with a residual of 0
                let none = size.clone().equal_elem(0.0);
                let size = size.mask_fill(none, 1.0);
                return self.sums(confidence, residual / size).total;
            }
            _ => self.sums(confidence, residual),
        };
        let less = f64::from(self.form == MmceForm::Unbiased); // the diagonal is left out
        let total = match self.form {
            MmceForm::Unbiased => total - diagonal,
            _ => total,
        };
        let Some(counts) = counts else {
            let pairs = n as f64 * (n as f64 - less);
            return total * if pairs > 0.0 { pairs.recip() } else { 0.0 };
        };
        // the weight of all pairs is the product of `sum` and `rest`
        let sum = counts.clone().sum();
        let rest = sum.clone() - counts.square().sum() / sum.clone() * less;
        let rounding = 4.0 * rest.dtype().finfo().expect("a float tensor").epsilon;
        let none = rest.clone().greater(sum.clone() * rounding).bool_not();
        let [sum, rest] = [sum, rest].map(|x| x.mask_fill(none.clone(), 1.0));
        total.mask_fill(none, 0.0) / sum / rest
    }

    /// The sums for `r` and `a` of shape `[n, 1]`.
    fn sums(&self, r: Tensor<2>, a: Tensor<2>) -> KernelSums {
        let fused = match self.computation {
            Computation::Auto => is_on_host(&r),
            Computation::Fused => true,
            Computation::Composed => false,
        };
        let weighted = if fused {
            let (r, a) = (r.squeeze_dim(1), a.clone().squeeze_dim(1)); // [n] each
            laplacian_sum(r, a, self.bandwidth).unsqueeze_dim(1)
        } else {
            let gram = self.kernel().gram(r.unsqueeze()).squeeze_dim::<2>(0); // [n, n]
            gram.matmul(a.clone())
        }; // Σ_j k_ij a_j: [n, 1]
        KernelSums {
            total: (a.clone() * weighted).sum(),
            diagonal: a.square().sum(),
        }
    }

    /// The kernel on confidences.
    fn kernel(&self) -> Kernel {
        Kernel::exponential()
            .with_distance(Distance::L1)
            .with_bandwidth(Bandwidth::Fixed(self.bandwidth))
    }

    /// Checks the bandwidth and the number of samples.
    pub(crate) fn validate(&self, samples: usize) -> Result<()> {
        self.kernel().validate()?;
        match self.form {
            MmceForm::Unbiased => check_samples("an unbiased estimate of the MMCE", 2, samples),
            _ => Ok(()),
        }
    }
}

/// Sums over all pairs of samples, `[1]` each.
struct KernelSums {
    /// `Σ_ij a_i a_j k(r_i, r_j)`.
    total: Tensor<1>,
    /// `Σ_i a_i²`.
    diagonal: Tensor<1>,
}

impl Estimator for Mmce {
    /// The estimate of the squared MMCE from data.
    ///
    /// Cost: as [`value`](Self::value), but fused on every device unless composed is asked for, so
    /// that no `n × n` matrix is needed.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.validate(predictions.len())?;
        predictions.parted().0.check_labels(labels)?;
        let mmce = match self.computation {
            Computation::Auto => self.with_computation(Computation::Fused),
            _ => *self,
        };
        Ok(to_scalar(mmce.value(&predictions.detach(), labels)))
    }
}
