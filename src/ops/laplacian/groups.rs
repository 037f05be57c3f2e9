use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::ops::simd::arch::Arch;

/// Points of a line in groups of as many each, sorted once, for the sums of a Laplacian kernel
/// `k(x, y) = exp(−|x − y|/ν)` over whole groups.
#[derive(Debug)]
pub(crate) struct Groups {
    bandwidth: f64,
    /// Points in a group.
    each: usize,
    count: usize,
    /// All points in ascending order.
    points: Vec<Point>,
    /// Where runs of points begin that are within `CELL` bandwidths of their first, and that first one.
    cells: Vec<(usize, f64)>,
}

/// A point `y` of the cell that begins at `c`.
#[derive(Debug, Clone, Copy)]
struct Point {
    y: f64,
    group: usize,
    /// `e^{−(y − c)/ν}`.
    falling: f64,
    /// `e^{(y − c)/ν}`.
    rising: f64,
}

/// Bandwidths in a cell: exponentials of them lose four bits at most.
const CELL: f64 = 16.0;
/// Groups of other points whose sums are made at once.
const LANES: usize = 8;

impl Groups {
    /// None if a point is not finite. One sort.
    pub fn new(points: &[f64], each: usize, bandwidth: f64) -> Option<Self> {
        if !points.iter().all(|y| y.is_finite()) {
            return None;
        }
        let mut sorted: Vec<(f64, usize)> = points.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut cells: Vec<(usize, f64)> = Vec::new();
        let count = points.len() / each;
        let point = |(at, (y, index)): (usize, (f64, usize))| {
            let first = match cells.last() {
                Some((_, first)) if y - first <= CELL * bandwidth => *first,
                _ => {
                    cells.push((at, y));
                    y
                }
            };
            let rising = ((y - first) / bandwidth).exp();
            Point {
                y,
                group: index / each,
                falling: rising.recip(),
                rising,
            }
        };
        let points = sorted.into_iter().enumerate().map(point).collect();
        Some(Self {
            bandwidth,
            each,
            count,
            points,
            cells,
        })
    }

    /// The means `(ST)⁻¹ Σ_st k(x_{iS+s}, y_{jT+t})`, `[n, k]`, for `n` groups of `S` finite points.
    ///
    /// With the points of a group in ascending order, `Σ_s k(x_s, y)` is
    /// `A_m e^{−(y − x_m)/ν} + B_{m+1} e^{−(x_{m+1} − y)/ν}` between `x_m` and `x_{m+1}`, for the sums `A_m`
    /// over the points up to `x_m` and `B_{m+1}` over the others: a sweep over the points `y` needs two
    /// products for each. Cost: `n·k·T` and `n·S log S`.
    pub fn means(&self, x: &[f64], each: usize) -> Vec<f64> {
        let k = self.count;
        let mut means = vec![0.0; x.len() / each * k];
        let blocks = means
            .par_chunks_mut(LANES * k)
            .zip(x.par_chunks(LANES * each));
        blocks.for_each(|(means, x)| {
            let others: Vec<Sides> = x
                .chunks(each)
                .map(|x| Sides::new(x, self.bandwidth))
                .collect();
            let mut sums = vec![[0.0; LANES]; k];
            Arch::new().dispatch(Sweep {
                groups: self,
                others: &others,
                sums: &mut sums,
            });
            let share = ((each * self.each) as f64).recip();
            for (lane, means) in means.chunks_mut(k).enumerate() {
                for (mean, sums) in means.iter_mut().zip(&sums) {
                    *mean = sums[lane] * share;
                }
            }
        });
        means
    }
}

/// Points of a group in ascending order, with the sums of the kernel at each over those up to it and
/// from it on.
struct Sides {
    x: Vec<f64>,
    below: Vec<f64>,
    above: Vec<f64>,
    bandwidth: f64,
}

impl Sides {
    fn new(x: &[f64], bandwidth: f64) -> Self {
        let mut x = x.to_vec();
        x.sort_unstable_by(f64::total_cmp);
        let decay = |m: usize| (-(x[m + 1] - x[m]) / bandwidth).exp();
        let (mut below, mut above) = (vec![1.0; x.len()], vec![1.0; x.len()]);
        for m in 0..x.len() - 1 {
            below[m + 1] += below[m] * decay(m);
        }
        for m in (0..x.len() - 1).rev() {
            above[m] += above[m + 1] * decay(m);
        }
        Self {
            x,
            below,
            above,
            bandwidth,
        }
    }

    /// The factors of `falling` and `rising` where `passed` points are at or below, in the cell that begins
    /// at `first`.
    fn factors(&self, passed: usize, first: f64) -> [f64; 2] {
        let exp = |x: f64| (x / self.bandwidth).exp();
        [
            match passed.checked_sub(1) {
                Some(m) => self.below[m] * exp(self.x[m] - first),
                None => 0.0,
            },
            match self.x.get(passed) {
                Some(x) => self.above[passed] * exp(first - x),
                None => 0.0,
            },
        ]
    }
}

/// Up to `LANES` groups against all points.
struct Sweep<'a> {
    groups: &'a Groups,
    others: &'a [Sides],
    sums: &'a mut [[f64; LANES]],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self {
            groups,
            others,
            sums,
        } = self;
        let mut passes: Vec<(f64, usize)> = (others.iter().enumerate())
            .flat_map(|(lane, other)| other.x.iter().map(move |x| (*x, lane)))
            .collect();
        passes.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut passed = [0; LANES];
        let (mut falling, mut rising) = ([0.0; LANES], [0.0; LANES]);
        let mut next = 0;
        let ends = groups.cells.iter().skip(1).map(|(start, _)| *start);
        let ends = ends.chain([groups.points.len()]);
        for (&(start, first), end) in groups.cells.iter().zip(ends) {
            for (lane, other) in others.iter().enumerate() {
                [falling[lane], rising[lane]] = other.factors(passed[lane], first);
            }
            let mut at = start;
            while at < end {
                while let Some(&(_, lane)) =
                    passes.get(next).filter(|(x, _)| *x <= groups.points[at].y)
                {
                    passed[lane] += 1;
                    next += 1;
                    [falling[lane], rising[lane]] = others[lane].factors(passed[lane], first);
                }
                let pass = passes.get(next).map_or(f64::INFINITY, |(x, _)| *x);
                for point in &groups.points[at..end] {
                    if point.y >= pass {
                        break;
                    }
                    let sums = &mut sums[point.group];
                    for lane in 0..LANES {
                        sums[lane] += falling[lane] * point.falling + rising[lane] * point.rising;
                    }
                    at += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all pairs, with ties, points apart by much more than a cell, and more groups than lanes.
    #[test]
    fn means_over_groups_are_those_of_all_pairs() {
        let numbers = |count: usize, rate: f64| -> Vec<f64> {
            let wave = |i: usize| ((i as f64 * rate).sin() * 40.0).round() / 16.0;
            (0..count).map(wave).collect()
        };
        for (n, s, k, t) in [(1, 1, 1, 1), (1, 3, 2, 1), (9, 5, 4, 7), (19, 1, 3, 40)] {
            let (mut x, y) = (numbers(n * s, 0.7), numbers(k * t, 1.3));
            x[n * s / 2] *= 1e6;
            for bandwidth in [1e-3, 0.05, 1.0, 1e7] {
                let kernel = |x: f64, y: f64| (-(x - y).abs() / bandwidth).exp();
                let groups = Groups::new(&y, t, bandwidth).unwrap();
                let found = groups.means(&x, s);
                assert_eq!(found.len(), n * k);
                for (at, found) in found.iter().enumerate() {
                    let (x, y) = (&x[at / k * s..][..s], &y[at % k * t..][..t]);
                    let pairs = x.iter().flat_map(|x| y.iter().map(|y| kernel(*x, *y)));
                    let expected = pairs.sum::<f64>() / (s * t) as f64;
                    let error = (found - expected).abs();
                    assert!(error <= 1e-14 * expected + 1e-300, "{found}, {expected}");
                }
            }
        }
        assert!(Groups::new(&[0.0, f64::NAN], 1, 1.0).is_none());
        assert!(Groups::new(&[0.0, f64::INFINITY], 2, 1.0).is_none());
    }
}
