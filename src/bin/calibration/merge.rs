//! `calibration merge`.

use std::fmt;

use burn_calibration::{
    accumulator::{Accumulator, BlockSkceAccumulator, Evaluation, Saved},
    error,
    score::MeanEstimate,
};
use serde_json::{Map, Value, json};

use crate::{
    args::Merge,
    input::Result,
    output::{describe, kernel_json, p_value},
    words::known,
};

pub fn run(args: &Merge) -> Result<()> {
    let load = |path| Evaluation::load(path).map_err(|e| e.to_string());
    let (first, others) = args.parts.split_first().expect("at least one is required");
    let mut evaluation = load(first)?;
    for path in others {
        let merged = evaluation.merge(&load(path)?);
        merged.map_err(|e| format!("{} and {}: {e}", first.display(), path.display()))?;
    }
    if let Some(path) = &args.output {
        evaluation.save(path).map_err(|e| e.to_string())?;
    }
    let merged = Merged {
        parts: args.parts.len(),
        evaluation,
    };
    match args.json {
        true => println!("{}", merged.json()),
        false => print!("{merged}"),
    }
    Ok(())
}

struct Merged {
    parts: usize,
    evaluation: Evaluation,
}

/// An estimate under its names in JSON and in a table.
struct Line {
    key: &'static str,
    title: String,
    value: error::Result<(f64, Option<f64>)>,
}

fn line(key: &'static str, title: impl Into<String>, value: error::Result<f64>) -> Line {
    Line {
        key,
        title: title.into(),
        value: value.map(|estimate| (estimate, None)),
    }
}

fn with_error(key: &'static str, title: &str, value: error::Result<MeanEstimate>) -> Line {
    Line {
        key,
        title: title.into(),
        value: value.map(|mean| (mean.estimate, Some(mean.standard_error))),
    }
}

impl Merged {
    fn lines(&self) -> Vec<Line> {
        let all = &self.evaluation;
        let top = all.top_label();
        let bins = top.totals().len();
        let binned = |what: &str| format!("{what}, {bins} equal-width bins");
        let mut lines = vec![
            line("accuracy", "accuracy", top.frequency()),
            with_error("brier", "Brier score", all.brier().mean()),
            with_error("log", "log score", all.log().mean()),
            with_error("spherical", "spherical score", all.spherical().mean()),
            line("ece_top_label", binned("ECE, top label"), top.ece()),
            line("mce_top_label", binned("MCE, top label"), top.mce()),
            line(
                "ece_class_wise",
                binned("ECE, class-wise"),
                all.class_wise().cwce(),
            ),
        ];
        if let Some(skce) = all.skce() {
            lines.push(with_error("skce_block", "SKCE, blocks", skce.estimate()));
        }
        lines
    }

    fn json(&self) -> Value {
        let estimate = |line: Line| {
            let value = match line.value {
                Ok((estimate, None)) => json!(estimate),
                Ok((estimate, standard_error)) => {
                    json!({ "estimate": estimate, "standard_error": standard_error })
                }
                Err(reason) => json!({ "error": reason.to_string() }),
            };
            (line.key.to_owned(), value)
        };
        let all = &self.evaluation;
        let estimates: Map<_, _> = self.lines().into_iter().map(estimate).collect();
        json!({
            "n": all.samples(),
            "classes": all.classes(),
            "parts": self.parts,
            "estimates": estimates,
            "skce": all.skce().map(skce_json),
        })
    }
}

fn skce_json(skce: &BlockSkceAccumulator) -> Value {
    let kernel = skce.kernel();
    json!({
        "kernel": kernel_json(&kernel),
        "block": skce.size(),
        "blocks": skce.blocks(),
        "left_out": skce.left_out(),
        "test": known(&skce.outcome()),
    })
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.evaluation;
        let (n, classes) = (all.samples(), all.classes());
        writeln!(
            f,
            "{n} predictions of {classes} classes in {} parts",
            self.parts
        )?;
        writeln!(f, "\n{:36} {:>16} {:>16}", "", "estimate", "standard error")?;
        for line in self.lines() {
            match line.value {
                Ok((value, None)) => writeln!(f, "  {:36} {value:>16.8e}", line.title)?,
                Ok((value, Some(error))) => {
                    writeln!(f, "  {:36} {value:>16.8e} {error:>16.2e}", line.title)?;
                }
                Err(reason) => writeln!(f, "  {:36} {:>16}  {reason}", line.title, "-")?,
            }
        }
        let Some(skce) = all.skce() else {
            return Ok(());
        };
        let kernel = skce.kernel();
        writeln!(f, "\n{}", describe(&kernel))?;
        writeln!(
            f,
            "{} blocks of {} samples, {} samples left out",
            skce.blocks(),
            skce.size(),
            skce.left_out()
        )?;
        match skce.outcome() {
            Ok(o) => writeln!(
                f,
                "asymptotic test of the block SKCE: statistic {:.6}, p-value {}",
                o.statistic(),
                p_value(o.p_value())
            ),
            Err(reason) => writeln!(f, "asymptotic test of the block SKCE: {reason}"),
        }
    }
}
