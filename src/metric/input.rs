use burn::{
    tensor::{Int, Tensor},
    train::{ClassificationOutput, metric::Adaptor},
};

/// The outputs of a model on a batch and what was observed, which an
/// [`EpochMetric`](super::EpochMetric) takes. An output type of your own becomes usable by an
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
