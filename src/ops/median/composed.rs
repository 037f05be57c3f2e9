//! The median of distances on any device, by bisection of its logarithm: nothing is read back.

use burn::tensor::{Bool, DType, Int, Tensor};

use super::{Subsample, median_of};
use crate::{
    error::scales_of,
    host::{int_tensor, is_host, to_vec},
};

/// The median of the distances between the pairs `i < j` within batches, without reading back from a
/// device: `[batch, n, n] → [1]`. 1 if it is 0 or too small for a bandwidth, if some distance is not finite, or
/// if there are no pairs. Of many points a subsample is taken.
///
/// - kept: whether a point counts, `[batch · n]`; all where there is none
pub(crate) fn median_of_pairs(distances: Tensor<3>, kept: Option<Tensor<1, Bool>>) -> Tensor<1> {
    let ([batch, n, _], device) = (distances.dims(), distances.device());
    let all = || Tensor::<1, Bool>::full([batch * n], true, &device);
    let (mut distances, mut kept) = (distances, kept.unwrap_or_else(all).reshape([batch, n, 1]));
    if let Some(some) = Subsample::new(batch, n) {
        let index = |numbers: Vec<usize>| int_tensor(numbers, &device);
        let (blocks, points) = (index(some.blocks), index(some.points));
        kept = kept.select(0, blocks.clone()).select(1, points.clone());
        distances = distances
            .select(0, blocks)
            .select(1, points.clone())
            .select(2, points);
    }
    let [_, n, _] = distances.dims();
    if is_host(&device) {
        let kept = to_vec(kept.float());
        let counted = to_vec(distances.clone())
            .into_iter()
            .enumerate()
            .filter(|&(k, _)| {
                k / n % n < k % n && kept[k / n] * kept[k / (n * n) * n + k % n] > 0.0
            });
        let counted: Vec<f64> = counted.map(|(_, distance)| distance).collect();
        let is_finite = counted.iter().all(|distance| distance.is_finite());
        let median = if is_finite {
            median_of(counted, distances.dtype())
        } else {
            1.0
        };
        return Tensor::from_data([median], (&device, distances.dtype()));
    }
    let diagonal = Tensor::<2>::eye(n, &device).bool().unsqueeze::<3>();
    let is_pair = kept
        .clone()
        .bool_and(kept.swap_dims(1, 2))
        .bool_and(diagonal.bool_not());
    let is_finite = distances.clone().mask_fill(is_pair.clone().bool_not(), 0.0);
    let is_finite = is_finite.is_finite().all();
    let [lower, upper] = middle(distances, is_pair);
    let median = lower * 0.5 + upper * 0.5;
    let least = *scales_of(median.dtype()).0.start();
    let is_scale = median.clone().greater_equal_scalar(least);
    median.mask_fill(is_scale.bool_and(is_finite).bool_not(), 1.0)
}

/// The two middle distances of the pairs that count, `[1]` each: bisection of their logarithms, then the smallest
/// distance above the lower end. Exact except for some units in the last place; 0 for less than the smallest normal
/// number, and for no pairs.
///
/// Each pair stands twice: the number of rank `k` is the smallest `v` with `#{d ≤ v} ≥ 2 (k + 1)`.
fn middle(distances: Tensor<3>, is_pair: Tensor<3, Bool>) -> [Tensor<1>; 2] {
    let float = distances.dtype().finfo().expect("a float tensor");
    let pairs: Tensor<1, Int> = is_pair.clone().int().sum() / 2; // at most 4,096 · 4,095 / 2
    let ranks = [(pairs.clone() - 1) / 2, pairs / 2];
    let wanted = Tensor::stack::<2>(ranks.map(|rank| (rank + 1) * 2).into(), 0); // [2, 1]
    let others = is_pair.bool_not();
    let largest = distances.clone().mask_fill(others.clone(), 0.0).max();
    let largest = largest.clamp_max(float.max).reshape([1, 1]);
    let values = distances.mask_fill(others, f64::INFINITY);
    let count = values.shape().num_elements();
    let values: Tensor<2> = values.reshape([1, count]);
    let is_enough = |bounds: Tensor<2>| {
        let count = values.clone().lower_equal(bounds).int().sum_dim(1);
        count.greater_equal(wanted.clone()) // [2, 1]
    };
    let mut high = largest.clone().repeat_dim(0, 2);
    let mut low = high.zeros_like() + float.min_positive;
    let is_zero = is_enough(low.clone());
    // binades, halved down to one, and the digits of one
    let steps = if low.dtype() == DType::F64 { 64 } else { 33 };
    // invariant: #{d ≤ low} < wanted ≤ #{d ≤ high}, unless it is 0
    for _ in 0..steps {
        let middle = low.clone().sqrt() * high.clone().sqrt();
        let enough = is_enough(middle.clone());
        low = middle.clone().mask_where(enough.clone(), low);
        high = high.mask_where(enough, middle);
    }
    let below = values.clone().lower_equal(low); // [2, pairs]
    let above = values.repeat_dim(0, 2).mask_fill(below, f64::INFINITY);
    let found = above.min_dim(1).min_pair(largest).mask_fill(is_zero, 0.0);
    [0, 1].map(|rank| found.clone().slice([rank..rank + 1, 0..1]).reshape([1]))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::{super::middle_ranks, *};

    /// Distances of any size, beside one of another size, of all nine points or the first few: the error is relative
    /// to the median.
    #[test]
    fn a_median_by_bisection_has_the_digits_of_the_dtype() {
        let (n, device) = (9, Device::default());
        for (dtype, scales, rounding) in [
            (DType::F32, [1e-36, 8.3e-11, 1.0, 1e30], 1e-6),
            (DType::F64, [1e-300, 8.3e-11, 1.0, 1e300], 1e-14),
        ] {
            for (scale, kept) in scales
                .into_iter()
                .flat_map(|scale| [9, 8, 3, 2, 1].map(|kept| (scale, kept)))
            {
                let distance = |k: usize| match ((k / n).abs_diff(k % n), k / n + k % n) {
                    (0, _) => 0.0,
                    (1, 1) => 1e3f64.max(scale), // far from all others
                    (apart, sum) => scale * (1.0 + (apart * sum) as f64 * 0.37),
                };
                let counts = |k: usize| k / n < kept && k % n < kept && k / n != k % n;
                let all: Vec<f64> = (0..n * n).map(distance).collect();
                let is_pair: Vec<bool> = (0..n * n).map(counts).collect();
                let mut sorted: Vec<f64> =
                    (0..n * n).filter(|&k| counts(k)).map(distance).collect();
                sorted.sort_by(f64::total_cmp);
                let all = Tensor::<3>::from_data(TensorData::new(all, [1, n, n]), (&device, dtype));
                let is_pair = TensorData::new(is_pair, [1, n, n]);
                let found = middle(all, Tensor::from_data(is_pair, &device)).map(|x| to_vec(x)[0]);
                let expected = match sorted.len() {
                    0 => [0.0; 2],
                    pairs => middle_ranks(pairs as u64 / 2).map(|rank| sorted[2 * rank as usize]),
                };
                for (found, expected) in found.into_iter().zip(expected) {
                    let error = (found - expected).abs();
                    assert!(
                        error <= rounding * expected,
                        "{dtype:?}: {found:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}
