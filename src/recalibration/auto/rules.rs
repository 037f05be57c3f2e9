//! Which of the maps that were tried is chosen.

use crate::{
    distribution::{Subject, Weights},
    estimator::{self, Interval, MeanEstimate},
    hypothesis::holm,
    numbers::{counted, significant},
    recalibration::{Guarantees, MapKind},
};

/// A map that was tried, and its losses on samples that it was not fitted to.
pub struct Tried {
    pub name: &'static str,
    pub losses: Vec<f64>,
    /// Its losses on rows that no fit has and that may turn a gain into a loss; empty for classes.
    pub beyond: Vec<f64>,
    /// The probability of the most likely class, or of the event, less its outcome; empty for distributions.
    pub excess: Vec<f64>,
    /// The weights of the samples.
    pub weights: Weights,
    /// The p-value of the score test, for a map of few parameters, that the predictions are calibrated as they are,
    /// against this map.
    pub score_p_value: Option<f64>,
    /// Maps of a lower rank are simpler; those of one rank have as many parameters.
    pub rank: usize,
    pub guarantees: Guarantees,
}

/// The scheme by which samples were left out of fits.
#[derive(Debug, Clone, Copy)]
pub struct Validation {
    /// The number of all samples.
    pub samples: usize,
    /// The number of fits without some of them.
    pub splits: usize,
    /// The number of folds, of which each fit is without one.
    pub folds: usize,
    /// Whether a gain has to be established for a map to be chosen.
    pub only_established: bool,
    /// The level of all score tests together.
    pub level: f64,
    pub subject: Subject,
}

/// Fewest samples, wrong predictions and right predictions for an interval; effective numbers where there are weights.
/// With fewer errors, intervals of simulated temperatures covered 85 to 94 %.
const FEWEST: usize = 20;
/// Fewest wrong and right predictions for an established gain. With so many, no loss was taken for a gain.
const FEWEST_FOR_A_GAIN: usize = 10;
/// Fewest samples with the event, and without it, for any map of an event: their log-odds are not bounded without one.
const FEWEST_FOR_A_SHIFT: usize = 1;
/// Largest gain of one sample that counts towards an established gain: a probability 150 times as large.
const LARGEST: f64 = 5.0;

/// Factor of the expected change by the rows beyond the fits in an interval: the law of that change has a heavy tail.
const TAIL: f64 = 2.0;

/// The maps that were tried, the predictions as they are first, and how their samples were left out.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    pub tried: &'a [Tried],
    pub validation: Validation,
}

impl Rules<'_> {
    /// The weighted mean over the samples.
    pub fn mean(self, numbers: &[f64]) -> MeanEstimate {
        MeanEstimate::weighted(numbers, &self.tried[0].weights)
    }

    /// The number that is more than half of the variance, if there is one.
    fn dominant(self, numbers: &[f64]) -> Option<usize> {
        let weights = &self.tried[0].weights;
        let mean = weights.mean(numbers);
        let terms = numbers.iter().zip(weights.all(numbers.len()));
        let squares: Vec<f64> = terms.map(|(x, w)| (w * (x - mean)).powi(2)).collect();
        let sum: f64 = squares.iter().sum();
        squares.iter().position(|square| *square > 0.5 * sum)
    }

    /// The change of the log loss from one map to another.
    pub fn change(self, from: usize, to: usize) -> MeanEstimate {
        self.estimate(&differences(&self.tried[from], &self.tried[to]))
    }

    /// The mean of differences, with a standard error that allows for the fits.
    fn estimate(self, differences: &[f64]) -> MeanEstimate {
        let Validation {
            samples,
            splits,
            folds,
            ..
        } = self.validation;
        let change = self.mean(differences);
        let ratio = splits as f64 / (folds as f64 - 1.0); // infinite without a sample to fit to
        let factor = (1.0 + ratio).sqrt() * (1.0 + 30.0 / samples as f64);
        MeanEstimate {
            standard_error: change.standard_error * factor,
            ..change
        }
    }

    /// The rise of the mean change of a map with the rows beyond those of the fits; infinite where it is no
    /// number.
    fn shift_beyond(self, at: usize) -> f64 {
        let [from, to] = [0, at].map(|at| &self.tried[at]);
        let pairs = from.beyond.iter().zip(&to.beyond);
        let mean = self.mean(&differences(from, to)).estimate;
        let sum: f64 = pairs.map(|(from, to)| to - from - mean).sum();
        let shift = sum / (from.effective(|_| 1.0) + from.beyond.len() as f64);
        if shift.is_nan() { f64::INFINITY } else { shift }
    }

    /// The 95 % interval of the change by a map, which covers it with the rows beyond those of the fits and without
    /// them.
    pub fn interval(self, at: usize) -> Interval {
        let of_fits = interval(self.change(0, at));
        let shift = self.shift_beyond(at);
        Interval {
            lower: of_fits.lower + TAIL * shift.min(0.0),
            upper: of_fits.upper + TAIL * shift.max(0.0),
            ..of_fits
        }
    }

    /// The reason why the change by a map has no interval, or, for the predictions as they are, why no map has a gain.
    pub fn reason_against_interval(self, at: usize) -> Option<String> {
        if at == 0 {
            return (self.few_samples(FEWEST_FOR_A_GAIN)).or_else(|| self.undone());
        }
        let one = self.dominant(&differences(&self.tried[0], &self.tried[at]));
        let one = one.map(|_| "one sample is more than half of its variance".into());
        let undone = self.shift_beyond(at) > 0.0 && self.interval(at).upper >= 0.0;
        let undone = undone.then(|| "one larger error than any so far may undo the gain".into());
        self.few_samples(FEWEST).or(one).or(undone)
    }

    /// The maps that would gain by more than one standard error but for the rows beyond those of the fits, in words.
    fn undone(self) -> Option<String> {
        let loses_beyond = |at: usize| self.change(0, at).estimate + self.shift_beyond(at) >= 0.0;
        let undone = (1..self.tried.len()).filter(|&at| self.is_worse(at, 0) && loses_beyond(at));
        let names: Vec<&str> = undone.map(|at| self.tried[at].name).collect();
        let rows = match self.tried[0].beyond.len() {
            ..=1 => "one larger error than any so far",
            _ => "the rows that are left out, and one larger error,",
        };
        (!names.is_empty()).then(|| format!("{rows} would undo the gain of {}", names.join(", ")))
    }

    /// The reason why there are too few samples for an interval, if there are. It needs at least this number of wrong
    /// and of right predictions, or of samples with the event and without it.
    fn few_samples(self, least: usize) -> Option<String> {
        let unchanged = &self.tried[0];
        let are_weighted = unchanged.weights.are_given();
        let n = unchanged.effective(|_| 1.0);
        if n < FEWEST as f64 {
            return Some(if are_weighted {
                let n = significant(n, 3);
                format!("there is an effective number of {n} samples, fewer than {FEWEST}")
            } else {
                format!("{}, fewer than {FEWEST}", counted(n as usize, "sample"))
            });
        }
        let words = match self.validation.subject {
            Subject::Classes | Subject::Correctness => {
                [("wrong prediction", ""), ("right prediction", "")]
            }
            Subject::Event => [
                ("sample", " without the event"),
                ("sample", " with the event"),
            ],
        };
        let mut kinds = unchanged.wrong_and_right().into_iter().zip(words);
        let few = kinds.find(|(count, _)| *count < least as f64);
        let (count, (what, which)) = few.filter(|_| !unchanged.excess.is_empty())?;
        Some(if are_weighted {
            let count = significant(count, 3);
            format!("an effective number of {count} {what}s{which}, fewer than {least}")
        } else {
            format!(
                "{}{which}, fewer than {least}",
                counted(count as usize, what)
            )
        })
    }

    /// The p-value of the score test against a map, adjusted for all such tests (Holm 1979); none without a test.
    pub fn adjusted_p_value(self, at: usize) -> Option<f64> {
        let own = self.tried[at].score_p_value?;
        let all = self.tried.iter().filter_map(|of| of.score_p_value);
        let all: Vec<f64> = all.collect();
        let place = all.iter().position(|p| *p == own)?;
        Some(holm(&all).expect("p-values")[place]) // equal ones are adjusted alike
    }

    /// Whether the data of an event determine a map: there are ten samples with the event and ten without, as for an
    /// established gain, or one of each for a shift. Fewer of either do not tell how sharp probabilities may be, however
    /// certain it is that they are too high or too low; without any of them no shift is far enough.
    fn is_determined(self, at: usize) -> bool {
        let unchanged = &self.tried[0];
        if self.validation.subject == Subject::Classes || unchanged.excess.is_empty() {
            return true;
        }
        let least = if self.tried[at].name == MapKind::Shift.name() {
            FEWEST_FOR_A_SHIFT
        } else {
            FEWEST_FOR_A_GAIN
        };
        let counts = unchanged.wrong_and_right();
        at == 0 || counts.iter().all(|count| *count >= least as f64)
    }

    /// Whether a map is better than the predictions as they are: by the interval of the gain, where no sample
    /// counts as a gain of more than [`LARGEST`], lest a few hide the others; or, of a map of few parameters, if it
    /// gains (of classes by a standard error) and its score test rejects that the predictions are calibrated, at the
    /// level of all such tests together. The interval of a gain of few samples is wide, and this test is not.
    fn is_better(self, at: usize) -> bool {
        let mut differences = differences(&self.tried[0], &self.tried[at]);
        let shift = self.shift_beyond(at).max(0.0);
        let change = self.mean(&differences);
        // a map of many classes that is refuted by one of them may harm the others; of distributions the rows beyond the
        // fits take the place of a standard error
        let of_classes = self.validation.subject == Subject::Classes;
        let least = if of_classes && !self.tried[at].excess.is_empty() {
            change.standard_error
        } else {
            0.0
        };
        let gains = change.estimate + shift < -least;
        differences.iter_mut().for_each(|x| *x = x.max(-LARGEST));
        let enough = self.few_samples(FEWEST_FOR_A_GAIN).is_none();
        let high = interval(self.estimate(&differences)).upper + TAIL * shift;
        let clear = enough && self.dominant(&differences).is_none() && high < 0.0;
        let refuted = (self.adjusted_p_value(at)).is_some_and(|p| p <= self.validation.level);
        at > 0 && (clear || refuted && self.tried[0].has_enough_expected() && gains)
    }

    /// Whether the gain of a map is established: it is better than the predictions as they are, or better by more
    /// than one standard error than a map that is: it is known then that the predictions can be improved.
    pub fn is_established(self, at: usize) -> bool {
        let better = |than: usize| self.is_better(than) && self.is_worse(at, than);
        let is_established = self.is_better(at) || at > 0 && (1..self.tried.len()).any(better);
        is_established && self.is_determined(at)
    }

    /// Whether the change from one map to another is a loss beyond one standard error of paired differences.
    fn is_worse(self, from: usize, to: usize) -> bool {
        let change = self.mean(&differences(&self.tried[from], &self.tried[to]));
        change.estimate > change.standard_error
    }

    /// The simplest map within one standard error of the best, of those that are established and for which
    /// `allowed`, and the better one of equally simple ones; the predictions as they are if there is none.
    pub fn simplest(self, allowed: impl Fn(&Tried) -> bool) -> usize {
        let any = !self.validation.only_established;
        let is_open = |at: usize| allowed(&self.tried[at]) && self.is_determined(at);
        let pays = |&at: &usize| is_open(at) && (any || self.is_established(at));
        let among: Vec<usize> = (0..self.tried.len()).filter(pays).collect();
        let mean = |at: usize| self.mean(&self.tried[at].losses).estimate;
        let best = (among.iter().copied()).min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let near =
            |&at: &usize| Some(at) == best || best.is_some_and(|best| !self.is_worse(best, at));
        let simpler = |a: &usize, b: &usize| {
            let ranks = self.tried[*a].rank.cmp(&self.tried[*b].rank);
            ranks.then(mean(*a).total_cmp(&mean(*b)))
        };
        among.into_iter().filter(near).min_by(simpler).unwrap_or(0)
    }
}

fn differences(from: &Tried, to: &Tried) -> Vec<f64> {
    estimator::differences(&from.losses, &to.losses, 0.0)
}

impl Tried {
    /// The effective number of samples of which each counts by some share, `(Σ w s)²/Σ w² s`: their sum without weights.
    fn effective(&self, share: impl Fn(usize) -> f64) -> f64 {
        let terms = self.weights.all(self.losses.len()).enumerate();
        let [sum, square] = terms.fold([0.0; 2], |[sum, square], (at, w)| {
            let share = share(at);
            [sum + w * share, square + w * w * share]
        });
        if sum > 0.0 { sum * sum / square } else { 0.0 }
    }

    /// The effective numbers of wrong predictions and of right ones; none of distributions.
    fn wrong_and_right(&self) -> [f64; 2] {
        [true, false].map(|wrong| {
            let share = |at: usize| f64::from(u8::from((self.excess[at] > 0.0) == wrong));
            if self.excess.is_empty() {
                0.0
            } else {
                self.effective(share)
            }
        })
    }

    /// Whether there are enough wrong predictions, and right ones, or would be if they were calibrated.
    fn has_enough_expected(&self) -> bool {
        let least = FEWEST_FOR_A_GAIN as f64;
        let expected = |at: usize| f64::from(u8::from(self.excess[at] > 0.0)) - self.excess[at];
        let both = || {
            let [wrong, right] = self.wrong_and_right();
            wrong.max(self.effective(expected)) >= least
                && right.max(self.effective(|at| 1.0 - expected(at))) >= least
        };
        self.effective(|_| 1.0) >= FEWEST as f64 && (self.excess.is_empty() || both())
    }
}

/// The 95 % interval of a change.
pub fn interval(change: MeanEstimate) -> Interval {
    change.interval(0.95).expect("a valid level")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The losses of 100 samples, which a map of few parameters changes by `−gain ± 1` each: the standard error is 0.1.
    /// Half of the predictions are wrong.
    fn tried(gain: f64, score_p_value: Option<f64>) -> [Tried; 2] {
        let side = |at: usize| [1.0, -1.0][at % 2];
        let of = |name, losses: Vec<f64>, score_p_value| Tried {
            name,
            excess: (0..losses.len()).map(|at| 0.5 * side(at / 2)).collect(),
            losses,
            beyond: Vec::new(),
            weights: Weights::default(),
            score_p_value,
            rank: 0,
            guarantees: Guarantees::NONE,
        };
        let changed = (0..100).map(|at| 2.0 - gain + side(at)).collect();
        [
            of("none", vec![2.0; 100], None),
            of("shift", changed, score_p_value),
        ]
    }

    fn chosen(tried: &[Tried], subject: Subject) -> &'static str {
        let validation = Validation {
            samples: 100,
            splits: 5,
            folds: 5,
            only_established: true,
            level: 0.04,
            subject,
        };
        tried[Rules { tried, validation }.simplest(|_| true)].name
    }

    /// A score test finds that one of many classes is too likely, and does not say that a map which is fitted to few
    /// samples is better.
    #[test]
    fn a_score_test_needs_a_gain_of_a_standard_error() {
        let of_classes = |gain, p_value| chosen(&tried(gain, p_value), Subject::Classes);
        let refuted = Some(1e-6);
        assert_eq!(of_classes(0.05, refuted), "none");
        assert_eq!(of_classes(0.15, refuted), "shift");
        // neither does without the other
        assert_eq!(of_classes(0.15, Some(0.05)), "none");
        assert_eq!(of_classes(0.15, None), "none");
        // the interval of a clear gain needs no test
        assert_eq!(of_classes(0.5, None), "shift");
        // of an event, and of distributions, a gain is enough
        assert_eq!(chosen(&tried(0.05, refuted), Subject::Event), "shift");
        assert_eq!(chosen(&tried(0.05, Some(0.05)), Subject::Event), "none");
        let of_distributions = tried(0.05, refuted).map(|tried| Tried {
            excess: Vec::new(),
            ..tried
        });
        assert_eq!(chosen(&of_distributions, Subject::Classes), "shift");
    }
}
