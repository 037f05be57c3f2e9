//! One training: what it is called and what it was told.

use burn_calibration::loss::WeightSchedule;
use serde::{Deserialize, Serialize};

use crate::objective::Loss;

/// The settings of a run, which its results repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub model: String,
    pub loss: Loss,
    /// The weight of the penalty, or the parameter of the loss.
    pub weight: f64,
    pub schedule: WeightSchedule,
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
            Loss::Mmce => format!("ce+{}mmce", self.weight),
            Loss::Focal => format!("focal{}", self.weight),
            Loss::LabelSmoothing => format!("smooth{}", self.weight),
        };
        format!("{}-{loss}", self.model)
    }

    pub fn batches_per_epoch(&self) -> usize {
        self.images.div_ceil(self.batch)
    }
}
