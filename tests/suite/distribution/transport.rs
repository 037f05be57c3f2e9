//! Gradients of the distances of mixtures, which are optimal transport between weighted points.

use burn::tensor::activation::softmax;

use crate::data::*;

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
        for (found, expected) in gradient[2..].iter().zip([second, third, -second - third]) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }
}

/// Central differences of fourth order: where two distributions are near each other, those of second order
/// are off by 1e-9.
fn differences(x: &Tensor<2>, gradient: &Tensor<2>, f: impl Fn(Tensor<2>) -> Tensor<1>) {
    let step = 2e-5;
    let values = vector(x.clone());
    for (i, gradient) in vector(gradient.clone()).into_iter().enumerate() {
        let moved = |step: f64| {
            let mut values = values.clone();
            values[i] += step;
            scalar(f(leaf(values, x.dims()).detach()))
        };
        let difference = |step: f64| (moved(step) - moved(-step)) / (2.0 * step);
        let expected = (4.0 * difference(step) - difference(2.0 * step)) / 3.0;
        assert!(
            (gradient - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "{gradient}, not {expected}"
        );
    }
}
