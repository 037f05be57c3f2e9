use burn::tensor::{DType, Device, Tensor, TensorData, activation::softmax};
use proptest::{prelude::*, test_runner::RngSeed};

use super::{
    paths::{Solver, UNITS, units},
    transport_distances,
};
use crate::{host::to_vec, radial::Distance};

/// Plan, potentials and cost of one problem.
struct Solution {
    plan: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
    cost: f64,
}

fn solve(a: &[f64], b: &[f64], costs: &[f64]) -> Solution {
    let mut solver = Solver::new([a.len(), b.len()]);
    solver.costs.copy_from_slice(costs);
    let (a, b) = (units(a), units(b));
    let cost = solver.solve(&a, &b);
    let plan = solver.plan().iter().map(|mass| mass / UNITS).collect();
    let [f, g] = solver.potentials(&a, &b).map(<[f64]>::to_vec);
    Solution { plan, f, g, cost }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{found}, not {expected}"
    );
}

type Program = (&'static [i32], &'static [i32], &'static [i32], i32);

/// Weights, costs, and the smallest cost times both sums of weights (a whole number) from
/// scipy.optimize.linprog 1.17 (HiGHS).
#[rustfmt::skip]
const PROGRAMS: [Program; 6] = [
    (&[18, 12], &[13, 18], &[49, 73, 80, 7], 33978),
    (&[2, 6], &[6, 17, 18, 1, 10], &[78, -5, 75, -6, 36, 77, 16, 20, 13, 66], 11232),
    (&[5, 19, 8], &[10, 10, 12], &[1, 1, 2, 2, 2, 2, 1, 1, 2], 1632),
    (&[9, 4, 16, 3, 17], &[12, 3, 1, 9, 1], &[
        -4, 41, 96, 35, 77, 90, 78, 55, 32, 41, 11, 39, 25, 9, 99, -19, -9, 3, 96, 63, 85, 4, 66, 24, 38,
    ], 14099),
    (&[0, 12, 16, 13], &[3, 11, 6, 19, 17, 4, 10], &[
        92, 81, 64, 56, -15, 69, 36, -10, 9, 44, 67, 40, 53, 84, 62, 23, 57, 51, -8, -13, 59, 26, 51, 18,
        7, -2, 25, 77,
    ], 35957),
    (&[8, 7, 11, 19, 7, 11, 8, 12, 8, 12], &[11, 13, 19, 3, 11, 9, 7, 5, 1, 8], &[
        79, -9, 28, 96, 94, 5, -20, 60, -19, 16, 39, 84, -9, 59, 43, -5, 81, 81, 37, 93, 52, 88, 95, 48,
        13, -3, 47, 3, 70, 91, 9, 46, -15, 1, 25, 86, 96, 56, 50, 48, -13, 25, 97, 29, 5, 8, 65, -16, 96,
        85, 48, 36, 71, 45, 37, 18, 33, 70, -14, -17, 66, 24, 76, -17, 88, -6, 29, 96, -7, 58, 67, 31,
        -11, 42, 32, 84, 61, 21, -14, 50, 13, 62, 83, 22, 88, 42, 43, 71, 74, 89, 99, -2, 29, 92, 16,
        -20, 49, 70, 69, 77,
    ], -38701),
];

#[test]
fn linear_programs() {
    for (a, b, costs, expected) in PROGRAMS {
        let [a, b, costs] = [a, b, costs].map(|x| x.iter().copied().map(f64::from).collect());
        let (a, b): (Vec<f64>, Vec<f64>) = (a, b);
        let totals = a.iter().sum::<f64>() * b.iter().sum::<f64>();
        assert_close(solve(&a, &b, &costs).cost, f64::from(expected) / totals);
    }
}

/// All permutations are couplings of uniform weights, and one of them is optimal (Birkhoff).
#[test]
fn assignments() {
    fn least(costs: &[f64], row: usize, free: &mut Vec<usize>) -> f64 {
        let mut best = if row == 4 { 0.0 } else { f64::INFINITY };
        for i in 0..free.len() {
            let column = free.remove(i);
            best = best.min(costs[row * 4 + column] + least(costs, row + 1, free));
            free.insert(i, column);
        }
        best
    }
    let wave = |seed: usize| move |i: usize| ((seed * 16 + i) as f64 * 1.7).sin() * 3.0;
    for seed in 0..50 {
        let costs: Vec<f64> = (0..16).map(wave(seed)).collect();
        let expected = least(&costs, 0, &mut (0..4).collect()) / 4.0;
        assert_close(solve(&[0.25; 4], &[0.25; 4], &costs).cost, expected);
    }
}

/// Weights and costs; whole numbers are often 0 or tied.
fn problem() -> impl Strategy<Value = [Vec<f64>; 3]> {
    let whole = (0..4).prop_map(f64::from).boxed();
    let kinds = [whole, (0.0..3.0).boxed()];
    (1..6usize, 1..6usize, 0..2usize, 0..2usize).prop_flat_map(move |(k, l, weight, cost)| {
        let (weight, cost) = (kinds[weight].clone(), kinds[cost].clone());
        let weights = |n| {
            prop::collection::vec(weight.clone(), n)
                .prop_filter("some weight", |weights| weights.iter().sum::<f64>() > 0.0)
        };
        let costs = prop::collection::vec(cost, k * l);
        (weights(k), weights(l), costs).prop_map(|(a, b, costs)| [a, b, costs])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// Feasible for the program and its dual, and equal costs: both optimal.
    #[test]
    fn optimal([a, b, costs] in problem()) {
        let Solution { plan, f, g, cost } = solve(&a, &b, &costs);
        let (a, b) = (normalised(&a), normalised(&b));
        let l = b.len();
        for (k, a) in a.iter().enumerate() {
            assert_close(plan[k * l..][..l].iter().sum(), *a);
        }
        for (i, b) in b.iter().enumerate() {
            assert_close(plan.iter().skip(i).step_by(l).sum(), *b);
        }
        for (i, (&mass, cost)) in plan.iter().zip(&costs).enumerate() {
            let slack = cost - f[i / l] - g[i % l];
            assert!(mass >= 0.0 && slack >= -1e-14);
            assert!(mass == 0.0 || slack <= 1e-14, "mass {mass}, slack {slack}");
        }
        assert_close(dot(&a, &f), cost / 2.0);
        assert_close(dot(&b, &g), cost / 2.0);
    }

    #[test]
    fn symmetric([a, b, costs] in problem()) {
        let (k, l) = (a.len(), b.len());
        let transposed: Vec<f64> = (0..k * l).map(|i| costs[i % k * l + i / k]).collect();
        assert_close(solve(&b, &a, &transposed).cost, solve(&a, &b, &costs).cost);
    }

    /// With two points each, the plan is a function of `π_11`, at one end of its range.
    #[test]
    fn two_by_two(a in 0.0..1.0f64, b in 0.0..1.0f64, costs in prop::collection::vec(-2.0..2.0f64, 4)) {
        let least = 0f64.max(a + b - 1.0);
        let slope: f64 = costs[0] - costs[1] - costs[2] + costs[3];
        let corner = if slope > 0.0 { least } else { a.min(b) };
        let expected = costs[1] * a + costs[2] * b + costs[3] * (1.0 - a - b) + slope * corner;
        assert_close(solve(&[a, 1.0 - a], &[b, 1.0 - b], &costs).cost, expected);
    }

    /// On the line, quantiles are coupled.
    #[test]
    fn line([a, b, _] in problem(), steps in prop::collection::vec(0.0..1.0, 12)) {
        let (a, b) = (normalised(&a), normalised(&b));
        let points = |steps: &[f64]| -> Vec<f64> {
            steps.iter().scan(0.0, |x, step| { *x += step; Some(*x) }).collect()
        };
        let (x, y) = (points(&steps[..a.len()]), points(&steps[6..][..b.len()]));
        let costs: Vec<f64> =
            x.iter().flat_map(|x| y.iter().map(move |y| (x - y) * (x - y))).collect();
        let (mut i, mut j, mut expected) = (0, 0, 0.0);
        let (mut left, mut right) = (a[0], b[0]);
        loop {
            let mass = left.min(right);
            expected += mass * costs[i * b.len() + j];
            left -= mass;
            right -= mass;
            match (left <= right, i + 1 < a.len(), j + 1 < b.len()) {
                (true, true, _) => { i += 1; left += a[i]; }
                (_, _, true) => { j += 1; right += b[j]; }
                (_, true, _) => { i += 1; left += a[i]; }
                _ => break,
            }
        }
        assert_close(solve(&a, &b, &costs).cost, expected);
    }
}

#[test]
fn invalid() {
    for bad in [f64::NAN, f64::INFINITY, -0.5] {
        assert!(solve(&[bad, 1.0], &[0.5, 0.5], &[0.0; 4]).cost.is_nan());
    }
    let costs = [0.0, f64::INFINITY, 0.0, 0.0];
    assert!(solve(&[0.5, 0.5], &[0.5, 0.5], &costs).cost.is_nan());
    assert!(solve(&[0.0, 0.0], &[0.5, 0.5], &[0.0; 4]).cost.is_nan());
}

/// Numbers without a pattern that would make costs tie.
fn tensor<const D: usize>(shape: [usize; D], seed: f64, dtype: DType) -> Tensor<D> {
    let values: Vec<f64> = (0..shape.iter().product())
        .map(|i| (seed + 1.37 * i as f64).sin())
        .collect();
    Tensor::from_data(TensorData::new(values, shape), (&Device::flex(), dtype))
}

/// Distances of weighted points are the roots of the costs of all pairs, of few points and of more, in both
/// dtypes; coincident ones are 0 apart, and what is not finite is NaN for its own pairs.
#[test]
fn distances() {
    for [k, l, d] in [[2, 3, 1], [5, 5, 2], [11, 9, 3], [8, 16, 2]] {
        let [batch, n, m] = [2, 3, 4];
        let make = |count, each, seed| {
            let weights = softmax(tensor([batch, count, each], seed, DType::F64) * 3.0, 2);
            (
                weights,
                tensor([batch, count * each, d], seed + 0.5, DType::F64),
            )
        };
        let (p, q) = (make(n, k, 0.1), make(m, l, 0.2));
        for distance in Distance::ALL {
            let costs = distance.between(p.1.clone(), q.1.clone()).square();
            let costs = costs.reshape([batch, n, k, m, l]).swap_dims(2, 3);
            let [a, b, costs] = [to_vec(p.0.clone()), to_vec(q.0.clone()), to_vec(costs)];
            let found = transport_distances(p.clone(), q.clone(), distance);
            assert_eq!((found.dims(), found.dtype()), ([batch, n, m], DType::F64));
            let single = |(weights, points): &(Tensor<3>, Tensor<3>)| {
                (
                    weights.clone().cast(DType::F32),
                    points.clone().cast(DType::F32),
                )
            };
            let in_f32 = transport_distances(single(&p), single(&q), distance);
            assert_eq!(in_f32.dtype(), DType::F32);
            let found = to_vec(found).into_iter().zip(to_vec(in_f32));
            for (pair, ((found, in_f32), costs)) in found.zip(costs.chunks(k * l)).enumerate() {
                let (i, j) = (pair / m, pair / (n * m) * m + pair % m);
                let expected = solve(&a[i * k..][..k], &b[j * l..][..l], costs).cost.sqrt();
                assert_close(found, expected);
                assert!((in_f32 - expected).abs() < 1e-5, "{in_f32}, not {expected}");
            }
        }
        let own = to_vec(transport_distances(
            p.clone(),
            p.clone(),
            Distance::Euclidean,
        ));
        assert!((0..n).all(|i| own[i * n + i] == 0.0));
        let first = [0..1, 0..1, 0..1];
        let lost = p.1.clone().slice_fill(first, f64::NAN);
        let found = to_vec(transport_distances((p.0, lost), q, Distance::Euclidean));
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(at, x)| x.is_nan() == (at < m))
        );
    }
}
