use std::ops::Range;

use burn::tensor::Tensor;

use super::{
    SkceForm,
    fused_pass::{FusedPass, Residuals},
    pair,
    pair_matrix::{PairMatrix, without_fused_pass},
};
use crate::{
    distribution::{Geometry, Predictive, Targets, in_batches},
    error::Result,
    host::to_scalar,
    kernel::{ClassKernel, TargetKernel, TensorKernel},
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
    /// What distances of predictions are between, if they are.
    points: Option<Tensor<2>>,
    /// What inner products of the residuals are between, if they are.
    residuals: Option<Tensor<2>>,
}

impl<P: Geometry, T: TargetKernel<P>> TensorPairs<P, T> {
    pub(super) fn new(
        kernel: &TensorKernel<T>,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Self> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let predictions = predictions.detach();
        Ok(Self {
            kernel: kernel.clone().fixed(&predictions)?,
            points: predictions.coordinates(),
            residuals: kernel.targets.residual_features(&predictions, targets),
            predictions,
            targets: targets.clone(),
            computation: Computation::Auto,
        })
    }

    /// Unless all is composed.
    fn residuals(&self) -> Option<&Tensor<2>> {
        let residuals = self.residuals.as_ref();
        residuals.filter(|_| self.computation != Computation::Composed)
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
        if let Some(residuals) = self.residuals() {
            let of = |x: &Tensor<2>, rows: &Range<usize>| x.clone().slice(rows.clone());
            let (kernel, computation) = (self.kernel.predictions, self.computation);
            let gram = match &self.points {
                Some(points) => {
                    let [p, q] = [&rows, &columns].map(|rows| of(points, rows).unsqueeze());
                    kernel.between_by(computation, p, q)
                }
                None => kernel.between_of_by(
                    computation,
                    &part(rows.clone()).0,
                    &part(columns.clone()).0,
                ),
            };
            let product = of(residuals, &rows).matmul(of(residuals, &columns).transpose());
            return gram.squeeze_dim::<2>(0) * product;
        }
        let ((p, y), (q, z)) = (part(rows), part(columns));
        self.kernel.h_between(self.computation, (&p, &y), (&q, &z))
    }

    /// `k_P(P, P) = 1`.
    fn diagonal(&self) -> Tensor<1> {
        let n = self.samples();
        if let Some(residuals) = self.residuals() {
            return pair::diagonal(residuals.clone().unsqueeze()).reshape([n]);
        }
        let kernel = &self.kernel;
        kernel
            .residual_product_within(&self.predictions, &self.targets, n) // [n, 1, 1]
            .reshape([n])
    }

    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let rows = blocks.start * size..blocks.end * size;
        let (p, y) = (
            self.predictions.slice_rows(rows.clone()),
            self.targets.slice_rows(rows.clone()),
        );
        let Some(residuals) = self.residuals() else {
            return self.kernel.h_within(&p, &y, blocks.len());
        };
        let residuals = in_batches(residuals.clone().slice(rows), blocks.len());
        let product = residuals.clone().matmul(residuals.transpose());
        self.kernel.predictions.gram_of(&p, blocks.len()) * product
    }

    fn fused_estimate(&self, form: SkceForm, computation: Computation) -> Result<Option<f64>> {
        let kernel = self.kernel.predictions;
        let (Some(fused), Some(points), Some(residuals)) =
            (kernel.fused(), &self.points, &self.residuals)
        else {
            return without_fused_pass(computation, format!("{:?}", self.kernel));
        };
        let pass = FusedPass {
            kernel,
            fused,
            form,
            computation,
        };
        let value = pass.value(points, Residuals::Rows(residuals.clone()));
        Ok(value.map(to_scalar))
    }
}
