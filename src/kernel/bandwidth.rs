use burn::tensor::{DType, Tensor};
use serde::{Deserialize, Serialize};

use super::Distance;
use crate::ops::cpu::order_statistics;

/// The bandwidth `ν` of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Bandwidth {
    /// A positive number, in units of the distance.
    Fixed(f64),
    /// The median heuristic: the median of the distances between the pairs `i < j`, the mean of
    /// the two middle ones where their number is even; 1 where it is 0. Detached from gradients.
    ///
    /// On data the median is over all pairs. In a training loss it is over the pairs that the
    /// estimator uses (those within blocks), and 1 for points that are not finite. It is exact on the
    /// processor, and in f32 on wgpu and CUDA for fewer than 65,536 points, where nothing is read back
    /// either. For a loss that is composed, in f64 on those and on remote devices it is found by
    /// bisection, with an error below `2⁻³² (1 + d_max)` in f32 and `2⁻⁵² (1 + d_max)` in f64.
    Median,
}

/// The median of the distances between all pairs `i < j` of points: the mean of the two middle
/// ones where their number is even. 1 if it is 0 (then most points coincide and the kernel cannot
/// resolve them anyway) or if there are fewer than two points.
///
/// # Shapes
///
/// - points: `[n, d]`
///
/// Cost: as [`distance_order_statistics`].
pub fn median_distance(points: &Tensor<2>, distance: Distance) -> f64 {
    let n = points.dims()[0] as u64;
    let pairs = n * n.saturating_sub(1) / 2;
    if pairs == 0 {
        return 1.0;
    }
    let middle = distance_order_statistics(points, distance, &[(pairs - 1) / 2, pairs / 2]);
    match 0.5 * (middle[0] + middle[1]) {
        0.0 => 1.0,
        median => median,
    }
}

/// The median of the distances between all `n²` ordered pairs of points, the zeros of the diagonal
/// included, as in the published results of Widmann et al. 2019: a little below
/// [`median_distance`]. 1 if it is 0.
///
/// # Shapes
///
/// - points: `[n, d]`
///
/// Cost: as [`median_distance`].
pub fn median_distance_with_diagonal(points: &Tensor<2>, distance: Distance) -> f64 {
    let n = points.dims()[0] as u64;
    if n < 2 {
        return 1.0;
    }
    // sorted: n zeros, then each distance of a pair i < j twice
    let middle = [(n * n - 1) / 2, n * n / 2];
    let ranks: Vec<u64> = middle
        .iter()
        .filter_map(|k| k.checked_sub(n))
        .map(|k| k / 2)
        .collect();
    let found = distance_order_statistics(points, distance, &ranks);
    match 0.5 * found.iter().sum::<f64>() {
        0.0 => 1.0,
        median => median,
    }
}

/// Order statistics of the distances between all pairs `i < j` of points: for each rank `k`
/// (0-based) the `k`-th smallest distance, exactly.
///
/// On the processor, wherever the points are: a sample of the pairs brackets the wanted distances,
/// and one pass over all counts those below and keeps those in the bracket.
///
/// # Shapes
///
/// - points: `[n, d]`, f32 or f64; distances are computed in this dtype
///
/// Cost: `n²·d/2` operations, memory `O(n·d)` and about 1 % of the distances.
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub fn distance_order_statistics(
    points: &Tensor<2>,
    distance: Distance,
    ranks: &[u64],
) -> Vec<f64> {
    let [n, d] = points.dims();
    let pairs = (n * n.saturating_sub(1) / 2) as u64;
    for &rank in ranks {
        assert!(rank < pairs, "rank {rank} of {pairs} distances");
    }
    if ranks.is_empty() {
        return Vec::new();
    }
    let data = points.clone().into_data();
    let finite = data.iter::<f64>().all(f64::is_finite);
    assert!(finite, "distances between points that are not finite");
    let separation = distance.separation();
    match data.dtype() {
        DType::F64 => {
            let points = data.as_slice::<f64>().expect("f64");
            order_statistics(points, d, n, separation, ranks)
        }
        _ => {
            let data = data.convert::<f32>();
            let points = data.as_slice::<f32>().expect("f32");
            order_statistics(points, d, n, separation, ranks)
        }
    }
}

/// The median of the distances between the pairs `i < j` within batches, on the device, without
/// reading back: `[batch, n, n] → [1]`. 1 if it is 0 or there are no pairs.
pub(super) fn median_of_pairs(distances: Tensor<3>) -> Tensor<1> {
    let [batch, n, _] = distances.dims();
    let pairs = batch * n * n.saturating_sub(1) / 2;
    let options = (&distances.device(), distances.dtype());
    if pairs == 0 {
        return Tensor::ones([1], options);
    }
    let lower = order_statistic_of_pairs(distances.clone(), (pairs - 1) / 2);
    let median = match pairs % 2 {
        1 => lower,
        _ => (lower + order_statistic_of_pairs(distances, pairs / 2)) * 0.5,
    };
    let zero = median.clone().equal_scalar(0.0);
    median.mask_fill(zero, 1.0)
}

/// The `rank`-th smallest distance: bisection of its value, then the least distance above the
/// lower end.
///
/// Each pair stands twice in the matrix, and the diagonal adds `batch · n` zeros: the wanted value
/// is the least `v` with `#{d ≤ v} ≥ batch · n + 2 (rank + 1)`.
fn order_statistic_of_pairs(distances: Tensor<3>, rank: usize) -> Tensor<1> {
    let [batch, n, _] = distances.dims();
    let wanted = (batch * n + 2 * (rank + 1)) as i64;
    let d = distances.reshape([batch * n * n]);
    let steps = if d.dtype() == DType::F64 { 52 } else { 32 };
    let mut high = d.clone().max();
    let mut low = high.zeros_like() - 1.0; // invariant: #{d ≤ low} < wanted ≤ #{d ≤ high}
    for _ in 0..steps {
        let middle = (low.clone() + high.clone()) * 0.5;
        let enough = d
            .clone()
            .lower_equal(middle.clone())
            .int()
            .sum()
            .greater_equal_scalar(wanted);
        low = middle.clone().mask_where(enough.clone(), low);
        high = high.mask_where(enough, middle);
    }
    let below = d.clone().lower_equal(low);
    let largest = d.clone().max().expand(d.dims());
    d.mask_where(below, largest).min()
}
