//! Distances of weighted points, pair by pair, and their gradient.

use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::DType,
};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::{
    all_units,
    distances::OfAll,
    paths::{Solver, UNITS},
};
use crate::{
    ops::{
        backends::{numbers, with_numbers},
        pairs::simd::deal::{deal, threads},
        simd::arch::Arch,
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

/// Weights and points of distributions, or the slopes of a sum with respect to them.
struct Clouds {
    /// Points of a distribution.
    each: usize,
    d: usize,
    weights: Vec<f64>, // [batch·n, K]
    points: Vec<f64>,  // [batch·n, d, K]
}

impl Clouds {
    fn count(&self) -> usize {
        self.weights.len() / self.each
    }

    fn of(&self, row: usize) -> Cloud<'_> {
        let (each, size) = (self.each, self.each * self.d);
        Cloud {
            weights: &self.weights[row * each..][..each],
            points: &self.points[row * size..][..size],
        }
    }

    fn zeros(like: &Self) -> Self {
        Self {
            weights: vec![0.0; like.weights.len()],
            points: vec![0.0; like.points.len()],
            ..*like
        }
    }

    fn add(&mut self, other: &Self) {
        let numbers = self.weights.iter_mut().chain(&mut self.points);
        let others = other.weights.iter().chain(&other.points);
        numbers.zip(others).for_each(|(x, y)| *x += y);
    }

    /// Adds multiples of slopes with respect to the weights and to the points of one distribution.
    fn add_to(&mut self, row: usize, weights: (f64, &[f64]), points: (f64, &[f64])) {
        let (each, size) = (self.each, self.each * self.d);
        let sums = [
            (&mut self.weights[row * each..][..each], weights),
            (&mut self.points[row * size..][..size], points),
        ];
        for (sums, (factor, slopes)) in sums {
            let terms = sums.iter_mut().zip(slopes);
            terms.for_each(|(sum, slope)| *sum += factor * slope);
        }
    }
}

/// One distribution.
#[derive(Clone, Copy)]
struct Cloud<'a> {
    weights: &'a [f64], // [K], in units
    points: &'a [f64],  // [d, K]
}

/// Distributions of two sides, the points of each in the order of a coordinate.
struct Pairs {
    n: usize,
    m: usize,
    p: Clouds,
    q: Clouds,
    /// Where the points of both were.
    places: [Vec<usize>; 2],
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
        let in_order = |[weights, points]: [Vec<f64>; 2], each: usize| {
            let (weights, mut places) = (all_units(&weights, each), Vec::new());
            places.extend(0..weights.len());
            for cloud in places.chunks_exact_mut(each) {
                cloud.sort_by(|&i, &j| points[i * d + along].total_cmp(&points[j * d + along]));
            }
            let mut coordinates = Vec::with_capacity(points.len());
            for cloud in places.chunks_exact(each) {
                for c in 0..d {
                    coordinates.extend(cloud.iter().map(|i| points[i * d + c]));
                }
            }
            let clouds = Clouds {
                each,
                d,
                weights: places.iter().map(|&i| weights[i]).collect(),
                points: coordinates,
            };
            (clouds, places)
        };
        let ((p, of_p), (q, of_q)) = (in_order(p, k), in_order(q, l));
        let finfo = dtype.finfo().expect("a float dtype");
        Self {
            n,
            m,
            p,
            q,
            places: [of_p, of_q],
            own,
            distance,
            least: finfo.min_positive,
        }
    }

    /// The first column whose pair with a row is to be computed.
    fn first(&self, row: usize) -> usize {
        if self.own { row % self.n } else { 0 }
    }

    /// The distributions of the other side that a row is paired with.
    fn others(&self, row: usize) -> impl Iterator<Item = Cloud<'_>> {
        let batch = row / self.n * self.m;
        (batch + self.first(row)..batch + self.m).map(|other| self.q.of(other))
    }

    fn solver(&self) -> Solver {
        Solver::new(self.p.each, self.q.each)
    }

    /// `[batch, n, m]`
    fn distances(&self) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        let mut all = vec![0.0; self.p.count() * m];
        let rows = all.par_chunks_mut(m.max(1)).enumerate();
        rows.with_min_len(64usize.div_ceil(m.max(1))).for_each_init(
            || self.solver(),
            |solver, (row, out)| {
                let out = &mut out[self.first(row)..];
                Arch::new().dispatch(Row {
                    pairs: self,
                    solver,
                    row,
                    solved: |j: usize, cost, _: &mut Solver| out[j] = self.root(cost),
                });
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

    fn root(&self, cost: f64) -> f64 {
        if cost < self.least { 0.0 } else { cost.sqrt() }
    }

    /// With respect to weights and points, `[batch, n, K]` and `[batch, n, K, d]`, and those of the other
    /// side, given the slopes of a sum with respect to the distances.
    fn gradient(&self, upstream: &[f64]) -> [Clouds; 2] {
        let (n, m, rows) = (self.n, self.m, self.p.count());
        let size = self.p.each * self.p.d;
        let start = || {
            let slopes = [Clouds::zeros(&self.p), Clouds::zeros(&self.q)];
            (
                self.solver(),
                slopes,
                [&self.p, &self.q].map(|side| vec![0.0; side.each * side.d]),
            )
        };
        let (_, slopes, _) = deal(
            rows,
            threads(rows.max(m), COST * size, rows),
            start,
            |(solver, [to_p, to_q], of_pair), row| {
                let batch = row / n;
                Arch::new().dispatch(Row {
                    pairs: self,
                    solver,
                    row,
                    solved: |j: usize, cost: f64, solver: &mut Solver| {
                        let (i, j) = (row % n, self.first(row) + j);
                        let other = batch * m + j;
                        let (above, below) = (row * m + j, batch * n * m + j * m + i);
                        let slope = upstream[above];
                        let mirrored = if self.own && i != j {
                            upstream[below]
                        } else {
                            0.0
                        };
                        let root = self.root(cost);
                        if root == 0.0 || (slope == 0.0 && mirrored == 0.0) {
                            return;
                        }
                        let (x, y) = (self.p.of(row), self.q.of(other));
                        self.points_slopes(x, y, root, solver.plan(), of_pair);
                        let [f, g] = solver.potentials(x.weights, y.weights);
                        let [of_x, of_y] = of_pair;
                        let add = |to: &mut Clouds, row, slope: f64, potentials, of_points| {
                            let halved = 0.5 * slope / root;
                            to.add_to(row, (halved, potentials), (slope, of_points));
                        };
                        add(to_p, row, slope, f, of_x);
                        add(to_q, other, slope, g, of_y);
                        if mirrored != 0.0 {
                            add(to_q, row, mirrored, f, of_x);
                            add(to_p, other, mirrored, g, of_y);
                        }
                    },
                });
            },
            |(_, slopes, _), (_, others, _)| {
                slopes.iter_mut().zip(&others).for_each(|(x, y)| x.add(y));
            },
        );
        let [p, q] = slopes;
        [p.in_places(&self.places[0]), q.in_places(&self.places[1])]
    }

    /// The slopes of a distance with respect to the points of both distributions, `[d, K]` and `[d, L]`, given
    /// the plan in units.
    fn points_slopes(
        &self,
        x: Cloud,
        y: Cloud,
        root: f64,
        plan: &[f64],
        slopes: &mut [Vec<f64>; 2],
    ) {
        let (k, l, d) = (self.p.each, self.q.each, self.p.d);
        let scale = self.distance.scale();
        let [of_x, of_y] = slopes;
        of_x.fill(0.0);
        of_y.fill(0.0);
        for (pair, mass) in plan.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let (from, to) = (pair / l, pair % l);
            let difference = |c: usize| x.points[c * k + from] - y.points[c * l + to];
            let mass = mass / UNITS / root;
            // half of the slope of the cost with respect to a difference
            let taxicab = || (0..d).map(|c| difference(c).abs()).sum::<f64>();
            let slope_of = match self.distance.is_euclidean() {
                true => mass,
                false => mass * scale * scale * taxicab(),
            };
            for c in 0..d {
                let slope = slope_of
                    * match (self.distance.is_euclidean(), difference(c)) {
                        (true, difference) => difference,
                        (false, 0.0) => 0.0,
                        (false, difference) => difference.signum(),
                    };
                of_x[c * k + from] += slope;
                of_y[c * l + to] -= slope;
            }
        }
    }
}

impl Clouds {
    /// In the places that the points had, `[batch, n, K]` and `[batch, n, K, d]`.
    fn in_places(self, places: &[usize]) -> Self {
        let (each, d) = (self.each, self.d);
        let mut all = Self::zeros(&self);
        for (at, &place) in places.iter().enumerate() {
            all.weights[place] = self.weights[at];
            for c in 0..d {
                let at = at / each * d * each + c * each + at % each;
                all.points[place * d + c] = self.points[at];
            }
        }
        all
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

/// Solves the programs of a distribution with others, and calls `solved` with the number of each, its cost and
/// the solver.
struct Row<'a, F> {
    pairs: &'a Pairs,
    solver: &'a mut Solver,
    row: usize,
    solved: F,
}

impl<F: FnMut(usize, f64, &mut Solver)> WithSimd for Row<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self {
            solver,
            pairs,
            row,
            mut solved,
        } = self;
        let (k, l) = (pairs.p.each, pairs.q.each);
        let (euclidean, scale) = (pairs.distance.is_euclidean(), pairs.distance.scale());
        let own = pairs.p.of(row);
        for (j, other) in pairs.others(row).enumerate() {
            for from in 0..k {
                let costs = solver.costs_from(from);
                costs.fill(0.0);
                let x = own.points[from..].iter().step_by(k);
                for (x, y) in x.zip(other.points.chunks_exact(l)) {
                    for (cost, y) in costs.iter_mut().zip(y) {
                        *cost += if euclidean {
                            (x - y) * (x - y)
                        } else {
                            (x - y).abs()
                        };
                    }
                }
                if !euclidean {
                    costs
                        .iter_mut()
                        .for_each(|cost| *cost *= *cost * scale * scale);
                }
            }
            let cost = solver.solve_in_order(own.weights, other.weights);
            solved(j, cost, solver);
        }
    }
}
