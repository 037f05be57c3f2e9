use burn::tensor::{Int, Tensor};

use super::SkceForm;
use crate::{
    distribution::{self, Categorical},
    kernel::{ClassKernel, Kernel},
    ops::{
        Computation, PairKernel, has_fused_pass, is_on_host, pair_statistic, residual_statistic,
    },
};

/// The folded residuals `Lᵀδ_i`, `[n, m] → [n, rank]`.
pub(crate) fn residuals(
    kernel: &impl ClassKernel,
    probabilities: Tensor<2>,
    labels: Tensor<1, Int>,
) -> Tensor<2> {
    kernel.fold(distribution::residuals(probabilities, labels))
}

/// The residuals whose inner products are taken.
pub(super) enum Residuals {
    /// `e_y − p`.
    OfLabels(Tensor<1, Int>),
    /// `[n, m]`
    Rows(Tensor<2>),
}

/// The SKCE of classes by a fused pass.
pub(super) struct FusedPass {
    pub kernel: Kernel,
    /// The same as the pass knows it.
    pub fused: PairKernel,
    pub form: SkceForm,
    pub computation: Computation,
}

impl FusedPass {
    /// The value of checked predictions and labels. None if there is no fused pass on their device and none
    /// is asked for.
    ///
    /// # Panics
    ///
    /// If a fused pass is asked for that does not exist.
    pub fn of(
        kernel: &impl ClassKernel,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        form: SkceForm,
        computation: Computation,
    ) -> Option<Tensor<1>> {
        let fused = match kernel.fused() {
            None if computation == Computation::Fused => panic!("{kernel:?} has no fused path"),
            fused => fused?,
        };
        let pass = Self {
            kernel: kernel.scalar(),
            fused,
            form,
            computation,
        };
        let points = predictions.probabilities();
        let folded = kernel.matrix().is_some();
        if folded && computation == Computation::Auto && !is_on_host(&points) {
            return None;
        }
        let residuals = if folded {
            Residuals::Rows(residuals(kernel, points.clone(), labels.clone()))
        } else {
            Residuals::OfLabels(labels.clone())
        };
        pass.value(&points, residuals)
    }

    /// None if the computation is composed, or there are no pairs.
    pub fn value(&self, points: &Tensor<2>, residuals: Residuals) -> Option<Tensor<1>> {
        let n = points.dims()[0];
        let exists = match residuals {
            Residuals::OfLabels(_) => has_fused_pass(points),
            Residuals::Rows(_) => is_on_host(points),
        };
        match self.computation {
            _ if n < 2 => return None,
            Computation::Composed => return None,
            Computation::Auto if !exists => return None,
            _ => (),
        }
        let (points, pairing) = (points.clone(), self.form.pairing(n));
        let bandwidth = self
            .kernel
            .bandwidth_of_pairs(points.clone(), pairing.size(n), || None);
        let (kernel, pass) = (self.fused, residuals);
        Some(match pass {
            Residuals::OfLabels(labels) => {
                pair_statistic(points, labels, bandwidth, kernel, pairing)
            }
            Residuals::Rows(rows) => residual_statistic(points, rows, bandwidth, kernel, pairing),
        })
    }
}
