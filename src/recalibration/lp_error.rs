use burn::tensor::{Int, Tensor, TensorData, activation::softmax};

use super::{
    AutoRecalibrationConfig, Fit, Recalibration,
    data::log_sum_exp,
    regularisation::{Split, folds, in_order, splits},
};
use crate::{
    distribution::{Categorical, Predictive, Targets},
    error::{Result, check_length, check_parameter},
    estimator::{Aspect, Estimator, Event, check_order},
    host::{finest, int_tensor, to_vec},
    score::{ErrorSize, LpBound, Quantify},
};

/// The `Lp` calibration error by cross-fitting, at least: the [`LpBound`] by a map that is fitted to all folds
/// but one and recalibrates the one left out (Berta, Braun, Holzmüller, Bach, Jordan 2026).
///
/// By default of order 1, of the top label, in five folds, by the map that [`AutoRecalibrationConfig`]
/// chooses. For an event the map takes its log-odds alone, as a prediction of two classes; of whole vectors
/// it takes the logits of all classes. In two classes over- and underconfidence of the top label are those
/// of the source; of more, it counts a confidence below ½ by its distance from ½, and here too high is
/// overconfident.
///
/// **Bias.** No bins, so nothing upward: of calibrated predictions the expectation of the bound is 0 or
/// less, and elsewhere at most the error. How close it comes depends on what the map can express and learn
/// from the samples. [`estimate`](Estimator::estimate) is the root of the bound, 0 where that is negative.
///
/// Cost: a fit for each fold; by default that of five choices among maps, about five times
/// [`AutoRecalibration`](super::AutoRecalibration). [`with_map`](Self::with_map) takes any other.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, recalibration::LpCalibrationError};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let logits = Tensor::<2>::from_floats([[4.0, 0.0], [0.0, 4.0]], &device).repeat_dim(0, 50);
/// let labels = Tensor::<1, Int>::arange(0..100, &device).remainder_scalar(5).lower_elem(1).int();
/// let predictions = Categorical::from_logits(logits)?;
/// let bound = LpCalibrationError::new(1.0).bound(&predictions, &labels)?;
/// println!("{bound}"); // 98 % sure, right in half of the cases
/// assert!(bound.over.unwrap().interval(0.95)?.lower > 0.3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct LpCalibrationError<F = AutoRecalibrationConfig> {
    /// The order `p ≥ 1`.
    pub order: f64,
    /// The whole vector, or one event.
    pub aspect: Aspect,
    /// The number of folds, from 2 to the number of samples.
    pub folds: usize,
    /// The seed of the folds (ChaCha12).
    pub seed: u64,
    /// The configuration of the map that recalibrates.
    pub map: F,
}

impl Default for LpCalibrationError {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl LpCalibrationError {
    /// Bounds the error of some order of the top label.
    pub fn new(order: f64) -> Self {
        Self {
            order,
            aspect: Aspect::Event(Event::TopLabel),
            folds: 5,
            seed: 0,
            map: AutoRecalibrationConfig::new().with_only_established(false),
        }
    }
}

impl<F> LpCalibrationError<F> {
    /// Sets whether the whole vector counts, or which event.
    pub fn with_aspect(self, aspect: Aspect) -> Self {
        Self { aspect, ..self }
    }

    /// Sets the number of folds.
    pub fn with_folds(self, folds: usize) -> Self {
        Self { folds, ..self }
    }

    /// Sets the seed of the folds.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets what recalibrates: the configuration of a map of logits of this library, or your own.
    pub fn with_map<G>(self, map: G) -> LpCalibrationError<G> {
        LpCalibrationError {
            order: self.order,
            aspect: self.aspect,
            folds: self.folds,
            seed: self.seed,
            map,
        }
    }
}

impl<F: Fit<Map: Recalibration>> LpCalibrationError<F> {
    /// Bounds the error, and of an event its two parts.
    ///
    /// Predictions that are given as logits are recalibrated as these, others as the logarithms of their
    /// probabilities, at least `√min_positive` of their dtype.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// An order below 1 or not finite, a number of folds outside `2..=n`, an event that is not a class,
    /// predictions or labels that are not valid, a map that changes the number of rows or classes or gives
    /// logits that are not finite, or what a fit returns.
    pub fn bound(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<LpBound> {
        check_order(self.order)?;
        predictions.check()?;
        let mut labels = predictions.check_labels(labels)?;
        let (n, mut m, mut aspect) = (labels.len(), predictions.classes(), self.aspect);
        let expected = "at least 2, and at most the number of samples";
        let is_valid = (2..=n).contains(&self.folds);
        check_parameter(is_valid, "the number of folds", self.folds as f64, expected)?;
        let mut logits = to_vec(predictions.finite_logits().detach());
        if let Aspect::Event(event) = aspect {
            event.check(m)?;
            logits = one_against_rest(event, &logits, &mut labels);
            (m, aspect) = (2, Aspect::Event(Event::Class(1)));
        }
        let device = predictions.parameter().device().without_autodiff();
        let options = (&device, finest(&device));
        let logits = Tensor::<2>::from_data(TensorData::new(logits, [n, m]), options);
        let targets = int_tensor(labels.iter().copied(), &device);
        let splits = splits(&folds(n, self.folds, self.seed));
        let left_out = |split: &Split| {
            let rest = (
                logits.select_rows(&split.rest),
                targets.select_rows(&split.rest),
            );
            let map = self.map.fit(rest.0, rest.1)?;
            let after = map.forward(logits.select_rows(&split.left_out)).detach();
            let [rows, classes] = after.dims();
            check_length(rows, split.left_out.len(), "label")?;
            if classes == m {
                Ok(to_vec(after))
            } else {
                Err(Tensor::<1, Int>::mismatch(classes, m))
            }
        };
        let recalibrated = splits.iter().map(left_out).collect::<Result<_>>()?;
        let data = TensorData::new(in_order(&splits, recalibrated), [n, m]);
        let recalibrated = Categorical::from_logits(Tensor::from_data(data, options));
        let recalibrated = recalibrated.map_err(|error| error.of("after"))?;
        let [p, g] = [softmax(logits, 1), recalibrated.probabilities()].map(to_vec);
        Ok(LpBound::from_rows(self.order, aspect, &p, &g, &labels))
    }
}

impl<F: Fit<Map: Recalibration>> Estimator for LpCalibrationError<F> {
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let bound = self.bound(predictions, labels)?;
        Ok(bound.size().estimate.max(0.0))
    }
}

/// The bound of the error; the interval does not know of what the map misses.
impl<F: Fit<Map: Recalibration>> Quantify for LpCalibrationError<F> {
    fn size(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ErrorSize> {
        Ok(self.bound(predictions, labels)?.size())
    }
}

/// Logits of the event against the rest, `[n, 2]`; the labels become its outcomes.
fn one_against_rest(event: Event, logits: &[f64], labels: &mut [usize]) -> Vec<f64> {
    let m = logits.len() / labels.len();
    let binary = |(z, label): (&[f64], &mut usize)| {
        let class = event.class(z);
        *label = usize::from(*label == class);
        let others = z[..class].iter().chain(&z[class + 1..]).copied();
        [log_sum_exp(others), z[class]]
    };
    logits.chunks(m).zip(labels).flat_map(binary).collect()
}
