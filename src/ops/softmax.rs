#![allow(deprecated)] // upstream deprecates the NdArray backend; it stays a supported feature here

use burn::{
    backend::{
        Autodiff, Backend, Dispatch,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        tensor::FloatTensor,
    },
    tensor::Tensor,
};

/// The softmax of each row, `[n, m]` to `[n, m]`: Burn's, but one step for automatic
/// differentiation instead of five, which is what a small batch waits for.
pub(crate) fn softmax(logits: Tensor<2>) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as RowSoftmax>::row_softmax(
        logits.into_dispatch(),
    ))
}

#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda"))
)]
pub(crate) trait RowSoftmax: Backend {
    fn row_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::softmax(logits, 1)
    }
}

#[cfg(feature = "flex")]
impl RowSoftmax for burn::backend::Flex {}
#[cfg(feature = "ndarray")]
impl RowSoftmax for burn::backend::NdArray {}
#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl RowSoftmax for burn::backend::Cube {}

#[derive(Debug)]
struct RowSoftmaxBackward;

impl<B: Backend> Backward<B, 1> for RowSoftmaxBackward {
    /// The probabilities.
    type State = FloatTensor<B>;

    /// With `G = ∂L/∂p`: `∂L/∂z_ic = p_ic (G_ic − Σ_d p_id G_id)`.
    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let [parent] = ops.parents;
        let p = ops.state;
        let upstream = grads.consume::<B>(&ops.node);
        if let Some(node) = parent {
            let mean = B::float_sum_dim(B::float_mul(p.clone(), upstream.clone()), 1);
            let gradient = B::float_mul(p, B::float_sub(upstream, mean));
            grads.register::<B>(node.id, gradient);
        }
    }
}

impl<B: RowSoftmax, C: CheckpointStrategy> RowSoftmax for Autodiff<B, C> {
    fn row_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
        let prepared = RowSoftmaxBackward
            .prepare::<C>([logits.node()])
            .compute_bound()
            .stateful();
        let probabilities = B::row_softmax(logits.into_primitive());
        match prepared {
            OpsKind::Tracked(prep) => prep.finish(probabilities.clone(), probabilities),
            OpsKind::UnTracked(prep) => prep.finish(probabilities),
        }
    }
}
