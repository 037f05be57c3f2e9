//! `calibration compare`: what a recalibration gained.

mod words;

pub use words::{table_of_changes, write_unbounded, write_verdict};

use std::{ops::Not, path::PathBuf};

use burn::tensor::Tensor;
use burn_calibration::{
    error::{self, serialize_or_infinite},
    hypothesis::{OmnibusOutcome, TestOutcome},
    kernel::Kernel,
    names::{self, Name},
    score::Improvement,
};
use burn_calibration_report::{Answer, NamedScore, Size, View};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{omnibus_test, sizing, verdict_level},
    args::{BinArgs, CompareArgs},
    error::{Result, ensure},
    files::{Inputs, in_words},
    kernel::whose_median,
    kind::{Kind, Vectors, with_family, with_vectors},
    limits::redraws,
    models::{self, Models},
    program,
    progress::Progress,
    quantities::Pairs,
    rows::PredictionForm,
    vectors::VectorFiles,
    words::{BeforeAfter, Computed, DataWords, KernelWords, Named},
};

#[derive(Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    data: DataWords,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
    /// Whose median the bandwidth is.
    #[serde(skip)]
    median: String,
    level: f64,
    changes: Named<Computed<Paired>>,
    #[serde(flatten)]
    others: Others,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    binned: Option<BinArgs>,
    omnibus: BeforeAfter<Computed<OmnibusOutcome>>,
    intervals: BeforeAfter<Named<Size>>,
}

/// Changes besides scores and the SKCE.
#[derive(Default, Serialize)]
pub struct Others {
    /// The levels of quantiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// The accuracy, of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<BeforeAfter<f64>>,
    /// The errors in bins, of classes.
    #[serde(flatten)]
    pub ece: Named<Biased>,
}

/// The comparison of two sets of predictions, or of several models.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Two(Box<Comparison>),
    Several(Box<Models>),
}

impl Outcome {
    /// The omnibus tests of two sets; none of several models.
    pub fn outcomes(&self) -> program::Outcomes<'_> {
        match self {
            Self::Two(two) => vec![
                ("before".into(), &two.omnibus.before),
                ("after".into(), &two.omnibus.after),
            ],
            Self::Several(_) => Vec::new(),
        }
    }
}

/// The change of the pinball score at a level.
#[derive(Serialize)]
pub struct LevelChange {
    pub level: f64,
    pub pinball: Computed<Paired>,
}

/// An estimate before and after, and its paired difference.
#[derive(Serialize)]
pub struct Paired {
    before: f64,
    after: f64,
    difference: f64,
    #[serde(serialize_with = "serialize_or_infinite")]
    standard_error: f64,
    interval: Computed<(End, End)>,
    pub p_value: Computed<f64>,
    /// Whether the p-value is a bound, the least that a test reports.
    #[serde(skip_serializing_if = "Not::not")]
    is_bound: bool,
    /// Adjusted for all pairs of models, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjusted_p_value: Option<f64>,
    /// The reason why an end of the interval is infinite.
    #[serde(skip)]
    unbounded: Option<String>,
}

/// An end of an interval, which may be infinite.
#[derive(Serialize)]
#[serde(transparent)]
struct End(#[serde(serialize_with = "serialize_or_infinite")] f64);

/// An estimate whose bias leaves no interval of its difference.
#[derive(Serialize)]
pub struct Biased {
    #[serde(flatten)]
    pub values: BeforeAfter<f64>,
    pub biased: bool,
}

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    if !args.models.is_empty() {
        ensure!(
            args.bins.asked().is_none(),
            "--bins, --binning, --norm: not with --models, which compares scores and the SKCE"
        );
        models::check_names(&args.models)?;
    }
    match args.after_family.filter(|after| *after != args.family) {
        None => with_family!(args.family, P => compare_family::<P>(args)),
        Some(after) => with_vectors!(args.family, P => {
            with_vectors!(after, Q => compare_families::<P, Q>(args))
        }),
    }
}

/// The files that are compared.
fn inputs(args: &CompareArgs) -> Inputs<'_> {
    let two = args.before.iter().chain(&args.after);
    Inputs {
        predictions: (two.chain(&args.predictions))
            .map(PathBuf::as_path)
            .collect(),
        models: &args.models,
        ..Inputs::default()
    }
}

/// An estimate with its paired change.
pub type Change = (Name, Computed<Paired>);

/// A paired change, with its interval and p-value where there are some.
pub fn change(args: &CompareArgs, name: Name, gain: error::Result<Improvement>) -> Change {
    let paired = |gain: Improvement| {
        let (interval, p_value) = (gain.interval(args.sizes.level), gain.p_value());
        let is_least = |p: &f64| *p <= TestOutcome::ASYMPTOTIC_FLOOR;
        Paired {
            before: gain.before.estimate,
            after: gain.after.estimate,
            difference: gain.difference.estimate,
            standard_error: gain.difference.standard_error,
            interval: Computed::of(
                interval.map(|interval| (End(interval.lower), End(interval.upper))),
            ),
            is_bound: p_value.as_ref().is_ok_and(is_least),
            p_value: Computed::of(p_value),
            adjusted_p_value: None,
            unbounded: gain.unbounded(),
        }
    };
    (name, Computed::of(gain.map(paired)))
}

/// The paired changes of the scores that both sides have.
fn changes<P: Kind, Q: Kind<Targets = P::Targets>>(
    args: &CompareArgs,
    before: &View<P>,
    after: &View<Q>,
) -> Vec<Change> {
    let mut others = Q::scores();
    others.extend(Q::ordered_score());
    let of_score = |(name, score): NamedScore<P>| {
        let (_, other) = others.iter().find(|(other, _)| *other == name)?;
        let sides = ((&before.predictions, score), (&after.predictions, *other));
        let gain = Improvement::between(&sides.0, &sides.1, &before.targets);
        let of = if name == names::BRIER {
            &before.of.sum
        } else {
            &before.of.whole
        };
        Some(change(args, name.of(of), gain))
    };
    let ordered = P::ordered_score().filter(|_| args.order.ordered);
    P::scores()
        .into_iter()
        .chain(ordered)
        .filter_map(of_score)
        .collect()
}

/// The paired changes of scores, and of the SKCE of classes, of predictions of one family.
pub fn paired<P: Kind>(
    args: &CompareArgs,
    before: &View<P>,
    after: &View<P>,
    kernel: Option<Kernel>,
) -> Vec<Change> {
    let mut changes = changes(args, before, after);
    changes.extend(P::change_of_skce(args, before, after, kernel));
    changes
}

/// Compares predictions of one family: two sets, or several models.
fn compare_family<P: Kind>(args: &CompareArgs) -> Result<Outcome> {
    let loaded = P::read(&inputs(args), &args.source, PredictionForm::Probabilities)?;
    let (data, targets) = (loaded.data, loaded.targets);
    let view = |set: P| View::new(set, targets.clone(), None, &data.class_names);
    let views: Vec<View<P>> = loaded.sets.into_iter().map(view).collect();
    if !args.models.is_empty() {
        return models::compared(args, data, &views);
    }
    let (before, after) = (&views[0], &views[1]);
    before.predictions.check_like(&after.predictions)?;
    compared(args, (before, after), data, |kernel| {
        let others = P::other_changes(args, before, after)?;
        Ok((paired(args, before, after, kernel), others))
    })
}

/// Compares predictions of real numbers of two families.
fn compare_families<P, Q>(args: &CompareArgs) -> Result<Outcome>
where
    P: Kind<Targets = Tensor<2>> + Vectors,
    Q: Kind<Targets = Tensor<2>> + Vectors,
{
    let mut files = VectorFiles::read(&inputs(args), &args.source)?;
    let before = files.parse::<P>(0, &args.source.rows)?;
    let after = files.parse::<Q>(1, &args.source.rows)?;
    let data = in_words(&files.files, &files.weights, &before, Vec::new());
    let before = View::new(before, files.targets.clone(), None, &[]);
    let after = View::new(after, files.targets, None, &[]);
    compared(args, (&before, &after), data, |_| {
        Ok((changes(args, &before, &after), Others::default()))
    })
}

/// Compares predictions before and after by one kernel: their changes, and the omnibus test and the sizes of errors
/// of each.
fn compared<P: Kind, Q: Kind>(
    args: &CompareArgs,
    (before, after): (&View<P>, &View<Q>),
    data: DataWords,
    changes: impl FnOnce(Option<Kernel>) -> Result<(Vec<Change>, Others)>,
) -> Result<Outcome> {
    let count = redraws("--redraws", args.redraws, before.predictions.dimensions())?;
    let progress = Progress::watched(4, &args.source.watcher);
    progress.step("bandwidth");
    // the same draws for both, so that equal predictions have equal p-values
    let rng = || StdRng::seed_from_u64(args.source.seed);
    let kernel = P::Kernel::asked(&args.kernel, &before.predictions)?;
    progress.step("scores");
    let (changes, others) = changes(kernel)?;
    progress.step("omnibus test");
    let test = omnibus_test(kernel, count);
    let tests = (
        before.omnibus(test, &mut rng()),
        after.omnibus(test, &mut rng()),
    );
    progress.step("confidence intervals");
    let sizes = (
        before.sizes(&sizing(&args.sizes, before), P::on_classes(kernel)),
        after.sizes(&sizing(&args.sizes, after), Q::on_classes(kernel)),
    );
    let level = verdict_level(&args.sizes);
    let before = Answer::new(tests.0.map(|test| test.at_level(level)), sizes.0);
    let after = Answer::new(tests.1.map(|test| test.at_level(level)), sizes.1);
    let [before, after] = [before, after].map(|answer| answer.at_rows(&data.rows));
    let changes = Named(changes).map(|change| change.at_rows(&data.rows));
    Ok(Outcome::Two(Box::new(Comparison {
        data,
        kernel: kernel.as_ref().map(KernelWords::from),
        median: whose_median(&args.kernel, "before", "both"),
        level: args.sizes.level,
        changes,
        others,
        binned: args.bins.asked(),
        omnibus: [before.omnibus, after.omnibus].into(),
        intervals: [before.intervals, after.intervals].into(),
    })))
}
