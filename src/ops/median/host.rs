//! Order statistics of the distances between points on the host, in vectors of the processor.

use std::ops::Range;

use pulp::{Scalar, Simd, WithSimd, bytemuck};
use rayon::prelude::*;

use super::select::{self, Distances, at_ranks, everything};
use crate::{
    ops::simd::{
        arch::Arch,
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
/// Numbers in a panel, about.
const PANEL: usize = 1 << 20;

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
    let of_sum = |sum: f64| {
        if distance.is_euclidean() {
            sum.sqrt()
        } else {
            distance.scale() * sum
        }
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
        let separations: Vec<T> = blocks
            .flat_map(|block| {
                let point = move |i: usize| &block[i * d..][..d];
                let pairs = (1..size).flat_map(|j| (0..j).map(move |i| (i, j)));
                pairs.map(move |(i, j)| between_two::<T, C>(point(i), point(j)))
            })
            .collect();
        return at_ranks(separations, ranks.to_vec());
    }
    let blocks = Blocks {
        points,
        d,
        size,
        coordinate,
        panel: (PANEL / d.max(1)).max(1).next_multiple_of(strip::<T>()),
    };
    select::order_statistics(&blocks, ranks)
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
struct Blocks<'a, T, C> {
    points: &'a [T],
    d: usize,
    /// The points of a block.
    size: usize,
    coordinate: C,
    /// The points of a panel, a multiple of a strip's.
    panel: usize,
}

/// Consecutive points of a block in the order that tiles read them in.
struct Panel<T> {
    /// The place of its first point in the block, a multiple of a strip's.
    first: usize,
    vectors: Vectors<T>,
}

impl<T: Real> Panel<T> {
    /// Its strips, counted in the block.
    fn strips(&self) -> Range<usize> {
        let width = strip::<T>();
        self.first / width..(self.first + self.vectors.rows.count()) / width
    }
}

impl<T: Real, C: Coordinate<T>> Blocks<'_, T, C> {
    fn blocks(&self) -> impl Iterator<Item = &[T]> {
        self.points.chunks_exact(self.size * self.d)
    }

    /// The points of a block from one on; in strips where they are columns.
    fn panel(&self, block: &[T], first: usize, in_strips: bool) -> Panel<T> {
        let (d, count) = (self.d, self.panel.min(self.size - first));
        let write = |i: usize, row: &mut [T]| row.copy_from_slice(&block[(first + i) * d..][..d]);
        Panel {
            first,
            vectors: Vectors::new(count, d, in_strips, write),
        }
    }

    /// What is known of an interval after a pass over the pairs of rows and columns of some panels, each
    /// two of one block.
    fn within(&self, pairs: &[[&Panel<T>; 2]], interval: [T; 2]) -> (u64, Vec<T>) {
        let work = |[rows, columns]: &[&Panel<T>; 2]| {
            rows.vectors.rows.count() * columns.vectors.rows.count() * self.d
        };
        let work: usize = pairs.iter().map(work).sum();
        let of_rows = |[rows, columns]: [&Panel<T>; 2], first: usize| {
            let mut found = (0, Vec::new());
            let strips = columns.strips();
            let strips = strips.start.max(first)..strips.end;
            for start in strips.clone().step_by(STRIPS) {
                let tile = Tile {
                    n: self.size,
                    row: first * strip::<T>(),
                    strips: start..strips.end.min(start + STRIPS),
                };
                let (below, inside) = &mut found;
                *below += Arch::new().dispatch(Between {
                    tile,
                    rows,
                    columns,
                    coordinate: self.coordinate,
                    interval,
                    inside,
                });
            }
            found
        };
        let places: Vec<_> = (pairs.iter())
            .flat_map(|&pair| pair[0].strips().map(move |first| (pair, first)))
            .collect();
        if work < WORTH_THREADS {
            let each = places.iter().map(|&(pair, first)| of_rows(pair, first));
            each.reduce(merge).unwrap_or_default()
        } else {
            let each = places.par_iter();
            let each = each.map(|&(pair, first)| of_rows(pair, first));
            each.reduce(|| (0, Vec::new()), merge)
        }
    }
}

fn merge<T>((a, mut inside): (u64, Vec<T>), (b, others): (u64, Vec<T>)) -> (u64, Vec<T>) {
    inside.extend(others);
    (a + b, inside)
}

impl<T: Real, C: Coordinate<T>> Distances<T> for Blocks<'_, T, C> {
    fn count(&self) -> u64 {
        let pairs = (self.size * (self.size - 1) / 2) as u64;
        self.blocks().count() as u64 * pairs
    }

    /// Those of each point from points some places further on in its block.
    fn sample(&self) -> Vec<T> {
        // places that share no small divisor with one another
        const STEPS: [usize; 8] = [1, 97, 211, 389, 607, 881, 1201, 1571];
        let n = self.size;
        let mut sample = Vec::new();
        for block in self.blocks() {
            let point = |i: usize| &block[i * self.d..][..self.d];
            for i in 0..n {
                let others = STEPS.map(|step| point((i + step) % n));
                let mut sums = STEPS.map(|_| T::splat(Scalar, T::new(0.0)));
                for (c, &x) in point(i).iter().enumerate() {
                    // side by side: a sum waits for itself
                    for (sum, other) in sums.iter_mut().zip(others) {
                        let [x, y] = [x, other[c]].map(|x| T::splat(Scalar, x));
                        *sum = C::add(Scalar, x, y, *sum);
                    }
                }
                let of_two = STEPS.iter().zip(sums).filter(|(step, _)| *step % n != 0);
                sample.extend(of_two.map(|(_, sum)| T::sum(Scalar, sum)));
            }
        }
        sample
    }

    /// Of large blocks some columns at a time: the points are copied.
    fn between(&self, interval: [T; 2]) -> select::Between<T> {
        let (below, inside) = if self.size <= self.panel {
            let panels: Vec<_> = self.blocks().map(|b| self.panel(b, 0, true)).collect();
            let pairs: Vec<_> = panels.iter().map(|panel| [panel, panel]).collect();
            self.within(&pairs, interval)
        } else {
            let firsts = (0..self.size).step_by(self.panel);
            let places = self
                .blocks()
                .flat_map(|block| firsts.clone().map(move |first| (block, first)));
            places.fold((0, Vec::new()), |found, (block, first)| {
                let columns = self.panel(block, first, true);
                let own = self.within(&[[&columns, &columns]], interval);
                let before = firsts.clone().take_while(|&before| before < first);
                before.fold(merge(found, own), |found, before| {
                    let rows = self.panel(block, before, false);
                    merge(found, self.within(&[[&rows, &columns]], interval))
                })
            })
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
    rows: &'a Panel<T>,
    columns: &'a Panel<T>,
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
            rows,
            columns,
            coordinate,
            interval: [low, high],
            inside,
        } = self;
        let width = PAIR * T::width::<S>(); // columns that are taken at once
        let all = [low, high] == everything();
        let mut below = 0.0; // whole numbers
        for strip_index in tile.strips.clone() {
            for row in tile.quads::<T>() {
                for start in (0..line::<T, S>()).step_by(PAIR) {
                    let mut block = similarity(
                        simd,
                        coordinate,
                        (&rows.vectors, row - rows.first),
                        (&columns.vectors, strip_index - columns.strips().start),
                        start,
                    );
                    let column = strip_index * strip::<T>() + start / PAIR * width;
                    for (i, block) in (row..row + QUAD).zip(&mut block) {
                        // i < j < n
                        let end = tile.n.saturating_sub(column).min(width);
                        let start = (i + 1).saturating_sub(column).min(end);
                        let separations = bytemuck::cast_slice_mut::<_, T>(block);
                        if all {
                            inside.extend_from_slice(&separations[start..end]);
                            continue;
                        }
                        // infinity is in no interval
                        separations[..start].fill(T::new(f64::INFINITY));
                        separations[end..].fill(T::new(f64::INFINITY));
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
    let (mut less, mut not_above) = (zero, zero);
    for &s in separations {
        let is_less = T::sub(simd, one, T::where_at_least(simd, s, low, one));
        less = T::add(simd, less, is_less);
        not_above = T::add(simd, not_above, T::where_at_least(simd, high, s, one));
    }
    [
        T::sum(simd, less).to_f64(),
        T::sum(simd, not_above).to_f64(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panels of a strip each, of several, and one for all: the same numbers.
    #[test]
    fn panels_do_not_matter() {
        for (n, size, d) in [(700, 700, 3), (401, 401, 50), (330, 165, 7)] {
            let points: Vec<f64> = (0..n * d)
                .map(|k| (k as f64 * 0.7).sin() + (k / d % 5) as f64)
                .collect();
            let of = |panel| {
                let blocks = Blocks {
                    points: &points,
                    d,
                    size,
                    coordinate: L1,
                    panel,
                };
                let last = blocks.count() - 1;
                select::order_statistics(&blocks, &[0, last / 3, last / 2, last])
            };
            let expected = of(size.next_multiple_of(strip::<f64>()));
            assert!(expected.is_sorted() && expected[0] > 0.0);
            for panel in [strip::<f64>(), 3 * strip::<f64>()] {
                assert_eq!(of(panel), expected, "{n}, {size}, {d}");
            }
        }
    }

    /// Distances that differ by less than the smallest normal number.
    #[test]
    fn tiny_differences_are_counted_whole() {
        let n = 300;
        // two clusters, one in f32 and one in f64 near their smallest normal number
        fn check<T: Real>(n: usize, unit: f64) {
            let least = T::MIN_POSITIVE;
            let at = |i: usize| (i * i % 1009) as f64 * unit + (i % 2) as f64 * least;
            let points: Vec<T> = (0..n).map(|i| T::new(at(i))).collect();
            let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
            let mut sorted: Vec<f64> = (pairs)
                .map(|(i, j)| (points[i].to_f64() - points[j].to_f64()).abs())
                .collect();
            sorted.sort_by(f64::total_cmp);
            let ranks: Vec<u64> = (0..sorted.len() as u64).step_by(997).collect();
            for rank in ranks {
                let found = order_statistics(&points, 1, n, Distance::L1, &[rank]);
                assert_eq!(found, [sorted[rank as usize]], "rank {rank}");
            }
        }
        check::<f32>(n, 1e-44);
        check::<f64>(n, 1e-320);
    }
}
