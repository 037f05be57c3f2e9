//! Divided differences of `e^{−t}`, for `t ≥ 0`.
//!
//! Where the nodes are close, `e^{−t} = e^{−y} e^{s}` with `s = y − t` for the largest node `y`: the
//! divided differences of the exponential series in `s ≥ 0` are sums of positive terms. Where they
//! are apart, they are differences that do not cancel.

use burn::tensor::{DType, Tensor};

use super::{divided_difference::divided_differences, slope::with_slopes};

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
fn series(first: usize, dtype: DType) -> &'static [f64] {
    let end = if dtype == DType::F64 { 22 } else { 14 };
    &INVERSE_FACTORIALS[first..end]
}

/// `ψ(x) = (1 − e^{−x})/x = −[0, x] e^{−t}` for `x ≥ 0`, 1 at 0.
pub(super) fn exponential_difference<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let node = x.clone().detach();
    let value = first(&node);
    with_slopes(value.clone(), [&x], || [slope(&node, value).neg()])
}

/// `χ(x, y) = [0, x, y] e^{−t} = (ψ(x) − e^{−x} ψ(y − x))/y` for `0 ≤ x ≤ y`, ½ at `x = y = 0`.
pub(super) fn second_exponential_difference<const D: usize>(
    x: Tensor<D>,
    y: Tensor<D>,
) -> Tensor<D> {
    let nodes = [&x, &y].map(|node| node.clone().detach());
    let value = second([&nodes[0], &nodes[1]]);
    with_slopes(value.clone(), [&x, &y], || {
        let [x, y] = nodes;
        slopes_of_second([&x, &y], value)
    })
}

/// `ψ(x)`.
fn first<const D: usize>(x: &Tensor<D>) -> Tensor<D> {
    let decay = x.clone().neg().exp();
    let [close] = divided_differences(series(1, x.dtype()), [x]); // [0, x] e^s
    let apart = (decay.clone().neg() + 1.0) / x.clone();
    choose(x, close * decay, apart)
}

/// `−ψ'(x) = [0, x, x] e^{−t} = (ψ(x) − e^{−x})/x`, given `ψ(x)`.
fn slope<const D: usize>(x: &Tensor<D>, first: Tensor<D>) -> Tensor<D> {
    let decay = x.clone().neg().exp();
    let [close] = divided_differences(series(2, x.dtype()), [x]); // [0, 0, x] e^s
    let apart = (first - decay.clone()) / x.clone();
    choose(x, close * decay, apart)
}

/// `χ(x, y)`.
fn second<const D: usize>([x, y]: [&Tensor<D>; 2]) -> Tensor<D> {
    let between = y.clone() - x.clone();
    let [_, close] = divided_differences(series(1, y.dtype()), [y, &between]); // [0, y − x, y] e^s
    let apart = (first(x) - x.clone().neg().exp() * first(&between)) / y.clone();
    choose(y, close * y.clone().neg().exp(), apart)
}

/// `∂χ/∂x = [0, x, x, y] e^{−t}` and `∂χ/∂y = [0, x, y, y] e^{−t}`, given `χ(x, y)`.
fn slopes_of_second<const D: usize>([x, y]: [&Tensor<D>; 2], second: Tensor<D>) -> [Tensor<D>; 2] {
    let between = y.clone() - x.clone(); // d
    let decay = y.clone().neg().exp();
    let nodes = [y, &between, &between];
    let [_, _, close_x] = divided_differences(series(1, y.dtype()), nodes); // [0, d, d, y] e^s
    let [_, close_y] = divided_differences(series(2, y.dtype()), [y, &between]); // [0, 0, d, y] e^s

    let to_x = x.clone().neg().exp();
    let (first_x, first_between) = (first(x), first(&between));
    let slope_x = slope(x, first_x);
    let slope_between = slope(&between, first_between.clone());
    let apart_x = (to_x.clone() * (first_between - slope_between.clone()) - slope_x) / y.clone();
    let apart_y = (to_x * slope_between - second) / y.clone();
    [
        choose(y, close_x * decay.clone().neg(), apart_x),
        choose(y, close_y * decay.neg(), apart_y),
    ]
}

/// `close` where `x` is close to 0, otherwise `apart`.
fn choose<const D: usize>(x: &Tensor<D>, close: Tensor<D>, apart: Tensor<D>) -> Tensor<D> {
    apart.mask_where(x.clone().lower_equal_scalar(CLOSE), close)
}
