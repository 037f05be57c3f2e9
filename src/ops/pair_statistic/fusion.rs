//! The operation where Burn fuses others: queued as an opaque one, of the backend inside.
//!
//! Burn's default features fuse on wgpu and CUDA, and for remote devices, and any crate of a build may
//! turn them on: then [`burn::backend::Cube`] is `Fusion<CubeBackend>`, which this crate cannot know.

use std::marker::PhantomData;

use burn::{
    backend::tensor::{FloatTensor, IntTensor},
    tensor::Shape,
};
use burn_fusion::{
    ExecutionError, Fusion, FusionBackend, FusionRuntime, FusionTensor,
    custom::{CustomOpIr, HandleContainer, Operation, OperationIr, StreamId, TensorIr},
};

use super::{
    PairKernel, Pairing,
    backend::{PairStatistic, WithGradient},
};
use crate::ops::pairwise_distance::PairwiseDistance;

impl<B: FusionBackend> PairwiseDistance for Fusion<B> {}

impl<B: FusionBackend + PairStatistic> PairStatistic for Fusion<B> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        let shapes = [[1].into()];
        let [value] = queue::<B, 1>([points, labels, bandwidth], shapes, kernel, pairing);
        value
    }

    fn pair_statistic_with_gradient(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> WithGradient<Self> {
        let shapes = [[1].into(), points.shape.clone(), [1].into()];
        queue::<B, 3>([points, labels, bandwidth], shapes, kernel, pairing).into()
    }
}

/// The operation once its turn comes: of points, labels and bandwidth, the value, and with three
/// outputs its gradients too.
#[derive(Debug)]
struct Queued<B, const N: usize> {
    inputs: [TensorIr; 3],
    outputs: [TensorIr; N],
    kernel: PairKernel,
    pairing: Pairing,
    backend: PhantomData<B>,
}

fn queue<B: FusionBackend + PairStatistic, const N: usize>(
    inputs: [FusionTensor<B::FusionRuntime>; 3],
    shapes: [Shape; N],
    kernel: PairKernel,
    pairing: Pairing,
) -> [FusionTensor<B::FusionRuntime>; N] {
    let (client, dtype) = (inputs[0].client.clone(), inputs[0].dtype);
    let queued = Queued::<B, N> {
        inputs: inputs.map(FusionTensor::into_ir),
        outputs: shapes.map(|shape| TensorIr::uninit(client.create_empty_handle(), shape, dtype)),
        kernel,
        pairing,
        backend: PhantomData,
    };
    let operation = CustomOpIr::new("pair_statistic", &queued.inputs, &queued.outputs);
    client
        .register(StreamId::current(), OperationIr::Custom(operation), queued)
        .try_into()
        .expect("as many tensors as outputs")
}

impl<B: FusionBackend + PairStatistic, const N: usize> Operation<B::FusionRuntime>
    for Queued<B, N>
{
    fn execute(
        &self,
        handles: &mut HandleContainer<<B::FusionRuntime as FusionRuntime>::FusionHandle>,
    ) -> Result<(), ExecutionError> {
        let [points, labels, bandwidth] = &self.inputs;
        let points = handles.get_float_tensor::<B>(points);
        let labels = handles.get_int_tensor::<B>(labels);
        let bandwidth = handles.get_float_tensor::<B>(bandwidth);
        let (kernel, pairing) = (self.kernel, self.pairing);
        let results = match N {
            1 => vec![B::pair_statistic(
                points, labels, bandwidth, kernel, pairing,
            )],
            _ => {
                let with_gradient = B::pair_statistic_with_gradient;
                let (value, points, bandwidth) =
                    with_gradient(points, labels, bandwidth, kernel, pairing);
                vec![value, points, bandwidth]
            }
        };
        for (output, result) in self.outputs.iter().zip(results) {
            handles.register_float_tensor::<B>(&output.id, result);
        }
        Ok(())
    }
}
