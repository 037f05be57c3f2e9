//! What `calibration evaluate` prints: a table for people, or one JSON object.

use std::fmt;

use burn_calibration::{
    hypothesis::TestOutcome,
    kernel::{Distance, Kernel, Profile},
};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::{answer::Answer, args::Lens, evaluate::QUADRATIC_LIMIT};

pub struct Evaluation {
    pub n: usize,
    pub classes: usize,
    /// Of a class-wise lens, that of the last class: the bandwidth differs.
    pub kernel: Kernel,
    pub lens: Lens,
    /// Whether quantities of quadratic cost were left out.
    pub left_out: bool,
    /// One, or one for each class.
    pub aspects: Vec<Aspect>,
    pub adjusted: Vec<Adjusted>,
}

pub struct Aspect {
    pub class: Option<usize>,
    pub bandwidth: f64,
    pub answer: Answer,
    pub estimates: Vec<Estimate>,
    pub tests: Vec<Test>,
}

/// A name in JSON, and in a table.
pub struct Name {
    pub key: String,
    pub title: &'static str,
}

pub struct Estimate {
    pub name: Name,
    pub value: Result<f64, String>,
}

pub struct Test {
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

fn profile(kernel: &Kernel) -> &'static str {
    match kernel.profile {
        Profile::Exponential => "exponential",
        Profile::Gaussian => "gaussian",
        _ => unreachable!("not offered"),
    }
}

fn distance(kernel: &Kernel) -> &'static str {
    match kernel.distance {
        Distance::TotalVariation => "tv",
        Distance::L1 => "l1",
        Distance::Euclidean => "l2",
    }
}

/// The kernel in JSON, with its bandwidth where it is one.
pub fn kernel_json(kernel: &Kernel, bandwidth: Option<f64>) -> Value {
    let mut object = json!({ "profile": profile(kernel), "distance": distance(kernel) });
    if let Some(bandwidth) = bandwidth {
        object["bandwidth"] = json!(bandwidth);
    }
    object
}

/// The kernel in words.
pub fn describe(kernel: &Kernel, bandwidth: f64) -> String {
    let (profile, distance) = (profile(kernel), distance(kernel));
    format!("kernel: {profile} over {distance}, bandwidth {bandwidth:.10}")
}

impl Evaluation {
    /// One object; an estimate or a test that is not defined on the data has a null or an error.
    pub fn json(&self) -> Value {
        let mut object = json!({
            "n": self.n,
            "classes": self.classes,
            "lens": key(self.lens),
            "kernel": kernel_json(&self.kernel, None),
        });
        match self.lens {
            Lens::ClassWise => {
                object["per_class"] = self.aspects.iter().map(Aspect::json).collect();
                let adjusted = |adjusted: &Adjusted| {
                    let values = json!({
                        "holm": adjusted.holm,
                        "benjamini_hochberg": adjusted.benjamini_hochberg,
                    });
                    (adjusted.name.key.clone(), values)
                };
                object["adjusted"] = self
                    .adjusted
                    .iter()
                    .map(adjusted)
                    .collect::<Map<_, _>>()
                    .into();
            }
            _ => {
                let aspect = &self.aspects[0];
                object["kernel"]["bandwidth"] = json!(aspect.bandwidth);
                object["omnibus"] = aspect.answer.omnibus_json();
                object["intervals"] = aspect.answer.intervals_json();
                object["estimates"] = estimates_json(&aspect.estimates);
                object["tests"] = tests_json(&aspect.tests);
            }
        }
        object
    }
}

impl Aspect {
    fn json(&self) -> Value {
        json!({
            "class": self.class,
            "bandwidth": self.bandwidth,
            "omnibus": self.answer.omnibus_json(),
            "intervals": self.answer.intervals_json(),
            "estimates": estimates_json(&self.estimates),
            "tests": tests_json(&self.tests),
        })
    }
}

/// By their names; null where there is no number.
pub fn estimates_json(estimates: &[Estimate]) -> Value {
    let entry = |estimate: &Estimate| {
        (
            estimate.name.key.clone(),
            json!(estimate.value.as_ref().ok()),
        )
    };
    estimates.iter().map(entry).collect::<Map<_, _>>().into()
}

/// By their names; an error where there is no p-value.
pub fn tests_json(tests: &[Test]) -> Value {
    let outcome = |outcome: &TestOutcome| {
        json!({
            "estimate": outcome.estimate(),
            "statistic": outcome.statistic(),
            "standardised": outcome.standardised(),
            "p_value": outcome.p_value(),
            "is_bound": outcome.is_bound(),
            "caveat": outcome.caveat(),
        })
    };
    let entry = |test: &Test| match &test.outcome {
        Ok(o) => (test.name.key.clone(), outcome(o)),
        Err(reason) => (test.name.key.clone(), json!({ "error": reason })),
    };
    tests.iter().map(entry).collect::<Map<_, _>>().into()
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} predictions of {} classes", self.n, self.classes)?;
        let lens = match self.lens {
            Lens::Canonical => "the whole vector of probabilities (canonical)",
            Lens::TopLabel => "the confidence in the most likely class (top-label)",
            Lens::ClassWise => "each class against the rest (class-wise)",
        };
        writeln!(f, "tested: {lens}")?;
        for aspect in &self.aspects {
            aspect.fmt(f, &self.kernel)?;
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
        if self.left_out {
            write_left_out(f)?;
        }
        Ok(())
    }
}

impl Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>, kernel: &Kernel) -> fmt::Result {
        writeln!(f)?;
        if let Some(class) = self.class {
            writeln!(f, "class {class}")?;
        }
        writeln!(f, "{}", self.answer)?;
        writeln!(f, "{}", describe(kernel, self.bandwidth))?;
        write_estimates(f, &self.estimates)?;
        write_tests(f, &self.tests)
    }
}

/// A line each; a reason where there is no number.
pub fn write_estimates(f: &mut fmt::Formatter<'_>, estimates: &[Estimate]) -> fmt::Result {
    writeln!(f, "\nestimates")?;
    for Estimate { name, value } in estimates {
        match value {
            Ok(value) => writeln!(f, "  {:36} {value:>16.8e}", name.title)?,
            Err(reason) => writeln!(f, "  {:36} {:>16}  {reason}", name.title, "-")?,
        }
    }
    Ok(())
}

/// A line each; a reason where there is no p-value.
pub fn write_tests(f: &mut fmt::Formatter<'_>, tests: &[Test]) -> fmt::Result {
    if tests.is_empty() {
        return Ok(());
    }
    writeln!(f, "\ntests of calibration")?;
    writeln!(
        f,
        "  {:36} {:>16} {:>14} {:>12}",
        "", "estimate", "statistic", "p-value"
    )?;
    for Test { name, outcome } in tests {
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
pub fn write_left_out(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nleft out, since their cost is the square of the number of samples (more than \
         {QUADRATIC_LIMIT}): the biased and unbiased SKCE over all pairs"
    )
}

/// A p-value, or that it is at most so much.
pub fn probability(p: f64, is_bound: bool) -> String {
    match is_bound {
        true => format!("≤ {p:.4}"),
        false => format!("{p:.4}"),
    }
}

/// Seven digits, with an exponent where it is small.
pub fn p_value(p: f64) -> String {
    match p {
        p if p >= 1e-3 => format!("{p:.7}"),
        p => format!("{p:.3e}"),
    }
}
