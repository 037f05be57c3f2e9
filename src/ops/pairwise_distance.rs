use burn::{
    backend::{
        Autodiff, AutodiffBackend, Backend, Dispatch, TensorMetadata,
        autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
    },
    tensor::{Slice, Tensor},
};

use super::{
    backends::{composed_elsewhere, on_every_backend, on_host},
    gradient::{Derivative, PullBack, attach},
};
use crate::radial::{CoordinateSum, Distance};

/// Distances between all rows of `x` and all rows of `y`, within each batch; subgradient 0 where
/// points, or for the sums of magnitudes coordinates, coincide.
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
pub fn pairwise_distance(x: Tensor<3>, y: Tensor<3>, distance: Distance) -> Tensor<3> {
    match distance.sum() {
        CoordinateSum::Squares => run(x, y, Form::RootOfSquares),
        CoordinateSum::Magnitudes if distance.scale() == 1.0 => run(x, y, Form::Magnitudes),
        CoordinateSum::Magnitudes => run(x, y, Form::Magnitudes) * distance.scale(),
    }
}

/// The squares of the Euclidean distances, without the root: smooth where points coincide. Otherwise as
/// [`pairwise_distance`].
///
/// # Panics
///
/// As [`pairwise_distance`].
pub fn squared_euclidean_distance(x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
    run(x, y, Form::Squares)
}

fn run(x: Tensor<3>, y: Tensor<3>, form: Form) -> Tensor<3> {
    let ([b, _, d], [b_y, _, d_y]) = (x.dims(), y.dims());
    assert_eq!(
        (b, d),
        (b_y, d_y),
        "pairwise_distance: batch and dimension of x and y must agree"
    );
    Tensor::from_dispatch(<Dispatch as PairwiseDistance>::pairwise_distance(
        x.into_dispatch(),
        y.into_dispatch(),
        form,
    ))
}

impl Distance {
    /// Distances between all rows of `x` and all rows of `y`, within each batch: the same as
    /// [`pairwise_distance`].
    ///
    /// # Shapes
    ///
    /// - x: `[batch, n, d]`
    /// - y: `[batch, k, d]`
    /// - output: `[batch, n, k]`
    pub fn between(self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        pairwise_distance(x, y, self)
    }
}

/// The function of two points that is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// `Σ_c |x_c − y_c|`
    Magnitudes,
    /// `Σ_c (x_c − y_c)²`
    Squares,
    /// The root of that.
    RootOfSquares,
}

on_every_backend! {
    /// The operation on every backend: composed of backend operations, coordinate by coordinate.
    pub(crate) trait PairwiseDistance: Backend {
        fn pairwise_distance(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            form: Form,
        ) -> FloatTensor<Self> {
            distances::<Self>(&x, &y, form)
        }
    }
}

on_host!(PairwiseDistance {});
composed_elsewhere!(PairwiseDistance);

/// `[b, n, d]` and `[b, k, d]` to `[b, n, k]`.
fn distances<B: Backend>(x: &FloatTensor<B>, y: &FloatTensor<B>, form: Form) -> FloatTensor<B> {
    let sum = (0..x.shape()[2])
        .map(|c| {
            let difference = difference::<B>(x, y, c); // [b, n, k]
            if form == Form::Magnitudes {
                B::float_abs(difference)
            } else {
                B::float_mul(difference.clone(), difference)
            }
        })
        .reduce(B::float_add)
        .expect("points have at least one coordinate");
    if form == Form::RootOfSquares {
        B::float_sqrt(sum)
    } else {
        sum
    }
}

/// Turns the gradient `G` with respect to the distances `D`, `[b, n, k]`, into those with respect to `x`
/// and `y`. With `s_ijc` the derivative of `D_ij` with respect to `x_ic`, `∂L/∂x_ic = Σ_j G_ij s_ijc` and
/// `∂L/∂y_jc = −Σ_i G_ij s_ijc`.
///
/// - roots: the distances, where they are roots
fn pull_back<B: Backend>(
    gradient: FloatTensor<B>,
    roots: Option<FloatTensor<B>>,
    [x, y]: &[FloatTensor<B>; 2],
    form: Form,
) -> [FloatTensor<B>; 2] {
    let weight = match roots {
        Some(roots) => divide_where_positive::<B>(gradient, roots),
        None if form == Form::Squares => B::float_mul_scalar(gradient, 2.0.into()),
        None => gradient,
    }; // [b, n, k]
    let (mut columns_x, mut columns_y) = (Vec::new(), Vec::new());
    for c in 0..x.shape()[2] {
        let mut slope = difference::<B>(x, y, c);
        if form == Form::Magnitudes {
            slope = B::float_sign(slope);
        }
        let term = B::float_mul(weight.clone(), slope); // G_ij s_ijc
        let sum = B::float_sum_dim(term.clone(), 1); // [b, 1, k]
        columns_y.push(B::float_neg(B::float_swap_dims(sum, 1, 2)));
        columns_x.push(B::float_sum_dim(term, 2)); // [b, n, 1]
    }
    [columns_x, columns_y].map(|columns| B::float_cat(columns, 2))
}

/// `x_ic − y_jc` for coordinate `c`: `[b, n, 1] − [b, 1, k] → [b, n, k]`.
fn difference<B: Backend>(x: &FloatTensor<B>, y: &FloatTensor<B>, c: usize) -> FloatTensor<B> {
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

/// `a / d` where `d > 0`, and 0 where `d = 0`.
fn divide_where_positive<B: Backend>(a: FloatTensor<B>, d: FloatTensor<B>) -> FloatTensor<B> {
    // sign(d) is 1 or 0, and d + 1 − sign(d) is d or 1
    let positive = B::float_sign(d.clone());
    let one_where_zero = B::float_add_scalar(B::float_neg(positive.clone()), 1f32.into());
    B::float_mul(B::float_div(a, B::float_add(d, one_where_zero)), positive)
}

impl<B: PairwiseDistance, C: CheckpointStrategy> PairwiseDistance for Autodiff<B, C> {
    fn pairwise_distance(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        form: Form,
    ) -> FloatTensor<Self> {
        let inputs = [x, y];
        let points = inputs.clone().map(Self::inner);
        let [x, y] = points.clone();
        let found = B::pairwise_distance(x, y, form);
        let roots = (form == Form::RootOfSquares).then(|| found.clone());
        let gradients = move |upstream| pull_back::<B>(upstream, roots.clone(), &points, form);
        let each = inputs.into_iter().zip(PullBack::for_each_input(gradients));
        let tracked = each.filter(|(input, _)| input.is_tracked());
        tracked.fold(Self::from_inner(found), |value, (input, pull_back)| {
            attach::<B, C>(value, input, Derivative::PullBack(pull_back))
        })
    }
}
