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
    let tracked = inputs.into_iter().zip(PullBack::for_each_input(pull_back));
    let tracked = tracked.filter(|(input, _)| input.is_tracked());
    tracked.fold(value, |value, (input, pull_back)| {
        Tensor::from_dispatch(<Dispatch as Linearised>::with_pull_back(
            value.into_dispatch(),
            input.into_dispatch(),
            pull_back,
        ))
    })
}

/// A gradient, given that of a value.
#[derive(Clone)]
pub(crate) struct PullBack<T>(Arc<dyn Fn(T) -> T + Send + Sync>);

impl<T: Send + 'static> PullBack<T> {
    /// The slopes of several inputs. The first that is asked for computes all of them.
    pub fn for_each_input<const N: usize>(
        all: impl Fn(T) -> [T; N] + Send + Sync + 'static,
    ) -> [Self; N] {
        let (all, found) = (Arc::new(all), Arc::new(Mutex::new([const { None }; N])));
        std::array::from_fn(|at| {
            let (all, found) = (all.clone(), found.clone());
            Self(Arc::new(move |upstream| {
                let mut found: MutexGuard<[Option<T>; N]> =
                    found.lock().unwrap_or_else(PoisonError::into_inner);
                if found[at].is_none() {
                    *found = all(upstream).map(Some);
                }
                found[at].take().expect("a gradient for each input")
            }))
        })
    }
}

impl<T> Debug for PullBack<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PullBack")
    }
}

/// A pull-back of numbers in the memory of the host.
type OnHost = PullBack<TensorData>;

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
            _pull_back: OnHost,
        ) -> FloatTensor<Self> {
            value
        }
    }
}

on_host!(Linearised {});
composed_elsewhere!(Linearised);

/// The derivative with respect to an input.
#[derive(Debug, Clone)]
pub(super) enum Derivative<F> {
    /// And the shape of the input.
    Slope(F, Shape),
    PullBack(PullBack<F>),
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
            Derivative::PullBack(PullBack(gradient)) => gradient(upstream),
        };
        grads.register::<B>(input.id, gradient);
    }
}

/// Attaches a derivative.
pub(super) fn attach<B: Backend, C: CheckpointStrategy>(
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
        PullBack(gradient): OnHost,
    ) -> FloatTensor<Self> {
        let pull_back = move |upstream: FloatTensor<B>| {
            let device = upstream.device();
            B::float_from_data(gradient(ready(B::float_into_data(upstream))), &device)
        };
        let pull_back = PullBack(Arc::new(pull_back));
        attach::<B, C>(value, input, Derivative::PullBack(pull_back))
    }
}
