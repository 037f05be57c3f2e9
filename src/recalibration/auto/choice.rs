use std::fmt;

use serde::Serialize;

use super::stack::{MIXTURE, Weight};
use crate::{
    distribution::Subject,
    estimator::MeanEstimate,
    numbers,
    recalibration::{FitWarning, Guarantees, Keep},
};

/// What was chosen among candidates, and why.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name of the chosen candidate: "order-invariant", or "none".
    pub chosen: &'static str,
    /// What the predictions are about.
    #[serde(skip)]
    pub subject: Subject,
    /// The change of the mean log loss by the chosen map, on samples that it was not fitted to; negative
    /// where it gains. Its standard error allows for the fits, which vary too: it is that of the differences times
    /// `√(1 + K/(K−1)) (1 + 30/n)` for `K` folds (Nadeau, Bengio: *Inference for the generalization error*, 2003;
    /// the last factor is what simulated temperatures of 40 to 300 samples need).
    pub change: MeanEstimate,
    /// Why there is no interval of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
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
    pub warnings: Vec<FitWarning>,
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
    /// Its difference from that of the predictions as they are, with the standard error of [`Choice::change`].
    pub change: MeanEstimate,
    /// Whether its gain is established: at least ten predictions are wrong and ten right (of an event: ten samples
    /// are with it and ten without), no sample is more than half of the variance, and all of the 95 % interval of the change is below 0, also if no sample gains more than 5.
    /// Of a temperature and variance scaling also if it gains and the score test of its parameter rejects that the
    /// predictions are calibrated, at 2.5 %.
    pub established: bool,
    /// The mean of the confidence, less that of what is right, on samples that it was not fitted to: positive where
    /// it is overconfident. Of an event the mean of its probability, less the frequency of the event. None for
    /// distributions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overconfidence: Option<MeanEstimate>,
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
pub(super) struct Tried {
    pub name: &'static str,
    pub losses: Vec<f64>,
    /// As of [`LeftOutPredictions::excess`](super::left_out::LeftOutPredictions::excess); nothing of distributions.
    pub excess: Vec<f64>,
    /// Of a map of one parameter: the derivative of the log loss of the predictions as they are with respect to it,
    /// about standard normal if they are calibrated.
    pub score: Option<f64>,
    pub guarantees: Guarantees,
}

/// How samples were left out of fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Validation {
    /// The number of all samples.
    pub samples: usize,
    /// The number of fits without some of them.
    pub splits: usize,
    /// The number of folds, of which each fit is without one.
    pub folds: usize,
    /// Whether a gain has to be established for a map to be chosen.
    pub only_established: bool,
    pub subject: Subject,
}

/// Samples, and wrong predictions and right ones, without which no interval is given: of fewer errors intervals
/// of simulated temperatures covered 85 to 94 %.
const FEWEST: usize = 20;
/// Wrong predictions and right ones without which no gain is established: of more, no loss was taken for a gain.
const FEWEST_FOR_A_GAIN: usize = 10;
/// The largest gain of one sample by which a gain is established: a probability 150 times as large.
const LARGEST: f64 = 5.0;
/// A standard normal number is larger in absolute value with a probability of 2.5 %.
const REFUTED: f64 = 2.2414;

impl Validation {
    /// The change of the log loss from one trial to another.
    fn change(self, from: &Tried, to: &Tried) -> MeanEstimate {
        self.estimate(&differences(from, to))
    }

    /// The mean of differences, with a standard error that allows for the fits.
    fn estimate(self, differences: &[f64]) -> MeanEstimate {
        let change = MeanEstimate::of(differences);
        let ratio = self.splits as f64 / (self.folds as f64 - 1.0); // infinite without a sample to fit to
        let factor = (1.0 + ratio).sqrt() * (1.0 + 30.0 / self.samples as f64);
        MeanEstimate {
            standard_error: change.standard_error * factor,
            ..change
        }
    }

    /// Why the change from one trial to another has no interval.
    fn reason_against_interval(self, from: &Tried, to: &Tried) -> Option<String> {
        let one = || dominant(&differences(from, to));
        self.few_samples(from, FEWEST)
            .or_else(|| one().map(|_| "one sample is more than half of its variance".into()))
    }

    /// Why there are too few samples for an interval, with at least so many of wrong and of right predictions, or
    /// with the event and without it.
    fn few_samples(self, of: &Tried, least: usize) -> Option<String> {
        let n = of.losses.len();
        if n < FEWEST {
            return Some(format!("there are {n} samples, fewer than {FEWEST}"));
        }
        let wrong = of.excess.iter().filter(|excess| **excess > 0.0).count();
        let right = of.excess.len() - wrong;
        let words = match self.subject {
            Subject::Classes | Subject::Correctness => {
                ["predictions are wrong", "predictions are right"]
            }
            Subject::Event => ["samples are without the event", "samples have the event"],
        };
        let kinds = [(wrong, words[0]), (right, words[1])];
        let few = kinds.iter().find(|(count, _)| *count < least);
        let (count, kind) = few.filter(|_| !of.excess.is_empty())?;
        Some(format!("{count} {kind}, fewer than {least}"))
    }

    /// Whether a trial is better than the predictions as they are: by the interval of the gain, where no sample
    /// counts as a gain of more than [`LARGEST`], lest a few hide the others; or, of a map of one parameter, if it
    /// gains and the score test of that parameter rejects that the predictions are calibrated. The interval of a
    /// gain of few samples is wide, and this test is not.
    fn established(self, none: &Tried, trial: &Tried) -> bool {
        let mut differences = differences(none, trial);
        let gains = MeanEstimate::of(&differences).estimate < 0.0;
        differences.iter_mut().for_each(|x| *x = x.max(-LARGEST));
        let enough = self.few_samples(none, FEWEST_FOR_A_GAIN).is_none();
        let (_, high) = interval(self.estimate(&differences));
        let clear = enough && dominant(&differences).is_none() && high < 0.0;
        let refuted = trial.score.is_some_and(|score| score.abs() > REFUTED);
        clear || refuted && enough_expected(none) && gains
    }
}

fn differences(from: &Tried, to: &Tried) -> Vec<f64> {
    let pairs = from.losses.iter().zip(&to.losses);
    pairs.map(|(from, to)| to - from).collect()
}

/// Whether there are enough wrong predictions, and right ones, or would be if they were calibrated.
fn enough_expected(none: &Tried) -> bool {
    let (n, excess) = (none.losses.len(), &none.excess);
    let wrong = excess.iter().filter(|excess| **excess > 0.0).count() as f64;
    let expected = wrong - excess.iter().sum::<f64>();
    let (least, all) = (FEWEST_FOR_A_GAIN as f64, excess.len() as f64);
    let both = wrong.max(expected) >= least && (all - wrong).max(all - expected) >= least;
    n >= FEWEST && (both || excess.is_empty())
}

/// The number that is more than half of the variance, if there is one.
fn dominant(numbers: &[f64]) -> Option<usize> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares: Vec<f64> = numbers.iter().map(|x| (x - mean).powi(2)).collect();
    let sum: f64 = squares.iter().sum();
    squares.iter().position(|square| *square > 0.5 * sum)
}

fn interval(change: MeanEstimate) -> (f64, f64) {
    let interval = change.confidence_interval(0.95);
    interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)) // the level is valid
}

/// Whether the change from one trial to another is a loss beyond one standard error of paired differences.
fn worse(from: &Tried, to: &Tried) -> bool {
    let change = MeanEstimate::of(&differences(from, to));
    change.estimate > change.standard_error
}

/// The trials, of which the first is of no map, and how their samples were left out.
struct Trials<'a> {
    all: &'a [Tried],
    validation: Validation,
}

impl Trials<'_> {
    fn change(&self, from: usize, to: usize) -> MeanEstimate {
        self.validation.change(&self.all[from], &self.all[to])
    }

    fn is_established(&self, at: usize) -> bool {
        self.validation.established(&self.all[0], &self.all[at])
    }

    /// Whether a trial may be chosen: its gain is established, or it is better by more than one standard error than
    /// a trial whose gain is: it is known then that the predictions can be improved.
    fn is_open(&self, at: usize) -> bool {
        let better =
            |than: usize| self.is_established(than) && worse(&self.all[at], &self.all[than]);
        let any = !self.validation.only_established;
        any || self.is_established(at) || at > 0 && (1..self.all.len()).any(better)
    }

    /// The simplest trial within one standard error of the best, of those that are open and for which `allowed`;
    /// that of no map if there is none.
    fn simplest(&self, allowed: impl Fn(&Tried) -> bool) -> usize {
        let trials = self.all;
        let pays = |&at: &usize| allowed(&trials[at]) && self.is_open(at);
        let among: Vec<usize> = (0..trials.len()).filter(pays).collect();
        let mean = |at: usize| MeanEstimate::of(&trials[at].losses).estimate;
        let best = (among.iter().copied()).min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let near = |&at: &usize| {
            Some(at) == best || best.is_some_and(|best| !worse(&trials[best], &trials[at]))
        };
        among.into_iter().find(near).unwrap_or(0)
    }

    /// The mixture of all maps, if it pays; else the simplest map.
    fn chosen(&self) -> usize {
        let trials = self.all;
        let single = self.simplest(|trial| trial.name != MIXTURE);
        let bias = |at: usize| MeanEstimate::of(&trials[at].excess);
        let pays = |&at: &usize| {
            let (low, high) = interval(bias(at));
            let unbiased = low <= 0.0 && 0.0 <= high;
            let nearer = bias(at).estimate.abs() <= bias(single).estimate.abs();
            self.is_open(at)
                && worse(&trials[at], &trials[1])
                && self.change(single, at).estimate < 0.0
                && (unbiased || nearer)
        };
        let mixture = trials.iter().position(|trial| trial.name == MIXTURE);
        mixture.filter(pays).unwrap_or(single)
    }
}

impl Choice {
    /// The number of the chosen trial, and what there is to say about it. The first trial is of no map.
    pub(super) fn among(
        trials: &[Tried],
        keeps: &[Keep],
        passed_over: Vec<PassedOver>,
        validation: Validation,
        mut warnings: Vec<FitWarning>,
    ) -> (usize, Self) {
        let of = Trials {
            all: trials,
            validation,
        };
        let at = of.chosen();
        let chosen = &trials[at];
        let kept = chosen.guarantees;
        let cost = |keep: Keep| {
            let other = of.simplest(|trial| trial.guarantees.keeps(keep));
            let (name, change) = (trials[other].name, of.change(at, other));
            (!kept.keeps(keep)).then_some(Cost { keep, name, change })
        };
        let of_trial = |(at, trial): (usize, &Tried)| Candidate {
            name: trial.name,
            log_loss: MeanEstimate::of(&trial.losses),
            change: of.change(0, at),
            established: at > 0 && validation.established(&trials[0], trial),
            overconfidence: (!trial.excess.is_empty()).then(|| MeanEstimate::of(&trial.excess)),
            guarantees: trial.guarantees,
        };
        let no_interval = if at == 0 {
            validation.few_samples(chosen, FEWEST_FOR_A_GAIN)
        } else {
            validation.reason_against_interval(&trials[0], chosen)
        };
        let few = passed_over.iter().filter(|over| over.least.is_some());
        let names: Vec<String> = few.map(|over| over.name.into()).collect();
        if !names.is_empty() {
            let samples = validation.samples;
            warnings.push(FitWarning::TooFew { samples, names });
        }
        let choice = Self {
            chosen: chosen.name,
            subject: validation.subject,
            change: of.change(0, at),
            no_interval,
            weights: vec![],
            costs: keeps.iter().copied().filter_map(cost).collect(),
            candidates: trials.iter().enumerate().map(of_trial).collect(),
            passed_over,
            folds: validation.splits,
            warnings,
        };
        (at, choice)
    }

    /// Gives the 95 % confidence interval of the change of the log loss by the chosen map; none if no map was
    /// chosen, or for the reason that [`no_interval`](Self::no_interval) tells.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let given = self.chosen != "none" && self.no_interval.is_none();
        given.then(|| interval(self.change))
    }
}

/// "overconfident by 2.02 ± 0.51 points", or of an event "risks too high by 0.200 ± 0.051 points".
fn bias_in_words(bias: MeanEstimate, subject: Subject) -> String {
    let (high, low) = match subject {
        Subject::Classes | Subject::Correctness => ("overconfident", "underconfident"),
        Subject::Event => ("risks too high", "risks too low"),
    };
    let word = if bias.estimate < 0.0 { low } else { high };
    let size = numbers::points_with_error(bias.estimate.abs(), bias.standard_error);
    format!("{word} by {size} points")
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = match self.folds {
            1 => format!("{} samples left out of the fits", self.change.samples),
            folds => format!("samples left out of {folds} fits"),
        };
        let parts = self.weights.iter();
        let parts = parts.map(|part| format!("{:.2} {}", part.weight, part.name));
        let why = match (self.chosen, &self.no_interval) {
            ("none", Some(reason)) => format!("no gain is established: {reason}"),
            ("none", None) => "no gain is established".into(),
            (MIXTURE, _) => format!(
                "of {}; better than a temperature by more than one standard error",
                parts.collect::<Vec<_>>().join(", ")
            ),
            _ => "the simplest map within one standard error of the best".into(),
        };
        writeln!(f, "chosen:     {}, {why}", self.chosen)?;
        if let (false, Some(reason)) = (self.chosen == "none", &self.no_interval) {
            let change = self.change.estimate;
            writeln!(
                f,
                "gain:       log loss {change:+.4} on {left_out}; no interval: {reason}"
            )?;
        }
        if let Some((low, high)) = self.interval() {
            writeln!(
                f,
                "gain:       log loss {:+.4}, 95 % interval [{low:+.4}, {high:+.4}], on {left_out}",
                self.change.estimate
            )?;
        }
        for candidate in &self.candidates {
            let (loss, change) = (candidate.log_loss.estimate, candidate.change);
            write!(f, "  {:21} log loss {loss:.4}", candidate.name)?;
            if candidate.name != "none" {
                // one sample or few errors make a standard error that says nothing
                if change.standard_error < 10.0 {
                    write!(
                        f,
                        ", {:+.4} ± {:.4}",
                        change.estimate, change.standard_error
                    )?;
                }
                if !candidate.established {
                    write!(f, ", not established")?;
                }
            }
            if let Some(bias) = candidate.overconfidence {
                write!(f, ", {}", bias_in_words(bias, self.subject))?;
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
        Ok(())
    }
}
