use std::fmt;

use serde::Serialize;

use super::aspects::{Aspect, Kind};
use crate::{
    error::serialize_or_infinite,
    hypothesis::{TestOutcome, p_value::Probability, redraws::Found},
};

/// The outcome of an [`OmnibusTest`](super::OmnibusTest): one answer, and where the model fails.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OmnibusOutcome {
    /// The p-value of all aspects together: a multiple of `1/(redraws + 1)`, never less.
    pub p_value: f64,
    /// The number of times that the targets were redrawn.
    pub redraws: usize,
    /// The interval that holds the p-value of endless redraws with a probability of 99 % (Clopper and
    /// Pearson 1934).
    pub resampling_interval: (f64, f64),
    /// The number `n` of samples.
    pub samples: usize,
    /// The aspects: of the whole prediction first, then of each class.
    pub aspects: Vec<AspectOutcome>,
}

/// The outcome of an [`OmnibusTest`](super::OmnibusTest) in one aspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AspectOutcome {
    /// The name of the aspect.
    pub name: String,
    /// The finding in words, as "overconfident by 5.0 points".
    pub finding: String,
    /// The estimate: 0, or small, if the model is calibrated.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub estimate: f64,
    /// The estimate less its mean over the redraws, in their standard deviations.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub standardised: f64,
    /// The p-value of this aspect alone.
    pub p_value: f64,
    /// The p-value adjusted for all aspects by redraws from the predictions (Westfall and Young 1993).
    ///
    /// If the model is calibrated, there is an aspect with one of at most `α` with a probability of at most
    /// `α`, at every sample size. If it is not, an aspect that is right can be accused more often: a class
    /// whose frequency is right, of an overconfident model, in up to half of the data sets; `spread` of real
    /// targets, with strongly skewed errors and at most 50 samples, in 8 to 9 % at `α` = 5 %.
    pub adjusted_p_value: f64,
}

impl OmnibusOutcome {
    pub(super) fn new(found: Found, samples: usize, aspects: Vec<AspectOutcome>) -> Self {
        Self {
            p_value: found.p_value,
            redraws: found.redraws,
            resampling_interval: found.interval(0.99),
            samples,
            aspects,
        }
    }

    /// The aspects with an adjusted p-value of at most `level`, the most significant first; of equal ones
    /// in the order of [`aspects`](Self::aspects).
    pub fn failing(&self, level: f64) -> Vec<&AspectOutcome> {
        let failing = |aspect: &&AspectOutcome| aspect.adjusted_p_value <= level;
        let mut aspects: Vec<_> = self.aspects.iter().filter(failing).collect();
        aspects.sort_by(|a, b| a.adjusted_p_value.total_cmp(&b.adjusted_p_value)); // stable
        aspects
    }

    /// Names classes in the findings by `names` instead of by number; those without a name keep it.
    pub fn with_class_names(mut self, names: &[String]) -> Self {
        for aspect in &mut self.aspects {
            if let Some((class, name)) = aspect.class().and_then(|c| Some((c, names.get(c)?))) {
                let (number, name) = (format!("class {class} "), format!("class {name} "));
                aspect.finding = aspect.finding.replacen(&number, &name, 1);
            }
        }
        self
    }

    /// The outcome whose estimate is the largest standardised aspect.
    pub(in crate::hypothesis) fn in_short(&self, name: &'static str) -> TestOutcome {
        let size = |aspect: &AspectOutcome| aspect.standardised.abs();
        let largest = self.aspects.iter().map(size).fold(0.0, f64::max);
        TestOutcome::redrawn(name, self.samples, largest, self.p_value, self.redraws)
    }

    /// The answer in a sentence.
    pub fn verdict(&self) -> String {
        let p = Probability::resampled(self.p_value, self.redraws);
        match self.p_value {
            p_value if p_value <= 0.05 => format!("The model is not calibrated: {p}."),
            _ => format!("There is no evidence against calibration: {p}."),
        }
    }
}

impl AspectOutcome {
    /// The number of the class that this is an aspect of, if it is of one.
    pub fn class(&self) -> Option<usize> {
        self.name.strip_prefix("class_")?.parse().ok()
    }
}

impl Aspect {
    /// The numbers of the data, the estimate first, in words.
    ///
    /// - row: the number of a row of the predictions, as it is printed
    pub fn finding(&self, numbers: &[f64], row: &dyn Fn(usize) -> usize) -> String {
        let estimate = numbers[0];
        let points = |value: f64| format!("{:.1} points", 100.0 * value.abs());
        let high = estimate > 0.0;
        match self.kind {
            Kind::Confidence if high => format!("overconfident by {}", points(estimate)),
            Kind::Confidence => format!("underconfident by {}", points(estimate)),
            Kind::Brier => self.against("Brier score", estimate),
            Kind::Log => self.against("log score", estimate),
            Kind::Class(class) if high => {
                format!(
                    "class {class} is predicted too often, by {}",
                    points(estimate)
                )
            }
            Kind::Class(class) => {
                format!(
                    "class {class} is predicted too rarely, by {}",
                    points(estimate)
                )
            }
            Kind::Cumulative => format!(
                "confidence and accuracy differ by {} over the less confident samples",
                points(estimate)
            ),
            Kind::Skce(bandwidth, of) => {
                format!("SKCE {of} {estimate:.2e}, bandwidth {}", short(bandwidth))
            }
            Kind::Real(kind) => kind.finding(numbers, row),
        }
    }

    fn against(&self, score: &str, estimate: f64) -> String {
        if estimate.is_infinite() {
            return "an outcome of predicted probability 0 occurred".into();
        }
        let side = if estimate > 0.0 { "worse" } else { "better" };
        format!(
            "the {score} is {} {side} than the probabilities promise",
            short(estimate.abs())
        )
    }
}

/// Three digits.
pub(super) fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 || (value != 0.0 && value < 1e-3) => format!("{value:.2e}"),
        value => {
            let digits = (2 - value.log10().floor().max(-3.0) as i32).clamp(0, 5) as usize;
            format!("{value:.digits$}")
        }
    }
}

impl fmt::Display for OmnibusOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.verdict())?;
        let failing = self.failing(0.05);
        for aspect in &failing {
            let p = Probability::resampled(aspect.adjusted_p_value, self.redraws);
            writeln!(f, "    {} (adjusted {p})", aspect.finding)?;
        }
        if failing.is_empty() && self.p_value <= 0.05 {
            writeln!(f, "    no single aspect is significant by itself")?;
        }
        write!(
            f,
            "    omnibus test, n = {}, {} redraws",
            self.samples, self.redraws
        )
    }
}
