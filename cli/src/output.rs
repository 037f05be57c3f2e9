//! The output of `calibration evaluate`: a table for people, or one JSON object.

use std::fmt;

use burn_calibration::{
    distribution::Subject, hypothesis::TestOutcome, names::Name, numbers::percent,
};
use serde::Serialize;

use crate::{
    answer::Answer,
    args::{Family, Lens},
    given::GivenAnswer,
    words::{
        KernelWords, Known, Named, TargetWords, Told, as_key, as_member, key, p_value, probability,
        title_width,
    },
};

/// Whether predictions are about classes, none before the others.
pub fn is_classes(subject: &Subject) -> bool {
    *subject == Subject::Classes
}

/// What so many predictions are, in words.
pub fn predictions_of(subject: Subject, (name, outcomes): (&str, usize)) -> String {
    match (subject, outcomes) {
        (Subject::Correctness, _) => "confidences, and whether the model was right".into(),
        (Subject::Event, _) => "predictions of one event, class 1".into(),
        (_, 1) => "predictions of 1 dimension".into(),
        _ => format!("predictions of {outcomes} {name}"),
    }
}

#[derive(Serialize)]
pub struct Evaluation {
    pub n: usize,
    /// The name and the number of what is predicted.
    #[serde(serialize_with = "as_member", flatten)]
    pub outcomes: (&'static str, usize),
    /// Names of classes, where these are not numbers from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    #[serde(serialize_with = "as_key")]
    pub family: Family,
    /// What classes are about.
    #[serde(skip_serializing_if = "is_classes")]
    pub subject: Subject,
    #[serde(serialize_with = "as_key")]
    pub lens: Lens,
    #[serde(flatten)]
    pub summary: Named<f64>,
    #[serde(flatten)]
    pub found: Found,
}

/// What was found of the whole prediction, or of each class.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Found {
    Whole(Box<Aspect>),
    Classes {
        classes: Vec<Aspect>,
        adjusted: Named<Adjusted>,
    },
}

#[derive(Serialize)]
pub struct Aspect {
    #[serde(flatten)]
    pub class: Option<Class>,
    /// The kernel on predictions.
    pub kernel: KernelWords,
    /// The kernel on targets, if there is a choice.
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    pub on_targets: Option<TargetWords>,
    /// Given the columns of a file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Known<GivenAnswer>>,
    #[serde(flatten)]
    pub answer: Answer,
    pub estimates: Named<Told<f64>>,
    pub tests: Named<Told<TestOutcome>>,
}

/// A class against the rest.
#[derive(Serialize)]
pub struct Class {
    /// The number, from 0.
    pub index: usize,
    pub name: String,
}

/// P-values across classes, adjusted.
#[derive(Serialize)]
pub struct Adjusted {
    pub holm: Vec<f64>,
    pub benjamini_hochberg: Vec<f64>,
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, (_, outcomes)) = (self.n, self.outcomes);
        let lens = match (self.lens, self.subject) {
            (_, Subject::Correctness) => "the confidence",
            (Lens::Canonical, Subject::Event) => "the probability of the event",
            (Lens::Canonical, _) => "the whole vector of probabilities (canonical)",
            (Lens::TopLabel, _) => "the confidence in the most likely class (top-label)",
            (Lens::ClassWise, _) => "each class against the rest (class-wise)",
        };
        match self.family {
            Family::Categorical => {
                let of = predictions_of(self.subject, self.outcomes);
                writeln!(f, "{n} {of}\ntested: {lens}")?
            }
            family => writeln!(
                f,
                "{n} predictions of the family {}, targets of dimension {outcomes}",
                key(family)
            )?,
        }
        let share = |(name, share): &(Name, f64)| format!("{} {}", name.title, percent(*share, 1));
        let shares: Vec<String> = self.summary.0.iter().map(share).collect();
        if !shares.is_empty() {
            writeln!(f, "{}", shares.join(", "))?;
        }
        let (classes, adjusted) = match &self.found {
            Found::Whole(whole) => return write!(f, "{whole}"),
            Found::Classes { classes, adjusted } => (classes, adjusted),
        };
        for class in classes {
            write!(f, "{class}")?;
        }
        if adjusted.0.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\np-values across classes, adjusted (smallest of the classes)"
        )?;
        writeln!(f, "  {:38} {:>12} {:>20}", "", "Holm", "Benjamini-Hochberg")?;
        let least = |p: &[f64]| p.iter().copied().fold(1.0, f64::min);
        for (Name { title, .. }, adjusted) in &adjusted.0 {
            let (holm, bh) = (least(&adjusted.holm), least(&adjusted.benjamini_hochberg));
            let (holm, bh) = (p_value(holm), p_value(bh));
            writeln!(f, "  {title:38} {holm:>12} {bh:>20}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        if let Some(Class { name, .. }) = &self.class {
            writeln!(f, "class {name}")?;
        }
        match &self.given {
            Some(Known(Ok(given))) => writeln!(f, "{given}")?,
            Some(Known(Err(reason))) => writeln!(f, "There is no test given --given: {reason}\n")?,
            None => (),
        }
        writeln!(f, "{}\n{}", self.answer, self.kernel)?;
        if let Some(words) = &self.on_targets {
            writeln!(f, "{words}")?;
        }
        write_estimates(f, &self.estimates.0)?;
        write_tests(f, &self.tests.0)
    }
}

/// A line each; a reason where there is no number.
fn write_estimates(f: &mut fmt::Formatter<'_>, estimates: &[(Name, Told<f64>)]) -> fmt::Result {
    writeln!(f, "\nestimates")?;
    let width = title_width(estimates.iter().map(|(name, _)| name));
    for (Name { title, .. }, Told { of, value }) in estimates {
        let line = match &value.0 {
            Ok(value) => format!("  {title:width$} {value:>16.8e}  {of}"),
            Err(reason) => format!("  {title:width$} {:>16}  {reason}", "-"),
        };
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A line each; a reason where there is no p-value.
fn write_tests(f: &mut fmt::Formatter<'_>, tests: &[(Name, Told<TestOutcome>)]) -> fmt::Result {
    if tests.is_empty() {
        return Ok(());
    }
    writeln!(f, "\ntests of calibration")?;
    writeln!(
        f,
        "  {:38} {:>16} {:>14} {:>12}",
        "", "estimate", "statistic", "p-value"
    )?;
    for (Name { title, .. }, Told { of, value }) in tests {
        match &value.0 {
            Ok(o) => {
                writeln!(
                    f,
                    "  {title:38} {:>16.8e} {:>14.6} {:>12}  {of}",
                    o.estimate(),
                    o.statistic(),
                    probability(o.p_value(), o.is_bound())
                )?;
                if let Some(caveat) = o.caveat() {
                    writeln!(f, "    {caveat}")?;
                }
            }
            Err(reason) => writeln!(f, "  {title:38} {:>16}  {reason}", "-")?,
        }
    }
    Ok(())
}
