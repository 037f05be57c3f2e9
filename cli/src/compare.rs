//! `calibration compare`: what a recalibration gained.

use std::fmt;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    error::{self, serialize_or_infinite},
    estimator::{Accuracy, Estimator, Event, Skce},
    hypothesis::{OmnibusOutcome, TestOutcome},
    kernel::Kernel,
    names::{self, Name},
    score::{Crps, Improvement, ObservedExpected, Score},
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    align,
    answer::{Size, check_level, omnibus, sizes},
    args::{Compare, Family},
    bandwidth::fixed,
    error::Result,
    kind::{Kind, Loaded, Vectors, View, with_vectors},
    limits::{BLOCK, QUADRATIC_LIMIT, redraws},
    output::{is_classes, predictions_of},
    progress::Progress,
    quantities::{SCORES, ece_name, ece_of_event},
    rows::Wanted,
    vectors::read_like,
    words::{KernelWords, Known, Named, Pair, as_member, probability, show, title_width, verdict},
};

#[derive(Serialize)]
struct Comparison {
    n: usize,
    /// The number of classes or coordinates.
    #[serde(serialize_with = "as_member", flatten)]
    outcomes: (&'static str, usize),
    /// Names of classes, where these are not numbers from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
    /// What classes are about.
    #[serde(skip_serializing_if = "is_classes")]
    subject: Subject,
    kernel: KernelWords,
    level: f64,
    changes: Named<Known<Paired>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<Pair<f64>>,
    /// The binned ECE, of classes.
    #[serde(flatten)]
    ece: Named<Biased>,
    omnibus: Pair<Known<OmnibusOutcome>>,
    intervals: Pair<Named<Size>>,
}

/// An estimate before and after, and its paired difference.
#[derive(Serialize)]
struct Paired {
    before: f64,
    after: f64,
    difference: f64,
    #[serde(serialize_with = "serialize_or_infinite")]
    standard_error: f64,
    interval: Known<(End, End)>,
    p_value: Known<f64>,
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

pub fn run(args: &Compare) -> Result<()> {
    check_level(&args.sizes)?;
    let after = args.after_family.unwrap_or(args.family);
    let comparison = match (args.family, after) {
        (Family::Categorical, Family::Categorical) => of_classes(
            args,
            Categorical::read(
                &[&args.before, &args.after],
                &args.source,
                Wanted::Probabilities,
            )?,
        ),
        (before, after) => {
            with_vectors!(before, B => with_vectors!(after, A => of_vectors::<B, A>(args)))
        }
    };
    show("compare", &comparison?, args.json)
}

/// A paired change, with its interval and p-value where there are some.
fn change(args: &Compare, name: Name, gain: error::Result<Improvement>) -> (Name, Known<Paired>) {
    let paired = |gain: Improvement| {
        let interval = gain.confidence_interval(args.sizes.level);
        Paired {
            before: gain.before.estimate,
            after: gain.after.estimate,
            difference: gain.difference.estimate,
            standard_error: gain.difference.standard_error,
            interval: Known::of(interval.map(|(low, high)| (End(low), End(high)))),
            p_value: Known::of(gain.p_value()),
        }
    };
    (name, Known::of(gain.map(paired)))
}

/// What is compared: the predictions before and after, and the kernel.
struct Compared<B: Kind, A: Kind> {
    views: (View<B>, View<A>),
    kernel: Kernel,
    class_names: Vec<String>,
    rng: StdRng,
}

impl<B: Kind, A: Kind<Targets = B::Targets>> Compared<B, A>
where
    B::Targets: Clone,
{
    fn new(
        args: &Compare,
        (before, after): (B, A),
        targets: B::Targets,
        class_names: Vec<String>,
    ) -> Result<Self> {
        let mut rng = StdRng::seed_from_u64(args.source.seed);
        let kernel = fixed(&args.kernel, &before, &mut rng)?;
        let before = before.view(targets.clone(), None, &class_names);
        let after = after.view(targets, None, &class_names);
        Ok(Self {
            views: (before, after),
            kernel,
            class_names,
            rng,
        })
    }

    /// The omnibus test of each, with so many redraws, and the sizes of errors.
    fn finish(
        mut self,
        args: &Compare,
        count: (u32, usize),
        kernels: Option<(B::Joint, A::Joint)>,
        progress: &Progress,
        changes: Vec<(Name, Known<Paired>)>,
    ) -> Comparison {
        let (before, after) = (&self.views.0, &self.views.1);
        let (kernel, names, rng) = (self.kernel, &self.class_names[..], &mut self.rng);
        progress.step("omnibus test");
        let omnibus = [
            omnibus(
                kernel,
                count,
                &before.predictions,
                (&before.targets, names),
                rng,
            ),
            omnibus(
                kernel,
                count,
                &after.predictions,
                (&after.targets, names),
                rng,
            ),
        ];
        progress.step("confidence intervals");
        let (of_before, of_after) = kernels.unzip();
        let intervals = [
            sizes(&args.sizes, before, of_before),
            sizes(&args.sizes, after, of_after),
        ];
        Comparison {
            n: before.predictions.len(),
            outcomes: before.predictions.outcomes(),
            subject: before.predictions.subject(),
            class_names: self.class_names,
            kernel: KernelWords::from(&kernel),
            level: args.sizes.level,
            changes: Named(changes),
            accuracy: None,
            ece: Named(Vec::new()),
            omnibus: omnibus.into(),
            intervals: intervals.into(),
        }
    }
}

/// Compares predictions of real numbers, which may be of two families.
fn of_vectors<B, A>(args: &Compare) -> Result<Comparison>
where
    B: Kind<Targets = Tensor<2>> + Vectors,
    A: Kind<Targets = Tensor<2>> + Vectors,
{
    let mut before = read_like::<B>(&[&args.before], &args.source, &[])?;
    let names = match args.after_family.is_none_or(|after| after == args.family) {
        true => &before.columns[..],
        false => &[],
    };
    let mut after = read_like::<A>(&[&args.after], &args.source, names)?;
    let files = [(&args.before, &before.ids), (&args.after, &after.ids)];
    let files = files.map(|(path, ids)| (path.as_path(), ids.as_ref()));
    if let Some(order) = &align::rows(&files)?[1] {
        after.sets[0] = after.sets[0].select_rows(order);
    }
    let sets = (before.sets.remove(0), after.sets.remove(0));
    let count = redraws("--redraws", args.redraws, sets.0.outcomes().1)?;
    let compared = Compared::new(args, sets, before.targets, Vec::new())?;
    let (before, after) = (&compared.views.0, &compared.views.1);
    let (targets, before, after) = (&before.targets, &before.predictions, &after.predictions);
    let crps = Improvement::of(&Crps, before, after, targets);
    let mut changes = vec![change(args, names::CRPS, crps)];
    if let (Some(of_before), Some(of_after)) = (B::LOG_SCORE, A::LOG_SCORE) {
        let log = Improvement::by(
            (before, &|targets| of_before(before, targets)),
            (after, &|targets| of_after(after, targets)),
            targets,
            "log score",
        );
        changes.push(change(args, names::LOG, log));
    }
    Ok(compared.finish(args, count, None, &Progress::new(2), changes))
}

fn of_classes(args: &Compare, mut loaded: Loaded<Categorical>) -> Result<Comparison> {
    let sets = (loaded.sets.remove(0), loaded.sets.remove(0));
    let count = redraws("--redraws", args.redraws, sets.0.classes())?;
    let progress = Progress::new(5);
    progress.step("bandwidth");
    let compared = Compared::new(args, sets, loaded.targets, loaded.class_names)?;
    let (before, after, kernel) = (&compared.views.0, &compared.views.1, compared.kernel);
    let (of, event, labels) = (before.of.clone(), before.event, before.targets.clone());
    let (before, after) = (&before.predictions, &after.predictions);
    let (n, subject) = (before.len(), before.subject());
    progress.step("scores");
    let score = |(name, score): (Name, &dyn Score<Categorical>)| {
        let gain = Improvement::of(score, before, after, &labels);
        let of = if name == names::BRIER {
            &of.sum
        } else {
            &of.whole
        };
        change(args, name.of(of), gain)
    };
    let mut changes: Vec<_> = SCORES.map(score).into();
    let (name, skce) = match n <= QUADRATIC_LIMIT {
        true => (names::SKCE_UNBIASED, Skce::unbiased(kernel)),
        false => (
            names::SKCE_BLOCK.with(format_args!("{BLOCK} samples each")),
            Skce::block(kernel, BLOCK),
        ),
    };
    progress.step(&name.title);
    let gain = skce.improvement(before, after, &labels);
    changes.push(change(args, name.of(&of.whole), gain));
    let frequency = ObservedExpected::of(Event::one_of(before), before, &labels)?;
    let frequency = frequency.observed as f64 / n as f64;
    let accuracy = |set: &Categorical| Accuracy.estimate(set, &labels);
    let accuracy = match subject {
        Subject::Classes => Some([accuracy(before)?, accuracy(after)?].into()),
        // of confidences it is data
        Subject::Correctness => Some([frequency, frequency].into()),
        _ => None,
    };
    let ece = |set| ece_of_event(set, &labels, event);
    let ece = Biased {
        values: [ece(before)?, ece(after)?].into(),
        biased: true,
    };
    let name = ece_name(subject, None).of(&of.event).with("biased");
    let comparison = compared.finish(args, count, Some((kernel, kernel)), &progress, changes);
    Ok(Comparison {
        accuracy,
        ece: Named(vec![(name, ece)]),
        ..comparison
    })
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = predictions_of(self.subject, self.outcomes);
        writeln!(f, "{} {of}, before and after", self.n)?;
        writeln!(f, "{}\n", self.kernel)?;
        let interval = format!("{} % interval", 100.0 * self.level);
        let titles = (self.changes.0.iter().map(|(name, _)| name))
            .chain(self.ece.0.iter().map(|(name, _)| name));
        let width = title_width(titles);
        writeln!(
            f,
            "{:width$} {:>14} {:>14} {:>14} {interval:>28} {:>11}",
            "", "before", "after", "difference", "p-value"
        )?;
        for (Name { title, .. }, Known(change)) in &self.changes.0 {
            match change {
                Ok(change) => writeln!(f, "{title:width$} {change}")?,
                Err(reason) => writeln!(f, "{title:width$} {:>14}  {reason}", "-")?,
            }
        }
        if let Some(Pair { before, after }) = &self.accuracy {
            let title = names::ACCURACY.title;
            writeln!(f, "{title:width$} {before:>14.6} {after:>14.6}")?;
        }
        for (Name { title, .. }, ece) in &self.ece.0 {
            let Pair { before, after } = &ece.values;
            writeln!(f, "{title:width$} {before:>14.6e} {after:>14.6e}")?;
        }
        let (omnibus, intervals) = (&self.omnibus, &self.intervals);
        for (when, Known(outcome), sizes) in [
            ("before", &omnibus.before, &intervals.before),
            ("after", &omnibus.after, &intervals.after),
        ] {
            let words = match outcome {
                Ok(outcome) => verdict(&outcome.verdict(), outcome.p_value > 0.05),
                Err(reason) => format!("There is no test of calibration: {reason}"),
            };
            writeln!(f, "\n{when}: {words}\n{sizes}")?;
        }
        writeln!(
            f,
            "The difference is after - before: negative is a gain. That of a score is the change of its \
             calibration\nerror only if the map is injective (a temperature is); that of the SKCE is so for \
             any map."
        )
    }
}

impl fmt::Display for Paired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            before,
            after,
            difference,
            interval,
            p_value: p,
            ..
        } = self;
        let interval = match &interval.0 {
            Ok((End(low), End(high))) => format!("[{low:.4e}, {high:.4e}]"),
            Err(reason) => {
                return write!(
                    f,
                    "{before:>14.6e} {after:>14.6e} {difference:>14.6e}  no interval: {reason}"
                );
            }
        };
        let p_value = match &p.0 {
            Ok(p) => probability(*p, *p <= TestOutcome::ASYMPTOTIC_FLOOR),
            Err(_) => "-".into(),
        };
        write!(
            f,
            "{before:>14.6e} {after:>14.6e} {difference:>14.6e} {interval:>28} {p_value:>11}"
        )
    }
}
