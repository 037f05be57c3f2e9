//! What training minimises.

use std::ops::Range;

use burn::{
    module::Module,
    nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig},
    tensor::{Int, Tensor},
};
use burn_calibration::{
    estimator::MmceForm,
    loss::{Criterion, FocalLoss, MmceLoss, SkceLoss},
    prelude::*,
};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    CrossEntropy,
    /// Cross-entropy and the unbiased SKCE: exponential kernel over total variation, bandwidth 1
    Skce,
    /// Cross-entropy and the root of the biased SKCE
    SkceRoot,
    /// Cross-entropy and the unbiased SKCE over its standard deviation
    SkceStandardised,
    /// Cross-entropy and the weighted MMCE of Kumar et al. (2018)
    Mmce,
    Focal,
    /// Cross-entropy with smoothed labels
    LabelSmoothing,
}

impl Loss {
    /// The weight of the penalty, or the parameter of the loss, if nothing else is asked for.
    pub fn default_weight(self) -> f64 {
        match self {
            Self::CrossEntropy => 0.0,
            Self::Skce => 4.0, // these three as in docs/penalties.md
            Self::SkceRoot => 1.0,
            Self::SkceStandardised => 0.01,
            Self::Mmce => 1.0,
            Self::Focal => 3.0,           // γ of Mukhoti et al. (2020)
            Self::LabelSmoothing => 0.05, // as there
        }
    }

    pub fn is_penalised(self) -> bool {
        match self {
            Self::Skce | Self::SkceRoot | Self::SkceStandardised | Self::Mmce => true,
            Self::CrossEntropy | Self::Focal | Self::LabelSmoothing => false,
        }
    }
}

/// The loss of a batch.
#[derive(Module, Debug)]
pub enum Objective {
    CrossEntropy(CrossEntropyLoss),
    Skce(PenalisedLoss<CrossEntropyLoss, SkceLoss>),
    Mmce(PenalisedLoss<CrossEntropyLoss, MmceLoss>),
    Focal(FocalLoss),
}

impl Objective {
    /// The schedule is that of a penalty; other losses have their parameter from the start.
    pub fn new(
        loss: Loss,
        weight: f64,
        schedule: WeightSchedule,
        device: &burn::tensor::Device,
    ) -> Self {
        let smoothing = match loss {
            Loss::LabelSmoothing => Some(weight as f32),
            _ => None,
        };
        let base = CrossEntropyLossConfig::new().with_smoothing(smoothing);
        let base = base.init(device);
        let of_skce =
            |config: SkceLossConfig| PenalisedLoss::new(base.clone(), config.init(), schedule);
        match loss {
            Loss::CrossEntropy | Loss::LabelSmoothing => Self::CrossEntropy(base),
            Loss::Skce => Self::Skce(of_skce(SkceLossConfig::new())),
            Loss::SkceRoot => Self::Skce(of_skce(SkceLossConfig::root())),
            Loss::SkceStandardised => Self::Skce(of_skce(SkceLossConfig::standardised())),
            Loss::Mmce => {
                let penalty = MmceLossConfig::new().with_form(MmceForm::Weighted).init();
                Self::Mmce(PenalisedLoss::new(base, penalty, schedule))
            }
            Loss::Focal => Self::Focal(FocalLossConfig::new().with_gamma(weight).init()),
        }
    }

    /// Of logits `[n, m]` and labels `[n]` at a training step: `[1]`. If not all rows are of the base
    /// loss, a penalty is that of the others.
    pub fn forward(&self, (logits, labels): Rows, base: usize, step: usize) -> Tensor<1> {
        match self {
            Self::CrossEntropy(loss) => loss.forward(logits, labels),
            Self::Skce(loss) => penalised(loss, (logits, labels), base, step),
            Self::Mmce(loss) => penalised(loss, (logits, labels), base, step),
            Self::Focal(loss) => loss.forward(logits, labels),
        }
    }
}

/// Logits `[n, m]` and labels `[n]`.
type Rows = (Tensor<2>, Tensor<1, Int>);

fn penalised<P: Module + Criterion>(
    loss: &PenalisedLoss<CrossEntropyLoss, P>,
    (logits, labels): Rows,
    base: usize,
    step: usize,
) -> Tensor<1> {
    let [n, _] = logits.dims();
    if base == n {
        return loss.forward(logits, labels, step);
    }
    let part = |rows: Range<usize>| {
        let logits = logits.clone().slice(rows.clone());
        (logits, labels.clone().slice(rows))
    };
    loss.forward_held_out(part(0..base), part(base..n), step)
}
