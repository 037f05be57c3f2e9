//! Order statistics of the separations of all pairs, exactly, without storing them.
//!
//! A sample of the pairs brackets each wanted separation; one pass counts those below the bracket
//! and keeps those in it, and selects among them. Should the sample mislead, the bracket is widened
//! to everything.

use std::cmp::Reverse;

use pulp::{Arch, Scalar, Simd, WithSimd, bytemuck};
use rayon::prelude::*;

use super::{
    Real, SMALL_BLOCK, Separation,
    layout::{PAIR, QUAD, Vectors, line, strip},
    similarity::{Coordinate, L1, SquaredEuclidean, similarity},
    tile::Tile,
};

/// So many separations are kept without a bracket.
const FEW: u64 = 1 << 16;
/// Strips in a tile.
const STRIPS: usize = 8;

/// For each rank (0-based) the separation of that rank among the pairs `i < j` within the first
/// `⌊n/size⌋` blocks of consecutive points.
///
/// - points: `[n, d]`, finite; a separation that overflows is infinite
pub(crate) fn order_statistics<T: Real>(
    points: &[T],
    d: usize,
    size: usize,
    separation: Separation,
    ranks: &[u64],
) -> Vec<f64> {
    let mut found = match separation {
        Separation::L1 { .. } => of_blocks(points, d, size, L1, ranks),
        Separation::Euclidean => of_blocks(points, d, size, SquaredEuclidean, ranks),
    };
    for sum in &mut found {
        *sum = match separation {
            Separation::L1 { scale } => scale * *sum,
            Separation::Euclidean => sum.sqrt(),
        };
    }
    found
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
    let vectors: Vec<_> = blocks
        .map(|block| {
            let point = |i: usize, row: &mut [T]| row.copy_from_slice(&block[i * d..][..d]);
            (size, Vectors::new(size, d, true, point))
        })
        .collect();
    select(&vectors, coordinate, ranks)
}

/// The coordinates' part of the separation of two points.
fn between_two<T: Real, C: Coordinate<T>>(p: &[T], q: &[T]) -> T {
    let mut sum = T::splat(Scalar, T::new(0.0));
    for (&p, &q) in p.iter().zip(q) {
        sum = C::add(Scalar, T::splat(Scalar, p), T::splat(Scalar, q), sum);
    }
    T::sum(Scalar, sum)
}

fn select<T: Real>(
    blocks: &[(usize, Vectors<T>)],
    coordinate: impl Coordinate<T>,
    ranks: &[u64],
) -> Vec<f64> {
    let pairs: u64 = blocks.iter().map(|(n, _)| (n * (n - 1) / 2) as u64).sum();
    let (Some(&least), Some(&greatest)) = (ranks.iter().min(), ranks.iter().max()) else {
        return Vec::new();
    };
    assert!(greatest < pairs, "rank {greatest} of {pairs} distances");
    if pairs > FEW {
        let bracket = bracket(blocks, coordinate, pairs, [least, greatest]);
        let (below, mut inside) = between(blocks, coordinate, bracket);
        if below <= least && greatest < below + inside.len() as u64 {
            let places: Vec<u64> = ranks.iter().map(|rank| rank - below).collect();
            return at_ranks(&mut inside, &places);
        }
    }
    let everything = [-1.0, 1.0].map(|side| T::new(side).times(T::MAX));
    at_ranks(&mut between(blocks, coordinate, everything).1, ranks)
}

/// The numbers at these places once they are sorted, infinity beyond the last one.
fn at_ranks<T: Real>(numbers: &mut [T], ranks: &[u64]) -> Vec<f64> {
    // from the greatest rank downwards: what is to the left of it stays there
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&k| Reverse(ranks[k]));
    let mut found = vec![f64::INFINITY; ranks.len()];
    let mut end = numbers.len();
    for k in order {
        let place = ranks[k] as usize;
        if place < numbers.len() {
            found[k] = select_nth(&mut numbers[..end], place);
            end = place + 1;
        }
    }
    found
}

/// The number at a place once they are sorted; it and the smaller ones are moved before the rest.
fn select_nth<T: Real>(numbers: &mut [T], place: usize) -> f64 {
    let compare = |a: &T, b: &T| a.partial_cmp(b).expect("sums of magnitudes are not NaN");
    numbers.select_nth_unstable_by(place, compare).1.to_f64()
}

/// An interval that very probably holds the separations of these ranks: five standard deviations of
/// a rank to both sides in a sample.
fn bracket<T: Real>(
    blocks: &[(usize, Vectors<T>)],
    coordinate: impl Coordinate<T>,
    pairs: u64,
    ranks: [u64; 2],
) -> [T; 2] {
    let mut sample = sample(blocks, coordinate);
    let size = sample.len() as f64;
    let place = |rank: u64, side: f64| {
        let share = rank as f64 / pairs as f64;
        let margin = 5.0 * (share * (1.0 - share) * size).sqrt() + 4.0;
        share * size + side * margin
    };
    // finite, as differences of an infinite end and an infinite separation are NaN
    let mut at = |place: f64| match T::new(select_nth(&mut sample, place as usize)) {
        overflown if overflown > T::MAX => T::MAX,
        separation => separation,
    };
    let (first, last) = (place(ranks[0], -1.0), place(ranks[1], 1.0));
    [
        if first < 0.0 {
            T::new(-1.0).times(T::MAX)
        } else {
            at(first)
        },
        if last >= size { T::MAX } else { at(last) },
    ]
}

/// The separations of each point from those some places further on in its block.
fn sample<T: Real, C: Coordinate<T>>(blocks: &[(usize, Vectors<T>)], _: C) -> Vec<T> {
    let mut sample = Vec::new();
    for (n, vectors) in blocks {
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

/// How many separations are below an interval, and those in it.
fn between<T: Real>(
    blocks: &[(usize, Vectors<T>)],
    coordinate: impl Coordinate<T>,
    interval: [T; 2],
) -> (u64, Vec<T>) {
    let rows = blocks.par_iter().flat_map(|(n, vectors)| {
        let n = *n;
        (0..n.div_ceil(strip::<T>()))
            .into_par_iter()
            .map(move |first| (n, vectors, first))
    });
    let count = |(n, vectors, first): (usize, &Vectors<T>, usize)| {
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
                coordinate,
                interval,
                inside,
            });
        }
        found
    };
    rows.map(count).reduce(
        || (0, Vec::new()),
        |(a, mut inside), (b, others)| {
            inside.extend(others);
            (a + b, inside)
        },
    )
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
