use burn::tensor::{DType, Device, FloatDType, Int, Tensor};
use rand::Rng;

use super::{
    Categorical, DrawnBy, Geometry, Halves, HostMarginals, Marginals, Predictive, Redrawer,
    RedrawnBy, Redraws, Sampler, Weighted,
};
use crate::{
    error::{Result, check_length, check_values},
    host::to_vec,
    radial::Distance,
};

/// Predictions with a conditioning variable `z` for each sample: they are calibrated if they are calibrated
/// *given* `z`, which can be the input, an embedding of it, a group, or a group together with the
/// prediction.
///
/// Residuals, draws and checks are those of the predictions. Kernels compare `z` instead of the
/// predictions. So the squared kernel calibration error of [`Skce`](crate::estimator::Skce) is
///
/// `E[k(Z, Z')·δᵀδ']`, and `E[k(Z, Z')·⟨φ(Y) − μ_P, φ(Y') − μ_P'⟩]` for a kernel on targets,
///
/// which is 0 if and only if `E[δ | Z] = 0` almost surely, for a universal kernel: `z = p` gives the
/// calibration error, a constant `z` the error of the mean prediction, and groups that of each group
/// (multiaccuracy). If the prediction is among the coordinates of `z`, this is calibration within groups
/// (multicalibration).
///
/// Losses, estimators and tests take it as they take the predictions:
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::{Categorical, Given}, estimator::{Estimator, Skce},
///     kernel::{Bandwidth, Kernel}, loss::SkceLoss,
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let logits = Tensor::<2>::zeros([4, 2], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0, 1, 1], &device);
/// let features = Tensor::<2>::from_floats([[0.0], [0.1], [5.0], [5.1]], &device);
///
/// // right half of the time, as promised, but wrong for either half of the inputs
/// let predictions = Categorical::from_logits(logits.clone())?;
/// let given = Given::new(predictions.clone(), features.clone());
/// let skce = Skce::unbiased(Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0)));
/// assert!(skce.estimate(&predictions, &labels)? < 0.0);
/// assert!(skce.estimate(&given, &labels)? > 0.16);
///
/// // as a penalty: logits as ever, and the features beside them
/// let penalty = SkceLoss::new(skce).forward(&Given::logits(logits, features), &labels);
/// # Ok(())
/// # }
/// ```
///
/// Sources: Marx, Zalouk, Ermon 2023; Muandet, Jitkrittum, Kübler 2020 (kernel conditional moments);
/// Hébert-Johnson et al. 2018 (multicalibration).
#[derive(Debug, Clone)]
pub struct Given<P> {
    predictions: P,
    conditioning: Tensor<2>,
}

impl<P: Predictive> Given<P> {
    /// Creates predictions given a variable. The variable is detached: gradients flow only through the
    /// predictions. So training cannot lower a penalty by moving embeddings apart.
    ///
    /// # Shapes
    ///
    /// - conditioning: `[n, d]`, in the dtype and on the device of the predictions; finite (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If there are not as many rows as predictions, no columns, or another dtype.
    pub fn new(predictions: P, conditioning: Tensor<2>) -> Self {
        Self::attached(predictions, conditioning.detach())
    }

    /// Creates predictions given a variable through which gradients also flow, such as the predictions
    /// themselves, or embeddings that are trained to be calibrated.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn attached(predictions: P, conditioning: Tensor<2>) -> Self {
        let [rows, columns] = conditioning.dims();
        let (n, dtype) = (predictions.len(), predictions.dtype());
        if let Err(error) = check_length(n, rows, "conditioning row") {
            panic!("{error}");
        }
        assert!(
            conditioning.dtype() == dtype,
            "the dtype of the conditioning variable is {:?}, expected {dtype:?}, that of the predictions",
            conditioning.dtype()
        );
        assert!(
            columns > 0,
            "the conditioning variable has no columns, expected at least one"
        );
        Self {
            predictions,
            conditioning,
        }
    }

    /// Creates predictions given their groups, for [`Kernel::of_groups`](crate::kernel::Kernel::of_groups),
    /// `k = 1[g = g']`.
    ///
    /// - groups: the number of the group of each sample, `[n]`: any integers of their dtype
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{
    ///     distribution::{Categorical, Given}, estimator::{Estimator, Skce}, kernel::Kernel,
    /// };
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::<2>::from_floats([[0.5, 0.5]; 4], &device);
    /// let [labels, groups] = [[0, 0, 1, 1], [7, 7, 2, 2]].map(|x| Tensor::<1, Int>::from_ints(x, &device));
    /// let given = Given::groups(Categorical::from_probabilities(rows)?, groups);
    /// // δ = ±(½, −½), two pairs of six in one group
    /// let estimate = Skce::unbiased(Kernel::of_groups()).estimate(&given, &labels)?;
    /// assert!((estimate - 0.5 / 3.0).abs() < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn groups(predictions: P, groups: Tensor<1, Int>) -> Self {
        let options = (&predictions.device(), predictions.dtype());
        let codes = group_codes(groups, options);
        Self::new(predictions, codes)
    }

    /// The predictions.
    pub fn predictions(&self) -> &P {
        &self.predictions
    }

    /// Other predictions given the same variable.
    fn of(&self, predictions: P) -> Self {
        Self {
            predictions,
            conditioning: self.conditioning(),
        }
    }

    /// The conditioning variable, `[n, d]`.
    pub fn conditioning(&self) -> Tensor<2> {
        self.conditioning.clone()
    }
}

impl Given<Categorical> {
    /// Creates the predictions of a training batch from logits, given a variable: the input of a penalised
    /// loss in a training step. It reads nothing back from the device.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - conditioning: `[n, d]`, which is detached, see [`new`](Self::new)
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{
    ///     distribution::Given, estimator::Skce, kernel::Kernel, loss::SkceLoss,
    /// };
    ///
    /// let device = Device::default().autodiff();
    /// let logits = Tensor::<2>::zeros([4, 2], &device).require_grad();
    /// let features = Tensor::<2>::from_floats([[0.0], [0.1], [5.0], [5.1]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 0, 1, 1], &device);
    /// let penalty = SkceLoss::new(Skce::unbiased(Kernel::gaussian()));
    /// let value = penalty.forward(&Given::logits(logits.clone(), features), &labels);
    /// assert!(logits.grad(&value.backward()).is_some());
    /// ```
    ///
    /// # Panics
    ///
    /// If there are fewer than two columns of logits, and as [`new`](Self::new).
    pub fn logits(logits: Tensor<2>, conditioning: Tensor<2>) -> Self {
        Self::new(Categorical::from_logits_unchecked(logits), conditioning)
    }
}

/// Coordinates in which groups are far apart: `[n]` to `[n, c]`, the digits of their numbers, each of them
/// exact in the dtype of the predictions. It reads nothing back from the device.
///
/// Two groups are so far apart that a kernel with a bandwidth of the order of 1 is 0 between them, to
/// rounding.
fn group_codes(groups: Tensor<1, Int>, options: (&Device, DType)) -> Tensor<2> {
    let (n, groups) = (groups.dims()[0], groups.to_device(options.0));
    // of numbers of at most 2^11, 2^8 and so on, whose multiples do not overflow
    let (bits, apart) = match options.1 {
        DType::F64 => (32, 1u64 << 20),
        DType::F16 => (8, 1 << 7),
        DType::BF16 => (8, 1 << 20),
        _ => (24, 1 << 20),
    };
    let width = 8 * groups.dtype().size();
    let digit = |shift: usize| {
        let digit = (groups.clone())
            .bitwise_right_shift_scalar(shift as i64)
            .bitwise_and_scalar((1i64 << bits.min(width - shift).min(62)) - 1);
        digit.cast(FloatDType::from(options.1)).reshape([n, 1])
    };
    Tensor::cat((0..width).step_by(bits).map(digit).collect(), 1) * apart as f64
}

impl<P: Predictive> Predictive for Given<P> {
    type Targets = P::Targets;
    type Unconditional = P;

    fn unconditional(&self) -> &P {
        &self.predictions
    }

    fn parameter(&self) -> Tensor<2> {
        self.predictions.parameter()
    }

    fn dimensions(&self) -> usize {
        self.predictions.dimensions()
    }

    /// The conditioning variable is mapped as the parameters are: rows are taken of both, and so are
    /// devices and dtypes.
    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            predictions: self.predictions.map(f),
            conditioning: f(self.conditioning()),
        }
    }

    fn check(&self) -> Result<()> {
        self.predictions.check()?;
        let columns = self.conditioning.dims()[1];
        let finite = (f64::is_finite, "a finite number");
        let values = to_vec(self.conditioning().detach());
        let what = "the conditioning variable";
        check_values(&values, (columns, "column"), what, finite)
    }

    fn sampler(&self) -> Sampler<Self> {
        self.predictions.sampler()
    }
}

impl<P: Predictive> Weighted for Given<P> {
    fn sample_weights(&self) -> Option<Tensor<2>> {
        self.predictions.sample_weights()
    }

    fn with_sample_weights(&self, weights: Option<Tensor<2>>) -> Option<Self> {
        let predictions = self.predictions.with_sample_weights(weights)?;
        Some(self.of(predictions))
    }
}

impl<P: Predictive> Redraws for Given<P> {
    fn expected_errors(&self) -> Option<f64> {
        self.predictions.expected_errors()
    }

    fn errors(&self, targets: &<Self as Predictive>::Targets) -> Option<usize> {
        self.predictions.errors(targets)
    }

    fn expected_targets(&self) -> Vec<(<Self as Predictive>::Targets, Vec<f64>)> {
        self.predictions.expected_targets()
    }

    fn target_text(&self, targets: &<Self as Predictive>::Targets, row: usize) -> String {
        self.predictions.target_text(targets, row)
    }

    fn redrawer(&self) -> Redrawer<RedrawnBy<Self>> {
        self.predictions.redrawer()
    }

    fn as_redrawn(&self, drawn: &DrawnBy<Self>) -> RedrawnBy<Self> {
        self.predictions.as_redrawn(drawn)
    }

    fn halves(&self) -> Option<Halves<Self>> {
        let Halves { compared, expected } = self.predictions.halves()?;
        Some(Halves {
            compared: self.of(compared),
            expected: self.of(expected),
        })
    }

    fn pooled(&self, targets: &<Self as Predictive>::Targets) -> Option<(Self, f64)> {
        let (predictions, weight) = self.predictions.pooled(targets)?;
        Some((self.of(predictions), weight))
    }

    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> <Self as Predictive>::Targets {
        self.predictions.locations(rows, rng)
    }
}

/// The geometry of the conditioning variable.
impl<P: Predictive> Geometry for Given<P> {
    fn check_distance(&self, _distance: Distance) -> Result<()> {
        Ok(())
    }

    /// The conditioning variable.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.conditioning())
    }

    fn has_own_distances(&self) -> bool {
        false
    }

    fn compared(&self) -> &'static str {
        "overall or given the variable"
    }

    /// 0: a median of distances between inputs needs no floor.
    fn spread(&self) -> Option<Tensor<1>> {
        Some(Tensor::zeros([1], (&self.device(), self.dtype())))
    }
}

/// The marginals of the predictions.
impl<P: Marginals> Marginals for Given<P> {
    fn means(&self) -> Tensor<2> {
        self.predictions.means()
    }

    fn variances(&self) -> Tensor<2> {
        self.predictions.variances()
    }

    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        self.predictions.cdf(targets)
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        self.predictions.on_host()
    }
}
