//! Order statistics of the distances between points on the host, in vectors of the processor.

use pulp::{Arch, Scalar, Simd, WithSimd, bytemuck};
use rayon::prelude::*;

use super::select::{self, Distances, at_ranks};
use crate::{
    ops::simd::{
        layout::{PAIR, QUAD, Vectors, line, strip},
        real::Real,
        similarity::{Coordinate, L1, SquaredEuclidean, similarity},
        tile::Tile,
    },
    radial::Distance,
};

/// The distances within blocks of fewer points are all kept.
const SMALL_BLOCK: usize = 32;
/// Below so many coordinates of pairs the calling thread does all.
const WORTH_THREADS: usize = 1 << 18;
/// Strips in a tile.
const STRIPS: usize = 8;

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
    let of_sum = |sum: f64| match distance.is_euclidean() {
        false => distance.scale() * sum,
        true => sum.sqrt(),
    };
    let sums = match distance {
        Distance::TotalVariation | Distance::L1 => of_blocks(points, d, size, L1, ranks),
        Distance::Euclidean => of_blocks(points, d, size, SquaredEuclidean, ranks),
    };
    sums.into_iter().map(of_sum).collect()
}

fn of_blocks<T: Real, C: Coordinate<T>>(
    points: &[T],
    d: usize,
    size: usize,
    coordinate: C,
    ranks: &[u64],
) -> Vec<f64> {
    let blocks = points.chunks_exact(size * d);
    if size < SMALL_BLOCK {
        let mut separations: Vec<T> = blocks
            .flat_map(|block| {
                let point = move |i: usize| &block[i * d..][..d];
                let pairs = (1..size).flat_map(|j| (0..j).map(move |i| (i, j)));
                pairs.map(move |(i, j)| between_two::<T, C>(point(i), point(j)))
            })
            .collect();
        return at_ranks(&mut separations, ranks);
    }
    let blocks: Vec<_> = blocks
        .map(|block| {
            let point = |i: usize, row: &mut [T]| row.copy_from_slice(&block[i * d..][..d]);
            (size, Vectors::new(size, d, true, point))
        })
        .collect();
    select::order_statistics(&Blocks { blocks, coordinate }, ranks)
}

/// The coordinates' part of the separation of two points.
fn between_two<T: Real, C: Coordinate<T>>(p: &[T], q: &[T]) -> T {
    let mut sum = T::splat(Scalar, T::new(0.0));
    for (&p, &q) in p.iter().zip(q) {
        sum = C::add(Scalar, T::splat(Scalar, p), T::splat(Scalar, q), sum);
    }
    T::sum(Scalar, sum)
}

/// Blocks of points, and the coordinates' part of their distance.
struct Blocks<T, C> {
    blocks: Vec<(usize, Vectors<T>)>,
    coordinate: C,
}

impl<T: Real, C: Coordinate<T>> Distances<T> for Blocks<T, C> {
    fn count(&self) -> u64 {
        let pairs = |(n, _): &(usize, _)| (n * (n - 1) / 2) as u64;
        self.blocks.iter().map(pairs).sum()
    }

    /// Those of each point from points some places further on in its block.
    fn sample(&self) -> Vec<T> {
        let mut sample = Vec::new();
        for (n, vectors) in &self.blocks {
            // places that share no small divisor with one another
            for steps in [1, 97, 211, 389, 607, 881, 1201, 1571] {
                for i in 0..*n {
                    if steps % n != 0 {
                        let row = |i: usize| &vectors.rows.row(i)[..vectors.d];
                        sample.push(between_two::<T, C>(row(i), row((i + steps) % n)));
                    }
                }
            }
        }
        sample
    }

    fn between(&self, interval: [T; 2]) -> select::Between<T> {
        let work = |(n, vectors): &(usize, Vectors<T>)| n * n * vectors.d;
        let work: usize = self.blocks.iter().map(work).sum();
        let of_rows = |(n, vectors): &(usize, Vectors<T>), first: usize| {
            let n = *n;
            let mut found = (0, Vec::new());
            let strips = first..n.div_ceil(strip::<T>());
            for start in strips.clone().step_by(STRIPS) {
                let tile = Tile {
                    n,
                    row: first * strip::<T>(),
                    strips: start..strips.end.min(start + STRIPS),
                };
                let (below, inside) = &mut found;
                *below += Arch::new().dispatch(Between {
                    tile,
                    vectors,
                    coordinate: self.coordinate,
                    interval,
                    inside,
                });
            }
            found
        };
        let merge = |(a, mut inside): (u64, Vec<T>), (b, others): (u64, Vec<T>)| {
            inside.extend(others);
            (a + b, inside)
        };
        let places: Vec<_> = self
            .blocks
            .iter()
            .flat_map(|block| (0..block.0.div_ceil(strip::<T>())).map(move |first| (block, first)))
            .collect();
        let (below, inside) = match work < WORTH_THREADS {
            true => {
                let each = places.iter().map(|(block, first)| of_rows(block, *first));
                each.reduce(merge).unwrap_or_default()
            }
            false => {
                let each = places
                    .par_iter()
                    .map(|(block, first)| of_rows(block, *first));
                each.reduce(|| (0, Vec::new()), merge)
            }
        };
        select::Between {
            below,
            inside,
            repeated: Vec::new(),
        }
    }
}

/// Keeps the separations of a tile in an interval; how many are below it.
struct Between<'a, T, C> {
    tile: Tile,
    vectors: &'a Vectors<T>,
    coordinate: C,
    interval: [T; 2],
    inside: &'a mut Vec<T>,
}

impl<T: Real, C: Coordinate<T>> WithSimd for Between<'_, T, C> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let Self {
            tile,
            vectors,
            coordinate,
            interval: [low, high],
            inside,
        } = self;
        let width = PAIR * T::width::<S>(); // columns that are taken at once
        let masked = tile.is_masked::<T>();
        let mut below = 0.0; // whole numbers
        for strip_index in tile.strips.clone() {
            for row in tile.quads::<T>() {
                for start in (0..line::<T, S>()).step_by(PAIR) {
                    let mut block = similarity(
                        simd,
                        coordinate,
                        (vectors, row),
                        (vectors, strip_index),
                        start,
                    );
                    let column = strip_index * strip::<T>() + start / PAIR * width;
                    for (i, block) in (row..row + QUAD).zip(&mut block) {
                        if masked {
                            let counts = |j: usize| i < j && j < tile.n;
                            drop_lanes::<S, T>(block, |k| counts(column + k));
                        }
                        let [less, not_above] = ranks::<S, T>(simd, block, [low, high]);
                        below += less;
                        if not_above > less {
                            // without a branch that cannot be foretold
                            let (mut kept, mut count) = ([T::new(0.0); 33], 0);
                            for &s in bytemuck::cast_slice::<_, T>(block) {
                                kept[count] = s;
                                count += usize::from(low <= s && s <= high);
                            }
                            inside.extend_from_slice(&kept[..count]);
                        }
                    }
                }
            }
        }
        below as u64
    }
}

/// How many separations are below an interval, and how many not above it.
#[inline(always)]
fn ranks<S: Simd, T: Real>(
    simd: S,
    separations: &[T::Lanes<S>; PAIR],
    [low, high]: [T; 2],
) -> [f64; 2] {
    let (zero, one) = (T::splat(simd, T::new(0.0)), T::splat(simd, T::new(1.0)));
    let (low, high) = (T::splat(simd, low), T::splat(simd, high));
    let huge = T::splat(simd, T::new(T::HUGE));
    let (mut less, mut not_above) = (zero, zero);
    for &s in separations {
        // cut to [0, 1]: 1 where positive
        let is_less = T::mul(simd, T::sub(simd, low, s), huge);
        let is_less = T::max(simd, T::min(simd, is_less, one), zero);
        // 1 where not negative
        let is_not_above = T::mul_add(simd, T::sub(simd, high, s), huge, one);
        let is_not_above = T::max(simd, T::min(simd, is_not_above, one), zero);
        less = T::add(simd, less, is_less);
        not_above = T::add(simd, not_above, is_not_above);
    }
    [
        T::sum(simd, less).to_f64(),
        T::sum(simd, not_above).to_f64(),
    ]
}

/// Infinity, which is in no interval, for the lanes that do not count.
fn drop_lanes<S: Simd, T: Real>(block: &mut [T::Lanes<S>; PAIR], counts: impl Fn(usize) -> bool) {
    let lanes = bytemuck::cast_slice_mut::<_, T>(block);
    for (k, lane) in lanes.iter_mut().enumerate() {
        if !counts(k) {
            *lane = T::new(f64::INFINITY);
        }
    }
}
