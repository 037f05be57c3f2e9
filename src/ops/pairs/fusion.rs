//! The operations where Burn fuses others: queued as opaque ones, of the backend inside.
//!
//! Burn's default features fuse on wgpu and CUDA, and any crate of a build may turn them on: then
//! [`burn::backend::Cube`] is `Fusion<CubeBackend>`, which this crate cannot know.

use std::fmt::{self, Debug, Formatter};

use burn::{
    backend::tensor::{FloatTensor, IntTensor},
    tensor::Shape,
};
use burn_cubecl::CubeBackend;
use burn_fusion::{
    ExecutionError, Fusion, FusionBackend, FusionRuntime, FusionTensor,
    custom::{CustomOpIr, HandleContainer, Operation, OperationIr, StreamId, TensorIr},
};

use super::{
    PairKernel, Pairing,
    backend::{PairStatistic, WithGradient, WithGradients},
};

impl PairStatistic for Fusion<CubeBackend> {
    fn pair_statistic(
        points: FloatTensor<Self>,
        labels: IntTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
        gradient: bool,
    ) -> WithGradient<Self> {
        let shapes = [[1].into(), points.shape.clone(), [1].into()];
        let inputs = [points, labels, bandwidth];
        queue("pair_statistic", inputs, shapes, move |queued| {
            let [points, bandwidth] = [0, 2].map(|k| queued.float(k));
            let run = <CubeBackend as PairStatistic>::pair_statistic;
            run(points, queued.int(1), bandwidth, kernel, pairing, gradient).into()
        })
        .into()
    }

    fn residual_statistic(
        points: FloatTensor<Self>,
        residuals: FloatTensor<Self>,
        bandwidth: FloatTensor<Self>,
        kernel: PairKernel,
        pairing: Pairing,
        gradient: bool,
    ) -> WithGradients<Self> {
        let [of_points, of_residuals] = [&points, &residuals].map(|x| x.shape.clone());
        let shapes = [[1].into(), of_points, of_residuals, [1].into()];
        let inputs = [points, residuals, bandwidth];
        queue("residual_statistic", inputs, shapes, move |queued| {
            let [points, residuals, bandwidth] = [0, 1, 2].map(|k| queued.float(k));
            let run = <CubeBackend as PairStatistic>::residual_statistic;
            run(points, residuals, bandwidth, kernel, pairing, gradient).into()
        })
        .into()
    }
}

type Runtime = <CubeBackend as FusionBackend>::FusionRuntime;
type Handles = HandleContainer<<Runtime as FusionRuntime>::FusionHandle>;

/// The inputs of an operation whose turn has come.
pub(in crate::ops) struct Ready<'a> {
    inputs: &'a [TensorIr],
    handles: &'a mut Handles,
}

impl Ready<'_> {
    pub(in crate::ops) fn float(&mut self, input: usize) -> FloatTensor<CubeBackend> {
        self.handles
            .get_float_tensor::<CubeBackend>(&self.inputs[input])
    }

    fn int(&mut self, input: usize) -> IntTensor<CubeBackend> {
        self.handles
            .get_int_tensor::<CubeBackend>(&self.inputs[input])
    }
}

/// An operation that runs once its turn comes.
struct Queued<F, const I: usize, const O: usize> {
    inputs: [TensorIr; I],
    outputs: [TensorIr; O],
    run: F,
}

impl<F, const I: usize, const O: usize> Debug for Queued<F, I, O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Queued of {:?} to {:?}", self.inputs, self.outputs)
    }
}

/// Queues an operation whose outputs have the shapes given, unless nobody reads them, and the dtype of
/// the first input.
pub(in crate::ops) fn queue<const I: usize, const O: usize>(
    name: &'static str,
    inputs: [FusionTensor<Runtime>; I],
    shapes: [Shape; O],
    run: impl Fn(&mut Ready) -> [FloatTensor<CubeBackend>; O] + Send + Sync + 'static,
) -> [FusionTensor<Runtime>; O] {
    let (client, dtype) = (inputs[0].client.clone(), inputs[0].dtype);
    let queued = Queued {
        inputs: inputs.map(FusionTensor::into_ir),
        outputs: shapes.map(|shape| TensorIr::uninit(client.create_empty_handle(), shape, dtype)),
        run,
    };
    let operation = CustomOpIr::new(name, &queued.inputs, &queued.outputs);
    client
        .register(StreamId::current(), OperationIr::Custom(operation), queued)
        .try_into()
        .expect("as many tensors as outputs")
}

impl<F, const I: usize, const O: usize> Operation<Runtime> for Queued<F, I, O>
where
    F: Fn(&mut Ready) -> [FloatTensor<CubeBackend>; O] + Send + Sync,
{
    fn execute(&self, handles: &mut Handles) -> Result<(), ExecutionError> {
        let inputs = &self.inputs;
        let results = (self.run)(&mut Ready { inputs, handles });
        for (output, result) in self.outputs.iter().zip(results) {
            handles.register_float_tensor::<CubeBackend>(&output.id, result);
        }
        Ok(())
    }
}
