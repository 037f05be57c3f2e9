//! The distances between points in the memory of the host, in vectors of the processor.

use pulp::{Simd, WithSimd};

use super::select::{self, Distances, TOGETHER, Within};
use crate::{
    ops::simd::{aligned::Aligned, arch::Arch, real::Real},
    parallel,
    radial::Distance,
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
    let finish = |sum: f64| match distance {
        Distance::Euclidean => sum.sqrt(),
        Distance::TotalVariation | Distance::L1 => distance.scale() * sum,
    };
    let blocks = Blocks {
        points,
        d,
        size,
        distance,
    };
    let sums = if size < SMALL_BLOCK {
        let sums = select::stored(&blocks.all(), ranks);
        sums.into_iter().map(T::to_f64).collect()
    } else {
        select::order_statistics(&blocks, ranks)
    };
    sums.into_iter().map(finish).collect()
}

/// Blocks of points, whose distances are compared by the sums over coordinates that they are functions of.
#[derive(Clone, Copy)]
struct Blocks<'a, T> {
    points: &'a [T],
    d: usize,
    /// Points of a block.
    size: usize,
    distance: Distance,
}

impl<'a, T: Real> Blocks<'a, T> {
    fn blocks(&self) -> std::slice::ChunksExact<'a, T> {
        self.points.chunks_exact(self.size * self.d)
    }

    /// The part of a coordinate.
    fn part(&self, x: T, y: T) -> T {
        let difference = if x < y { y.minus(x) } else { x.minus(y) };
        match self.distance {
            Distance::Euclidean => difference.times(difference),
            Distance::TotalVariation | Distance::L1 => difference,
        }
    }

    /// The sums of all pairs, in any order.
    fn all(&self) -> Vec<T> {
        let pairs = || (1..self.size).flat_map(|j| (0..j).map(move |i| (i, j)));
        let between = |(x, y): (&[T], &[T])| {
            let parts = x.iter().zip(y).map(|(&x, &y)| self.part(x, y));
            parts.fold(T::new(0.0), T::plus)
        };
        let of_block = |block: &'a [T]| {
            let point = |i: usize| &block[i * self.d..][..self.d];
            pairs().map(move |(i, j)| between((point(i), point(j))))
        };
        self.blocks().flat_map(of_block).collect()
    }
}

impl<T: Real> Distances<T> for Blocks<'_, T> {
    fn count(&self) -> u64 {
        (self.blocks().len() * (self.size * (self.size - 1) / 2)) as u64
    }

    /// Those of each point from points some places further on in its block.
    fn sample(&self) -> Vec<T> {
        // places that share no small divisor with one another
        const STEPS: [usize; 8] = [1, 97, 211, 389, 607, 881, 1201, 1571];
        let n = self.size;
        let of_point = |(block, i): (&'_ [T], usize)| {
            let point = |i: usize| &block[i * self.d..][..self.d];
            let others = STEPS.map(|step| point((i + step) % n));
            let mut sums = STEPS.map(|_| T::new(0.0));
            for (c, &x) in point(i).iter().enumerate() {
                // side by side: a sum waits for itself
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = sum.plus(self.part(x, other[c]));
                }
            }
            let all = STEPS.into_iter().zip(sums);
            all.filter(move |(step, _)| step % n != 0)
                .map(|(_, sum)| sum)
        };
        let points = self
            .blocks()
            .flat_map(|block| (0..n).map(move |i| (block, i)));
        points.flat_map(of_point).collect()
    }

    fn add_to(&self, within: Within<T>) -> Within<T> {
        let firsts = (0..self.size).step_by(TOGETHER);
        let places: Vec<_> = (self.blocks())
            .flat_map(|block| firsts.clone().map(move |first| (block, first)))
            .collect();
        let add = |mut within: Within<T>, &(block, first): &(&[T], usize)| {
            Arch::new().dispatch(Pass {
                blocks: self,
                block,
                first,
                within: &mut within,
            });
            within
        };
        if (self.count() as usize).saturating_mul(self.d) < WORTH_THREADS {
            return places.iter().fold(within, add);
        }
        // those that come later have more pairs: each part has some of all
        let parts = places.len().min(4 * rayon::current_num_threads());
        let shares = parallel::map(parts, &|part| {
            let places = places.iter().skip(part).step_by(parts);
            places.fold(within.emptied(), add)
        });
        shares.into_iter().fold(within.emptied(), Within::merge)
    }
}

/// Adds the pairs of some columns of a block, from the `first` on, with all rows before them.
struct Pass<'a, T> {
    blocks: &'a Blocks<'a, T>,
    block: &'a [T],
    first: usize,
    within: &'a mut Within<T>,
}

impl<T: Real> WithSimd for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.blocks.distance {
            Distance::Euclidean => self.run::<S, true>(simd),
            Distance::TotalVariation | Distance::L1 => self.run::<S, false>(simd),
        }
    }
}

/// Rows and vectors of columns whose sums are in registers.
const ROWS: usize = 4;
const VECTORS: usize = 2;

impl<T: Real> Pass<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const SQUARES: bool>(self, simd: S) {
        let (Blocks { d, size, .. }, first) = (*self.blocks, self.first);
        let end = TOGETHER.min(size - first);
        let mut columns = Aligned::<T>::zeros(d * TOGETHER); // [d][lane]
        for (lane, point) in self.block[first * d..]
            .chunks_exact(d)
            .take(end)
            .enumerate()
        {
            let lanes = columns.iter_mut().skip(lane).step_by(TOGETHER);
            lanes.zip(point).for_each(|(number, x)| *number = *x);
        }
        let columns = T::lanes::<S>(&columns);
        let line = TOGETHER / T::width::<S>(); // a multiple of VECTORS
        let mut sums = Aligned::<T>::zeros(ROWS * TOGETHER);
        for row in (0..first + end).step_by(ROWS) {
            let point = |r: usize| &self.block[(row + r).min(size - 1) * d..][..d];
            let points: [&[T]; ROWS] = [point(0), point(1), point(2), point(3)];
            let all = T::lanes_mut::<S>(&mut sums);
            for start in (0..line).step_by(VECTORS) {
                let mut block = [[T::splat(simd, T::new(0.0)); VECTORS]; ROWS];
                for c in 0..d {
                    let column = &columns[c * line + start..][..VECTORS];
                    for r in 0..ROWS {
                        let x = T::splat(simd, points[r][c]);
                        for v in 0..VECTORS {
                            let difference = T::sub(simd, x, column[v]);
                            block[r][v] = if SQUARES {
                                T::mul_add(simd, difference, difference, block[r][v])
                            } else {
                                T::add(simd, T::abs(simd, difference), block[r][v])
                            };
                        }
                    }
                }
                for r in 0..ROWS {
                    all[r * line + start..][..VECTORS].copy_from_slice(&block[r]);
                }
            }
            for (i, sums) in (row..first + end).zip(sums.chunks_exact(TOGETHER)) {
                self.within.add(&sums[(i + 1).saturating_sub(first)..end]);
            }
        }
    }
}
