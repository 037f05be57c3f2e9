//! The maps that are tried, and their log losses on folds that they were not fitted to.

use rayon::prelude::*;

use super::{super::registry::MapKind, AutoRecalibrationConfig, PassedOver, choice::Tried};
use crate::recalibration::{
    BetaCalibrationConfig, DiagonalScalingConfig, EnsembleTemperatureScalingConfig,
    OrderInvariantConfig, PlattScalingConfig, QuadraticScalingConfig, Recalibration,
    StructuredMatrixScalingConfig, StructuredVectorScalingConfig, TemperatureScaling, common::*,
    family::log_losses,
};

/// A kind of map, and the data that it is tried on.
pub struct Candidate {
    kind: MapKind,
    /// Whether it is tried on two classes, and on more.
    classes: [bool; 2],
    /// Samples, at least.
    least: usize,
    /// The size of the fit, of `n` samples and `m` classes, in thousands of millions of operations.
    work: fn(f64, f64) -> f64,
}

/// Simple ones first. The first one is tried on all data.
pub static CANDIDATES: [Candidate; 9] = [
    Candidate::new(
        MapKind::of::<TemperatureScalingConfig>(),
        [true, true],
        1,
        |_, _| 0.0,
    ),
    Candidate::new(
        MapKind::of::<EnsembleTemperatureScalingConfig>(),
        [true, true],
        FEW,
        |n, m| 5e-6 * n * m,
    ),
    Candidate::new(
        MapKind::of::<PlattScalingConfig>(),
        [true, false],
        FEW,
        |_, _| 0.0,
    ),
    Candidate::new(
        MapKind::of::<BetaCalibrationConfig>(),
        [true, false],
        2 * FEW,
        |_, _| 0.0,
    ),
    Candidate::new(
        MapKind::of::<QuadraticScalingConfig>(),
        [true, false],
        2 * FEW,
        |_, _| 0.0,
    ),
    Candidate::new(
        MapKind::of::<StructuredVectorScalingConfig>(),
        [false, true],
        FEW,
        |n, m| 4e-6 * n * m,
    ),
    Candidate::new(
        MapKind::of::<DiagonalScalingConfig>(),
        [true, true],
        MANY,
        |n, m| 5e-5 * n * m,
    ),
    Candidate::new(
        MapKind::of::<StructuredMatrixScalingConfig>(),
        [false, true],
        FEW,
        |n, m| 2e-6 * n * m * m,
    ),
    Candidate::new(
        MapKind::of::<OrderInvariantConfig>(),
        [true, true],
        MANY,
        |n, m| 4e-4 * n * m,
    ),
];

/// Samples without which a temperature alone is tried.
const FEW: usize = 20;
/// Samples without which no function or network is tried: from 200 predictions of a real network DIAG was
/// chosen in three of eight cases, and lost up to 0.26 in log loss on others.
const MANY: usize = 1000;
/// The largest work: about a minute on two cores.
const MOST: f64 = 400.0;

/// Fits a map to a criterion.
type Refit = Box<dyn Fn(Task) -> Result<Box<dyn Recalibration>>>;

/// A map and its log losses on samples that it was not fitted to.
pub struct Trial {
    pub name: &'static str,
    /// Fitted to all data.
    pub map: Box<dyn Recalibration>,
    pub losses: Vec<f64>,
    /// Fits it to a criterion.
    pub refit: Option<Refit>,
}

impl Trial {
    /// The predictions as they are.
    pub fn none(data: &FitData) -> Self {
        let map = TemperatureScaling::from_temperature(1.0, &data.device);
        Self {
            name: "none",
            map: Box::new(map.expect("1 is a temperature")),
            losses: log_losses(data.logits.clone(), &data.labels),
            refit: None,
        }
    }

    pub fn tried(&self) -> Tried<'_> {
        Tried {
            name: self.name,
            losses: &self.losses,
            guarantees: self.map.guarantees(),
        }
    }
}

impl Candidate {
    const fn new(
        kind: MapKind,
        classes: [bool; 2],
        least: usize,
        work: fn(f64, f64) -> f64,
    ) -> Self {
        Self {
            kind,
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
    pub fn reason_against(&self, n: usize, m: usize, all_right: bool) -> Option<PassedOver> {
        let simplest = self.name() == CANDIDATES[0].name();
        let least = Some(self.least).filter(|least| n < *least);
        let reason = match least {
            Some(least) => format!("there are {n} samples, fewer than {least}"),
            None if all_right && !simplest => "every prediction is right".into(),
            None if (self.work)(n as f64, m as f64) > MOST => {
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
        folds: &[Vec<usize>],
        progress: Progress<'_>,
    ) -> Result<std::result::Result<Trial, PassedOver>> {
        let seed = config.seed;
        let whole = Task {
            data: data.clone(),
            criterion: None,
            progress,
        };
        let map = self.kind.fit_robustly(seed, None, whole)?;
        if let Some(keep) = config.keep.filter(|keep| !map.guarantees().keeps(*keep)) {
            return Ok(Err(
                self.passed_over(format!("it does not keep {keep}"), None)
            ));
        }
        let weight = map.report().and_then(|report| report.regularisation);
        // the fits to folds find no weight, which would start threads of its own
        let left_out: Vec<Result<Vec<f64>>> = (0..folds.len())
            .into_par_iter()
            .map(|fold| self.losses(seed, weight, data, folds, fold))
            .collect();
        let mut losses = vec![0.0; data.samples()];
        for (rows, of_fold) in folds.iter().zip(left_out) {
            (rows.iter().zip(of_fold?)).for_each(|(&row, loss)| losses[row] = loss);
        }
        if !losses.iter().all(|loss| loss.is_finite()) {
            let reason = "its log loss on samples that it was not fitted to is infinite";
            return Ok(Err(self.passed_over(reason.into(), None)));
        }
        Ok(Ok(Trial {
            name: self.name(),
            map,
            losses,
            refit: Some(Box::new(move |task| {
                self.kind.fit_robustly(seed, weight, task)
            })),
        }))
    }

    /// The log losses on a fold of the fit to the others, or of the predictions as they are if there are no
    /// others.
    fn losses(
        &self,
        seed: u64,
        weight: Option<f64>,
        data: &FitData,
        folds: &[Vec<usize>],
        fold: usize,
    ) -> Result<Vec<f64>> {
        let left_out = data.select(&folds[fold]);
        let others = (0..folds.len()).filter(|other| *other != fold);
        let rest: Vec<usize> = others.flat_map(|other| folds[other].clone()).collect();
        let mut logits = left_out.logits.clone();
        if !rest.is_empty() {
            let task = Task {
                data: data.select(&rest),
                criterion: None,
                progress: &mut |_| {},
            };
            let map = self.kind.fit_robustly(seed, weight, task)?;
            logits = to_vec(map.forward(left_out.tensor(logits).inner()));
        }
        Ok(log_losses(logits, &left_out.labels))
    }
}
