//! Training on two devices is training on one with the block estimator.

use burn::train::{ExecutionStrategy, MultiDeviceOptim};
use burn_calibration::prelude::*;

use super::model::{Digit, Model, digits, learner, loader, training};

use crate::prelude::*;

const SHARD: usize = 20;
const STEPS: usize = 4;

/// The mean loss of the devices at each step, and the weights of the model in the end.
fn train(
    model: Model,
    strategy: ExecutionStrategy,
    digits: &[Digit],
    batch: usize,
) -> (Vec<f64>, Vec<f64>) {
    let directory = tempfile::tempdir().unwrap();
    let trace = model.trace.clone();
    let validation = loader(&digits[..5], 5);
    let result = training(directory.path(), loader(digits, batch), validation)
        .with_training_strategy(strategy.into())
        .num_epochs(2)
        .launch(learner(model, 0.02));
    assert!(result.error.is_none());
    let steps = trace.lock().unwrap();
    let losses = (0..2 * STEPS).map(|number| {
        let of_step = steps.iter().filter(|step| step.number == number);
        let losses: Vec<f64> = of_step.map(|step| step.loss).collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    });
    (losses.collect(), vector(result.model.linear.weight.val()))
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn two_devices_are_one_with_blocks() {
    let digits = digits(2 * SHARD * STEPS);
    let device = || Device::flex().autodiff();
    let weight = WeightSchedule::WarmUp {
        weight: 5.0,
        steps: 4,
    };
    let penalty = |form| {
        SkceLossConfig::new()
            .with_kernel(Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.3)))
            .with_form(form)
    };

    // the halves of the data for one device each
    let devices = vec![device(), device()];
    let strategy = ExecutionStrategy::multi(devices, MultiDeviceOptim::OptimMainDevice);
    let model = Model::with_penalty(penalty(SkceForm::Unbiased), 2, weight);
    let (losses, weights) = train(model, strategy, &digits, SHARD);

    // and in the batches that the two share
    let (first, second) = digits.split_at(digits.len() / 2);
    let shards = first.chunks(SHARD).zip(second.chunks(SHARD));
    let in_order: Vec<Digit> = shards.flat_map(|(a, b)| [a, b].concat()).collect();
    let on_one = |form| {
        let strategy = ExecutionStrategy::single(device());
        let model = Model::with_penalty(penalty(form), 1, weight);
        train(model, strategy, &in_order, 2 * SHARD)
    };
    let (expected_losses, expected_weights) = on_one(SkceForm::Block(SHARD));
    assert!(largest_difference(&losses, &expected_losses) < 1e-5);
    assert!(largest_difference(&weights, &expected_weights) < 1e-4);

    // which the penalty matters for: with that of all pairs it is another training
    let (other_losses, _) = on_one(SkceForm::Unbiased);
    assert!(largest_difference(&losses, &other_losses) > 1e-3);
}
