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
    run(x, y, DistanceForm::Distance(distance))
}

/// The squares of the Euclidean distances, without the root: smooth where points coincide. Otherwise as
/// [`pairwise_distance`].
///
/// # Panics
///
/// As [`pairwise_distance`].
pub fn squared_euclidean_distance(x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
    run(x, y, DistanceForm::Squares)
}

fn run(x: Tensor<3>, y: Tensor<3>, form: DistanceForm) -> Tensor<3> {
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
pub(super) enum DistanceForm {
    Distance(Distance),
    /// The sum of squares that the Euclidean distance is the root of.
    Squares,
}

impl DistanceForm {
    /// The sum over coordinates.
    fn sum(self) -> CoordinateSum {
        match self {
            Self::Distance(distance) => distance.sum(),
            Self::Squares => CoordinateSum::Squares,
        }
    }

    /// Whether the root of the sum is computed.
    pub fn is_root(self) -> bool {
        self != Self::Squares && self.sum() == CoordinateSum::Squares
    }

    /// The factor of a sum.
    fn scale(self) -> f64 {
        match self {
            Self::Distance(distance) => distance.scale(),
            Self::Squares => 1.0,
        }
    }
}

on_every_backend! {
    /// The operation on every backend: composed of backend operations, coordinate by coordinate.
    pub(crate) trait PairwiseDistance: Backend {
        fn pairwise_distance(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            form: DistanceForm,
        ) -> FloatTensor<Self> {
            distances::<Self>(&x, &y, form)
        }
    }
}

on_host!(PairwiseDistance {});
composed_elsewhere!(PairwiseDistance);

/// `[b, n, d]` and `[b, k, d]` to `[b, n, k]`.
pub(super) fn distances<B: Backend>(
    x: &FloatTensor<B>,
    y: &FloatTensor<B>,
    form: DistanceForm,
) -> FloatTensor<B> {
    let of_coordinate = |c| {
        let difference = difference::<B>(x, y, c); // [b, n, k]
        match form.sum() {
            CoordinateSum::Magnitudes => B::float_abs(difference),
            CoordinateSum::Squares => B::float_mul(difference.clone(), difference),
        }
    };
    let sum = (0..x.shape()[2])
        .map(of_coordinate)
        .reduce(B::float_add)
        .expect("points have at least one coordinate");
    if form.is_root() {
        B::float_sqrt(sum)
    } else {
        scaled::<B>(sum, form.scale())
    }
}

/// Turns the gradient `G` with respect to the distances `D`, `[b, n, k]`, into those with respect to `x`
/// and `y`; one that is not wanted means nothing. With `s_ijc` the derivative of `D_ij` with respect to `x_ic`,
/// `∂L/∂x_ic = Σ_j G_ij s_ijc` and `∂L/∂y_jc = −Σ_i G_ij s_ijc`.
///
/// - distances: of the Euclidean distance
pub(super) fn pull_back<B: Backend>(
    gradient: FloatTensor<B>,
    distances: Option<FloatTensor<B>>,
    [x, y]: [&FloatTensor<B>; 2],
    form: DistanceForm,
    wanted: [bool; 2],
) -> [FloatTensor<B>; 2] {
    let weight = match (form, distances) {
        (DistanceForm::Squares, _) => scaled::<B>(gradient, 2.0),
        (_, Some(distances)) => divide_where_positive::<B>(gradient, distances),
        (_, None) => scaled::<B>(gradient, form.scale()),
    }; // [b, n, k]
    let (mut columns_x, mut columns_y) = (Vec::new(), Vec::new());
    for c in 0..x.shape()[2] {
        let difference = difference::<B>(x, y, c);
        let slope = match form.sum() {
            CoordinateSum::Magnitudes => B::float_sign(difference),
            CoordinateSum::Squares => difference,
        };
        let term = B::float_mul(weight.clone(), slope); // G_ij s_ijc
        if wanted[1] {
            let sum = B::float_sum_dim(term.clone(), 1); // [b, 1, k]
            columns_y.push(B::float_neg(B::float_swap_dims(sum, 1, 2)));
        }
        if wanted[0] {
            columns_x.push(B::float_sum_dim(term, 2)); // [b, n, 1]
        }
    }
    [columns_x, columns_y].map(|columns| {
        if columns.is_empty() {
            weight.clone() // not wanted
        } else {
            B::float_cat(columns, 2)
        }
    })
}

fn scaled<B: Backend>(x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
    match factor {
        1.0 => x,
        _ => B::float_mul_scalar(x, factor.into()),
    }
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
        form: DistanceForm,
    ) -> FloatTensor<Self> {
        let inputs = [x, y];
        let wanted = inputs.each_ref().map(|input| input.is_tracked());
        let points = inputs.clone().map(Self::inner);
        let [x, y] = points.clone();
        let found = B::pairwise_distance(x, y, form);
        let distances = form.is_root().then(|| found.clone());
        let gradients = move |upstream| {
            let [x, y] = &points;
            pull_back::<B>(upstream, distances.clone(), [x, y], form, wanted)
        };
        let each = inputs.into_iter().zip(PullBack::of_each(gradients));
        let tracked = each.filter(|(input, _)| input.is_tracked());
        tracked.fold(Self::from_inner(found), |value, (input, pull_back)| {
            attach::<B, C>(value, input, Derivative::PullBack(pull_back))
        })
    }
}
