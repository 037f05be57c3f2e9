//! Divided differences of `e^{−t}`, for `t ≥ 0`.
//!
//! Where the nodes are close, `e^{−t} = e^{−y} e^{s}` with `s = y − t` for the largest node `y`: the
//! divided differences of the exponential series in `s ≥ 0` are sums of positive terms. Where they
//! are apart, they are differences that do not cancel.

use burn::tensor::Tensor;

use super::{Formula, Number, elementwise};

/// Up to here nodes are close.
const CLOSE: f64 = 1.0;

/// `1/k!`
const INVERSE_FACTORIALS: [f64; 22] = {
    let mut inverse = [1.0; 22];
    let (mut k, mut factorial) = (1, 1.0);
    while k < 22 {
        factorial *= k as f64; // exact below 23!
        inverse[k] = 1.0 / factorial;
        k += 1;
    }
    inverse
};

/// The coefficients of the exponential series from `first` on that matter in the dtype.
#[inline(always)]
fn series<X: Number>(first: usize, like: &X) -> &'static [f64] {
    let end = if like.is_f64() { 22 } else { 14 };
    &INVERSE_FACTORIALS[first..end]
}

/// `ψ(x) = (1 − e^{−x})/x = −[0, x] e^{−t}` for `x ≥ 0`, 1 at 0; differentiable.
pub(crate) fn exponential_difference<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    elementwise(First, [&x])
}

/// `χ(x, y) = [0, x, y] e^{−t} = (ψ(x) − e^{−x} ψ(y − x))/y` for `0 ≤ x ≤ y`, ½ at `x = y = 0`; differentiable.
pub(crate) fn second_exponential_difference<const D: usize>(
    x: Tensor<D>,
    y: Tensor<D>,
) -> Tensor<D> {
    elementwise(Second, [&x, &y])
}

#[derive(Clone, Copy)]
struct First;

impl Formula<1> for First {
    #[inline(always)]
    fn at<X: Number>(self, [x]: [X; 1]) -> (X, [X; 1]) {
        let [value, decrease] = first(&x);
        (value, [-decrease])
    }
}

/// `ψ(x)` and `−ψ'(x) = [0, x, x] e^{−t} = (ψ(x) − e^{−x})/x`.
#[inline(always)]
fn first<X: Number>(x: &X) -> [X; 2] {
    let decay = (-x.clone()).exp();
    let [close] = divided_differences(series(1, x), [x]); // [0, x] e^s
    let apart = (-decay.clone() + 1.0) / x.clone();
    let value = choose(x, close * decay.clone(), apart);
    let [close] = divided_differences(series(2, x), [x]); // [0, 0, x] e^s
    let apart = (value.clone() - decay.clone()) / x.clone();
    [value, choose(x, close * decay, apart)]
}

#[derive(Clone, Copy)]
struct Second;

impl Formula<2> for Second {
    /// With `∂χ/∂x = [0, x, x, y] e^{−t}` and `∂χ/∂y = [0, x, y, y] e^{−t}`.
    #[inline(always)]
    fn at<X: Number>(self, [x, y]: [X; 2]) -> (X, [X; 2]) {
        let between = y.clone() - x.clone(); // d
        let (to_x, to_y) = ((-x.clone()).exp(), (-y.clone()).exp());
        let [of_x, slope_x] = first(&x);
        let [of_between, slope_between] = first(&between);

        let nodes = [&y, &between, &between];
        let [_, close, close_x] = divided_differences(series(1, &y), nodes); // [0, d, y], [0, d, d, y] e^s
        let [_, close_y] = divided_differences(series(2, &y), [&y, &between]); // [0, 0, d, y] e^s
        let apart = (of_x - to_x.clone() * of_between.clone()) / y.clone();
        let value = choose(&y, close * to_y.clone(), apart);

        let apart_x = (to_x.clone() * (of_between - slope_between.clone()) - slope_x) / y.clone();
        let apart_y = (to_x * slope_between - value.clone()) / y.clone();
        let slopes = [
            choose(&y, -(close_x * to_y.clone()), apart_x),
            choose(&y, -(close_y * to_y), apart_y),
        ];
        (value, slopes)
    }
}

/// `close` where `x` is close to 0, otherwise `apart`.
#[inline(always)]
fn choose<X: Number>(x: &X, close: X, apart: X) -> X {
    x.clone().where_less(x.constant(CLOSE), close, apart)
}

/// The leading divided differences `p[x_0], p[x_0, x_1], …, p[x_0, …, x_{N−1}]` of the polynomial
/// `p(x) = Σ_k c_k x^k` by Horner's scheme, without a subtraction of nodes: they may coincide, and
/// then `p[x, x] = p'(x)`, `p[x, x, x] = p''(x)/2`.
///
/// With `p(x) = p(x_0) + (x − x_0)·q(x)`, the coefficients of `q` are the partial results of Horner's
/// scheme for `p(x_0)`, and `q[x_1, …] = p[x_0, x_1, …]`.
#[inline(always)]
pub(super) fn divided_differences<X: Number, const N: usize>(
    coefficients: &[f64],
    nodes: [&X; N],
) -> [X; N] {
    let mut differences = nodes.map(
        #[inline(always)]
        |node| node.constant(0.0),
    );
    for &coefficient in coefficients.iter().rev() {
        for i in (1..N).rev() {
            let next = differences[i - 1].clone();
            differences[i] = differences[i].clone().mul_add(nodes[i].clone(), next);
        }
        differences[0] = differences[0].clone() * nodes[0].clone() + coefficient;
    }
    differences
}
