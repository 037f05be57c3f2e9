use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    pair_matrix::{PairMatrix, without_fused_pass},
};
use crate::{
    distribution::{Geometry, Predictive, Targets},
    error::Result,
    kernel::{TargetKernel, TensorKernel},
    ops::Computation,
};

/// `h` of a [`TensorKernel`] and checked data.
#[derive(Debug, Clone)]
pub struct TensorPairs<P: Predictive, T> {
    /// Its bandwidth is fixed.
    kernel: TensorKernel<T>,
    predictions: P,
    targets: P::Targets,
    computation: Computation,
}

impl<P: Geometry, T: TargetKernel<P>> TensorPairs<P, T> {
    pub(super) fn new(
        kernel: &TensorKernel<T>,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        Ok(Self {
            kernel: kernel.clone().fixed(predictions)?,
            predictions: predictions.detach(),
            targets: targets.clone(),
            computation: Computation::Auto,
        })
    }
}

impl<P: Geometry, T: TargetKernel<P>> PairMatrix for TensorPairs<P, T> {
    fn samples(&self) -> usize {
        self.predictions.len()
    }

    fn with_computation(self, computation: Computation) -> Self {
        Self {
            computation,
            ..self
        }
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Tensor<2> {
        let part = |rows: Range<usize>| {
            (
                self.predictions.slice_rows(rows.clone()),
                self.targets.slice_rows(rows),
            )
        };
        let ((p, y), (q, z)) = (part(rows), part(columns));
        self.kernel.h_between(self.computation, (&p, &y), (&q, &z))
    }

    /// `k_P(P, P) = 1`.
    fn diagonal(&self) -> Tensor<1> {
        let n = self.samples();
        let kernel = &self.kernel;
        kernel
            .residual_product_within(&self.predictions, &self.targets, n) // [n, 1, 1]
            .reshape([n])
    }

    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let rows = blocks.start * size..blocks.end * size;
        let (p, y) = (
            self.predictions.slice_rows(rows.clone()),
            self.targets.slice_rows(rows),
        );
        self.kernel.h_within(&p, &y, blocks.len())
    }

    fn fused_estimate(&self, _form: SkceForm, computation: Computation) -> Result<Option<f64>> {
        without_fused_pass(computation, format!("{:?}", self.kernel))
    }
}
