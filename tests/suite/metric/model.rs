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
    module::Module,
    nn::{
        Linear, LinearConfig,
        loss::{CrossEntropyLoss, CrossEntropyLossConfig},
    },
    optim::{
        AdamConfig, GradientsParams, ModuleOptimizer,
        lr_scheduler::{constant::ConstantLr, module_lr_scheduler::ModuleLearningRate},
    },
    tensor::{Device, Int, Tensor, TensorData},
    train::{
        ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
        renderer::{
            EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
            MetricsRendererTraining,
        },
    },
};
use burn_calibration::loss::{
    PenalisedLoss, SkceLoss, SkceLossConfig, StepCounter, WeightSchedule,
};
use flate2::read::GzDecoder;

use crate::data::device;

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

/// The weights `λ` of the steps of a training.
pub type Trace = Arc<Mutex<Vec<f64>>>;

#[derive(Module, Debug)]
pub struct Model {
    pub linear: Linear,
    loss: PenalisedLoss<CrossEntropyLoss, SkceLoss>,
    pub steps: StepCounter,
    #[module(skip)]
    pub trace: Trace,
}

impl Model {
    pub fn new(weight: WeightSchedule) -> Self {
        let device = device().autodiff();
        let model = Self {
            linear: LinearConfig::new(PIXELS, 10)
                .with_initializer(burn::module::Initializer::Zeros)
                .init(&device),
            loss: PenalisedLoss::new(
                CrossEntropyLossConfig::new().init(&device),
                SkceLossConfig::new().init(),
                weight,
            ),
            steps: StepCounter::new(),
            trace: Trace::default(),
        };
        // different logits for different classes, also before training
        let ramp = Tensor::<1, Int>::arange(0..(PIXELS * 10) as i64, &device).float();
        let ramp = (ramp * 0.7).sin() * 0.3;
        let mut model = model;
        model.linear.weight = burn::module::Param::from_tensor(ramp.reshape([PIXELS, 10]));
        model
    }

    pub fn logits(&self, batch: &Batch) -> Tensor<2> {
        self.linear.forward(batch.images.clone())
    }
}

impl TrainStep for Model {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let step = self.steps.get();
        self.trace.lock().unwrap().push(self.loss.weight.at(step));
        let logits = self.logits(&batch);
        let loss = self
            .loss
            .forward(logits.clone(), batch.labels.clone(), step);
        let gradients = loss.backward();
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

/// Instead of a dashboard: keeps the texts of the validation entries that are values or reasons.
#[derive(Clone, Default)]
pub struct Quiet {
    pub entries: Arc<Mutex<Vec<String>>>,
}

impl MetricsRendererTraining for Quiet {
    fn update_train(&mut self, _state: MetricState) {}

    fn update_valid(&mut self, state: MetricState) {
        if let MetricState::Numeric(entry, Some(_)) = state {
            let text = entry.serialized_entry.formatted;
            self.entries.lock().unwrap().push(text);
        }
    }
}

impl MetricsRendererEvaluation for Quiet {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl MetricsRenderer for Quiet {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: burn::train::metric::MetricDefinition) {}
}

impl burn::train::logger::TrainingProgressLogger for Quiet {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _: usize) {}
    fn start_split(&mut self, _: &str, _: usize) {}
    fn update_split(&mut self, _: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _: String) {}
}

impl burn::train::logger::EvaluationProgressLogger for Quiet {
    fn start_global_progress(&mut self, _: usize) {}
    fn start_test(&mut self, _: &str, _: usize) {}
    fn update_test_progress(&mut self, _: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _: String) {}
}

/// The last value that the trainer logged of a metric on the validation data of an epoch.
pub fn logged(directory: &Path, epoch: usize, metric: &str) -> Option<String> {
    let file = format!("valid/epoch-{epoch}/{}.log", metric.replace(' ', "_"));
    let text = std::fs::read_to_string(directory.join(file)).ok()?;
    Some(text.lines().last()?.into())
}
