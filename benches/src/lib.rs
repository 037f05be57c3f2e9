//! Benchmarks of burn-calibration, see README.md.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::distribution::Categorical;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Logits, uniform in ±3, and labels.
pub fn data(n: usize, m: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let mut rng = StdRng::seed_from_u64(0);
    let logits: Vec<f64> = (0..n * m).map(|_| rng.random_range(-3.0..3.0)).collect();
    let labels: Vec<i64> = (0..n).map(|_| rng.random_range(0..m as i64)).collect();
    let logits = TensorData::new(logits, [n, m]);
    (
        Tensor::from_data(logits, (device, DType::F32)),
        Tensor::from_data(TensorData::new(labels, [n]), device),
    )
}

/// Value and gradient with respect to the logits, synchronised.
pub fn value_and_gradient(
    loss: &impl burn_calibration::loss::Criterion,
    logits: &Tensor<2>,
    labels: &Tensor<1, Int>,
) -> Tensor<2> {
    let logits = logits.clone().autodiff().require_grad();
    let value = loss.value(
        &Categorical::from_logits_unchecked(logits.clone()),
        &labels.clone().autodiff(),
    );
    let gradient = logits
        .grad(&value.backward())
        .expect("logits require a gradient");
    gradient.device().sync().expect("the device finishes");
    gradient
}
