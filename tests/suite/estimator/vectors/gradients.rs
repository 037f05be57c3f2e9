//! Gradients of the SKCE with respect to every parameter, against central differences in f64.

use super::data::{Rows, gaussian, laplacian};
use crate::prelude::*;

/// Networks' outputs, `[n, 2d]`.
fn outputs(n: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    random_rows(n, 2 * d, 1.5, &mut rng(seed))
}

fn targets(n: usize, d: usize, seed: u64, like: &Tensor<2>) -> Tensor<2> {
    let rows = random_rows(n, d, 2.0, &mut rng(seed));
    tensor_on(&rows, &like.device(), like.dtype())
}

fn kernels() -> [TensorKernel<RealKernel>; 2] {
    [gaussian(0.8, 1.1), laplacian(0.9, 1.2)]
}

#[test]
fn locations_and_scales() {
    for (n, d) in [(6, 1), (4, 3)] {
        for kernel in kernels() {
            for skce in [Skce::biased, Skce::unbiased, Skce::linear].map(|skce| skce(kernel)) {
                check_gradient(&outputs(n, d, 41), 1e-5, |x| {
                    let y = targets(n, d, 42, &x);
                    skce.value(&Normal::from_raw(x, 0.1), &y)
                });
                check_gradient(&outputs(n, d, 41), 1e-5, |x| {
                    let y = targets(n, d, 42, &x);
                    skce.value(&Laplace::from_raw(x, 0.1), &y)
                });
            }
        }
    }
}

/// Where all predictions coincide, so that the Wasserstein distance has a kink with subgradient 0.
/// A short step: next to the kink, differences are wrong by the step over the bandwidth.
#[test]
fn coincident_predictions() {
    let rows = vec![outputs(1, 1, 43)[0].clone(); 5];
    for kernel in kernels() {
        check_gradient(&rows, 1e-7, |x| {
            let y = targets(5, 1, 44, &x);
            Skce::unbiased(kernel).value(&Normal::from_raw(x, 0.1), &y)
        });
    }
}

/// Weights, locations and scales, through the mixture distance.
#[test]
fn mixtures() {
    let (n, k) = (4, 3);
    // for each prediction: K logits, K locations, K raw scales
    let rows = random_rows(n, 3 * k, 1.5, &mut rng(45));
    let mixture = |x: Tensor<2>| {
        let part = |first: usize| x.clone().slice([0..n, first..first + k]);
        let raw = Tensor::stack::<3>(vec![part(k), part(2 * k)], 2); // [n, K, 2]
        let components = Normal::from_raw(raw.reshape([(n * k) as i32, 2]), 0.1);
        Mixture::from_logits(part(0), components)
    };
    for kernel in kernels() {
        for skce in [Skce::biased(kernel), Skce::unbiased(kernel)] {
            check_gradient(&rows, 1e-5, |x| {
                let y = targets(n, 1, 46, &x);
                skce.value(&mixture(x), &y)
            });
        }
    }
}

#[test]
fn monte_carlo_samples() {
    for d in [1, 2] {
        let (n, s) = (4, 3);
        check_gradient(&random_rows(n, s * d, 2.0, &mut rng(47)), 1e-5, |x| {
            let y = targets(n, d, 48, &x);
            let samples = Samples::new(x.reshape([n as i32, s as i32, d as i32]));
            Skce::unbiased(gaussian(0.8, 1.1)).value(&samples, &y)
        });
    }
}

#[test]
fn mean_embeddings() {
    let at = Rows::random(3, 1, &mut rng(49));
    for kernel in kernels() {
        let ucme = Ucme::new(kernel, &at.normal(), &tensor(&at.target)).unwrap();
        check_gradient(&outputs(5, 1, 50), 1e-5, |x| {
            let y = targets(5, 1, 51, &x);
            ucme.value(&Normal::from_raw(x, 0.1), &y)
        });
    }
}
