use burn::tensor::Tensor;

use crate::ops::linearised;

/// A value that was computed without automatic differentiation, with its partial derivatives.
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
        .fold(value, |value, (x, slope)| linearised(value, x, slope))
}
