//! The pair statistic `h_ij = k(p_i, p_j) · δ_iᵀ M δ_j` of the squared kernel calibration error
//! (Widmann et al. 2019, Lemma 1), its one definition for training, estimates and tests.
//!
//! The matrix enters through the residuals: with `M = L Lᵀ`, `h` is the product of `k` and the inner
//! product of the folded residuals `Lᵀδ`. For a scalar kernel `M = I`, and they are the residuals.

use std::ops::Range;

use burn::tensor::{Int, Tensor};

use super::{
    SkceForm,
    fused_pass::{FusedPass, Residuals, residuals},
    pair_matrix::{PairMatrix, block_estimates, without_fused_pass},
};
use crate::{
    distribution::{self, Categorical, in_batches},
    error::Result,
    host::to_scalar,
    kernel::{Bandwidth, ClassKernel, Kernel},
    ops::{Computation, PairKernel, block_values, is_on_host},
};

/// Numbers of points that are read at once.
const AT_ONCE: usize = 1 << 22;
/// Numbers of residuals that are computed at once.
const RESIDUALS: usize = 1 << 19;

/// `h` between all samples of each batch, from folded residuals.
///
/// - points: `[batch, n, d]`, residuals: `[batch, n, m]`, output: `[batch, n, n]`
pub(crate) fn within(kernel: &Kernel, points: Tensor<3>, residuals: Tensor<3>) -> Tensor<3> {
    kernel.gram(points) * residuals.clone().matmul(residuals.transpose())
}

/// The diagonal of `h`: `h_ii = κ(0) δ_iᵀ M δ_i = ‖Lᵀδ_i‖²`, `[batch, n, m] → [batch, n, 1]`.
pub(crate) fn diagonal(residuals: Tensor<3>) -> Tensor<3> {
    residuals.square().sum_dim(2)
}

/// `h` of checked class predictions, embedded for a kernel with a fixed bandwidth.
#[derive(Debug, Clone)]
pub struct ClassPairs {
    kernel: Kernel,
    /// The kernel as the fused pass knows it; kernels of users need not have one.
    fused: Option<PairKernel>,
    points: Tensor<2>,
    /// The residuals, if they are folded, or the points are not the probabilities.
    residuals: Option<Tensor<2>>,
    labels: Tensor<1, Int>,
    computation: Computation,
}

impl ClassPairs {
    /// Checks the labels and fixes the bandwidth at the median of all pairs where it is to be.
    pub(crate) fn new(
        kernel: &impl ClassKernel,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Self> {
        predictions.check_labels(labels)?;
        kernel.validate_for(predictions.classes())?;
        let points = predictions.probabilities().detach();
        Ok(Self {
            kernel: kernel.scalar().with_bandwidth_of(&points)?,
            fused: kernel.fused(),
            residuals: folded(kernel, &points, labels),
            points,
            labels: labels.clone(),
            computation: Computation::Auto,
        })
    }

    /// Checked residuals at points, for a kernel with a fixed bandwidth.
    pub(super) fn of_residuals(
        kernel: &impl ClassKernel,
        points: Tensor<2>,
        residuals: Tensor<2>,
        labels: &Tensor<1, Int>,
    ) -> Self {
        Self {
            kernel: kernel.scalar(),
            fused: kernel.fused(),
            points,
            residuals: Some(residuals),
            labels: labels.clone(),
            computation: Computation::Auto,
        }
    }

    /// The scalar kernel, its bandwidth fixed.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Other predictions for the same labels, by the same kernel with the same bandwidth.
    ///
    /// - predictions: as many, over as many classes
    pub(crate) fn with_predictions(
        &self,
        kernel: &impl ClassKernel,
        predictions: &Categorical,
    ) -> Self {
        let points = predictions.probabilities().detach();
        Self {
            residuals: folded(kernel, &points, &self.labels),
            points,
            ..self.clone()
        }
    }

    /// The residuals of some samples, folded where there is a matrix other than `I`.
    fn residuals(&self, rows: Range<usize>) -> Tensor<2> {
        match &self.residuals {
            Some(folded) => folded.clone().slice(rows),
            None => {
                let labels = self.labels.clone().slice(rows.clone());
                distribution::residuals(self.points.clone().slice(rows), labels)
            }
        }
    }
}

/// The folded residuals, where there is a matrix other than `I`.
fn folded(
    kernel: &impl ClassKernel,
    points: &Tensor<2>,
    labels: &Tensor<1, Int>,
) -> Option<Tensor<2>> {
    let residuals = || residuals(kernel, points.clone(), labels.clone());
    kernel.matrix().is_some().then(residuals)
}

impl PairMatrix for ClassPairs {
    fn samples(&self) -> usize {
        self.points.dims()[0]
    }

    fn with_computation(self, computation: Computation) -> Self {
        Self {
            computation,
            ..self
        }
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Tensor<2> {
        let residuals_rows = self.residuals(rows.clone());
        let residuals_columns = self.residuals(columns.clone());
        let gram = self.kernel.between_by(
            self.computation,
            self.points.clone().slice(rows).unsqueeze(),
            self.points.clone().slice(columns).unsqueeze(),
        );
        gram.squeeze_dim(0) * residuals_rows.matmul(residuals_columns.transpose())
    }

    fn diagonal(&self) -> Tensor<1> {
        // some samples at a time: the residuals are as large as the points
        let [n, m] = self.points.dims();
        let step = (RESIDUALS / m).max(1);
        let part = |first: usize| {
            let rows = first..n.min(first + step);
            let count = rows.len();
            diagonal(self.residuals(rows).unsqueeze()).reshape([count])
        };
        Tensor::cat((0..n).step_by(step).map(part).collect(), 0)
    }

    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let rows = blocks.start * size..blocks.end * size;
        let part = |x: Tensor<2>| in_batches(x, blocks.len());
        let points = self.points.clone().slice(rows.clone());
        within(&self.kernel, part(points), part(self.residuals(rows)))
    }

    fn block_estimates(&self, size: usize) -> Vec<f64> {
        match (self.fused, self.kernel.bandwidth) {
            (Some(kernel), Bandwidth::Fixed(bandwidth))
                if self.residuals.is_none() && is_on_host(&self.points) =>
            {
                // some blocks at a time: the points may be copied
                let [n, m] = self.points.dims();
                let (step, used) = ((AT_ONCE / (size * m)).max(1) * size, n / size * size);
                let of_part = |first: usize| {
                    let rows = first..used.min(first + step);
                    let points = self.points.clone().slice(rows.clone());
                    block_values(
                        points,
                        self.labels.clone().slice(rows),
                        kernel,
                        bandwidth,
                        size,
                    )
                };
                (0..used).step_by(step).flat_map(of_part).collect()
            }
            _ => block_estimates(self, size),
        }
    }

    fn fused_estimate(&self, form: SkceForm, computation: Computation) -> Result<Option<f64>> {
        let Some(fused) = self.fused else {
            return without_fused_pass(computation, format!("{:?}", self.kernel));
        };
        if let (SkceForm::Block(size), Computation::Auto, None) =
            (form, computation, &self.residuals)
            && is_on_host(&self.points)
        {
            let blocks = self.block_estimates(size); // some at a time
            return Ok(Some(blocks.iter().sum::<f64>() / blocks.len() as f64));
        }
        let residuals = match &self.residuals {
            None => Residuals::OfLabels(self.labels.clone()),
            Some(folded) => Residuals::Rows(folded.clone()),
        };
        let pass = FusedPass {
            kernel: self.kernel,
            fused,
            form,
            computation,
        };
        Ok(pass.value(&self.points, residuals).map(to_scalar))
    }
}
