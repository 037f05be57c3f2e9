use std::fmt::Debug;

use burn::tensor::{DType, Device, Tensor};
use rand::Rng;

use super::{Redraws, Targets, Weighted};
use crate::{error::Result, host::int_tensor};

/// Draws a target from the prediction of each of the given rows.
pub type Sampler<P> = Box<dyn Fn(&[usize], &mut dyn Rng) -> DrawnBy<P>>;

/// Targets of a kind of prediction on the host.
pub type DrawnBy<P> = <<P as Predictive>::Targets as Targets>::Drawn;

/// Predictive distributions of `n` samples, which estimators, losses and tests take. Kernels ask for a
/// [`Geometry`](super::Geometry) as well.
///
/// The parameters are tensors, through which gradients flow. Constructors assert shapes and read nothing
/// back from the device; functions that take data call [`check`](Self::check).
///
/// A kind of your own needs its parameters ([`parameter`](Self::parameter), [`map`](Self::map)), a check
/// of them, and a sampler. Its [`Unconditional`](Self::Unconditional) predictions are itself. What else
/// predictions can do follows from these, or is a role of its own:
///
/// | trait | content | a kind of your own |
/// | --- | --- | --- |
/// | [`Batch`](super::Batch) | rows, gradients and assertions of a batch | has it |
/// | [`Weighted`](super::Weighted) | weights of the samples | `impl Weighted for Mine {}`: none |
/// | [`Redraws`](super::Redraws) | targets of calibrated predictions, for tests | `impl Redraws for Mine {}`: by the sampler |
/// | [`Geometry`](super::Geometry), [`Marginals`](super::Marginals), [`Density`](super::Density) | distances, moments, densities | where they are known |
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not predictions",
    label = "not predictions of this library",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`",
    note = "a loss takes the tensor of logits itself, and not a reference to it"
)]
pub trait Predictive: Weighted + Redraws + Clone + Debug + 'static {
    /// The type of the observations.
    type Targets: Targets;

    /// The type of the predictions without a variable that they are [`Given`](super::Given); for other
    /// predictions the type itself. Base losses take these predictions.
    type Unconditional: Predictive<Targets = Self::Targets>;

    /// The predictions without the variable that they are given.
    fn unconditional(&self) -> &Self::Unconditional;

    /// A tensor of parameters, a row for each prediction. It tells the number of
    /// predictions, their device and their dtype.
    fn parameter(&self) -> Tensor<2>;

    /// The number `m` of classes, or the dimension `d` of the targets.
    fn dimensions(&self) -> usize;

    /// The predictions whose parameters are `f` of these, tensor by tensor.
    ///
    /// # Shapes
    ///
    /// - `f`: from `[n, w]` to `[n', w]`, for each width `w` that the parameters of a prediction have
    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self;

    /// Checks that the parameters are valid, and that there are no weights: functions that take weights
    /// check the predictions without weights, see [`parted`](Weighted::parted).
    ///
    /// # Errors
    ///
    /// The row, its value, and the condition that was expected; weights of the samples.
    fn check(&self) -> Result<()>;

    /// Checks that there is one valid target for each prediction.
    ///
    /// # Errors
    ///
    /// The row, its value, and the condition that was expected; real targets of another dtype than the
    /// predictions.
    fn check_targets(&self, targets: &Self::Targets) -> Result<()> {
        targets.check(self.len(), self.dimensions(), self.dtype())
    }

    /// Checks that the others are over the same targets.
    ///
    /// # Errors
    ///
    /// The number of classes or dimensions of both, where they differ.
    fn check_like(&self, other: &Self) -> Result<()> {
        match (other.dimensions(), self.dimensions()) {
            (got, expected) if got == expected => Ok(()),
            (got, expected) => Err(Self::Targets::mismatch(got, expected)),
        }
    }

    /// Draws targets, on the host.
    fn sampler(&self) -> Sampler<Self>;

    /// Draws one target from each prediction.
    fn sample(&self, rng: &mut dyn Rng) -> Self::Targets {
        let rows: Vec<usize> = (0..self.len()).collect();
        self.observed(&self.sampler()(&rows, rng))
    }

    /// The number `n` of predictions.
    fn len(&self) -> usize {
        self.parameter().dims()[0]
    }

    /// Returns whether there are no predictions.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device of the parameters.
    fn device(&self) -> Device {
        self.parameter().device()
    }

    /// The dtype of the parameters.
    fn dtype(&self) -> DType {
        self.parameter().dtype()
    }

    /// The predictions of the given samples, in their order; one may come several times.
    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device());
        self.map(&|parameter| parameter.select(0, rows.clone()))
    }
}

/// `[batches · n, d] → [batches, n, d]`.
pub(crate) fn in_batches(rows: Tensor<2>, batches: usize) -> Tensor<3> {
    let [n, d] = rows.dims();
    rows.reshape([batches, n / batches, d])
}
