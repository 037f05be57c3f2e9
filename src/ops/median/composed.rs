//! The median on any device, by bisection: nothing is read back.

use burn::tensor::{DType, Tensor};

/// The median of the distances between the pairs `i < j` within batches, on the device, without
/// reading back: `[batch, n, n] → [1]`. 1 if it is 0 or there are no pairs.
pub(crate) fn median_of_pairs(distances: Tensor<3>) -> Tensor<1> {
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
