//! Every closed form of the target kernels against numerical integration.

use super::data::Rows;
use crate::prelude::*;

fn normal_density(x: f64, mean: f64, scale: f64) -> f64 {
    let z = (x - mean) / scale;
    (-0.5 * z * z).exp() / (scale * (2.0 * std::f64::consts::PI).sqrt())
}

fn laplace_density(x: f64, location: f64, scale: f64) -> f64 {
    (-(x - location).abs() / scale).exp() / (2.0 * scale)
}

fn kernel(profile: RealProfile, length: f64, x: f64, y: f64) -> f64 {
    match profile {
        RealProfile::Gaussian => (-(x - y).powi(2) / (2.0 * length * length)).exp(),
        RealProfile::Laplacian => (-(x - y).abs() / length).exp(),
        other => panic!("no values to compare {other:?} with"),
    }
}

/// Nodes and weights of Simpson's rule over ±30, on panels between the given kinks.
fn simpson(kinks: &[f64]) -> Vec<(f64, f64)> {
    let mut ends = vec![-30.0, 30.0];
    ends.extend(kinks);
    ends.sort_by(f64::total_cmp);
    let panel = |ends: &[f64]| {
        let (a, b) = (ends[0], ends[1]);
        let panels = (((b - a) / 0.05) as usize).max(1) * 2;
        let step = (b - a) / panels as f64;
        let weight = move |i: usize| match i {
            i if i == 0 || i == panels => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=panels).map(move |i| (a + i as f64 * step, weight(i) * step / 3.0))
    };
    ends.windows(2).flat_map(panel).collect()
}

fn integrate(kinks: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let nodes = simpson(kinks).into_iter();
    nodes.map(|(x, weight)| weight * f(x)).sum()
}

/// Two predictions, nearly equal scales among them, and two targets.
fn rows() -> Rows {
    let column = |values: [f64; 3]| values.map(|value| vec![value]).to_vec();
    Rows {
        location: column([0.3, -0.4, 0.9]),
        scale: column([0.7, 0.7 + 1e-7, 1.1]),
        target: column([0.3, 1.7, -0.6]),
    }
}

fn check<P: Geometry<Targets = Tensor<2>>>(predictions: P, density: fn(f64, f64, f64) -> f64)
where
    RealKernel: TargetKernel<P>,
{
    let rows = rows();
    let targets = tensor(&rows.target);
    for target in [
        RealKernel::gaussian(0.7),
        RealKernel::laplacian(0.7),
        RealKernel::laplacian(1.9),
    ] {
        let length = target.length_scale;
        let single = vector(target.expectation(&predictions, &targets, 1));
        let double = vector(target.double_expectation(&predictions, &predictions, 1));
        let of = |i: usize, x: f64| density(x, rows.location[i][0], rows.scale[i][0]);
        for i in 0..3 {
            let (location, at) = (rows.location[i][0], |j: usize| rows.target[j][0]);
            for j in 0..3 {
                let k = |x: f64, y: f64| kernel(target.profile, length, x, y);
                let expected = integrate(&[location, at(j)], |x| of(i, x) * k(x, at(j)));
                assert_near(single[3 * i + j], expected, 1e-7);
            }
            // E_Z E_Z' k(Z, Z') = ∫ f_i(x) E_{P_j} k(x, Z') dx
            let nodes = simpson(&rows.location.concat());
            let x: Vec<Vec<f64>> = nodes.iter().map(|(x, _)| vec![*x]).collect();
            let inner = vector(target.expectation(&predictions, &tensor(&x), 1)); // [3, nodes]
            for j in 0..3 {
                let inner = &inner[j * nodes.len()..];
                let terms = nodes.iter().zip(inner);
                let terms = terms.map(|((x, weight), inner)| weight * of(i, *x) * inner);
                assert_near(double[3 * i + j], terms.sum(), 2e-7);
            }
        }
    }
}

#[test]
fn normal() {
    check::<Normal>(rows().normal(), normal_density);
}

#[test]
fn laplace() {
    check::<Laplace>(rows().laplace(), laplace_density);
}

/// Products over coordinates.
#[test]
fn dimensions_multiply() {
    let wide = Rows::random(4, 3, &mut rng(31));
    let targets = tensor(&wide.target);
    for target in [RealKernel::gaussian(0.8), RealKernel::laplacian(1.1)] {
        let mut product = vec![1.0; 16];
        let mut double = vec![1.0; 16];
        for c in 0..3 {
            let column = |rows: &[Vec<f64>]| column(rows.iter().map(|row| row[c]));
            let one = Laplace::new(column(&wide.location), column(&wide.scale));
            let values = vector(target.expectation(&one, &column(&wide.target), 1));
            product.iter_mut().zip(values).for_each(|(a, b)| *a *= b);
            let values = vector(target.double_expectation(&one, &one, 1));
            double.iter_mut().zip(values).for_each(|(a, b)| *a *= b);
        }
        let all = wide.laplace();
        let got = vector(target.expectation(&all, &targets, 1));
        all_near(got, product, 1e-14);
        let got = vector(target.double_expectation(&all, &all, 1));
        all_near(got, double, 1e-14);
    }
}

/// Expectations of many draws approach the closed form of what they are drawn from, and a mixture is
/// the sum over its components.
#[test]
fn samples_and_mixtures() {
    let rows = rows();
    let (normal, targets) = (rows.normal(), tensor(&rows.target));
    let (each, mut rng) = (4000, rng(32));
    let draws: Vec<Vec<f64>> = (0..each).map(|_| vector(normal.sample(&mut rng))).collect();
    let by_row = table(3, each, |i, k| draws[k][i]);
    let samples = Samples::new(tensor(&by_row).reshape([3, each, 1]));
    let mixture = Mixture::new(tensor(&[[0.2, 0.3, 0.5]]), normal.clone());
    for target in [RealKernel::gaussian(0.7), RealKernel::laplacian(0.7)] {
        let exact = vector(target.expectation(&normal, &targets, 1));
        let monte_carlo = vector(target.expectation(&samples, &targets, 1));
        // a standard deviation of at most ½ each, 4 standard errors
        all_near(&exact, &monte_carlo, 4.0 * 0.5 / (each as f64).sqrt());
        let weights = [0.2, 0.3, 0.5];
        let got = vector(target.expectation(&mixture, &targets, 1));
        for j in 0..3 {
            let expected: f64 = (0..3).map(|i| weights[i] * exact[3 * i + j]).sum();
            assert_near(got[j], expected, 1e-14);
        }
        let pairs = vector(target.double_expectation(&normal, &normal, 1));
        let term = |at: usize| weights[at / 3] * weights[at % 3] * pairs[at];
        let expected: f64 = (0..9).map(term).sum();
        let got = vector(target.double_expectation(&mixture, &mixture, 1));
        assert_near(got[0], expected, 1e-14);
    }
}
