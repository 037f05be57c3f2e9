//! Each expectation of the fused pass, with its derivatives, against 80 digits.

use std::marker::PhantomData;

use burn::tensor::{DType, Device, Tensor};
use pulp::{Arch, Scalar, Simd, WithSimd};

use super::{
    Expectations, OnTargets, expectations_at,
    laplace_gaussian::LaplaceGaussian,
    laplace_laplacian::LaplaceLaplacian,
    normal_gaussian::NormalGaussian,
    normal_laplacian::NormalLaplacian,
    term::{Expectation, Own},
};
use crate::ops::simd::wide::{Select, Wide};

const LENGTH: f64 = 0.75;

/// Value and derivatives of the expectation under one prediction or two, at a difference of locations.
#[derive(Clone, Copy)]
struct Evaluate<'a, T, E> {
    expectation: E,
    delta: f64,
    scales: &'a [f64],
    real: PhantomData<T>,
}

impl<T: Select, E: Expectation> WithSimd for Evaluate<'_, T, E> {
    type Output = Vec<f64>;

    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Evaluate {
            expectation,
            delta,
            scales,
            ..
        } = self;
        let wide = |x: f64| Wide::<S, T>::splat(simd, T::new(x));
        let own = |scale: f64| {
            let rounded = T::new(scale).to_f64();
            Own {
                location: wide(0.0),
                scale: wide(scale),
                target: wide(0.0),
                prepared: expectation.prepare::<T>(rounded).map(wide),
            }
        };
        let delta = wide(delta);
        let (exponent, numbers) = match *scales {
            [scale] => {
                let term = expectation.single(own(scale), delta);
                let [to_scale] = term.to_scales;
                (term.exponent, vec![term.factor, term.to_location, to_scale])
            }
            [scale, other] => {
                let term = expectation.double(own(scale), own(other), delta);
                let [to_scale, to_other] = term.to_scales;
                let numbers = vec![term.factor, term.to_location, to_scale, to_other];
                (term.exponent, numbers)
            }
            _ => unreachable!("one prediction or two"),
        };
        let peak = exponent.exp2();
        let lane = |x: Wide<S, T>| x.sum().to_f64() / T::width::<S>() as f64;
        numbers.into_iter().map(|x| lane(x * peak)).collect()
    }
}

/// As the composition is checked; but derivatives with respect to a scale are accurate relative to the value
/// over the larger of scale and length scale, up to what a polynomial loses.
fn check<T: Select>(function: &str, expectation: impl Expectation, epsilon: f64) {
    let mut rows = 0;
    for line in include_str!("../../kernel/expectation/reference.tsv").lines() {
        let Some(row) = line
            .strip_prefix(function)
            .and_then(|x| x.strip_prefix('\t'))
        else {
            continue;
        };
        let mut row: Vec<f64> = row.split('\t').map(|x| x.parse().unwrap()).collect();
        let arguments = row.len() / 2;
        if function.contains("normal") {
            let variance = row[1]; // the derivative with respect to the standard deviation
            row[1] = variance.sqrt();
            row[4] *= 2.0 * row[1];
        }
        let value = row[arguments];
        if value < T::MIN_POSITIVE * 1e9 {
            continue; // derivatives underflow
        }
        rows += 1;
        let evaluate = Evaluate {
            expectation,
            delta: row[0],
            scales: &row[1..arguments],
            real: PhantomData::<T>,
        };
        let widest = Arch::new().dispatch(evaluate);
        let one_lane = evaluate.with_simd(Scalar);
        let tolerance = epsilon * (24.0 + 4.0 * value.ln().abs());
        for (at, found) in widest.iter().chain(&one_lane).enumerate() {
            let k = at % widest.len();
            let expected = row[arguments + k];
            let unit = match k {
                0 => 0.0,
                1 => 2.0 * value / LENGTH,
                _ => 4.0 * value / LENGTH.max(row[k - 1]),
            };
            assert!(
                (found - expected).abs() <= tolerance * expected.abs().max(unit),
                "{function} at {:?}, derivative {k}: {found}, not {expected}",
                &row[..arguments],
            );
        }
    }
    assert!(rows > 10);
}

fn check_both(functions: &[&str], expectation: impl Expectation) {
    for function in functions {
        check::<f64>(function, expectation, f64::EPSILON);
        check::<f32>(function, expectation, f32::EPSILON.into());
    }
}

#[test]
fn gaussian_kernel_normal() {
    check_both(&["gaussian_normal"], NormalGaussian { length: LENGTH });
}

#[test]
fn laplacian_kernel_normal() {
    check_both(&["laplacian_normal"], NormalLaplacian { length: LENGTH });
}

#[test]
fn gaussian_kernel_laplace() {
    let functions = ["gaussian_laplace", "gaussian_laplace_pair"];
    check_both(&functions, LaplaceGaussian { length: LENGTH });
}

#[test]
fn laplacian_kernel_laplace() {
    let functions = ["laplacian_laplace", "laplacian_laplace_pair"];
    check_both(&functions, LaplaceLaplacian { length: LENGTH });
}

/// Gradients of expectations at points are differences of fourth order, for scales far apart.
#[test]
fn expectations_at_points_are_differentiable() {
    let device = Device::flex().autodiff();
    let column = |x: &[f64]| Tensor::<1>::from_data(x, (&device, DType::F64)).unsqueeze_dim::<2>(1);
    let locations = [-2.0, -0.3, -0.3, 0.4, 1.7, 0.4];
    let scales = [1e-3, 0.2, 0.2, 0.9, 5.0, 1e3];
    let points = [-2.0, -2.3, 0.0, 0.4, 0.4, 1.1, 9.0, 800.0];
    let weights: Vec<f64> = (0..48).map(|k| (0.7 * f64::from(k)).cos()).collect();
    let weights = Tensor::<1>::from_data(&weights[..], (&device, DType::F64)).reshape([6, 8]);
    for expectations in [
        Expectations::NormalGaussian,
        Expectations::NormalLaplacian,
        Expectations::LaplaceGaussian,
        Expectations::LaplaceLaplacian,
    ] {
        let on_targets = OnTargets {
            expectations,
            length_scale: LENGTH,
        };
        let value = |m: Tensor<2>, s: Tensor<2>| {
            let found = expectations_at(m, s, column(&points), on_targets);
            (found * weights.clone()).sum()
        };
        let [m, s] = [&locations, &scales].map(|x| column(x).require_grad());
        let gradients = value(m.clone(), s.clone()).backward();
        for (k, parameter) in [m, s].into_iter().enumerate() {
            let slopes = parameter.grad(&gradients).unwrap().into_data();
            for (at, slope) in slopes.iter::<f64>().enumerate() {
                let step = [2e-6, 2e-4 * scales[at].min(1.0)][k];
                let moved = |steps: f64| {
                    let mut all = [locations, scales];
                    all[k][at] += steps * step;
                    let [m, s] = all.each_ref().map(|x| column(x));
                    value(m, s).into_scalar::<f64>()
                };
                let difference =
                    (8.0 * (moved(1.0) - moved(-1.0)) - moved(2.0) + moved(-2.0)) / (12.0 * step);
                assert!(
                    (slope - difference).abs() < 1e-8,
                    "{on_targets:?}, {k}, {at}: {slope}, {difference}"
                );
            }
        }
    }
}
