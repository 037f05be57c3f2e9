use burn::{
    backend::{
        Autodiff, Backend, Dispatch, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        ops::ActivationOps,
        tensor::FloatTensor,
    },
    tensor::{DType, Tensor},
};

use super::backends::{composed_elsewhere, on_every_backend, on_host};

/// The softmax of each row, `[n, m]` to `[n, m]`: Burn's, but one step for automatic
/// differentiation instead of five, and on the host in vectors: what a small batch waits for.
pub(crate) fn softmax(logits: Tensor<2>) -> Tensor<2> {
    let [n, m] = logits.dims();
    assert!(m > 0, "{n} rows of logits without a class");
    Tensor::from_dispatch(<Dispatch as RowSoftmax>::row_softmax(
        logits.into_dispatch(),
    ))
}

on_every_backend! {
    pub(crate) trait RowSoftmax: Backend {
        fn row_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
            Self::softmax(logits, 1)
        }

        /// With `G = ∂L/∂p`: `∂L/∂z_ic = p_ic (G_ic − Σ_d p_id G_id)`.
        fn row_softmax_gradient(
            p: FloatTensor<Self>,
            upstream: FloatTensor<Self>,
        ) -> FloatTensor<Self> {
            composed::<Self>(p, upstream)
        }
    }
}

fn composed<B: Backend>(p: FloatTensor<B>, upstream: FloatTensor<B>) -> FloatTensor<B> {
    let mean = B::float_sum_dim(B::float_mul(p.clone(), upstream.clone()), 1);
    B::float_mul(p, B::float_sub(upstream, mean))
}

on_host!(RowSoftmax {
    fn row_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
        match logits.dtype() {
            DType::F32 => host::softmax::<Self, f32>(logits),
            DType::F64 => host::softmax::<Self, f64>(logits),
            _ => <Self as ActivationOps<Self>>::softmax(logits, 1),
        }
    }

    fn row_softmax_gradient(
        p: FloatTensor<Self>,
        upstream: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        match p.dtype() {
            DType::F32 => host::gradient::<Self, f32>(p, upstream),
            DType::F64 => host::gradient::<Self, f64>(p, upstream),
            _ => composed::<Self>(p, upstream),
        }
    }
});

composed_elsewhere!(RowSoftmax);

#[derive(Debug)]
struct RowSoftmaxBackward;

impl<B: RowSoftmax> Backward<B, 1> for RowSoftmaxBackward {
    /// The probabilities.
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let [parent] = ops.parents;
        let upstream = grads.consume::<B>(&ops.node);
        if let Some(node) = parent {
            grads.register::<B>(node.id, B::row_softmax_gradient(ops.state, upstream));
        }
    }
}

impl<B: RowSoftmax, C: CheckpointStrategy> RowSoftmax for Autodiff<B, C> {
    fn row_softmax(logits: FloatTensor<Self>) -> FloatTensor<Self> {
        let prepared = RowSoftmaxBackward
            .prepare::<C>([logits.node()])
            .compute_bound()
            .stateful();
        let probabilities = B::row_softmax(logits.into_primitive());
        match prepared {
            OpsKind::Tracked(prep) => prep.finish(probabilities.clone(), probabilities),
            OpsKind::UnTracked(prep) => prep.finish(probabilities),
        }
    }
}

#[cfg(any(feature = "flex", feature = "ndarray"))]
mod host {
    use burn::tensor::{Element, TensorData};

    use super::*;
    use crate::{
        ops::{
            backends::ready,
            simd::{exp2::exp, real::Real},
        },
        parallel::for_each_chunk,
    };

    /// The number of logits that fit the first-level cache.
    const AT_ONCE: usize = 1 << 12;

    pub(super) fn softmax<B: Backend, T: Real + Element>(logits: FloatTensor<B>) -> FloatTensor<B> {
        let device = logits.device();
        let mut data = ready(B::float_into_data(logits));
        let m = data.shape()[1];
        let z = data.as_mut_slice::<T>().expect("of this dtype");
        for_each_chunk(z, AT_ONCE.div_ceil(m) * m, 1, |(_, z)| of_rows(z, m));
        B::float_from_data(data, &device)
    }

    /// Computes rows in place.
    fn of_rows<T: Real>(z: &mut [T], m: usize) {
        let shift = |row: &mut [T]| {
            let greater = |a: T, &z: &T| if z > a { z } else { a };
            let greatest = row.iter().fold(T::new(f64::NEG_INFINITY), greater);
            let mut sum = T::new(0.0);
            for z in row {
                *z = z.minus(greatest);
                sum = sum.plus(*z);
            }
            if sum.to_f64().is_nan() { f64::NAN } else { 1.0 }
        };
        let factors: Vec<f64> = z.chunks_exact_mut(m).map(shift).collect();
        exp(z); // knows no NaN
        let least = T::new(2.0 * T::MIN_POSITIVE); // what underflows
        for (row, factor) in z.chunks_exact_mut(m).zip(factors) {
            let sum = row.iter().fold(T::new(0.0), |sum, &e| sum.plus(e));
            let scale = T::new(factor / sum.to_f64());
            let zero = T::new(0.0).times(scale);
            for e in row {
                *e = if *e < least { zero } else { e.times(scale) };
            }
        }
    }

    pub(super) fn gradient<B: Backend, T: Real + Element>(
        p: FloatTensor<B>,
        upstream: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let device = p.device();
        let (p, mut data) = (
            ready(B::float_into_data(p)),
            ready(B::float_into_data(upstream)),
        );
        let m = p.shape()[1];
        let p = p.as_slice::<T>().expect("of this dtype");
        let upstream = TensorData::as_mut_slice::<T>(&mut data).expect("of this dtype");
        for_each_chunk(upstream, m, 1, |(row, g)| {
            let p = &p[row * m..][..m];
            let products = p.iter().zip(&*g).map(|(p, &g)| p.times(g));
            let mean = products.fold(T::new(0.0), T::plus);
            for (p, g) in p.iter().zip(g) {
                *g = p.times(g.plus(mean.times(T::new(-1.0))));
            }
        });
        B::float_from_data(data, &device)
    }
}
