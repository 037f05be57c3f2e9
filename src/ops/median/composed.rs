//! The median of distances on any device, by bisection of its logarithm: nothing is read back.

use burn::tensor::{DType, Tensor};

use super::{mean_or_one, middle_ranks, of_stored};
use crate::{
    error::scales_of,
    host::{is_host, to_vec},
    radial::Distance,
};

/// The most distances that are stored; of more, tiles are computed again for each step.
const STORED: usize = 1 << 26;

/// The median of the distances between the pairs `i < j` within batches, without reading back from a
/// device: `[batch, n, n] → [1]`. 1 if it is 0 or too small for a bandwidth, if some distance is not finite, or
/// if there are no pairs.
pub(crate) fn median_of_pairs(distances: Tensor<3>) -> Tensor<1> {
    let [batch, n, _] = distances.dims();
    if is_host(&distances.device()) && n > 1 {
        let options = (&distances.device(), distances.dtype());
        let dtype = distances.dtype();
        return Tensor::from_data([of_host(&to_vec(distances), n, dtype)], options);
    }
    median(&[&|| distances.clone()], [batch, n])
}

/// That of the distances within blocks of `size` points, `[n, d]`.
pub(super) fn median_of_blocks(points: Tensor<2>, distance: Distance, size: usize) -> Tensor<1> {
    let [n, d] = points.dims();
    let blocks = n / size;
    let points = points.slice(0..blocks * size).reshape([blocks, size, d]);
    let count = blocks * size * size;
    let rows = size.div_ceil(count.div_ceil(STORED));
    let tile = |first: usize| {
        let rows = points.clone().slice_dim(1, first..size.min(first + rows));
        distance.between(rows, points.clone()) // [blocks, rows, size]
    };
    if rows == size {
        return median_of_pairs(tile(0));
    }
    let tiles: Vec<_> = (0..size)
        .step_by(rows)
        .map(|first| move || tile(first))
        .collect();
    let tiles: Vec<Tile> = tiles.iter().map(|tile| tile as Tile).collect();
    median(&tiles, [blocks, size])
}

/// Some distances.
type Tile<'a> = &'a dyn Fn() -> Tensor<3>;

/// The median of the pairs of all tiles, which are the rows of `batch` matrices of `n × n` distances.
fn median(tiles: &[Tile], [batch, n]: [usize; 2]) -> Tensor<1> {
    let pairs = batch * n * n.saturating_sub(1) / 2;
    if pairs == 0 {
        return tiles[0]().sum() * 0.0 + 1.0;
    }
    let largest = over(tiles, |tile| tile.max(), Tensor::max_pair);
    let order_statistic = |rank| order_statistic(tiles, largest.clone(), [batch * n, rank]);
    let lower = order_statistic((pairs - 1) / 2);
    let median = match pairs % 2 {
        1 => lower,
        _ => (lower + order_statistic(pairs / 2)) * 0.5,
    };
    let least = *scales_of(median.dtype()).0.start();
    let is_scale = median.clone().greater_equal_scalar(least);
    let is_finite = |tile: Tensor<3>| tile.is_finite().all().int();
    let is_finite = over(tiles, is_finite, Tensor::min_pair).bool();
    median.mask_fill(is_scale.bool_and(is_finite).bool_not(), 1.0)
}

/// A number of each tile, merged.
fn over<N>(tiles: &[Tile], of: impl Fn(Tensor<3>) -> N, merge: impl Fn(N, N) -> N) -> N {
    let numbers = tiles.iter().map(|tile| of(tile()));
    numbers.reduce(merge).expect("at least one tile")
}

/// The median of the pairs `i < j` of matrices in row-major order, 1 where some distance is not finite.
fn of_host(distances: &[f64], n: usize, dtype: DType) -> f64 {
    let rows = distances.chunks(n).enumerate();
    let pairs: Vec<f64> = rows
        .flat_map(|(row, distances)| &distances[row % n + 1..])
        .copied()
        .collect();
    if !pairs.iter().all(|distance| distance.is_finite()) {
        return 1.0;
    }
    let ranks = middle_ranks(pairs.len() as u64);
    mean_or_one(&of_stored(pairs, &ranks), dtype)
}

/// The `rank`-th smallest distance: bisection of its logarithm, then the smallest distance above the lower
/// end. Exact except for some units in the last place; 0 for less than the smallest normal number.
///
/// Each pair stands twice in the matrices, and their diagonals add zeros: the wanted value is the smallest
/// `v` with `#{d ≤ v} ≥ diagonal + 2 (rank + 1)`.
fn order_statistic(tiles: &[Tile], largest: Tensor<1>, [diagonal, rank]: [usize; 2]) -> Tensor<1> {
    let wanted = (diagonal + 2 * (rank + 1)) as i64;
    let float = largest.dtype().finfo().expect("a float tensor");
    // binades, halved down to one, and the digits of one
    let steps = if largest.dtype() == DType::F64 {
        64
    } else {
        33
    };
    let is_enough = |bound: Tensor<1>| {
        let bound: Tensor<3> = bound.reshape([1, 1, 1]);
        let count = |tile: Tensor<3>| tile.lower_equal(bound.clone()).int().sum();
        over(tiles, count, |a, b| a + b).greater_equal_scalar(wanted)
    };
    let mut high = largest.clone().clamp_max(float.max);
    let least = high.zeros_like() + float.min_positive;
    let is_zero = is_enough(least.clone());
    let mut low = least; // invariant: #{d ≤ low} < wanted ≤ #{d ≤ high}, unless it is 0
    for _ in 0..steps {
        let middle = low.clone().sqrt() * high.clone().sqrt();
        let enough = is_enough(middle.clone());
        low = middle.clone().mask_where(enough.clone(), low);
        high = high.mask_where(enough, middle);
    }
    let above = |tile: Tensor<3>| {
        let shape = tile.dims();
        let all = |x: &Tensor<1>| x.clone().reshape([1, 1, 1]).expand(shape);
        let below = tile.clone().lower_equal(all(&low));
        tile.mask_where(below, all(&largest)).min()
    };
    over(tiles, above, Tensor::min_pair).mask_fill(is_zero, 0.0)
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
                    let found = order_statistic(
                        &[&|| distances.clone()],
                        distances.clone().max(),
                        [n, rank],
                    );
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
        let zeros = Tensor::<3>::zeros([1, 3, 3], &device);
        let zero = order_statistic(&[&|| zeros.clone()], zeros.clone().max(), [3, 1]);
        assert_eq!(zero.into_data().iter::<f64>().next(), Some(0.0));
    }
}
