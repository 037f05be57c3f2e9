use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    pair_matrix::{PairMatrix, block_estimates, without_fused_pass},
};
use crate::{
    distribution::{Geometry, Predictive, Targets},
    error::Result,
    host::to_scalar,
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

    fn diagonal(&self) -> Tensor<1> {
        self.kernel
            .diagonal(self.computation, &self.predictions, &self.targets)
    }

    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let rows = blocks.start * size..blocks.end * size;
        let (p, y) = (
            self.predictions.slice_rows(rows.clone()),
            self.targets.slice_rows(rows),
        );
        self.kernel.h_within(&p, &y, blocks.len())
    }

    fn block_estimates(&self, size: usize) -> Vec<f64> {
        let fused = || {
            self.kernel
                .fused_blocks(&self.predictions, &self.targets, size)
        };
        match self.computation {
            Computation::Composed => None,
            _ => fused(),
        }
        .unwrap_or_else(|| block_estimates(self, size))
    }

    fn fused_estimate(&self, form: SkceForm, computation: Computation) -> Result<Option<f64>> {
        let pairing = form.pairing(self.samples());
        let fused = || {
            self.kernel
                .fused_mean(&self.predictions, &self.targets, pairing)
        };
        match computation {
            Computation::Composed => Ok(None),
            _ => match fused() {
                Some(value) => Ok(Some(to_scalar(value))),
                None => without_fused_pass(computation, format!("{:?}", self.kernel)),
            },
        }
    }
}
