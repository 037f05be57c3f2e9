//! Gradients of scores, densities, distribution functions and moments.

use super::*;
use crate::prelude::*;

#[test]
fn gradients_of_mixtures() {
    let rng = &mut rng(8);
    let (n, k, d) = (3, 3, 2);
    let parameters = [
        positive_rows(n, k, [0.1, 0.9], rng),
        random_rows(n * k, d, 2.0, rng),
        positive_rows(n * k, d, [0.3, 2.0], rng),
        random_rows(n, d, 2.0, rng),
    ];
    macro_rules! check {
        ($component:ident, $parameters:expr) => {{
            let mixture = |p: &[Tensor<2>]| {
                Mixture::new(p[0].clone(), $component::new(p[1].clone(), p[2].clone()))
            };
            check_gradients($parameters, |p| Crps.values(&mixture(&p), &p[3]));
            check_gradients($parameters, |p| LogScore.values(&mixture(&p), &p[3]));
            check_gradients($parameters, |p| mixture(&p).cdf(&p[3]));
            check_gradients(&$parameters[..3], |p| {
                mixture(&p).means().sin() + mixture(&p).variances().square()
            });
        }};
    }
    check!(Normal, &parameters);
    check!(Laplace, &parameters);
    // components that differ in location alone: equal scales
    let mut equal = parameters.clone();
    equal[2] = vec![vec![0.7; d]; n * k];
    check!(Laplace, &equal);
}

#[test]
fn gradients_of_samples() {
    let rng = &mut rng(9);
    let (n, s, d) = (3, 5, 2);
    let parameters = [random_rows(n * s, d, 2.0, rng), random_rows(n, d, 2.0, rng)];
    let predictions = |x: &Tensor<2>| Samples::new(x.clone().reshape([n, s, d]));
    check_gradients(&parameters, |p| Crps.values(&predictions(&p[0]), &p[1]));
    check_gradients(&parameters, |p| FairCrps.values(&predictions(&p[0]), &p[1]));
}

/// Draws that coincide with each other and with the target leave the gradient finite.
#[test]
fn gradients_at_ties() {
    let device = device().autodiff();
    for d in [1, 2] {
        let draws = Tensor::<3>::ones([2, 4, d], (&device, DType::F64)).require_grad();
        let targets = Tensor::<2>::ones([2, d], (&device, DType::F64));
        let predictions = Samples::new(draws.clone());
        let loss = Crps.values(&predictions, &targets);
        assert_eq!(vector(loss.clone()), [0.0, 0.0]);
        let gradient = vector(draws.grad(&loss.sum().backward()).unwrap());
        all_finite(&gradient);
    }
}
