use burn::tensor::Tensor;

use super::{RealExpectations, RealKernel};
use crate::{
    distribution::{Samples, in_batches},
    host::to_vec,
    ops::{is_on_host, mean_kernel_matrix},
};

/// Means over all (pairs of) samples: in vectors of the host where there is no gradient.
impl RealExpectations for Samples {
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let (draws, each) = (self.flat(), self.draws_each());
        if let Some(means) = kernel.means_of_points((&draws, each), (y, 1), batches) {
            return means;
        }
        let [draws, y] = [draws, y.clone()].map(|x| in_batches(x, batches));
        mean_over_rows(kernel.of_points(draws, y), each)
    }

    /// One draw of each `P_i` after another against all of `Q_j`: `n · k · T` numbers at once.
    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3> {
        let (x, y) = (self.flat(), other.flat());
        let (each, others_each) = (self.draws_each(), other.draws_each());
        if let Some(means) = kernel.means_of_points((&x, each), (&y, others_each), batches) {
            return means;
        }
        let others = in_batches(y, batches); // [b, k·T, d]
        let of_draw = |s: usize| {
            let draws = in_batches(self.draw(s), batches); // [b, n, d]
            let kernel = kernel.of_points(draws, others.clone()); // [b, n, k·T]
            mean_over_rows(kernel.swap_dims(1, 2), others_each).swap_dims(1, 2)
        };
        let sum = (0..each).map(of_draw).reduce(|a, b| a + b);
        sum.expect("at least one draw") * (each as f64).recip()
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        let draws = to_vec(self.flat().detach()).into_iter();
        Some(draws.map(|x| [x, x]).collect())
    }
}

impl RealKernel {
    /// The means over groups of consecutive points, `[batches, n, k]`, of `batches · n · each` points and
    /// `batches · k · each` others. None with gradients, and away from the host.
    fn means_of_points(
        &self,
        (x, each): (&Tensor<2>, usize),
        (y, others_each): (&Tensor<2>, usize),
        batches: usize,
    ) -> Option<Tensor<3>> {
        if x.is_tracked() || y.is_tracked() || !is_on_host(x) {
            return None;
        }
        let (x, y) = (
            in_batches(x.clone(), batches),
            in_batches(y.clone(), batches),
        );
        let kernel = self.kernel().fused();
        let (x, y) = ((x, each), (y, others_each));
        Some(mean_kernel_matrix(x, y, kernel, self.length_scale))
    }
}

/// `S⁻¹ Σ_s x_{iS+s, j}`, `[b, n·S, k] → [b, n, k]`.
fn mean_over_rows(x: Tensor<3>, each: usize) -> Tensor<3> {
    let [b, rows, columns] = x.dims();
    let sum = x.reshape([b, rows / each, each, columns]).sum_dim(2);
    sum.reshape([b, rows / each, columns]) * (each as f64).recip()
}
