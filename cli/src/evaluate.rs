//! `calibration evaluate`.

use std::fmt;

use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    hypothesis::{TestOutcome, benjamini_hochberg, holm},
    names::{self, Name},
    numbers::percent,
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{Answer, check_level, omnibus, sizes},
    args::{BinArgs, Evaluate, Family, Lens},
    error::{Result, ensure, wrong},
    files::Inputs,
    finite,
    given::{self, Column, GivenAnswer},
    kind::{Kind, Test, View, with_family},
    limits::{QUADRATIC_LIMIT, REDRAWS, redraws},
    multilabel,
    progress::Progress,
    quantities::{estimates, estimates_of_pairs, tests},
    rows::Wanted,
    table::{Table, title_width},
    words::{
        DataWords, KernelWords, Known, Missing, Named, Outcomes, TargetWords, Told, key, p_value,
        probability,
    },
};

#[derive(Serialize)]
pub struct Evaluation {
    #[serde(flatten)]
    pub data: DataWords,
    pub family: Family,
    pub lens: Lens,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binned: Option<BinArgs>,
    #[serde(flatten)]
    pub summary: Named<f64>,
    #[serde(flatten)]
    pub found: Found,
}

/// What was found of the whole prediction, or of each class.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Found {
    Whole(Box<Aspect>),
    Classes {
        classes: Vec<Aspect>,
        adjusted: Named<Adjusted>,
        /// The means of estimates over the classes.
        mean: Named<f64>,
    },
}

#[derive(Serialize)]
pub struct Aspect {
    #[serde(flatten)]
    pub class: Option<Class>,
    /// The kernel on predictions.
    pub kernel: KernelWords,
    /// The kernel on targets, if there is a choice.
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    pub on_targets: Option<TargetWords>,
    /// Given the columns of a file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Known<GivenAnswer>>,
    #[serde(flatten)]
    pub answer: Answer,
    pub estimates: Named<Told<f64>>,
    pub tests: Named<Told<TestOutcome>>,
}

/// A class against the rest.
#[derive(Serialize)]
pub struct Class {
    /// The number, from 0.
    pub index: usize,
    pub name: String,
}

/// P-values across classes, adjusted.
#[derive(Serialize)]
pub struct Adjusted {
    pub holm: Vec<f64>,
    pub benjamini_hochberg: Vec<f64>,
}

pub fn run(args: &Evaluate) -> Result<Evaluation> {
    check_level(&args.sizes)?;
    let binned = args.bins.asked(args.input.family)?;
    let found = if args.input.family == Family::Multilabel {
        of_events(args)?
    } else {
        with_family!(args.input.family, P => evaluate::<P>(args))?
    };
    Ok(Evaluation { binned, ..found })
}

fn inputs(args: &Evaluate) -> Inputs<'_> {
    Inputs {
        given: args.given.as_deref(),
        ..Inputs::of(&args.input.predictions)
    }
}

fn evaluate<P: Kind>(args: &Evaluate) -> Result<Evaluation> {
    let mut loaded = P::read(&inputs(args), &args.source, Wanted::Probabilities)?;
    let class_names = std::mem::take(&mut loaded.class_names);
    let data = loaded.in_words(&class_names);
    let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
    let count = redraws("--replicates", args.replicates, predictions.dimensions())?;
    let summary = predictions.summary(&targets);
    let mut views = predictions.views(targets, (args.lens, &class_names))?;
    views.iter_mut().for_each(|view| view.bins = args.bins);
    let mut aspects = aspects(args, (&views, args.lens, &class_names), loaded.given, count)?;
    Ok(Evaluation {
        data,
        summary,
        family: args.input.family,
        lens: args.lens,
        binned: None,
        found: match args.lens {
            Lens::ClassWise => Found::classes(aspects),
            _ => Found::Whole(Box::new(aspects.remove(0))),
        },
    })
}

/// Evaluates each column as an event of its own. The p-values of all of them are adjusted for their number: Holm's
/// are valid however the labels of a row depend on each other.
fn of_events(args: &Evaluate) -> Result<Evaluation> {
    ensure!(
        args.lens != Lens::TopLabel,
        "--lens top-label: of --family categorical, where one class happens"
    );
    let read = multilabel::read(&inputs(args), &args.source)?;
    let names = read.names;
    // enough for an adjusted p-value that is small
    let least = (100 * names.len() - 1).min(REDRAWS as usize) as u32;
    let count = redraws("--replicates", args.replicates.max(least), 2)?;
    let data = DataWords {
        n: read.events[0].0.len(),
        outcomes: Outcomes::Classes(names.len()),
        class_names: names.clone(),
        subject: Subject::Classes,
        left_out: read.left_out,
        weights: read.weights,
    };
    let views: Vec<View<Categorical>> = (read.events.into_iter().enumerate())
        .map(|(column, (event, labels))| View {
            bins: args.bins,
            ..event.view(labels, Some(column), &names)
        })
        .collect();
    let aspects = aspects(args, (&views, Lens::ClassWise, &names), read.given, count)?;
    Ok(Evaluation {
        data,
        summary: Named(Vec::new()),
        family: args.input.family,
        lens: Lens::ClassWise,
        binned: None,
        found: Found::classes(aspects),
    })
}

/// What is found of each view.
fn aspects<P: Kind>(
    args: &Evaluate,
    (views, lens, class_names): (&[View<P>], Lens, &[String]),
    columns: Vec<Column>,
    count: (u32, usize),
) -> Result<Vec<Aspect>> {
    let tests = chosen::<P>(args)?;
    let steps = 4 + tests.len() + usize::from(!columns.is_empty());
    let progress = Progress::new(steps * views.len());
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let mut aspects = Vec::new();
    for view in views {
        let names = names_of(view.class, lens, class_names);
        let asked = (&columns[..], &tests[..]);
        let aspect = aspect(args, (view, names), asked, count, &progress, &mut rng)?;
        finite::check(&aspect)?;
        aspects.push(aspect);
    }
    Ok(aspects)
}

impl Found {
    fn classes(classes: Vec<Aspect>) -> Self {
        Self::Classes {
            adjusted: adjust(&classes),
            mean: mean(&classes),
            classes,
        }
    }
}

/// The mean over the classes of each estimate that all of them have.
fn mean(classes: &[Aspect]) -> Named<f64> {
    let first = classes.first().map_or(&[][..], |class| &class.estimates.0);
    let mean = |(k, (name, _)): (usize, &(Name, Told<f64>))| {
        let value = |class: &Aspect| class.estimates.0[k].1.value.0.as_ref().ok().copied();
        let values: Vec<f64> = classes.iter().map(value).collect::<Option<_>>()?;
        Some((
            name.clone(),
            values.iter().sum::<f64>() / values.len() as f64,
        ))
    };
    Named(first.iter().enumerate().filter_map(mean).collect())
}

/// What is found of a view with names of its classes: given columns, and by tests besides.
fn aspect<P: Kind>(
    args: &Evaluate,
    (view, names): (&View<P>, Vec<String>),
    (columns, tests): (&[Column], &[Test<P>]),
    (replicates, most): (u32, usize),
    progress: &Progress,
    rng: &mut StdRng,
) -> Result<Aspect> {
    progress.step("bandwidth");
    let kernel = P::kernel(args, view, rng)?;
    let (predictions, targets) = (&view.predictions, &view.targets);
    let on_predictions = P::on_predictions(&kernel);
    let given = (!columns.is_empty()).then(|| {
        progress.step("given");
        let replicates = replicates as usize;
        let answer = given::test(columns, (view, &names[..]), on_predictions, replicates, rng);
        Known(answer.map_err(|error| Missing::Error(error.to_string())))
    });
    progress.step("omnibus test");
    let omnibus = omnibus(on_predictions, (replicates, most), view, &names, rng);
    progress.step("confidence intervals");
    let intervals = sizes(&args.sizes, view, Some(kernel));
    progress.step("estimates");
    let mut skce = intervals
        .0
        .iter()
        .filter(|(name, _)| name.key == names::SKCE.key);
    let unbiased = skce.find_map(|(_, size)| Some(size.interval.0.as_ref().ok()?.estimate));
    let unbiased = unbiased.filter(|_| predictions.len() <= QUADRATIC_LIMIT);
    let mut all = estimates_of_pairs(view, kernel, unbiased);
    all.extend(estimates(view, kernel));
    let test = |test: &Test<P>| {
        progress.step(&test.name.title);
        let build = (test.build)(kernel, view, replicates as usize);
        let outcome = build.outcome(predictions, targets, rng);
        let told = Told {
            of: (test.of)(&view.of).into(),
            value: Known::of(outcome),
        };
        (test.name.clone(), told)
    };
    let tests = tests.iter().map(test).collect();
    Ok(Aspect {
        class: view.class.map(|index| Class {
            index,
            name: names[1].clone(),
        }),
        kernel: KernelWords::from(&on_predictions),
        on_targets: P::on_targets(&kernel),
        given,
        answer: Answer {
            class_names: names,
            omnibus,
            intervals,
        },
        estimates: Named(all),
        tests: Named(tests),
    })
}

/// The names of the classes that a lens leaves.
fn names_of(class: Option<usize>, lens: Lens, names: &[String]) -> Vec<String> {
    match (class, lens) {
        (Some(class), _) => {
            let name = names.get(class).cloned();
            let name = name.unwrap_or_else(|| class.to_string());
            vec![format!("other than {name}"), name]
        }
        (None, Lens::TopLabel) => ["wrong", "right"].map(str::to_owned).to_vec(),
        (None, _) => names.to_vec(),
    }
}

/// The tests that the arguments name.
fn chosen<P: Kind>(args: &Evaluate) -> Result<Vec<Test<P>>> {
    let find = |name: &String| {
        let found = tests::<P>().into_iter().find(|test| test.name.key == name);
        found.ok_or_else(|| {
            let family = key(args.input.family);
            wrong!("--test {name}: of classes, there is none for --family {family}")
        })
    };
    args.tests.iter().map(find).collect()
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(classes: &[Aspect]) -> Named<Adjusted> {
    let adjusted = |name: &Name, p_value: &dyn Fn(&Aspect) -> Option<f64>| {
        let p_values: Vec<f64> = classes.iter().map(p_value).collect::<Option<_>>()?;
        let adjusted = Adjusted {
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        };
        Some((name.clone(), adjusted))
    };
    let omnibus = |class: &Aspect| Some(class.answer.omnibus.0.as_ref().ok()?.p_value);
    let of_test = |(k, (name, _)): (usize, &(Name, Told<TestOutcome>))| {
        let p_value = |class: &Aspect| Some(class.tests.0[k].1.value.0.as_ref().ok()?.p_value);
        adjusted(name, &p_value)
    };
    let tests = classes.first().map_or(&[][..], |class| &class.tests.0);
    let of_tests = tests.iter().enumerate().filter_map(of_test);
    let omnibus = adjusted(&names::OMNIBUS, &omnibus);
    Named(omnibus.into_iter().chain(of_tests).collect())
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data.of_family(&key(self.family)))?;
        let lens = match (self.lens, self.data.subject) {
            (_, Subject::Correctness) => "the confidence",
            (Lens::ClassWise, _) if self.family == Family::Multilabel => {
                "each column as an event of its own (multilabel)"
            }
            (Lens::Canonical, Subject::Event) => "the probability of the event",
            (Lens::Canonical, _) => "the whole vector of probabilities (canonical)",
            (Lens::TopLabel, _) => "the confidence in the most likely class (top-label)",
            (Lens::ClassWise, _) => "each class against the rest (class-wise)",
        };
        if matches!(self.family, Family::Categorical | Family::Multilabel) {
            writeln!(f, "tested: {lens}")?;
        }
        let share = |(name, share): &(Name, f64)| format!("{} {}", name.title, percent(*share, 1));
        let shares: Vec<String> = self.summary.0.iter().map(share).collect();
        if !shares.is_empty() {
            writeln!(f, "{}", shares.join(", "))?;
        }
        let (classes, adjusted, mean) = match &self.found {
            Found::Whole(whole) => return write!(f, "{whole}"),
            Found::Classes {
                classes,
                adjusted,
                mean,
            } => (classes, adjusted, mean),
        };
        if self.family == Family::Multilabel {
            write!(f, "{}", self.verdict(classes, adjusted))?;
        }
        for class in classes {
            write!(f, "{class}")?;
        }
        writeln!(f, "\nmean of the estimates over the classes")?;
        let table = Table::new(2, title_width(mean.0.iter().map(|(name, _)| name)), [16]);
        for (Name { title, .. }, mean) in &mean.0 {
            table.line(f, title, &[format!("{mean:.8e}")], "")?;
        }
        if adjusted.0.is_empty() {
            return Ok(());
        }
        let across = "p-values across classes, adjusted (smallest of the classes)";
        writeln!(f, "\n{across}")?;
        let table = Table::new(2, 38, [12, 20]);
        table.head(f, ["Holm", "Benjamini-Hochberg"])?;
        let least = |p: &[f64]| p_value(p.iter().copied().fold(1.0, f64::min));
        for (Name { title, .. }, adjusted) in &adjusted.0 {
            let cells = [&adjusted.holm, &adjusted.benjamini_hochberg].map(|p| least(p));
            table.line(f, title, &cells, "")?;
        }
        Ok(())
    }
}

impl Evaluation {
    /// The columns that fail the omnibus test, whose p-values are adjusted for all of them.
    fn verdict(&self, classes: &[Aspect], adjusted: &Named<Adjusted>) -> String {
        let omnibus = adjusted.0.iter().find(|(name, _)| *name == names::OMNIBUS);
        let Some((_, Adjusted { holm, .. })) = omnibus else {
            return String::new();
        };
        let count = classes.len();
        let name = |class: &Aspect| class.class.as_ref().map(|class| class.name.clone());
        let failing: Vec<String> = (classes.iter().zip(holm))
            .filter(|(_, p)| **p <= 0.05)
            .filter_map(|(class, p)| {
                let omnibus = class.answer.omnibus.0.as_ref().ok()?;
                let is_bound = omnibus.p_value <= 1.5 / (omnibus.redraws + 1) as f64;
                let p = probability(*p, is_bound);
                let sign = if is_bound { "" } else { "= " };
                Some(format!("{} (adjusted p {sign}{p})", name(class)?))
            })
            .collect();
        if failing.is_empty() {
            let least = probability(holm.iter().copied().fold(1.0, f64::min), false);
            return format!(
                "\nThere is no evidence against calibration of {count} columns: the least adjusted p-value is \
                 {least}.\n"
            );
        }
        let (fail, names) = (failing.len(), failing.join(", "));
        format!("\nNot calibrated, of {count} columns: {fail}, which are {names}.\n")
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        if let Some(Class { name, .. }) = &self.class {
            writeln!(f, "class {name}")?;
        }
        match &self.given {
            Some(Known(Ok(given))) => writeln!(f, "{given}")?,
            Some(Known(Err(reason))) => writeln!(f, "There is no test given --given: {reason}\n")?,
            None => (),
        }
        writeln!(f, "{}\n{}", self.answer, self.kernel)?;
        if let Some(words) = &self.on_targets {
            writeln!(f, "{words}")?;
        }
        writeln!(f, "\nestimates")?;
        let width = title_width(self.estimates.0.iter().map(|(name, _)| name));
        let table = Table::new(2, width, [16]);
        for (Name { title, .. }, Told { of, value }) in &self.estimates.0 {
            table.known(f, title, value, |value| vec![format!("{value:.8e}")], of)?;
        }
        if self.tests.0.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ntests of calibration")?;
        let table = Table::new(2, 38, [16, 14, 12]);
        table.head(f, ["estimate", "statistic", "p-value"])?;
        let cells = |o: &TestOutcome| {
            let p_value = probability(o.p_value, o.is_bound);
            let (estimate, statistic) = (o.estimate, o.statistic);
            vec![
                format!("{estimate:.8e}"),
                format!("{statistic:.6}"),
                p_value,
            ]
        };
        for (Name { title, .. }, Told { of, value }) in &self.tests.0 {
            table.known(f, title, value, cells, of)?;
            if let Some(caveat) = value.0.as_ref().ok().and_then(|o| o.caveat.as_ref()) {
                writeln!(f, "    {caveat}")?;
            }
        }
        Ok(())
    }
}
