use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    fused_pass::{FusedPass, Residuals},
    pair,
};
use crate::{
    distribution::{Geometry, in_batches},
    kernel::{ClassKernel, Kernel, TargetKernel, TensorKernel},
    ops::Computation,
};

/// `h` of a [`TensorKernel`] where the residuals have
/// [features](TargetKernel::residual_features): `h_ij = k_P(P_i, P_j) Φ_i·Φ_j`, as that of classes.
#[derive(Debug, Clone)]
pub(super) struct FeaturePairs<P> {
    kernel: Kernel,
    predictions: P,
    /// `Φ`, `[n, r]`.
    residuals: Tensor<2>,
}

impl<P: Geometry> FeaturePairs<P> {
    /// None where there are no features.
    pub fn new<T: TargetKernel<P>>(
        kernel: &TensorKernel<T>,
        predictions: &P,
        targets: &P::Targets,
    ) -> Option<Self> {
        let sets = std::slice::from_ref(targets);
        let residuals = kernel.targets.residual_features(predictions, sets)?;
        Some(Self {
            kernel: kernel.predictions,
            predictions: predictions.clone(),
            residuals: residuals.into_iter().next()?,
        })
    }

    /// Does what [`PairMatrix::tile`](super::PairMatrix::tile) does; the bandwidth must be fixed.
    pub fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Tensor<2> {
        let ranges = [rows, columns];
        let [p, q] = ranges.clone().map(|at| self.predictions.slice_rows(at));
        let gram = self.kernel.between_of(&p, &q).squeeze_dim::<2>(0);
        let [rows, columns] = ranges.map(|at| self.residuals.clone().slice(at));
        gram * rows.matmul(columns.transpose())
    }

    /// `h_ii`, `[n]`.
    pub fn diagonal(&self) -> Tensor<1> {
        let n = self.predictions.len();
        pair::diagonal(self.residuals.clone().unsqueeze()).reshape([n])
    }

    /// Does what [`PairMatrix::within_blocks`](super::PairMatrix::within_blocks) does.
    pub fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let rows = blocks.start * size..blocks.end * size;
        let residuals = in_batches(self.residuals.clone().slice(rows.clone()), blocks.len());
        let predictions = self.predictions.slice_rows(rows);
        let gram = self.kernel.gram_of(&predictions, blocks.len());
        gram * residuals.clone().matmul(residuals.transpose())
    }

    /// The SKCE by the fused pass of residuals, differentiable. None where there is none for the kernel, for
    /// predictions that are no points, or on their device.
    pub fn fused_value(&self, form: SkceForm, computation: Computation) -> Option<Tensor<1>> {
        let pass = FusedPass {
            kernel: self.kernel,
            fused: self.kernel.fused()?,
            form,
            computation,
        };
        pass.value(
            &self.predictions.coordinates()?,
            Residuals::Rows(self.residuals.clone()),
        )
    }
}
