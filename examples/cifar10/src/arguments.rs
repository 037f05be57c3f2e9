use std::path::PathBuf;

use burn::tensor::Device;
use burn_calibration::loss::WeightSchedule;
use burn_calibration_models::Architecture;
use clap::{Parser, ValueEnum};

use crate::{held_out::HoldOut, objective::Loss, run::Run};

/// Train on CIFAR-10 with a calibration penalty, recalibrate, test
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Folder with train/<class>/*.jpg and test/<class>/*.jpg [without it: Burn's own download, if the
    /// feature `download` is compiled in]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Folder of the results, one folder a run; a run that is finished there is not repeated
    #[arg(long, value_name = "DIR", default_value = "target/cifar10")]
    pub out: PathBuf,

    /// Network: lenet5, resnet20, resnet110-sd, wrn-16-8, densenet40 and so on
    #[arg(long, default_value = "lenet5")]
    pub model: Architecture,

    /// What to minimise, one run for each
    #[arg(long, value_enum, num_args = 1.., default_values = ["cross-entropy", "skce"])]
    pub loss: Vec<Loss>,

    /// Weight λ of the penalty; γ of the focal loss; the smoothing of labels [default: 4 for the SKCE, 1 for
    /// its root, 0.01 standardised, 1 for the MMCE; 3; 0.05]
    #[arg(long, value_parser = at_least_zero)]
    pub weight: Option<f64>,

    /// Which training images the penalty looks at
    #[arg(long, value_enum, default_value_t = PenaltyOn::Training)]
    penalty_on: PenaltyOn,

    /// How λ changes from step to step
    #[arg(long, value_enum, default_value_t = Schedule::WarmUp)]
    schedule: Schedule,

    /// Epochs over which λ changes [default: all]
    #[arg(long)]
    schedule_epochs: Option<usize>,

    /// First seed: of the weights, the order of the images, their augmentation and the tests
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Number of seeds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,

    /// Passes over the training images
    #[arg(long, default_value_t = 10, value_parser = positive)]
    epochs: usize,

    /// Images in a batch: a penalty compares them with each other
    #[arg(long, default_value_t = 128, value_parser = positive)]
    batch: usize,

    /// Of SGD with momentum 0.9; falls to 0 by a half cosine
    #[arg(long, default_value_t = 0.05, value_parser = at_least_zero)]
    learning_rate: f64,

    #[arg(long, default_value_t = 5e-4, value_parser = at_least_zero)]
    weight_decay: f64,

    /// Images as they are, neither moved nor mirrored
    #[arg(long)]
    no_augmentation: bool,

    /// Training images kept for validation: early stopping and the temperature
    #[arg(long, default_value_t = 5000, value_parser = positive)]
    pub validation: usize,

    /// Train on so many images
    #[arg(long, value_name = "IMAGES", value_parser = positive)]
    pub limit: Option<usize>,

    /// Stop after so many epochs without a lower validation log loss, and go back to the lowest
    #[arg(long, value_name = "EPOCHS", value_parser = positive)]
    patience: Option<usize>,

    /// Resume the (only) run from the checkpoint of this epoch
    #[arg(long, value_name = "EPOCH", value_parser = positive)]
    pub resume: Option<usize>,

    /// Bandwidth of the kernel of evaluation (exponential over total variation), one for all runs so
    /// that their SKCE can be compared
    #[arg(long, default_value_t = 0.8, value_parser = at_least_zero)]
    bandwidth: f64,

    /// Redraws of the omnibus test of the trained network
    #[arg(long, value_name = "REDRAWS", default_value_t = 999, value_parser = positive)]
    pub redraws: usize,

    /// Write no report of the test images, which has tests of its own
    #[arg(long)]
    pub no_report: bool,

    /// Backend to compute on, among those compiled in [default: the best of them]
    #[arg(long, value_enum)]
    device: Option<Backend>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PenaltyOn {
    /// Those of the base loss
    Training,
    /// A tenth, which the base loss does not see
    HeldOut,
    /// Another tenth in every epoch
    Rotating,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schedule {
    Constant,
    /// From 0 to λ in equal steps
    WarmUp,
    /// From λ to 0 by a half cosine
    Cosine,
}

/// The features decide which there are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Backend {
    Flex,
    #[cfg(feature = "ndarray")]
    Ndarray,
    #[cfg(feature = "wgpu")]
    Wgpu,
    #[cfg(feature = "cuda")]
    Cuda,
}

impl Arguments {
    /// The runs, seeds of a loss together.
    pub fn runs(&self, images: usize) -> Vec<Run> {
        let seeds = self.seed..self.seed + self.seeds;
        let of_loss = |&loss: &Loss| {
            let seeds = seeds.clone();
            seeds.map(move |seed| self.run(loss, seed, images))
        };
        self.loss.iter().flat_map(of_loss).collect()
    }

    fn run(&self, loss: Loss, seed: u64, images: usize) -> Run {
        let weight = self.weight.unwrap_or(loss.default_weight());
        let epochs = self.schedule_epochs.unwrap_or(self.epochs);
        let run = Run {
            model: self.model.to_string(),
            loss,
            weight,
            schedule: WeightSchedule::Constant(weight),
            hold_out: match self.penalty_on {
                _ if !loss.is_penalised() => None,
                PenaltyOn::Training => None,
                PenaltyOn::HeldOut => Some(HoldOut::Fixed { fraction: 0.1 }),
                PenaltyOn::Rotating => Some(HoldOut::Rotating { folds: 10 }),
            },
            seed,
            epochs: self.epochs,
            batch: self.batch,
            learning_rate: self.learning_rate,
            weight_decay: self.weight_decay,
            augmentation: !self.no_augmentation,
            images,
            validation: self.validation,
            patience: self.patience,
            bandwidth: self.bandwidth,
        };
        let steps = run.steps(epochs);
        let schedule = match self.schedule {
            _ if !loss.is_penalised() => run.schedule,
            Schedule::Constant => run.schedule,
            Schedule::WarmUp => WeightSchedule::WarmUp { weight, steps },
            Schedule::Cosine => WeightSchedule::Cosine {
                from: weight,
                to: 0.0,
                steps,
            },
        };
        Run { schedule, ..run }
    }

    pub fn device(&self) -> Device {
        match self.device {
            None => Device::default(),
            Some(Backend::Flex) => Device::flex(),
            // upstream deprecates the backend; it stays a supported feature here
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)]
            Some(Backend::Ndarray) => Device::ndarray(),
            #[cfg(feature = "wgpu")]
            Some(Backend::Wgpu) => Device::wgpu(Default::default()),
            #[cfg(feature = "cuda")]
            Some(Backend::Cuda) => Device::cuda(0),
        }
    }
}

fn at_least_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("expected a finite number of at least 0".into()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".into()),
        Ok(n) => Ok(n),
    }
}
