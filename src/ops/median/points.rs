//! The distances between points in the memory of the host, in vectors of the processor.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::select::{self, Within};
use crate::{
    ops::simd::{
        arch::Arch,
        layout::{Vectors, strip},
        real::Real,
        similarity::{Similarity, similarities},
    },
    parallel,
    radial::{CoordinateSum, Distance},
};

/// The distances within blocks of fewer points are all stored.
const SMALL_BLOCK: usize = 32;

/// Below so many coordinates of pairs the calling thread does all.
const WORTH_THREADS: usize = 1 << 18;

/// For each rank (0-based) the distance of that rank among the pairs `i < j` within the first
/// `⌊n/size⌋` blocks of consecutive points.
///
/// - points: `[n, d]`, finite; a distance that overflows is infinite
pub(super) fn order_statistics<T: Real>(
    points: &[T],
    d: usize,
    size: usize,
    distance: Distance,
    ranks: &[u64],
) -> Vec<f64> {
    let blocks = points.chunks_exact(size * d);
    let sums = if size < SMALL_BLOCK {
        let mut all = Vec::with_capacity(blocks.len() * (size * (size - 1) / 2));
        for block in blocks {
            let point = |i: usize| &block[i * d..][..d];
            for j in 1..size {
                all.extend((0..j).map(|i| separation(point(i), point(j), distance)));
            }
        }
        let mut all = Within::stored(all);
        ranks.iter().map(|&rank| all.number(rank)).collect()
    } else {
        // points that are neighbours in the data are no more often in a sample than others
        let mut order: Vec<usize> = (0..size).collect();
        order.shuffle(&mut StdRng::seed_from_u64(0));
        let vectors = |block: &[T]| {
            let point = |i: usize| &block[order[i] * d..][..d];
            Vectors::new(size, d, true, |i, row| row.copy_from_slice(point(i)))
        };
        let blocks = Blocks {
            vectors: blocks.map(vectors).collect(),
            size,
            similarity: match distance.sum() {
                CoordinateSum::Magnitudes => Similarity::Magnitudes,
                CoordinateSum::Squares => Similarity::Squares,
            },
        };
        let count = (blocks.vectors.len() * (size * (size - 1) / 2)) as u64;
        select::order_statistics(count, ranks, |all, within| blocks.add(all, within))
    };
    let of_sum = |sum: T| distance.of_sum(sum.to_f64());
    sums.into_iter().map(of_sum).collect()
}

/// The sum over coordinates of two points.
fn separation<T: Real>(x: &[T], y: &[T], distance: Distance) -> T {
    let sum = |part: fn(T, T) -> T| {
        let parts = x.iter().zip(y).map(|(&x, &y)| part(x.minus(y), y.minus(x)));
        parts.fold(T::new(0.0), T::plus)
    };
    match distance.sum() {
        CoordinateSum::Magnitudes => sum(|a, b| if a < b { b } else { a }),
        CoordinateSum::Squares => sum(|a, _| a.times(a)),
    }
}

/// Blocks of points, whose distances are compared by the sums over coordinates that they are functions of.
struct Blocks<T> {
    vectors: Vec<Vectors<T>>,
    /// Points of a block.
    size: usize,
    similarity: Similarity,
}

impl<T: Real> Blocks<T> {
    /// Adds all pairs, or those within strips alone.
    fn add(&self, all: bool, within: Within<T>) -> Within<T> {
        let strips = self.size.div_ceil(strip::<T>());
        let columns = self.vectors.len() * strips;
        let work = columns.saturating_mul(strip::<T>() * self.size * self.vectors[0].d / 2);
        let parts = if work < WORTH_THREADS {
            1
        } else {
            columns.min(4 * rayon::current_num_threads())
        };
        // those that come later have more pairs: each part has some of all
        let parts = parallel::map(parts, &|part| {
            let mut within = within.part(parts);
            for column in (part..columns).step_by(parts) {
                let (block, last) = (&self.vectors[column / strips], column % strips);
                let first = if all { 0 } else { last };
                (first..=last).for_each(|first| self.add_tile(block, [first, last], &mut within));
            }
            within
        });
        parts.into_iter().fold(within, Within::merge)
    }

    /// Adds the pairs `i < j` of two strips.
    fn add_tile(&self, x: &Vectors<T>, strips: [usize; 2], within: &mut Within<T>) {
        let width = strip::<T>();
        let [row, column] = strips.map(|strip| strip * width);
        let mut sums = [T::new(0.0); 1 << 10];
        let sums = &mut sums[..width * width];
        similarities(
            self.similarity,
            (x, row..row + width),
            (x, strips[1]),
            None,
            sums,
        );
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for (i, sums) in (row..self.size).zip(sums.chunks_exact_mut(width)) {
                    let start = (i + 1).saturating_sub(column).min(width);
                    sums[..start].fill(T::new(f64::NAN));
                    sums[(self.size - column).min(width)..].fill(T::new(f64::NAN));
                    sums.as_chunks().0.iter().for_each(|some| within.add(some));
                }
            },
        );
    }
}
