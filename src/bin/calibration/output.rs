//! What `calibration evaluate` prints: a table for people, or one JSON object.

use std::fmt;

use burn_calibration::{hypothesis::TestOutcome, kernel::Kernel};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::{
    answer::Answer,
    args::{Family, Lens},
    bandwidth,
    kernel::distance_name,
    limits::QUADRATIC_LIMIT,
    words::{known, probability},
};

pub struct Evaluation {
    pub n: usize,
    /// The name and the number of what is predicted.
    pub outcomes: (&'static str, usize),
    pub family: Family,
    pub lens: Lens,
    /// One, or one for each class.
    pub aspects: Vec<Aspect>,
    pub adjusted: Vec<Adjusted>,
}

pub struct Aspect {
    pub class: Option<usize>,
    /// The kernel on predictions, with its bandwidth.
    pub kernel: Kernel,
    /// The kernel on targets, in JSON and in words.
    pub on_targets: Option<(Value, String)>,
    pub answer: Answer,
    pub estimates: Vec<Estimated>,
    pub tests: Vec<Tested>,
}

/// A name in JSON, and in a table.
#[derive(Clone, Copy)]
pub struct Name {
    pub key: &'static str,
    pub title: &'static str,
}

impl Name {
    pub fn new(key: &'static str, title: &'static str) -> Self {
        Self { key, title }
    }
}

pub struct Estimated {
    pub name: Name,
    pub value: Result<f64, String>,
}

pub struct Tested {
    pub name: Name,
    pub outcome: Result<TestOutcome, String>,
}

/// P-values across classes, adjusted.
pub struct Adjusted {
    pub name: Name,
    pub holm: Vec<f64>,
    pub benjamini_hochberg: Vec<f64>,
}

/// The name of a value on the command line and in JSON.
pub fn key(name: impl ValueEnum) -> String {
    name.to_possible_value()
        .expect("no value is hidden")
        .get_name()
        .to_owned()
}

/// The kernel in JSON.
pub fn kernel_json(kernel: &Kernel) -> Value {
    json!({
        "profile": kernel.profile.to_string(),
        "distance": distance_name(kernel.distance),
        "bandwidth": bandwidth::value(kernel),
    })
}

/// The kernel in words.
pub fn describe(kernel: &Kernel) -> String {
    format!(
        "kernel: {} over {}, bandwidth {:.10}",
        kernel.profile,
        distance_name(kernel.distance),
        bandwidth::value(kernel)
    )
}

impl Evaluation {
    /// One object; an estimate or a test that is not defined on the data has a null or an error.
    pub fn json(&self) -> Value {
        let mut object = json!({
            "n": self.n,
            self.outcomes.0: self.outcomes.1,
            "family": key(self.family),
            "lens": key(self.lens),
        });
        if self.lens != Lens::ClassWise {
            let members = self.aspects[0].json();
            let object = object.as_object_mut().expect("an object");
            object.extend(members);
            return json!(object);
        }
        let mut kernel = kernel_json(&self.aspects[0].kernel);
        kernel
            .as_object_mut()
            .expect("an object")
            .remove("bandwidth"); // that of each class differs
        object["kernel"] = kernel;
        let classes = self.aspects.iter().map(|aspect| {
            let mut members = aspect.json();
            members.insert("class".into(), json!(aspect.class));
            members.insert("bandwidth".into(), json!(bandwidth::value(&aspect.kernel)));
            members.remove("kernel");
            Value::Object(members)
        });
        object["per_class"] = classes.collect();
        let adjusted = |adjusted: &Adjusted| {
            let values = json!({
                "holm": adjusted.holm,
                "benjamini_hochberg": adjusted.benjamini_hochberg,
            });
            (adjusted.name.key.to_owned(), values)
        };
        object["adjusted"] = self
            .adjusted
            .iter()
            .map(adjusted)
            .collect::<Map<_, _>>()
            .into();
        object
    }
}

impl Aspect {
    fn json(&self) -> Map<String, Value> {
        let estimate = |e: &Estimated| (e.name.key.to_owned(), json!(e.value.as_ref().ok()));
        let test = |t: &Tested| (t.name.key.to_owned(), known(&t.outcome));
        let mut members = Map::new();
        let mut insert = |key: &str, value: Value| members.insert(key.to_owned(), value);
        insert("kernel", kernel_json(&self.kernel));
        if let Some((value, _)) = &self.on_targets {
            insert("target_kernel", value.clone());
        }
        insert("omnibus", known(&self.answer.omnibus));
        insert("intervals", self.answer.intervals_json());
        let estimates: Map<_, _> = self.estimates.iter().map(estimate).collect();
        insert("estimates", estimates.into());
        let tests: Map<_, _> = self.tests.iter().map(test).collect();
        insert("tests", tests.into());
        members
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
        for aspect in &self.aspects {
            write!(f, "{aspect}")?;
        }
        if !self.adjusted.is_empty() {
            writeln!(
                f,
                "\np-values across classes, adjusted (smallest of the classes)"
            )?;
            writeln!(f, "  {:36} {:>12} {:>20}", "", "Holm", "Benjamini-Hochberg")?;
            let least = |p: &[f64]| p.iter().copied().fold(1.0, f64::min);
            for adjusted in &self.adjusted {
                let (holm, bh) = (least(&adjusted.holm), least(&adjusted.benjamini_hochberg));
                writeln!(
                    f,
                    "  {:36} {:>12} {:>20}",
                    adjusted.name.title,
                    p_value(holm),
                    p_value(bh)
                )?;
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
        writeln!(f, "{}\n{}", self.answer, describe(&self.kernel))?;
        if let Some((_, words)) = &self.on_targets {
            writeln!(f, "{words}")?;
        }
        write_estimates(f, &self.estimates)?;
        write_tests(f, &self.tests)
    }
}

/// A line each; a reason where there is no number.
fn write_estimates(f: &mut fmt::Formatter<'_>, estimates: &[Estimated]) -> fmt::Result {
    writeln!(f, "\nestimates")?;
    for Estimated { name, value } in estimates {
        match value {
            Ok(value) => writeln!(f, "  {:36} {value:>16.8e}", name.title)?,
            Err(reason) => writeln!(f, "  {:36} {:>16}  {reason}", name.title, "-")?,
        }
    }
    Ok(())
}

/// A line each; a reason where there is no p-value.
fn write_tests(f: &mut fmt::Formatter<'_>, tests: &[Tested]) -> fmt::Result {
    if tests.is_empty() {
        return Ok(());
    }
    writeln!(f, "\ntests of calibration")?;
    writeln!(
        f,
        "  {:36} {:>16} {:>14} {:>12}",
        "", "estimate", "statistic", "p-value"
    )?;
    for Tested { name, outcome } in tests {
        match outcome {
            Ok(o) => {
                writeln!(
                    f,
                    "  {:36} {:>16.8e} {:>14.6} {:>12}",
                    name.title,
                    o.estimate(),
                    o.statistic(),
                    probability(o.p_value(), o.is_bound())
                )?;
                if let Some(caveat) = o.caveat() {
                    writeln!(f, "    {caveat}")?;
                }
            }
            Err(reason) => writeln!(f, "  {:36} {:>16}  {reason}", name.title, "-")?,
        }
    }
    Ok(())
}

/// That quantities of quadratic cost are not there.
fn write_left_out(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nleft out, since their cost is the square of the number of samples (more than \
         {QUADRATIC_LIMIT}): the biased and unbiased SKCE over all pairs"
    )
}

/// Seven digits, with an exponent where it is small.
pub fn p_value(p: f64) -> String {
    match p {
        p if p >= 1e-3 => format!("{p:.7}"),
        p => format!("{p:.3e}"),
    }
}
