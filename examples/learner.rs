//! Training with Burn's `Learner`: the penalty is a part of the model, metrics of whole epochs say how it
//! goes, and the best epoch is kept.
//!
//! ```sh
//! cargo run --release --features train --example learner
//! ```
//!
//! The data are the digits of the example `digits`. The trainer prints a summary; with the feature `tui` of
//! Burn, and without `Quiet`, it draws the curves.

use std::error::Error;

use burn::{
    module::Module,
    nn::{
        Linear, LinearConfig,
        loss::{CrossEntropyLoss, CrossEntropyLossConfig},
    },
    optim::{
        AdamConfig, GradientsParams, ModuleOptimizer,
        lr_scheduler::{constant::ConstantLr, module_lr_scheduler::ModuleLearningRate},
    },
    tensor::{Device, Tensor, activation::relu},
    train::{
        ClassificationOutput, ExecutionStrategy, InferenceStep, Learner,
        MetricEarlyStoppingStrategy, StoppingCondition, SupervisedTraining, TrainOutput, TrainStep,
        metric::store::{Aggregate, Direction, Split},
    },
};
use burn_calibration::{metric::PValue, prelude::*};
use data::{Batch, PIXELS, digits, loader};
use quiet::Quiet;

#[path = "distributed/data.rs"]
mod data;
#[path = "distributed/quiet.rs"]
mod quiet;

#[derive(Module, Debug)]
struct Classifier {
    hidden: Linear,
    output: Linear,
    loss: PenalisedLoss<CrossEntropyLoss, SkceLoss>,
    /// The number of steps so far, saved with the model: the schedule goes on after a checkpoint.
    steps: StepCounter,
}

impl Classifier {
    fn new(steps_in_all: usize, device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, 64).init(device),
            output: LinearConfig::new(64, 10).init(device),
            loss: PenalisedLoss::new(
                CrossEntropyLossConfig::new().init(device),
                SkceLoss::new(Skce::unbiased(Kernel::gaussian())), // compares the images
                WeightSchedule::WarmUp {
                    weight: 4.0,
                    steps: steps_in_all / 4,
                },
            ),
            steps: StepCounter::new(),
        }
    }

    fn forward(&self, images: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(images)))
    }
}

impl TrainStep for Classifier {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let logits = self.forward(batch.images.clone());
        let given = Given::logits(logits.clone(), batch.images);
        let loss = self.loss.forward(&given, &batch.labels, self.steps.get());
        let gradients = loss.backward();
        let output = ClassificationOutput::new(loss, logits, batch.labels);
        TrainOutput::new(self, gradients, output)
    }

    fn optimize(
        mut self,
        optimiser: &mut ModuleOptimizer,
        rate: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        self.steps.advance();
        optimiser.step(rate, self, gradients)
    }
}

impl InferenceStep for Classifier {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.forward(batch.images);
        let loss = (self.loss.base).forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (batch, epochs) = (100, 12);
    let mut training = digits()?;
    let validation = training.split_off(1000);
    let device = Device::default();
    device.seed(0);
    let classifier = Classifier::new(epochs * training.len() / batch, &device.clone().autodiff());

    let folder = tempfile::tempdir()?; // checkpoints and metric files: choose a lasting one
    // a temperature will be fitted: so stop by the log loss that is left after one
    let refinement = EpochMetric::from_logits(RefinementError);
    let strategy = ExecutionStrategy::single(device.autodiff());
    let trained = SupervisedTraining::new(
        folder.path(),
        loader(&training, batch),
        loader(&validation, batch),
    )
    .with_training_strategy(strategy.into())
    .with_application_logger(None)
    .renderer(Box::new(Quiet::default())) // no line for each batch
    .early_stopping(MetricEarlyStoppingStrategy::new(
        &refinement,
        Aggregate::Mean, // of one value
        Direction::Lowest,
        Split::Valid,
        StoppingCondition::NoImprovementSince { n_epochs: 3 },
    ))
    .metric_valid_numeric(refinement)
    .metric_valid_numeric(EpochMetric::from_logits(LogScore))
    .metric_valid_numeric(EpochMetric::from_logits(Ece::default()))
    .metric_valid_numeric(EpochMetric::from_logits(PValue::omnibus(0)))
    .num_epochs(epochs)
    .summary()
    .launch(Learner::new(
        classifier,
        AdamConfig::new().init(),
        ConstantLr::new(3e-3),
    ));
    if let Some(error) = trained.error {
        return Err(error.to_string().into());
    }
    Ok(())
}
