//! Medians and other order statistics of the distances between pairs: on the host without storing the
//! distances ([`select`], of [`points`] or of [`tiles`]), on a device without reading back ([`composed`]).

mod composed;
mod points;
mod select;
#[cfg(test)]
mod tests;
mod tiles;

use burn::tensor::{DType, Element, Tensor};

pub(crate) use composed::median_of_pairs;
pub(crate) use tiles::median_of_tiles;

use super::{
    backends::is_on_host,
    simd::real::{Real, with_real},
};
use crate::{error::scales_of, host::Memory, radial::Distance};

/// The median of the distances between the pairs within blocks of `size` points, `[1]` and detached: the
/// mean of the two middle ones, and 1 where that is 0 or not finite or some point is not. Exact on the host, else
/// up to rounding, and nothing is read back.
#[doc(hidden)]
pub fn median_of_blocks(points: Tensor<2>, distance: Distance, size: usize) -> Tensor<1> {
    let points = points.detach();
    if !is_on_host(&points) {
        return composed::median_of_blocks(points, distance, size);
    }
    let (device, dtype, d) = (points.device(), points.dtype(), points.dims()[1]);
    let points = Memory::of(points);
    let median = with_real!(dtype, T => median::<T>(points.slice(), d, distance, size));
    Tensor::from_data([median], (&device, dtype))
}

fn median<T: Real + Element>(points: &[T], d: usize, distance: Distance, size: usize) -> f64 {
    if !points.iter().all(|x| x.to_f64().is_finite()) {
        return 1.0; // of a diverged batch, whose statistic is NaN
    }
    let pairs = (points.len() / d / size * (size * (size - 1) / 2)) as u64;
    let middle = [(pairs - 1) / 2, pairs / 2];
    let middle = points::order_statistics(points, d, size, distance, &middle);
    let median = mean_or_one(&middle, T::dtype());
    // distances may overflow where points do not
    if median <= T::MAX.to_f64() {
        median
    } else {
        1.0
    }
}

/// The mean of two middle distances, 1 if it is 0 or so small that it is no scale of a kernel in this dtype.
pub(crate) fn mean_or_one(middle: &[f64], dtype: DType) -> f64 {
    match middle.iter().map(|distance| 0.5 * distance).sum::<f64>() {
        median if median < *scales_of(dtype).0.start() => 1.0,
        median => median,
    }
}

/// For each rank (0-based) the distance of that rank among the pairs `i < j`, computed on the host in
/// f32 or f64, wherever the points are.
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub(crate) fn order_statistics(points: &Tensor<2>, distance: Distance, ranks: &[u64]) -> Vec<f64> {
    if ranks.is_empty() {
        return Vec::new();
    }
    let [n, d] = points.dims();
    let points = match points.dtype() {
        DType::F64 => points.clone(),
        _ => points.clone().cast(DType::F32),
    };
    let memory = Memory::of(points.clone());
    let pairs = (n * n.saturating_sub(1) / 2) as u64;
    for &rank in ranks {
        assert!(rank < pairs, "rank {rank} of {pairs} distances");
    }
    with_real!(points.dtype(), T => {
        let points = memory.slice::<T>();
        let finite = points.iter().all(|x| x.to_f64().is_finite());
        assert!(finite, "distances between points that are not finite");
        points::order_statistics(points, d, n, distance, ranks)
    })
}
