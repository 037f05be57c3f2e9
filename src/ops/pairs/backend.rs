//! The operation as a backend extension: on every backend, and with automatic differentiation.

use burn::{
    backend::{
        Autodiff, AutodiffBackend, Backend,
        autodiff::checkpoint::strategy::CheckpointStrategy,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::Tensor,
};

use super::{PairMean, composed::composed};
use crate::ops::{
    backends::{is_on_host, on_every_backend, on_host},
    gradient::Linearised,
};

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
        use burn::backend::TensorMetadata;
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

/// Returns whether there is a fused pass for the tensor, on the host or by a kernel of CubeCL.
pub(crate) fn has_fused_pass(points: &Tensor<2>) -> bool {
    match points.device().without_autodiff().as_dispatch() {
        #[cfg(feature = "cube")]
        burn::backend::DispatchDevice::Cube(device) => super::cube::is_able(device, points.dtype()),
        _ => is_on_host(points),
    }
}

/// The gradients are summed in the forward pass, and attached as slopes.
impl<B: PairStatistic + Linearised, C: CheckpointStrategy> PairStatistic for Autodiff<B, C> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        _gradient: bool,
    ) -> WithGradients<Self> {
        let inputs = [points, residuals, bandwidth];
        let gradient = inputs.iter().any(|input| input.is_tracked());
        let [points, residuals, bandwidth] = inputs.clone().map(Self::inner);
        let (value, points, residuals, bandwidth) =
            B::pair_statistic(points, residuals, labels, bandwidth, form, gradient);
        let slopes = [points, residuals, bandwidth].map(Self::from_inner);
        let mut value = Self::from_inner(value);
        for (input, slope) in inputs.into_iter().zip(slopes.clone()) {
            if input.is_tracked() {
                value = Self::linearised(value, input, slope);
            }
        }
        let [points, residuals, bandwidth] = slopes;
        (value, points, residuals, bandwidth)
    }
}
