//! One training: what it is called and what it was told.

use burn_calibration::loss::WeightSchedule;
use serde::{Deserialize, Serialize};

use crate::{
    held_out::{HoldOut, HoldOutSampler},
    objective::Loss,
};

/// The settings of a run, which its results repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub model: String,
    pub loss: Loss,
    /// The weight of the penalty, or the parameter of the loss.
    pub weight: f64,
    pub schedule: WeightSchedule,
    /// The training images that the penalty looks at; none if they are those of the base loss.
    #[serde(default)]
    pub hold_out: Option<HoldOut>,
    pub seed: u64,
    pub epochs: usize,
    pub batch: usize,
    pub learning_rate: f64,
    pub weight_decay: f64,
    pub augmentation: bool,
    /// Training images.
    pub images: usize,
    /// Validation images.
    pub validation: usize,
    /// Epochs without a lower validation log loss after which training stops.
    pub patience: Option<usize>,
    /// The bandwidth of the kernel of evaluation.
    pub bandwidth: f64,
}

impl Run {
    /// As of the folder of the run.
    pub fn name(&self) -> String {
        format!("{}-seed{}", self.method(), self.seed)
    }

    /// As of the runs that differ in the seed alone.
    pub fn method(&self) -> String {
        let loss = match self.loss {
            Loss::CrossEntropy => "ce".to_owned(),
            Loss::Skce => format!("ce+{}skce", self.weight),
            Loss::SkceRoot => format!("ce+{}root", self.weight),
            Loss::SkceStandardised => format!("ce+{}z", self.weight),
            Loss::Mmce => format!("ce+{}mmce", self.weight),
            Loss::Focal => format!("focal{}", self.weight),
            Loss::LabelSmoothing => format!("smooth{}", self.weight),
        };
        let hold_out = match self.hold_out {
            None => "",
            Some(HoldOut::Rotating { .. }) => "-rotating",
            Some(HoldOut::Fixed { .. }) => "-held-out",
        };
        format!("{}-{loss}{hold_out}", self.model)
    }

    /// Divides the images where the penalty has its own; it compares as many at a time as the base loss
    /// has in a batch.
    pub fn sampler(&self) -> Option<HoldOutSampler> {
        let sampler = |hold_out| HoldOutSampler::new(self.images, self.batch, hold_out, self.seed);
        let sampler = self.hold_out.map(sampler)?;
        Some(sampler.with_penalty_batch(self.batch))
    }

    /// The steps of so many epochs.
    pub fn steps(&self, epochs: usize) -> usize {
        match self.sampler() {
            None => epochs * self.images.div_ceil(self.batch),
            Some(sampler) => (0..epochs).map(|epoch| sampler.steps(epoch)).sum(),
        }
    }
}
