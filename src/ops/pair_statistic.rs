#![allow(deprecated)] // upstream deprecates the NdArray backend; it stays a supported feature here

use burn::backend::{
    Autodiff, Backend, Dispatch, TensorMetadata,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    tensor::{FloatTensor, IntTensor},
};
use burn::tensor::{IndexingUpdateOp, Int, Slice, Tensor};

use super::pairwise_distance::{Metric, PairwiseDistance, difference, divide_where_positive};

/// What a kernel depends on two points by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Separation {
    /// `scale · Σ_c |x_c − y_c|`; subgradient 0 where coordinates coincide.
    L1 {
        /// 1, or ½ for the total variation.
        scale: f64,
    },
    /// `(Σ_c (x_c − y_c)²)^½`; subgradient 0 where points coincide.
    Euclidean,
}

/// The kernels of the fused pair statistic: `exp(−r)`, or `exp(−r²/2)` if `squared`, for a separation
/// `r` over the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairKernel {
    /// The separation `r`.
    pub separation: Separation,
    /// The Gaussian profile rather than the exponential one.
    pub squared: bool,
}

impl PairKernel {
    /// What multiplies the sum over coordinates, or its root.
    pub(crate) fn scale(&self) -> f64 {
        match self.separation {
            Separation::L1 { scale } => scale,
            Separation::Euclidean => 1.0,
        }
    }
}

/// Which pairs the statistic is a mean of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// All `n²`, each sample with itself too.
    All,
    /// The pairs of two samples within the first `⌊n/size⌋` blocks of consecutive samples.
    Blocks {
        /// Samples in a block, `2..=n`; `n` for all pairs.
        size: usize,
    },
}

/// The mean of `h_ij = k(p_i, p_j) δ_i·δ_j` over pairs of samples, with residuals `δ = e_y − p`,
/// fused: no `n × n` matrix is stored, neither for the value nor for the gradient, which reaches
/// the points and the bandwidth.
///
/// On Flex and NdArray a pass over tiles in vectors of the processor, on all of rayon's threads (the
/// same result for the same number of them); while gradients are recorded the same pass sums them
/// too, and the backward pass only scales them. Elsewhere a loop over rows composed of tensor
/// operations.
///
/// # Shapes
///
/// - points: `[n, m]`, probabilities
/// - labels: `[n]`, classes in `0..m`
/// - bandwidth: `[1]`, positive, in the dtype of the points
/// - output: `[1]`, in the dtype of the points
///
/// Cost: `n²·m/2` pairs of coordinates (`n·B·m/2` for blocks of `B`), memory `O(n·m)`.
///
/// # Panics
///
/// If shapes or devices disagree, on a block size outside `2..=n`, a label out of range (where it is
/// seen), a dtype other than f32 and f64, or a backend that this crate was not compiled for.
pub fn pair_statistic(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    bandwidth: Tensor<1>,
    kernel: PairKernel,
    pairing: Pairing,
) -> Tensor<1> {
    let [n, _] = points.dims();
    assert_eq!(
        n,
        labels.dims()[0],
        "{n} points but {} labels",
        labels.dims()[0]
    );
    if let Pairing::Blocks { size } = pairing {
        assert!(
            (2..=n).contains(&size),
            "blocks of {size} of {n} samples, expected 2 to {n}"
        );
    }
    Tensor::from_dispatch(<Dispatch as PairStatistic>::pair_statistic(
        points.into_dispatch(),
        labels.into_dispatch(),
        bandwidth.into_dispatch(),
        kernel,
        pairing,
    ))
}

/// The mean, its gradient with respect to the points `[n, m]`, and with respect to the bandwidth
/// `[1]`.
type WithGradient<B> = (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);

/// The operation on every backend: composed of backend operations, a few rows at a time.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda"))
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

    /// One number where there is a fused pass, else two.
    fn marker(points: FloatTensor<Self>) -> FloatTensor<Self> {
        zeros::<Self>(&points, 2)
    }

    fn median_separation(
        _points: FloatTensor<Self>,
        _separation: Separation,
        _size: usize,
    ) -> FloatTensor<Self> {
        unreachable!("only on the processor")
    }

    fn kernel_matrix(
        _x: FloatTensor<Self>,
        _y: FloatTensor<Self>,
        _kernel: PairKernel,
        _bandwidth: f64,
    ) -> FloatTensor<Self> {
        unreachable!("only on the processor")
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl PairStatistic for burn::backend::Cube {}

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

            fn marker(points: FloatTensor<Self>) -> FloatTensor<Self> {
                zeros::<Self>(&points, 1)
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
        }
    )*};
}

on_processor!("flex" => burn::backend::Flex, "ndarray" => burn::backend::NdArray);

fn zeros<B: Backend>(like: &FloatTensor<B>, count: usize) -> FloatTensor<B> {
    B::float_zeros([count].into(), &like.device(), like.dtype().into())
}

/// Whether the tensor is in the processor's memory, where there is a fused pass.
pub(crate) fn on_processor(points: &Tensor<2>) -> bool {
    let marker = <Dispatch as PairStatistic>::marker(points.clone().detach().into_dispatch());
    Tensor::<1>::from_dispatch(marker).dims() == [1]
}

/// The median of the separations of the pairs within blocks as in [`pair_statistic`], in the unit of
/// the kernel's bandwidth and detached: `[1]`; the mean of the two middle ones, and 1 where that is 0.
/// Only [`on_processor`].
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

    fn marker(points: FloatTensor<Self>) -> FloatTensor<Self> {
        let prepared = NoBackward
            .prepare::<C>([points.node()])
            .compute_bound()
            .stateful();
        let marker = B::marker(points.into_primitive());
        match prepared {
            OpsKind::Tracked(prep) => prep.finish((), marker),
            OpsKind::UnTracked(prep) => prep.finish(marker),
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
}

/// From `Σ_{i<j} h` over all blocks to the mean, as factors: of this sum, and of `Σ_i h_ii`.
fn normalisation(pairing: Pairing, n: usize) -> (f64, f64) {
    match pairing {
        Pairing::All => (2.0 / (n * n) as f64, 1.0 / (n * n) as f64),
        Pairing::Blocks { size } => (2.0 / ((n / size) * size * (size - 1)) as f64, 0.0),
    }
}

/// The pairs in blocks of this size.
fn block_size(pairing: Pairing, n: usize) -> usize {
    match pairing {
        Pairing::All => n,
        Pairing::Blocks { size } => size,
    }
}

/// Numbers in a tile of the composition.
const TILE: usize = 1 << 22;

fn composed<B: PairwiseDistance>(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let size = block_size(pairing, n);
    let (batch, used) = (n / size, n / size * size);
    let scalar = |x: f64| x.into();
    let zeros =
        |shape: Vec<usize>| B::float_zeros(shape.into(), &points.device(), points.dtype().into());
    let one_each = B::float_add_scalar(zeros(vec![n, 1]), scalar(1.0));
    let residuals = B::float_scatter(
        1,
        B::float_neg(points.clone()),
        B::int_reshape(labels, [n, 1].into()),
        one_each,
        IndexingUpdateOp::Add,
    );
    let in_blocks = |x: FloatTensor<B>| {
        let x = B::float_slice(x, &[Slice::from(0..used), Slice::full()]);
        B::float_reshape(x, [batch, size, m].into())
    };
    let (x, delta) = (in_blocks(points.clone()), in_blocks(residuals)); // [b, size, m] each
    let rate = B::float_mul_scalar(
        B::float_reshape(B::float_recip(bandwidth.clone()), [1, 1, 1].into()),
        scalar(kernel.scale()),
    );
    let metric = match kernel.separation {
        Separation::L1 { .. } => Metric::L1,
        Separation::Euclidean => Metric::Euclidean,
    };

    let (mut value, mut stretch) = (zeros(vec![1]), zeros(vec![1]));
    let mut gradients = Vec::new();
    let rows = (TILE / used).clamp(1, size);
    for start in (0..size).step_by(rows) {
        let tile = [
            Slice::full(),
            Slice::from(start..size.min(start + rows)),
            Slice::full(),
        ];
        let p = B::float_slice(x.clone(), &tile); // [b, t, m]
        let delta_p = B::float_slice(delta.clone(), &tile);
        let distance = B::pairwise_distance(p.clone(), x.clone(), metric); // [b, t, size]
        let r = B::float_mul(distance.clone(), rate.clone());
        let (exponent, r_power) = match kernel.squared {
            false => (B::float_neg(r.clone()), r.clone()),
            true => {
                let r2 = B::float_mul(r.clone(), r.clone());
                (B::float_mul_scalar(r2.clone(), scalar(-0.5)), r2)
            }
        };
        let k = B::float_exp(exponent);
        let product = B::float_matmul(delta_p.clone(), B::float_transpose(delta.clone()));
        let h = B::float_mul(k.clone(), product);
        value = B::float_add(value, B::float_sum(h.clone()));
        if !gradient {
            continue;
        }
        stretch = B::float_add(stretch, B::float_sum(B::float_mul(h.clone(), r_power)));
        // ∂h/∂distance
        let slope = B::float_neg(B::float_mul(h, rate.clone()));
        let slope = match kernel.squared {
            false => slope,
            true => B::float_mul(slope, r),
        };
        let slope = match kernel.separation {
            Separation::L1 { .. } => slope,
            Separation::Euclidean => divide_where_positive::<B>(slope, distance),
        };
        let through_kernel = (0..m).map(|c| {
            let difference = difference::<B>(&p, &x, c); // [b, t, size]
            let direction = match kernel.separation {
                Separation::L1 { .. } => B::float_sign(difference),
                Separation::Euclidean => difference,
            };
            B::float_sum_dim(B::float_mul(slope.clone(), direction), 2) // [b, t, 1]
        });
        let through_kernel = B::float_cat(through_kernel.collect(), 2); // [b, t, m]
        // Σ_{j≠i} k_ij δ_j: k_ii = 1
        let others = B::float_sub(B::float_matmul(k, delta.clone()), delta_p);
        gradients.push(B::float_sub(through_kernel, others));
    }

    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let diagonal = B::float_sum(B::float_mul(delta.clone(), delta.clone())); // [1]
    let value = B::float_add(
        B::float_mul_scalar(
            B::float_sub(value, diagonal.clone()),
            scalar(0.5 * of_pairs),
        ),
        B::float_mul_scalar(diagonal, scalar(of_diagonal)),
    );
    if !gradient {
        return (value, zeros(vec![1]), zeros(vec![1]));
    }
    let through_diagonal = B::float_mul_scalar(delta, scalar(-2.0 * of_diagonal));
    let gradient = B::float_add(
        B::float_mul_scalar(B::float_cat(gradients, 1), scalar(of_pairs)),
        through_diagonal,
    );
    let gradient = B::float_reshape(gradient, [used, m].into());
    let gradient = match used < n {
        true => B::float_cat(vec![gradient, zeros(vec![n - used, m])], 0),
        false => gradient,
    };
    let stretch = B::float_mul_scalar(B::float_div(stretch, bandwidth), scalar(0.5 * of_pairs));
    (value, gradient, stretch)
}

#[cfg(any(feature = "flex", feature = "ndarray"))]
mod host {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use burn::tensor::{DType, TensorData};

    use super::*;
    use crate::ops::cpu::{self, PairSums, Real, Samples, order_statistics, pair_sums};

    pub(super) fn run<B: Backend>(
        points: FloatTensor<B>,
        labels: IntTensor<B>,
        bandwidth: FloatTensor<B>,
        kernel: PairKernel,
        pairing: Pairing,
        gradient: bool,
    ) -> WithGradient<B> {
        let device = points.device();
        let m = points.shape()[1];
        let labels = ready(B::int_into_data(labels));
        let labels = labels.iter::<i64>().enumerate().map(|(row, label)| {
            let in_range = usize::try_from(label).is_ok_and(|label| label < m);
            assert!(
                in_range,
                "the label in row {row} is {label}, expected 0 to {}",
                m - 1
            );
            label as u32
        });
        let labels: Vec<u32> = labels.collect();
        let data = ready(B::float_into_data(points));
        let bandwidth = ready(B::float_into_data(bandwidth)).iter::<f64>().next();
        let bandwidth = bandwidth.expect("one bandwidth");
        let arguments = (&*labels, m, bandwidth, kernel, pairing, gradient);
        let (value, gradient, stretch) = match data.dtype() {
            DType::F32 => means::<f32>(&data, arguments),
            DType::F64 => means::<f64>(&data, arguments),
            other => panic!("points of {other:?}, expected f32 or f64"),
        };
        let of = |data: TensorData| B::float_from_data(data, &device);
        (of(value), of(gradient), of(stretch))
    }

    type Arguments<'a> = (&'a [u32], usize, f64, PairKernel, Pairing, bool);

    /// The mean, and its gradients in the dtype of the points.
    fn means<T: Real + burn::tensor::Element>(
        points: &TensorData,
        (labels, d, bandwidth, kernel, pairing, gradient): Arguments,
    ) -> (TensorData, TensorData, TensorData) {
        let points = points.as_slice::<T>().expect("of this dtype");
        let n = labels.len();
        let (of_pairs, of_diagonal) = normalisation(pairing, n);
        let samples = Samples { points, labels, d };
        let size = block_size(pairing, n);
        let sums: PairSums<T> = pair_sums(samples, size, kernel, bandwidth, gradient);
        let mut value = of_pairs * sums.values.iter().sum::<f64>();
        let mut gradient = sums.gradient;
        gradient
            .iter_mut()
            .for_each(|g| *g = g.times(T::new(of_pairs)));
        if of_diagonal > 0.0 {
            for (i, (p, &label)) in points.chunks_exact(d).zip(labels).enumerate() {
                for (c, p) in p.iter().enumerate() {
                    let delta = f64::from(c == label as usize) - p.to_f64();
                    value += of_diagonal * delta * delta;
                    if let Some(g) = gradient.get_mut(i * d + c) {
                        *g = g.plus(T::new(-2.0 * of_diagonal * delta));
                    }
                }
            }
        }
        let stretch = of_pairs * sums.stretch / bandwidth;
        let one = |x: f64| TensorData::new(vec![T::new(x)], [1]);
        let rows = gradient.len() / d; // none without a gradient
        (
            one(value),
            TensorData::new(gradient, [rows, d]),
            one(stretch),
        )
    }

    pub(super) fn median<B: Backend>(
        points: FloatTensor<B>,
        separation: Separation,
        size: usize,
    ) -> FloatTensor<B> {
        let device = points.device();
        let d = points.shape()[1];
        let data = ready(B::float_into_data(points));
        let median = match data.dtype() {
            DType::F32 => median_of::<f32>(&data, d, separation, size),
            DType::F64 => median_of::<f64>(&data, d, separation, size),
            other => panic!("points of {other:?}, expected f32 or f64"),
        };
        B::float_from_data(
            TensorData::new(vec![median], [1]).convert_dtype(data.dtype()),
            &device,
        )
    }

    pub(super) fn kernel_matrix<B: Backend>(
        x: FloatTensor<B>,
        y: FloatTensor<B>,
        kernel: PairKernel,
        bandwidth: f64,
    ) -> FloatTensor<B> {
        let device = x.device();
        let d = x.shape()[1];
        let (x, y) = (ready(B::float_into_data(x)), ready(B::float_into_data(y)));
        let matrix = match x.dtype() {
            DType::F32 => matrix_of::<f32>(&x, &y, d, kernel, bandwidth),
            DType::F64 => matrix_of::<f64>(&x, &y, d, kernel, bandwidth),
            other => panic!("points of {other:?}, expected f32 or f64"),
        };
        B::float_from_data(matrix, &device)
    }

    fn matrix_of<T: Real + burn::tensor::Element>(
        x: &TensorData,
        y: &TensorData,
        d: usize,
        kernel: PairKernel,
        bandwidth: f64,
    ) -> TensorData {
        let points = |data| TensorData::as_slice::<T>(data).expect("of this dtype");
        let (x, y) = (points(x), points(y));
        let matrix = cpu::kernel_matrix(x, y, d, kernel, bandwidth);
        TensorData::new(matrix, [x.len() / d, y.len() / d])
    }

    fn median_of<T: Real + burn::tensor::Element>(
        points: &TensorData,
        d: usize,
        separation: Separation,
        size: usize,
    ) -> f64 {
        let points = points.as_slice::<T>().expect("of this dtype");
        let pairs = (points.len() / d / size * (size * (size - 1) / 2)) as u64;
        let middle = [(pairs - 1) / 2, pairs / 2];
        let middle = order_statistics(points, d, size, separation, &middle);
        match 0.5 * (middle[0] + middle[1]) {
            0.0 => 1.0,
            median => median,
        }
    }

    /// What a backend on the processor reads is there at once.
    fn ready<T, E: std::fmt::Debug>(read: impl Future<Output = Result<T, E>>) -> T {
        match pin!(read).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(data) => data.expect("a tensor on the processor can be read"),
            Poll::Pending => unreachable!("a tensor on the processor is there"),
        }
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::{
        backend::{
            Flex,
            ops::{FloatTensorOps, IntTensorOps},
        },
        tensor::TensorData,
    };

    use super::*;

    /// The composition is what runs without a fused pass: here on the same backend as the latter.
    #[test]
    fn composition_and_fused_pass_agree() {
        let (n, m) = (23, 4);
        let weights: Vec<f64> = (0..n * m)
            .map(|k| ((k * k) as f64 * 0.37).sin() + 1.1)
            .collect();
        let points: Vec<f64> = weights
            .chunks(m)
            .flat_map(|row| {
                row.iter()
                    .map(|w| w / row.iter().sum::<f64>())
                    .collect::<Vec<_>>()
            })
            .collect();
        let labels: Vec<i64> = (0..n).map(|i| (i * i % m) as i64).collect();
        let device = Default::default();
        let float = |x: &[f64], shape: &[usize]| {
            <Flex as FloatTensorOps<Flex>>::float_from_data(
                TensorData::new(x.to_vec(), shape),
                &device,
            )
        };
        for separation in [Separation::L1 { scale: 0.5 }, Separation::Euclidean] {
            for squared in [false, true] {
                for pairing in [
                    Pairing::All,
                    Pairing::Blocks { size: n },
                    Pairing::Blocks { size: 5 },
                ] {
                    let kernel = PairKernel {
                        separation,
                        squared,
                    };
                    let run = |by: fn(_, _, _, _, _, _) -> WithGradient<Flex>| {
                        let labels = <Flex as IntTensorOps<Flex>>::int_from_data(
                            TensorData::new(labels.clone(), [n]),
                            &device,
                        );
                        let (value, gradient, bandwidth) = by(
                            float(&points, &[n, m]),
                            labels,
                            float(&[0.3], &[1]),
                            kernel,
                            pairing,
                            true,
                        );
                        [value, gradient, bandwidth]
                            .map(|x| x.into_data().iter::<f64>().collect::<Vec<_>>())
                            .concat()
                    };
                    let (found, expected) = (run(composed::<Flex>), run(host::run::<Flex>));
                    assert_eq!(found.len(), n * m + 2);
                    for (a, b) in found.iter().zip(&expected) {
                        assert!(
                            (a - b).abs() < 1e-13,
                            "{kernel:?} {pairing:?}: {a}, not {b}"
                        );
                    }
                }
            }
        }
    }
}
