//! `calibration compare`: what a recalibration gained.

use std::fmt;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    error::{self, serialize_or_infinite},
    estimator::{Accuracy, Estimator, Event, Skce},
    hypothesis::{OmnibusOutcome, TestOutcome},
    names::{self, Name},
    score::{Crps, Improvement, ObservedExpected, Score},
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    align,
    answer::{Size, Sizing, check_level, omnibus},
    args::{Compare, Family},
    bandwidth::fixed,
    evaluate::sizes,
    input::Result,
    kind::{Data, Kind, Loaded, Of, Vectors, Words, with_vectors},
    kinds::words,
    limits::{BLOCK, QUADRATIC_LIMIT, redraws},
    output::{is_classes, predictions_of},
    progress::{Costs, Progress},
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

/// Compares predictions of real numbers, which may be of two families.
fn of_vectors<B, A>(args: &Compare) -> Result<Comparison>
where
    B: Kind<Targets = Tensor<2>> + Vectors,
    A: Kind<Targets = Tensor<2>> + Vectors,
{
    let before = read_like::<B>(&[&args.before], &args.source, &[])?;
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
    let Loaded { sets, targets, .. } = before;
    let (before, after) = (&sets[0], &after.sets[0]);
    let (count, most) = redraws("--redraws", args.redraws, before.outcomes().1)?;
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let kernel = fixed(&args.kernel, before, &mut rng)?;
    let crps = Improvement::of(&Crps, before, after, &targets);
    let mut changes = vec![change(args, names::CRPS, crps)];
    if let (Some(of_before), Some(of_after)) = (B::LOG_SCORE, A::LOG_SCORE) {
        let log = Improvement::by(
            (before, &|targets| of_before(before, targets)),
            (after, &|targets| of_after(after, targets)),
            &targets,
            "log score",
        );
        changes.push(change(args, names::LOG, log));
    }
    let omnibus = [
        omnibus(kernel, (count, most), before, (&targets, &[]), &mut rng),
        omnibus(kernel, (count, most), after, (&targets, &[]), &mut rng),
    ];
    Ok(Comparison {
        n: before.len(),
        outcomes: before.outcomes(),
        class_names: Vec::new(),
        subject: Subject::Classes,
        kernel: KernelWords::from(&kernel),
        level: args.sizes.level,
        changes: Named(changes),
        accuracy: None,
        ece: Named(Vec::new()),
        omnibus: omnibus.into(),
        intervals: [
            intervals(args, before, &targets),
            intervals(args, after, &targets),
        ]
        .into(),
    })
}

/// The sizes of errors of predictions of real numbers.
fn intervals<P: Kind>(args: &Compare, predictions: &P, targets: &P::Targets) -> Named<Size> {
    let sizing = Sizing {
        args: &args.sizes,
        predictions,
        targets,
    };
    Named(P::sizes(&sizing, (Event::TopLabel, &Words::default())))
}

fn of_classes(args: &Compare, loaded: Loaded<Categorical>) -> Result<Comparison> {
    let (labels, class_names) = (&loaded.targets, loaded.class_names);
    let sets = [&loaded.sets[0], &loaded.sets[1]];
    let [before, after] = sets;
    let (count, most) = redraws("--redraws", args.redraws, before.classes())?;
    let (subject, event) = (before.subject(), Event::of(before));
    let of = words(before, None, &class_names);
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let costs = Costs::new(before.len());
    let all_pairs = match before.len() <= QUADRATIC_LIMIT {
        true => costs.quadratic(),
        false => costs.linear(),
    };
    let redraws = costs.redraws(count);
    let scores = costs.linear() * SCORES.len() as u64;
    let progress = Progress::new(5 * all_pairs + scores + 2 * redraws);
    progress.step("bandwidth", all_pairs);
    let kernel = fixed(&args.kernel, before, &mut rng)?;
    let score = |(name, score): (Name, &dyn Score<Categorical>)| {
        let gain = Improvement::of(score, before, after, labels);
        let of_score = if name == names::BRIER {
            Of::WholeOfBoth
        } else {
            Of::Whole
        };
        change(args, name.of(&of.of(of_score)), gain)
    };
    progress.step("scores", scores);
    let mut changes: Vec<_> = SCORES.map(score).into();
    let (name, skce) = match before.len() <= QUADRATIC_LIMIT {
        true => (names::SKCE_UNBIASED, Skce::unbiased(kernel)),
        false => (
            names::SKCE_BLOCK.with(format_args!("{BLOCK} samples each")),
            Skce::block(kernel, BLOCK),
        ),
    };
    progress.step(&name.title, 2 * all_pairs);
    let gain = skce.improvement(before, after, labels);
    changes.push(change(args, name.of(&of.whole), gain));

    let frequency = ObservedExpected::of(Event::one_of(before), before, labels);
    let frequency = frequency.map_err(|e| e.to_string())?;
    let frequency = frequency.observed as f64 / before.len() as f64;
    let accuracy = |set: &Categorical| Accuracy.estimate(set, labels).map_err(|e| e.to_string());
    let ece = |set| ece_of_event(set, labels, event).map_err(|e| e.to_string());
    let data = |predictions| Data {
        predictions,
        targets: labels,
        kernel,
        event,
        of: &of,
        unbiased: None,
    };
    let omnibus = sets.map(|set| {
        progress.step("omnibus test", redraws);
        let targets = (labels, &class_names[..]);
        omnibus(kernel, (count, most), set, targets, &mut rng)
    });
    let intervals = sets.map(|set| {
        progress.step("confidence intervals", all_pairs);
        sizes(&args.sizes, &data(set))
    });
    Ok(Comparison {
        n: before.len(),
        outcomes: before.outcomes(),
        class_names,
        subject,
        kernel: KernelWords::from(&kernel),
        level: args.sizes.level,
        changes: Named(changes),
        accuracy: match subject {
            Subject::Classes => Some([accuracy(before)?, accuracy(after)?].into()),
            // of confidences it is data
            Subject::Correctness => Some([frequency, frequency].into()),
            _ => None,
        },
        ece: Named(vec![(
            ece_name(subject, None).of(&of.event).with("biased"),
            Biased {
                values: [ece(before)?, ece(after)?].into(),
                biased: true,
            },
        )]),
        omnibus: omnibus.into(),
        intervals: intervals.into(),
    })
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, (name, outcomes)) = (self.n, self.outcomes);
        let name = if outcomes == 1 { "dimension" } else { name };
        let of = match self.subject {
            Subject::Classes => format!("predictions of {outcomes} {name}"),
            subject => predictions_of(subject, outcomes),
        };
        writeln!(f, "{n} {of}, before and after")?;
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
