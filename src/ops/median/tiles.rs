//! The median of distances that come in tiles, such as those of a linear program for each pair.

use std::ops::Range;

use burn::tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    mean_or_one,
    select::{TOGETHER, Within, order_statistics},
};
use crate::tiles::{SIDE, upper_tiles};

/// Points that each one is paired with in a sample.
const PARTNERS: usize = 8;

/// The median of the distances between all pairs `i < j` of `n` points: the mean of the two middle ones
/// where their number is even, and 1 if it is 0 or there are no pairs. A NaN counts as infinity.
///
/// - dtype: of the points
/// - tile: the distances between consecutive points and others, row by row
/// - paired: the distance of each point `i` from point `partners[i]`
///
/// Cost: one pass over the pairs, in memory for about `n^1.5` distances and no more than some million.
pub(crate) fn median_of_tiles(
    n: usize,
    dtype: DType,
    tile: impl Fn(Range<usize>, Range<usize>) -> Vec<f64>,
    paired: impl Fn(&[usize]) -> Vec<f64>,
) -> f64 {
    if n < 2 {
        return 1.0;
    }
    let add_to = |within: &mut Within<f64>, distances: &[f64]| {
        for some in distances.chunks(TOGETHER) {
            let mut numbers = [f64::NAN; TOGETHER];
            for (number, &x) in numbers.iter_mut().zip(some) {
                *number = if x.is_nan() { f64::INFINITY } else { x };
            }
            within.add(&numbers);
        }
    };
    let add = |all: bool, mut within: Within<f64>| {
        if !all {
            let mut rng = StdRng::seed_from_u64(0);
            for _ in 0..PARTNERS {
                let partner = |i: usize| (i + rng.random_range(1..n)) % n;
                let partners: Vec<usize> = (0..n).map(partner).collect();
                add_to(&mut within, &paired(&partners));
            }
            return within;
        }
        for pairs in upper_tiles(n, SIDE) {
            let (rows, columns) = (pairs.rows, pairs.columns);
            let distances = tile(rows.clone(), columns.clone());
            for (i, distances) in rows.zip(distances.chunks(columns.len())) {
                let above = (i + 1).saturating_sub(columns.start).min(columns.len()); // i < j
                add_to(&mut within, &distances[above..]);
            }
        }
        within
    };
    let pairs = (n * (n - 1) / 2) as u64;
    let middle = order_statistics(pairs, &[(pairs - 1) / 2, pairs / 2], add);
    mean_or_one(&middle, dtype)
}
