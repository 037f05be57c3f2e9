//! The median of a matrix of distances: on the host by selection, on any device by bisection, where nothing is
//! read back.

use burn::tensor::{DType, Tensor};

use super::mean_or_one;
use crate::{
    error::scales_of,
    host::{is_host, to_vec},
};

/// The median of the distances between the pairs `i < j` within batches, without reading back from a
/// device: `[batch, n, n] → [1]`. 1 if it is 0 or too small for a bandwidth, if some distance is not finite, or
/// if there are no pairs.
pub(crate) fn median_of_pairs(distances: Tensor<3>) -> Tensor<1> {
    let [batch, n, _] = distances.dims();
    let pairs = batch * n * n.saturating_sub(1) / 2;
    let options = (&distances.device(), distances.dtype());
    if pairs == 0 {
        return Tensor::ones([1], options);
    }
    if is_host(&distances.device()) {
        let dtype = distances.dtype();
        return Tensor::from_data([of_host(&to_vec(distances), n, dtype)], options);
    }
    let lower = order_statistic_of_pairs(distances.clone(), (pairs - 1) / 2);
    let median = match pairs % 2 {
        1 => lower,
        _ => (lower + order_statistic_of_pairs(distances.clone(), pairs / 2)) * 0.5,
    };
    let least = *scales_of(median.dtype()).0.start();
    let is_scale = median.clone().greater_equal_scalar(least);
    let is_finite = distances.is_finite().all();
    median.mask_fill(is_scale.bool_and(is_finite).bool_not(), 1.0)
}

/// The median of the pairs `i < j` of matrices in row-major order, 1 where some distance is not finite.
fn of_host(distances: &[f64], n: usize, dtype: DType) -> f64 {
    let rows = distances.chunks(n).enumerate();
    let mut pairs: Vec<f64> = rows
        .flat_map(|(row, distances)| &distances[row % n + 1..])
        .copied()
        .collect();
    if !pairs.iter().all(|distance| distance.is_finite()) {
        return 1.0;
    }
    let (lower, upper) = ((pairs.len() - 1) / 2, pairs.len() / 2);
    let (_, &mut middle, above) = pairs.select_nth_unstable_by(lower, f64::total_cmp);
    let other = match upper {
        upper if upper == lower => middle,
        _ => above.iter().copied().fold(f64::INFINITY, f64::min),
    };
    mean_or_one(&[middle, other], dtype)
}

/// The `rank`-th smallest distance: bisection of its logarithm, then the least distance above the
/// lower end. Exact but for some units in the last place; 0 for less than the smallest normal number.
///
/// Each pair stands twice in the matrix, and the diagonal adds `batch · n` zeros: the wanted value
/// is the least `v` with `#{d ≤ v} ≥ batch · n + 2 (rank + 1)`.
fn order_statistic_of_pairs(distances: Tensor<3>, rank: usize) -> Tensor<1> {
    let [batch, n, _] = distances.dims();
    let wanted = (batch * n + 2 * (rank + 1)) as i64;
    let d = distances.reshape([batch * n * n]);
    let float = d.dtype().finfo().expect("a float tensor");
    // binades, halved down to one, and the digits of one
    let steps = if d.dtype() == DType::F64 { 64 } else { 33 };
    let is_enough = |bound: Tensor<1>| {
        let below = d.clone().lower_equal(bound).int();
        below.sum().greater_equal_scalar(wanted)
    };
    let mut high = d.clone().max().clamp_max(float.max);
    let least = high.zeros_like() + float.min_positive;
    let is_zero = is_enough(least.clone());
    let mut low = least; // invariant: #{d ≤ low} < wanted ≤ #{d ≤ high}, unless it is 0
    for _ in 0..steps {
        let middle = low.clone().sqrt() * high.clone().sqrt();
        let enough = is_enough(middle.clone());
        low = middle.clone().mask_where(enough.clone(), low);
        high = high.mask_where(enough, middle);
    }
    let below = d.clone().lower_equal(low);
    let largest = d.clone().max().expand(d.dims());
    let found = d.mask_where(below, largest).min();
    found.mask_fill(is_zero, 0.0)
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;

    /// Distances of any size, beside one of another size: the error is relative to the median.
    #[test]
    fn a_median_by_bisection_has_the_digits_of_the_dtype() {
        let device = Device::default();
        for (dtype, scales, rounding) in [
            (DType::F32, [1e-36, 8.3e-11, 1.0, 1e30], 1e-6),
            (DType::F64, [1e-300, 8.3e-11, 1.0, 1e300], 1e-14),
        ] {
            for scale in scales {
                let n = 9;
                let distance = |i: usize, j: usize| match (i.abs_diff(j), i + j) {
                    (0, _) => 0.0,
                    (_, sum) if sum == 2 * n - 3 => 1e3f64.max(scale), // far from all others
                    (k, sum) => scale * (1.0 + (k * sum) as f64 * 0.37),
                };
                let matrix: Vec<f64> = (0..n * n).map(|k| distance(k / n, k % n)).collect();
                let data = TensorData::new(matrix.clone(), [1, n, n]);
                let distances = Tensor::<3>::from_data(data, (&device, dtype));
                let mut pairs: Vec<f64> = (0..n)
                    .flat_map(|j| (0..j).map(move |i| (i, j)))
                    .map(|(i, j)| matrix[i * n + j])
                    .collect();
                pairs.sort_by(f64::total_cmp);
                for rank in [0, 17, 35] {
                    let found = order_statistic_of_pairs(distances.clone(), rank);
                    let found = found.into_data().iter::<f64>().next().unwrap();
                    let error = (found / pairs[rank] - 1.0).abs();
                    assert!(
                        error < rounding,
                        "{dtype:?}, {scale:e}: {found:e}, not {:e}",
                        pairs[rank]
                    );
                }
            }
        }
        let zero = order_statistic_of_pairs(Tensor::zeros([1, 3, 3], &device), 1);
        assert_eq!(zero.into_data().iter::<f64>().next(), Some(0.0));
    }
}
