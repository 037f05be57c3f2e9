use burn::tensor::Tensor;

use super::{RealKernel, TargetKernel, products_of, real::on_real_targets};
use crate::{
    distribution::{Component, Mixture, in_batches},
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
        self.on_grid::<Mixture<C>>(predictions, sets, || components.reach())
    }

    /// By features, or by sums over pairs of components on the host.
    fn residual_products(
        &self,
        predictions: &Mixture<C>,
        targets: &Tensor<2>,
        batches: usize,
    ) -> Option<Tensor<3>> {
        let set = std::slice::from_ref(targets);
        let features = TargetKernel::<Mixture<C>>::residual_features(self, predictions, set);
        products_of(features, batches).or_else(|| {
            let components = predictions.all_components();
            self.products_of_components(components, predictions.weights(), targets, batches)
        })
    }

    fn validate_for(&self, _predictions: &Mixture<C>) -> Result<()> {
        self.validate()
    }
}

/// `Σ_k w_ik x_{iK+k, j}`, `[b, n·K, k]` by `[b, n, K]` to `[b, n, k]`.
fn sum_over_rows(x: Tensor<3>, weights: Tensor<3>) -> Tensor<3> {
    let ([b, n, k], [_, _, columns]) = (weights.dims(), x.dims());
    let terms = x.reshape([b, n, k, columns]) * weights.reshape([b, n, k, 1]);
    terms.sum_dim(2).reshape([b, n, columns])
}
