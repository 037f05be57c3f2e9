//! `calibration compare`: what a recalibration gained.

use std::fmt;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    error,
    estimator::{Event, Skce},
    kernel::Kernel,
    score::{Improvement, MeanEstimate, Score},
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};

use crate::{
    answer::{Answer, check_level, omnibus},
    args::Compare,
    bandwidth::fixed,
    evaluate::sizes,
    input::Result,
    kind::Data,
    kind::Kind,
    limits::{BLOCK, QUADRATIC_LIMIT},
    output::{describe, kernel_json, p_value},
    progress::{Costs, Progress},
    quantities::{SCORES, ece_top_label},
};

struct Comparison {
    n: usize,
    classes: usize,
    kernel: Kernel,
    level: f64,
    changes: Vec<Change>,
    accuracy: [f64; 2],
    /// Biased: no interval.
    ece: [Result<f64>; 2],
    answers: [Answer; 2],
}

/// A quantity before and after, and its paired difference, or why there is none.
struct Change {
    key: &'static str,
    title: &'static str,
    means: Result<Paired>,
}

struct Paired {
    before: MeanEstimate,
    after: MeanEstimate,
    difference: MeanEstimate,
    interval: (f64, f64),
}

pub fn run(args: &Compare) -> Result<()> {
    check_level(&args.sizes)?;
    let (sets, labels) = Categorical::read(&[&args.before, &args.after], &args.source)?;
    let comparison = compare(args, [&sets[0], &sets[1]], &labels)?;
    match args.json {
        true => println!("{}", comparison.json()),
        false => print!("{comparison}"),
    }
    Ok(())
}

fn compare(args: &Compare, sets: [&Categorical; 2], labels: &Tensor<1, Int>) -> Result<Comparison> {
    let [before, after] = sets;
    let mut rng = StdRng::seed_from_u64(args.seed);
    let costs = Costs::new(before.len());
    let all_pairs = match before.len() <= QUADRATIC_LIMIT {
        true => costs.quadratic(),
        false => costs.linear(),
    };
    let redraws = costs.redraws(args.redraws);
    let scores = costs.linear() * SCORES.len() as u64;
    let progress = Progress::new(5 * all_pairs + scores + 2 * redraws);
    progress.step("bandwidth", all_pairs);
    let kernel = fixed(&args.kernel, before, &mut rng)?;
    let change = |key, title, gain: error::Result<[MeanEstimate; 3]>| {
        let paired = |[before, after, difference]: [MeanEstimate; 3]| {
            Ok(Paired {
                interval: difference.confidence_interval(args.sizes.level)?,
                before,
                after,
                difference,
            })
        };
        let means = gain.and_then(paired).map_err(|e| e.to_string());
        Change { key, title, means }
    };
    let score = |(key, title, score): (_, _, &dyn Score<Categorical>)| {
        let gain = Improvement::of(score, before, after, labels);
        change(key, title, gain.map(|g| [g.before, g.after, g.difference]))
    };
    progress.step("scores", scores);
    let mut changes: Vec<Change> = SCORES.map(score).into();
    let (key, title, skce) = match before.len() <= QUADRATIC_LIMIT {
        true => ("skce_unbiased", "SKCE, unbiased", Skce::unbiased(kernel)),
        false => (
            "skce_block",
            "SKCE, blocks of 25",
            Skce::block(kernel, BLOCK),
        ),
    };
    progress.step(title, 2 * all_pairs);
    let gain = skce.improvement(before, after, labels);
    let gain = gain.map(|g| [g.before, g.after, g.difference]);
    changes.push(change(key, title, gain));

    let ece =
        |set: &Categorical| ece_top_label(set, labels, Event::TopLabel).map_err(|e| e.to_string());
    let data = |predictions| Data {
        predictions,
        targets: labels,
        kernel,
        event: Event::TopLabel,
        unbiased: None,
    };
    let answers = sets.map(|set| {
        progress.step("omnibus test", redraws);
        let omnibus = omnibus(kernel, args.redraws, set, labels, &mut rng);
        progress.step("confidence intervals", all_pairs);
        let sizes = sizes(&args.sizes, &data(set));
        Answer { omnibus, sizes }
    });
    Ok(Comparison {
        n: before.len(),
        classes: before.classes(),
        kernel,
        level: args.sizes.level,
        changes,
        accuracy: [accuracy(before, labels)?, accuracy(after, labels)?],
        ece: sets.map(ece),
        answers,
    })
}

/// The share of samples whose most likely class, the first of several, is the right one.
fn accuracy(predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
    let (_, correct) = predictions.top_label(labels).map_err(|e| e.to_string())?;
    Ok(correct.sum().into_scalar::<i64>() as f64 / predictions.len() as f64)
}

impl Comparison {
    /// One object; what is not defined on the data has an error or a null.
    fn json(&self) -> Value {
        let change = |change: &Change| {
            let value = match &change.means {
                Ok(means) => means.json(),
                Err(reason) => json!({ "error": reason }),
            };
            (change.key.to_owned(), value)
        };
        let changes: Map<_, _> = self.changes.iter().map(change).collect();
        let pair = |[before, after]: [Option<f64>; 2]| json!({ "before": before, "after": after });
        let known = |values: &[Result<f64>; 2]| pair(values.each_ref().map(|v| v.clone().ok()));
        let mut ece = known(&self.ece);
        ece["biased"] = json!(true);
        json!({
            "n": self.n,
            "classes": self.classes,
            "kernel": kernel_json(&self.kernel),
            "level": self.level,
            "changes": changes,
            "accuracy": pair(self.accuracy.map(Some)),
            "ece_top_label": ece,
            "omnibus": {
                "before": self.answers[0].omnibus_json(),
                "after": self.answers[1].omnibus_json(),
            },
            "intervals": {
                "before": self.answers[0].intervals_json(),
                "after": self.answers[1].intervals_json(),
            },
        })
    }
}

impl Paired {
    fn json(&self) -> Value {
        json!({
            "before": self.before.estimate,
            "after": self.after.estimate,
            "difference": self.difference.estimate,
            "standard_error": self.difference.standard_error,
            "interval": [self.interval.0, self.interval.1],
            "p_value": self.difference.p_value(),
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, classes) = (self.n, self.classes);
        writeln!(f, "{n} predictions of {classes} classes, before and after")?;
        writeln!(f, "{}\n", describe(&self.kernel))?;
        writeln!(
            f,
            "{:34} {:>14} {:>14} {:>14} {:>28} {:>11}",
            "",
            "before",
            "after",
            "difference",
            format!("{} % interval", 100.0 * self.level),
            "p-value"
        )?;
        for Change { title, means, .. } in &self.changes {
            match means {
                Ok(means) => writeln!(f, "{title:34} {means}")?,
                Err(reason) => writeln!(f, "{title:34} {:>14}  {reason}", "-")?,
            }
        }
        let [before, after] = self.accuracy;
        writeln!(f, "{:34} {before:>14.6} {after:>14.6}", "accuracy")?;
        let title = "ECE, 15 equal-width bins, biased";
        two(f, title, &self.ece, |ece| format!("{ece:.6e}"))?;
        for (name, answer) in ["before", "after"].iter().zip(&self.answers) {
            let verdict = match &answer.omnibus {
                Ok(outcome) => outcome.verdict(),
                Err(reason) => format!("There is no test of calibration: {reason}"),
            };
            writeln!(f, "\n{name}: {verdict}")?;
            for size in &answer.sizes {
                write!(f, "  {size}")?;
            }
        }
        writeln!(
            f,
            "\nThe difference is after - before: negative is a gain. That of a score is the change of its \
             calibration\nerror only if the map is injective (a temperature is); that of the SKCE is so for \
             any map."
        )
    }
}

impl fmt::Display for Paired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (self.before.estimate, self.after.estimate);
        let (difference, (low, high)) = (self.difference.estimate, self.interval);
        let interval = format!("[{low:.4e}, {high:.4e}]");
        let p_value = p_value(self.difference.p_value());
        write!(
            f,
            "{before:>14.6e} {after:>14.6e} {difference:>14.6e} {interval:>28} {p_value:>11}"
        )
    }
}

/// A line of two values without a difference.
fn two(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    values: &[Result<f64>; 2],
    show: impl Fn(&f64) -> String,
) -> fmt::Result {
    let [before, after] = values.each_ref().map(|value| match value {
        Ok(value) => show(value),
        Err(_) => "-".into(),
    });
    let reason = values.iter().find_map(|value| value.as_ref().err());
    let reason = reason.map_or(String::new(), |reason| format!("  {reason}"));
    writeln!(f, "{title:34} {before:>14} {after:>14}{reason}")
}
