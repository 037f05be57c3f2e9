//! Expectations of kernels on targets against numbers of many digits.

use crate::prelude::*;

const LENGTH: f64 = 0.75;

/// Arguments, value and derivatives of a function at one point, see `reference.tsv`.
type Row = Vec<f64>;

fn reference(function: &str) -> Vec<Row> {
    let text = include_str!("../../../src/kernel/expectation/reference.tsv");
    let rows: Vec<Row> = text
        .lines()
        .filter_map(|line| line.strip_prefix(function)?.strip_prefix('\t'))
        .map(|row| row.split('\t').map(|x| x.parse().unwrap()).collect())
        .collect();
    assert!(!rows.is_empty());
    rows
}

/// The value and derivatives of a function of `N` columns at each row.
fn evaluate<const N: usize>(
    f: impl Fn([Tensor<2>; N]) -> Tensor<3>,
    rows: &[Row],
    dtype: DType,
) -> Vec<Row> {
    let (device, n) = (Device::flex().autodiff(), rows.len());
    let arguments: [Tensor<2>; N] = std::array::from_fn(|i| {
        let column: Vec<_> = rows.iter().map(|row| [row[i]]).collect();
        tensor_on(&column, &device, dtype).require_grad()
    });
    let value = f(arguments.clone());
    assert_eq!(value.dtype(), dtype);
    let untracked = f(arguments.clone().map(Tensor::detach));
    assert_eq!(vector(untracked), vector(value.clone()));
    let gradients = value.clone().sum().backward();
    let mut columns = vec![vector(value)];
    columns.extend(arguments.map(|x| vector(x.grad(&gradients).unwrap())));
    table(n, columns.len(), |i, k| columns[k][i])
}

/// Values agree relative to themselves. So do derivatives, or else to the value over the length scale
/// for a location, over the parameter for a parameter. Rounding of an exponent grows with it.
fn check<const N: usize>(function: &str, rows: Vec<Row>, f: impl Fn([Tensor<2>; N]) -> Tensor<3>) {
    let unit = |row: &Row, k: usize| match k {
        1 => LENGTH.recip(),
        _ if row[k - 1] > 0.0 => row[k - 1].recip(),
        _ => 0.0,
    };
    check_within(function, &rows, ([16.0, 2.0], unit), f);
}

/// - tolerance: of values near 1, and what is added for each exponent, in units of rounding; and what derivatives
///   agree relative to, over the value
fn check_within<const N: usize>(
    function: &str,
    rows: &[Row],
    ([near_one, by_exponent], unit): ([f64; 2], impl Fn(&Row, usize) -> f64),
    f: impl Fn([Tensor<2>; N]) -> Tensor<3>,
) {
    for dtype in [DType::F64, DType::F32] {
        let info = dtype.finfo().unwrap();
        for (row, found) in rows.iter().zip(evaluate(&f, rows, dtype)) {
            let value = row[N];
            if value < info.min_positive * 1e9 {
                continue; // derivatives underflow
            }
            let tolerance = info.epsilon * (near_one + by_exponent * value.ln().abs());
            for (k, (found, expected)) in found.iter().zip(&row[N..]).enumerate() {
                let unit = if k == 0 { 0.0 } else { value * unit(row, k) };
                let tolerance = tolerance * expected.abs().max(unit);
                let what = (function, dtype, &row[..N], k);
                assert_near_in(what, *found, *expected, tolerance);
            }
        }
    }
}

/// The expectation under one prediction at the target 0, each in a batch of its own.
fn of_one<F>(
    kernel: RealKernel,
    [location, scale]: [Tensor<2>; 2],
    new: fn(Tensor<2>, Tensor<2>) -> LocationScale<F>,
) -> Tensor<3>
where
    LocationScale<F>: burn_calibration::distribution::Geometry<Targets = Tensor<2>>,
    RealKernel: TargetKernel<LocationScale<F>>,
{
    let zeros = location.zeros_like().detach();
    let n = zeros.dims()[0];
    kernel.expectation(&new(location, scale), &zeros, n)
}

fn kernels() -> [(&'static str, RealKernel); 2] {
    [
        ("gaussian", RealKernel::gaussian(LENGTH)),
        ("laplacian", RealKernel::laplacian(LENGTH)),
    ]
}

/// The reference has the variance `v` in the place of the deviation `σ`, and `∂/∂σ = 2σ ∂/∂v`.
#[test]
fn of_normal_predictions() {
    for (name, kernel) in kernels() {
        let name = format!("{name}_normal");
        let mut rows = reference(&name);
        for row in &mut rows {
            row[1] = row[1].sqrt();
            row[4] *= 2.0 * row[1];
        }
        check(&name, rows.clone(), |x| of_one(kernel, x, Normal::new));
        // of two predictions, one of which is a point
        check(&name, rows, |[location, scale]| {
            let zeros = location.zeros_like().detach();
            let n = zeros.dims()[0];
            let point = Normal::new(zeros.clone(), zeros);
            kernel.double_expectation(&Normal::new(location, scale), &point, n)
        });
    }
}

#[test]
fn of_laplace_predictions() {
    for (name, kernel) in kernels() {
        let name = format!("{name}_laplace");
        check(&name, reference(&name), |x| of_one(kernel, x, Laplace::new));
    }
}

/// On the line in vectors: derivatives with respect to a scale are accurate relative to the value over the larger of
/// scale and length scale, up to what a polynomial loses.
#[test]
fn of_laplace_predictions_on_the_line() {
    let rows = reference("gaussian_laplace");
    let unit = |row: &Row, k: usize| match k {
        1 => 2.0 / LENGTH,
        _ => 4.0 / LENGTH.max(row[1]),
    };
    let kernel = RealKernel::gaussian(LENGTH);
    let f = |[location, scale]: [Tensor<2>; 2]| -> Tensor<3> {
        let zero = location.clone().detach().slice([0..1, 0..1]) * 0.0;
        Laplace::new(location, scale).mean_kernel(&kernel, &zero, 1) // [1, n, 1]
    };
    on_instruction_sets(|| check_within("gaussian_laplace", &rows, ([24.0, 4.0], unit), f));
}

#[test]
fn of_two_laplace_predictions() {
    for (name, kernel) in kernels() {
        let name = format!("{name}_laplace_pair");
        check(&name, reference(&name), |[location, scale, other]| {
            let zeros = location.zeros_like().detach();
            let n = zeros.dims()[0];
            let (p, q) = (Laplace::new(location, scale), Laplace::new(zeros, other));
            kernel.double_expectation(&p, &q, n)
        });
    }
}

/// Without noise the expectation is the kernel, and gradients are finite.
#[test]
fn of_point_masses() {
    let rows: Vec<Row> = [0.0, 1e-6, 0.3, -4.0, 30.0].map(|d| vec![d, 0.0]).into();
    for (name, kernel) in kernels() {
        let value = |u: f64| match name {
            "gaussian" => (-0.5 * u * u).exp(),
            _ => (-u.abs()).exp(),
        };
        type Expectation = fn(RealKernel, [Tensor<2>; 2]) -> Tensor<3>;
        let expectations: [Expectation; 3] = [
            |kernel, x| of_one(kernel, x, Normal::new),
            |kernel, x| of_one(kernel, x, Laplace::new),
            |kernel, [location, scale]| {
                let zeros = location.zeros_like().detach();
                let n = zeros.dims()[0];
                let q = Laplace::new(zeros, scale.clone());
                kernel.double_expectation(&Laplace::new(location, scale), &q, n)
            },
        ];
        for (i, f) in expectations.into_iter().enumerate() {
            for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F32, 1e-5)] {
                for (row, found) in rows.iter().zip(evaluate(|x| f(kernel, x), &rows, dtype)) {
                    let expected = value(row[0] / LENGTH);
                    let what = (name, i, dtype, row);
                    assert_near_in(what, found[0], expected, tolerance * expected + 1e-30);
                    all_finite(&found);
                }
            }
        }
    }
}
