mod composed;
#[cfg(any(feature = "flex", feature = "ndarray"))]
mod host;
mod line;

pub(crate) use line::Line;

use burn::backend::{
    Autodiff, Backend, Dispatch,
    autodiff::{
        NodeId,
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};
use burn::tensor::Tensor;

use super::backends::{composed_elsewhere, on_every_backend, on_host};

/// The sums `u_i = Σ_j a_j exp(−|r_i − r_j|/ν)` for points `r` of the line with weights `a`,
/// differentiable with respect to both; the slope between points that coincide is 0.
///
/// On Flex and NdArray the points are sorted, and since `k_ij = k_il k_lj` for `l` between `i` and
/// `j`, a sweep from below and one from above add up all pairs, in f64 whatever the dtype. So does
/// the backward pass, with a sort of its own. Elsewhere both passes are a loop over rows composed of
/// tensor operations. Neither stores an `n × n` matrix.
///
/// A position that is NaN makes every sum NaN, an infinite one its own at least.
///
/// # Shapes
///
/// - positions: `[n]`
/// - weights: `[n]`
/// - output: `[n]`, in the dtype of the positions
///
/// Cost: `O(n log n)` operations where points are sorted, else `n²`; memory `O(n)`.
///
/// # Panics
///
/// If the numbers of positions and weights, their dtypes or devices differ, if the bandwidth `ν` is
/// not a positive finite number, or on a backend that this crate was not compiled for.
pub fn laplacian_sum(positions: Tensor<1>, weights: Tensor<1>, bandwidth: f64) -> Tensor<1> {
    let ([n], [count]) = (positions.dims(), weights.dims());
    assert_eq!(n, count, "{n} positions but {count} weights");
    assert_eq!(weights.dtype(), positions.dtype(), "dtype of the weights");
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    if n == 0 {
        return weights;
    }
    Tensor::from_dispatch(<Dispatch as LaplacianSum>::laplacian_sum(
        positions.into_dispatch(),
        weights.into_dispatch(),
        bandwidth,
    ))
}

on_every_backend! {
    /// The operation on every backend: composed of backend operations, a few rows at a time.
    pub(crate) trait LaplacianSum: Backend {
        fn laplacian_sum(
            positions: FloatTensor<Self>,
            weights: FloatTensor<Self>,
            bandwidth: f64,
        ) -> FloatTensor<Self> {
            composed::sum::<Self>(positions, weights, bandwidth)
        }

        /// With respect to positions and weights.
        fn laplacian_sum_gradient(
            positions: FloatTensor<Self>,
            weights: FloatTensor<Self>,
            upstream: FloatTensor<Self>,
            bandwidth: f64,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            composed::gradient::<Self>(positions, weights, upstream, bandwidth)
        }
    }
}

composed_elsewhere!(LaplacianSum);

on_host!(LaplacianSum {
    fn laplacian_sum(
        positions: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        bandwidth: f64,
    ) -> FloatTensor<Self> {
        host::sum::<Self>(positions, weights, bandwidth)
    }

    fn laplacian_sum_gradient(
        positions: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        upstream: FloatTensor<Self>,
        bandwidth: f64,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        host::gradient::<Self>(positions, weights, upstream, bandwidth)
    }
});

#[derive(Debug)]
struct LaplacianSumBackward;

impl<B: LaplacianSum> Backward<B, 2> for LaplacianSumBackward {
    /// Positions, weights, bandwidth.
    type State = (NodeId, NodeId, f64);

    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let (positions, weights, bandwidth) = ops.state;
        let (to_positions, to_weights) = B::laplacian_sum_gradient(
            checkpointer.retrieve_node_output(positions),
            checkpointer.retrieve_node_output(weights),
            grads.consume::<B>(&ops.node),
            bandwidth,
        );
        for (parent, gradient) in ops.parents.into_iter().zip([to_positions, to_weights]) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

impl<B: LaplacianSum, C: CheckpointStrategy> LaplacianSum for Autodiff<B, C> {
    fn laplacian_sum(
        positions: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        bandwidth: f64,
    ) -> FloatTensor<Self> {
        match LaplacianSumBackward
            .prepare::<C>([positions.node(), weights.node()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(mut prep) => {
                let nodes = (prep.checkpoint(&positions), prep.checkpoint(&weights));
                let sums = B::laplacian_sum(
                    positions.into_primitive(),
                    weights.into_primitive(),
                    bandwidth,
                );
                prep.finish((nodes.0, nodes.1, bandwidth), sums)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::laplacian_sum(
                positions.into_primitive(),
                weights.into_primitive(),
                bandwidth,
            )),
        }
    }
}
