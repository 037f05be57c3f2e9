//! `calibration compare`: what a recalibration gained.

mod words;

pub use words::{write_changes, write_verdict};

use std::path::PathBuf;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::Targets,
    error::{self, serialize_or_infinite},
    hypothesis::OmnibusOutcome,
    kernel::Kernel,
    names::Name,
    score::{Improvement, Scored},
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{Size, check_level, omnibus, sizes},
    args::{BinArgs, CompareArgs, FamilyName, KernelArgs, SizeArgs},
    error::{Result, ensure},
    files::Inputs,
    kind::{Kind, View, with_family, with_vectors},
    limits::redraws,
    models::{self, Models},
    program,
    progress::Progress,
    quantities::Pairs,
    rows::Wanted,
    vectors::VectorFiles,
    words::{BeforeAfter, DataWords, KernelWords, Known, Named},
};

#[derive(Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    data: DataWords,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
    level: f64,
    changes: Named<Known<Paired>>,
    #[serde(flatten)]
    others: Others,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    binned: Option<BinArgs>,
    omnibus: BeforeAfter<Known<OmnibusOutcome>>,
    intervals: BeforeAfter<Named<Size>>,
}

/// What changes besides scores and the SKCE.
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

/// What is printed: two sets of predictions, or several models.
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
    pub pinball: Known<Paired>,
}

/// An estimate before and after, and its paired difference.
#[derive(Serialize)]
pub struct Paired {
    before: f64,
    after: f64,
    difference: f64,
    #[serde(serialize_with = "serialize_or_infinite")]
    standard_error: f64,
    interval: Known<(End, End)>,
    pub p_value: Known<f64>,
    /// Adjusted for all pairs of models, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjusted_p_value: Option<f64>,
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
    check_level(&args.sizes)?;
    if !args.models.is_empty() {
        ensure!(
            args.bins.asked().is_none(),
            "--bins, --binning, --norm: not with --models, which compares scores and the SKCE"
        );
        let models = with_family!(args.family, P => models::compare::<P>(args));
        return models.map(Box::new).map(Outcome::Several);
    }
    let two = match args.after_family.filter(|after| *after != args.family) {
        None => with_family!(args.family, P => of_family::<P>(args)),
        Some(after) => of_families(args, after),
    };
    two.map(Box::new).map(Outcome::Two)
}

/// The files that are compared.
fn inputs(args: &CompareArgs) -> Inputs<'_> {
    Inputs {
        predictions: args
            .before
            .iter()
            .chain(&args.after)
            .map(PathBuf::as_path)
            .collect(),
        ..Inputs::default()
    }
}

/// An estimate with its paired change.
pub type Change = (Name, Known<Paired>);

/// A paired change, with its interval and p-value where there are some.
pub fn change(args: &CompareArgs, name: Name, gain: error::Result<Improvement>) -> Change {
    let paired = |gain: Improvement| {
        let interval = gain.interval(args.sizes.level);
        Paired {
            before: gain.before.estimate,
            after: gain.after.estimate,
            difference: gain.difference.estimate,
            standard_error: gain.difference.standard_error,
            interval: Known::of(
                interval.map(|interval| (End(interval.lower), End(interval.upper))),
            ),
            p_value: Known::of(gain.p_value()),
            adjusted_p_value: None,
        }
    };
    (name, Known::of(gain.map(paired)))
}

/// Predictions before or after with their targets, whatever their family.
pub trait Side<T> {
    fn targets(&self) -> &T;

    fn dimensions(&self) -> usize;

    /// The kernel on predictions that the arguments ask for.
    fn kernel(&self, args: &KernelArgs, rng: &mut StdRng) -> Result<Option<Kernel>>;

    /// The predictions with each of their scores.
    fn scores(&self) -> Vec<(Name, Box<dyn Scored<T> + '_>)>;

    /// The omnibus test with so many redraws, and the most.
    fn omnibus(
        &self,
        kernel: Option<Kernel>,
        redraws: (u32, usize),
        names: &[String],
        rng: &mut StdRng,
    ) -> Known<OmnibusOutcome>;

    fn sizes(&self, args: &SizeArgs, kernel: Option<Kernel>) -> Named<Size>;
}

impl<P: Kind> Side<P::Targets> for View<P> {
    fn targets(&self) -> &P::Targets {
        &self.targets
    }

    fn dimensions(&self) -> usize {
        self.predictions.dimensions()
    }

    fn kernel(&self, args: &KernelArgs, rng: &mut StdRng) -> Result<Option<Kernel>> {
        P::Kernel::asked(args, &self.predictions, rng)
    }

    fn scores(&self) -> Vec<(Name, Box<dyn Scored<P::Targets> + '_>)> {
        let scores = P::scores(&self.of).into_iter();
        let scored = |(name, score)| (name, Box::new((&self.predictions, score)) as Box<_>);
        scores.map(scored).collect()
    }

    fn omnibus(
        &self,
        kernel: Option<Kernel>,
        redraws: (u32, usize),
        names: &[String],
        rng: &mut StdRng,
    ) -> Known<OmnibusOutcome> {
        omnibus(kernel, redraws, self, names, rng)
    }

    fn sizes(&self, args: &SizeArgs, kernel: Option<Kernel>) -> Named<Size> {
        sizes(args, self, P::on_classes(kernel))
    }
}

/// The paired changes of the scores that both sides have.
fn changes<T: Targets>(
    args: &CompareArgs,
    before: &dyn Side<T>,
    after: &dyn Side<T>,
) -> Vec<Change> {
    let scores = before.scores().into_iter();
    let changes = scores.filter_map(|(name, of_before)| {
        let mut scores = after.scores().into_iter();
        let (_, of_after) = scores.find(|(other, _)| *other == name)?;
        let gain = Improvement::between(&*of_before, &*of_after, before.targets());
        Some(change(args, name, gain))
    });
    changes.collect()
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

/// Compares predictions of one family.
fn of_family<P: Kind>(args: &CompareArgs) -> Result<Comparison> {
    let mut loaded = P::read(&inputs(args), &args.source, Wanted::Probabilities)?;
    let data = loaded.in_words(&loaded.class_names);
    let sets = (loaded.sets.remove(0), loaded.sets.remove(0));
    sets.0.check_like(&sets.1)?;
    let (names, targets) = (loaded.class_names, loaded.targets);
    let before = sets.0.view(targets.clone(), None, &names);
    let after = sets.1.view(targets, None, &names);
    compared(args, (&before, &after), (data, &names), &|kernel| {
        let others = P::other_changes(args, &before, &after)?;
        Ok((paired(args, &before, &after, kernel), others))
    })
}

/// Compares predictions of real numbers of two families.
fn of_families(args: &CompareArgs, of_after: FamilyName) -> Result<Comparison> {
    let mut files = VectorFiles::read(&inputs(args), &args.source)?;
    let mut data = None;
    let mut side = |at, family| -> Result<Box<dyn Side<Tensor<2>>>> {
        with_vectors!(family, P => {
            let set = files.parse::<P>(at, &args.source.rows)?;
            data.get_or_insert_with(|| files.in_words(&set));
            Ok(Box::new(set.view(files.targets.clone(), None, &[])))
        })
    };
    let (before, after) = (side(0, args.family)?, side(1, of_after)?);
    let data = data.expect("that of the side before");
    compared(args, (&*before, &*after), (data, &[]), &|_| {
        Ok((changes(args, &*before, &*after), Others::default()))
    })
}

/// Compares predictions before and after by one kernel: their changes, and the omnibus test and the sizes of errors
/// of each.
fn compared<T>(
    args: &CompareArgs,
    (before, after): (&dyn Side<T>, &dyn Side<T>),
    (data, names): (DataWords, &[String]),
    changes: &dyn Fn(Option<Kernel>) -> Result<(Vec<Change>, Others)>,
) -> Result<Comparison> {
    let count = redraws("--redraws", args.redraws, before.dimensions())?;
    let progress = Progress::watched(4, &args.source.rows.held.watcher);
    progress.step("bandwidth");
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let kernel = before.kernel(&args.kernel, &mut rng)?;
    progress.step("scores");
    let (changes, others) = changes(kernel)?;
    progress.step("omnibus test");
    let omnibus = BeforeAfter {
        before: before.omnibus(kernel, count, names, &mut rng),
        after: after.omnibus(kernel, count, names, &mut rng),
    };
    progress.step("confidence intervals");
    Ok(Comparison {
        data,
        kernel: kernel.as_ref().map(KernelWords::from),
        level: args.sizes.level,
        changes: Named(changes),
        others,
        binned: args.bins.asked(),
        omnibus,
        intervals: BeforeAfter {
            before: before.sizes(&args.sizes, kernel),
            after: after.sizes(&args.sizes, kernel),
        },
    })
}
