//! A table of the options that only some families take, and a check of a call.

use burn_calibration::recalibration::{DistributionMethod, MapKind};
use clap::{Arg, ArgMatches, Command, ValueEnum, parser::ValueSource};

use super::FamilyName::{self, *};
use crate::{
    error::{Result, bail, wrong},
    fit::CONFORMAL,
    words::key,
};

/// The families that have a command or take an option.
#[derive(Clone, Copy)]
enum Families {
    Only(&'static [FamilyName]),
    AllBut(&'static [FamilyName]),
}

use Families::{AllBut, Only};

impl Families {
    fn list(self) -> Vec<FamilyName> {
        match self {
            Only(families) => families.to_vec(),
            AllBut(others) => {
                let all = FamilyName::value_variants().iter().copied();
                all.filter(|family| !others.contains(family)).collect()
            }
        }
    }
}

const CATEGORICAL: Families = Only(&[Categorical]);
const CLASSES: Families = Only(&[Categorical, Multilabel]);
const REAL: Families = Only(&[Normal, Laplace, NormalMixture, LaplaceMixture, Samples]);
const SCALED: Families = Only(&[Normal, Laplace]);
const QUANTILES: Families = Only(&[Quantiles]);
const WITH_MAPS: Families = Only(&[Categorical, Normal, Laplace, Quantiles]);
const WITH_KERNEL: Families = AllBut(&[Quantiles]);
const ALONE: Families = AllBut(&[Multilabel]);

/// The commands that only some families have.
const COMMANDS: [(&str, Families); 6] = [
    ("compare", ALONE),
    ("report", ALONE),
    ("monitor", ALONE),
    ("fit", WITH_MAPS),
    ("apply", WITH_MAPS),
    ("summarise", AllBut(&[Quantiles, Multilabel])),
];

/// Options that only some families take, and values of options.
const OPTIONS: [(Families, &str); 7] = [
    (
        CATEGORICAL,
        "ordered interval normalise positive confidence-correctness classes one-based soft-labels ignore-label prior \
         lens=top-label loss=brier loss=skce loss=mmce keep=accuracy keep=order to-probabilities to-logits",
    ),
    (
        CLASSES,
        "logits percent log-probabilities clip bins binning norm lp-error lens=class-wise distance=tv \
         distance=total-variation",
    ),
    (QUANTILES, "quantile-levels sort-quantiles minimum"),
    (SCALED, "keep=mean"),
    (Only(&[Categorical, Normal, Laplace]), "keep"),
    (REAL, "target-kernel length-scale"),
    (
        WITH_KERNEL,
        "tolerance fail-above kernel distance bandwidth test",
    ),
];

/// Checks that the called command supports the family, and that the family takes all given options.
pub fn check_families(command: &Command, matches: &ArgMatches) -> Result<()> {
    let Some((name, given)) = matches.subcommand() else {
        return Ok(());
    };
    let family = |id| given.try_get_one::<FamilyName>(id).ok().flatten().copied();
    let (Some(command), Some(own)) = (command.find_subcommand(name), family("family")) else {
        return Ok(());
    };
    if let Some((_, families)) = COMMANDS.iter().find(|(other, _)| *other == name) {
        check(name, &families.list(), own)?;
    }
    if let Some(after) = family("after_family").filter(|after| *after != own) {
        let option = format!("--after-family {}", key(after));
        check(&option, &REAL.list(), own)?;
        check(&option, &REAL.list(), after)?;
    }
    if name == "report" {
        check_state(command, given)?;
    }
    check_options(command, given, own)
}

/// Checks that a page of a state has no options of predictions.
fn check_state(command: &Command, given: &ArgMatches) -> Result<()> {
    let is_given = |option: &&Arg| {
        let id = option.get_id();
        given.ids().any(|other| other == id)
            && given.value_source(id.as_str()) == Some(ValueSource::CommandLine)
    };
    let options = command.get_arguments().filter(is_given);
    let names: Vec<&str> = options.filter_map(Arg::get_long).collect();
    let other = names.iter().find(|name| !BESIDE_STATE.contains(name));
    match other.filter(|_| names.contains(&"state")) {
        Some(other) => {
            bail!("--{other}: not with --state, expected --output, --title or --pictures beside it")
        }
        None => Ok(()),
    }
}

/// The options of a page of a state.
const BESIDE_STATE: [&str; 5] = ["state", "output", "title", "pictures", "json"];

/// Checks that a family takes all given options.
pub fn check_options(command: &Command, given: &ArgMatches, family: FamilyName) -> Result<()> {
    let values = |option: &str| -> Vec<String> {
        let mut all = command.get_arguments();
        let found = all.find(|argument| argument.get_long() == Some(option));
        let id = found.map(|argument| argument.get_id().as_str());
        let id = id.filter(|id| given.value_source(id) == Some(ValueSource::CommandLine));
        let values = id.and_then(|id| given.get_raw(id)).into_iter().flatten();
        values
            .map(|value| value.to_string_lossy().into_owned())
            .collect()
    };
    for (families, options) in OPTIONS {
        for option in options.split_whitespace() {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let given = values(name);
            if value.is_empty() && !given.is_empty() || given.iter().any(|given| given == value) {
                let option = option.replace('=', " ");
                check(&format!("--{option}"), &families.list(), family)?;
            }
        }
    }
    for method in values("method") {
        let kinds = [
            (method.parse::<MapKind>().is_ok(), CATEGORICAL),
            (method.parse::<DistributionMethod>().is_ok(), SCALED),
            (method == CONFORMAL, QUANTILES),
        ];
        let families = kinds.into_iter().filter(|(is_one, _)| *is_one);
        let families: Vec<FamilyName> = families.flat_map(|(_, of)| of.list()).collect();
        check(&format!("--method {method}"), &families, family)?;
    }
    Ok(())
}

/// Checks that a family is one of those that take an option or a command.
fn check(name: &str, families: &[FamilyName], family: FamilyName) -> Result<()> {
    if families.contains(&family) {
        return Ok(());
    }
    let names: Vec<String> = families.iter().map(|family| key(*family)).collect();
    let of = match &names[..] {
        [name] => format!("only for --family {name}, "),
        [others @ .., last] if others.len() < 4 => {
            format!("only for --family {} or {last}, ", others.join(", "))
        }
        _ => String::new(),
    };
    let wrong = wrong!("{name}: {of}not for --family {}", key(family));
    Err(match (name, family) {
        (name, Multilabel) if !name.starts_with('-') => wrong.with_hint(
            "--positive --columns NAME --label-column NAME takes one column of several labels",
        ),
        ("--distance tv", _) => {
            wrong.with_hint("l2 is the 2-Wasserstein distance, and l1 that of the parameters")
        }
        _ => wrong,
    })
}
