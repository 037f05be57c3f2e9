//! The operations where Burn fuses others: queued as opaque ones, of the backend inside.
//!
//! Burn's default features fuse on wgpu and CUDA, and for remote devices, and any crate of a build may
//! turn them on: then [`burn::backend::Cube`] is `Fusion<CubeBackend>`, which this crate cannot know.

use std::{
    fmt::{self, Debug, Formatter},
    marker::PhantomData,
};

use burn::{
    backend::tensor::{FloatTensor, IntTensor},
    tensor::Shape,
};
use burn_fusion::{
    ExecutionError, Fusion, FusionBackend, FusionRuntime, FusionTensor,
    custom::{CustomOpIr, HandleContainer, Operation, OperationIr, StreamId, TensorIr},
};

use super::{
    PairKernel, Pairing, Separation,
    backend::{PairStatistic, WithGradient, WithGradients},
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
        let inputs = [points, labels, bandwidth];
        let [value] = queue::<B, _, _>("pair_statistic", inputs, [[1].into()], move |queued| {
            let [points, bandwidth] = [0, 2].map(|k| queued.float(k));
            [B::pair_statistic(
                points,
                queued.int(1),
                bandwidth,
                kernel,
                pairing,
            )]
        });
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
        let inputs = [points, labels, bandwidth];
        queue::<B, _, _>("pair_statistic", inputs, shapes, move |queued| {
            let [points, bandwidth] = [0, 2].map(|k| queued.float(k));
            let with_gradient = B::pair_statistic_with_gradient;
            with_gradient(points, queued.int(1), bandwidth, kernel, pairing).into()
        })
        .into()
    }

    fn residual_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> FloatTensor<Self> {
        let inputs = [points, residuals, bandwidth];
        let [value] = queue::<B, _, _>("residual_statistic", inputs, [[1].into()], move |queued| {
            let [points, residuals, bandwidth] = [0, 1, 2].map(|k| queued.float(k));
            let value = B::residual_statistic(points, residuals, bandwidth, kernel, pairing);
            [value]
        });
        value
    }

    fn residual_statistic_with_gradients(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
    ) -> WithGradients<Self> {
        let [of_points, of_residuals] = [&points, &residuals].map(|x| x.shape.clone());
        let shapes = [[1].into(), of_points, of_residuals, [1].into()];
        let inputs = [points, residuals, bandwidth];
        queue::<B, _, _>("residual_statistic", inputs, shapes, move |queued| {
            let [points, residuals, bandwidth] = [0, 1, 2].map(|k| queued.float(k));
            let with_gradients = B::residual_statistic_with_gradients;
            with_gradients(points, residuals, bandwidth, kernel, pairing).into()
        })
        .into()
    }

    fn median_separation(
        points: FloatTensor<Self>,
        separation: Separation,
        size: usize,
    ) -> FloatTensor<Self> {
        let shapes = [[1].into()];
        let [median] = queue::<B, _, _>("median_separation", [points], shapes, move |queued| {
            [B::median_separation(queued.float(0), separation, size)]
        });
        median
    }
}

/// The inputs of an operation whose turn has come.
struct Ready<'a, B: FusionBackend> {
    inputs: &'a [TensorIr],
    handles: &'a mut HandleContainer<<B::FusionRuntime as FusionRuntime>::FusionHandle>,
}

impl<B: FusionBackend> Ready<'_, B> {
    fn float(&mut self, input: usize) -> FloatTensor<B> {
        self.handles.get_float_tensor::<B>(&self.inputs[input])
    }

    fn int(&mut self, input: usize) -> IntTensor<B> {
        self.handles.get_int_tensor::<B>(&self.inputs[input])
    }
}

/// An operation that runs once its turn comes.
struct Queued<B, F, const I: usize, const O: usize> {
    inputs: [TensorIr; I],
    outputs: [TensorIr; O],
    run: F,
    backend: PhantomData<B>,
}

impl<B, F, const I: usize, const O: usize> Debug for Queued<B, F, I, O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Queued of {:?} to {:?}", self.inputs, self.outputs)
    }
}

/// Queues an operation whose outputs have the shapes given and the dtype of the first input.
fn queue<B: FusionBackend, const I: usize, const O: usize>(
    name: &'static str,
    inputs: [FusionTensor<B::FusionRuntime>; I],
    shapes: [Shape; O],
    run: impl Fn(&mut Ready<B>) -> [FloatTensor<B>; O] + Send + Sync + 'static,
) -> [FusionTensor<B::FusionRuntime>; O] {
    let (client, dtype) = (inputs[0].client.clone(), inputs[0].dtype);
    let queued = Queued {
        inputs: inputs.map(FusionTensor::into_ir),
        outputs: shapes.map(|shape| TensorIr::uninit(client.create_empty_handle(), shape, dtype)),
        run,
        backend: PhantomData::<B>,
    };
    let operation = CustomOpIr::new(name, &queued.inputs, &queued.outputs);
    client
        .register(StreamId::current(), OperationIr::Custom(operation), queued)
        .try_into()
        .expect("as many tensors as outputs")
}

impl<B, F, const I: usize, const O: usize> Operation<B::FusionRuntime> for Queued<B, F, I, O>
where
    B: FusionBackend,
    F: Fn(&mut Ready<B>) -> [FloatTensor<B>; O] + Send + Sync,
{
    fn execute(
        &self,
        handles: &mut HandleContainer<<B::FusionRuntime as FusionRuntime>::FusionHandle>,
    ) -> Result<(), ExecutionError> {
        let inputs = &self.inputs;
        let results = (self.run)(&mut Ready { inputs, handles });
        for (output, result) in self.outputs.iter().zip(results) {
            handles.register_float_tensor::<B>(&output.id, result);
        }
        Ok(())
    }
}
