#![allow(deprecated)] // upstream deprecates the NdArray backend; it stays a supported feature here

use burn::backend::{
    Autodiff, Backend, Dispatch, TensorMetadata,
    autodiff::{
        NodeId,
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    tensor::FloatTensor,
};
use burn::tensor::{Slice, Tensor};

/// The distance between two points of `ℝ^d`, as a sum over coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// `Σ_c |x_c − y_c|`; subgradient 0 where `x_c = y_c`.
    L1,
    /// `Σ_c (x_c − y_c)²`.
    SquaredEuclidean,
    /// `(Σ_c (x_c − y_c)²)^½`; subgradient 0 where `x = y`.
    Euclidean,
}

/// Distances between all rows of `x` and all rows of `y`, within each batch.
///
/// The differences are exact coordinate differences, never a Gram matrix: close points keep all
/// their digits.
///
/// # Shapes
///
/// - x: `[batch, n, d]`
/// - y: `[batch, k, d]`
/// - output: `[batch, n, k]`, in the dtype of the input
///
/// Cost: `batch · n · k · d` operations, `O(batch · n · k)` memory in both passes.
///
/// # Panics
///
/// If batch sizes, dimensions, dtypes or devices differ, or on a backend that this crate was not
/// compiled for (see its features).
pub fn pairwise_distance(x: Tensor<3>, y: Tensor<3>, metric: Metric) -> Tensor<3> {
    let ([b, _, d], [b_y, _, d_y]) = (x.dims(), y.dims());
    assert_eq!(
        (b, d),
        (b_y, d_y),
        "pairwise_distance: batch and dimension of x and y must agree"
    );
    Tensor::from_dispatch(<Dispatch as PairwiseDistance>::pairwise_distance(
        x.into_dispatch(),
        y.into_dispatch(),
        metric,
    ))
}

/// The operation on every backend: composed of backend operations, coordinate by coordinate.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu")),
    Remote: cfg(feature = "remote")
)]
pub(crate) trait PairwiseDistance: Backend {
    fn pairwise_distance(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        metric: Metric,
    ) -> FloatTensor<Self> {
        let dimension = x.shape()[2];
        let distance = (0..dimension)
            .map(|c| {
                let difference = difference::<Self>(&x, &y, c); // [b, n, k]
                match metric {
                    Metric::L1 => Self::float_abs(difference),
                    _ => Self::float_mul(difference.clone(), difference),
                }
            })
            .reduce(Self::float_add)
            .expect("points have at least one coordinate");
        match metric {
            Metric::Euclidean => Self::float_sqrt(distance),
            _ => distance,
        }
    }
}

#[cfg(feature = "flex")]
impl PairwiseDistance for burn::backend::Flex {}
#[cfg(feature = "ndarray")]
impl PairwiseDistance for burn::backend::NdArray {}
#[cfg(any(feature = "wgpu", feature = "cuda", feature = "cpu"))]
impl PairwiseDistance for burn_cubecl::CubeBackend {}
#[cfg(feature = "remote")]
impl<R: burn_router::RouterChannel> PairwiseDistance for burn_router::BackendRouter<R> {}

/// `x_ic − y_jc` for coordinate `c`: `[b, n, 1] − [b, 1, k] → [b, n, k]`.
pub(super) fn difference<B: Backend>(
    x: &FloatTensor<B>,
    y: &FloatTensor<B>,
    c: usize,
) -> FloatTensor<B> {
    B::float_sub(
        column::<B>(x, c),
        B::float_swap_dims(column::<B>(y, c), 1, 2),
    )
}

/// Coordinate `c` of every point: `[b, n, d] → [b, n, 1]`.
fn column<B: Backend>(x: &FloatTensor<B>, c: usize) -> FloatTensor<B> {
    let all = Slice::full();
    B::float_slice(x.clone(), &[all, all, Slice::from(c..c + 1)])
}

#[derive(Debug)]
struct PairwiseDistanceBackward;

/// The points, and for the Euclidean metric the distances.
#[derive(Debug, Clone)]
struct State<F> {
    x: NodeId,
    y: NodeId,
    distance: Option<F>,
    metric: Metric,
}

impl<B: PairwiseDistance> Backward<B, 2> for PairwiseDistanceBackward {
    type State = State<FloatTensor<B>>;

    /// With `G = ∂L/∂D` and `s_ijc` the derivative of `D_ij` with respect to `x_ic`,
    /// `∂L/∂x_ic = Σ_j G_ij s_ijc` and `∂L/∂y_jc = −Σ_i G_ij s_ijc`.
    fn backward(
        self,
        ops: Ops<Self::State, 2>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let [parent_x, parent_y] = ops.parents;
        let State {
            x,
            y,
            distance,
            metric,
        } = ops.state;
        let x: FloatTensor<B> = checkpointer.retrieve_node_output(x);
        let y: FloatTensor<B> = checkpointer.retrieve_node_output(y);
        let weight = match (metric, distance) {
            (Metric::L1, _) => grads.consume::<B>(&ops.node),
            (Metric::SquaredEuclidean, _) => {
                B::float_mul_scalar(grads.consume::<B>(&ops.node), 2f32.into())
            }
            (Metric::Euclidean, distance) => {
                let distance = distance.expect("saved by the forward pass");
                divide_where_positive::<B>(grads.consume::<B>(&ops.node), distance)
            }
        }; // [b, n, k]

        let (mut columns_x, mut columns_y) = (Vec::new(), Vec::new());
        for c in 0..x.shape()[2] {
            let difference = difference::<B>(&x, &y, c);
            let slope = match metric {
                Metric::L1 => B::float_sign(difference),
                _ => difference,
            };
            let term = B::float_mul(weight.clone(), slope); // G_ij s_ijc
            if parent_y.is_some() {
                let sum = B::float_sum_dim(term.clone(), 1); // [b, 1, k]
                columns_y.push(B::float_neg(B::float_swap_dims(sum, 1, 2)));
            }
            if parent_x.is_some() {
                columns_x.push(B::float_sum_dim(term, 2)); // [b, n, 1]
            }
        }
        for (parent, columns) in [(parent_x, columns_x), (parent_y, columns_y)] {
            if let Some(node) = parent {
                grads.register::<B>(node.id, B::float_cat(columns, 2));
            }
        }
    }
}

/// `a / d` where `d > 0`, and 0 where `d = 0`.
pub(super) fn divide_where_positive<B: Backend>(
    a: FloatTensor<B>,
    d: FloatTensor<B>,
) -> FloatTensor<B> {
    // sign(d) is 1 or 0, and d + 1 − sign(d) is d or 1
    let positive = B::float_sign(d.clone());
    let one_where_zero = B::float_add_scalar(B::float_neg(positive.clone()), 1f32.into());
    B::float_mul(B::float_div(a, B::float_add(d, one_where_zero)), positive)
}

impl<B: PairwiseDistance, C: CheckpointStrategy> PairwiseDistance for Autodiff<B, C> {
    fn pairwise_distance(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        metric: Metric,
    ) -> FloatTensor<Self> {
        match PairwiseDistanceBackward
            .prepare::<C>([x.node(), y.node()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(mut prep) => {
                let (node_x, node_y) = (prep.checkpoint(&x), prep.checkpoint(&y));
                let distance = B::pairwise_distance(x.into_primitive(), y.into_primitive(), metric);
                let saved = (metric == Metric::Euclidean).then(|| distance.clone());
                let state = State {
                    x: node_x,
                    y: node_y,
                    distance: saved,
                    metric,
                };
                prep.finish(state, distance)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::pairwise_distance(
                x.into_primitive(),
                y.into_primitive(),
                metric,
            )),
        }
    }
}
