//! A run of Burn's `Learner`: metrics of whole epochs, checkpoints, early stopping.

use std::{
    io::IsTerminal,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use burn::{
    data::dataloader::{DataLoader, DataLoaderBuilder},
    lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig,
    module::Module,
    optim::{SgdConfig, decay::WeightDecayConfig, momentum::MomentumConfig},
    store::ModuleRecord,
    tensor::{Device, Tensor},
    train::{
        EarlyStoppingStrategy, ExecutionStrategy, Learner, MetricEarlyStoppingStrategy,
        StoppingCondition, SupervisedTraining, TrainingStrategy,
        checkpoint::{
            Checkpointer, ComposedCheckpointingStrategy, FileCheckpointer, KeepLastNCheckpoints,
            MetricCheckpointingStrategy,
        },
        metric::{
            AccuracyMetric, LossMetric, MetricName,
            store::{Aggregate, Direction, EventStoreClient, Split},
        },
    },
};
use burn_calibration::{
    hypothesis::Summarised,
    metric::{EpochMetric, PValue},
    prelude::*,
};

use crate::{
    Result,
    arguments::Arguments,
    batch::{Batch, ImageBatcher},
    classifier::Classifier,
    data::Data,
    evaluation::Outputs,
    held_out_loader::HoldOutLoader,
    images::Images,
    objective::Objective,
    plain::Plain,
    run::Run,
};

/// A trained network, which computes without gradients.
pub struct Trained {
    classifier: Classifier,
    device: Device,
    batch: usize,
    pub epochs: usize,
    pub seconds: f64,
}

impl Trained {
    pub fn parameters(&self) -> usize {
        self.classifier.network.parameter_count()
    }

    pub fn steps(&self) -> usize {
        self.classifier.steps.get()
    }

    /// The logits of images.
    pub fn outputs(&self, images: &Images) -> Outputs {
        let batches = loader(
            images,
            ImageBatcher::plain(),
            self.batch,
            None,
            &self.device,
        );
        let outputs = batches.iter().map(|batch| {
            let batch = batch.expect("images in memory");
            (self.classifier.forward(batch.images), batch.labels)
        });
        let (logits, labels): (Vec<_>, Vec<_>) = outputs.unzip();
        Outputs {
            logits: Tensor::cat(logits, 0),
            labels: Tensor::cat(labels, 0),
        }
    }
}

fn loader(
    images: &Images,
    batcher: ImageBatcher,
    batch: usize,
    shuffle: Option<u64>,
    device: &Device,
) -> Arc<dyn DataLoader<Batch>> {
    let builder = DataLoaderBuilder::new(batcher)
        .batch_size(batch)
        .set_device(device.clone());
    match shuffle {
        None => builder,
        Some(seed) => builder.shuffle(seed),
    }
    .build(images.clone())
}

pub fn train(run: &Run, data: &Data, folder: &Path, arguments: &Arguments) -> Result<Trained> {
    std::fs::create_dir_all(folder)?;
    let device = arguments.device();
    let training = device.clone().autodiff();
    device.seed(run.seed);

    let batcher = match run.augmentation {
        true => ImageBatcher::augmented(run.seed),
        false => ImageBatcher::plain(),
    };
    let batches = match run.sampler() {
        None => loader(
            &data.training,
            batcher,
            run.batch,
            Some(run.seed),
            &training,
        ),
        Some(sampler) => {
            let first = arguments.resume.unwrap_or(0);
            HoldOutLoader::start(&data.training, batcher, sampler, first, &training)
        }
    };
    let validation = loader(
        &data.validation,
        ImageBatcher::plain(),
        run.batch,
        None,
        &device,
    );

    let classifier = Classifier::new(
        arguments.model.init(data.training.classes.len(), &training),
        Objective::new(run.loss, run.weight, run.schedule, &training),
    );
    let optimiser = SgdConfig::new()
        .with_momentum(Some(MomentumConfig::new().with_momentum(0.9)))
        .with_weight_decay(Some(WeightDecayConfig::new(run.weight_decay as f32)));
    let steps = run.steps(run.epochs);
    let learning_rate = CosineAnnealingLrSchedulerConfig::new(run.learning_rate, steps).init()?;

    // of a whole epoch each, from logits
    let log_loss = EpochMetric::from_logits(LogScore);
    // 199 redraws every epoch: a p-value of at least 0.005, which is enough to watch
    let p_value = PValue::new(
        "Omnibus p-value",
        Summarised(OmnibusTest::new().with_redraws(199)),
        run.seed,
    );
    let best = BestEpoch::new(&log_loss, run.patience);
    let checkpoints = ComposedCheckpointingStrategy::builder()
        .add(KeepLastNCheckpoints::new(1))
        .add(MetricCheckpointingStrategy::new(
            &log_loss,
            Aggregate::Mean,
            Direction::Lowest,
            Split::Valid,
        ))
        .build();
    let mut supervised = SupervisedTraining::new(folder, batches, validation)
        .with_training_strategy(TrainingStrategy::Default(ExecutionStrategy::single(
            training,
        )))
        .metric_train_numeric(LossMetric::new())
        .metric_train_numeric(AccuracyMetric::new())
        .metric_valid_numeric(AccuracyMetric::new())
        .metric_valid_numeric(log_loss)
        .metric_valid_numeric(EpochMetric::from_logits(Brier))
        .metric_valid_numeric(EpochMetric::from_logits(Ece::default()))
        .metric_valid_numeric(EpochMetric::from_logits(Skce::unbiased(
            Kernel::exponential(),
        )))
        .metric_valid_numeric(EpochMetric::from_logits(p_value))
        .with_checkpointing_strategy(checkpoints)
        .with_default_checkpointers()
        .early_stopping(best.clone())
        .num_epochs(run.epochs)
        .summary();
    if !(cfg!(feature = "dashboard") && std::io::stdout().is_terminal()) {
        supervised = supervised.renderer(Box::new(Plain::new(run.name())));
    }
    if let Some(epoch) = arguments.resume {
        supervised = supervised.checkpoint(epoch);
    }
    let start = Instant::now();
    let result = supervised.launch(Learner::new(classifier, optimiser.init(), learning_rate));
    if let Some(error) = result.error {
        return Err(format!("{}: {error}", run.name()).into());
    }
    if let Some(interruption) = result.interrupted {
        let reason = interruption.reason.unwrap_or("stopped".into());
        return Err(format!("{}: {reason}", run.name()).into());
    }
    let mut classifier = result.model;
    if run.patience.is_some() {
        let models: FileCheckpointer = FileCheckpointer::new(folder.join("checkpoint"), "model");
        let record: ModuleRecord =
            Checkpointer::restore(&models, best.epoch()).map_err(|error| format!("{error:?}"))?;
        classifier = classifier.load_record(record);
    }
    Ok(Trained {
        classifier,
        device,
        batch: run.batch,
        epochs: best.last(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Stops when the validation log loss has not been lower for some epochs, and remembers the best.
#[derive(Clone)]
struct BestEpoch {
    strategy: Option<MetricEarlyStoppingStrategy>,
    metric: MetricName,
    best: Arc<AtomicUsize>,
    last: Arc<AtomicUsize>,
}

impl BestEpoch {
    fn new(metric: &EpochMetric<LogScore>, patience: Option<usize>) -> Self {
        let (lowest, valid) = (Direction::Lowest, Split::Valid);
        let strategy = |n_epochs| {
            let condition = StoppingCondition::NoImprovementSince { n_epochs };
            MetricEarlyStoppingStrategy::new(metric, Aggregate::Mean, lowest, valid, condition)
        };
        Self {
            strategy: patience.map(strategy),
            metric: burn::train::metric::Metric::name(metric),
            best: Arc::default(),
            last: Arc::default(),
        }
    }

    /// The epoch with the lowest loss.
    fn epoch(&self) -> usize {
        self.best.load(Ordering::Relaxed)
    }

    /// The last epoch.
    fn last(&self) -> usize {
        self.last.load(Ordering::Relaxed)
    }
}

impl EarlyStoppingStrategy for BestEpoch {
    fn should_stop(&mut self, epoch: usize, store: &EventStoreClient) -> bool {
        self.last.store(epoch, Ordering::Relaxed);
        let best = store.find_epoch(
            &self.metric,
            Aggregate::Mean,
            Direction::Lowest,
            &Split::Valid,
        );
        self.best.store(best.unwrap_or(epoch), Ordering::Relaxed);
        self.strategy
            .as_mut()
            .is_some_and(|strategy| strategy.should_stop(epoch, store))
    }
}
