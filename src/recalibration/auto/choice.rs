use std::fmt;

use serde::Serialize;

use super::stack::{MIXTURE, Weight};
use crate::{
    estimator::MeanEstimate,
    recalibration::{Guarantees, Keep},
};

/// What was chosen among candidates, and why.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name of the chosen candidate: "order-invariant", or "none".
    pub chosen: &'static str,
    /// The change of the mean log loss by the chosen map, on samples that it was not fitted to; negative
    /// where it gains. That it was chosen among several makes it look a little better than it is.
    pub change: MeanEstimate,
    /// The parts of the mixture of maps, where that was chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Weight>,
    /// What other maps keep that this one does not, and what they cost.
    pub costs: Vec<Cost>,
    /// The candidates that were tried, simple ones first.
    pub candidates: Vec<Candidate>,
    /// The maps that were not candidates.
    pub passed_over: Vec<PassedOver>,
    /// The number of fits with samples left out: that of the folds, or 1 of many samples.
    pub folds: usize,
    /// What to know before the map is used.
    pub warnings: Vec<String>,
}

/// A map that was tried.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The short name, as of [`MapKind::name`](crate::recalibration::MapKind::name); "none" for the
    /// predictions as they are.
    pub name: &'static str,
    /// The mean log loss on samples that it was not fitted to.
    pub log_loss: MeanEstimate,
    /// Its difference from that of the predictions as they are.
    pub change: MeanEstimate,
    /// What the map keeps that was fitted to all samples.
    pub guarantees: Guarantees,
}

/// The price of a guarantee that the chosen map does not give.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// What would be kept.
    pub keep: Keep,
    /// The name of the map that would be chosen.
    pub name: &'static str,
    /// The difference of its mean log loss from that of the chosen map.
    pub change: MeanEstimate,
}

/// A map that was not a candidate.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PassedOver {
    /// The short name.
    pub name: &'static str,
    /// Why.
    pub reason: String,
    /// The number of samples from which it is tried, if there are fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<usize>,
}

/// A map that was tried, and its log losses on samples that it was not fitted to.
pub(super) struct Tried<'a> {
    pub name: &'static str,
    pub losses: &'a [f64],
    pub guarantees: Guarantees,
}

/// The number of the simplest trial within one standard error of the best, of those for which `allowed`.
/// The first one, of no map, stands in for the temperature alone, where that is worse.
fn simplest(trials: &[Tried], allowed: impl Fn(&Tried) -> bool) -> usize {
    let among: Vec<usize> = (1..trials.len())
        .filter(|&at| allowed(&trials[at]))
        .collect();
    let mean = |at: usize| MeanEstimate::of(trials[at].losses).estimate;
    let best = (among.iter().copied()).min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
    let best = best.unwrap_or(0);
    let near = |at: &usize| *at == best || !worse(change(&trials[best], &trials[*at]), 1.0);
    match among.into_iter().find(near) {
        None => 0,
        Some(1) if worse(change(&trials[0], &trials[1]), 2.0) => 0,
        Some(at) => at,
    }
}

/// The number of the mixture of all maps, if there is one that is better than the simplest map and, by more than
/// one standard error, than a temperature; else that of the simplest map.
fn chosen(trials: &[Tried]) -> usize {
    let single = simplest(trials, |trial| trial.name != MIXTURE);
    let pays = |&at: &usize| {
        let (gain, loss) = (
            change(&trials[at], &trials[1]),
            change(&trials[single], &trials[at]),
        );
        worse(gain, 1.0) && loss.estimate < 0.0
    };
    let mixture = trials.iter().position(|trial| trial.name == MIXTURE);
    mixture.filter(pays).unwrap_or(single)
}

/// Whether a change is a loss beyond so many standard errors.
fn worse(change: MeanEstimate, errors: f64) -> bool {
    change.estimate > errors * change.standard_error
}

/// The change of the log loss from one trial to another.
fn change(from: &Tried, to: &Tried) -> MeanEstimate {
    let [_, _, difference] = MeanEstimate::paired(from.losses, to.losses);
    difference
}

impl Choice {
    /// The number of the chosen trial, and what there is to say about it. The first trial is of no map.
    pub(super) fn among(
        trials: &[Tried],
        keeps: &[Keep],
        passed_over: Vec<PassedOver>,
        folds: usize,
        all_right: bool,
    ) -> (usize, Self) {
        let at = chosen(trials);
        let chosen = &trials[at];
        let kept = chosen.guarantees;
        let cost = |keep: Keep| {
            let other = simplest(trials, |trial| trial.guarantees.keeps(keep));
            let (name, change) = (trials[other].name, change(chosen, &trials[other]));
            (!kept.keeps(keep)).then_some(Cost { keep, name, change })
        };
        let of_trial = |trial: &Tried| Candidate {
            name: trial.name,
            log_loss: MeanEstimate::of(trial.losses),
            change: change(&trials[0], trial),
            guarantees: trial.guarantees,
        };
        let mut choice = Self {
            chosen: chosen.name,
            change: change(&trials[0], chosen),
            weights: vec![],
            costs: keeps.iter().copied().filter_map(cost).collect(),
            candidates: trials.iter().map(of_trial).collect(),
            passed_over,
            folds,
            warnings: vec![],
        };
        choice.warnings = choice.find_warnings(all_right);
        (at, choice)
    }

    fn find_warnings(&self, all_right: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        let n = self.change.samples;
        let few = self.passed_over.iter().filter(|over| over.least.is_some());
        let names: Vec<_> = few.map(|over| over.name).collect();
        if all_right {
            let words = "all predictions are right, which does not tell how sharp they may be: the \
                         temperature is that of a prior near 1";
            warnings.push(words.into());
        } else if !names.is_empty() {
            let names = names.join(", ");
            warnings.push(format!("{n} samples are too few to try {names}"));
        }
        let (low, high) = self.interval();
        if self.chosen != "none" && low <= 0.0 && 0.0 <= high {
            warnings.push("the gain may be chance: its interval contains 0".into());
        }
        warnings
    }

    /// Gives the 95 % confidence interval of the change of the log loss.
    pub fn interval(&self) -> (f64, f64) {
        let interval = self.change.confidence_interval(0.95);
        interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)) // the level is valid
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        let left_out = match self.folds {
            1 => format!("{} samples left out of the fits", self.change.samples),
            folds => format!("samples left out of {folds} fits"),
        };
        if self.weights.is_empty() {
            writeln!(
                f,
                "chosen:     {}, the simplest map within one standard error of the best",
                self.chosen
            )?;
        } else {
            let parts = self.weights.iter();
            let parts: Vec<_> = parts
                .map(|part| format!("{:.2} {}", part.weight, part.name))
                .collect();
            writeln!(
                f,
                "chosen:     {} of {}, better than a temperature by more than one standard error",
                self.chosen,
                parts.join(", ")
            )?;
        }
        writeln!(
            f,
            "gain:       log loss {:+.4} ± {:.4}, 95 % interval [{low:+.4}, {high:+.4}], on {left_out}",
            self.change.estimate, self.change.standard_error
        )?;
        for candidate in &self.candidates {
            let (loss, change) = (candidate.log_loss.estimate, candidate.change);
            write!(f, "  {:21} log loss {loss:.4}", candidate.name)?;
            if candidate.name != "none" {
                write!(
                    f,
                    ", {:+.4} ± {:.4}",
                    change.estimate, change.standard_error
                )?;
            }
            writeln!(f)?;
        }
        for PassedOver { name, reason, .. } in &self.passed_over {
            writeln!(f, "  {name:21} not tried: {reason}")?;
        }
        for costs in self.costs.chunk_by(|a, b| a.name == b.name) {
            let keeps: Vec<_> = costs.iter().map(|cost| cost.keep.to_string()).collect();
            let Cost { name, change, .. } = costs[0];
            writeln!(
                f,
                "{name} would keep {} at a log loss of {:+.4} ± {:.4} more",
                keeps.join(", "),
                change.estimate,
                change.standard_error
            )?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning:    {warning}")?;
        }
        Ok(())
    }
}
