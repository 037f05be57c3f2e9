//! The mean composed of tensor operations, a few rows of pairs at a time: where there is no fused pass.

use burn::tensor::{IndexingUpdateOp, Int, Tensor};

use super::{MeanFactors, PairMean, linearised_mean};

/// Numbers in a tile of the composition.
const TILE: usize = 1 << 22;

/// `e_y − p`, differentiable.
pub(super) fn residuals(points: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<2> {
    let n = points.dims()[0];
    let ones = Tensor::ones([n, 1], (&points.device(), points.dtype()));
    points
        .neg()
        .scatter(1, labels.reshape([n, 1]), ones, IndexingUpdateOp::Add)
}

/// The mean of `k(x_i, x_j) r_i·r_j` over pairs, `[n, d]`, `[n, m]` and `[1]` to `[1]`. As `h` is symmetric, the
/// gradient of `½ Σ_ij h_ij` for a sample is that of `Σ_j h_ij` with respect to `x_i` and `r_i` alone.
pub(super) fn composed(
    points: Tensor<2>,
    residuals: Tensor<2>,
    bandwidth: Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let (kernel, n) = (form.kernel, points.dims()[0]);
    let size = form.pairing.size(n);
    let (blocks, used) = (n / size, n / size * size);
    let plain = [&points, &residuals].map(|x| x.clone().without_autodiff());
    let [x, r]: [Tensor<3>; 2] = plain.map(|x| {
        let d = x.dims()[1];
        x.slice(0..used).reshape([blocks, size, d])
    });
    let width = bandwidth.clone().without_autodiff();
    let is_tracked = points.is_tracked() || residuals.is_tracked() || bandwidth.is_tracked();

    let factors = MeanFactors::new(form.pairing, n);
    let diagonal = r.clone().square().sum();
    let mut sum = diagonal.zeros_like();
    let [mut to_points, mut to_residuals] = [(); 2].map(|()| Vec::new());
    let mut to_bandwidth = width.zeros_like();
    let rows = (TILE / used).clamp(1, size);
    for start in (0..size).step_by(rows) {
        let tile = start..size.min(start + rows);
        let [mut p, mut q] = [&x, &r].map(|rows| rows.clone().slice_dim(1, tile.clone()));
        let mut nu = width.clone();
        if is_tracked {
            [p, q] = [p, q].map(|rows| rows.autodiff().require_grad());
            nu = nu.autodiff().require_grad();
        }
        let distances = kernel.distance().between(p.clone(), x.clone()); // [b, t, size]
        let k = kernel
            .profile()
            .of(distances / nu.clone().reshape([1, 1, 1]));
        let h = (k * q.clone().matmul(r.clone().transpose())).sum();
        sum = sum + h.clone().without_autodiff();
        if is_tracked {
            let gradients = h.backward();
            let of = |x: Tensor<3>| x.grad(&gradients).expect("the gradient of a leaf");
            to_residuals.push(of(q.clone()) - q.without_autodiff()); // k_ii = 1
            to_points.push(of(p));
            to_bandwidth = to_bandwidth + nu.grad(&gradients).expect("the gradient of a leaf");
        }
    }
    let value = (sum - diagonal.clone()) * (0.5 * factors.pairs) + diagonal * factors.diagonal;
    if !is_tracked {
        return value;
    }
    let in_rows = |tiles: Vec<Tensor<3>>| {
        let gradient = Tensor::cat(tiles, 1) * factors.pairs; // [b, size, d or m]
        let d = gradient.dims()[2];
        let gradient = gradient.reshape([used, d]);
        if used == n {
            return gradient;
        }
        let rest = Tensor::zeros([n - used, d], (&gradient.device(), gradient.dtype()));
        Tensor::cat(vec![gradient, rest], 0)
    };
    let own = residuals.clone().without_autodiff() * (2.0 * factors.diagonal);
    let slopes = [
        (&points, in_rows(to_points)),
        (&residuals, in_rows(to_residuals) + own),
    ];
    linearised_mean(
        value,
        slopes,
        (&bandwidth, to_bandwidth * (0.5 * factors.pairs)),
    )
}
