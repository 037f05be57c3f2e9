//! The operation as a backend extension: on every backend, and with automatic differentiation.

use burn::{
    backend::{
        Autodiff, AutodiffBackend, Backend, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        tensor::{FloatTensor, IntTensor},
    },
    tensor::Tensor,
};

use super::{PairMean, composed::composed};
use crate::ops::backends::{is_on_host, on_every_backend, on_host};

/// The mean, and its gradients with respect to the points `[n, d]`, the residuals `[n, m]`, and the
/// bandwidth `[1]`.
pub(super) type WithGradients<B> = (
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
);

on_every_backend! {
    /// The operation on every backend: composed of backend operations, a few rows at a time. Of labels and
    /// residuals one is meant, see [`PairMean::by_label`]. Gradients that are not asked for mean nothing, nor does
    /// that of residuals that are not meant.
    pub(crate) trait PairStatistic: Backend {
        fn pair_statistic(
            points: FloatTensor<Self>,
            residuals: FloatTensor<Self>,
            labels: IntTensor<Self>,
            bandwidth: FloatTensor<Self>,
            form: PairMean,
            gradient: bool,
        ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
            composed::<Self>(points, residuals, labels, bandwidth, form, gradient)
        }
    }
}

on_host!(PairStatistic {
    fn pair_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        gradient: bool,
    ) -> WithGradients<Self> {
        super::host::run::<Self>(points, residuals, labels, bandwidth, form, gradient)
    }
});

#[cfg(feature = "cube")]
impl PairStatistic for burn_cubecl::CubeBackend {
    fn pair_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        gradient: bool,
    ) -> WithGradients<Self> {
        if form.by_label && super::cube::is_able(&points.device(), points.dtype()) {
            super::cube::run(points, labels, bandwidth, form, gradient)
        } else {
            composed::<Self>(points, residuals, labels, bandwidth, form, gradient)
        }
    }
}

/// Over the network the composition: the server knows no operation of this crate.
#[cfg(feature = "remote")]
impl<R: burn_router::RouterChannel> PairStatistic for burn_router::BackendRouter<R> {}

/// Tells whether there is a fused pass for the tensor, on the host or by a kernel of CubeCL.
pub(crate) fn has_fused_pass(points: &Tensor<2>) -> bool {
    match points.device().without_autodiff().as_dispatch() {
        #[cfg(feature = "cube")]
        burn::backend::DispatchDevice::Cube(device) => super::cube::is_able(device, points.dtype()),
        _ => is_on_host(points),
    }
}

/// The backward pass, which scales gradients that the forward pass has summed.
#[derive(Debug)]
pub(in crate::ops) struct Scale;

impl<B: Backend, const N: usize> Backward<B, N> for Scale {
    /// The gradients for the parents.
    type State = [FloatTensor<B>; N];

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let upstream = grads.consume::<B>(&ops.node); // [1]
        for (parent, gradient) in ops.parents.into_iter().zip(ops.state) {
            if let Some(node) = parent {
                let ones = vec![1; gradient.shape().num_dims()];
                let upstream = B::float_reshape(upstream.clone(), ones.into());
                grads.register::<B>(node.id, B::float_mul(gradient, upstream));
            }
        }
    }
}

impl<B: PairStatistic, C: CheckpointStrategy> PairStatistic for Autodiff<B, C> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        _gradient: bool,
    ) -> WithGradients<Self> {
        let prepared = Scale
            .prepare::<C>([points.node(), residuals.node(), bandwidth.node()])
            .compute_bound()
            .stateful();
        let [points, residuals, bandwidth] =
            [points, residuals, bandwidth].map(|x| x.into_primitive());
        let run =
            |gradient| B::pair_statistic(points, residuals, labels, bandwidth, form, gradient);
        let (value, gradients) = match prepared {
            OpsKind::Tracked(prep) => {
                let (value, points, residuals, bandwidth) = run(true);
                let gradients = [points, residuals, bandwidth];
                (prep.finish(gradients.clone(), value), gradients)
            }
            OpsKind::UnTracked(prep) => {
                let (value, points, residuals, bandwidth) = run(false);
                (prep.finish(value), [points, residuals, bandwidth])
            }
        };
        let [points, residuals, bandwidth] = gradients.map(Self::from_inner);
        (value, points, residuals, bandwidth)
    }
}
