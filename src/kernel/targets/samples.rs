use burn::tensor::Tensor;

use super::{RealExpectations, RealKernel};
use crate::{
    distribution::{Samples, in_batches},
    host::to_vec,
};

/// Means over all (pairs of) samples.
impl RealExpectations for Samples {
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let [draws, y] = [self.flat(), y.clone()].map(|x| in_batches(x, batches));
        let kernel = kernel.of_points(draws, y); // [b, n·S, k]
        let ([b, rows, k], each) = (kernel.dims(), self.draws_each());
        let means = kernel.reshape([b, rows / each, each, k]).mean_dim(2);
        means.squeeze_dim(2)
    }

    /// One draw of each `P_i` after another against all of `Q_j`: `n · k · T` numbers at once.
    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3> {
        let (each, others_each) = (self.draws_each(), other.draws_each());
        let others = in_batches(other.flat(), batches); // [b, k·T, d]
        let of_draw = |s: usize| {
            let kernel = kernel.of_points(in_batches(self.draw(s), batches), others.clone());
            let [b, n, columns] = kernel.dims();
            let means = kernel.reshape([b, n, columns / others_each, others_each]);
            means.mean_dim(3).squeeze_dim::<3>(3) // [b, n, k]
        };
        let sum = (0..each).map(of_draw).reduce(|a, b| a + b);
        sum.expect("at least one draw") * (each as f64).recip()
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        let draws = to_vec(self.flat().detach()).into_iter();
        Some(draws.map(|x| [x, x]).collect())
    }
}
