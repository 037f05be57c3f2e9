//! `calibration compare`: what a recalibration gained.

use std::{fmt, path::PathBuf};

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    error::{self, serialize_or_infinite},
    estimator::{Accuracy, Estimator, Event, Skce},
    hypothesis::{OmnibusOutcome, TestOutcome},
    kernel::Kernel,
    names::{self, Name},
    score::{Crps, Improvement, MeanEstimate, QuantileScore, Score, WeightedIntervalScore},
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{Size, check_level, omnibus, sizes},
    args::{BinArgs, Compare, Family},
    error::{Result, ensure},
    files::{Inputs, LeftOut, SampleWeights},
    kernel::fixed,
    kind::{Kind, Vectors, View, with_vectors},
    limits::{BLOCK, QUADRATIC_LIMIT, redraws},
    models::{self, Models},
    progress::Progress,
    quantiles,
    quantities::{SCORES, binned_errors},
    rows::Wanted,
    table::{Table, title_width},
    vectors::VectorFiles,
    words::{DataWords, KernelWords, Known, Named, Pair, probability, verdict},
};

#[derive(Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    data: DataWords,
    /// None of quantiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
    level: f64,
    changes: Named<Known<Paired>>,
    /// The levels of quantiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<Pair<f64>>,
    /// The errors in bins, of classes.
    #[serde(flatten)]
    ece: Named<Biased>,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    binned: Option<BinArgs>,
    omnibus: Pair<Known<OmnibusOutcome>>,
    intervals: Pair<Named<Size>>,
}

/// What is printed: two sets of predictions, or several models.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Two(Box<Comparison>),
    Several(Box<Models>),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Two(comparison) => comparison.fmt(f),
            Self::Several(models) => models.fmt(f),
        }
    }
}

/// The change of the pinball score at a level.
#[derive(Serialize)]
struct LevelChange {
    level: f64,
    pinball: Known<Paired>,
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
struct Biased {
    #[serde(flatten)]
    values: Pair<f64>,
    biased: bool,
}

pub fn run(args: &Compare) -> Result<Outcome> {
    check_level(&args.sizes)?;
    let binned = args.bins.asked(args.family)?;
    if !args.models.is_empty() {
        ensure!(
            binned.is_none(),
            "--bins, --binning, --norm: not with --models, which compares scores and the SKCE"
        );
        let models = match args.family {
            Family::Categorical => models::compare(args, changes_of_classes),
            family => {
                with_vectors!(family, P => models::compare::<P>(args, changes_of_vectors::<P, P>))
            }
        };
        return models.map(Box::new).map(Outcome::Several);
    }
    let two = match (args.family, args.after_family.unwrap_or(args.family)) {
        (Family::Categorical, Family::Categorical) => of_classes(args),
        (Family::Quantiles, Family::Quantiles) => of_quantiles(args),
        (before, after) => {
            with_vectors!(before, B => with_vectors!(after, A => of_vectors::<B, A>(args)))
        }
    }?;
    Ok(Outcome::Two(Box::new(Comparison { binned, ..two })))
}

/// The files that are compared.
fn inputs(args: &Compare) -> Inputs<'_> {
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

/// A paired change, with its interval and p-value where there are some.
pub fn change(
    args: &Compare,
    name: Name,
    gain: error::Result<Improvement>,
) -> (Name, Known<Paired>) {
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

/// Estimates with their paired changes.
pub type Changes = Vec<(Name, Known<Paired>)>;

/// What is compared: the predictions before and after, and the kernel.
struct Compared<B: Kind, A: Kind> {
    before: View<B>,
    after: View<A>,
    kernel: Kernel,
    class_names: Vec<String>,
    left_out: LeftOut,
    weights: Option<SampleWeights>,
    rng: StdRng,
}

impl<B: Kind, A: Kind<Targets = B::Targets>> Compared<B, A> {
    fn new(
        args: &Compare,
        (before, after): (B, A),
        targets: B::Targets,
        class_names: Vec<String>,
        (left_out, weights): (LeftOut, Option<SampleWeights>),
    ) -> Result<Self> {
        let mut rng = StdRng::seed_from_u64(args.source.seed);
        Ok(Self {
            kernel: fixed(&args.kernel, &before, &mut rng)?,
            before: before.view(targets.clone(), None, &class_names),
            after: after.view(targets, None, &class_names),
            class_names,
            left_out,
            weights,
            rng,
        })
    }

    /// The omnibus test of each, with so many redraws, and the sizes of errors.
    fn finish(
        mut self,
        args: &Compare,
        count: (u32, usize),
        kernels: Option<(B::Kernel, A::Kernel)>,
        progress: &Progress,
        changes: Vec<(Name, Known<Paired>)>,
    ) -> Comparison {
        let (before, after, kernel) = (&self.before, &self.after, self.kernel);
        let (names, rng) = (&self.class_names[..], &mut self.rng);
        progress.step("omnibus test");
        let omnibus = Pair {
            before: omnibus(kernel, count, before, names, rng),
            after: omnibus(kernel, count, after, names, rng),
        };
        progress.step("confidence intervals");
        let (of_before, of_after) = kernels.unzip();
        Comparison {
            data: DataWords {
                left_out: self.left_out,
                weights: self.weights.clone(),
                ..before.predictions.in_words(names)
            },
            kernel: Some(KernelWords::from(&kernel)),
            level: args.sizes.level,
            changes: Named(changes),
            levels: Vec::new(),
            accuracy: None,
            ece: Named(Vec::new()),
            binned: None,
            omnibus,
            intervals: Pair {
                before: sizes(&args.sizes, before, of_before),
                after: sizes(&args.sizes, after, of_after),
            },
        }
    }
}

/// Compares predictions of real numbers, which may be of two families.
fn of_vectors<B, A>(args: &Compare) -> Result<Comparison>
where
    B: Kind<Targets = Tensor<2>> + Vectors,
    A: Kind<Targets = Tensor<2>> + Vectors,
{
    let mut files = VectorFiles::read(&inputs(args), &args.source)?;
    let rows = &args.source.rows;
    let sets = (files.parse::<B>(0, rows)?, files.parse::<A>(1, rows)?);
    let count = redraws("--redraws", args.redraws, sets.0.dimensions())?;
    let rows = (files.left_out, files.weights());
    let compared = Compared::new(args, sets, files.targets, Vec::new(), rows)?;
    let changes = changes_of_vectors(args, &compared.before, &compared.after, compared.kernel);
    Ok(compared.finish(args, count, None, &Progress::new(2), changes))
}

/// The paired changes of scores of predictions of real numbers.
fn changes_of_vectors<B, A>(args: &Compare, before: &View<B>, after: &View<A>, _: Kernel) -> Changes
where
    B: Kind<Targets = Tensor<2>> + Vectors,
    A: Kind<Targets = Tensor<2>> + Vectors,
{
    let targets = &before.targets;
    let (before, after) = (&before.predictions, &after.predictions);
    let crps = Improvement::of(&Crps, before, after, targets);
    let mut changes = vec![change(args, names::CRPS, crps)];
    if let (Some(of_before), Some(of_after)) = (B::LOG_SCORE, A::LOG_SCORE) {
        let plain = (before.parted().0, after.parted().0);
        let log = Improvement::by(
            (before, &|targets| of_before(&plain.0, targets)),
            (after, &|targets| of_after(&plain.1, targets)),
            targets,
            "log score",
        );
        changes.push(change(args, names::LOG, log));
    }
    changes
}

/// Compares forecasts by quantiles at the same levels.
fn of_quantiles(args: &Compare) -> Result<Comparison> {
    quantiles::refuse_others(&args.sizes)?;
    let (mut loaded, _) = quantiles::read(&inputs(args), &args.source)?;
    let (after, before) = (loaded.sets.remove(1), loaded.sets.remove(0));
    before.check_like(&after)?;
    let targets = &loaded.targets;
    let gain = Improvement::of(&WeightedIntervalScore, &before, &after, targets);
    let of_level = |&level: &f64| {
        let gain = Improvement::of(&QuantileScore { level }, &before, &after, targets);
        let (_, pinball) = change(args, names::WIS, gain);
        LevelChange { level, pinball }
    };
    let count = redraws("--redraws", args.redraws, 1)?;
    let omnibus = |set| quantiles::omnibus(set, targets, (count, args.source.seed));
    Ok(Comparison {
        kernel: None,
        level: args.sizes.level,
        changes: Named(vec![change(args, names::WIS, gain)]),
        levels: before.levels().iter().map(of_level).collect(),
        accuracy: None,
        ece: Named(Vec::new()),
        binned: None,
        omnibus: [omnibus(&before), omnibus(&after)].into(),
        intervals: Pair::from([(); 2].map(|()| Named(Vec::new()))),
        data: loaded.data,
    })
}

fn of_classes(args: &Compare) -> Result<Comparison> {
    let mut loaded = Categorical::read(&inputs(args), &args.source, Wanted::Probabilities)?;
    let sets = (loaded.sets.remove(0), loaded.sets.remove(0));
    let count = redraws("--redraws", args.redraws, sets.0.classes())?;
    let progress = Progress::new(4);
    progress.step("bandwidth");
    let (names, rows) = (loaded.class_names, (loaded.left_out, loaded.weights));
    let compared = Compared::new(args, sets, loaded.targets, names, rows)?;
    progress.step("scores");
    let changes = changes_of_classes(args, &compared.before, &compared.after, compared.kernel);
    let (View { of, event, .. }, kernel) = (&compared.before, compared.kernel);
    let (before, after) = (&compared.before.predictions, &compared.after.predictions);
    let labels = &compared.before.targets;
    let subject = before.subject();
    let (plain, weights) = before.parted();
    let outcomes = Event::one_of(before).outcomes(&plain, labels)?;
    let occurred: Vec<f64> = outcomes.pairs().map(|(_, c)| c).collect();
    let frequency = MeanEstimate::weighted(&occurred, &weights).estimate;
    let accuracy = |set: &Categorical| Accuracy.estimate(set, labels);
    let accuracy = match subject {
        Subject::Classes => Some([accuracy(before)?, accuracy(after)?].into()),
        // of confidences it is data
        Subject::Correctness => Some([frequency, frequency].into()),
        _ => None,
    };
    let errors = |set| binned_errors(&args.bins, (set, labels), (*event, None));
    let biased = |((name, before), (_, after)): ((Name, error::Result<f64>), (Name, _))| {
        let values = [before?, after?].into();
        let name = name.of(&of.event).with("biased");
        Ok((
            name,
            Biased {
                values,
                biased: true,
            },
        ))
    };
    let ece = errors(before).into_iter().zip(errors(after)).map(biased);
    let ece = ece.collect::<error::Result<_>>()?;
    let comparison = compared.finish(args, count, Some((kernel, kernel)), &progress, changes);
    Ok(Comparison {
        accuracy,
        ece: Named(ece),
        ..comparison
    })
}

/// The paired changes of scores and of the SKCE of classes.
fn changes_of_classes(
    args: &Compare,
    before: &View<Categorical>,
    after: &View<Categorical>,
    kernel: Kernel,
) -> Changes {
    let (of, labels) = (&before.of, &before.targets);
    let (before, after) = (&before.predictions, &after.predictions);
    let score = |(name, score): (Name, &dyn Score<Categorical>)| {
        let gain = Improvement::of(score, before, after, labels);
        let of = if name == names::BRIER {
            &of.sum
        } else {
            &of.whole
        };
        change(args, name.of(of), gain)
    };
    let mut changes: Vec<_> = SCORES.map(score).into();
    let (name, skce) = if before.len() <= QUADRATIC_LIMIT {
        (names::SKCE_UNBIASED, Skce::unbiased(kernel))
    } else {
        let detail = format_args!("{BLOCK} samples each");
        (names::SKCE_BLOCK.with(detail), Skce::block(kernel, BLOCK))
    };
    let gain = skce.improvement(before, after, labels);
    changes.push(change(args, name.of(&of.whole), gain));
    changes
}

/// Writes the table of paired changes, to which lines may be added.
pub fn write_changes(
    f: &mut fmt::Formatter<'_>,
    changes: &[(String, &Known<Paired>)],
    level: f64,
    width: usize,
) -> Result<Table<6>, fmt::Error> {
    let table = Table::new(0, width, [14, 14, 14, 28, 11, 11]);
    let interval = format!("{} % interval", 100.0 * level);
    let mut adjusted =
        (changes.iter()).filter_map(|(_, change)| change.0.as_ref().ok()?.adjusted_p_value);
    let mut titles = vec!["before", "after", "difference", &interval, "p-value"];
    titles.extend(adjusted.next().map(|_| "adjusted"));
    table.line(f, "", &titles, "")?;
    for (title, change) in changes {
        let note = change
            .0
            .as_ref()
            .map_or_else(|_| String::new(), Paired::note);
        table.known(f, title, change, Paired::cells, &note)?;
    }
    Ok(table)
}

/// Writes whether predictions are calibrated.
pub fn write_verdict(
    f: &mut fmt::Formatter<'_>,
    who: &str,
    Known(outcome): &Known<OmnibusOutcome>,
) -> fmt::Result {
    let words = match outcome {
        Ok(outcome) => verdict(&outcome.verdict(), outcome.p_value > 0.05),
        Err(reason) => format!("There is no test of calibration: {reason}"),
    };
    writeln!(f, "\n{who}: {words}")
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, before and after", self.data)?;
        if let Some(kernel) = &self.kernel {
            writeln!(f, "{kernel}")?;
        }
        writeln!(f)?;
        let titles = (self.changes.0.iter().map(|(name, _)| name))
            .chain(self.ece.0.iter().map(|(name, _)| name));
        let changes =
            (self.changes.0.iter()).map(|(name, change)| (name.title.to_string(), change));
        let levels = (self.levels.iter()).map(|LevelChange { level, pinball }| {
            (format!("pinball score, level {level}"), pinball)
        });
        let lines: Vec<_> = changes.chain(levels).collect();
        let table = write_changes(f, &lines, self.level, title_width(titles))?;
        if let Some(Pair { before, after }) = &self.accuracy {
            let cells = [before, after].map(|share| format!("{share:.6}"));
            table.line(f, &names::ACCURACY.title, &cells, "")?;
        }
        for (Name { title, .. }, Biased { values, .. }) in &self.ece.0 {
            let cells = [values.before, values.after].map(|ece| format!("{ece:.6e}"));
            table.line(f, title, &cells, "")?;
        }
        let (omnibus, intervals) = (&self.omnibus, &self.intervals);
        for (when, outcome, sizes) in [
            ("before", &omnibus.before, &intervals.before),
            ("after", &omnibus.after, &intervals.after),
        ] {
            write_verdict(f, when, outcome)?;
            write!(f, "{sizes}")?;
        }
        writeln!(
            f,
            "\nThe difference is after - before: negative is a gain. That of a score is the change of its \
             calibration\nerror only if the map is injective (a temperature is); that of the SKCE is so for \
             any map."
        )
    }
}

impl Paired {
    fn cells(&self) -> Vec<String> {
        let values = [self.before, self.after, self.difference];
        let mut cells = values.map(|value| format!("{value:.6e}")).to_vec();
        if let Ok((End(low), End(high))) = &self.interval.0 {
            let p_value = self.p_value.0.as_ref();
            let p_value = p_value.map_or_else(|_| "-".into(), |p| probability(*p, self.is_bound()));
            cells.extend([format!("[{low:.4e}, {high:.4e}]"), p_value]);
            let adjusted = self.adjusted_p_value;
            cells.extend(adjusted.map(|p| probability(p, self.is_bound())));
        }
        cells
    }

    /// Whether the p-value is the least that is told.
    fn is_bound(&self) -> bool {
        (self.p_value.0.as_ref()).is_ok_and(|p| *p <= TestOutcome::ASYMPTOTIC_FLOOR)
    }

    /// Why there is no interval.
    fn note(&self) -> String {
        let reason = self.interval.0.as_ref().err();
        reason.map_or_else(String::new, |reason| format!("no interval: {reason}"))
    }
}
