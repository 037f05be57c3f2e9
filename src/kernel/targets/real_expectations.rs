use burn::tensor::Tensor;

use super::{RealKernel, RealProfile};
use crate::{
    distribution::{
        Component, Family, Geometry, LaplaceFamily, LocationScale, Marginals, Mixture,
        NormalFamily, Samples, in_batches,
    },
    host::to_vec,
    kernel::expectation::{
        gaussian_laplace, gaussian_laplace_pair, gaussian_normal, laplacian_laplace,
        laplacian_laplace_pair, laplacian_normal,
    },
};

/// Predictions of vectors of `ℝ^d` under which the expectations of a [`RealKernel`] are known.
///
/// All matrices are within batches of consecutive rows and differentiable, as those of
/// [`TargetKernel`](super::TargetKernel).
#[diagnostic::on_unimplemented(
    message = "the expectations of kernels on targets under predictions `{Self}` are not known",
    label = "predictions without such expectations",
    note = "for a quantile recalibration use `predictions.samples(n, &mut rng)`, which have them",
    note = "for other real predictions use `Samples::drawn_from(&predictions, n, &mut rng)`"
)]
pub trait RealExpectations: Geometry<Targets = Tensor<2>> {
    /// `E_{Z∼P_i} k(Z, y_j)`, `[batches, n, k]`.
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3>;

    /// `E_{Z∼P_i, Z'∼Q_j} k(Z, Z')`, `[batches, n, k]`.
    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3>;

    /// For each number of each prediction an interval outside which its density is below `10⁻⁸` of the
    /// largest, read from the device. None, as by default, where there are no features.
    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        None
    }
}

/// A [`Family`] whose expectations of kernels on targets are known in closed form: elementwise over tensors of
/// one shape, and differentiable.
pub trait KernelExpectations: Family {
    /// The parameter of a scale that the closed forms take: the variance of normal distributions.
    fn parameter(scale: Tensor<2>) -> Tensor<2>;

    /// `E k(Δ + X)` in one coordinate.
    fn mean_kernel(kernel: &RealKernel, delta: Tensor<3>, parameter: Tensor<3>) -> Tensor<3>;

    /// `E k(Δ + X − X')` in one coordinate, for independent `X` and `X'`.
    fn mean_kernel_of_two(
        kernel: &RealKernel,
        delta: Tensor<3>,
        parameters: [Tensor<3>; 2],
    ) -> Tensor<3>;
}

impl KernelExpectations for NormalFamily {
    fn parameter(scale: Tensor<2>) -> Tensor<2> {
        scale.square()
    }

    fn mean_kernel(kernel: &RealKernel, delta: Tensor<3>, variance: Tensor<3>) -> Tensor<3> {
        match kernel.profile {
            RealProfile::Gaussian => gaussian_normal(kernel.length_scale, delta, variance),
            RealProfile::Laplacian => laplacian_normal(kernel.length_scale, delta, variance),
        }
    }

    /// The mean of the kernel over targets of two predictions: that of one with the variance `σ² + σ'²`.
    fn mean_kernel_of_two(
        kernel: &RealKernel,
        delta: Tensor<3>,
        [variance, other]: [Tensor<3>; 2],
    ) -> Tensor<3> {
        Self::mean_kernel(kernel, delta, variance + other)
    }
}

impl KernelExpectations for LaplaceFamily {
    fn parameter(scale: Tensor<2>) -> Tensor<2> {
        scale
    }

    fn mean_kernel(kernel: &RealKernel, delta: Tensor<3>, scale: Tensor<3>) -> Tensor<3> {
        match kernel.profile {
            RealProfile::Gaussian => gaussian_laplace(kernel.length_scale, delta, scale),
            RealProfile::Laplacian => laplacian_laplace(kernel.length_scale, delta, scale),
        }
    }

    fn mean_kernel_of_two(
        kernel: &RealKernel,
        delta: Tensor<3>,
        [scale, other]: [Tensor<3>; 2],
    ) -> Tensor<3> {
        let coordinate = match kernel.profile {
            RealProfile::Gaussian => gaussian_laplace_pair,
            RealProfile::Laplacian => laplacian_laplace_pair,
        };
        coordinate(kernel.length_scale, delta, scale, other)
    }
}

impl<F: KernelExpectations> RealExpectations for LocationScale<F> {
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let parameters = [self.means(), F::parameter(self.scales()), y.clone()];
        let [location, parameter, y] = parameters.map(|x| in_batches(x, batches));
        product(y.dims()[2], |c| {
            let delta = column(&location, c) - row(&y, c); // [b, n, k]
            let parameter = column(&parameter, c).expand(delta.dims());
            F::mean_kernel(kernel, delta, parameter)
        })
    }

    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3> {
        let [(location, parameter), (other_location, other)] = [self, other].map(|p| {
            let parameters = [p.means(), F::parameter(p.scales())];
            let [location, parameter] = parameters.map(|x| in_batches(x, batches));
            (location, parameter)
        });
        product(location.dims()[2], |c| {
            let delta = column(&location, c) - row(&other_location, c); // [b, n, k]
            let shape = delta.dims();
            let parameters = [column(&parameter, c), row(&other, c)].map(|x| x.expand(shape));
            F::mean_kernel_of_two(kernel, delta, parameters)
        })
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        let [locations, scales] = [self.means(), self.scales()].map(to_vec);
        let around = |(x, scale): (f64, f64)| [x - F::REACH * scale, x + F::REACH * scale];
        Some(locations.into_iter().zip(scales).map(around).collect())
    }
}

/// Weighted sums over all (pairs of) components.
impl<C: Component + RealExpectations> RealExpectations for Mixture<C> {
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let of_components = self.all_components().mean_kernel(kernel, y, batches); // [b, n·K, k]
        sum_over_rows(of_components, self.weights_in_batches(batches))
    }

    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3> {
        let (p, q) = (self.all_components(), other.all_components());
        let of_components = p.mean_kernel_of_two(q, kernel, batches); // [b, n·K, k·L]
        let rows = sum_over_rows(of_components, self.weights_in_batches(batches)); // [b, n, k·L]
        sum_over_rows(rows.swap_dims(1, 2), other.weights_in_batches(batches)).swap_dims(1, 2)
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        self.all_components().reach()
    }
}

/// Means over all (pairs of) samples.
impl RealExpectations for Samples {
    fn mean_kernel(&self, kernel: &RealKernel, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let [draws, y] = [self.flat(), y.clone()].map(|x| in_batches(x, batches));
        let kernel = kernel.between_points(draws, y); // [b, n·S, k]
        let ([b, rows, k], each) = (kernel.dims(), self.draws_each());
        let means = kernel.reshape([b, rows / each, each, k]).mean_dim(2);
        means.squeeze_dim(2)
    }

    /// One draw of each `P_i` after another against all of `Q_j`: `n · k · T` numbers at once.
    fn mean_kernel_of_two(&self, other: &Self, kernel: &RealKernel, batches: usize) -> Tensor<3> {
        let (each, others_each) = (self.draws_each(), other.draws_each());
        let others = in_batches(other.flat(), batches); // [b, k·T, d]
        let of_draw = |s: usize| {
            let kernel = kernel.between_points(in_batches(self.draw(s), batches), others.clone());
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

/// `Π_c f(c)`.
fn product(dimensions: usize, f: impl Fn(usize) -> Tensor<3>) -> Tensor<3> {
    (0..dimensions)
        .map(f)
        .reduce(|a, b| a * b)
        .expect("at least one coordinate")
}

/// Coordinate `c` of each point, `[b, n, d] → [b, n, 1]`.
fn column(x: &Tensor<3>, c: usize) -> Tensor<3> {
    let [b, n, _] = x.dims();
    x.clone().slice([0..b, 0..n, c..c + 1])
}

/// Coordinate `c` of each point, `[b, k, d] → [b, 1, k]`.
fn row(x: &Tensor<3>, c: usize) -> Tensor<3> {
    column(x, c).swap_dims(1, 2)
}

/// `Σ_k w_ik x_{iK+k, j}`, `[b, n·K, k]` by `[b, n, K]` to `[b, n, k]`.
fn sum_over_rows(x: Tensor<3>, weights: Tensor<3>) -> Tensor<3> {
    let ([b, n, k], [_, _, columns]) = (weights.dims(), x.dims());
    let terms = x.reshape([b, n, k, columns]) * weights.reshape([b, n, k, 1]);
    terms.sum_dim(2).reshape([b, n, columns])
}
