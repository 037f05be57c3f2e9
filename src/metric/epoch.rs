use std::sync::Arc;

use burn::{
    tensor::{Int, Tensor, TensorReadError},
    train::{
        ClassificationOutput,
        metric::{
            Adaptor, Metric, MetricAttributes, MetricMetadata, MetricName, Numeric,
            NumericAttributes, NumericEntry, SerializedEntry, format_float,
        },
    },
};

use super::Quantity;
use crate::{
    distribution::{Categorical, Targets},
    error::{Result, check_length},
};

/// The outputs of a model on a batch and what was observed, which an
/// [`EpochMetric`] takes. An output type of your own becomes usable by an
/// `Adaptor<CalibrationInput>`.
#[derive(Debug, Clone)]
pub struct CalibrationInput {
    /// Logits or probabilities, as the metric was made for: `[n, m]`.
    pub output: Tensor<2>,
    /// Labels: `[n]`, classes in `0..m`.
    pub labels: Tensor<1, Int>,
}

/// Shares the tensors of the output, copies nothing.
impl Adaptor<CalibrationInput> for ClassificationOutput {
    fn adapt(&self) -> CalibrationInput {
        CalibrationInput {
            output: self.output.clone(),
            labels: self.targets.clone(),
        }
    }
}

/// A [`Quantity`] of all predictions of an epoch, as a numeric metric of Burn's trainer.
///
/// The constructor says whether the model gives logits or probabilities; nothing is guessed from the
/// values. There is no value before the epoch ends, and none for a batch.
///
/// **Memory.** The outputs of the epoch stay where they are, on their device and in their dtype:
/// `n·m` numbers and `n` labels until the epoch ends, shared by all metrics of an output since tensors
/// are counted references. While a metric is computed there is a concatenated copy, and what the
/// quantity needs. For `n` in the tens of thousands of training samples register the metric for the
/// validation data alone.
///
/// **Training data.** Of training epochs the predictions are those of a model that changes with
/// every batch, and that drops units out: expect another value than of the trained model.
///
/// **Errors.** Burn lets a metric fail by failed reads of tensors only, and ends the training then.
/// Where the quantity is undefined (a logit that is NaN, rows that are no distributions, a label that
/// is no class, too few samples) the value of the epoch is NaN, never a number: the error with row,
/// class and value is the text of the entry and a warning in the log, and training goes on. Rows
/// count from the beginning of the epoch. NaN is never the best epoch of early stopping; checkpoints
/// of the best epoch begin with the first that has a number. An epoch without batches has no value
/// ("N/A").
///
/// **Several devices.** Outputs are gathered on the device of the first batch of the epoch. With
/// `ExecutionStrategy::ddp` Burn ends the training epoch when the main device has finished, so that
/// batches of the others can fall into the next epoch; validation is on the main device alone.
#[derive(Debug, Clone)]
#[must_use]
pub struct EpochMetric<Q> {
    quantity: Q,
    name: MetricName,
    scale: Scale,
    batches: Vec<CalibrationInput>,
    /// The value of the epoch, once computed.
    value: Option<f64>,
}

/// The output of the model.
#[derive(Debug, Clone, Copy)]
enum Scale {
    Logits,
    Probabilities,
}

impl<Q: Quantity> EpochMetric<Q> {
    /// Takes the output of the model as logits.
    pub fn from_logits(quantity: Q) -> Self {
        Self::new(quantity, Scale::Logits)
    }

    /// Takes the output of the model as probabilities.
    pub fn from_probabilities(quantity: Q) -> Self {
        Self::new(quantity, Scale::Probabilities)
    }

    fn new(quantity: Q, scale: Scale) -> Self {
        Self {
            name: Arc::new(quantity.name()),
            quantity,
            scale,
            batches: Vec::new(),
            value: None,
        }
    }

    /// Sets the name, which must differ from those of other metrics.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Arc::new(name.into()),
            ..self
        }
    }

    /// The value of all batches.
    fn of_epoch(&self) -> Result<f64> {
        let (output, labels) = self.epoch()?;
        let predictions = match self.scale {
            Scale::Logits => Categorical::from_logits(output),
            Scale::Probabilities => Categorical::from_probabilities(output),
        }?;
        self.quantity.value(&predictions, &labels)
    }

    /// Joins all batches: `[n, m]` and `[n]`.
    fn epoch(&self) -> Result<(Tensor<2>, Tensor<1, Int>)> {
        let first = &self.batches[0].output;
        let (device, expected) = (first.device(), first.dims()[1]);
        for batch in &self.batches {
            let ([predictions, classes], [labels]) = (batch.output.dims(), batch.labels.dims());
            if classes != expected {
                return Err(Tensor::<1, Int>::mismatch(classes, expected));
            }
            check_length(predictions, labels, "label")?;
        }
        let gathered = self.batches.iter().map(|batch| {
            let (output, labels) = (batch.output.clone(), batch.labels.clone());
            (output.to_device(&device), labels.to_device(&device))
        });
        let (outputs, labels) = gathered.unzip();
        Ok((Tensor::cat(outputs, 0), Tensor::cat(labels, 0)))
    }
}

impl<Q: Quantity> Metric for EpochMetric<Q> {
    type Input = CalibrationInput;

    fn name(&self) -> MetricName {
        self.name.clone()
    }

    fn description(&self) -> Option<String> {
        Some(format!("{:?}, of the whole epoch", self.quantity))
    }

    fn attributes(&self) -> MetricAttributes {
        NumericAttributes {
            unit: None,
            higher_is_better: self.quantity.higher_is_better(),
        }
        .into()
    }

    fn update(
        &mut self,
        batch: &CalibrationInput,
        _metadata: &MetricMetadata,
    ) -> Result<SerializedEntry, TensorReadError> {
        self.batches.push(CalibrationInput {
            output: batch.output.clone().without_autodiff(),
            labels: batch.labels.clone().without_autodiff(),
        });
        Ok(SerializedEntry::not_available(None))
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        if self.batches.is_empty() {
            return Ok(SerializedEntry::not_available(None));
        }
        let (value, text) = match self.of_epoch() {
            Ok(value) => (value, format!("epoch {}", format_float(value, 4))),
            Err(error) => {
                log::warn!("{} of the epoch is undefined: {error}", self.name);
                (f64::NAN, format!("epoch NaN: {error}"))
            }
        };
        self.value = Some(value);
        Ok(SerializedEntry::new(
            text,
            NumericEntry::Final(value).serialize(),
        ))
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.value = None;
    }
}

impl<Q: Quantity> Numeric for EpochMetric<Q> {
    fn value(&self) -> Option<NumericEntry> {
        self.value.map(NumericEntry::Value)
    }

    fn running_value(&self) -> Option<NumericEntry> {
        self.value()
    }

    fn final_value(&self) -> NumericEntry {
        NumericEntry::Final(self.value.unwrap_or(f64::NAN))
    }
}
