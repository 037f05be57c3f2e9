use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    feature_pairs::FeaturePairs,
    pair_matrix::{PairMatrix, without_fused_pass},
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

    /// `k_P(P, P) = 1`.
    fn diagonal(&self) -> Tensor<1> {
        if let Some(features) = self.features() {
            return features.diagonal();
        }
        let n = self.samples();
        let kernel = &self.kernel;
        kernel
            .residual_product_within(&self.predictions, &self.targets, n) // [n, 1, 1]
            .reshape([n])
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

    fn fused_estimate(&self, form: SkceForm, computation: Computation) -> Result<Option<f64>> {
        if let Some(value) = self
            .features()
            .and_then(|f| f.fused_value(form, computation))
        {
            return Ok(Some(to_scalar(value)));
        }
        without_fused_pass(computation, format!("{:?}", self.kernel))
    }
}
