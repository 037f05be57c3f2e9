use std::fmt::Debug;

use burn::{module::Module, tensor::Tensor};

use crate::{distribution::Predictive, score::Score};

/// A proper score of predictive distributions, averaged over the batch: trains a network whose outputs
/// are the parameters of distributions.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::Normal, loss::ScoreLoss, score::Crps};
///
/// let device = Device::default().autodiff();
/// let raw = Tensor::<2>::from_floats([[1.5, 0.0], [0.0, -1.0]], &device).require_grad(); // a network's output
/// let targets = Tensor::<2>::from_floats([[1.0], [0.5]], &device);
/// let loss = ScoreLoss::new(Crps);
/// let gradients = loss.forward(&Normal::from_raw(raw.clone(), 1e-3), &targets).backward();
/// assert!(raw.grad(&gradients).is_some());
/// ```
#[derive(Module, Debug)]
pub struct ScoreLoss<S: Clone + Debug + Send> {
    /// The score.
    #[module(skip)]
    pub score: S,
}

impl<S: Clone + Debug + Send> ScoreLoss<S> {
    /// By the given score.
    pub fn new(score: S) -> Self {
        Self { score }
    }

    /// The mean score.
    ///
    /// # Shapes
    ///
    /// - predictions: `n`
    /// - targets: `n`
    /// - output: `[1]`, in the dtype of the predictions
    ///
    /// # Panics
    ///
    /// As [`Score::values`].
    pub fn forward<P: Predictive>(&self, predictions: &P, targets: &P::Targets) -> Tensor<1>
    where
        S: Score<P>,
    {
        self.forward_no_reduction(predictions, targets).mean()
    }

    /// The score of each sample, `[n]`.
    pub fn forward_no_reduction<P: Predictive>(
        &self,
        predictions: &P,
        targets: &P::Targets,
    ) -> Tensor<1>
    where
        S: Score<P>,
    {
        self.score.values(predictions, targets)
    }
}
