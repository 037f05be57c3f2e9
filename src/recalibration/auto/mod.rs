//! A choice among maps by cross-validation.

mod candidates;
mod choice;
mod distributions;
mod left_out;
mod selection;
mod stack;

use std::ops::Deref;

use self::{
    candidates::{CANDIDATES, LeftOutSamples},
    choice::Validation,
    selection::Selection,
};
use super::{
    FitProgress, FitWarning, Keep, Recalibration,
    common::*,
    fit::fit_with_warnings,
    registry::AnyMap,
    regularisation::{folds, splits},
    warning::all_right,
};
use crate::distribution::Subject;

pub use self::{
    choice::{Candidate, Choice, Cost, PassedOver},
    distributions::{AutoDistributionRecalibration, AutoDistributionRecalibrationConfig},
    stack::Weight,
};

/// Configuration of [`AutoRecalibration`], which it fits.
#[derive(Config, Debug)]
pub struct AutoRecalibrationConfig {
    /// What the map has to keep of the predictions. Default: nothing.
    #[config(default = "None")]
    pub keep: Option<Keep>,
    /// The number of folds, at least 2. Default: 5.
    #[config(default = 5)]
    pub folds: usize,
    /// The seed of the folds and of the maps with a network. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
    /// Whether a map is chosen only if its gain is established. Default: yes. Else no map is a candidate like every
    /// other, and the simplest one within one standard error of the best is taken.
    #[config(default = true)]
    pub only_established: bool,
    /// What the predictions are about. Of an event, class 1 of two, the choice looks at the event and not at the
    /// most likely class. Default: the classes.
    #[config(default = "Subject::Classes")]
    pub subject: Subject,
}

/// The recalibration map that the data favour, and what was learnt about the others.
///
/// Each candidate is fitted to all folds but one and evaluated by the log loss on the one left out. Only a gain
/// that is established counts, see [`Candidate::established`]: the 95 % interval of the change of the log loss is
/// below 0, or a score test rejects that the temperature of the predictions is 1. A candidate that is better than
/// an established one, by more than one standard error, is as good as established.
/// Of these candidates the simplest is chosen whose mean log loss is within one standard error, of
/// paired differences, of the least (Breiman, Friedman, Olshen, Stone: *Classification and Regression Trees*,
/// 1984, section 3.4.3). Without one the predictions stay as they are, by a temperature of 1.
///
/// Rows that would rule the fit of a temperature are set aside and named, see [`FitWarning`].
///
/// The candidates, simple ones first, are temperature and ensemble temperature scaling; of two classes
/// Platt, beta and quadratic scaling, DIAG and Venn–Abers; of more structured vector scaling, DIAG, structured
/// matrix scaling, matrix scaling and OI. The weight of a regularisation is found by a cross-validation in the
/// same folds, then fixed. A candidate is passed over where it does not keep what is asked for, where there
/// are too few samples for it, or where its fits would take too long. To data without a wrong prediction a
/// temperature alone is tried, since they do not tell how sharp predictions may be. Temperatures have a
/// [prior](super::TemperatureScalingConfig::prior), which matters below a few hundred samples.
///
/// The last candidate is a [mixture](super::MapMixture) of all others, with the weights of the least log loss on
/// the samples left out. It is chosen where it is better than the single map, and better than a temperature by
/// more than one standard error; not where its over- or underconfidence is established and greater than that of the
/// single map (a linear pool of calibrated maps is underconfident), not where something is to be kept, and not for
/// another criterion.
///
/// It is the map that was chosen, by [`Deref`](std::ops::Deref): it recalibrates, promises and is saved as that.
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
/// println!("{}", map.choice());
/// let (low, high) = map.choice().change.confidence_interval(0.95)?; // of the log loss
/// assert!(high < 0.0);
/// let calibrated = map.forward(logits);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AutoRecalibration {
    map: AnyMap,
    choice: Choice,
}

/// Samples from which one fold is left out of the fits, and not each in turn.
const ONE_SPLIT: usize = 20_000;

impl Fit for AutoRecalibrationConfig {
    type Map = AutoRecalibration;

    /// Chooses by the log loss, then fits the chosen map to the criterion.
    fn fit_observed(
        &self,
        criterion: Option<&dyn Objective>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        progress: Progress<'_>,
    ) -> Result<AutoRecalibration> {
        at_least(2, "the number of folds", self.folds, "at least 2")?;
        let data = FitData::new(&logits, &labels)?;
        self.subject.check(data.classes)?;
        let (data, warnings) = without_ruling_rows(data)?;
        let data = &data;
        let (n, m, seed) = (data.samples(), data.classes, self.seed);
        let mut splits = splits(&folds(n, self.folds.min(n), seed));
        if n >= ONE_SPLIT && m > 2 {
            splits.truncate(1);
        }
        let samples = LeftOutSamples::new(data, &splits, self.subject);
        let mut selection = Selection::new(samples.none()?, self.keep, "log loss");
        let (all_right, by_criterion) = (all_right(data), criterion.is_some());
        let mut candidates = Vec::new();
        for candidate in CANDIDATES.iter().filter(|candidate| candidate.takes(m)) {
            match candidate.reason_against(&samples, all_right, by_criterion) {
                Some((reason, least)) => selection.pass_over(candidate.name(), reason, least),
                None => candidates.push(candidate),
            }
        }
        let fits = candidates.len() + usize::from(by_criterion);
        for (at, candidate) in candidates.into_iter().enumerate() {
            let mut observe = |seen| {
                let fit = at + 1;
                progress(FitProgress { fit, fits, ..seen });
            };
            candidate.try_on(&samples, seed, &mut observe, &mut selection)?;
        }
        if selection.tried.len() > 2 {
            stack::add_mixture(&mut selection, &samples, seed, by_criterion);
        }
        let keeps = [
            Keep::Accuracy,
            Keep::Order,
            Keep::Information,
            Keep::InformationOfLogProbabilities,
        ];
        let validation = Validation {
            samples: n,
            splits: splits.len(),
            folds: self.folds.min(n),
            only_established: self.only_established,
            subject: self.subject,
        };
        let names: Vec<&str> = selection.tried.iter().map(|tried| tried.name).collect();
        let (mut trials, at, mut choice) = selection.choose(&keeps, validation, warnings);
        let chosen = trials.swap_remove(at);
        choice.weights = chosen.weights.clone();
        let map: AnyMap = match (criterion, chosen.refit, chosen.map) {
            (Some(_), Some(refit), _) => {
                let mut observe = |seen| {
                    progress(FitProgress {
                        fit: fits,
                        fits,
                        ..seen
                    })
                };
                let task = Task::new(data.clone(), &mut observe);
                refit(Task { criterion, ..task })?
            }
            (_, _, Some(map)) => map,
            (_, _, None) => {
                let maps = trials.into_iter().map(|trial| trial.map);
                let maps = names.into_iter().zip(maps).collect();
                Box::new(stack::mix(maps, &chosen.weights)?)
            }
        };
        Ok(AutoRecalibration { map, choice })
    }
}

/// The data without rows that would rule the fit of a temperature, and what there is to say about them.
fn without_ruling_rows(data: FitData) -> Result<(FitData, Vec<FitWarning>)> {
    let mut silent = |_| {};
    let task = Task::new(data.clone(), &mut silent);
    let temperature = fit_with_warnings(&TemperatureScalingConfig::new(), task)?;
    let report = temperature.report().expect("a map that was fitted");
    let warnings = report.warnings.clone();
    let aside = warnings.iter().find_map(|warning| match warning {
        FitWarning::SetAside { rows } => Some(rows),
        _ => None,
    });
    let Some(aside) = aside else {
        return Ok((data, warnings));
    };
    let kept: Vec<usize> = (0..data.samples())
        .filter(|row| !aside.contains(row))
        .collect();
    Ok((data.select(&kept), warnings))
}

impl AutoRecalibration {
    /// Tells what was chosen, among what, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Gives the chosen map.
    pub fn into_map(self) -> Box<dyn Recalibration> {
        self.map
    }
}

impl Deref for AutoRecalibration {
    type Target = dyn Recalibration;

    fn deref(&self) -> &Self::Target {
        self.map.as_ref()
    }
}

impl From<AutoRecalibration> for Box<dyn Recalibration> {
    fn from(chosen: AutoRecalibration) -> Self {
        chosen.map
    }
}
