//! One way to attach a gradient to a value that was computed without automatic differentiation.

use std::{
    fmt::{self, Debug, Formatter},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use burn::{
    backend::{
        Autodiff, Backend, Dispatch, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        tensor::FloatTensor,
    },
    tensor::{Shape, Tensor, TensorData},
};

use super::backends::{composed_elsewhere, on_every_backend, on_host, ready};

/// A value with its derivative with respect to an input: the gradient that arrives at the value goes on to
/// it, and that times the slope to the input. Chain calls for several inputs.
///
/// - value: each number a function of that in its place of the input, which may be broadcast; or `[1]`
/// - slope: of the shape of the value, of `[1]` of that of the input
pub(crate) fn linearised<const D: usize, const E: usize>(
    value: Tensor<D>,
    input: &Tensor<E>,
    slope: Tensor<E>,
) -> Tensor<D> {
    Tensor::from_dispatch(<Dispatch as Linearised>::linearised(
        value.into_dispatch(),
        input.clone().into_dispatch(),
        slope.into_dispatch(),
    ))
}

/// A value with a function that turns the gradient which arrives at it into those of its inputs, on the host
/// and in the backward pass, once: in row-major order, of the shapes and dtypes of the inputs.
pub(super) fn with_pull_back<const D: usize, const E: usize, const N: usize>(
    value: Tensor<D>,
    inputs: [Tensor<E>; N],
    pull_back: impl Fn(TensorData) -> [TensorData; N] + Send + Sync + 'static,
) -> Tensor<D> {
    let pull_back = Arc::new(pull_back);
    let found = Arc::new(Mutex::new(std::array::from_fn(|_| None)));
    let tracked = inputs.into_iter().enumerate();
    let tracked = tracked.filter(|(_, input)| input.is_tracked());
    tracked.fold(value, |value, (at, input)| {
        let (pull_back, found) = (pull_back.clone(), found.clone());
        let gradient = move |upstream| {
            let mut found: MutexGuard<[Option<TensorData>; N]> =
                found.lock().unwrap_or_else(PoisonError::into_inner);
            if found[at].is_none() {
                *found = pull_back(upstream).map(Some);
            }
            found[at].take().expect("a gradient for each input")
        };
        Tensor::from_dispatch(<Dispatch as Linearised>::with_pull_back(
            value.into_dispatch(),
            input.into_dispatch(),
            PullBack(Arc::new(gradient)),
        ))
    })
}

/// A gradient on the host, given that of a value.
#[derive(Clone)]
pub(crate) struct PullBack(Arc<dyn Fn(TensorData) -> TensorData + Send + Sync>);

impl Debug for PullBack {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PullBack")
    }
}

on_every_backend! {
    /// The operations, which are the value itself without automatic differentiation.
    pub(crate) trait Linearised: Backend {
        fn linearised(
            value: FloatTensor<Self>,
            _input: FloatTensor<Self>,
            _slope: FloatTensor<Self>,
        ) -> FloatTensor<Self> {
            value
        }

        fn with_pull_back(
            value: FloatTensor<Self>,
            _input: FloatTensor<Self>,
            _pull_back: PullBack,
        ) -> FloatTensor<Self> {
            value
        }
    }
}

on_host!(Linearised {});
composed_elsewhere!(Linearised);

/// The derivative with respect to an input.
#[derive(Debug, Clone)]
enum Derivative<F> {
    /// And the shape of the input.
    Slope(F, Shape),
    PullBack(PullBack),
}

#[derive(Debug)]
struct Attached;

impl<B: Backend> Backward<B, 2> for Attached {
    type State = Derivative<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let [value, input] = ops.parents;
        let upstream = grads.consume::<B>(&ops.node);
        if let Some(value) = value {
            grads.register::<B>(value.id, upstream.clone());
        }
        let Some(input) = input else { return };
        let gradient = match ops.state {
            Derivative::Slope(slope, shape) => {
                let upstream = if slope.shape() == upstream.shape() {
                    upstream
                } else {
                    let ones = vec![1; shape.num_dims()];
                    B::float_reshape(upstream, ones.into())
                };
                let gradient = B::float_mul(slope, upstream);
                (0..shape.num_dims()).fold(gradient, |sum, dim| {
                    if sum.shape()[dim] == shape[dim] {
                        sum
                    } else {
                        B::float_sum_dim(sum, dim)
                    }
                })
            }
            Derivative::PullBack(PullBack(gradient)) => {
                let device = upstream.device();
                B::float_from_data(gradient(ready(B::float_into_data(upstream))), &device)
            }
        };
        grads.register::<B>(input.id, gradient);
    }
}

/// Attaches a derivative.
fn attach<B: Backend, C: CheckpointStrategy>(
    value: FloatTensor<Autodiff<B, C>>,
    input: FloatTensor<Autodiff<B, C>>,
    derivative: Derivative<FloatTensor<B>>,
) -> FloatTensor<Autodiff<B, C>> {
    let nodes = [value.node(), input.node()];
    let prepared = Attached.prepare::<C>(nodes).compute_bound().stateful();
    match prepared {
        OpsKind::Tracked(prep) => prep.finish(derivative, value.into_primitive()),
        OpsKind::UnTracked(prep) => prep.finish(value.into_primitive()),
    }
}

impl<B: Linearised, C: CheckpointStrategy> Linearised for Autodiff<B, C> {
    fn linearised(
        value: FloatTensor<Self>,
        input: FloatTensor<Self>,
        slope: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let derivative = Derivative::Slope(slope.into_primitive(), input.shape());
        attach::<B, C>(value, input, derivative)
    }

    fn with_pull_back(
        value: FloatTensor<Self>,
        input: FloatTensor<Self>,
        pull_back: PullBack,
    ) -> FloatTensor<Self> {
        attach::<B, C>(value, input, Derivative::PullBack(pull_back))
    }
}
