//! Distances of weighted points, pair by pair, and their gradient.

use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::DType,
};
use rayon::prelude::*;

use super::{
    OfAll,
    paths::{Solver, UNITS, units},
};
use crate::{
    ops::{
        backends::{numbers, with_numbers},
        pairs::simd::deal::{deal, threads},
    },
    radial::Distance,
};

/// Coordinates that a pair of weighted points costs as much as, for the decision about threads.
const COST: usize = 16;

/// `[batch, n, m]`
pub(super) fn distances<B: Backend>(
    p: [FloatTensor<B>; 2],
    q: [FloatTensor<B>; 2],
    distance: Distance,
) -> FloatTensor<B> {
    let like = p[1].clone();
    let pairs = Pairs::new::<B>(p, q, distance);
    let shape = [pairs.p.count() / pairs.n, pairs.n, pairs.m];
    with_numbers::<B>(pairs.distances(), shape, &like)
}

/// Those with respect to weights and points of both sides.
pub(super) fn gradient<B: Backend>(
    p: [FloatTensor<B>; 2],
    q: [FloatTensor<B>; 2],
    upstream: FloatTensor<B>,
    distance: Distance,
) -> OfAll<B> {
    let all = [&p[0], &p[1], &q[0], &q[1]].map(FloatTensor::<B>::clone);
    let [p, q] = Pairs::new::<B>(p, q, distance).gradient(&numbers::<B>(upstream));
    let like = |slopes: Vec<f64>, tensor: &FloatTensor<B>| {
        with_numbers::<B>(slopes, tensor.shape().dims::<3>(), tensor)
    };
    (
        like(p.weights, &all[0]),
        like(p.points, &all[1]),
        like(q.weights, &all[2]),
        like(q.points, &all[3]),
    )
}

/// Distributions of `K` weighted points each.
struct Clouds {
    each: usize,
    weights: Vec<f64>, // [batch·n, K], in units
    points: Vec<f64>,  // [batch·n, K, d]
    /// The points of each in the order of a coordinate, `[batch·n, K]`.
    order: Vec<usize>,
}

impl Clouds {
    fn new([weights, points]: [Vec<f64>; 2], each: usize, [d, along]: [usize; 2]) -> Self {
        let order = points.chunks_exact(each * d).flat_map(|cloud| {
            let mut order: Vec<usize> = (0..each).collect();
            order.sort_by(|i, j| cloud[i * d + along].total_cmp(&cloud[j * d + along]));
            order
        });
        Self {
            each,
            order: order.collect(),
            weights: weights.chunks(each).flat_map(units).collect(),
            points,
        }
    }

    fn count(&self) -> usize {
        self.weights.len() / self.each
    }

    fn weights(&self, row: usize) -> &[f64] {
        &self.weights[row * self.each..][..self.each]
    }

    fn order(&self, row: usize) -> &[usize] {
        &self.order[row * self.each..][..self.each]
    }

    /// The points of one, `[K, d]`.
    fn points(&self, row: usize) -> &[f64] {
        let size = self.points.len() / self.count();
        &self.points[row * size..][..size]
    }
}

/// The slopes of a sum with respect to weights and points.
struct Slopes {
    weights: Vec<f64>, // [batch·n, K]
    points: Vec<f64>,  // [batch·n, K, d]
}

impl Slopes {
    fn zeros(like: &Clouds) -> Self {
        Self {
            weights: vec![0.0; like.weights.len()],
            points: vec![0.0; like.points.len()],
        }
    }

    /// Adds multiples of slopes with respect to weights and points, from a row on.
    fn add(&mut self, row: usize, weights: (f64, &[f64]), points: (f64, &[f64])) {
        for (sums, (factor, slopes)) in [(&mut self.weights, weights), (&mut self.points, points)] {
            let sums = sums[row * slopes.len()..].iter_mut();
            sums.zip(slopes)
                .for_each(|(sum, slope)| *sum += factor * slope);
        }
    }
}

/// Distributions of two sides.
struct Pairs {
    n: usize,
    m: usize,
    d: usize,
    p: Clouds,
    q: Clouds,
    /// Whether both sides are the same: then the pairs `i ≤ j` are enough.
    own: bool,
    distance: Distance,
    /// Costs below are of points that coincide.
    least: f64,
}

impl Pairs {
    fn new<B: Backend>(p: [FloatTensor<B>; 2], q: [FloatTensor<B>; 2], distance: Distance) -> Self {
        let dtype: DType = p[0].dtype();
        let ([_, n, k], [_, m, l]) = (p[0].shape().dims(), q[0].shape().dims());
        let d = p[1].shape()[2];
        let [p, q] = [p, q].map(|side| side.map(numbers::<B>));
        let own = p == q;
        let along = widest(&p[1], k, d);
        let finfo = dtype.finfo().expect("a float dtype");
        Self {
            n,
            m,
            d,
            p: Clouds::new(p, k, [d, along]),
            q: Clouds::new(q, l, [d, along]),
            own,
            distance,
            least: finfo.min_positive,
        }
    }

    /// The first column whose pair with a row is to be computed.
    fn first(&self, row: usize) -> usize {
        if self.own { row % self.n } else { 0 }
    }

    fn solver(&self) -> Solver {
        Solver::new(self.p.each, self.q.each)
    }

    /// The distance of a row of one side and one of the other.
    fn solve(&self, solver: &mut Solver, row: usize, other: usize) -> f64 {
        let (x, y) = (self.p.points(row), self.q.points(other));
        let pairs = x
            .chunks_exact(self.d)
            .flat_map(|x| y.chunks_exact(self.d).map(move |y| (x, y)));
        for (cost, (x, y)) in solver.costs.iter_mut().zip(pairs) {
            let differences = x.iter().zip(y).map(|(x, y)| x - y);
            *cost = match self.distance {
                Distance::Euclidean => differences.map(|difference| difference * difference).sum(),
                Distance::TotalVariation | Distance::L1 => {
                    let sum: f64 = differences.map(f64::abs).sum();
                    (self.distance.scale() * sum).powi(2)
                }
            };
        }
        let orders = [self.p.order(row), self.q.order(other)];
        let cost = solver.solve(self.p.weights(row), self.q.weights(other), orders);
        if cost < self.least { 0.0 } else { cost.sqrt() }
    }

    /// `[batch, n, m]`
    fn distances(&self) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        let mut all = vec![0.0; self.p.count() * m];
        let rows = all.par_chunks_mut(m.max(1)).enumerate();
        rows.with_min_len(64usize.div_ceil(m.max(1))).for_each_init(
            || self.solver(),
            |solver, (row, out)| {
                for (j, distance) in out.iter_mut().enumerate().skip(self.first(row)) {
                    *distance = self.solve(solver, row, row / n * m + j);
                }
            },
        );
        if self.own {
            for batch in all.chunks_exact_mut(n * n) {
                for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    batch[i * n + j] = batch[j * n + i];
                }
            }
        }
        all
    }

    /// With respect to both sides, given the slopes of a sum with respect to the distances.
    fn gradient(&self, upstream: &[f64]) -> [Slopes; 2] {
        let (n, m, rows) = (self.n, self.m, self.p.count());
        let start = || (self.solver(), [&self.p, &self.q].map(Slopes::zeros));
        let (_, slopes) = deal(
            rows,
            threads(rows.max(m), COST * self.p.each * self.d, rows),
            start,
            |(solver, [to_p, to_q]), row| {
                let (batch, i) = (row / n, row % n);
                for j in self.first(row)..m {
                    let other = batch * m + j;
                    let slope = upstream[row * m + j];
                    let mirrored = if self.own && i != j {
                        upstream[other * m + i]
                    } else {
                        0.0
                    };
                    if slope == 0.0 && mirrored == 0.0 {
                        continue;
                    }
                    let root = self.solve(solver, row, other);
                    if root == 0.0 {
                        continue;
                    }
                    let [of_x, of_y] = self.points_slopes(solver.plan(), row, other, root);
                    let [f, g] = solver.potentials(self.p.weights(row), self.q.weights(other));
                    let add = |to: &mut Slopes, row, slope: f64, potentials, points: &[f64]| {
                        to.add(row, (0.5 * slope / root, potentials), (slope, points));
                    };
                    add(to_p, row, slope, f, &of_x);
                    add(to_q, other, slope, g, &of_y);
                    if mirrored != 0.0 {
                        add(to_q, row, mirrored, f, &of_x);
                        add(to_p, other, mirrored, g, &of_y);
                    }
                }
            },
            |(_, slopes), (_, others)| {
                for (slopes, others) in slopes.iter_mut().zip(&others) {
                    slopes.add(0, (1.0, &others.weights), (1.0, &others.points));
                }
            },
        );
        slopes
    }

    /// The slopes of a distance with respect to the points of both distributions, `[K, d]` and `[L, d]`, given
    /// the plan in units.
    fn points_slopes(&self, plan: &[f64], row: usize, other: usize, root: f64) -> [Vec<f64>; 2] {
        let (l, d) = (self.q.each, self.d);
        let (x, y) = (self.p.points(row), self.q.points(other));
        let (mut of_x, mut of_y) = (vec![0.0; x.len()], vec![0.0; y.len()]);
        for (pair, mass) in plan.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let (from, to) = (pair / l * d, pair % l * d);
            let difference = |c: usize| x[from + c] - y[to + c];
            let mass = mass / UNITS / root;
            let (scale, taxicab) = (
                self.distance.scale(),
                (0..d).map(|c| difference(c).abs()).sum::<f64>(),
            );
            for c in 0..d {
                // half of the slope of the cost with respect to a difference
                let slope = match self.distance {
                    Distance::Euclidean => mass * difference(c),
                    Distance::TotalVariation | Distance::L1 if difference(c) == 0.0 => 0.0,
                    Distance::TotalVariation | Distance::L1 => {
                        mass * scale * scale * taxicab * difference(c).signum()
                    }
                };
                of_x[from + c] += slope;
                of_y[to + c] -= slope;
            }
        }
        [of_x, of_y]
    }
}

/// The coordinate in which the points of the distributions are widest apart.
fn widest(points: &[f64], each: usize, d: usize) -> usize {
    let mut widths = vec![0.0; d];
    for cloud in points.chunks_exact(each * d) {
        for (c, width) in widths.iter_mut().enumerate() {
            let values = || cloud[c..].iter().step_by(d).copied();
            let (least, most) = (values().reduce(f64::min), values().reduce(f64::max));
            *width += most.unwrap_or(0.0) - least.unwrap_or(0.0);
        }
    }
    let wider = |a: usize, b: usize| if widths[b] > widths[a] { b } else { a };
    (0..d).fold(0, wider)
}
