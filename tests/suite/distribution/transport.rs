//! The distances of mixtures, which are optimal transport between weighted points, and their gradients.

use burn::tensor::activation::softmax;

use crate::prelude::*;

/// Numbers without a pattern that would make costs tie.
fn numbers<const D: usize>(shape: [usize; D], seed: f64) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|i| (seed + 1.37 * i as f64).sin());
    leaf(values.collect(), shape)
}

fn leaf<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    let options = (&Device::flex().autodiff(), DType::F64);
    Tensor::from_data(TensorData::new(values, shape), options).require_grad()
}

/// Mixtures with these points as means and standard deviations.
fn mixtures(weights: &Tensor<2>, points: &Tensor<2>) -> Mixture<Normal> {
    let [n, width] = points.dims();
    let half = |from: usize| points.clone().slice([0..n, from..from + width / 2]);
    Mixture::new(weights.clone(), Normal::new(half(0), half(width / 2)))
}

/// With respect to weights and points of both sides, and of the distances within one set, against central
/// differences.
#[test]
fn gradients_of_distances() {
    let sizes = [[2, 3, 2], [4, 4, 4], [1, 3, 2], [3, 1, 2]];
    for ([k, l, width], distance) in sizes
        .into_iter()
        .flat_map(|sizes| Distance::ALL.map(|distance| (sizes, distance)))
    {
        let [batches, n, m] = [2, 3, 4];
        let p = numbers([batches * n, k], 0.1);
        let x = numbers([batches * n * k, width], 0.2);
        let q = numbers([batches * m, l], 0.3);
        let y = numbers([batches * m * l, width], 0.4);
        let across = |p: &Tensor<2>, x: &Tensor<2>, q: &Tensor<2>, y: &Tensor<2>| {
            let side = |w: &Tensor<2>, x: &Tensor<2>| mixtures(&softmax(w.clone() * 2.0, 1), x);
            let distances = side(p, x).distances(&side(q, y), distance, batches);
            let upstream = numbers(distances.dims(), 0.5).detach();
            (distances * upstream).sum()
        };
        let gradients = across(&p, &x, &q, &y).backward();
        let of = |tensor: &Tensor<2>| tensor.grad(&gradients).unwrap();
        differences(&p, &of(&p), |p| across(&p, &x, &q, &y));
        differences(&x, &of(&x), |x| across(&p, &x, &q, &y));
        differences(&q, &of(&q), |q| across(&p, &x, &q, &y));
        differences(&y, &of(&y), |y| across(&p, &x, &q, &y));

        if k == 1 {
            continue; // the distances of components, without weights
        }
        let within = |p: &Tensor<2>, x: &Tensor<2>| across(p, x, p, x);
        let gradients = within(&p, &x).backward();
        let of = |tensor: &Tensor<2>| tensor.grad(&gradients).unwrap();
        differences(&p, &of(&p), |p| within(&p, &x));
        differences(&x, &of(&x), |x| within(&p, &x));
    }
}

/// Where distributions coincide, and with a weight of 0, gradients are finite; what is not finite makes the
/// gradients of its own pairs alone NaN.
#[test]
fn gradients_of_degenerate_distances() {
    // the first two coincide, in another order of points
    let weights = leaf(vec![0.5, 0.5, 0.5, 0.5, 1.0, 0.0], [3, 2]);
    for (first, is_valid) in [(-1.0, true), (f64::NAN, false)] {
        let points = leaf(vec![first, 2.0, 2.0, -1.0, 1.0, 7.0], [6, 1]);
        let mixtures = || {
            let scales = points.zeros_like() + 0.5;
            Mixture::new(weights.clone(), Normal::new(points.clone(), scales))
        };
        let distances = mixtures().distances(&mixtures(), Distance::Euclidean, 1);
        assert_eq!(vector(distances.clone())[1] == 0.0, is_valid);
        let gradients = distances.slice([0..1, 1..3, 1..3]).sum().backward();
        for tensor in [&weights, &points] {
            let gradient = vector(tensor.grad(&gradients).unwrap());
            let of_first = gradient.len() / 3;
            assert!(gradient[of_first..].iter().all(|x| x.is_finite()));
        }
        // of the second and the third: √(½·1² + ½·2²), each way
        let [second, third] = [1.0, -2.0].map(|x: f64| x / 2.0 / 2.5f64.sqrt() * 2.0);
        let gradient = vector(points.grad(&gradients).unwrap());
        all_near(&gradient[2..5], [second, third, -second - third], 1e-12);
    }
}

/// Central differences of fourth order: where two distributions are near each other, those of second order
/// are off by 1e-9. Of each fifth number, and of all in full simulations.
fn differences(x: &Tensor<2>, gradient: &Tensor<2>, f: impl Fn(Tensor<2>) -> Tensor<1>) {
    let step = 2e-5;
    let values = vector(x.clone());
    let step_by = if is_full() { 1 } else { 5 };
    for (i, gradient) in vector(gradient.clone())
        .into_iter()
        .enumerate()
        .step_by(step_by)
    {
        let moved = |step: f64| {
            let mut values = values.clone();
            values[i] += step;
            scalar(f(leaf(values, x.dims()).detach()))
        };
        let difference = |step: f64| (moved(step) - moved(-step)) / (2.0 * step);
        let expected = (4.0 * difference(step) - difference(2.0 * step)) / 3.0;
        assert_near(gradient, expected, 1e-9 * expected.abs().max(1.0));
    }
}

/// A mixture with these means and standard deviations.
fn mixture(weights: &[f64], points: &[f64]) -> Mixture<Normal> {
    let k = weights.len();
    mixtures(
        &leaf(weights.to_vec(), [1, k]).detach(),
        &leaf(points.to_vec(), [k, 2]).detach(),
    )
}

/// The least cost of transport, by the squares of the distances of points.
fn cost([a, x]: [&[f64]; 2], [b, y]: [&[f64]; 2]) -> f64 {
    let (p, q) = (mixture(a, x), mixture(b, y));
    let [there, back] = [(&p, &q), (&q, &p)]
        .map(|(p, q)| scalar(p.distances(q, Distance::Euclidean, 1).reshape([1])));
    assert!(there.is_nan() || (there - back).abs() <= 1e-12 * there.max(1.0));
    there * there
}

fn assert_close(found: f64, expected: f64) {
    assert_near(found, expected, 1e-12 * expected.max(1.0));
}

/// Weights and points of both sides, and the least cost times both sums of weights.
type Program = ([&'static [i32]; 2], [&'static [i32]; 2], i32);

/// From scipy.optimize.linprog 1.17 (HiGHS).
#[rustfmt::skip]
const PROGRAMS: [Program; 6] = [
    ([&[16, 2], &[-6, 6, 7, 2]], [&[4, 5], &[-9, -8, -3, -1]], 20898),
    ([&[12, 10], &[-7, -1, -2, 7]], [&[6, 4, 14, 14, 1], &[0, -2, -1, 3, 2, -6, 5, 5, 9, 5]], 60798),
    ([&[5, 6, 12], &[-1, 2, -2, -2, 2, 2]], [&[13, 14, 17], &[-1, -2, -1, -2, 2, 1]], 7600),
    ([&[11, 4, 9, 3, 15], &[-2, -5, -8, 2, 3, 0, 8, 8, -6, 2]],
     [&[10, 1, 5, 14, 10], &[2, -5, -4, 0, 5, -4, 4, 3, -5, -2]], 56994),
    ([&[0, 16, 13, 0], &[-3, 7, -2, -8, 2, 7, 3, -2]],
     [&[13, 5, 16, 18, 9, 19, 15], &[8, 0, -2, -7, -5, 4, 6, -4, 2, 7, -7, -4, 0, 1]], 154443),
    ([&[7, 7, 2, 12, 18, 3, 15, 3, 0, 14],
      &[2, -6, 7, 9, 9, 2, 9, 2, 0, 9, 2, 5, -3, 6, 9, -8, 1, -2, -9, -8]],
     [&[4, 15, 7, 11, 18, 18, 10, 4, 5, 17],
      &[-4, -6, 4, -5, 2, 7, 0, -7, -8, -4, -2, 0, -4, 7, 1, 9, 8, 4, -9, -5]], 462202),
];

#[test]
fn linear_programs() {
    for (p, q, expected) in PROGRAMS {
        let [[a, x], [b, y]] =
            [p, q].map(|side| side.map(|x| x.iter().copied().map(f64::from).collect::<Vec<f64>>()));
        let totals = a.iter().sum::<f64>() * b.iter().sum::<f64>();
        assert_close(cost([&a, &x], [&b, &y]), f64::from(expected) / totals);
    }
}

/// Weights that are numbers of five units, some of them 0: an optimal plan is a permutation of units (Birkhoff).
/// Points are often tied.
#[test]
fn permutations_of_units() {
    fn least(costs: &dyn Fn(usize, usize) -> f64, row: usize, free: &mut Vec<usize>) -> f64 {
        let mut best = if row == 5 { 0.0 } else { f64::INFINITY };
        for i in 0..free.len() {
            let column = free.remove(i);
            best = best.min(costs(row, column) + least(costs, row + 1, free));
            free.insert(i, column);
        }
        best
    }
    let mut rng = rng(5);
    for case in 0..200 {
        let mut side = || {
            let count = rng.random_range(2..6);
            let coordinate = |_| match (case % 2, rng.random_range(-2.0..2.0f64)) {
                (0, x) => x.round(),
                (_, x) => x,
            };
            let points: Vec<f64> = (0..2 * count).map(coordinate).collect();
            let units: Vec<usize> = (0..5).map(|_| rng.random_range(0..count)).collect();
            let of_point = |at| units.iter().filter(|unit| **unit == at).count() as f64;
            let weights: Vec<f64> = (0..count).map(of_point).collect();
            (weights, points, units)
        };
        let ((a, x, from), (b, y, to)) = (side(), side());
        let costs = |i: usize, j: usize| -> f64 {
            let differences = (0..2).map(|c| x[2 * from[i] + c] - y[2 * to[j] + c]);
            differences.map(|difference| difference * difference).sum()
        };
        let expected = least(&costs, 0, &mut (0..5).collect()) / 5.0;
        assert_close(cost([&a, &x], [&b, &y]), expected);
    }
}

/// On the line, quantiles are coupled.
#[test]
fn points_of_a_line() {
    let mut rng = rng(6);
    for _ in 0..100 {
        let mut side = || -> Vec<(f64, f64)> {
            let points = (0..rng.random_range(2..7)).map(|_| (rng.random(), rng.random()));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|(x, _), (y, _)| x.total_cmp(y));
            let total: f64 = points.iter().map(|(_, weight)| weight).sum();
            points.into_iter().map(|(x, w)| (x, w / total)).collect()
        };
        let (p, q) = (side(), side());
        let quantile = |side: &[(f64, f64)], level: f64| {
            let mut sum = 0.0;
            let point = side.iter().find(|(_, weight)| {
                sum += weight;
                sum >= level
            });
            point.unwrap_or(side.last().unwrap()).0
        };
        // between two levels at which a quantile steps neither does
        let steps = |side: &[(f64, f64)]| -> Vec<f64> {
            let sums = side.iter().scan(0.0, |sum, (_, weight)| {
                *sum += weight;
                Some(*sum)
            });
            sums.collect()
        };
        let mut levels = [vec![0.0], steps(&p), steps(&q)].concat();
        levels.sort_by(f64::total_cmp);
        let term = |ends: &[f64]| {
            let level = 0.5 * (ends[0] + ends[1]);
            (ends[1] - ends[0]) * (quantile(&p, level) - quantile(&q, level)).powi(2)
        };
        let expected: f64 = levels.windows(2).map(term).sum();
        let [(a, x), (b, y)] = [&p, &q].map(|side| -> (Vec<f64>, Vec<f64>) {
            let points = side.iter().flat_map(|(x, _)| [*x, 0.5]);
            let weights = side.iter().map(|(_, weight)| *weight);
            (weights.collect(), points.collect())
        });
        assert_close(cost([&a, &x], [&b, &y]), expected);
    }
}

/// Weights that are none, and points that are not finite.
#[test]
fn invalid_distributions_have_no_distance() {
    let other: [&[f64]; 2] = [&[0.5, 0.5], &[0.0, 1.0, 2.0, 1.0]];
    let nan = f64::NAN;
    for weights in [[nan, 1.0], [f64::INFINITY, 1.0], [-0.5, 1.0], [0.0, 0.0]] {
        assert!(cost([&weights, &[0.0; 4]], other).is_nan(), "{weights:?}");
    }
    assert!(cost([&[0.5, 0.5], &[0.0, f64::INFINITY, 0.0, 0.0]], other).is_nan());
}

/// The distances of a batch are those of its pairs, in both dtypes; within one set they are 0 on the diagonal, and
/// what is not finite is NaN for its own pairs.
#[test]
fn distances_of_batches() {
    let [batches, n, m] = [2, 3, 4];
    for [k, l, width] in [[2, 3, 2], [5, 5, 4], [11, 9, 2], [8, 16, 4]] {
        let set = |count: usize, each: usize, seed| {
            let weights = softmax(numbers([batches * count, each], seed) * 3.0, 1);
            let points = numbers([batches * count * each, width], seed + 0.5);
            [weights.detach(), points.detach()]
        };
        let ([a, x], [b, y]) = (set(n, k, 0.1), set(m, l, 0.2));
        let side = |w: &Tensor<2>, x: &Tensor<2>, dtype| {
            mixtures(&w.clone().cast(dtype), &x.clone().cast(dtype))
        };
        for distance in Distance::ALL {
            let [found, in_f32] = [DType::F64, DType::F32].map(|dtype| {
                let distances =
                    side(&a, &x, dtype).distances(&side(&b, &y, dtype), distance, batches);
                assert_eq!(distances.dims(), [batches, n, m]);
                assert_eq!(distances.dtype(), dtype);
                vector(distances)
            });
            let (p, q) = (side(&a, &x, DType::F64), side(&b, &y, DType::F64));
            for (at, (found, in_f32)) in found.into_iter().zip(in_f32).enumerate() {
                let (i, j) = (at / m, at / (n * m) * m + at % m);
                let (p, q) = (p.slice_rows(i..i + 1), q.slice_rows(j..j + 1));
                let single = p.distances(&q, distance, 1);
                let expected = scalar(single.reshape([1]));
                assert_close(found, expected);
                assert!((in_f32 - expected).abs() < 1e-5, "{in_f32}, not {expected}");
            }
        }
        let p = side(&a, &x, DType::F64);
        let own = vector(p.distances(&p, Distance::Euclidean, batches));
        assert!((0..n).all(|i| own[i * n + i] == 0.0));
        let lost = side(&a, &x.slice_fill([0..1, 0..1], f64::NAN), DType::F64);
        let found = lost.distances(&side(&b, &y, DType::F64), Distance::Euclidean, batches);
        let is_lost = |(at, x): (usize, f64)| x.is_nan() == (at < m);
        assert!(vector(found).into_iter().enumerate().all(is_lost));
    }
}
