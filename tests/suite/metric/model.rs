//! A linear classifier of digits, its data, and how it is trained here.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderBuilder, batcher::Batcher},
        dataset::InMemDataset,
    },
    module::{Module, Param},
    nn::{
        Linear,
        loss::{CrossEntropyLoss, CrossEntropyLossConfig},
    },
    optim::{
        AdamConfig, GradientsParams, ModuleOptimizer,
        lr_scheduler::{constant::ConstantLr, module_lr_scheduler::ModuleLearningRate},
    },
    train::{
        ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
    },
};
use flate2::read::GzDecoder;

use super::quiet::Quiet;

use crate::prelude::*;

const FILE: &[u8] = include_bytes!("../../../examples/digits/data/digits.csv.gz");
const PIXELS: usize = 64;

/// Pixels in 0..=1 and a label.
pub type Digit = (Vec<f32>, i64);

pub fn digits(count: usize) -> Vec<Digit> {
    let digit = |row: csv::Result<Vec<f32>>| {
        let row = row.unwrap();
        let image = row[..PIXELS].iter().map(|pixel| pixel / 16.0).collect();
        (image, row[PIXELS] as i64)
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(GzDecoder::new(FILE));
    reader.deserialize().take(count).map(digit).collect()
}

/// Images `[n, PIXELS]` and labels `[n]`.
#[derive(Clone, Debug)]
pub struct Batch {
    pub images: Tensor<2>,
    pub labels: Tensor<1, Int>,
}

impl Batch {
    pub fn new(digits: &[Digit], device: &Device) -> Self {
        let images: Vec<f32> = digits
            .iter()
            .flat_map(|(image, _)| image)
            .copied()
            .collect();
        let labels: Vec<i64> = digits.iter().map(|&(_, label)| label).collect();
        Self {
            images: Tensor::from_data(TensorData::new(images, [digits.len(), PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [digits.len()]), device),
        }
    }
}

struct Batches;

impl Batcher<Digit, Batch> for Batches {
    fn batch(&self, digits: Vec<Digit>, device: &Device) -> Batch {
        Batch::new(&digits, device)
    }
}

/// Always in the same order.
pub fn loader(digits: &[Digit], size: usize) -> Arc<dyn DataLoader<Batch>> {
    DataLoaderBuilder::new(Batches)
        .batch_size(size)
        .build(InMemDataset::new(digits.to_vec()))
}

/// A step of a training on a device.
#[derive(Clone, Debug)]
pub struct Step {
    pub number: usize,
    /// The weight `λ`.
    pub weight: f64,
    pub loss: f64,
}

pub type Trace = Arc<Mutex<Vec<Step>>>;

#[derive(Module, Debug)]
pub struct Model {
    pub linear: Linear,
    loss: PenalisedLoss<CrossEntropyLoss, SkceLoss>,
    pub steps: StepCounter,
    /// How many devices share a batch.
    #[module(skip)]
    shares: usize,
    #[module(skip)]
    pub trace: Trace,
}

impl Model {
    pub fn new(weight: WeightSchedule) -> Self {
        Self::with_penalty(SkceLossConfig::new(), 1, weight)
    }

    pub fn with_penalty(penalty: SkceLossConfig, shares: usize, weight: WeightSchedule) -> Self {
        let device = device().autodiff();
        // different logits for different classes, also before training
        let ramp = Tensor::<1, Int>::arange(0..(PIXELS * 10) as i64, &device).float();
        let ramp = (ramp * 0.7).sin() * 0.3;
        Self {
            linear: Linear {
                weight: Param::from_tensor(ramp.reshape([PIXELS, 10])),
                bias: None,
            },
            loss: PenalisedLoss::new(
                CrossEntropyLossConfig::new().init(&device),
                penalty.init(),
                weight,
            ),
            steps: StepCounter::new(),
            shares,
            trace: Trace::default(),
        }
    }

    pub fn logits(&self, batch: &Batch) -> Tensor<2> {
        self.linear.forward(batch.images.clone())
    }
}

impl TrainStep for Model {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let number = self.steps.get();
        let logits = self.logits(&batch);
        let labels = batch.labels;
        let loss = self.loss.forward(logits.clone(), labels.clone(), number);
        // Burn adds the gradients of the devices
        let gradients = (loss.clone() / self.shares as f64).backward();
        self.trace.lock().unwrap().push(Step {
            number,
            weight: self.loss.weight.at(number),
            loss: loss.clone().into_scalar::<f32>().into(),
        });
        let output = ClassificationOutput::new(loss, logits, labels);
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

impl InferenceStep for Model {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.logits(&batch);
        let loss = self.loss.base.forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

/// Adam has a state, so that checkpoints matter.
pub fn learner(model: Model, learning_rate: f64) -> Learner<Model> {
    Learner::new(
        model,
        AdamConfig::new().init(),
        ConstantLr::new(learning_rate),
    )
}

pub fn training(
    directory: &Path,
    training: Arc<dyn DataLoader<Batch>>,
    validation: Arc<dyn DataLoader<Batch>>,
) -> SupervisedTraining<Model> {
    SupervisedTraining::new(directory, training, validation)
        .with_application_logger(None)
        .renderer(Box::new(Quiet::default()))
}

/// The last value that the trainer logged of a metric on the validation data of an epoch.
pub fn logged(directory: &Path, epoch: usize, metric: &str) -> Option<String> {
    let file = format!("valid/epoch-{epoch}/{}.log", metric.replace(' ', "_"));
    let text = std::fs::read_to_string(directory.join(file)).ok()?;
    Some(text.lines().last()?.into())
}
