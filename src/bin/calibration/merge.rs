//! `calibration merge`.

use std::fmt;

use burn_calibration::{
    accumulator::{Accumulator, BlockSkceAccumulator, Evaluation, Saved},
    error,
    hypothesis::TestOutcome,
    names::{self, Name},
    score::MeanEstimate,
};
use serde::Serialize;

use crate::{
    args::Merge,
    input::Result,
    piece::Piece,
    words::{KernelWords, Known, Named, as_member, or_infinite, p_value, show},
};

#[derive(Serialize)]
struct Merged {
    n: u64,
    #[serde(serialize_with = "as_member", flatten)]
    outcomes: (&'static str, usize),
    parts: usize,
    estimates: Named<Known<Estimate>>,
    skce: Known<Blocks>,
}

/// An estimate, with a standard error where it has one.
#[derive(Serialize)]
#[serde(untagged)]
enum Estimate {
    Number(f64),
    Mean(MeanEstimate),
}

/// The blocks of the SKCE, and their test.
#[derive(Serialize)]
struct Blocks {
    kernel: KernelWords,
    block: usize,
    blocks: u64,
    left_out: u64,
    test: Known<TestOutcome>,
}

pub fn run(args: &Merge) -> Result<()> {
    let (first, others) = args.parts.split_first().expect("at least one is required");
    let mut piece = Piece::load(first)?;
    for path in others {
        let merged = piece.merge(Piece::load(path)?, args.allow_duplicates);
        merged.map_err(|e| format!("{} and {}: {e}", first.display(), path.display()))?;
    }
    if let Some(path) = &args.output {
        piece.save(path).map_err(|e| e.to_string())?;
    }
    let evaluation = piece.evaluation;
    let merged = Merged {
        n: evaluation.samples(),
        outcomes: ("classes", evaluation.classes()),
        parts: args.parts.len(),
        estimates: Named(estimates(&evaluation)),
        skce: Known::or_skipped(
            evaluation.skce().map(Blocks::from),
            "summarise was given no --bandwidth",
        ),
    };
    show("merge", &merged, args.json)
}

fn estimates(all: &Evaluation) -> Vec<(Name, Known<Estimate>)> {
    fn known(name: Name, value: error::Result<Estimate>) -> (Name, Known<Estimate>) {
        (name, Known::of(value))
    }
    let number = |name, value: error::Result<f64>| known(name, value.map(Estimate::Number));
    let mean = |name, value: error::Result<MeanEstimate>| known(name, value.map(Estimate::Mean));
    let top = all.top_label();
    let bins = top.totals().len();
    let binned = |name: Name| name.with(format_args!("{bins} equal-width bins"));
    let mut estimates = vec![
        number(names::ACCURACY, top.frequency()),
        mean(names::BRIER, all.brier().mean()),
        mean(names::LOG, all.log().mean()),
        mean(names::SPHERICAL, all.spherical().mean()),
        number(binned(names::ECE_TOP_LABEL), top.ece()),
        number(binned(names::MCE_TOP_LABEL), top.mce()),
        number(binned(names::ECE_CLASS_WISE), all.class_wise().cwce()),
    ];
    let skce = all
        .skce()
        .map(|skce| mean(names::SKCE_BLOCK, skce.estimate()));
    estimates.extend(skce);
    estimates
}

impl From<&BlockSkceAccumulator> for Blocks {
    fn from(skce: &BlockSkceAccumulator) -> Self {
        Self {
            kernel: KernelWords::from(&skce.kernel()),
            block: skce.size(),
            blocks: skce.blocks(),
            left_out: skce.left_out(),
            test: Known::of(skce.outcome()),
        }
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, (_, classes), parts) = (self.n, self.outcomes, self.parts);
        writeln!(f, "{n} predictions of {classes} classes in {parts} parts")?;
        writeln!(f, "\n{:38} {:>16} {:>16}", "", "estimate", "standard error")?;
        for (Name { title, .. }, Known(estimate)) in &self.estimates.0 {
            match estimate {
                Ok(Estimate::Number(value)) => writeln!(f, "  {title:38} {value:>16.8e}")?,
                Ok(Estimate::Mean(mean)) => {
                    let error = or_infinite(mean.standard_error, |error| format!("{error:.2e}"));
                    writeln!(f, "  {title:38} {:>16.8e} {error:>16}", mean.estimate)?;
                }
                Err(reason) => writeln!(f, "  {title:38} {:>16}  {reason}", "-")?,
            }
        }
        let Known(Ok(skce)) = &self.skce else {
            return Ok(());
        };
        writeln!(
            f,
            "\n{}\n{} blocks of {} samples, {} samples left out",
            skce.kernel, skce.blocks, skce.block, skce.left_out
        )?;
        write!(f, "asymptotic test of the block SKCE: ")?;
        match &skce.test.0 {
            Ok(o) => writeln!(
                f,
                "statistic {:.6}, p-value {}",
                o.statistic(),
                p_value(o.p_value())
            ),
            Err(reason) => writeln!(f, "{reason}"),
        }
    }
}
