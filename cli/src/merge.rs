//! `calibration merge`: sums of pieces of a set of predictions, with what tells a piece from others.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
};

use burn_calibration::{
    distribution::Subject,
    error,
    hypothesis::TestOutcome,
    names::{self, Name},
    numbers::fixed,
    score::MeanEstimate,
};
use burn_calibration_accumulator::{
    Accumulator, BlockSkceAccumulator, Evaluation, Means, Observations, Saved,
};
use burn_calibration_reader::{
    RowWeights,
    names::{Names, columns, in_order, say_by_name},
};
use burn_calibration_report::{Estimate, NamedEstimates, Value};
use serde::{Deserialize, Serialize};

use crate::{
    args::{FamilyName, MergeArgs},
    error::{Context, Error, Result, bail, wrong},
    files::SampleWeights,
    kernel::{distance, distance_name},
    notes::noted,
    outputs::to_write,
    summarise::setting,
    table::TextTable,
    words::{
        Computed, DataWords, KernelWords, Named, OutcomeSpace, TargetWords, counted, is_classes,
        key, probability,
    },
};

/// Sums that merge.
pub trait Sums: Saved {
    /// Takes what another took.
    fn take(&mut self, other: &Self) -> error::Result<()>;

    /// The same with the classes in another order, of what has classes.
    fn reordered(self, _order: &[usize]) -> error::Result<Self> {
        Ok(self)
    }
}

impl Sums for Evaluation {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }

    fn reordered(self, order: &[usize]) -> error::Result<Self> {
        self.with_class_order(order)
    }
}

impl Sums for Means {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }
}

/// Sums that know the sets of predictions that they took, so that none is counted twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Sums")]
pub struct Piece<S> {
    #[serde(flatten)]
    pub sums: S,
    /// For each summarised set of predictions a digest of it with its labels, and the name of its file; none where they
    /// are not known.
    #[serde(default)]
    parts: BTreeMap<String, String>,
    /// The names of the columns in the order of the classes; none where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
}

impl<S: Sums> Saved for Piece<S> {
    const KIND: &'static str = S::KIND;
}

impl<S: Sums> Piece<S> {
    /// Adds the digest of the predictions with the name of their file, and the names of their columns.
    pub fn new(sums: S, part: (String, String), columns: Vec<String>) -> Self {
        Self {
            sums,
            parts: [part].into(),
            class_names: columns,
        }
    }

    /// Loads a piece. One that does not know its predictions is known by its sums.
    fn load(path: &Path) -> Result<Self> {
        let mut piece = <Self as Saved>::load(path)?;
        if piece.parts.is_empty() {
            let name = path.display().to_string();
            piece.parts.insert(piece.sums.digest(), name);
        }
        Ok(piece)
    }

    /// Loads pieces and merges them, with the classes in the order of the first: none of the predictions twice,
    /// unless duplicates are allowed.
    pub fn load_all(paths: &[PathBuf], allow_duplicates: bool) -> Result<Self> {
        let (first, others) = paths.split_first().expect("at least one is required");
        let mut piece = Self::load(first)?;
        for path in others {
            let other = Self::load(path)?.in_order_of(&piece, (first, path))?;
            let merged = piece.merge(other, allow_duplicates);
            merged.map_err(|e| wrong!("{} and {}: {e}", first.display(), path.display()))?;
        }
        Ok(piece)
    }

    /// The same with the classes in the order of another piece, by their names.
    fn in_order_of(mut self, piece: &Self, (first, path): (&Path, &Path)) -> Result<Self> {
        let names = Names {
            names: &piece.class_names,
            of: &first.display().to_string(),
        };
        if let Some(order) = columns(names, &self.class_names).of(path)? {
            self.class_names = in_order(&self.class_names, &order);
            self.sums = self.sums.reordered(&order).of(path)?;
            noted(|notes| say_by_name(notes, path, "classes", &self.class_names));
        }
        Ok(self)
    }

    fn merge(&mut self, mut other: Self, allow_duplicates: bool) -> Result<()> {
        self.sums.take(&other.sums)?;
        let mut both = other
            .parts
            .iter()
            .filter(|(digest, _)| self.parts.contains_key(*digest));
        if let Some((_, name)) = both.next().filter(|_| !allow_duplicates) {
            bail!(
                "both count the predictions of {name}, expected each once; --allow-duplicates counts them twice"
            );
        }
        self.parts.append(&mut other.parts);
        if self.class_names.is_empty() {
            self.class_names = other.class_names;
        }
        Ok(())
    }
}

#[derive(Serialize)]
pub struct Merged {
    #[serde(flatten)]
    data: DataWords,
    family: String,
    parts: usize,
    estimates: Named<Estimate>,
    skce: Computed<SkceBlocks>,
}

/// The blocks of the SKCE, and their test.
#[derive(Serialize)]
struct SkceBlocks {
    kernel: KernelWords,
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    on_targets: Option<TargetWords>,
    block: usize,
    blocks: u64,
    left_out: u64,
    test: Computed<TestOutcome>,
}

pub fn run(args: &MergeArgs) -> Result<Merged> {
    if holds_means(&args.parts[0]) {
        merged_means(&load(args)?, args.parts.len())
    } else {
        Ok(merged_evaluation(&load(args)?, args.parts.len()))
    }
}

/// Whether a file says at its beginning that it holds means; whether that is true, loading tells.
fn holds_means(path: &Path) -> bool {
    const HEAD: u64 = 100;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(Means::KIND)
}

/// Merges the parts, and saves the sums where that is asked for.
fn load<S: Sums>(args: &MergeArgs) -> Result<S> {
    let piece = Piece::load_all(&args.parts, args.allow_duplicates)?;
    if let Some(path) = &args.output {
        piece.save(to_write(path))?;
    }
    Ok(piece.sums)
}

const NO_BANDWIDTH: &str = "summarise was given no --bandwidth";

fn merged_evaluation(evaluation: &Evaluation, parts: usize) -> Merged {
    let brier = evaluation.brier();
    let Observations {
        classes,
        samples,
        weighted,
    } = evaluation.observations();
    Merged {
        data: DataWords {
            subject: evaluation.subject(),
            weights: weights(weighted, brier.weight(), brier.mean()),
            ..DataWords::new(samples as usize, OutcomeSpace::Classes(classes))
        },
        family: key(FamilyName::Categorical),
        parts,
        estimates: Named(estimates(evaluation)),
        skce: Computed::or_skipped(evaluation.skce().map(SkceBlocks::from), NO_BANDWIDTH),
    }
}

/// The effective sample size of the weights, if there are any, with a mean of all samples.
fn weights(
    weighted: Option<bool>,
    sum: f64,
    mean: error::Result<MeanEstimate>,
) -> Option<SampleWeights> {
    let mean = mean.ok().filter(|_| weighted == Some(true))?;
    let rows = RowWeights {
        sum,
        effective_n: mean.effective,
        ..RowWeights::default()
    };
    Some(rows.into())
}

/// The quantities that means of predictions of real numbers may have.
const MEANS: [Name; 5] = [
    names::LOG,
    names::CRPS,
    names::COVERAGE_50,
    names::COVERAGE_90,
    names::SKCE_BLOCK,
];

fn merged_means(means: &Means, parts: usize) -> Result<Merged> {
    let names = MEANS.into_iter();
    let names = names.filter(|name| means.names().any(|found| found == name.key));
    let estimate = |name: Name| (name.clone(), Estimate::new("", means.mean(name.key)));
    let crps = names::CRPS.key;
    let n = means.count(crps);
    let blocks = means.setting(setting::PROFILE);
    let blocks = blocks.map(|_| blocks_of(means, n)).transpose()?;
    Ok(Merged {
        data: DataWords {
            weights: weights(means.weighted(), means.weight(crps), means.mean(crps)),
            ..DataWords::new(
                n as usize,
                OutcomeSpace::Dimensions(parsed(means, setting::DIMENSIONS)?),
            )
        },
        family: setting_of(means, setting::FAMILY)?.to_owned(),
        parts,
        estimates: Named(names.map(estimate).collect()),
        skce: Computed::or_skipped(blocks, NO_BANDWIDTH),
    })
}

fn blocks_of(means: &Means, samples: u64) -> Result<SkceBlocks> {
    let (block, name) = (parsed(means, setting::BLOCK)?, names::SKCE_BLOCK.key);
    let blocks = means.count(name);
    Ok(SkceBlocks {
        kernel: KernelWords {
            profile: setting_of(means, setting::PROFILE)?.to_owned(),
            distance: distance_name(
                distance(setting_of(means, setting::DISTANCE)?).map_err(Error::new)?,
            ),
            bandwidth: parsed(means, setting::BANDWIDTH)?,
        },
        on_targets: Some(TargetWords {
            profile: setting_of(means, setting::TARGET_PROFILE)?.to_owned(),
            length_scale: parsed(means, setting::LENGTH_SCALE)?,
        }),
        block,
        blocks,
        left_out: samples.saturating_sub(blocks.saturating_mul(block as u64)),
        test: Computed::of(means.block_test(name, block, samples as usize)),
    })
}

/// A setting that summarise writes.
fn setting_of<'a>(means: &'a Means, name: &str) -> Result<&'a str> {
    let setting = means.setting(name);
    setting.ok_or_else(|| wrong!("means without the setting {name}, expected those of summarise"))
}

fn parsed<T: FromStr<Err: fmt::Display>>(means: &Means, name: &str) -> Result<T> {
    let number = setting_of(means, name)?.parse();
    number.map_err(|e: T::Err| wrong!("the setting {name}: {e}"))
}

fn estimates(all: &Evaluation) -> NamedEstimates {
    let top = all.top_label();
    let bins = top.bins();
    let binned = |name: Name| name.with(format_args!("{bins} equal-width bins"));
    let (of, frequency) = match all.subject() {
        Subject::Event => ("of the event", names::EVENT_FREQUENCY),
        Subject::Correctness => ("of the confidence", names::ACCURACY),
        _ => ("", names::ACCURACY),
    };
    let brier = match all.observations().classes {
        2 => names::BRIER.with("summed over both outcomes"),
        _ => names::BRIER,
    };
    let mut estimates = vec![
        (frequency, Estimate::new("", top.frequency())),
        (brier, Estimate::new("", all.brier().mean())),
        (names::LOG, Estimate::new("", all.log().mean())),
        (names::SPHERICAL, Estimate::new("", all.spherical().mean())),
    ];
    let (ece, mce) = if is_classes(&all.subject()) {
        (names::ECE_TOP_LABEL, names::MCE_TOP_LABEL)
    } else {
        (names::ECE_EVENT.of(of), names::MCE_EVENT.of(of))
    };
    estimates.push((binned(ece), Estimate::new("", top.ece())));
    estimates.push((binned(mce), Estimate::new("", top.mce())));
    if is_classes(&all.subject()) {
        let cwce = Estimate::new("", all.class_wise().cwce());
        estimates.push((binned(names::ECE_CLASS_WISE), cwce));
    }
    let skce = all
        .skce()
        .map(|skce| (names::SKCE_BLOCK, Estimate::new("", skce.mean())));
    estimates.extend(skce);
    estimates
}

impl From<&BlockSkceAccumulator> for SkceBlocks {
    fn from(skce: &BlockSkceAccumulator) -> Self {
        Self {
            kernel: KernelWords::from(&skce.kernel()),
            on_targets: None,
            block: skce.size(),
            blocks: skce.blocks(),
            left_out: skce.left_out(),
            test: Computed::of(skce.outcome()),
        }
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.data.in_words_of(&self.family);
        let separator = match self.data.outcomes {
            OutcomeSpace::Classes(_) => "",
            OutcomeSpace::Dimensions(_) => ",",
        };
        writeln!(f, "{data}{separator} in {}\n", counted(self.parts, "part"))?;
        let mut table = TextTable::new(&["estimate", "standard error"]);
        for (Name { title, .. }, estimate) in &self.estimates.0 {
            table.known(title, &estimate.value, Value::cells, "");
        }
        write!(f, "{table}")?;
        let Computed(Ok(skce)) = &self.skce else {
            return Ok(());
        };
        write!(f, "\n{}", skce.kernel)?;
        if let Some(words) = &skce.on_targets {
            write!(f, "\n{words}")?;
        }
        writeln!(
            f,
            "\n{} of {}, {} left out",
            counted(skce.blocks as usize, "block"),
            counted(skce.block, "sample"),
            counted(skce.left_out as usize, "sample")
        )?;
        write!(f, "asymptotic test of the block SKCE: ")?;
        match &skce.test.0 {
            Ok(o) => {
                let p_value = probability(o.p_value, o.is_bound);
                writeln!(f, "statistic {}, p-value {p_value}", fixed(o.statistic, 6))?;
                let mut caveat = o.caveat.iter();
                caveat.try_for_each(|caveat| writeln!(f, "    {caveat}"))
            }
            Err(reason) => writeln!(f, "{reason}"),
        }
    }
}
