//! The maps that are tried, and their log losses on folds that they were not fitted to.

use rayon::prelude::*;

use super::{
    super::registry::{AnyMap, MapKind},
    AutoRecalibrationConfig, PassedOver, Weight,
    choice::Tried,
    left_out::Predictions,
};
use crate::{
    distribution::Subject,
    recalibration::{
        BetaCalibrationConfig, DiagonalScalingConfig, EnsembleTemperatureScalingConfig,
        MatrixScalingConfig, OrderInvariantConfig, PlattScalingConfig, QuadraticScalingConfig,
        StructuredMatrixScalingConfig, StructuredVectorScalingConfig, TemperatureScaling,
        VennAbersConfig,
        common::*,
        fit::{LeftOut, LogitFit, Purpose},
        regularisation::{Split, in_order},
    },
};

/// A kind of map, and the data that it is tried on.
pub struct Candidate {
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
pub static CANDIDATES: [Candidate; 11] = [
    Candidate::of::<TemperatureScalingConfig>(ANY, 1, |_, _| 0.0),
    Candidate::of::<EnsembleTemperatureScalingConfig>(ANY, FEW, |n, m| 5e-6 * n * m),
    Candidate::of::<PlattScalingConfig>(TWO, FEW, |_, _| 0.0),
    Candidate::of::<BetaCalibrationConfig>(TWO, FEW, |_, _| 0.0),
    Candidate::of::<QuadraticScalingConfig>(TWO, FEW, |_, _| 0.0),
    Candidate::of::<StructuredVectorScalingConfig>(MORE, FEW, |n, m| 4e-6 * n * m),
    Candidate::of::<DiagonalScalingConfig>(ANY, MANY, |n, m| 1e-5 * n * m),
    Candidate::of::<StructuredMatrixScalingConfig>(MORE, FEW, |n, m| 2e-6 * n * m * m),
    Candidate::of::<MatrixScalingConfig>(MORE, MANY, |n, m| 5e-6 * n * m * m),
    Candidate::of::<OrderInvariantConfig>(MORE, MANY, |n, m| 2.5e-4 * n * m),
    Candidate::of::<VennAbersConfig>(TWO, MANY, |_, _| 0.0),
];

/// Samples without which a temperature alone is tried: of 20, 50 and 100 predictions of 16 models no other map was
/// chosen that was better than it on average, and an ensemble of 20 lost up to 2.1 in log loss.
const FEW: usize = 200;
/// Samples without which no function or network is tried: from 200 predictions of a real network DIAG was
/// chosen in three of eight cases, and lost up to 0.26 in log loss on others.
const MANY: usize = 1000;
/// The largest work: about half a minute on one core.
const MOST: f64 = 2400.0;

/// Fits a map to a criterion.
type Refit = Box<dyn Fn(Task) -> Result<AnyMap>>;

/// A map and what it predicts of samples that it was not fitted to.
pub struct Trial {
    pub name: &'static str,
    /// Fitted to all data; none of a mixture, which is made if it is chosen.
    pub map: Option<AnyMap>,
    pub guarantees: Guarantees,
    pub left_out: Predictions,
    /// As of [`Tried::score`].
    pub score: Option<f64>,
    /// Fits it to a criterion.
    pub refit: Option<Refit>,
    /// Of the parts of a mixture.
    pub weights: Vec<Weight>,
}

impl Trial {
    /// The predictions as they are.
    pub fn none(data: &FitData, splits: &[Split], subject: Subject) -> Self {
        let map = TemperatureScaling::from_temperature(1.0, &data.device);
        let of_split = |split: &Split| data.select(&split.left_out).logits;
        let logits = in_order(splits, splits.iter().map(of_split).collect());
        let map = map.expect("1 is a temperature");
        Self {
            name: "none",
            guarantees: map.guarantees(),
            map: Some(map.into()),
            left_out: Predictions::new(logits, &labels(data, splits), subject),
            score: None,
            refit: None,
            weights: vec![],
        }
    }

    pub fn tried(&self) -> Tried<'_> {
        Tried {
            name: self.name,
            losses: &self.left_out.losses,
            excess: &self.left_out.excess,
            score: self.score,
            guarantees: self.guarantees,
        }
    }
}

impl Candidate {
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

    /// Why it is not tried on such data.
    pub fn reason_against(
        &self,
        [n, m]: [usize; 2],
        splits: usize,
        all_right: bool,
        by_criterion: bool,
    ) -> Option<PassedOver> {
        let simplest = self.name() == CANDIDATES[0].name();
        let least = Some(self.least).filter(|least| n < *least);
        let reason = match least {
            Some(least) => format!("there are {n} samples, fewer than {least}"),
            None if all_right && !simplest => "every prediction is right".into(),
            None if by_criterion && self.name() == VennAbersConfig::NAME => {
                "it is fitted by the log loss alone".into()
            }
            None if (self.work)(n as f64, m as f64) * (splits + 1) as f64 > MOST => {
                format!("its fits to {n} samples of {m} classes would take too long")
            }
            None => return None,
        };
        Some(self.passed_over(reason, least))
    }

    fn passed_over(&self, reason: String, least: Option<usize>) -> PassedOver {
        let name = self.name();
        PassedOver {
            name,
            reason,
            least,
        }
    }

    /// Fits the map to all data and to all folds but one; or tells why it is passed over.
    pub fn trial(
        &'static self,
        config: &AutoRecalibrationConfig,
        data: &FitData,
        splits: &[Split],
        progress: Progress<'_>,
    ) -> Result<std::result::Result<Trial, PassedOver>> {
        let seed = config.seed;
        let mut left_out = LeftOut {
            splits: splits.to_vec(),
            logits: None,
        };
        let whole = Task {
            purpose: Purpose::Candidate,
            left_out: Some(&mut left_out),
            ..Task::new(data.clone(), progress)
        };
        let map = self.kind.fit_candidate(seed, whole)?;
        if let Some(keep) = config.keep.filter(|keep| !map.guarantees().keeps(*keep)) {
            return Ok(Err(
                self.passed_over(format!("it does not keep {keep}"), None)
            ));
        }
        let weight = map.report().and_then(|report| report.regularisation);
        let logits = match left_out.logits {
            Some(logits) => logits,
            None => self.logits(seed, weight, data, splits)?,
        };
        let left_out = Predictions::new(logits, &labels(data, splits), config.subject);
        if !left_out.losses.iter().all(|loss| loss.is_finite()) {
            let reason = "its log loss on samples that it was not fitted to is infinite";
            return Ok(Err(self.passed_over(reason.into(), None)));
        }
        Ok(Ok(Trial {
            name: self.name(),
            guarantees: map.guarantees(),
            map: Some(map),
            left_out,
            score: (self.name() == TemperatureScalingConfig::NAME)
                .then(|| TemperatureScalingConfig::score_statistic(data)),
            refit: Some(Box::new(move |task| {
                let purpose = Purpose::Candidate;
                let task = Task {
                    purpose,
                    weight,
                    ..task
                };
                self.kind.fit_candidate(seed, task)
            })),
            weights: vec![],
        }))
    }

    /// The logits of what is left out of each fit.
    fn logits(
        &self,
        seed: u64,
        weight: Option<f64>,
        data: &FitData,
        splits: &[Split],
    ) -> Result<Vec<f64>> {
        // the fits find no weight, which would start threads of its own
        let of_splits: Result<Vec<Vec<f64>>> = splits
            .par_iter()
            .map(|split| self.logits_of(seed, weight, data, split))
            .collect();
        Ok(in_order(splits, of_splits?))
    }

    /// The logits of what is left out of the fit to the others, or as they are if there are no others.
    fn logits_of(
        &self,
        seed: u64,
        weight: Option<f64>,
        data: &FitData,
        split: &Split,
    ) -> Result<Vec<f64>> {
        let left_out = data.select(&split.left_out);
        let mut logits = left_out.logits.clone();
        if !split.rest.is_empty() {
            let mut silent = |_| {};
            let task = Task {
                purpose: Purpose::Fold,
                weight,
                ..Task::new(data.select(&split.rest), &mut silent)
            };
            let map = self.kind.fit_candidate(seed, task)?;
            logits = to_vec(map.forward(left_out.tensor(logits).inner()));
        }
        Ok(logits)
    }
}

/// The labels of all that is left out, in the order of the rows.
pub fn labels(data: &FitData, splits: &[Split]) -> Vec<usize> {
    let mut rows: Vec<usize> = splits
        .iter()
        .flat_map(|split| split.left_out.clone())
        .collect();
    rows.sort_unstable();
    rows.iter().map(|&row| data.labels[row]).collect()
}
