//! The median of distances that come in tiles, such as those of a linear program for each pair.

use std::ops::Range;

use super::{
    mean_or_one,
    select::{Between, Distances, STEPS, order_statistics},
};
use crate::tiles::{SIDE, upper_tiles};

/// The median of the distances between all pairs `i < j` of `n` points: the mean of the two middle ones
/// where their number is even, and 1 if it is 0 or there are no pairs. A NaN counts as infinity.
///
/// - tile: the distances between consecutive points and others, row by row
/// - shifted: the distance of each point `i` from point `(i + steps) mod n`
///
/// Cost: one pass over the pairs, in memory for about `n^1.5` distances.
pub(crate) fn median_of_tiles(
    n: usize,
    tile: impl Fn(Range<usize>, Range<usize>) -> Vec<f64>,
    shifted: impl Fn(usize) -> Vec<f64>,
) -> f64 {
    let tiles = Tiles { n, tile, shifted };
    match tiles.count() {
        0 => 1.0,
        pairs => mean_or_one(&order_statistics(&tiles, &[(pairs - 1) / 2, pairs / 2])),
    }
}

struct Tiles<F, G> {
    n: usize,
    tile: F,
    shifted: G,
}

impl<F, G> Distances<f64> for Tiles<F, G>
where
    F: Fn(Range<usize>, Range<usize>) -> Vec<f64>,
    G: Fn(usize) -> Vec<f64>,
{
    fn count(&self) -> u64 {
        (self.n * self.n.saturating_sub(1) / 2) as u64
    }

    fn sample(&self) -> Vec<f64> {
        let steps = STEPS.into_iter().filter(|steps| steps % self.n != 0);
        let mut sample: Vec<f64> = steps.flat_map(&self.shifted).collect();
        sample.iter_mut().for_each(|x| *x = infinite_if_nan(*x));
        sample
    }

    /// Ends of the interval are counted and not kept: distances may be equal to one another.
    fn between(&self, [low, high]: [f64; 2]) -> Between<f64> {
        let mut found = Between::default();
        for tile in upper_tiles(self.n, SIDE) {
            let (rows, columns) = (tile.rows, tile.columns);
            let values = (self.tile)(rows.clone(), columns.clone());
            for (i, values) in rows.zip(values.chunks(columns.len())) {
                for (j, &value) in columns.clone().zip(values) {
                    match infinite_if_nan(value) {
                        _ if i >= j => (),
                        x if x < low => found.below += 1,
                        x if x == low => found.low += 1,
                        x if x < high => found.inside.push(x),
                        x if x == high => found.high += 1,
                        _ => (),
                    }
                }
            }
        }
        found
    }
}

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
        let mostly_equal = |i: usize, j: usize| if (i + j) % 7 == 0 { 2.0 } else { 0.25 };
        let mostly_zero = |i: usize, j: usize| if (i * j) % 3 == 1 { 1.0 } else { 0.0 };
        let nan = |i: usize, j: usize| if j % 9 == 0 { f64::NAN } else { smooth(i, j) };
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
                let shifted = |steps: usize| (0..n).map(|i| distance(i, (i + steps) % n)).collect();
                let found = median_of_tiles(n, tile, shifted);
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
        for (distance, most) in all.into_iter().zip([200_000, 0]) {
            let tiles = Tiles {
                n,
                tile: |rows: Range<usize>, columns: Range<usize>| {
                    rows.flat_map(|i| columns.clone().map(move |j| distance(i, j)))
                        .collect()
                },
                shifted: |steps: usize| (0..n).map(|i| distance(i, (i + steps) % n)).collect(),
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
