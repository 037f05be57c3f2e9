//! A choice among maps by cross-validation.

mod candidates;
mod choice;
mod distributions;
mod rules;
mod score_tests;
mod selection;

use std::fmt;

use burn::{
    config::Config,
    tensor::{Int, Tensor},
};

use self::{
    candidates::LogitSamples, distributions::DistributionSamples, rules::Validation,
    selection::kept_rows,
};
use super::{
    DistributionMap, Fit, FitOptions, FitTask, FitWarning, FittedMap, Keep, LogitMap,
    Recalibration, Robust, ScaleFamily, VarianceScalingConfig, at_least,
    map::by_inner_map,
    regularisation::{Split, folds, splits},
    task::{DistributionTask, NoDescent, fit_task},
    temperature::TemperatureScalingConfig,
};
use crate::{
    distribution::{Categorical, Component, Marginals, Subject},
    error::Result,
};

pub use self::choice::{Candidate, Choice, Cost, PassedOver};

/// Configuration of [`AutoRecalibration`] of logits and of [`AutoDistributionRecalibration`] of normal and Laplace
/// predictions, which it fits.
#[derive(Config, Debug)]
#[must_use]
pub struct AutoRecalibrationConfig {
    /// The property of predictions that the map must keep. Default: none.
    #[config(default = "None")]
    pub keep: Option<Keep>,
    /// The number of folds, at least 2. Default: 5.
    #[config(default = 5)]
    pub folds: usize,
    /// The seed of the folds and of the maps with a network (ChaCha12). Default: 0.
    #[config(default = 0)]
    pub seed: u64,
    /// Whether a map is chosen only if its gain is established. Default: yes. Otherwise "no map" is a
    /// candidate like the others, and the simplest candidate within one standard error of the best is
    /// chosen.
    #[config(default = true)]
    pub only_established: bool,
    /// The subject of the predictions of classes. For an event, class 1 of two, the choice looks at the
    /// event and not at the most likely class. Default: the classes.
    #[config(default = "Subject::Classes")]
    pub subject: Subject,
    /// Whether probabilities of 0 are among the predictions of classes, as logits so small that their
    /// probability is 0. Then maps are tried that take zeros: histogram binning, isotonic regression and,
    /// of two classes, Venn–Abers, which need no more than the order of log-odds. The predictions as they
    /// are count with zeros of `1/(2(n + 1))`, the smallest probability that these maps give, since their
    /// own log loss may be infinite. Default: no.
    #[config(default = false)]
    pub zeros: bool,
    /// Whether rows that would rule the fit of a temperature or of a scale are set aside and named; see
    /// [`Robust`]. Default: yes.
    #[config(default = true)]
    pub robust: bool,
}

/// A chosen map, and the reason for the choice.
///
/// It recalibrates, has the same guarantees, and is saved as that map.
#[derive(Debug)]
pub struct Chosen<M> {
    map: M,
    choice: Choice,
}

impl<M> Chosen<M> {
    /// Returns the choice, its candidates and the reason.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Returns the chosen map.
    pub fn map(&self) -> &M {
        &self.map
    }

    /// Takes the chosen map.
    pub fn into_map(self) -> M {
        self.map
    }
}

/// The [`Choice`], and what the chosen map keeps.
impl<M: FittedMap> fmt::Display for Chosen<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}the chosen map {}", self.choice, self.map.guarantees())
    }
}

impl<M: FittedMap> FittedMap for Chosen<M> {
    by_inner_map!(self, self.map, self.map);
}

impl<P, Q, M: Recalibration<P, Q>> Recalibration<P, Q> for Chosen<M> {
    fn forward(&self, predictions: P) -> Q {
        self.map.forward(predictions)
    }
}

/// The recalibration map that cross-validation chooses, and the results of the other candidates.
///
/// Each candidate is fitted to all folds but one and evaluated by the log loss on the one left out. Only a
/// gain that is established counts, see [`Candidate::established`]: the 95 % interval of the change of the
/// log loss is below 0, or, of a map of few parameters, the change is below 0 by a standard error and a score test
/// rejects that the predictions are calibrated; all score tests together have a level of 4 %. The gain of a candidate that is better than an
/// established one, by more than one standard error, is established too. Of these candidates the simplest is
/// chosen whose mean log loss is within one standard error, of paired differences, of the smallest (Breiman,
/// Friedman, Olshen, Stone: *Classification and Regression Trees*, 1984, section 3.4.3), and the better one of
/// two with as many parameters. Without one the predictions stay unchanged, by a temperature of 1.
///
/// Rows that would rule the fit of a temperature are set aside and named, see [`Robust`].
///
/// The candidates, simple ones first, are temperature scaling, a shift of logits and ensemble temperature
/// scaling; for two classes Platt, beta and quadratic scaling, DIAG and Venn–Abers; of more structured vector
/// scaling, DIAG, structured matrix scaling, matrix scaling and OI. A temperature is tried on all data, a shift
/// and Platt scaling from 30 samples on. The weight of a regularisation is found by a
/// cross-validation in the same folds, then fixed. A candidate is passed over where it does not keep what
/// is asked for, where there are too few samples for it, where its fits would take too long, or where one of
/// them fails. To data
/// without a wrong prediction a temperature alone is tried, since they do not tell how sharp predictions
/// may be. Of an event ([`Subject`]) a map other than a shift is chosen only if ten samples have the event and ten do
/// not, and a shift only if one has it and one does not. Temperatures have a [prior](super::TemperatureScalingConfig::prior), which matters below a few
/// hundred samples.
///
/// Another criterion than the log loss is an error: the candidates are compared by the log loss.
///
/// Cost: six fits of each candidate,
/// or the cross-validation of its own regularisation, whose log losses are taken; two fits from 20,000 samples of
/// more than two classes, of which one fold alone is left out. Two seconds of one core for 5,000 samples of ten
/// classes, 14 for 50,000 of a hundred.
///
/// ```
/// # use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::recalibration::{AutoRecalibrationConfig, Fit, Keep, Recalibration};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// # let device = Device::default();
/// # let logits = Tensor::<2>::from_floats([[5.0, 0.0]; 400], &device);
/// # let labels = Tensor::<1, Int>::from_ints(std::array::from_fn::<i64, 400, _>(|i| i64::from(i % 4 == 0)), &device);
/// let map = AutoRecalibrationConfig::new()
///     .with_keep(Some(Keep::Accuracy))
///     .fit(logits.clone(), labels)?;
/// println!("{map}"); // the candidates, and what the chosen map keeps
/// let interval = map.choice().change.interval(0.95)?; // of the log loss
/// assert!(interval.upper < 0.0);
/// let calibrated = map.forward(logits);
/// # Ok(())
/// # }
/// ```
pub type AutoRecalibration = Chosen<LogitMap>;

/// The map of normal or Laplace predictions that cross-validation chooses, and the results of the other
/// candidates.
///
/// As [`AutoRecalibration`] of classes: each candidate is fitted to all folds but one and evaluated by the
/// log score `−ln f(y)` on the one left out, and of those whose gain is established the simplest one within
/// one standard error of the best is chosen; without one the predictions stay unchanged. The candidates,
/// simple ones first, are variance scaling, location-scale recalibration from 20 samples, and, for one
/// coordinate, local recalibration from 50. Quantile recalibration is not among them: the curves of its
/// levels have no density to score. Rows that would rule the fit of variance scaling are set aside and
/// named, see [`Robust`]. Cost: six fits of each.
///
/// **Tails.** Few rows decide what narrower predictions cost: the largest errors, and larger ones that did not
/// happen yet. So a gain is established, and its interval covers, with the rows that were set aside and with one row
/// more that stands for what was not seen: the largest error of the data with 2.5 times its `|z|^r` (`r` is 2 of normal
/// and 1 of Laplace predictions), which is what a heavy tail has beyond `n` rows in expectation. The score test of the
/// factor takes its variance from the data. Where such rows may turn the gain of the chosen map into a loss, it has no
/// interval; where they refuse a map, [`Choice::no_interval`] says so.
///
/// ```
/// # use burn::tensor::{Device, Distribution, Tensor};
/// use burn_calibration::distribution::Normal;
/// use burn_calibration::recalibration::{AutoRecalibrationConfig, Fit, Recalibrated, Recalibration};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// # let device = Device::default();
/// # device.seed(1);
/// # let targets = Tensor::<2>::random([400, 1], Distribution::Normal(0.0, 3.0), &device);
/// let standard = Normal::new(Tensor::zeros([400, 1], &device), Tensor::ones([400, 1], &device));
/// let map = AutoRecalibrationConfig::new().fit(standard.clone(), targets)?;
/// println!("{}", map.choice());
/// assert_eq!(map.choice().chosen, "variance"); // the targets are three times as wide
/// let Recalibrated::Family(wider) = map.forward(standard) else {
///     unreachable!("variance scaling stays within the family")
/// };
/// # Ok(())
/// # }
/// ```
pub type AutoDistributionRecalibration = Chosen<DistributionMap>;

/// Samples from which one fold is left out of the fits, and not each in turn.
const ONE_SPLIT: usize = 20_000;

/// The level of all score tests of predictions of classes together.
const LEVEL: f64 = 0.04;
/// The level of the score test of the scale of distributions.
const LEVEL_OF_SCALE: f64 = 0.025;

impl AutoRecalibrationConfig {
    /// The samples that each fit to `n` of them leaves out, and the description of that.
    fn validation(
        &self,
        n: usize,
        one: bool,
        subject: Subject,
        level: f64,
    ) -> (Vec<Split>, Validation) {
        let folds_of = self.folds.min(n);
        let mut splits = splits(&folds(n, folds_of, self.seed));
        if one {
            splits.truncate(1);
        }
        let validation = Validation {
            samples: n,
            splits: splits.len(),
            folds: folds_of,
            only_established: self.only_established,
            level,
            subject,
        };
        (splits, validation)
    }
}

const NO_DESCENT: NoDescent = NoDescent {
    map: "a choice among maps",
    reason: "it compares maps by the log loss",
};

impl Fit for AutoRecalibrationConfig {
    type Map = AutoRecalibration;
    type Scored = Categorical;

    fn fit_with(
        &self,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        options: FitOptions<'_, Categorical>,
    ) -> Result<AutoRecalibration> {
        NO_DESCENT.check(options.criterion)?;
        self.choose(FitTask::from_logits(&logits, &labels, options)?)
    }
}

impl Fit<Categorical, Tensor<1, Int>> for AutoRecalibrationConfig {
    type Map = AutoRecalibration;
    type Scored = Categorical;

    fn fit_with(
        &self,
        predictions: Categorical,
        labels: Tensor<1, Int>,
        options: FitOptions<'_, Categorical>,
    ) -> Result<AutoRecalibration> {
        NO_DESCENT.check(options.criterion)?;
        self.choose(FitTask::from_predictions(&predictions, &labels, options)?)
    }
}

impl AutoRecalibrationConfig {
    fn choose(&self, task: FitTask) -> Result<AutoRecalibration> {
        let FitTask {
            mut data, progress, ..
        } = task;
        at_least(2, "the number of folds", self.folds, "at least 2")?;
        self.subject.check(data.classes)?;
        let mut warnings = FitWarning::of_data(&data);
        // without rows that would rule the fit of a temperature
        if self.robust && !self.zeros {
            let mut silent = |_| {};
            let mut task = FitTask::new(data.clone(), &mut silent);
            task.is_robust = true;
            let temperature = fit_task(&TemperatureScalingConfig::new(), &mut task)?;
            let (found, kept) = kept_rows(temperature.report(), data.samples());
            warnings = found;
            if let Some(kept) = kept {
                data = data.select(&kept);
            }
        }
        let one = data.samples() >= ONE_SPLIT && data.classes > 2;
        let (splits, validation) = self.validation(data.samples(), one, self.subject, LEVEL);
        let mut samples = LogitSamples::new(&data, &splits, self.subject, self.seed);
        samples.zeros = self.zeros;
        samples.choose(self.keep, validation, warnings, progress)
    }
}

/// The fit by the log score; another criterion is an error.
impl<P: ScaleFamily + Component + Marginals> Fit<P, Tensor<2>> for AutoRecalibrationConfig {
    type Map = AutoDistributionRecalibration;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<AutoDistributionRecalibration> {
        let refusal = NoDescent {
            map: "a choice among maps of distributions",
            reason: "",
        };
        let task = DistributionTask::without_criterion(predictions, targets, options, refusal)?;
        let (predictions, targets) = (task.predictions, task.targets);
        at_least(2, "the number of folds", self.folds, "at least 2")?;
        let (mut warnings, mut kept) = (vec![], None);
        if self.robust {
            let config = Robust(VarianceScalingConfig::new());
            let map = config.fit(predictions.clone(), targets.clone())?;
            (warnings, kept) = kept_rows(map.report(), predictions.len());
        }
        let samples = DistributionSamples::new(predictions, targets, kept, self.robust);
        let (splits, validation) =
            self.validation(samples.len(), false, Subject::Classes, LEVEL_OF_SCALE);
        let progress = task.options.progress;
        samples.choose(&splits, self.keep, validation, warnings, progress)
    }
}
