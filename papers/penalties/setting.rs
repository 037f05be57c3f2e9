//! What is trained: everything that decides on the result.

use burn_calibration::kernel::Bandwidth;
use serde::{Deserialize, Serialize};

/// A bandwidth of the kernel on predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    Fixed(f64),
    /// The median of the batch, but at least this share of the spread of its predictions, which of classes
    /// is 1.
    MedianAbove(f64),
}

impl Width {
    pub fn name(self) -> String {
        match self {
            Self::Fixed(width) => width.to_string(),
            Self::MedianAbove(least) if least < 1e-6 => "median".into(),
            Self::MedianAbove(least) => format!("median ≥ {least}"),
        }
    }

    pub fn bandwidth(self) -> Bandwidth {
        match self {
            Self::Fixed(width) => Bandwidth::Fixed(width),
            Self::MedianAbove(least) => Bandwidth::MedianAtLeast(least),
        }
    }
}

/// The samples that a penalty sees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Samples {
    /// Those of the base loss.
    Training,
    /// A fifth of the training rows, another in each epoch, which the base loss does not see in it.
    Rotating,
    /// A tenth of the training rows, which the base loss never sees.
    HeldOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimiser {
    /// Learning rate 0.001, weight decay added to the gradient.
    Adam,
    /// Learning rate 0.1.
    Sgd,
}

/// The rows that a network is evaluated on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    Validation,
    Test,
}

/// One training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub data: String,
    pub rows: usize,
    /// A name in the table of losses.
    pub loss: String,
    pub weight: f64,
    pub width: Width,
    pub samples: Samples,
    /// Share of the steps over which the weight grows from 0.
    pub warm_up: f64,
    pub optimiser: Optimiser,
    pub decay: f64,
    pub epochs: usize,
    /// A factor of the first weights of the output layer.
    pub start: f64,
    pub seed: u64,
    pub on: On,
}

/// What is known of a network, before or after recalibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Accuracy; of regression, the root mean squared error.
    pub accuracy: f64,
    pub log_loss: f64,
    /// Brier score; of regression, CRPS.
    pub brier: f64,
    /// Unbiased.
    pub skce: f64,
    /// Calibration error of the top label, debiased; of regression, of the quantiles.
    pub ece: f64,
    /// Of the omnibus test, on test rows only.
    pub p_value: Option<f64>,
}

impl Numbers {
    /// The mean of some, without p-values; nothing of none.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| Self {
            accuracy: mean(|n| n.accuracy),
            log_loss: mean(|n| n.log_loss),
            brier: mean(|n| n.brier),
            skce: mean(|n| n.skce),
            ece: mean(|n| n.ece),
            p_value: None,
        })
    }
}

/// A training and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub setting: Setting,
    /// Nothing if the training diverged.
    pub before: Option<Numbers>,
    pub after: Option<Numbers>,
    /// The fitted temperature.
    pub temperature: Option<f64>,
    /// A step of training, in microseconds: the median.
    pub step: Option<f64>,
}
