//! The maps of logits that are tried.

use super::{
    AutoRecalibration,
    rules::{Tried, Validation},
    score_tests::p_value,
    selection::{CandidateKind, Reason, Terms, choose, too_few},
};
use crate::{
    distribution::Subject,
    error::Result,
    estimator::Event,
    recalibration::{
        FitTask, FitWarning, FittedMap, Keep, LogitMap, MapKind, Progress, Recalibration,
        TemperatureScaling,
        data::{FitData, softmax},
        family::log_losses,
        regularisation::{Split, left_out},
        task::{Purpose, fit_task},
        warning::all_right,
    },
};

/// A kind of map, whether it is tried on two classes and on more, the fewest samples for it, and the work of a fit to
/// `n` samples of `m` classes: a work of 20 takes about six seconds.
type CandidateMap = (MapKind, [bool; 2], usize, fn(f64, f64) -> f64);

/// Whether a map is tried on two classes, and on more.
const ANY: [bool; 2] = [true, true];
const TWO: [bool; 2] = [true, false];
const MORE: [bool; 2] = [false, true];

/// Simple ones first. The first one is tried on all data.
const CANDIDATES: [CandidateMap; 12] = [
    (MapKind::Temperature, ANY, 1, |_, _| 0.0),
    (MapKind::Shift, ANY, FEWEST, |_, _| 0.0),
    (MapKind::Ensemble, ANY, FEW, |n, m| 5e-6 * n * m),
    (MapKind::Platt, TWO, FEWEST, |_, _| 0.0),
    (MapKind::Beta, TWO, FEW, |_, _| 0.0),
    (MapKind::Quadratic, TWO, FEW, |_, _| 0.0),
    (MapKind::StructuredVector, MORE, FEW, |n, m| 4e-6 * n * m),
    (MapKind::Diagonal, ANY, MANY, |n, m| 1e-5 * n * m),
    (MapKind::StructuredMatrix, MORE, FEW, |n, m| {
        2e-6 * n * m * m
    }),
    (MapKind::Matrix, MORE, MANY, |n, m| 5e-6 * n * m * m),
    (MapKind::OrderInvariant, MORE, MANY, |n, m| 2.5e-4 * n * m),
    (MapKind::VennAbers, TWO, MANY, |_, _| 0.0),
];

/// Maps for predictions with probabilities of 0. They use the order of log-odds alone.
const OF_ZEROS: [CandidateMap; 3] = [
    (MapKind::Isotonic, ANY, FEW, |_, _| 0.0),
    (MapKind::Histogram, ANY, FEW, |_, _| 0.0),
    (MapKind::VennAbers, TWO, MANY, |_, _| 0.0),
];

/// Fewest samples from which another map than a temperature is tried.
const FEWEST: usize = 30;
/// Fewest samples from which maps of more than two parameters are tried. Of 20, 50 and 100 predictions of 16 models no
/// such map was chosen that was better on average, and an ensemble of 20 lost up to 2.1 in log loss.
const FEW: usize = 200;
/// Most distinct predictions for which maps of the order alone are tried from [`FEWEST`] samples on: such a map is one
/// frequency for each of them.
const FEW_VALUES: usize = 10;
/// Fewest samples from which functions and networks are tried. From 200 predictions of a real network DIAG was
/// chosen in three of eight cases, and lost up to 0.26 in log loss on others.
const MANY: usize = 1000;
/// The largest work: about half a minute on one core.
const MOST: f64 = 2400.0;

/// Logits with labels.
pub struct LogitSamples<'a> {
    data: &'a FitData,
    splits: &'a [Split],
    /// All that is left out, in the order of the rows.
    left_out: FitData,
    subject: Subject,
    seed: u64,
    all_right: bool,
    /// Whether there are probabilities of 0.
    pub zeros: bool,
}

impl<'a> LogitSamples<'a> {
    pub fn new(data: &'a FitData, splits: &'a [Split], subject: Subject, seed: u64) -> Self {
        Self {
            data,
            splits,
            left_out: data.select(&left_out(splits)),
            subject,
            seed,
            all_right: all_right(data),
            zeros: false,
        }
    }

    /// The probability of the most likely class, or of the event, less 1 where the label is that class. It is above 0
    /// where the label is another one. Its mean is the overconfidence.
    fn excess(&self, probabilities: &[f64]) -> Vec<f64> {
        let event = Event::about(self.subject);
        let of_row = |(row, &label): (&[f64], &usize)| {
            let (probability, occurs) = event.outcome(row, label);
            probability.max(f64::MIN_POSITIVE) - f64::from(occurs)
        };
        let rows = probabilities.chunks(self.left_out.classes);
        rows.zip(&self.left_out.labels).map(of_row).collect()
    }

    /// Whether there are few distinct predictions.
    fn has_few_values(&self) -> bool {
        let mut seen: Vec<&[f64]> = Vec::new();
        self.data.rows().all(|row| {
            if !seen.contains(&row) {
                seen.push(row);
            }
            seen.len() <= FEW_VALUES
        })
    }

    /// Whether a label has a probability of 0, which refutes calibration at any level.
    fn has_refuted_zero(&self) -> bool {
        let mut rows = self.data.rows().zip(&self.data.labels);
        rows.any(|(row, &label)| softmax(row.to_vec())[label] == 0.0)
    }

    fn reason_against(&self, (kind, _, least, work): CandidateMap) -> Option<Reason> {
        let (n, m) = (self.data.samples(), self.data.classes);
        let fits = (self.splits.len() + 1) as f64;
        let few = too_few(n, least);
        if few.is_some() {
            return few;
        }
        let reason = if kind != CANDIDATES[0].0 && self.all_right {
            "every prediction is right".into()
        } else if work(n as f64, m as f64) * fits > MOST {
            format!("its fits to {n} samples of {m} classes would take too long")
        } else {
            return None;
        };
        Some((reason, None))
    }
}

/// The name of unchanged predictions.
const UNCHANGED: &str = "none";

/// The properties that maps of logits may keep.
const KEEPS: &[Keep] = &[
    Keep::Accuracy,
    Keep::Order,
    Keep::Information,
    Keep::InformationOfLogProbabilities,
];

impl LogitSamples<'_> {
    /// Chooses a map, which must keep what is asked for.
    pub fn choose(
        &self,
        keep: Option<Keep>,
        validation: Validation,
        warnings: Vec<FitWarning>,
        progress: Progress<'_>,
    ) -> Result<AutoRecalibration> {
        let (map, numbers) = self.unchanged()?;
        let unchanged = (self.tried(UNCHANGED, &map, numbers), map);
        let terms = Terms {
            splits: self.splits,
            validation,
            keep,
            keeps: KEEPS,
            loss: "log loss",
            warnings,
        };
        choose(
            self.candidates(),
            unchanged,
            |kind, progress| self.fit(kind, progress),
            |kind, map, split| self.left_out(kind, map, split),
            |name, map, numbers| self.tried(name, map, numbers),
            terms,
            progress,
        )
    }

    fn candidates(&self) -> Vec<CandidateKind<MapKind>> {
        let (has_few_values, mut maps) = (self.has_few_values(), Vec::new());
        if !self.zeros {
            maps.extend(CANDIDATES);
        }
        if has_few_values || self.zeros {
            maps.retain(|map| OF_ZEROS.iter().all(|of| of.0 != map.0));
            maps.extend(OF_ZEROS.map(|(kind, classes, least, work)| {
                let least = if has_few_values { FEWEST } else { least };
                (kind, classes, least, work)
            }));
        }
        maps.retain(|map| map.1[usize::from(self.data.classes > 2)]);
        let named = |map: CandidateMap| CandidateKind {
            kind: map.0,
            name: map.0.name(),
            reason_against: self.reason_against(map),
        };
        maps.into_iter().map(named).collect()
    }

    /// A temperature of 1, and the logits that are left out.
    fn unchanged(&self) -> Result<(LogitMap, Vec<f64>)> {
        let map = TemperatureScaling::from_temperature(1.0, &self.data.device)?;
        let mut logits = self.left_out.logits.clone();
        if self.zeros {
            let least = (0.5 / (self.data.samples() as f64 + 1.0)).ln();
            for row in logits.chunks_mut(self.data.classes) {
                let probabilities = softmax(row.to_vec()).into_iter();
                let logs = probabilities.map(|p| p.ln().max(least));
                row.iter_mut().zip(logs).for_each(|(z, log)| *z = log);
            }
        }
        Ok((map.into(), logits))
    }

    fn fit(&self, kind: MapKind, progress: Progress<'_>) -> Result<(LogitMap, Option<Vec<f64>>)> {
        let mut task = FitTask {
            purpose: Purpose::Candidate,
            splits: Some(self.splits),
            ..FitTask::new(self.data.clone(), progress)
        };
        let map = fit_task(&kind.config(self.seed), &mut task)?;
        Ok((map, task.left_out))
    }

    fn left_out(&self, kind: MapKind, map: &LogitMap, split: &Split) -> Result<Vec<f64>> {
        let left_out = self.data.select(&split.left_out);
        if split.rest.is_empty() {
            return Ok(left_out.logits);
        }
        let mut silent = |_| {};
        let mut task = FitTask {
            purpose: Purpose::Fold,
            // it is known, and no search for it starts threads of its own
            weight: map.report().and_then(|report| report.regularisation),
            ..FitTask::new(self.data.select(&split.rest), &mut silent)
        };
        let map = fit_task(&kind.config(self.seed), &mut task)?;
        Ok(left_out.mapped(|logits| map.forward(logits)))
    }

    fn tried(&self, name: &'static str, map: &LogitMap, logits: Vec<f64>) -> Tried {
        let FitData {
            labels, classes, ..
        } = &self.left_out;
        let kind = name.parse::<MapKind>().ok();
        // maps of the order alone come last
        let all = (1..).zip(CANDIDATES.iter().chain(&OF_ZEROS));
        let place = all.filter(|(_, one)| Some(one.0) == kind).last();
        // the losses of unchanged zeros are of larger probabilities, but not their means
        let written = if name == UNCHANGED {
            &self.left_out.logits
        } else {
            &logits
        };
        let rows = written.chunks(*classes).map(<[f64]>::to_vec);
        let probabilities: Vec<f64> = rows.flat_map(softmax).collect();
        Tried {
            name,
            losses: log_losses(logits, labels),
            beyond: vec![],
            excess: self.excess(&probabilities),
            weights: self.left_out.weights.clone(),
            score_p_value: if self.zeros {
                self.has_refuted_zero().then_some(0.0)
            } else {
                kind.and_then(|kind| p_value(kind, self.data))
            },
            rank: match place {
                // as many parameters as a temperature
                Some(_) if kind == Some(MapKind::Shift) && *classes == 2 => 1,
                place => place.map_or(0, |(rank, _)| rank),
            },
            guarantees: map.guarantees(),
        }
    }
}
