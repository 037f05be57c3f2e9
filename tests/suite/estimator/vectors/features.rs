//! Features of a Gaussian kernel on targets, of predictions from narrow to wide, against the composition from
//! expectations: values and gradients.

use super::data::gaussian;
use crate::prelude::*;

/// Value and gradients with respect to locations and logarithms of scales.
fn run<P: Geometry<Targets = Tensor<2>>>(
    skce: Skce<TensorKernel<RealKernel>>,
    [locations, logarithms, targets]: [&[Vec<f64>]; 3],
    dtype: DType,
    predictions: impl Fn(Tensor<2>, Tensor<2>) -> P,
) -> [Vec<f64>; 3]
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let device = device().autodiff();
    let tracked = |rows| tensor_on(rows, &device, dtype).require_grad();
    let [m, s] = [locations, logarithms].map(tracked);
    let targets = tensor_on(targets, &device, dtype);
    let value = skce.value(&predictions(m.clone(), s.clone().exp()), &targets);
    let gradients = value.backward();
    let of = |x: Tensor<2>| vector(x.grad(&gradients).unwrap());
    [vec![scalar(value)], of(m), of(s)]
}

/// Values within a tolerance, and gradients within one in a unit.
fn close(
    found: &[Vec<f64>; 3],
    expected: &[Vec<f64>; 3],
    tolerance: f64,
    unit: impl Fn(&[f64]) -> f64,
    what: &str,
) {
    for (part, (expected, found)) in expected.iter().zip(found).enumerate() {
        let scale = if part == 0 { 1.0 } else { unit(expected) };
        for (e, f) in expected.iter().zip(found) {
            assert_near_in((what, part), *f, *e, tolerance * scale);
        }
    }
}

/// `n` predictions of `each` components, with logarithms of scales in `±spread`.
fn agree<P: Geometry<Targets = Tensor<2>>>(
    [n, each]: [usize; 2],
    spread: f64,
    predictions: impl Fn(Tensor<2>, Tensor<2>) -> P + Copy,
) where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let mut rng = rng(7);
    let locations = rows_of(single(&random_rows(n * each, 1, 2.0, &mut rng)));
    let logarithms = rows_of(single(&random_rows(n * each, 1, spread, &mut rng)));
    let targets = rows_of(single(&random_rows(n, 1, 3.0, &mut rng)));
    let data = [&locations[..], &logarithms, &targets];
    for form in [SkceForm::Unbiased, SkceForm::Biased, SkceForm::Block(9)] {
        let skce = Skce::new(gaussian(0.9, 0.7), form);
        let composed = skce.with_computation(Computation::Composed);
        let expected = run(composed, data, DType::F64, predictions);
        for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 2e-5)] {
            let found = run(skce, data, dtype, predictions);
            let what = format!("{form:?}, {dtype:?}");
            close(&found, &expected, tolerance, largest, &what);
        }
    }
}

#[test]
fn laplace_predictions() {
    for n in [30, 270] {
        agree([n, 1], 1.5, Laplace::new);
        agree([n, 1], 6.0, Laplace::new);
    }
}

/// Value and gradients of many Laplace predictions, by features, against the composition.
fn agree_on(data: [&[Vec<f64>]; 3], what: &str) {
    let skce = Skce::unbiased(gaussian(0.9, 0.7));
    let composed = skce.with_computation(Computation::Composed);
    let expected = run(composed, data, DType::F64, Laplace::new);
    for (dtype, tolerance) in [(DType::F64, 1e-11), (DType::F32, 2e-5)] {
        let [m, s, y] = data.map(|rows| tensor_on(rows, &device(), dtype));
        let set = std::slice::from_ref(&y);
        let features = RealKernel::gaussian(0.7).residual_features(&Laplace::new(m, s.exp()), set);
        assert!(features.is_some(), "{what}, {dtype:?}");
        let found = run(skce, data, dtype, Laplace::new);
        let mean = |x: &[f64]| 1.0 / x.len() as f64;
        let what = format!("{what}, {dtype:?}");
        close(&found, &expected, tolerance, mean, &what);
    }
}

/// Equal predictions, coincident targets, and predictions that are points or all the line.
#[test]
fn many_degenerate_laplace_predictions() {
    let n = 270; // more than a tile
    let all = |x: f64| vec![vec![x]; n];
    let rows = |scale: f64| rows_of(single(&random_rows(n, 1, scale, &mut rng(23))));
    let mixed = |scale: f64| table(n, 1, |i, _| if i % 2 == 0 { scale.ln() } else { 0.0 });
    for (what, data) in [
        ("equal", [all(0.5), all(0.25), all(0.75)]),
        ("equal predictions", [all(0.5), all(0.25), rows(2.0)]),
        ("equal targets", [rows(2.0), rows(1.0), all(0.25)]),
        ("scales of 1e-6", [rows(2.0), all(1e-6f64.ln()), rows(2.0)]),
        ("scales of 1e6", [rows(2.0), all(1e6f64.ln()), rows(2.0)]),
        ("scales of 1 and 1e-6", [rows(2.0), mixed(1e-6), rows(2.0)]),
        ("scales of 1 and 1e4", [rows(2.0), mixed(1e4), rows(2.0)]),
        ("scales of 1 and 1e6", [rows(2.0), mixed(1e6), rows(2.0)]),
    ] {
        let [locations, logarithms, targets] = &data;
        agree_on([locations, logarithms, targets], what);
    }
}

#[test]
fn gradients_of_many_laplace_predictions_are_differences() {
    let data = [2.0, 1.0, 2.5].map(|scale| random_rows(390, 1, scale, &mut rng(24)));
    let [locations, logarithms, targets] = &data;
    let all = [&locations[..], logarithms, targets];
    let [m, s, y] = all.map(tensor);
    let features = RealKernel::gaussian(0.7).residual_features(&Laplace::new(m, s.exp()), &[y]);
    assert!(features.is_some());
    for form in [SkceForm::Unbiased, SkceForm::Biased] {
        let skce = Skce::new(gaussian(0.9, 0.7), form);
        let [_, gradients @ ..] = run(skce, all, DType::F64, Laplace::new);
        for (k, at) in [(0, 0), (0, 17), (0, 389), (1, 0), (1, 17), (1, 389)] {
            let value = |steps: f64| {
                let mut data = [locations.clone(), logarithms.clone(), targets.clone()];
                data[k][at][0] += 1e-4 * steps;
                let data = data.each_ref().map(|rows| &rows[..]);
                run(skce, data, DType::F64, Laplace::new)[0][0]
            };
            let difference = (8.0 * (value(1.0) - value(-1.0)) - value(2.0) + value(-2.0)) / 12e-4;
            let slope = gradients[k][at];
            assert_near_in((&form, k, at), slope, difference, 1e-11);
        }
    }
}

/// Targets need not be on a device with gradients.
#[test]
fn targets_on_the_plain_device() {
    let skce = Skce::unbiased(gaussian(0.9, 0.7));
    for n in [40, 390] {
        let [m, s, y] = [2.0, 1.0, 2.5].map(|scale| random_rows(n, 1, scale, &mut rng(25)));
        let [expected, ..] = run(skce, [&m, &s, &y], DType::F64, Laplace::new);
        let tracked = |rows: &[Vec<f64>]| tensor(rows).autodiff().require_grad();
        let m = tracked(&m);
        let value = skce.value(&Laplace::new(m.clone(), tracked(&s).exp()), &tensor(&y));
        assert!((scalar(value.clone()) - expected[0]).abs() < 1e-14);
        assert!(m.grad(&value.backward()).is_some());
    }
}

#[test]
fn predictions_given_a_variable() {
    let given = |n: usize| tensor(&random_rows(n, 2, 1.0, &mut rng(3)));
    agree([30, 1], 6.0, |m, s| {
        let z = given(30).cast(m.dtype()).autodiff();
        Given::new(Normal::new(m, s), z)
    });
    agree([30, 1], 6.0, |m, s| {
        let z = given(30).cast(m.dtype()).autodiff();
        Given::new(Laplace::new(m, s), z)
    });
}

#[test]
fn mixtures() {
    let weights = |m: &Tensor<2>| {
        let options = (&m.device(), m.dtype());
        Tensor::full([m.dims()[0] / 3, 3], 1.0 / 3.0, options)
    };
    agree([20, 3], 6.0, |m, s| {
        Mixture::new(weights(&m), Normal::new(m, s))
    });
    agree([20, 3], 6.0, |m, s| {
        Mixture::new(weights(&m), Laplace::new(m, s))
    });
}

/// Numbers far from 0 lose no digits.
#[test]
fn far_from_zero() {
    // multiples of 2⁻¹⁰, to which 2,000 can be added in f32
    let mut rng = rng(5);
    let rows = |n, scale: f64, rng: &mut StdRng| {
        mapped(&random_rows(n, 1, scale, rng), |x| {
            (x * 1024.0).round() / 1024.0
        })
    };
    let locations = rows(40, 2.0, &mut rng);
    let logarithms = rows(40, 1.0, &mut rng);
    let targets = rows(20, 3.0, &mut rng);
    let skce = Skce::unbiased(gaussian(0.9, 0.7));
    let value = |shift: f64, computation, dtype| {
        let shifted = |rows: &[Vec<f64>]| mapped(rows, |x| x + shift);
        let data = [&shifted(&locations)[..], &logarithms, &shifted(&targets)];
        let skce = skce.with_computation(computation);
        let [value, ..] = run(skce, data, dtype, |m, s| {
            let options = (&m.device(), m.dtype());
            Mixture::new(Tensor::full([20, 2], 0.5, options), Normal::new(m, s))
        });
        value[0]
    };
    let expected = value(0.0, Computation::Composed, DType::F64);
    for shift in [0.0, 7.0, 2000.0] {
        let found = value(shift, Computation::Auto, DType::F32);
        assert_near_in(shift, found, expected, 5e-7);
    }
}

/// Products of features are those of residuals to rounding, of points near and far and of narrow and wide
/// distributions, in any unit.
#[test]
fn products_of_features_are_those_of_residuals() {
    let points = [-3.0, -2.9999, 0.0, 0.3, 4.0, 97.0].map(|x| [x, 0.0]);
    let near = [-3.0, -2.9999, 0.0, 0.3, 4.0, 29.0].map(|x| [x, 0.0]);
    let wide = [
        [-3.0, 0.0],
        [-2.0, 0.01],
        [0.5, 1.0],
        [1.0, 8.0],
        [0.0, 1e3],
    ];
    for (dtype, tolerance) in [(DType::F64, 4e-14), (DType::F32, 3e-6)] {
        for length_scale in [1e-6, 0.37, 1.0, 2e5] {
            for numbers in [&points[..], &near, &wide] {
                let column = |of: &dyn Fn(&[f64; 2]) -> f64| {
                    let rows: Vec<_> = numbers.iter().map(|x| [length_scale * of(x)]).collect();
                    tensor_on(&rows, &device(), dtype)
                };
                let predictions = Normal::new(column(&|x| x[0]), column(&|x| x[1]));
                let targets = column(&|x| 1.5 - x[0]);
                let kernel: &dyn TargetKernel<Normal> = &RealKernel::gaussian(length_scale);
                let set = std::slice::from_ref(&targets);
                let features = kernel.residual_features(&predictions, set);
                let features = features.unwrap().remove(0);
                assert!(features.dims()[1] < 160, "{:?}", features.dims());
                let products = features.clone().matmul(features.transpose());
                let expected = kernel.residual_gram((&predictions, &targets), 1);
                let error = products - expected.squeeze_dim(0);
                let error = scalar(error.abs().max());
                assert!(error < tolerance, "{dtype:?}, {length_scale}: {error}");
            }
        }
    }
}

/// There are no features of numbers that are too far from each other, or not finite, and few of numbers in two places.
#[test]
fn numbers_of_features() {
    let features = |numbers: &[f64], scale: f64, target: f64| {
        let predictions = Normal::new(column(numbers), column(vec![scale; numbers.len()]));
        let targets = column(vec![target; numbers.len()]);
        let features = RealKernel::gaussian(1.0).residual_features(&predictions, &[targets]);
        features.map(|features| features[0].dims()[1])
    };
    let far: Vec<f64> = (0..100).map(|k| 1e4 * f64::from(k)).collect();
    assert!(features(&far, 0.0, 0.0).is_none());
    assert!(features(&[0.0, 1.0], f64::INFINITY, 0.0).is_none());
    assert!(features(&[0.0, 1.0], 1.0, f64::NAN).is_none());
    assert!(features(&[0.0, 1e6], 0.0, 0.0).unwrap() < 60);
}
