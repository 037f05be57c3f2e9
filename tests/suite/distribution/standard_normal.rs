//! The standard normal distribution function and its inverse on the host.

use crate::prelude::*;

/// So many standard normal predictions.
fn standard(n: usize) -> Box<dyn HostMarginals> {
    let zeros = Tensor::<2>::zeros([n, 1], &device());
    Normal::new(zeros.clone(), zeros.ones_like()).on_host()
}

/// `1 − Φ` is the inverse, to the smallest numbers; its relative error is `z` times that of `z`.
#[test]
fn quantiles_are_inverse() {
    let normal = standard(1);
    for k in 0..=306 {
        for tail in [0.5, 0.3, 0.074, 0.11].map(|tail| tail * 10f64.powi(-k)) {
            let z = -normal.quantile(0, tail);
            let found = normal.tails(0, z).upper;
            let bound = (8.0 + 4.0 * z * z) * f64::EPSILON;
            let error = (found / tail - 1.0).abs();
            assert!(error <= bound, "{tail}: {error}");
        }
    }
}

#[test]
fn vectors_are_one_by_one() {
    for count in [1, 15, 16, 100] {
        let z: Vec<f64> = (0..count)
            .map(|k| 9.0 * (f64::from(k) * 1.7).sin())
            .collect();
        let normal = standard(z.len());
        let found = normal.cdfs(&|at| z[at]).unwrap();
        for (z, found) in z.into_iter().zip(found) {
            let expected = normal.tails(0, z).lower;
            let error = (4.0 + z * z) * f64::EPSILON * expected; // that of z²/2
            assert!((found - expected).abs() <= error, "{z}");
        }
    }
    let far = [-60.0, 60.0, f64::NAN];
    let far = standard(3).cdfs(&|at| far[at]).unwrap();
    assert!(far[0] < 1e-300 && far[1] == 1.0 && far[2].is_nan());
}
