use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Block, ScoredSample, pool};
use crate::{
    distribution::{
        Categorical, ClassRows, Predictive, Subject, Weighted as _, Weights, check_column,
        most_likely,
    },
    error::Result,
    numbers::tied,
};

/// The event whose predicted probability is compared with its frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Event {
    /// The most likely class is the right one: probability `r_i = max_c p_ic`, outcome
    /// `c_i = 1[argmax p_i = y_i]`; see [`Categorical::top_label`].
    #[default]
    TopLabel,
    /// This class is the right one: probability `p_i[class]`, outcome `1[y_i = class]`; see
    /// [`Categorical::class_wise`].
    Class(usize),
}

impl Event {
    /// The event of predictions that are about one ([`Categorical::subject`]), which is class 1; otherwise
    /// the top label.
    pub fn of(predictions: &Categorical) -> Self {
        Self::about(predictions.subject())
    }

    /// The event of predictions with this subject.
    pub fn about(subject: Subject) -> Self {
        match subject {
            Subject::Classes => Self::TopLabel,
            Subject::Event | Subject::Correctness => Self::Class(1),
        }
    }

    /// The event of a quantity that needs exactly one event: as [`of`](Self::of), but class 1 for any two
    /// classes, because its probability has more information than that of the top label.
    pub fn one_of(predictions: &Categorical) -> Self {
        match predictions.classes() {
            2 => Self::Class(1),
            _ => Self::of(predictions),
        }
    }

    /// Predictions of the event, and whether it occurred, from checked data.
    pub(crate) fn lens(
        self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<(Categorical, Tensor<1, Int>)> {
        match self {
            Self::TopLabel => predictions.top_label(labels),
            Self::Class(class) => predictions.class_wise(class, labels),
        }
    }

    /// The probabilities and outcomes of data, on the host.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, an event that is not a class.
    pub fn outcomes(self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Outcomes> {
        predictions.check()?;
        self.weighted_outcomes(predictions, labels)
    }

    /// The outcomes of predictions that may have weights, for what takes these.
    pub(crate) fn weighted_outcomes(
        self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Outcomes> {
        let (plain, weights) = predictions.parted();
        let labels = plain.check_labels(labels)?;
        self.check(predictions.classes())?;
        let rows = plain.rows();
        let occurs = |(&label, &top): (&usize, &u32)| i64::from(self.occurs(label as u32, top));
        Ok(Outcomes {
            probability: self.probabilities(predictions, &rows),
            occurred: labels.iter().zip(rows.top.iter()).map(occurs).collect(),
            weights,
        })
    }

    /// Checks that it is an event of so many classes.
    pub(crate) fn check(self, classes: usize) -> Result<()> {
        match self {
            Self::TopLabel => Ok(()),
            Self::Class(class) => check_column("the class of an event", class, classes),
        }
    }

    /// The probabilities of predictions on the host, which are in `rows`; [ties](tied_probabilities) are equal.
    pub(crate) fn probabilities(self, predictions: &Categorical, rows: &ClassRows) -> Vec<f64> {
        let probability = |i: usize| match self {
            Self::TopLabel => rows.confidence(i),
            Self::Class(class) => rows.row(i)[class],
        };
        let probabilities: Vec<f64> = (0..rows.samples()).map(probability).collect();
        tied_probabilities(&probabilities, predictions)
    }

    /// Returns whether it occurs where this class is the label and `top` the most likely one.
    pub(crate) fn occurs(self, class: u32, top: u32) -> bool {
        match self {
            Self::TopLabel => class == top,
            Self::Class(event) => class as usize == event,
        }
    }

    /// The class that one prediction `p` looks at.
    pub(crate) fn class(self, p: &[f64]) -> usize {
        match self {
            Self::TopLabel => most_likely(p),
            Self::Class(class) => class,
        }
    }

    /// The probability and the outcome of one prediction `p` with label `y`, on the host.
    pub fn outcome(self, p: &[f64], y: usize) -> (f64, bool) {
        let class = self.class(p);
        (p[class], class == y)
    }
}

/// Probabilities of which those are equal that differ by rounding in the dtype of the predictions.
pub(super) fn tied_probabilities(probabilities: &[f64], predictions: &Categorical) -> Vec<f64> {
    let rounding = predictions.rounding();
    tied(probabilities, |row| rounding * probabilities[row])
}

/// Predicted probabilities of an event and whether it occurred.
#[derive(Debug, Clone)]
#[must_use]
pub struct Outcomes {
    /// The probability of the event. Probabilities are equal that differ by rounding alone, as 0.3 and 0.1 + 0.2 do:
    /// they say the same.
    pub probability: Vec<f64>,
    /// 1 or 0.
    pub occurred: Vec<i64>,
    /// The weights of the samples.
    pub(crate) weights: Weights,
}

impl Outcomes {
    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.probability.len()
    }

    /// The smallest and the largest probability.
    pub(crate) fn range(&self) -> [f64; 2] {
        let probabilities = || self.probability.iter().copied();
        [
            probabilities().fold(f64::INFINITY, f64::min),
            probabilities().fold(f64::NEG_INFINITY, f64::max),
        ]
    }

    /// A sample, whose score is the probability.
    pub(crate) fn sample(&self, row: usize) -> ScoredSample {
        ScoredSample {
            score: self.probability[row],
            occurred: self.occurred[row] as f64,
            weight: self.weights.at(row),
        }
    }

    /// All samples.
    pub(crate) fn all(&self) -> impl Iterator<Item = ScoredSample> {
        (0..self.samples()).map(|row| self.sample(row))
    }

    /// The weights by increasing probability, as [`ties`](Self::ties) are.
    pub(crate) fn sorted_weights(&self) -> Weights {
        if !self.weights.are_given() {
            return Weights::default();
        }
        let mut samples: Vec<_> = self.all().collect();
        samples.sort_by(|a, b| a.score.total_cmp(&b.score));
        let weights: Vec<f64> = samples.iter().map(|sample| sample.weight).collect();
        Weights::new(&weights)
    }

    /// The sum of the weights: the number of samples where there are none.
    pub(crate) fn total(&self) -> f64 {
        self.weights.total(self.samples())
    }

    /// The weighted mean over the samples.
    pub(crate) fn mean(&self, of: impl Fn(ScoredSample) -> f64) -> f64 {
        let terms = self.all().map(|sample| sample.weight * of(sample));
        terms.sum::<f64>() / self.total()
    }

    /// Samples of equal probability by increasing probability.
    pub(crate) fn ties(&self) -> Vec<Block> {
        Block::ties(self.all())
    }

    /// The isotonic regression of the outcomes on the probabilities: blocks of increasing probability
    /// and frequency, in each of which the frequency is the regression. [Ties](Self::ties) share one.
    pub(crate) fn isotonic(&self) -> Vec<Block> {
        pool(self.ties())
    }
}
