//! The operations where Burn fuses others: queued as opaque ones, of the backend inside.
//!
//! Burn's default features fuse on wgpu and CUDA, and any crate of a build may turn them on: then [`burn::backend::Cube`] is `Fusion<CubeBackend>`, which this crate cannot know.

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
    PairMean,
    backend::{PairStatistic, WithGradients},
};

impl<B: FusionBackend + PairStatistic> PairStatistic for Fusion<B> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        form: PairMean,
        gradient: bool,
    ) -> WithGradients<Self> {
        let shapes = [[1].into(), points.shape.clone(), [1].into()];
        let inputs = [points, labels, bandwidth];
        queue::<B, _, _>("pair_statistic", inputs, shapes, move |queued| {
            let [points, bandwidth] = [0, 2].map(|k| queued.float(k));
            B::pair_statistic(points, queued.int(1), bandwidth, form, gradient).into()
        })
        .into()
    }
}

type Handles<B> =
    HandleContainer<<<B as FusionBackend>::FusionRuntime as FusionRuntime>::FusionHandle>;

/// The inputs of an operation whose turn has come.
struct Ready<'a, B: FusionBackend> {
    inputs: &'a [TensorIr],
    handles: &'a mut Handles<B>,
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

/// Queues an operation whose outputs have the shapes given, unless nobody reads them, and the dtype of
/// the first input.
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
    fn execute(&self, handles: &mut Handles<B>) -> Result<(), ExecutionError> {
        let inputs = &self.inputs;
        let results = (self.run)(&mut Ready { inputs, handles });
        for (output, result) in self.outputs.iter().zip(results) {
            handles.register_float_tensor::<B>(&output.id, result);
        }
        Ok(())
    }
}
