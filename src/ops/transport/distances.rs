//! Distances of weighted points as one operation on the host, and its backward pass.

use burn::{
    backend::{
        Autodiff, Backend, Dispatch,
        autodiff::{
            NodeId,
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        tensor::FloatTensor,
    },
    tensor::Tensor,
};

use crate::{
    ops::backends::{composed_elsewhere, on_every_backend, on_host},
    radial::Distance,
};

/// The roots of the least costs of transport between weighted points, whose costs are the squares of their
/// distances: `[batch, n, m]`, differentiable, where two distributions coincide with the subgradient 0.
///
/// Pair by pair in f64 on all threads of the host, to which weights and points of other devices are read back.
/// The backward pass solves the programs again. The gradient of a cost with respect to the costs of single
/// points is an optimal plan, and with respect to the weights optimal potentials `f` and `g` (the envelope
/// theorem); where these are not unique, it has a kink, and they are a subgradient. Potentials are defined up
/// to a constant, which is of no consequence for weights that sum to 1, such as a softmax: it is chosen so that
/// `Σ_k a_k f_k = Σ_l b_l g_l`, half of the cost. There are no second derivatives.
///
/// # Shapes
///
/// - weights and points of `p`: `[batch, n, K]` and `[batch, n·K, d]`
/// - weights and points of `q`: `[batch, m, L]` and `[batch, m·L, d]`
///
/// - output: `[batch, n, m]`; NaN where a weight or point is not finite or a weight negative
///
/// Memory: `O(batch·n·m)`.
pub(crate) fn transport_distances(
    p: (Tensor<3>, Tensor<3>),
    q: (Tensor<3>, Tensor<3>),
    distance: Distance,
) -> Tensor<3> {
    Tensor::from_dispatch(<Dispatch as TransportDistances>::transport_distances(
        p.0.into_dispatch(),
        p.1.into_dispatch(),
        q.0.into_dispatch(),
        q.1.into_dispatch(),
        distance,
    ))
}

/// Gradients with respect to weights and points of both sides.
pub(super) type OfAll<B> = (
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
);

on_every_backend! {
    /// The operation, on any backend.
    pub(crate) trait TransportDistances: Backend {
        fn transport_distances(
            weights_p: FloatTensor<Self>,
            points_p: FloatTensor<Self>,
            weights_q: FloatTensor<Self>,
            points_q: FloatTensor<Self>,
            distance: Distance,
        ) -> FloatTensor<Self> {
            super::host::distances::<Self>([weights_p, points_p], [weights_q, points_q], distance)
        }

        fn transport_distances_gradient(
            weights_p: FloatTensor<Self>,
            points_p: FloatTensor<Self>,
            weights_q: FloatTensor<Self>,
            points_q: FloatTensor<Self>,
            upstream: FloatTensor<Self>,
            distance: Distance,
        ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
            let (p, q) = ([weights_p, points_p], [weights_q, points_q]);
            super::host::gradient::<Self>(p, q, upstream, distance)
        }
    }
}

composed_elsewhere!(TransportDistances);

on_host!(TransportDistances {});

#[derive(Debug)]
struct TransportDistancesBackward;

impl<B: TransportDistances> Backward<B, 4> for TransportDistancesBackward {
    /// Weights and points of both sides, and the distance of points.
    type State = ([NodeId; 4], Distance);

    fn backward(
        self,
        ops: Ops<Self::State, 4>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let (nodes, distance) = ops.state;
        let [weights_p, points_p, weights_q, points_q] =
            nodes.map(|node| checkpointer.retrieve_node_output(node));
        let upstream = grads.consume::<B>(&ops.node);
        let (weights_p, points_p, weights_q, points_q) = B::transport_distances_gradient(
            weights_p, points_p, weights_q, points_q, upstream, distance,
        );
        let gradients = [weights_p, points_p, weights_q, points_q];
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

impl<B: TransportDistances, C: CheckpointStrategy> TransportDistances for Autodiff<B, C> {
    fn transport_distances(
        weights_p: FloatTensor<Self>,
        points_p: FloatTensor<Self>,
        weights_q: FloatTensor<Self>,
        points_q: FloatTensor<Self>,
        distance: Distance,
    ) -> FloatTensor<Self> {
        let all = [weights_p, points_p, weights_q, points_q];
        let prepared = TransportDistancesBackward
            .prepare::<C>(all.each_ref().map(|x| x.node()))
            .compute_bound()
            .stateful();
        let run = |all: [FloatTensor<Self>; 4]| {
            let [weights_p, points_p, weights_q, points_q] = all.map(|x| x.into_primitive());
            B::transport_distances(weights_p, points_p, weights_q, points_q, distance)
        };
        match prepared {
            OpsKind::Tracked(mut prep) => {
                let nodes = all.each_ref().map(|x| prep.checkpoint(x));
                prep.finish((nodes, distance), run(all))
            }
            OpsKind::UnTracked(prep) => prep.finish(run(all)),
        }
    }
}
