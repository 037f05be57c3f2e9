//! The step is a part of the model: schedules go on after a checkpoint.

use std::path::Path;

use burn::{
    module::Module,
    train::{
        ExecutionStrategy, MultiDeviceOptim, SupervisedTraining, checkpoint::KeepLastNCheckpoints,
    },
};

use super::model::{Model, digits, learner, loader, training};

use crate::prelude::*;

const SCHEDULE: WeightSchedule = WeightSchedule::Linear {
    from: 0.0,
    to: 3.0,
    steps: 30,
};

/// Trains until an epoch, from a checkpoint or from the start, with three batches an epoch: the
/// weights of the steps, and the model.
fn train(
    directory: &Path,
    epochs: usize,
    checkpoint: Option<usize>,
    how: impl Fn(SupervisedTraining<Model>) -> SupervisedTraining<Model>,
) -> (Vec<f64>, Model) {
    let digits = digits(90);
    let model = Model::new(SCHEDULE);
    let trace = model.trace.clone();
    let training = training(
        directory,
        loader(&digits[..60], 20),
        loader(&digits[60..], 20),
    )
    .with_default_checkpointers()
    .with_checkpointing_strategy(KeepLastNCheckpoints::new(10))
    .num_epochs(epochs);
    let training = match checkpoint {
        Some(epoch) => training.checkpoint(epoch),
        None => training,
    };
    let result = how(training).launch(learner(model, 0.02));
    assert!(result.error.is_none());
    let steps = trace.lock().unwrap();
    let weights = steps.iter().map(|step| step.weight).collect();
    (weights, result.model)
}

fn lambdas(steps: impl Iterator<Item = usize>) -> Vec<f64> {
    steps.map(|step| step as f64 / 10.0).collect()
}

#[test]
fn a_resumed_training_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let whole = tempfile::tempdir().unwrap();
    let plain = |training| training;
    let (straight, expected) = train(whole.path(), 4, None, plain);
    all_near(&straight, lambdas(0..12), 1e-12);

    let (first, _) = train(directory.path(), 2, None, plain);
    let (second, model) = train(directory.path(), 4, Some(2), plain);
    all_near(&first, lambdas(0..6), 1e-12);
    all_near(&second, lambdas(6..12), 1e-12);
    assert_eq!(model.steps.get(), 12);
    // with the same order of the data, the same model
    let weights = |model: &Model| vector(model.linear.weight.val());
    assert_eq!(weights(&model), weights(&expected));
}

/// Two batches to each gradient have the same weight.
#[test]
fn steps_are_those_of_the_optimiser() {
    let directory = tempfile::tempdir().unwrap();
    let accumulate = |training: SupervisedTraining<Model>| training.grads_accumulation(2);
    let (weights, model) = train(directory.path(), 2, None, accumulate);
    all_near(&weights, lambdas([0, 0, 1, 2, 2, 3].into_iter()), 1e-12);
    assert_eq!(model.steps.get(), 4);
}

/// Two devices take a batch each to every step, and go on after a checkpoint.
#[test]
fn on_two_devices() {
    let directory = tempfile::tempdir().unwrap();
    let devices = || vec![Device::flex().autodiff(), Device::flex().autodiff()];
    let multi = |training: SupervisedTraining<Model>| {
        let strategy = ExecutionStrategy::multi(devices(), MultiDeviceOptim::OptimMainDevice);
        training.with_training_strategy(strategy.into())
    };
    // 30 digits to each device: batches of 20 and 10
    let (first, _) = train(directory.path(), 1, None, multi);
    let (second, model) = train(directory.path(), 2, Some(1), multi);
    all_near(&first, lambdas([0, 0, 1, 1].into_iter()), 1e-12);
    all_near(&second, lambdas([2, 2, 3, 3].into_iter()), 1e-12);
    assert_eq!(model.steps.get(), 4);
}

#[derive(Module, Debug)]
struct Counting {
    steps: StepCounter,
}

#[test]
fn survives_moves_forks_and_records() {
    let new = || Counting {
        steps: StepCounter::new(),
    };
    let mut model = new();
    for _ in 0..7 {
        model.steps.advance();
    }
    let steps = |model: &Counting| model.steps.get();
    assert_eq!(steps(&model.valid()), 7);
    assert_eq!(steps(&model.clone().train()), 7);
    assert_eq!(steps(&model.clone().to_device(&device())), 7);
    assert_eq!(steps(&model.clone().fork(&device().autodiff())), 7);
    assert!(model.devices().is_empty());
    assert_eq!(model.num_params(), 0);
    let bytes = model.into_record().into_bytes().unwrap();
    let record = burn::store::ModuleRecord::from_bytes(bytes).unwrap();
    assert_eq!(steps(&new().load_record(record)), 7);
    assert_eq!(format!("{}", StepCounter::new()), "StepCounter(0)");
}
