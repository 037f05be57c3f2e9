//! The options that only some families take: one table, and one check of a call.

use std::borrow::Cow;

use burn_calibration::{
    kernel::{Distance, Profile},
    recalibration::{DistributionMethod, MapKind},
};
use clap::ValueEnum;

use super::*;
use crate::{
    error::{Result, wrong},
    fit::CONFORMAL,
    words::key,
};

use Family::*;

const CATEGORICAL: &[Family] = &[Categorical];
const CLASSES: &[Family] = &[Categorical, Multilabel];
const REAL: &[Family] = &[Normal, Laplace, NormalMixture, LaplaceMixture, Samples];
const SCALED: &[Family] = &[Normal, Laplace];
const QUANTILES: &[Family] = &[Quantiles];
const WITH_MAPS: &[Family] = &[Categorical, Normal, Laplace, Quantiles];

/// An option or a command that some families take.
struct Rule {
    name: Cow<'static, str>,
    is_given: bool,
    families: Vec<Family>,
    /// What leads to the right result.
    hint: Option<&'static str>,
}

/// A rule of the families that take an option.
fn only(name: impl Into<Cow<'static, str>>, is_given: bool, families: &[Family]) -> Rule {
    Rule {
        name: name.into(),
        is_given,
        families: families.to_vec(),
        hint: None,
    }
}

/// A rule of the families that do not take an option.
fn but(name: impl Into<Cow<'static, str>>, is_given: bool, others: &[Family]) -> Rule {
    let families = Family::value_variants().iter().copied();
    let families: Vec<Family> = families.filter(|family| !others.contains(family)).collect();
    only(name, is_given, &families)
}

impl Rule {
    fn hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    fn check(&self, family: Family) -> Result<()> {
        if !self.is_given || self.families.contains(&family) {
            return Ok(());
        }
        let names: Vec<String> = self.families.iter().map(|family| key(*family)).collect();
        let of = match &names[..] {
            [name] => format!("of --family {name}, "),
            [others @ .., last] if others.len() < 4 => {
                format!("of --family {} or {last}, ", others.join(", "))
            }
            _ => String::new(),
        };
        let wrong = wrong!("{}: {of}not of --family {}", self.name, key(family));
        Err(match self.hint {
            Some(hint) => wrong.with_hint(hint),
            None => wrong,
        })
    }
}

/// The rule of commands that take no columns of several labels.
fn not_several(command: &'static str) -> Rule {
    but(command, true, &[Multilabel])
        .hint("--positive --columns NAME --label-column NAME takes one column of several labels")
}

/// Checks that the family of a command takes it, and all options that are given.
pub fn check_families(command: &Command) -> Result<()> {
    match command {
        Command::Evaluate(args) => check_all(args.input.family, of_evaluate(args)),
        Command::Compare(args) => {
            if let Some(after) = args.after_family.filter(|after| *after != args.family) {
                let rule = || only(format!("--after-family {}", key(after)), true, REAL);
                check_all(args.family, vec![rule()])?;
                check_all(after, vec![rule()])?;
            }
            check_all(args.family, of_compare(args))
        }
        Command::Report(args) => {
            let mut rules = of_source(&args.source);
            rules.push(not_several("report"));
            rules.push(of_bins(&args.bins));
            check_all(args.input.family, rules)
        }
        Command::Fit(args) => check_all(args.family, of_fit(args)),
        Command::Apply(args) => {
            let mut rules = of_rows(&args.rows);
            rules.extend([
                not_several("apply"),
                only("apply", true, WITH_MAPS),
                only("--minimum", args.minimum.is_some(), QUANTILES),
                only("--to-probabilities", args.to_probabilities, CATEGORICAL),
                only("--to-logits", args.to_logits, CATEGORICAL),
            ]);
            check_all(args.input.family, rules)
        }
        Command::Summarise(args) => check_all(args.input.family, of_summarise(args)),
        _ => Ok(()),
    }
}

/// Checks the options of files of a family.
pub fn check_source(family: Family, args: &SourceArgs) -> Result<()> {
    check_all(family, of_source(args))
}

fn check_all(family: Family, rules: Vec<Rule>) -> Result<()> {
    rules.iter().try_for_each(|rule| rule.check(family))
}

fn of_evaluate(args: &Evaluate) -> Vec<Rule> {
    let (targets, is) = (&args.targets, |lens| args.lens == lens);
    let length_scale = targets.length_scale != LengthScale::Median;
    let profile = targets.target_kernel != TargetKernelName::Gaussian;
    let mut rules = of_source(&args.source);
    rules.extend(of_sizes(&args.sizes));
    rules.extend(of_kernel(&args.kernel));
    rules.extend([
        of_bins(&args.bins),
        only("--lens top-label", is(Lens::TopLabel), CATEGORICAL),
        only("--lens class-wise", is(Lens::ClassWise), CLASSES),
        but("--given", args.given.is_some(), QUANTILES),
        but("--test", !args.tests.is_empty(), QUANTILES),
        only("--target-kernel", profile, REAL),
        only("--length-scale", length_scale, REAL),
    ]);
    rules
}

fn of_compare(args: &Compare) -> Vec<Rule> {
    let mut rules = of_source(&args.source);
    rules.extend(of_sizes(&args.sizes));
    rules.extend(of_kernel(&args.kernel));
    rules.push(not_several("compare"));
    rules.push(of_bins(&args.bins));
    rules
}

fn of_fit(args: &Fit) -> Vec<Rule> {
    let loss = format!("--loss {}", key(args.loss));
    let mut rules = of_source(&args.source);
    rules.extend([
        not_several("fit"),
        only("fit", true, WITH_MAPS),
        only("--prior", !args.prior.is_empty(), CATEGORICAL),
        only(loss, args.loss != LossName::Log, CATEGORICAL),
    ]);
    rules.extend(args.keep.map(|keep| {
        let families = match keep {
            KeepName::Accuracy | KeepName::Order => CATEGORICAL,
            KeepName::Mean => SCALED,
            KeepName::Information => &WITH_MAPS[..3],
        };
        only(format!("--keep {}", key(keep)), true, families)
    }));
    rules.extend(args.method.as_ref().map(|name| {
        let mut families = Vec::new();
        if name.parse::<MapKind>().is_ok() {
            families.extend(CATEGORICAL);
        }
        if name.parse::<DistributionMethod>().is_ok() {
            families.extend(SCALED);
        }
        if name == CONFORMAL {
            families.extend(QUANTILES);
        }
        only(format!("--method {name}"), true, &families)
    }));
    rules
}

fn of_summarise(args: &Summarise) -> Vec<Rule> {
    let profile = args.target_kernel != TargetKernelName::Gaussian;
    let mut rules = of_source(&args.source);
    rules.extend([
        not_several("summarise"),
        but("summarise", true, QUANTILES),
        only("--target-kernel", profile, REAL),
        only("--length-scale", args.length_scale.is_some(), REAL),
        only("--bins", args.bins != BinArgs::default().bins, CATEGORICAL),
    ]);
    rules.extend(of_shape(&args.shape));
    rules
}

/// The options of the files of a family.
fn of_source(args: &SourceArgs) -> Vec<Rule> {
    let labels = &args.labels;
    let mut rules = of_rows(&args.rows);
    rules.extend([
        only("--classes", labels.classes.is_some(), CATEGORICAL),
        only("--one-based", labels.one_based, CATEGORICAL),
        only("--soft-labels", labels.soft_labels, CATEGORICAL),
        only(
            "--ignore-label",
            !labels.ignore_label.is_empty(),
            CATEGORICAL,
        ),
        but("--weights", labels.weights.is_some(), QUANTILES),
    ]);
    rules
}

/// The options of rows of predictions.
fn of_rows(args: &RowsArgs) -> Vec<Rule> {
    let confidence = args.confidence_correctness;
    vec![
        only("--logits", args.logits, CLASSES),
        only("--percent", args.percent, CLASSES),
        only("--log-probabilities", args.log_probabilities, CLASSES),
        only("--clip", args.clip.is_some(), CLASSES),
        only("--normalise", args.normalise, CATEGORICAL),
        only("--positive", args.positive, CATEGORICAL),
        only("--confidence-correctness", confidence, CATEGORICAL),
        only("--levels", !args.levels.is_empty(), QUANTILES),
        only("--sort-quantiles", args.sort_quantiles, QUANTILES),
    ]
}

fn of_bins(bins: &BinArgs) -> Rule {
    only("--bins, --binning, --norm", bins.asked().is_some(), CLASSES)
}

fn of_sizes(args: &SizeArgs) -> [Rule; 2] {
    [
        but("--tolerance", args.tolerance.is_some(), QUANTILES),
        only("--lp-error", args.lp_error.is_some(), CLASSES),
    ]
}

fn of_kernel(args: &KernelArgs) -> Vec<Rule> {
    let bandwidth = args.bandwidth != BandwidthChoice::Median;
    let mut rules = vec![but("--bandwidth", bandwidth, QUANTILES)];
    rules.extend(of_shape(&args.shape));
    rules
}

fn of_shape(args: &KernelShapeArgs) -> [Rule; 3] {
    let is_variation = args.distance == Some(Distance::TotalVariation);
    [
        but("--kernel", args.profile != Profile::Exponential, QUANTILES),
        but("--distance", args.distance.is_some(), QUANTILES),
        only("--distance tv", is_variation, CLASSES)
            .hint("l2 is the 2-Wasserstein distance, and l1 that of the parameters"),
    ]
}
