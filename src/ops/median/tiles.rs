//! The median of distances that come in tiles, such as those of a linear program for each pair.

use std::ops::Range;

use burn::tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    mean_or_one,
    select::{Distances, TOGETHER, Within, order_statistics},
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
    let tiles = Tiles { n, tile, paired };
    match tiles.count() {
        0 => 1.0,
        pairs => {
            let middle = order_statistics(&tiles, &[(pairs - 1) / 2, pairs / 2]);
            mean_or_one(&middle, dtype)
        }
    }
}

pub(super) struct Tiles<F, G> {
    pub n: usize,
    pub tile: F,
    pub paired: G,
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

    fn add_to(&self, mut within: Within<f64>) -> Within<f64> {
        for tile in upper_tiles(self.n, SIDE) {
            let (rows, columns) = (tile.rows, tile.columns);
            let mut values = (self.tile)(rows.clone(), columns.clone());
            values.iter_mut().for_each(|x| *x = infinite_if_nan(*x));
            for (i, values) in rows.zip(values.chunks(columns.len())) {
                let above = (i + 1).saturating_sub(columns.start).min(columns.len()); // i < j
                values[above..]
                    .chunks(TOGETHER)
                    .for_each(|some| within.add(some));
            }
        }
        within
    }
}

fn infinite_if_nan(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}
