//! The median of distances that come in tiles, such as those of a linear program for each pair.

use std::ops::Range;

use burn::tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    mean_or_one,
    select::{Between, Distances, order_statistics},
};
use crate::tiles::{SIDE, upper_tiles};

/// The median of the distances between all pairs `i < j` of `n` points: the mean of the two middle ones
/// where their number is even, and 1 if it is 0 or there are no pairs. A NaN counts as infinity.
///
/// - dtype: of the points
/// - tile: the distances between consecutive points and others, row by row
/// - paired: the distance of each point `i` from point `partners[i]`
///
/// Cost: one pass over the pairs, in memory for about `n^1.5` distances, of which equal ones are kept once.
pub(crate) fn median_of_tiles(
    n: usize,
    dtype: DType,
    tile: impl Fn(Range<usize>, Range<usize>) -> Vec<f64>,
    paired: impl Fn(&[usize]) -> Vec<f64>,
) -> f64 {
    let tiles = Tiles { n, tile, paired };
    match tiles.count() {
        0 => 1.0,
        pairs => mean_or_one(
            &order_statistics(&tiles, &[(pairs - 1) / 2, pairs / 2]),
            dtype,
        ),
    }
}

struct Tiles<F, G> {
    n: usize,
    tile: F,
    paired: G,
}

impl<F, G> Distances<f64> for Tiles<F, G>
where
    F: Fn(Range<usize>, Range<usize>) -> Vec<f64>,
    G: Fn(&[usize]) -> Vec<f64>,
{
    fn count(&self) -> u64 {
        (self.n * self.n.saturating_sub(1) / 2) as u64
    }

    /// Those of each point from some others at random.
    fn sample(&self) -> Vec<f64> {
        let n = self.n;
        let mut rng = StdRng::seed_from_u64(0);
        let mut partner = |i: usize| (i + rng.random_range(1..n)) % n;
        let mut sample = Vec::with_capacity(PARTNERS * n);
        for _ in 0..PARTNERS {
            let partners: Vec<usize> = (0..n).map(&mut partner).collect();
            sample.extend((self.paired)(&partners).into_iter().map(infinite_if_nan));
        }
        sample
    }

    fn between(&self, [low, high]: [f64; 2]) -> Between<f64> {
        let mut found = Between::default();
        for tile in upper_tiles(self.n, SIDE) {
            let (rows, columns) = (tile.rows, tile.columns);
            let values = (self.tile)(rows.clone(), columns.clone());
            for (i, values) in rows.zip(values.chunks(columns.len())) {
                let after = columns.clone().zip(values).filter(|(j, _)| i < *j);
                for distance in after.map(|(_, &distance)| infinite_if_nan(distance)) {
                    match distance {
                        _ if distance < low => found.below += 1,
                        _ if distance <= high => found.inside.push(distance),
                        _ => (),
                    }
                }
            }
            if found.inside.len() > UNCOUNTED {
                found.count_repeated();
            }
        }
        found
    }
}

/// Points that each one is paired with in a sample.
const PARTNERS: usize = 8;
/// Distances that are kept before equal ones are counted.
const UNCOUNTED: usize = 1 << 16;

fn infinite_if_nan(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Few and many pairs, odd and even numbers of them, with and without ties, and not all finite.
    #[test]
    fn medians_are_those_of_a_sort() {
        let smooth =
            |i: usize, j: usize| ((i * j) as f64 * 0.37).sin().abs() + (j - i) as f64 * 1e-3;
        let tied = |i: usize, j: usize| ((i * 7 + j * 13) % 5) as f64;
        let mostly_equal = |i: usize, j: usize| if (i + j).is_multiple_of(7) { 2.0 } else { 0.25 };
        let mostly_zero = |i: usize, j: usize| if (i * j) % 3 == 1 { 1.0 } else { 0.0 };
        let nan = |i: usize, j: usize| {
            if j.is_multiple_of(9) {
                f64::NAN
            } else {
                smooth(i, j)
            }
        };
        let all: [&dyn Fn(usize, usize) -> f64; 5] =
            [&smooth, &tied, &mostly_equal, &mostly_zero, &nan];
        for distance in all {
            for n in [0, 1, 2, 3, 4, 57, 300, 363, 901, 1002] {
                let distance = |i: usize, j: usize| match i.cmp(&j) {
                    std::cmp::Ordering::Less => distance(i, j),
                    std::cmp::Ordering::Equal => 0.0,
                    std::cmp::Ordering::Greater => distance(j, i),
                };
                let passes = Cell::new(0);
                let tile = |rows: Range<usize>, columns: Range<usize>| {
                    passes.set(passes.get() + usize::from(rows.start + columns.start == 0));
                    rows.flat_map(|i| columns.clone().map(move |j| distance(i, j)))
                        .collect()
                };
                let paired =
                    |partners: &[usize]| (0..n).map(|i| distance(i, partners[i])).collect();
                let found = median_of_tiles(n, DType::F64, tile, paired);
                let mut sorted: Vec<f64> = (0..n)
                    .flat_map(|j| (0..j).map(move |i| infinite_if_nan(distance(i, j))))
                    .collect();
                sorted.sort_by(f64::total_cmp);
                let expected = match sorted.len() {
                    0 => 1.0,
                    pairs => 0.5 * (sorted[(pairs - 1) / 2] + sorted[pairs / 2]),
                };
                assert_eq!(found, if expected == 0.0 { 1.0 } else { expected }, "{n}");
                assert!(passes.get() <= 1, "the sample misled");
            }
        }
    }

    /// About `n^1.5` distances are kept, and none of those that are equal.
    #[test]
    fn few_distances_are_kept() {
        let n = 2000;
        let smooth = |i: usize, j: usize| ((i * i + j * j) as f64 * 0.37).sin().abs();
        let tied = |i: usize, j: usize| ((i + j) % 4) as f64;
        let all: [&dyn Fn(usize, usize) -> f64; 2] = [&smooth, &tied];
        for (distance, most) in all.into_iter().zip([250_000, 2 * UNCOUNTED]) {
            let tiles = Tiles {
                n,
                tile: |rows: Range<usize>, columns: Range<usize>| {
                    rows.flat_map(|i| columns.clone().map(move |j| distance(i, j)))
                        .collect()
                },
                paired: |partners: &[usize]| (0..n).map(|i| distance(i, partners[i])).collect(),
            };
            let middle = tiles.count() / 2;
            let interval =
                super::super::select::bracket(tiles.sample(), tiles.count(), [middle; 2]);
            let found = tiles.between(interval);
            assert!(found.below <= middle, "{interval:?}");
            assert!(
                found.inside.len() <= most,
                "{} of {}",
                found.inside.len(),
                tiles.count()
            );
        }
    }
}
