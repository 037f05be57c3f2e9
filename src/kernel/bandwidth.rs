use burn::tensor::{DType, Tensor};
use serde::{Deserialize, Serialize};

use super::Distance;
use crate::{
    host::to_vec,
    tiles::{SIDE, upper_tiles},
};

/// The bandwidth `ν` of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Bandwidth {
    /// A positive number, in units of the distance.
    Fixed(f64),
    /// The median heuristic: the median of the distances between the pairs `i < j`, the mean of
    /// the two middle ones where their number is even; 1 where it is 0. Detached from gradients.
    ///
    /// On data the median is over all pairs, exactly. In a training loss it is over the pairs
    /// that the estimator uses (those within blocks), and taken on the device without reading
    /// back; its error is below `2⁻³² (1 + d_max)` in f32 and `2⁻⁵² (1 + d_max)` in f64.
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
/// Cost: two passes over the `n(n−1)/2` distances in tiles, memory `O(n·d)` and one tile.
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
/// A radix selection: a pass over all pairs counts the distances by their leading 16 bits, which
/// order non-negative floating-point numbers, the next by 16 bits more among those that share the
/// leading bits of a wanted one, until few are left.
///
/// # Shapes
///
/// - points: `[n, d]`
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub fn distance_order_statistics(
    points: &Tensor<2>,
    distance: Distance,
    ranks: &[u64],
) -> Vec<f64> {
    let n = points.dims()[0] as u64;
    let pairs = n * n.saturating_sub(1) / 2;
    for &rank in ranks {
        assert!(rank < pairs, "rank {rank} of {pairs} distances");
    }
    let points = points.clone().detach();
    let mut searches: Vec<_> = ranks
        .iter()
        .map(|&rank| Search { rank, prefix: 0 })
        .collect();
    let mut known = 0; // leading bits that are known of every wanted distance
    let mut left = pairs * ranks.len() as u64;
    while known < u64::BITS && left > FEW {
        left = refine(&points, distance, &mut searches, known);
        known += DIGIT;
    }
    finish(&points, distance, &searches, known)
}

/// Bits of one digit of the radix selection.
const DIGIT: u32 = 16;
/// So many distances are sorted rather than counted.
const FEW: u64 = 1 << 22;

/// A distance is wanted: the `rank`-th smallest of those whose leading bits are `prefix`.
struct Search {
    rank: u64,
    prefix: u64,
}

fn leading(d: f64, bits: u32) -> u64 {
    d.to_bits().checked_shr(u64::BITS - bits).unwrap_or(0)
}

/// One pass: extends the prefix of each search by a digit. How many distances share the new ones.
fn refine(points: &Tensor<2>, distance: Distance, searches: &mut [Search], known: u32) -> u64 {
    let mut counts = vec![vec![0u64; 1 << DIGIT]; searches.len()];
    for_each_distance(points, distance, |d| {
        let extended = leading(d, known + DIGIT);
        for (search, counts) in searches.iter().zip(&mut counts) {
            if extended >> DIGIT == search.prefix {
                counts[(extended & ((1 << DIGIT) - 1)) as usize] += 1;
            }
        }
    });
    let mut left = 0;
    for (search, counts) in searches.iter_mut().zip(&counts) {
        let mut digit = 0;
        while search.rank >= counts[digit] {
            search.rank -= counts[digit];
            digit += 1;
        }
        search.prefix = search.prefix << DIGIT | digit as u64;
        left += counts[digit];
    }
    left
}

/// The last pass: collects the distances that share the prefix of each search, and selects.
fn finish(points: &Tensor<2>, distance: Distance, searches: &[Search], known: u32) -> Vec<f64> {
    if known == u64::BITS {
        return searches
            .iter()
            .map(|search| f64::from_bits(search.prefix))
            .collect();
    }
    let mut candidates = vec![Vec::new(); searches.len()];
    for_each_distance(points, distance, |d| {
        for (search, candidates) in searches.iter().zip(&mut candidates) {
            if leading(d, known) == search.prefix {
                candidates.push(d);
            }
        }
    });
    let select = |(search, mut candidates): (&Search, Vec<f64>)| {
        *candidates
            .select_nth_unstable_by(search.rank as usize, f64::total_cmp)
            .1
    };
    searches.iter().zip(candidates).map(select).collect()
}

/// Calls `f` with the distance of each pair `i < j`.
fn for_each_distance(points: &Tensor<2>, distance: Distance, mut f: impl FnMut(f64)) {
    let [n, _] = points.dims();
    for tile in upper_tiles(n, SIDE) {
        let rows = points.clone().slice(tile.rows.clone()).unsqueeze();
        let columns = points.clone().slice(tile.columns.clone()).unsqueeze();
        let width = tile.columns.len();
        let distances = to_vec(distance.between(rows, columns));
        for (i, row) in distances.chunks(width).enumerate() {
            let first = if tile.is_diagonal() { i + 1 } else { 0 };
            row[first..].iter().for_each(|&d| f(d));
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
