use std::{cell::RefCell, fmt::Debug, ops::Range};

use burn::tensor::{DType, Device, Tensor};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Redrawer, Redrawn, RedrawnBy, Targets, Weights, weights};
use crate::{
    error::{Error, Result},
    host::int_tensor,
};

/// Draws a target from the prediction of each of the given rows.
pub type Sampler<P> = Box<dyn Fn(&[usize], &mut dyn Rng) -> DrawnBy<P>>;

/// Targets of a kind of prediction on the host.
pub type DrawnBy<P> = <<P as Predictive>::Targets as Targets>::Drawn;

/// The targets that [`Predictive::expected_targets`] draws, at least.
const EXPECTED_DRAWS: usize = 100;

/// Predictive distributions of `n` samples, which estimators, losses and tests take. Kernels ask for a
/// [`Geometry`](super::Geometry) as well.
///
/// The parameters are tensors, through which gradients flow. Constructors assert shapes and read nothing
/// back from the device; functions that take data call [`check`](Self::check).
///
/// A kind of your own needs its parameters ([`parameter`](Self::parameter), [`map`](Self::map)), a check
/// of them, and a sampler. Its [`Unconditional`](Self::Unconditional) predictions are itself.
pub trait Predictive: Clone + Debug {
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

    /// The weights of the samples, `[n, 1]`. None where each sample counts once.
    fn sample_weights(&self) -> Option<Tensor<2>> {
        None
    }

    /// The same predictions with these weights of the samples, `[n, 1]`, or without weights. None where such
    /// predictions cannot carry weights.
    fn with_sample_weights(&self, weights: Option<Tensor<2>>) -> Option<Self> {
        weights.is_none().then(|| self.clone())
    }

    /// The samples with a positive weight, which carry their weights: predictions, and their targets. Messages count
    /// the rows of these.
    ///
    /// Means over samples become weighted means, `Σ w_i x_i/Σ w_i`, and means over pairs have the weights
    /// `w_i w_j`. Only ratios of weights matter. Functions that take no weights return an error. Equal
    /// weights give the numbers without weights. Integer weights give the means of repeated rows, but other
    /// intervals and p-values, because repeated rows count as independent samples.
    /// [`guide::weights`](crate::guide::weights) says what takes weights.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{
    ///     distribution::{Categorical, Predictive}, estimator::{Accuracy, Estimator},
    /// };
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::from_floats([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 0, 1], &device);
    /// let weights = Tensor::<1>::from_floats([3.0, 1.0, 0.0], &device);
    /// let (weighted, labels) = Categorical::from_probabilities(rows)?.weighted(&weights, &labels)?;
    /// assert_eq!(weighted.len(), 2);
    /// assert_eq!(Accuracy.estimate(&weighted, &labels)?, 0.75);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Another number of weights than predictions, a weight that is negative or not finite, with its row; no positive
    /// weight; another number of targets than predictions; predictions that cannot carry weights.
    fn weighted(
        &self,
        weights: &Tensor<1>,
        targets: &Self::Targets,
    ) -> Result<(Self, Self::Targets)> {
        let n = self.len();
        targets.check_shape(n, self.dimensions(), self.dtype())?;
        let (rows, column) = weights::checked(weights, n)?;
        let (kept, targets) = if rows.len() == n {
            (self.clone(), targets.clone())
        } else {
            (self.select_rows(&rows), targets.select_rows(&rows))
        };
        let column = column.map(|column| column.to_device(&self.device()));
        let weighted = kept.with_sample_weights(column).ok_or_else(no_weights)?;
        Ok((weighted, targets))
    }

    /// The predictions of a training batch with weights, for a weighted mean of a loss. Nothing is read
    /// back: samples of weight 0 stay, and do not count.
    ///
    /// # Shapes
    ///
    /// - weights: `[n]`, finite and at least 0
    ///
    /// # Panics
    ///
    /// If there is another number of weights than predictions, or such predictions cannot carry weights.
    fn weighted_batch(&self, weights: Tensor<1>) -> Self {
        let n = self.len();
        assert_eq!(weights.dims()[0], n, "numbers of weights and predictions");
        let column = weights.detach().reshape([n, 1]);
        let weighted = self.with_sample_weights(Some(column));
        weighted.unwrap_or_else(|| panic!("{}", no_weights()))
    }

    /// Splits predictions into predictions without weights, and the weights. Functions that take weights
    /// begin with this. Other functions [check](Self::check) the predictions, and refuse weights.
    fn parted(&self) -> (Self, Weights) {
        let weights = self.sample_weights();
        if weights.is_none() {
            return (self.clone(), Weights::default());
        }
        let plain = self.with_sample_weights(None);
        (
            plain.expect("predictions with weights"),
            Weights::of(weights),
        )
    }

    /// The predictions of a training batch without weights, and the weights in their dtype. It reads
    /// nothing back from the device.
    fn batch_parts(&self) -> (Self, Option<Tensor<2>>) {
        let Some(weights) = self.sample_weights() else {
            return (self.clone(), None);
        };
        let plain = self.with_sample_weights(None);
        let weights = weights.cast(self.dtype());
        (plain.expect("predictions with weights"), Some(weights))
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

    /// Detaches the predictions from gradients.
    fn detach(&self) -> Self {
        self.map(&Tensor::detach)
    }

    /// Takes the predictions, without gradients, to the device and the dtype of others.
    fn like(&self, other: &Self) -> Self {
        let (device, dtype) = (other.device(), other.dtype());
        self.map(&|parameter| parameter.detach().to_device(&device).cast(dtype))
    }

    /// The predictions of consecutive samples.
    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.map(&|parameter| parameter.slice(rows.clone()))
    }

    /// The predictions of the given samples, in their order; one may come several times.
    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device());
        self.map(&|parameter| parameter.select(0, rows.clone()))
    }

    /// Returns 0 with gradient 0 for each parameter, `[1]`: the value of a batch that is too small.
    fn zero(&self) -> Tensor<1> {
        let sum = RefCell::new(Tensor::zeros([1], (&self.device(), self.dtype())));
        self.map(&|parameter| {
            sum.replace_with(|sum| sum.clone() + parameter.clone().sum() * 0.0);
            parameter
        });
        sum.into_inner()
    }

    /// Checks that the parameters are valid, and that there are no weights: functions that take weights
    /// check the predictions without weights, see [`parted`](Self::parted).
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

    /// The targets on the host, once [checked](Self::check_targets).
    /// The errors are those of [`check_targets`](Self::check_targets).
    fn checked_targets(&self, targets: &Self::Targets) -> Result<DrawnBy<Self>> {
        self.check_targets(targets)?;
        Ok(targets.drawn())
    }

    /// Asserts that the targets of a training loss fit the predictions: shapes and dtypes, and labels if
    /// they are on the host. It reads nothing back from a device. A loss that takes weights asserts this
    /// for the predictions [without weights](Self::batch_parts).
    ///
    /// # Panics
    ///
    /// In the words of [`check_targets`](Self::check_targets), and if there are weights.
    fn assert_targets(&self, targets: &Self::Targets) {
        self.assert_unweighted();
        let shape = (self.len(), self.dimensions(), self.dtype());
        if let Err(error) = targets.check_shape(shape.0, shape.1, shape.2) {
            panic!("{error}");
        }
    }

    /// Asserts that a loss gets no weights.
    ///
    /// # Panics
    ///
    /// If there are weights.
    fn assert_unweighted(&self) {
        if let Err(error) = weights::refuse(&self.sample_weights()) {
            panic!("{error}");
        }
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

    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, of
    /// classes. None for other kinds.
    fn expected_errors(&self) -> Option<f64> {
        None
    }

    /// The number of targets that are not the most likely one: for classes the wrong labels. None if there
    /// is no most likely one. The targets are taken as valid.
    fn errors(&self, _targets: &Self::Targets) -> Option<usize> {
        None
    }

    /// Possible targets of a calibrated model, one for each prediction, with their probabilities. They
    /// stand for targets that the data may lack. For classes the most likely one, and the second with the
    /// probability that it is not that. For quantile forecasts each of the quantiles, and a target beyond the outer
    /// ones. For others draws, so many that there are 100 in all, each set with the same share of a probability of 1.
    fn expected_targets(&self) -> Vec<(Self::Targets, Vec<f64>)> {
        let mut rng = StdRng::seed_from_u64(0);
        let sets = EXPECTED_DRAWS.div_ceil(self.len().max(1));
        let probabilities = vec![(sets as f64).recip(); self.len()];
        let draws = (0..sets).map(|_| (self.sample(&mut rng), probabilities.clone()));
        draws.collect()
    }

    /// The target of a row in the words of an error.
    fn target_text(&self, targets: &Self::Targets, row: usize) -> String {
        targets.text(row)
    }

    /// Draws targets, on the host.
    fn sampler(&self) -> Sampler<Self>;

    /// Takes drawn targets to the device of the predictions.
    fn observed(&self, drawn: &DrawnBy<Self>) -> Self::Targets {
        Self::Targets::observed(drawn, self.dimensions(), (&self.device(), self.dtype()))
    }

    /// Draws many sets of targets at once, each with one from every prediction.
    fn redrawer(&self) -> Redrawer<RedrawnBy<Self>> {
        let rows: Vec<usize> = (0..self.len()).collect();
        let sampler = self.sampler();
        Redrawer {
            batch: (NUMBERS / rows.len().max(1)).clamp(1, 1024),
            draw: Box::new(move |sets, rng| {
                Redrawn::from_sets((0..sets).map(|_| sampler(&rows, rng)).collect())
            }),
        }
    }

    /// Takes observed targets as a set among [redrawn](Self::redrawer) ones.
    fn as_redrawn(&self, drawn: &DrawnBy<Self>) -> RedrawnBy<Self> {
        Redrawn::from_sets(vec![drawn.clone()])
    }

    /// Splits each prediction into two that are independent given the target: of
    /// [`Samples`](super::Samples), the halves of the draws. None where a prediction is a distribution
    /// that is known.
    fn halves(&self) -> Option<(Self, Self)> {
        None
    }

    /// Puts the observed targets among the draws by which predictions are known, those of
    /// [`Samples`](super::Samples), and gives the weight of a target there. The target of a calibrated model is
    /// one more draw from the same distribution, so that among all of them it is any one: tests redraw it
    /// from there. Weights of the samples stay. None where a prediction is a distribution that is known.
    fn pooled(&self, targets: &Self::Targets) -> Option<(Self, f64)> {
        let _ = targets;
        None
    }

    /// Draws one target from each prediction.
    fn sample(&self, rng: &mut dyn Rng) -> Self::Targets {
        let rows: Vec<usize> = (0..self.len()).collect();
        self.observed(&self.sampler()(&rows, rng))
    }

    /// Targets at which the calibration of the given rows is tested by a mean embedding: a draw from
    /// each prediction, independent of what was observed.
    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> Self::Targets {
        self.observed(&self.sampler()(rows, rng))
    }
}

fn no_weights() -> Error {
    Error::Unsupported {
        what: "such predictions cannot carry sample weights".into(),
        expected: "a kind of prediction of this library",
    }
}

/// Targets that are drawn at a time.
const NUMBERS: usize = 1 << 22;

/// `[batches · n, d] → [batches, n, d]`.
pub(crate) fn in_batches(rows: Tensor<2>, batches: usize) -> Tensor<3> {
    let [n, d] = rows.dims();
    rows.reshape([batches, n / batches, d])
}
