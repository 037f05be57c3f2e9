//! `calibration merge`.

use std::{fmt, fs::File, io::Read, path::Path, str::FromStr};

use burn_calibration::{
    distribution::Subject,
    error,
    hypothesis::TestOutcome,
    names::{self, Name},
    score::MeanEstimate,
};
use burn_calibration_accumulator::{Accumulator, BlockSkceAccumulator, Evaluation, Means, Saved};
use serde::Serialize;

use crate::{
    args::{Family, Merge},
    error::{Error, Result, wrong},
    kernel::{distance, distance_name},
    piece::{Piece, Sums},
    summarise::setting,
    table::Table,
    words::{
        DataWords, KernelWords, Known, Named, Outcomes, TargetWords, is_classes, key, or_infinite,
        p_value,
    },
};

#[derive(Serialize)]
pub struct Merged {
    #[serde(flatten)]
    data: DataWords,
    family: String,
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
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    on_targets: Option<TargetWords>,
    block: usize,
    blocks: u64,
    left_out: u64,
    test: Known<TestOutcome>,
}

pub fn run(args: &Merge) -> Result<Merged> {
    Ok(match holds_means(&args.parts[0]) {
        true => of_means(&load(args)?, args.parts.len())?,
        false => of_evaluation(&load(args)?, args.parts.len()),
    })
}

/// Whether a file says at its beginning that it holds means; whether that is true, loading tells.
fn holds_means(path: &Path) -> bool {
    const HEAD: u64 = 100;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(Means::KIND)
}

/// Merges the parts, and saves the sums where that is asked for.
fn load<S: Sums>(args: &Merge) -> Result<S> {
    let piece = Piece::load_all(&args.parts, args.allow_duplicates)?;
    if let Some(path) = &args.output {
        piece.save(path)?;
    }
    Ok(piece.sums)
}

const NO_BANDWIDTH: &str = "summarise was given no --bandwidth";

fn of_evaluation(evaluation: &Evaluation, parts: usize) -> Merged {
    Merged {
        data: DataWords {
            n: evaluation.samples() as usize,
            outcomes: Outcomes::Classes(evaluation.classes()),
            class_names: Vec::new(),
            subject: evaluation.subject(),
        },
        family: key(Family::Categorical),
        parts,
        estimates: Named(estimates(evaluation)),
        skce: Known::or_skipped(evaluation.skce().map(Blocks::from), NO_BANDWIDTH),
    }
}

/// The quantities that means of predictions of real numbers may have.
const MEANS: [Name; 5] = [
    names::LOG,
    names::CRPS,
    names::COVERAGE_50,
    names::COVERAGE_90,
    names::SKCE_BLOCK,
];

fn of_means(means: &Means, parts: usize) -> Result<Merged> {
    let names = MEANS.into_iter();
    let names = names.filter(|name| means.names().any(|found| found == name.key));
    let estimate = |name: Name| {
        let mean = means.mean(name.key).map(Estimate::Mean);
        (name, Known::of(mean))
    };
    let n = means.count(names::CRPS.key);
    let blocks = means.setting(setting::PROFILE);
    let blocks = blocks.map(|_| blocks_of(means, n)).transpose()?;
    Ok(Merged {
        data: DataWords {
            n: n as usize,
            outcomes: Outcomes::Dimensions(parsed(means, setting::DIMENSIONS)?),
            class_names: Vec::new(),
            subject: Subject::Classes,
        },
        family: of(means, setting::FAMILY)?.to_owned(),
        parts,
        estimates: Named(names.map(estimate).collect()),
        skce: Known::or_skipped(blocks, NO_BANDWIDTH),
    })
}

fn blocks_of(means: &Means, samples: u64) -> Result<Blocks> {
    let (block, name) = (parsed(means, setting::BLOCK)?, names::SKCE_BLOCK.key);
    let blocks = means.count(name);
    Ok(Blocks {
        kernel: KernelWords {
            profile: of(means, setting::PROFILE)?.to_owned(),
            distance: distance_name(distance(of(means, setting::DISTANCE)?).map_err(Error::new)?),
            bandwidth: parsed(means, setting::BANDWIDTH)?,
        },
        on_targets: Some(TargetWords {
            profile: of(means, setting::TARGET_PROFILE)?.to_owned(),
            length_scale: parsed(means, setting::LENGTH_SCALE)?,
        }),
        block,
        blocks,
        left_out: samples.saturating_sub(blocks.saturating_mul(block as u64)),
        test: Known::of(means.block_test(name, block, samples as usize)),
    })
}

/// A setting that summarise writes.
fn of<'a>(means: &'a Means, name: &str) -> Result<&'a str> {
    let setting = means.setting(name);
    setting.ok_or_else(|| wrong!("means without the setting {name}, expected those of summarise"))
}

fn parsed<T: FromStr<Err: fmt::Display>>(means: &Means, name: &str) -> Result<T> {
    let number = of(means, name)?.parse();
    number.map_err(|e: T::Err| wrong!("the setting {name}: {e}"))
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
    let (of, frequency) = match all.subject() {
        Subject::Event => ("of the event", names::EVENT_FREQUENCY),
        Subject::Correctness => ("of the confidence", names::ACCURACY),
        _ => ("", names::ACCURACY),
    };
    let brier = match all.classes() {
        2 => names::BRIER.with("summed over both outcomes"),
        _ => names::BRIER,
    };
    let mut estimates = vec![
        number(frequency, top.frequency()),
        mean(brier, all.brier().mean()),
        mean(names::LOG, all.log().mean()),
        mean(names::SPHERICAL, all.spherical().mean()),
    ];
    if is_classes(&all.subject()) {
        estimates.extend([
            number(binned(names::ECE_TOP_LABEL), top.ece()),
            number(binned(names::MCE_TOP_LABEL), top.mce()),
            number(binned(names::ECE_CLASS_WISE), all.class_wise().cwce()),
        ])
    } else {
        estimates.extend([
            number(binned(names::ECE_EVENT.of(of)), top.ece()),
            number(binned(names::MCE_EVENT.of(of)), top.mce()),
        ])
    }
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
            on_targets: None,
            block: skce.size(),
            blocks: skce.blocks(),
            left_out: skce.left_out(),
            test: Known::of(skce.outcome()),
        }
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.data.of_family(&self.family);
        let separator = match self.data.outcomes {
            Outcomes::Classes(_) => "",
            Outcomes::Dimensions(_) => ",",
        };
        writeln!(f, "{data}{separator} in {} parts\n", self.parts)?;
        let table = Table::new(2, 38, [16, 16]);
        table.head(f, ["estimate", "standard error"])?;
        let cells = |estimate: &Estimate| match estimate {
            Estimate::Number(value) => vec![format!("{value:.8e}")],
            Estimate::Mean(mean) => {
                let error = or_infinite(mean.standard_error, |error| format!("{error:.2e}"));
                vec![format!("{:.8e}", mean.estimate), error]
            }
        };
        for (Name { title, .. }, estimate) in &self.estimates.0 {
            table.known(f, title, estimate, cells, "")?;
        }
        let Known(Ok(skce)) = &self.skce else {
            return Ok(());
        };
        write!(f, "\n{}", skce.kernel)?;
        if let Some(words) = &skce.on_targets {
            write!(f, "\n{words}")?;
        }
        writeln!(
            f,
            "\n{} blocks of {} samples, {} samples left out",
            skce.blocks, skce.block, skce.left_out
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
