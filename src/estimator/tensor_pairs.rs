use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    feature_pairs::FeaturePairs,
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
    features: Option<FeaturePairs<P>>,
}

impl<P: Geometry, T: TargetKernel<P>> TensorPairs<P, T> {
    pub(super) fn new(
        kernel: &TensorKernel<T>,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let kernel = kernel.clone().fixed(predictions)?;
        let predictions = predictions.detach();
        Ok(Self {
            features: FeaturePairs::new(&kernel, &predictions, targets),
            kernel,
            predictions,
            targets: targets.clone(),
            computation: Computation::Auto,
        })
    }

    /// Those of the residuals, unless all is composed.
    fn features(&self) -> Option<&FeaturePairs<P>> {
        let features = self.features.as_ref();
        features.filter(|_| self.computation != Computation::Composed)
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
        if let Some(features) = self.features() {
            return features.tile(rows, columns);
        }
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
        match self.features() {
            Some(features) => features.diagonal(),
            None => (self.kernel).diagonal(self.computation, &self.predictions, &self.targets),
        }
    }

    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        if let Some(features) = self.features() {
            return features.within_blocks(blocks, size);
        }
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
        if computation == Computation::Composed {
            return Ok(None);
        }
        let pairing = form.pairing(self.samples());
        let value = match &self.features {
            Some(features) => features.fused_value(form, computation),
            None => (self.kernel).fused_mean(&self.predictions, &self.targets, pairing),
        };
        match value {
            Some(value) => Ok(Some(to_scalar(value))),
            None => without_fused_pass(computation, format!("{:?}", self.kernel)),
        }
    }
}
