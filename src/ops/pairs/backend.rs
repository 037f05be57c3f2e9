//! The operation on labels as an extension of the backends of CubeCL, which have a kernel for it.

use burn::{
    backend::{
        Backend, Dispatch, DispatchDevice,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{Int, Tensor},
};

use super::{PairMean, cube, linearised_mean};

/// The mean, and its gradients with respect to the points `[n, m]` and the bandwidth `[1]`: nothing in them where
/// they are not asked for.
pub(super) type WithGradients<B> = (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);

#[burn::backend::backend_extension(Cube)]
pub(crate) trait PairStatistic: Backend {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        gradient: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

impl PairStatistic for burn_cubecl::CubeBackend {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        gradient: bool,
    ) -> WithGradients<Self> {
        cube::run(points, labels, bandwidth, form, gradient)
    }
}

/// Returns whether the device of the points runs the kernel.
pub(super) fn has_kernel(points: &Tensor<2>) -> bool {
    match points.device().without_autodiff().as_dispatch() {
        DispatchDevice::Cube(device) => cube::is_able(device, points.dtype()),
        #[allow(unreachable_patterns)] // where there is no other backend
        _ => false,
    }
}

/// The mean where the device [runs the kernel](has_kernel). The gradients are summed in the forward pass.
pub(super) fn pair_mean(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    bandwidth: Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let is_tracked = points.is_tracked() || bandwidth.is_tracked();
    let (value, to_points, to_bandwidth) = <Dispatch as PairStatistic>::pair_statistic(
        points.clone().without_autodiff().into_dispatch(),
        labels.without_autodiff().into_dispatch(),
        bandwidth.clone().without_autodiff().into_dispatch(),
        form,
        is_tracked,
    );
    let slopes = [(&points, Tensor::from_dispatch(to_points))];
    let stretch = (&bandwidth, Tensor::from_dispatch(to_bandwidth));
    linearised_mean(Tensor::from_dispatch(value), slopes, stretch)
}
