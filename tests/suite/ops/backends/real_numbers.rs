//! Predictions of real numbers.

use super::compare;
use crate::prelude::*;

/// A penalty with its gradient, an estimate and a test of predictions that a function makes of
/// outputs, `[N · K, 2d]`. Terms of `h` are of the order of 1, and so is their rounding.
fn real_numbers<P: Geometry<Targets = Tensor<2>>>(
    kind: &str,
    predictions: impl Fn(Tensor<2>) -> P,
    device: &Device,
    dtype: DType,
) -> Vec<(String, Vec<f64>)>
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let outputs = random_rows(N * K, 2 * D, 1.0, &mut rng(66));
    let targets = random_rows(N, D, 1.5, &mut rng(67));
    let numbers = [RealKernel::gaussian(0.9), RealKernel::laplacian(1.1)].map(|kernel| {
        let autodiff = device.clone().autodiff();
        let x = tensor_on(&outputs, &autodiff, dtype).require_grad();
        let loss = SkceLoss::new(Skce::unbiased(TensorKernel::wasserstein(kernel)));
        let y = tensor_on(&targets, &autodiff, dtype);
        let value = loss.forward(&predictions(x.clone()), &y);
        let gradient = vector(x.grad(&value.clone().backward()).unwrap());

        let data = predictions(tensor_on(&outputs, device, dtype));
        let test = AsymptoticSkceTest::new(loss.skce.kernel);
        let outcome = test.outcome(&data, &tensor_on(&targets, device, dtype), &mut rng(68));
        let mut values = vec![1.0, scalar(value)];
        match outcome {
            Ok(outcome) => values.extend([outcome.estimate, outcome.p_value]),
            // few draws are not the distribution
            Err(error) => assert!(matches!(error, Error::Unsupported { .. }), "{error}"),
        }
        [
            (format!("{kind}, {kernel:?}"), values),
            (format!("{kind}, {kernel:?}, gradient"), gradient),
        ]
    });
    numbers.into_iter().flatten().collect()
}

/// Samples, dimension of the targets, and components of a mixture.
const N: usize = 12;
const D: usize = 2;
const K: usize = 2;

#[test]
fn real_predictions() {
    compare(|device, dtype| {
        let first = |x: Tensor<2>| x.slice(0..N);
        let mixture = |x: Tensor<2>| {
            let logits = x.clone().slice([0..N, 0..K]);
            Mixture::from_logits(logits, Normal::from_raw(x, 0.1))
        };
        let samples = |x: Tensor<2>| Samples::new(x.reshape([N, 2 * K, D]));
        let normal = |x| Normal::from_raw(first(x), 0.1);
        let laplace = |x| Laplace::from_raw(first(x), 0.1);
        [
            real_numbers("normal", normal, device, dtype),
            real_numbers("Laplace", laplace, device, dtype),
            real_numbers("mixture", mixture, device, dtype),
            real_numbers("samples", samples, device, dtype),
        ]
        .concat()
    });
}
