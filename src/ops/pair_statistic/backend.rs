//! The operation as a backend extension: on every backend, and with automatic differentiation.

use burn::{
    backend::{
        Autodiff, Dispatch, DispatchDevice,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{DType, Int, Tensor},
};

#[cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu"))]
use super::device;
#[cfg(any(feature = "flex", feature = "ndarray"))]
use super::host;
use super::{
    PairKernel, Pairing, Separation,
    composed::{composed, composed_rows},
};
use crate::ops::pairwise_distance::PairwiseDistance;

/// The mean, its gradient with respect to the points `[n, m]`, and with respect to the bandwidth
/// `[1]`.
pub(super) type WithGradient<B> = (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);

/// The mean, and its gradients with respect to the points `[n, d]`, the residuals `[n, m]`, and the
/// bandwidth `[1]`.
pub(super) type WithGradients<B> = (
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
);

/// The operation on every backend: composed of backend operations, a few rows at a time.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu")),
    Remote: cfg(feature = "remote")
)]
pub(crate) trait PairStatistic: PairwiseDistance {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        composed::<Self>(points, labels, bandwidth, kernel, pairing, false).0
    }

    fn pair_statistic_with_gradient(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::<Self>(points, labels, bandwidth, kernel, pairing, true)
    }

    fn residual_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        composed_rows::<Self>(points, residuals, bandwidth, kernel, pairing, false).0
    }

    fn residual_statistic_with_gradients(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
    ) {
        composed_rows::<Self>(points, residuals, bandwidth, kernel, pairing, true)
    }

    fn median_separation(
        _points: FloatTensor<Self>,
        _separation: Separation,
        _size: usize,
    ) -> FloatTensor<Self> {
        unreachable!("only where there is a fused median")
    }

    fn kernel_matrix(
        _x: FloatTensor<Self>,
        _y: FloatTensor<Self>,
        _kernel: PairKernel,
        _bandwidth: f64,
    ) -> FloatTensor<Self> {
        unreachable!("only on the processor")
    }

    fn block_values(
        _points: FloatTensor<Self>,
        _labels: IntTensor<Self>,
        _kernel: PairKernel,
        _bandwidth: f64,
        _size: usize,
    ) -> FloatTensor<Self> {
        unreachable!("only on the processor")
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu"))]
impl PairStatistic for burn_cubecl::CubeBackend {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        device::run(points, labels, bandwidth, kernel, pairing, false).0
    }

    fn pair_statistic_with_gradient(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> WithGradient<Self> {
        device::run(points, labels, bandwidth, kernel, pairing, true)
    }

    fn median_separation(
        points: FloatTensor<Self>,
        separation: Separation,
        size: usize,
    ) -> FloatTensor<Self> {
        device::median(points, separation, size)
    }
}

/// Over the network the composition: the server knows no operation of this crate.
#[cfg(feature = "remote")]
impl<R: burn_router::RouterChannel> PairStatistic for burn_router::BackendRouter<R> {}

/// The backends whose memory is the processor's run the fused pass.
macro_rules! on_processor {
    ($($feature:literal => $backend:ty),*) => {$(
        #[cfg(feature = $feature)]
        impl PairStatistic for $backend {
            fn pair_statistic(
                points: FloatTensor<Self>,
                labels: IntTensor<Self>,
                bandwidth: FloatTensor<Self>,
                kernel: PairKernel,
                pairing: Pairing,
            ) -> FloatTensor<Self> {
                host::run::<Self>(points, labels, bandwidth, kernel, pairing, false).0
            }

            fn pair_statistic_with_gradient(
                points: FloatTensor<Self>,
                labels: IntTensor<Self>,
                bandwidth: FloatTensor<Self>,
                kernel: PairKernel,
                pairing: Pairing,
            ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
                host::run::<Self>(points, labels, bandwidth, kernel, pairing, true)
            }

            fn residual_statistic(
                points: FloatTensor<Self>,
                residuals: FloatTensor<Self>,
                bandwidth: FloatTensor<Self>,
                kernel: PairKernel,
                pairing: Pairing,
            ) -> FloatTensor<Self> {
                host::run_rows::<Self>(points, residuals, bandwidth, kernel, pairing, false).0
            }

            fn residual_statistic_with_gradients(
                points: FloatTensor<Self>,
                residuals: FloatTensor<Self>,
                bandwidth: FloatTensor<Self>,
                kernel: PairKernel,
                pairing: Pairing,
            ) -> WithGradients<Self> {
                host::run_rows::<Self>(points, residuals, bandwidth, kernel, pairing, true)
            }

            fn median_separation(
                points: FloatTensor<Self>,
                separation: Separation,
                size: usize,
            ) -> FloatTensor<Self> {
                host::median::<Self>(points, separation, size)
            }

            fn kernel_matrix(
                x: FloatTensor<Self>,
                y: FloatTensor<Self>,
                kernel: PairKernel,
                bandwidth: f64,
            ) -> FloatTensor<Self> {
                host::kernel_matrix::<Self>(x, y, kernel, bandwidth)
            }

            fn block_values(
                points: FloatTensor<Self>,
                labels: IntTensor<Self>,
                kernel: PairKernel,
                bandwidth: f64,
                size: usize,
            ) -> FloatTensor<Self> {
                host::block_values::<Self>(points, labels, kernel, bandwidth, size)
            }
        }
    )*};
}

on_processor!("flex" => burn::backend::Flex, "ndarray" => burn::backend::NdArray);

/// Whether there is a fused pass for the tensor, by the processor or by a kernel of CubeCL.
pub(crate) fn has_fused_pass(points: &Tensor<2>) -> bool {
    match points.device().without_autodiff().as_dispatch() {
        #[cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu"))]
        DispatchDevice::Cube(device) => crate::ops::cube::is_able(device, points.dtype()),
        _ => on_processor(points),
    }
}

/// Whether there is [`median_separation`] for the tensor.
pub(crate) fn has_fused_median(points: &Tensor<2>) -> bool {
    match points.device().without_autodiff().as_dispatch() {
        #[cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu"))]
        DispatchDevice::Cube(device) => {
            crate::ops::cube::has_median(device, points.dtype(), points.dims()[0])
        }
        _ => on_processor(points),
    }
}

/// Whether the tensor is in the processor's memory, in f32 or f64: then there is a fused pass, and
/// others that are only there.
pub(crate) fn on_processor(points: &Tensor<2>) -> bool {
    let device = points.device().without_autodiff();
    let here = match device.as_dispatch() {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => true,
        #[cfg(feature = "ndarray")]
        DispatchDevice::NdArray(_) => true,
        #[allow(unreachable_patterns)] // where there is no other backend
        _ => false,
    };
    here && matches!(points.dtype(), DType::F32 | DType::F64)
}

/// The median of the separations of the pairs within blocks as in [`pair_statistic`], in the unit of
/// the kernel's bandwidth and detached: `[1]`; the mean of the two middle ones, and 1 where that is 0 or
/// some separation is not finite. Only with a [fused median](has_fused_median).
pub(crate) fn median_separation(
    points: Tensor<2>,
    separation: Separation,
    size: usize,
) -> Tensor<1> {
    Tensor::from_dispatch(<Dispatch as PairStatistic>::median_separation(
        points.detach().into_dispatch(),
        separation,
        size,
    ))
}

/// The kernel between two sets of points, detached: `[n, d]` and `[k, d]` to `[n, k]`. Only
/// [`on_processor`].
pub(crate) fn kernel_matrix(
    x: Tensor<2>,
    y: Tensor<2>,
    kernel: PairKernel,
    bandwidth: f64,
) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as PairStatistic>::kernel_matrix(
        x.detach().into_dispatch(),
        y.detach().into_dispatch(),
        kernel,
        bandwidth,
    ))
}

/// The mean of [`pair_statistic`] over the pairs of each block of `size` samples, in f64 and detached:
/// `[⌊n/size⌋]`. Only [`on_processor`].
pub(crate) fn block_values(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    kernel: PairKernel,
    bandwidth: f64,
    size: usize,
) -> Tensor<1> {
    Tensor::from_dispatch(<Dispatch as PairStatistic>::block_values(
        points.detach().into_dispatch(),
        labels.into_dispatch(),
        kernel,
        bandwidth,
        size,
    ))
}

/// Of what is detached.
#[derive(Debug)]
struct NoBackward;

impl<B: PairStatistic, const N: usize> Backward<B, N> for NoBackward {
    type State = ();

    fn backward(self, _: Ops<(), N>, _: &mut Gradients, _: &mut Checkpointer) {}
}

#[derive(Debug)]
struct PairStatisticBackward;

impl<B: PairStatistic> Backward<B, 2> for PairStatisticBackward {
    /// The gradients for points and bandwidth.
    type State = (FloatTensor<B>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let [parent_points, parent_bandwidth] = ops.parents;
        let (points, bandwidth) = ops.state;
        let upstream = grads.consume::<B>(&ops.node); // [1]
        if let Some(node) = parent_points {
            let upstream = B::float_reshape(upstream.clone(), [1, 1].into());
            grads.register::<B>(node.id, B::float_mul(points, upstream));
        }
        if let Some(node) = parent_bandwidth {
            grads.register::<B>(node.id, B::float_mul(bandwidth, upstream));
        }
    }
}

#[derive(Debug)]
struct ResidualStatisticBackward;

impl<B: PairStatistic> Backward<B, 3> for ResidualStatisticBackward {
    /// The gradients for points, residuals and bandwidth.
    type State = [FloatTensor<B>; 3];

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let upstream = grads.consume::<B>(&ops.node); // [1]
        let shapes = [[1, 1].into(), [1, 1].into(), [1].into()];
        for ((parent, gradient), shape) in ops.parents.into_iter().zip(ops.state).zip(shapes) {
            if let Some(node) = parent {
                let upstream = B::float_reshape(upstream.clone(), shape);
                grads.register::<B>(node.id, B::float_mul(gradient, upstream));
            }
        }
    }
}

impl<B: PairStatistic, C: CheckpointStrategy> PairStatistic for Autodiff<B, C> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        match PairStatisticBackward
            .prepare::<C>([points.node(), bandwidth.node()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let (value, points, bandwidth) = B::pair_statistic_with_gradient(
                    points.into_primitive(),
                    labels,
                    bandwidth.into_primitive(),
                    kernel,
                    pairing,
                );
                prep.finish((points, bandwidth), value)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::pair_statistic(
                points.into_primitive(),
                labels,
                bandwidth.into_primitive(),
                kernel,
                pairing,
            )),
        }
    }

    fn residual_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        let prepared = ResidualStatisticBackward
            .prepare::<C>([points.node(), residuals.node(), bandwidth.node()])
            .compute_bound()
            .stateful();
        let [points, residuals, bandwidth] =
            [points, residuals, bandwidth].map(|x| x.into_primitive());
        match prepared {
            OpsKind::Tracked(prep) => {
                let with_gradients = B::residual_statistic_with_gradients;
                let (value, points, residuals, bandwidth) =
                    with_gradients(points, residuals, bandwidth, kernel, pairing);
                prep.finish([points, residuals, bandwidth], value)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::residual_statistic(
                points, residuals, bandwidth, kernel, pairing,
            )),
        }
    }

    fn median_separation(
        points: FloatTensor<Self>,
        separation: Separation,
        size: usize,
    ) -> FloatTensor<Self> {
        let prepared = NoBackward
            .prepare::<C>([points.node()])
            .compute_bound()
            .stateful();
        let median = B::median_separation(points.into_primitive(), separation, size);
        match prepared {
            OpsKind::Tracked(prep) => prep.finish((), median),
            OpsKind::UnTracked(prep) => prep.finish(median),
        }
    }

    fn kernel_matrix(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        kernel: PairKernel,
        bandwidth: f64,
    ) -> FloatTensor<Self> {
        let nodes = [x.node(), y.node()];
        let matrix = B::kernel_matrix(x.into_primitive(), y.into_primitive(), kernel, bandwidth);
        match NoBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((), matrix),
            OpsKind::UnTracked(prep) => prep.finish(matrix),
        }
    }

    fn block_values(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        kernel: PairKernel,
        bandwidth: f64,
        size: usize,
    ) -> FloatTensor<Self> {
        let prepared = NoBackward
            .prepare::<C>([points.node()])
            .compute_bound()
            .stateful();
        let values = B::block_values(points.into_primitive(), labels, kernel, bandwidth, size);
        match prepared {
            OpsKind::Tracked(prep) => prep.finish((), values),
            OpsKind::UnTracked(prep) => prep.finish(values),
        }
    }
}
