use burn::tensor::Tensor;

/// A value that was computed without automatic differentiation, with its partial derivatives: the
/// linear function `f + Σ_i f_i·(x_i − x̂_i)`, where `x̂` has the value of `x` and gradient 0.
///
/// The slopes are computed only if a gradient may be asked for.
pub(crate) fn with_slopes<const D: usize, const N: usize>(
    value: Tensor<D>,
    arguments: [&Tensor<D>; N],
    slopes: impl FnOnce() -> [Tensor<D>; N],
) -> Tensor<D> {
    if !arguments.iter().any(|x| x.is_tracked()) {
        return value;
    }
    arguments
        .into_iter()
        .zip(slopes())
        .filter(|(x, _)| x.is_tracked())
        .fold(value, |value, (x, slope)| {
            value + slope * (x.clone() - x.clone().detach())
        })
}
