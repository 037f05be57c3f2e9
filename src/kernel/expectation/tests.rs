use burn::tensor::{DType, Device, Tensor};

use super::*;
use crate::host::to_vec;

const LENGTH: f64 = 0.75;

/// Arguments, value and derivatives of a function at one point, see `reference.tsv`.
type Row = Vec<f64>;

fn reference(function: &str) -> Vec<Row> {
    let rows: Vec<Row> = include_str!("reference.tsv")
        .lines()
        .filter_map(|line| line.strip_prefix(function)?.strip_prefix('\t'))
        .map(|row| row.split('\t').map(|x| x.parse().unwrap()).collect())
        .collect();
    assert!(!rows.is_empty());
    rows
}

/// The value and derivatives of a function of `N` tensors at each row.
fn evaluate<const N: usize>(
    f: impl Fn([Tensor<1>; N]) -> Tensor<1>,
    rows: &[Row],
    dtype: DType,
) -> Vec<Row> {
    let device = Device::flex().autodiff();
    let arguments: [Tensor<1>; N] = std::array::from_fn(|i| {
        let column: Vec<f64> = rows.iter().map(|row| row[i]).collect();
        Tensor::from_data(column.as_slice(), (&device, dtype)).require_grad()
    });
    let value = f(arguments.clone());
    assert_eq!(value.dtype(), dtype);
    let untracked = f(arguments.clone().map(Tensor::detach));
    assert_eq!(to_vec(untracked), to_vec(value.clone()));
    let gradients = value.clone().sum().backward();
    let mut columns = vec![to_vec(value)];
    columns.extend(arguments.map(|x| to_vec(x.grad(&gradients).unwrap())));
    (0..rows.len())
        .map(|i| columns.iter().map(|column| column[i]).collect())
        .collect()
}

/// Values agree relative to themselves. So do derivatives, or else to the value over the length scale
/// for a location, over the parameter for a parameter. Rounding of an exponent grows with it.
fn check<const N: usize>(function: &str, f: impl Fn([Tensor<1>; N]) -> Tensor<1>) {
    let rows = reference(function);
    for dtype in [DType::F64, DType::F32] {
        let info = dtype.finfo().unwrap();
        for (row, found) in rows.iter().zip(evaluate(&f, &rows, dtype)) {
            let value = row[N];
            if value < info.min_positive * 1e9 {
                continue; // derivatives underflow
            }
            let tolerance = info.epsilon * (16.0 + 2.0 * value.ln().abs());
            for (k, (found, expected)) in found.iter().zip(&row[N..]).enumerate() {
                let unit = match k {
                    0 => 0.0,
                    1 => value / LENGTH,
                    _ if row[k - 1] > 0.0 => value / row[k - 1],
                    _ => 0.0,
                };
                assert!(
                    (found - expected).abs() <= tolerance * expected.abs().max(unit),
                    "{function} in {dtype:?} at {:?}, derivative {k}: {found}, not {expected}",
                    &row[..N]
                );
            }
        }
    }
}

#[test]
fn gaussian_kernel_normal() {
    check("gaussian_normal", |[d, v]| gaussian_normal(LENGTH, d, v));
}

#[test]
fn gaussian_kernel_laplace() {
    check("gaussian_laplace", |[d, s]| gaussian_laplace(LENGTH, d, s));
}

#[test]
fn gaussian_kernel_two_laplace() {
    check("gaussian_laplace_pair", |[d, s, t]| {
        gaussian_laplace_pair(LENGTH, d, s, t)
    });
}

#[test]
fn laplacian_kernel_normal() {
    check("laplacian_normal", |[d, v]| laplacian_normal(LENGTH, d, v));
}

#[test]
fn laplacian_kernel_laplace() {
    check("laplacian_laplace", |[d, s]| {
        laplacian_laplace(LENGTH, d, s)
    });
}

#[test]
fn laplacian_kernel_two_laplace() {
    check("laplacian_laplace_pair", |[d, s, t]| {
        laplacian_laplace_pair(LENGTH, d, s, t)
    });
}

/// Without noise the expectation is the kernel, and gradients are finite.
#[test]
fn point_masses() {
    let kernels = [
        (
            "gaussian",
            (|u: f64| (-0.5 * u * u).exp()) as fn(f64) -> f64,
        ),
        ("laplacian", |u: f64| (-u.abs()).exp()),
    ];
    let rows: Vec<Row> = [0.0, 1e-6, 0.3, -4.0, 30.0].map(|d| vec![d, 0.0]).into();
    for (kernel, k) in kernels {
        type Expectation = fn(f64, Tensor<1>, Tensor<1>) -> Tensor<1>;
        let functions: [Expectation; 3] = match kernel {
            "gaussian" => [gaussian_normal, gaussian_laplace, |l, d, s| {
                gaussian_laplace_pair(l, d, s.clone(), s)
            }],
            _ => [laplacian_normal, laplacian_laplace, |l, d, s| {
                laplacian_laplace_pair(l, d, s.clone(), s)
            }],
        };
        for (i, f) in functions.into_iter().enumerate() {
            for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F32, 1e-5)] {
                let found = evaluate(|[d, s]| f(LENGTH, d, s), &rows, dtype);
                for (row, found) in rows.iter().zip(found) {
                    let expected = k(row[0] / LENGTH);
                    assert!(
                        (found[0] - expected).abs() <= tolerance * expected + 1e-30
                            && found.iter().all(|x| x.is_finite()),
                        "{kernel} {i} in {dtype:?} at {row:?}: {found:?}, not {expected}"
                    );
                }
            }
        }
    }
}
