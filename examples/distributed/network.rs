use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    optim::{
        GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    },
    tensor::{Device, Tensor, activation::relu},
    train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep},
};
use burn_calibration::{
    loss::{PenalisedLoss, ScoreLoss, SkceLoss},
    prelude::*,
};

use crate::data::{Batch, PIXELS};

/// The loss of each step and device.
pub type Trace = Arc<Mutex<Vec<(usize, f64)>>>;

/// One hidden layer, with its loss.
#[derive(Module, Debug)]
pub struct Network {
    hidden: Linear,
    output: Linear,
    loss: PenalisedLoss<ScoreLoss<LogScore>, SkceLoss>,
    steps: StepCounter,
    /// How many devices share a batch.
    #[module(skip)]
    shares: usize,
    #[module(skip)]
    pub trace: Trace,
}

impl Network {
    /// The same weights every time.
    pub fn new(penalty: SkceLossConfig, shares: usize, device: &Device) -> Self {
        device.seed(0);
        let network = Self {
            hidden: LinearConfig::new(PIXELS, 32).init(device),
            output: LinearConfig::new(32, 10).init(device),
            loss: PenalisedLoss::new(
                ScoreLoss::new(LogScore),
                penalty.init(),
                WeightSchedule::WarmUp {
                    weight: 8.0,
                    steps: 20,
                },
            ),
            steps: StepCounter::new(),
            shares,
            trace: Trace::default(),
        };
        network.forward(Tensor::zeros([1, PIXELS], device)); // weights are drawn when first used
        network
    }

    fn forward(&self, images: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(images)))
    }

    pub fn weights(&self) -> Vec<f64> {
        let layers = [&self.hidden, &self.output];
        let weights = layers.map(|layer| layer.weight.val().try_into_vec_as::<f64>());
        weights
            .into_iter()
            .flat_map(|layer| layer.expect("a float tensor"))
            .collect()
    }
}

impl TrainStep for Network {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let step = self.steps.get();
        let logits = self.forward(batch.images);
        let loss = self
            .loss
            .forward(logits.clone(), batch.labels.clone(), step);
        // Burn adds the gradients of the devices: divide, to average
        let gradients = (loss.clone() / self.shares as f64).backward();
        let value = loss.clone().into_scalar::<f32>(); // to compare; a training need not read it
        self.trace
            .lock()
            .expect("a lock")
            .push((step, value.into()));
        let output = ClassificationOutput::new(loss, logits, batch.labels);
        TrainOutput::new(self, gradients, output)
    }

    fn optimize(
        mut self,
        optim: &mut ModuleOptimizer,
        lr: ModuleLearningRate,
        grads: GradientsParams,
    ) -> Self {
        self.steps.advance();
        optim.step(lr, self, grads)
    }
}

impl InferenceStep for Network {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.forward(batch.images);
        let loss = self.loss.base.forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

/// The mean loss of the devices at each step.
pub fn losses(trace: &Trace) -> Vec<f64> {
    let mut of_step = BTreeMap::<usize, Vec<f64>>::new();
    for &(step, loss) in trace.lock().expect("a lock").iter() {
        of_step.entry(step).or_default().push(loss);
    }
    let mean = |losses: &Vec<f64>| losses.iter().sum::<f64>() / losses.len() as f64;
    of_step.values().map(mean).collect()
}
