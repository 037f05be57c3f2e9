//! The operation as a backend extension, and with automatic differentiation.

use burn::backend::{
    Autodiff, AutodiffBackend, Backend,
    autodiff::{
        checkpoint::strategy::CheckpointStrategy,
        ops::{Backward, OpsKind},
    },
    tensor::FloatTensor,
};

use super::NormalKernel;
use crate::ops::{
    Pairing,
    backends::{composed_elsewhere, on_every_backend, on_host},
    pairs::Scale,
};

/// The mean, and its gradients with respect to locations, scales and bandwidth.
pub(super) type WithGradients<B> = (
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
);

on_every_backend! {
    /// The operation, on the backends of the host. Where no gradients are asked for, the tensors in their
    /// place mean nothing.
    pub(crate) trait NormalStatistic: Backend {
        fn normal_statistic(
            _locations: FloatTensor<Self>,
            _scales: FloatTensor<Self>,
            _targets: FloatTensor<Self>,
            _bandwidth: FloatTensor<Self>,
            _kernel: NormalKernel,
            _pairing: Pairing,
            _gradient: bool,
        ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
            unreachable!("a pass of the host, which is checked before")
        }
    }
}

composed_elsewhere!(NormalStatistic);

on_host!(NormalStatistic {
    fn normal_statistic(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: NormalKernel,
        pairing: Pairing,
        gradient: bool,
    ) -> WithGradients<Self> {
        let samples = [locations, scales, targets];
        super::host::run::<Self>(samples, bandwidth, kernel, pairing, gradient)
    }
});

impl<B: NormalStatistic, C: CheckpointStrategy> NormalStatistic for Autodiff<B, C> {
    fn normal_statistic(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: NormalKernel,
        pairing: Pairing,
        _gradient: bool,
    ) -> WithGradients<Self> {
        let prepared = Scale
            .prepare::<C>([locations.node(), scales.node(), bandwidth.node()])
            .compute_bound()
            .stateful();
        let [locations, scales, targets, bandwidth] =
            [locations, scales, targets, bandwidth].map(|x| x.into_primitive());
        let run = |gradient| {
            B::normal_statistic(
                locations, scales, targets, bandwidth, kernel, pairing, gradient,
            )
        };
        let (value, gradients) = match prepared {
            OpsKind::Tracked(prep) => {
                let (value, locations, scales, bandwidth) = run(true);
                let state = [locations, scales, bandwidth];
                (prep.finish(state.clone(), value), state)
            }
            OpsKind::UnTracked(prep) => {
                let (value, locations, scales, bandwidth) = run(false);
                (prep.finish(value), [locations, scales, bandwidth])
            }
        };
        let [locations, scales, bandwidth] = gradients.map(Self::from_inner);
        (value, locations, scales, bandwidth)
    }
}
