use std::fmt;

use serde::Serialize;

use super::rules::{Rules, Tried, interval};
use crate::{
    distribution::Subject,
    estimator::{Interval, MeanEstimate},
    numbers::{self, signed},
    recalibration::{FitWarning, Guarantees, Keep},
};

/// The chosen candidate, and the reason.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct Choice {
    /// The name of the chosen candidate: "order-invariant", or "none".
    pub chosen: &'static str,
    /// The subject of the predictions.
    #[serde(skip)]
    pub subject: Subject,
    /// The change of the mean log loss by the chosen map, on samples that it was not fitted to; negative
    /// where it gains. Its standard error allows for the fits, which vary too: it is that of the differences times
    /// `√(1 + K/(K−1)) (1 + 30/n)` for `K` folds (Nadeau, Bengio: *Inference for the generalization error*, 2003;
    /// the last factor is what simulated temperatures of 40 to 300 samples need).
    pub change: MeanEstimate,
    #[serde(skip)]
    interval: Interval,
    /// The reason why there is no interval of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// Guarantees of other maps that the chosen map does not give, and their costs.
    pub costs: Vec<Cost>,
    /// The candidates that were tried, simple ones first.
    pub candidates: Vec<Candidate>,
    /// The maps that were not candidates.
    pub passed_over: Vec<PassedOver>,
    /// The number of fits with samples left out: that of the folds, or 1 of many samples.
    pub folds: usize,
    /// Warnings, to be read before the map is used.
    pub warnings: Vec<FitWarning>,
}

/// A map that was tried.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The short name, as for [`MapKind::name`](crate::recalibration::MapKind::name); "none" for unchanged
    /// predictions.
    pub name: &'static str,
    /// The mean log loss on samples that it was not fitted to.
    pub log_loss: MeanEstimate,
    /// Its difference from the log loss of the unchanged predictions, with the standard error of
    /// [`Choice::change`].
    pub change: MeanEstimate,
    /// Whether its gain is established: at least ten predictions are wrong and ten right (of an event: ten
    /// samples are with it and ten without), no sample is more than half of the variance, and all of the 95
    /// % interval of the change is below 0, also if no sample gains more than 5. Maps of few parameters also if
    /// they gain, of classes by a standard error, and their score test rejects that the predictions are calibrated, see
    /// [`score_p_value`](Self::score_p_value). And maps that are better than one of these by more than one
    /// standard error. Of an event a shift needs a sample with it and one without, every other map ten of each, whatever
    /// a test says. Of distributions all of it counts rows beyond those of the fits as well, see
    /// [`AutoDistributionRecalibration`](crate::recalibration::AutoDistributionRecalibration).
    pub established: bool,
    /// The p-value of the score test that the predictions are calibrated, against this map, adjusted for all such
    /// tests (Holm 1979): of a temperature, a shift and, of two classes, Platt scaling, together at 4 %; of
    /// variance scaling at 2.5 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_p_value: Option<f64>,
    /// The mean of the confidence, less that of what is right, on samples that it was not fitted to:
    /// positive where it is overconfident. For an event the mean of its probability, less the frequency of
    /// the event. None for distributions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overconfidence: Option<MeanEstimate>,
    /// The guarantees of the map that was fitted to all samples.
    pub guarantees: Guarantees,
}

/// The price of a guarantee that the chosen map does not give.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// The property that would be kept.
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
    /// The reason.
    pub reason: String,
    /// The number of samples from which it is tried, if there are fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<usize>,
}

impl Choice {
    /// The number of the chosen map, and what there is to say about it.
    pub(super) fn among(
        rules: Rules,
        keeps: &[Keep],
        passed_over: Vec<PassedOver>,
        mut warnings: Vec<FitWarning>,
    ) -> (usize, Self) {
        let Rules { tried, validation } = rules;
        let at = rules.simplest(|_| true);
        // of the fit of the first map, by which rows were set aside
        if at != 1 {
            warnings.retain(|warning| !warning.is_of_map());
        }
        let kept = tried[at].guarantees;
        let cost = |keep: Keep| {
            let other = rules.simplest(|tried| tried.guarantees.keeps(keep));
            let (name, change) = (tried[other].name, rules.change(at, other));
            (!kept.keeps(keep)).then_some(Cost { keep, name, change })
        };
        let candidate = |(at, tried): (usize, &Tried)| Candidate {
            name: tried.name,
            log_loss: rules.mean(&tried.losses),
            change: rules.change(0, at),
            established: rules.is_established(at),
            score_p_value: rules.adjusted_p_value(at),
            overconfidence: (!tried.excess.is_empty()).then(|| rules.mean(&tried.excess)),
            guarantees: tried.guarantees,
        };
        let few = passed_over.iter().filter(|over| over.least.is_some());
        let names: Vec<String> = few.map(|over| over.name.into()).collect();
        if !names.is_empty() {
            let samples = validation.samples;
            warnings.push(FitWarning::TooFew { samples, names });
        }
        let choice = Self {
            chosen: tried[at].name,
            subject: validation.subject,
            change: rules.change(0, at),
            interval: rules.interval(at),
            no_interval: rules.reason_against_interval(at),
            costs: keeps.iter().copied().filter_map(cost).collect(),
            candidates: tried.iter().enumerate().map(candidate).collect(),
            passed_over,
            folds: validation.splits,
            warnings,
        };
        (at, choice)
    }

    /// Names the rows of the data in the warnings, where the samples are some of them, as [`FitWarning::at_rows`] does.
    pub fn name_rows(&mut self, rows: &[usize]) {
        FitWarning::name_rows(&mut self.warnings, rows);
    }

    /// Returns the 95 % confidence interval of the change of the log loss by the chosen map; none if no map
    /// was chosen, or for the reason that [`no_interval`](Self::no_interval) tells. Of distributions it is wider than
    /// that of [`change`](Self::change), by twice what the rows beyond those of the fits add.
    pub fn interval(&self) -> Option<Interval> {
        let given = self.chosen != "none" && self.no_interval.is_none();
        given.then_some(self.interval)
    }
}

/// "overconfident by 2.02 ± 0.51 points", or of an event "risks too high by 0.200 ± 0.051 points".
fn bias_in_words(bias: MeanEstimate, subject: Subject) -> String {
    let (high, low) = match subject {
        Subject::Classes | Subject::Correctness => ("overconfident", "underconfident"),
        Subject::Event => ("risks too high", "risks too low"),
    };
    let word = if bias.estimate < 0.0 { low } else { high };
    let (size, error) = (bias.estimate.abs(), bias.standard_error);
    let size = if error.is_finite() {
        numbers::points_with_error(size, error)
    } else {
        numbers::points(size, 1)
    };
    format!("{word} by {size} points")
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = match self.folds {
            1 => {
                let samples = numbers::counted(self.change.samples, "sample");
                format!("{samples} left out of the fits")
            }
            folds => format!("samples left out of {folds} fits"),
        };
        let why = match (self.chosen, &self.no_interval) {
            ("none", Some(reason)) => format!("no gain is established: {reason}"),
            ("none", None) => "no gain is established".into(),
            _ => {
                let clear = self.interval().is_some_and(|of| of.upper < 0.0);
                let test = self.candidates.iter().find(|one| one.name == self.chosen);
                let p = test.and_then(|one| one.score_p_value).filter(|_| !clear);
                let by_test = p.map_or(String::new(), |p| {
                    let p = match p {
                        ..0.001 => "p ≤ 0.001".into(),
                        p => format!("p = {}", numbers::significant(p, 2)),
                    };
                    format!("; the score test rejects the predictions before: {p}")
                });
                format!(
                    "the simplest map within one standard error of the best (± below includes the variation of the \
                     fits too){by_test}"
                )
            }
        };
        writeln!(f, "chosen:     {}, {why}", self.chosen)?;
        if let (false, Some(reason)) = (self.chosen == "none", &self.no_interval) {
            let change = self.change.estimate;
            writeln!(
                f,
                "gain:       log loss {} on {left_out}; no interval: {reason}",
                signed(change, 4)
            )?;
        }
        if let Some(Interval { lower, upper, .. }) = self.interval() {
            writeln!(
                f,
                "gain:       log loss {}, 95 % interval [{}, {}], on {left_out}",
                signed(self.change.estimate, 4),
                signed(lower, 4),
                signed(upper, 4)
            )?;
        }
        for candidate in &self.candidates {
            let (loss, change) = (candidate.log_loss.estimate, candidate.change);
            write!(f, "  {:21} log loss ", candidate.name)?;
            // of a map that fails for a row
            if loss < 1e4 {
                f.write_str(&numbers::fixed(loss, 4))?;
            } else {
                write!(f, "{loss:.1e}")?;
            }
            if candidate.name != "none" {
                // one sample or few errors make a standard error that says nothing
                if change.standard_error < 10.0 {
                    write!(
                        f,
                        ", {} ± {:.4}",
                        signed(change.estimate, 4),
                        change.standard_error
                    )?;
                }
                if !candidate.established && candidate.name != self.chosen {
                    let is_worse = interval(change).lower > 0.0;
                    let word = if is_worse { "worse" } else { "not established" };
                    write!(f, ", {word}")?;
                }
            }
            // of probabilities that are right to the last bit there is none
            if let Some(bias) =
                (candidate.overconfidence).filter(|bias| bias.estimate.abs() > 1e-12)
            {
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
                "{name} would keep {}; its log loss differs by {} ± {:.4}",
                keeps.join(", "),
                signed(change.estimate, 4),
                change.standard_error
            )?;
        }
        Ok(())
    }
}
