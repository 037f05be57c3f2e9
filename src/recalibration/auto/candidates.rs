//! The maps that are tried, and their log losses on folds that they were not fitted to.

use rayon::prelude::*;

use super::{
    super::registry::{AnyMap, MapKind},
    Weight,
    choice::Tried,
    left_out::LeftOutPredictions,
    selection::{Selection, cross_validate},
};
use crate::{
    distribution::Subject,
    recalibration::{
        BetaCalibrationConfig, DiagonalScalingConfig, EnsembleTemperatureScalingConfig,
        MatrixScalingConfig, OrderInvariantConfig, PlattScalingConfig, QuadraticScalingConfig,
        StructuredMatrixScalingConfig, StructuredVectorScalingConfig, TemperatureScaling,
        VennAbersConfig,
        common::*,
        fit::Purpose,
        regularisation::{Split, in_order},
    },
};

/// A kind of map, and the data that it is tried on.
pub struct CandidateMap {
    kind: MapKind,
    /// Whether it is tried on two classes, and on more.
    classes: [bool; 2],
    /// Samples, at least.
    least: usize,
    /// The size of a fit to `n` samples of `m` classes: 20 of it take about six seconds.
    work: fn(f64, f64) -> f64,
}

/// Of two classes, and of more.
const ANY: [bool; 2] = [true, true];
const TWO: [bool; 2] = [true, false];
const MORE: [bool; 2] = [false, true];

/// Simple ones first. The first one is tried on all data.
pub static CANDIDATES: [CandidateMap; 11] = [
    CandidateMap::of::<TemperatureScalingConfig>(ANY, 1, |_, _| 0.0),
    CandidateMap::of::<EnsembleTemperatureScalingConfig>(ANY, FEW, |n, m| 5e-6 * n * m),
    CandidateMap::of::<PlattScalingConfig>(TWO, FEW, |_, _| 0.0),
    CandidateMap::of::<BetaCalibrationConfig>(TWO, FEW, |_, _| 0.0),
    CandidateMap::of::<QuadraticScalingConfig>(TWO, FEW, |_, _| 0.0),
    CandidateMap::of::<StructuredVectorScalingConfig>(MORE, FEW, |n, m| 4e-6 * n * m),
    CandidateMap::of::<DiagonalScalingConfig>(ANY, MANY, |n, m| 1e-5 * n * m),
    CandidateMap::of::<StructuredMatrixScalingConfig>(MORE, FEW, |n, m| 2e-6 * n * m * m),
    CandidateMap::of::<MatrixScalingConfig>(MORE, MANY, |n, m| 5e-6 * n * m * m),
    CandidateMap::of::<OrderInvariantConfig>(MORE, MANY, |n, m| 2.5e-4 * n * m),
    CandidateMap::of::<VennAbersConfig>(TWO, MANY, |_, _| 0.0),
];

/// Samples without which a temperature alone is tried: of 20, 50 and 100 predictions of 16 models no other map was
/// chosen that was better than it on average, and an ensemble of 20 lost up to 2.1 in log loss.
const FEW: usize = 200;
/// Samples without which no function or network is tried: from 200 predictions of a real network DIAG was
/// chosen in three of eight cases, and lost up to 0.26 in log loss on others.
const MANY: usize = 1000;
/// The largest work: about half a minute on one core.
const MOST: f64 = 2400.0;

/// The samples that a choice among maps is made on.
pub struct LeftOutSamples<'a> {
    pub data: &'a FitData,
    pub splits: &'a [Split],
    /// The labels of all that is left out, in the order of the rows.
    pub labels: Vec<usize>,
    pub subject: Subject,
}

/// A map that was tried.
pub struct Trial {
    /// Fitted to all data; none of a mixture, which is made if it is chosen.
    pub map: Option<AnyMap>,
    /// Of the samples left out, `[n, m]`.
    pub probabilities: Vec<f64>,
    /// Fits it to a criterion.
    pub refit: Option<Refit>,
    /// Of the parts of a mixture.
    pub weights: Vec<Weight>,
}

/// Fits a map to a criterion.
type Refit = Box<dyn Fn(Task) -> Result<AnyMap>>;

impl<'a> LeftOutSamples<'a> {
    pub fn new(data: &'a FitData, splits: &'a [Split], subject: Subject) -> Self {
        let left_out = splits.iter().flat_map(|split| &split.left_out);
        let mut rows: Vec<usize> = left_out.copied().collect();
        rows.sort_unstable();
        Self {
            data,
            splits,
            labels: rows.iter().map(|&row| data.labels[row]).collect(),
            subject,
        }
    }

    /// A map with the logits that it gives to what is left out.
    fn trial(
        &self,
        name: &'static str,
        map: AnyMap,
        logits: Vec<f64>,
        refit: Option<Refit>,
    ) -> (Tried, Trial) {
        let left_out = LeftOutPredictions::new(logits, &self.labels, self.subject);
        let tried = Tried {
            name,
            losses: left_out.losses,
            excess: left_out.excess,
            score: (name == TemperatureScalingConfig::NAME)
                .then(|| TemperatureScalingConfig::score_statistic(self.data)),
            guarantees: map.guarantees(),
        };
        let trial = Trial {
            map: Some(map),
            probabilities: left_out.probabilities,
            refit,
            weights: vec![],
        };
        (tried, trial)
    }

    /// The predictions as they are.
    pub fn none(&self) -> Result<(Tried, Trial)> {
        let map = TemperatureScaling::from_temperature(1.0, &self.data.device)?;
        let as_they_are = |split: &Split| Ok(self.data.select(&split.left_out).logits);
        let logits = cross_validate(self.splits, as_they_are)?;
        Ok(self.trial("none", map.into(), logits, None))
    }
}

impl CandidateMap {
    const fn of<C>(classes: [bool; 2], least: usize, work: fn(f64, f64) -> f64) -> Self
    where
        C: LogitFit<Form: Apply<Tensor<2>> + 'static>,
    {
        Self {
            kind: MapKind::of::<C>(),
            classes,
            least,
            work,
        }
    }

    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    pub fn takes(&self, classes: usize) -> bool {
        self.classes[usize::from(classes > 2)]
    }

    /// Why it is not tried on such data, and the fewest samples if there are fewer.
    pub fn reason_against(
        &self,
        samples: &LeftOutSamples,
        all_right: bool,
        by_criterion: bool,
    ) -> Option<(String, Option<usize>)> {
        let (n, m) = (samples.data.samples(), samples.data.classes);
        let fits = (samples.splits.len() + 1) as f64;
        let simplest = self.name() == CANDIDATES[0].name();
        let reason = if n < self.least {
            format!("there are {n} samples, fewer than {}", self.least)
        } else if all_right && !simplest {
            "every prediction is right".into()
        } else if by_criterion && self.name() == VennAbersConfig::NAME {
            "it is fitted by the log loss alone".into()
        } else if (self.work)(n as f64, m as f64) * fits > MOST {
            format!("its fits to {n} samples of {m} classes would take too long")
        } else {
            return None;
        };
        Some((reason, Some(self.least).filter(|least| n < *least)))
    }

    /// Fits the map to all data and to all folds but one.
    pub fn try_on(
        &'static self,
        samples: &LeftOutSamples,
        seed: u64,
        progress: Progress<'_>,
        selection: &mut Selection<Trial>,
    ) -> Result<()> {
        let whole = Task {
            purpose: Purpose::Candidate,
            splits: Some(samples.splits),
            ..Task::new(samples.data.clone(), progress)
        };
        let found = self.kind.fit_candidate(seed, whole)?;
        let (map, weight) = (found.form, found.report.regularisation);
        if !selection.admits(self.name(), map.guarantees()) {
            return Ok(());
        }
        let logits = match found.left_out {
            Some(logits) => logits,
            None => self.logits(samples, seed, weight)?,
        };
        let refit: Refit = Box::new(move |task| {
            let purpose = Purpose::Candidate;
            let task = Task {
                purpose,
                weight,
                ..task
            };
            Ok(self.kind.fit_candidate(seed, task)?.form)
        });
        let (tried, trial) = samples.trial(self.name(), map, logits, Some(refit));
        selection.add(tried, trial);
        Ok(())
    }

    /// The logits of what is left out of the fit to the others, or as they are if there are no others.
    fn logits(&self, samples: &LeftOutSamples, seed: u64, weight: Option<f64>) -> Result<Vec<f64>> {
        let data = samples.data;
        let of_split = |split: &Split| {
            let left_out = data.select(&split.left_out);
            let mut logits = left_out.logits.clone();
            if !split.rest.is_empty() {
                let mut silent = |_| {};
                let task = Task {
                    purpose: Purpose::Fold,
                    weight,
                    ..Task::new(data.select(&split.rest), &mut silent)
                };
                let map = self.kind.fit_candidate(seed, task)?.form;
                logits = to_vec(map.forward(left_out.tensor(logits).inner()));
            }
            Ok(logits)
        };
        // the fits find no weight, which would start threads of its own
        let numbers: Result<Vec<_>> = samples.splits.par_iter().map(of_split).collect();
        Ok(in_order(samples.splits, numbers?))
    }
}
