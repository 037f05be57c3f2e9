//! Optimal transport between a few weighted points, exact and differentiable: a linear program for each pair, on
//! the host in f64, by shortest augmenting paths ([`paths`]). The simplex method of microlp 0.7 takes tens of times
//! as long, gives no potentials, and changes features of Burn's dependencies.

mod paths;

use burn::tensor::{DType, Tensor, TensorData};

use self::paths::{Solver, UNITS, units};
use super::gradient::with_pull_back;
use crate::{
    host::to_vec,
    parallel::{fold_tiles, for_each_chunk, threads_for},
    radial::{CoordinateSum, Distance},
};

/// Distributions of as many weighted points each, in batches: weights `[batch, n, K]` and points `[batch, n·K, d]`.
pub(crate) struct WeightedPoints {
    pub weights: Tensor<3>,
    pub points: Tensor<3>,
}

/// The cost of a linear program for each pair of points, in numbers that are read; it decides about threads.
const COST: usize = 16;

/// The roots of the smallest costs of transport between weighted points, whose costs are the squares of
/// their distances: `[batch, n, m]`, differentiable, where two distributions coincide with the subgradient
/// 0.
///
/// Pair by pair in f64 on all threads of the host, to which weights and points of other devices are read back.
/// The backward pass solves the programs again. The gradient of a cost with respect to the costs of single
/// points is an optimal plan, and with respect to the weights optimal potentials `f` and `g` (the envelope
/// theorem); where these are not unique, it has a kink, and they are a subgradient. Potentials are defined up
/// to a constant, which is of no consequence for weights that sum to 1, such as a softmax: it is chosen so that
/// `Σ_k a_k f_k = Σ_l b_l g_l`, half of the cost. There are no second derivatives.
///
/// # Shapes
///
/// - p: weights `[batch, n, K]` and points `[batch, n·K, d]`
/// - q: weights `[batch, m, L]` and points `[batch, m·L, d]`
/// - output: `[batch, n, m]`; NaN where a weight or point is not finite or a weight negative
///
/// Memory: `O(batch·n·m)`.
pub(crate) fn transport_distances(
    p: WeightedPoints,
    q: WeightedPoints,
    distance: Distance,
) -> Tensor<3> {
    let (device, dtype) = (p.points.device(), p.points.dtype());
    let ([batch, n, _], [_, m, _]) = (p.weights.dims(), q.weights.dims());
    let inputs = [p.weights, p.points, q.weights, q.points];
    let shapes = inputs.each_ref().map(|x| x.dims());
    let [a, x, b, y] = inputs.each_ref().map(|x| to_vec(x.clone().detach()));
    let own = shapes[0] == shapes[2] && a == b && x == y;
    let pairs = TransportPairs {
        n,
        m,
        d: shapes[1][2],
        p: Clouds::new(batch * n, a, x),
        q: Clouds::new(batch * m, b, y),
        own,
        distance,
        least: dtype.finfo().map_or(0.0, |float| float.min_positive),
    };
    let tensor_data = move |numbers: Vec<f64>, shape: [usize; 3], dtype: DType| {
        TensorData::new(numbers, shape).convert_dtype(dtype)
    };
    let distances = tensor_data(pairs.distances(), [batch, n, m], dtype);
    let distances = Tensor::from_data(distances, (&device, dtype));
    with_pull_back(distances, inputs, move |upstream| {
        let upstream: Vec<f64> = upstream.iter().collect();
        let [p, q] = pairs.gradient(&upstream);
        let [a, x, b, y] = shapes;
        let all = [(p.weights, a), (p.points, x), (q.weights, b), (q.points, y)];
        all.map(|(slopes, shape)| tensor_data(slopes, shape, dtype))
    })
}

/// Distributions of `K` weighted points each, or the slopes of a sum with respect to them.
#[derive(Clone)]
struct Clouds {
    count: usize,
    weights: Vec<f64>, // [count, K]
    points: Vec<f64>,  // [count, K, d]
}

impl Clouds {
    /// Distributions, their weights in units.
    fn new(count: usize, weights: Vec<f64>, points: Vec<f64>) -> Self {
        let each = weights.len() / count.max(1);
        Self {
            count,
            weights: weights.chunks(each.max(1)).flat_map(units).collect(),
            points,
        }
    }

    fn zeros(like: &Self) -> Self {
        Self {
            count: like.count,
            weights: vec![0.0; like.weights.len()],
            points: vec![0.0; like.points.len()],
        }
    }

    fn weights(&self, row: usize) -> &[f64] {
        let each = self.weights.len() / self.count;
        &self.weights[row * each..][..each]
    }

    fn points(&self, row: usize) -> &[f64] {
        let size = self.points.len() / self.count;
        &self.points[row * size..][..size]
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
struct TransportPairs {
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

impl TransportPairs {
    /// The first column whose pair with a row is to be computed.
    fn first(&self, row: usize) -> usize {
        if self.own { row % self.n } else { 0 }
    }

    fn solver(&self) -> Solver {
        let each = [&self.p, &self.q].map(|side| side.weights.len() / side.count);
        Solver::new(each)
    }

    /// The distance of a row of one side and one of the other.
    fn solve(&self, solver: &mut Solver, row: usize, other: usize) -> f64 {
        let (x, y) = (self.p.points(row), self.q.points(other));
        let y = || y.chunks_exact(self.d);
        let pairs = x
            .chunks_exact(self.d)
            .flat_map(|x| y().map(move |y| (x, y)));
        for (cost, (x, y)) in solver.costs.iter_mut().zip(pairs) {
            let sum = (self.distance.sum()).of(x.iter().zip(y).map(|(x, y)| x - y));
            *cost = match self.distance.sum() {
                CoordinateSum::Squares => sum,
                CoordinateSum::Magnitudes => (self.distance.scale() * sum).powi(2),
            };
        }
        let cost = solver.solve(self.p.weights(row), self.q.weights(other));
        if cost < self.least { 0.0 } else { cost.sqrt() }
    }

    /// `[batch, n, m]`
    fn distances(&self) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        let mut all = vec![0.0; self.p.count * m];
        let cost = COST * self.p.weights(0).len() * self.q.weights(0).len();
        for_each_chunk(&mut all, m.max(1), cost, |(row, out)| {
            let mut solver = self.solver();
            for (j, distance) in out.iter_mut().enumerate().skip(self.first(row)) {
                *distance = self.solve(&mut solver, row, row / n * m + j);
            }
        });
        if self.own {
            for batch in all.chunks_exact_mut(n * n) {
                for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    batch[i * n + j] = batch[j * n + i];
                }
            }
        }
        all
    }

    /// The slopes with respect to both sides, given those of a sum with respect to the distances.
    fn gradient(&self, upstream: &[f64]) -> [Clouds; 2] {
        let (n, m, rows) = (self.n, self.m, self.p.count);
        let start = || (self.solver(), [&self.p, &self.q].map(Clouds::zeros));
        let step = |(solver, [to_p, to_q]): &mut (Solver, [Clouds; 2]), row: usize| {
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
                let add = |to: &mut Clouds, row, slope: f64, potentials, points: &[f64]| {
                    to.add(row, (0.5 * slope / root, potentials), (slope, points));
                };
                add(to_p, row, slope, f, &of_x);
                add(to_q, other, slope, g, &of_y);
                if mirrored != 0.0 {
                    add(to_q, row, mirrored, f, &of_x);
                    add(to_p, other, mirrored, g, &of_y);
                }
            }
        };
        let size = self.p.points(0).len();
        let threads = threads_for(rows.max(m), COST * size, rows);
        fold_tiles(rows, threads, start, step, |(_, sums), (_, others)| {
            for (sums, others) in sums.iter_mut().zip(&others) {
                sums.add(0, (1.0, &others.weights), (1.0, &others.points));
            }
        })
        .1
    }

    /// The slopes of a distance with respect to the points of both distributions, `[K, d]` and `[L, d]`, given
    /// the plan in units.
    fn points_slopes(&self, plan: &[f64], row: usize, other: usize, root: f64) -> [Vec<f64>; 2] {
        let d = self.d;
        let (x, y) = (self.p.points(row), self.q.points(other));
        let l = y.len() / d;
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
                let slope = match self.distance.sum() {
                    CoordinateSum::Squares => mass * difference(c),
                    CoordinateSum::Magnitudes if difference(c) == 0.0 => 0.0,
                    CoordinateSum::Magnitudes => {
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
