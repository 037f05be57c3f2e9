//! Medians and other order statistics of the distances between pairs: on the host in bounded memory
//! ([`select`]), of points in vectors of the processor or of distances that come in tiles, such as those of a linear
//! program for each pair; on a device without reading back ([`composed`]).

mod composed;
mod select;
#[cfg(test)]
mod tests;

use std::ops::Range;

use burn::tensor::{DType, Element, Tensor};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

pub(crate) use composed::median_of_pairs;
use select::{Pass, Within, of_stored};

use super::{
    backends::is_on_host,
    simd::{
        layout::{PaddedVectors, strip},
        real::{Real, with_real},
        similarity::{Similarity, similarities},
        tile::StripTile,
    },
};
use crate::{
    error::scales_of,
    host::Memory,
    parallel::{fold_tiles, threads_for},
    radial::{CoordinateSum, Distance},
    tiles::{SIDE, upper_tiles},
};

/// The distances within blocks of fewer points are all stored.
const SMALL_BLOCK: usize = 32;
/// Points on a side of the tiles of a sample.
const SAMPLE_SIDE: usize = 16;

/// The median of the distances between the pairs within blocks of `size` points, `[1]` and detached: the
/// mean of the two middle ones, and 1 where that is 0 or not finite or some point is not. Exact on the
/// host, otherwise up to rounding, and nothing is read back.
#[doc(hidden)]
pub fn median_of_blocks(points: Tensor<2>, distance: Distance, size: usize) -> Tensor<1> {
    let points = points.detach();
    if !is_on_host(&points) {
        return composed::median_of_blocks(points, distance, size);
    }
    let (device, dtype, d) = (points.device(), points.dtype(), points.dims()[1]);
    let points = Memory::of(points);
    let median = with_real!(dtype, T => median::<T>(points.slice(), d, distance, size));
    Tensor::from_data([median], (&device, dtype))
}

fn median<T: Real + Element>(points: &[T], d: usize, distance: Distance, size: usize) -> f64 {
    if !points.iter().all(|x| x.to_f64().is_finite()) {
        return 1.0; // of a diverged batch, whose statistic is NaN
    }
    let pairs = (points.len() / d / size * (size * (size - 1) / 2)) as u64;
    let middle = of_points(points, [d, size], distance, &middle_ranks(pairs));
    let median = mean_or_one(&middle, T::dtype());
    // distances may overflow where points do not
    if median <= T::MAX.to_f64() {
        median
    } else {
        1.0
    }
}

/// The ranks of the two middle ones of so many numbers, or of the middle one twice.
pub(crate) fn middle_ranks(count: u64) -> [u64; 2] {
    [(count - 1) / 2, count / 2]
}

/// The mean of two middle distances, 1 if it is 0 or so small that it is no scale of a kernel in this dtype.
pub(crate) fn mean_or_one(middle: &[f64], dtype: DType) -> f64 {
    match middle.iter().map(|distance| 0.5 * distance).sum::<f64>() {
        median if median < *scales_of(dtype).0.start() => 1.0,
        median => median,
    }
}

/// For each rank (0-based) the distance of that rank among the pairs `i < j`, computed on the host in
/// f32 or f64, wherever the points are.
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub(crate) fn order_statistics(points: &Tensor<2>, distance: Distance, ranks: &[u64]) -> Vec<f64> {
    if ranks.is_empty() {
        return Vec::new();
    }
    let [n, d] = points.dims();
    let points = match points.dtype() {
        DType::F64 => points.clone(),
        _ => points.clone().cast(DType::F32),
    };
    let memory = Memory::of(points.clone());
    let pairs = (n * n.saturating_sub(1) / 2) as u64;
    for &rank in ranks {
        assert!(rank < pairs, "rank {rank} of {pairs} distances");
    }
    with_real!(points.dtype(), T => {
        let points = memory.slice::<T>();
        let finite = points.iter().all(|x| x.to_f64().is_finite());
        assert!(finite, "distances between points that are not finite");
        of_points(points, [d, n], distance, ranks)
    })
}

/// The numbers `0..n` in a random order, the same for each call: in it, points that are neighbours in the data are
/// no more often in a sample than others.
pub(crate) fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut StdRng::seed_from_u64(0));
    order
}

/// The median of the distances between all pairs `i < j` of `n` points in random order: the mean of the two middle
/// ones where their number is even, and 1 if it is 0 or there are no pairs. A NaN counts as infinity.
///
/// - dtype: of the points
/// - tile: the distances between consecutive points and others, row by row
///
/// Cost: one pass over the pairs, in memory for about `n^1.5` distances and no more than some million.
pub(crate) fn median_of_tiles(
    n: usize,
    dtype: DType,
    tile: impl Fn(Range<usize>, Range<usize>) -> Vec<f64>,
) -> f64 {
    if n < 2 {
        return 1.0;
    }
    let add = |pass: Pass, mut within: Within<f64>| {
        let side = match pass {
            Pass::Sample => SAMPLE_SIDE,
            Pass::All => SIDE,
        };
        let is_visited = |tile: &crate::tiles::Tile| pass == Pass::All || tile.is_diagonal();
        for pairs in upper_tiles(n, side).filter(is_visited) {
            let (rows, columns) = (pairs.rows, pairs.columns);
            let distances = tile(rows.clone(), columns.clone()).into_iter();
            let places = rows.flat_map(|i| columns.clone().map(move |j| (i, j)));
            let counted = distances.zip(places).filter(|(_, (i, j))| i < j);
            let infinite_if_nan = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
            let distances: Vec<f64> = counted.map(|(x, _)| infinite_if_nan(x)).collect();
            within.add(&distances);
        }
        within
    };
    let pairs = (n * (n - 1) / 2) as u64;
    let middle = select::order_statistics(pairs, &middle_ranks(pairs), add);
    mean_or_one(&middle, dtype)
}

/// For each rank (0-based) the distance of that rank among the pairs `i < j` within the first
/// `⌊n/size⌋` blocks of consecutive points of `d` coordinates.
///
/// - points: `[n, d]`, finite; a distance that overflows is infinite
fn of_points<T: Real>(
    points: &[T],
    [d, size]: [usize; 2],
    distance: Distance,
    ranks: &[u64],
) -> Vec<f64> {
    let blocks = points.chunks_exact(size * d);
    let sums = if size < SMALL_BLOCK {
        let of_pair = |block: &[T], i: usize, j: usize| {
            let point = |i: usize| block[i * d..][..d].iter().map(|x| x.to_f64());
            let differences = point(i).zip(point(j)).map(|(x, y)| x - y);
            T::new(distance.sum().of(differences))
        };
        let pairs = || (1..size).flat_map(|j| (0..j).map(move |i| (i, j)));
        let all = blocks.flat_map(|block| pairs().map(move |(i, j)| of_pair(block, i, j)));
        of_stored(all.collect(), ranks)
    } else {
        let order = shuffled(size);
        let vectors = |block: &[T]| {
            let point = |i: usize| &block[order[i] * d..][..d];
            PaddedVectors::new(size, d, true, |i, row| row.copy_from_slice(point(i)))
        };
        let blocks = PointBlocks {
            vectors: blocks.map(vectors).collect(),
            size,
            similarity: match distance.sum() {
                CoordinateSum::Magnitudes => Similarity::Magnitudes,
                CoordinateSum::Squares => Similarity::Squares,
            },
        };
        let count = (blocks.vectors.len() * (size * (size - 1) / 2)) as u64;
        select::order_statistics(count, ranks, |pass, within| blocks.add(pass, within))
    };
    let of_sum = |sum: T| distance.of_sum(sum.to_f64());
    sums.into_iter().map(of_sum).collect()
}

/// Blocks of points, whose distances are compared by the sums over coordinates that they are functions of.
struct PointBlocks<T> {
    vectors: Vec<PaddedVectors<T>>,
    /// Points of a block.
    size: usize,
    similarity: Similarity,
}

impl<T: Real> PointBlocks<T> {
    /// Adds all pairs, or as a sample those within strips alone.
    fn add(&self, pass: Pass, within: Within<T>) -> Within<T> {
        let strips = self.size.div_ceil(strip::<T>());
        let columns = self.vectors.len() * strips;
        let side = (self.vectors.len() * self.size * self.size).isqrt(); // of as many pairs
        let threads = threads_for(side, self.vectors[0].d, columns);
        let step = |within: &mut Within<T>, column: usize| {
            let mut sums = [T::new(0.0); 1 << 10];
            let sums = &mut sums[..StripTile::size::<T>()];
            let (block, last) = (&self.vectors[column / strips], column % strips);
            let first = match pass {
                Pass::Sample => last,
                Pass::All => 0,
            };
            for strip_of_rows in first..=last {
                let tile = StripTile {
                    n: self.size,
                    row: strip_of_rows * strip::<T>(),
                    strips: last..last + 1,
                };
                let (rows, columns) = ((block, tile.rows::<T>()), (block, last));
                similarities(self.similarity, rows, columns, None, sums);
                tile.fill_rest(last, T::new(f64::NAN), sums);
                within.add(sums);
            }
        };
        fold_tiles(
            columns,
            threads,
            || within.part(threads),
            step,
            Within::merge,
        )
    }
}
