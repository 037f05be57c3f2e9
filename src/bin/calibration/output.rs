//! The output of `calibration evaluate`: a table for people, or one JSON object.

use std::fmt;

use burn_calibration::{hypothesis::TestOutcome, names::Name};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::{
    answer::Answer,
    args::{Family, Lens},
    given::GivenAnswer,
    kind::Summary,
    limits::QUADRATIC_LIMIT,
    words::{KernelWords, Known, Named, Number, TargetWords, key, p_value, probability},
};

pub struct Evaluation {
    pub n: usize,
    /// The name and the number of what is predicted.
    pub outcomes: (&'static str, usize),
    pub summary: Option<Summary>,
    pub family: Family,
    pub lens: Lens,
    /// A single aspect, or one for each class.
    pub aspects: Vec<Aspect>,
    pub adjusted: Named<Adjusted>,
}

#[derive(Serialize)]
pub struct Aspect {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<usize>,
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
    pub estimates: Named<Number>,
    pub tests: Named<Known<TestOutcome>>,
}

/// P-values across classes, adjusted.
#[derive(Serialize)]
pub struct Adjusted {
    pub holm: Vec<f64>,
    pub benjamini_hochberg: Vec<f64>,
}

/// One object. That of classes has the kernel once, and its bandwidth with each class.
impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = |aspect| match json!(aspect) {
            Value::Object(members) => members,
            _ => unreachable!("a struct is an object"),
        };
        let mut aspects: Vec<Map<_, _>> = self.aspects.iter().map(members).collect();
        let mut object = json!({
            "n": self.n,
            self.outcomes.0: self.outcomes.1,
            "family": key(self.family),
            "lens": key(self.lens),
        });
        if let Some(summary) = &self.summary {
            object["accuracy"] = json!(summary.accuracy);
            object["mean_confidence"] = json!(summary.mean_confidence);
        }
        match self.lens {
            Lens::ClassWise => {
                for members in &mut aspects {
                    let mut kernel = members.remove("kernel").unwrap_or_default();
                    let shape = kernel.as_object_mut().expect("a struct is an object");
                    members.extend(shape.remove_entry("bandwidth"));
                    object["kernel"] = kernel;
                }
                object["per_class"] = json!(aspects);
                object["adjusted"] = json!(self.adjusted);
            }
            _ => {
                let members = aspects.into_iter().flatten();
                members.for_each(|(key, value)| object[key] = value);
            }
        }
        object.serialize(serializer)
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, (_, outcomes)) = (self.n, self.outcomes);
        let lens = match self.lens {
            Lens::Canonical => "the whole vector of probabilities (canonical)",
            Lens::TopLabel => "the confidence in the most likely class (top-label)",
            Lens::ClassWise => "each class against the rest (class-wise)",
        };
        match self.family {
            Family::Categorical => {
                writeln!(f, "{n} predictions of {outcomes} classes\ntested: {lens}")?;
            }
            family => writeln!(
                f,
                "{n} predictions of the family {}, targets of dimension {outcomes}",
                key(family)
            )?,
        }
        if let Some(summary) = &self.summary {
            let [right, sure] = [summary.accuracy, summary.mean_confidence].map(|p| 100.0 * p);
            writeln!(f, "accuracy {right:.1} %, mean confidence {sure:.1} %")?;
        }
        for aspect in &self.aspects {
            write!(f, "{aspect}")?;
        }
        if !self.adjusted.0.is_empty() {
            writeln!(
                f,
                "\np-values across classes, adjusted (smallest of the classes)"
            )?;
            writeln!(f, "  {:38} {:>12} {:>20}", "", "Holm", "Benjamini-Hochberg")?;
            let least = |p: &[f64]| p.iter().copied().fold(1.0, f64::min);
            for (Name { title, .. }, adjusted) in &self.adjusted.0 {
                let (holm, bh) = (least(&adjusted.holm), least(&adjusted.benjamini_hochberg));
                let (holm, bh) = (p_value(holm), p_value(bh));
                writeln!(f, "  {title:38} {holm:>12} {bh:>20}")?;
            }
        }
        match self.n > QUADRATIC_LIMIT {
            true => write_left_out(f),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        if let Some(class) = self.class {
            writeln!(f, "class {class}")?;
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
fn write_estimates(f: &mut fmt::Formatter<'_>, estimates: &[(Name, Number)]) -> fmt::Result {
    writeln!(f, "\nestimates")?;
    for (Name { title, .. }, value) in estimates {
        match &value.0 {
            Ok(value) => writeln!(f, "  {title:38} {value:>16.8e}")?,
            Err(reason) => writeln!(f, "  {title:38} {:>16}  {reason}", "-")?,
        }
    }
    Ok(())
}

/// A line each; a reason where there is no p-value.
fn write_tests(f: &mut fmt::Formatter<'_>, tests: &[(Name, Known<TestOutcome>)]) -> fmt::Result {
    if tests.is_empty() {
        return Ok(());
    }
    writeln!(f, "\ntests of calibration")?;
    writeln!(
        f,
        "  {:38} {:>16} {:>14} {:>12}",
        "", "estimate", "statistic", "p-value"
    )?;
    for (Name { title, .. }, Known(outcome)) in tests {
        match outcome {
            Ok(o) => {
                writeln!(
                    f,
                    "  {title:38} {:>16.8e} {:>14.6} {:>12}",
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

/// Says that quantities of quadratic cost are left out.
fn write_left_out(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nleft out, since their cost is the square of the number of samples (more than \
         {QUADRATIC_LIMIT}): the biased and unbiased SKCE over all pairs"
    )
}
