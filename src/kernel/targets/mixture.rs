use burn::tensor::Tensor;

use super::{RealKernel, TargetKernel, real::on_real_targets};
use crate::{
    distribution::{Component, Mixture, Predictive, in_batches},
    error::Result,
};

/// Weighted sums over all (pairs of) components.
impl<C: Component> TargetKernel<Mixture<C>> for RealKernel
where
    RealKernel: TargetKernel<C>,
{
    on_real_targets!(Mixture<C>);

    fn expectation(&self, predictions: &Mixture<C>, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let of_components = self.expectation(predictions.all_components(), y, batches); // [b, n·K, k]
        sum_over_rows(of_components, predictions.weights_in_batches(batches))
    }

    fn double_expectation(&self, p: &Mixture<C>, q: &Mixture<C>, batches: usize) -> Tensor<3> {
        let of_components =
            self.double_expectation(p.all_components(), q.all_components(), batches); // [b, n·K, k·L]
        let rows = sum_over_rows(of_components, p.weights_in_batches(batches)); // [b, n, k·L]
        sum_over_rows(rows.swap_dims(1, 2), q.weights_in_batches(batches)).swap_dims(1, 2)
    }

    fn residual_features(
        &self,
        predictions: &Mixture<C>,
        sets: &[Tensor<2>],
    ) -> Option<Vec<Tensor<2>>> {
        let components = predictions.all_components();
        let expected = |narrow: &Self, nodes: &Tensor<2>| {
            let of_components = narrow.expectation_on_line(components, nodes).unsqueeze(); // [1, n·K, r]
            sum_over_rows(of_components, predictions.weights_in_batches(1)).squeeze_dim(0)
        };
        self.on_grid(predictions, sets, || components.reach(), expected)
    }

    fn validate_for(&self, predictions: &Mixture<C>) -> Result<()> {
        self.validate_in(predictions.dtype())
    }
}

/// `Σ_k w_ik x_{iK+k, j}`, `[b, n·K, k]` by `[b, n, K]` to `[b, n, k]`.
fn sum_over_rows(x: Tensor<3>, weights: Tensor<3>) -> Tensor<3> {
    let ([b, n, k], [_, _, columns]) = (weights.dims(), x.dims());
    let terms = x.reshape([b, n, k, columns]) * weights.reshape([b, n, k, 1]);
    terms.sum_dim(2).reshape([b, n, columns])
}
