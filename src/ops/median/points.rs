//! The distances between points in the memory of the host, in vectors of the processor.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::select::{self, Distances, TOGETHER, Within};
use crate::{
    ops::simd::{arch::Arch, real::Real},
    radial::Distance,
};

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
    let sums = select::order_statistics(&blocks, ranks);
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
    #[inline(always)]
    fn part(&self, x: T, y: T) -> T {
        let (difference, negative) = (x.minus(y), y.minus(x));
        match self.distance {
            Distance::Euclidean => difference.times(difference),
            Distance::TotalVariation | Distance::L1 if difference > negative => difference,
            Distance::TotalVariation | Distance::L1 => negative,
        }
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
        let shares = places.par_iter().fold(|| within.emptied(), add);
        shares.reduce(|| within.emptied(), Within::merge)
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

    /// In loops that compilers make vectors of.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (Blocks { d, size, .. }, first) = (*self.blocks, self.first);
        let end = TOGETHER.min(size - first);
        // [d][lane], the last point again where there are no more
        let column = |lane: usize| &self.block[(first + lane.min(end - 1)) * d..][..d];
        let points: [&[T]; TOGETHER] = std::array::from_fn(column);
        let columns: Vec<_> = (0..d).map(|c| points.map(|point| point[c])).collect();
        for (i, row) in self.block.chunks_exact(d).take(first + end).enumerate() {
            let mut sums = [T::new(0.0); TOGETHER];
            for (&x, column) in row.iter().zip(&columns) {
                for (sum, &y) in sums.iter_mut().zip(column) {
                    *sum = sum.plus(self.blocks.part(x, y));
                }
            }
            let start = (i + 1).saturating_sub(first);
            self.within.add(&sums[start..end]);
        }
    }
}
