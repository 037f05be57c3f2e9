use burn::tensor::Tensor;

use super::{RealKernel, TargetKernel, real::on_real_targets};
use crate::{
    distribution::{Samples, in_batches},
    error::Result,
};

/// Means over all (pairs of) samples.
impl TargetKernel<Samples> for RealKernel {
    on_real_targets!(Samples);

    fn expectation(&self, predictions: &Samples, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let draws = in_batches(predictions.flat(), batches); // [b, n·S, d]
        let kernel = self.of_points(draws, in_batches(y.clone(), batches));
        mean_over_rows(kernel, predictions.draws_each())
    }

    /// One draw of each `P_i` after another against all of `Q_j`: `n · k · T` numbers at once.
    fn double_expectation(&self, p: &Samples, q: &Samples, batches: usize) -> Tensor<3> {
        let others = in_batches(q.flat(), batches); // [b, k·T, d]
        let of_draw = |s: usize| {
            let draws = in_batches(p.draw(s), batches); // [b, n, d]
            let kernel = self.of_points(draws, others.clone()); // [b, n, k·T]
            mean_over_rows(kernel.swap_dims(1, 2), q.draws_each()).swap_dims(1, 2)
        };
        let each = p.draws_each();
        let sum = (0..each).map(of_draw).reduce(|a, b| a + b);
        sum.expect("at least one draw") * (each as f64).recip()
    }

    fn validate_for(&self, _predictions: &Samples) -> Result<()> {
        self.validate()
    }
}

/// `S⁻¹ Σ_s x_{iS+s, j}`, `[b, n·S, k] → [b, n, k]`.
fn mean_over_rows(x: Tensor<3>, each: usize) -> Tensor<3> {
    let [b, rows, columns] = x.dims();
    let sum = x.reshape([b, rows / each, each, columns]).sum_dim(2);
    sum.reshape([b, rows / each, columns]) * (each as f64).recip()
}
