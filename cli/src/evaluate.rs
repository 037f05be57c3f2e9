//! `calibration evaluate`.

use std::fmt;

use burn_calibration::{
    distribution::Subject,
    hypothesis::{TestOutcome, benjamini_hochberg, holm},
    names::{self, Name},
    numbers::{percent, significant},
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{Answer, check_level, omnibus, sizes},
    args::{BinArgs, Evaluate, Family, Lens},
    coverage::Coverage,
    error::{Result, wrong},
    files::Inputs,
    finite,
    given::{self, Column, GivenAnswer},
    kind::{Kind, Test, View, with_family},
    limits::{QUADRATIC_LIMIT, redraws},
    multilabel,
    progress::Progress,
    quantities::{Pairs, estimates, tests},
    rows::Wanted,
    table::{Table, title_width},
    words::{
        DataWords, Estimate, KernelWords, Known, Missing, Named, TargetWords, Told, key, p_value,
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
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelWords>,
    /// The kernel on targets, if there is a choice.
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    pub on_targets: Option<TargetWords>,
    /// Given the columns of a file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Known<GivenAnswer>>,
    #[serde(flatten)]
    pub answer: Answer,
    pub estimates: Named<Told<Estimate>>,
    /// The coverage of quantiles.
    #[serde(flatten)]
    pub coverage: Option<Coverage>,
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
    let inputs = Inputs {
        given: args.given.as_deref(),
        ..Inputs::of(&args.input.predictions)
    };
    let found = match args.input.family {
        Family::Multilabel => evaluate(args, multilabel::read(&inputs, args)?),
        family => with_family!(family, P => evaluate(args, Views::<P>::read(&inputs, args)?)),
    }?;
    Ok(Evaluation {
        binned: args.bins.asked(),
        ..found
    })
}

/// What is evaluated: views of the same samples.
pub struct Views<P: Kind> {
    pub data: DataWords,
    pub summary: Named<f64>,
    pub list: Vec<View<P>>,
    pub lens: Lens,
    pub class_names: Vec<String>,
    pub given: Vec<Column>,
    /// The redraws, and the most.
    pub redraws: (u32, usize),
}

impl<P: Kind> Views<P> {
    /// Reads predictions, and takes the views of them that a lens asks for.
    fn read(inputs: &Inputs, args: &Evaluate) -> Result<Self> {
        let mut loaded = P::read(inputs, &args.source, Wanted::Probabilities)?;
        let class_names = std::mem::take(&mut loaded.class_names);
        let data = loaded.in_words(&class_names);
        let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
        Ok(Self {
            data,
            redraws: redraws("--replicates", args.replicates, predictions.dimensions())?,
            summary: predictions.summary(&targets),
            list: predictions.views(targets, (args.lens, &class_names))?,
            lens: args.lens,
            class_names,
            given: loaded.given,
        })
    }
}

fn evaluate<P: Kind>(args: &Evaluate, mut views: Views<P>) -> Result<Evaluation> {
    views.list.iter_mut().for_each(|view| view.bins = args.bins);
    let mut aspects = aspects(args, &views)?;
    Ok(Evaluation {
        data: views.data,
        summary: views.summary,
        family: args.input.family,
        lens: views.lens,
        binned: None,
        found: match views.lens {
            Lens::ClassWise => Found::classes(aspects),
            _ => Found::Whole(Box::new(aspects.remove(0))),
        },
    })
}

/// What is found of each view.
fn aspects<P: Kind>(args: &Evaluate, views: &Views<P>) -> Result<Vec<Aspect>> {
    let tests = chosen::<P>(args)?;
    let steps = 4 + tests.len() + usize::from(!views.given.is_empty());
    let progress = Progress::new(steps * views.list.len());
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let mut aspects = Vec::new();
    for view in &views.list {
        let aspect = aspect(args, views, view, &tests, &progress, &mut rng)?;
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
    let mean = |(k, (name, _)): (usize, &(Name, Told<Estimate>))| {
        let value = |class: &Aspect| match class.estimates.0[k].1.value.0 {
            Ok(Estimate::Number(value)) => Some(value),
            _ => None,
        };
        let values: Vec<f64> = classes.iter().map(value).collect::<Option<_>>()?;
        Some((
            name.clone(),
            values.iter().sum::<f64>() / values.len() as f64,
        ))
    };
    Named(first.iter().enumerate().filter_map(mean).collect())
}

/// What is found of a view: given columns, and by tests besides.
fn aspect<P: Kind>(
    args: &Evaluate,
    views: &Views<P>,
    view: &View<P>,
    tests: &[Test<P>],
    progress: &Progress,
    rng: &mut StdRng,
) -> Result<Aspect> {
    let names = names_of(view.class, views.lens, &views.class_names);
    let replicates = views.redraws.0 as usize;
    progress.step("bandwidth");
    let kernel = P::kernel(args, view, rng)?;
    let (predictions, targets) = (&view.predictions, &view.targets);
    let between = kernel.between();
    let given = (!views.given.is_empty()).then(|| {
        progress.step("given");
        let answer = given::test(&views.given, (view, &names[..]), between, replicates, rng);
        Known(answer.map_err(|error| Missing::Error(error.to_string())))
    });
    progress.step("omnibus test");
    let omnibus = omnibus(between, views.redraws, view, &names, rng);
    progress.step("confidence intervals");
    let intervals = sizes(&args.sizes, view, Some(kernel));
    progress.step("estimates");
    let mut skce = intervals
        .0
        .iter()
        .filter(|(name, _)| name.key == names::SKCE.key);
    let unbiased = skce.find_map(|(_, size)| Some(size.interval.0.as_ref().ok()?.estimate));
    let unbiased = unbiased.filter(|_| predictions.len() <= QUADRATIC_LIMIT);
    let mut all = kernel.quadratic(view, unbiased);
    all.extend(estimates(view, kernel));
    let test = |test: &Test<P>| {
        progress.step(&test.name.title);
        let build = (test.build)(kernel, view, replicates);
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
        kernel: between.as_ref().map(KernelWords::from),
        on_targets: P::on_targets(&kernel),
        given,
        answer: Answer {
            class_names: names,
            omnibus,
            intervals,
        },
        estimates: Named(all),
        coverage: P::coverage(view, args.sizes.level)?,
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
        match &self.found {
            Found::Whole(whole) if whole.coverage.is_some() => {
                let levels = whole.coverage.iter().map(|coverage| coverage.levels.len());
                let (n, levels) = (self.data.n, levels.sum::<usize>());
                writeln!(f, "{n} forecasts by quantiles at {levels} levels")?;
            }
            _ => writeln!(f, "{}", self.data.of_family(&key(self.family)))?,
        }
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
        write!(f, "{}", self.answer)?;
        if let Some(words) = &self.kernel {
            writeln!(f, "\n{words}")?;
        }
        if let Some(words) = &self.on_targets {
            writeln!(f, "{words}")?;
        }
        self.write_estimates(f)?;
        if let Some(coverage) = &self.coverage {
            write!(f, "{coverage}")?;
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

impl Aspect {
    fn write_estimates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimates = &self.estimates.0;
        let width = title_width(estimates.iter().map(|(name, _)| name));
        let have_errors = self.coverage.is_some();
        let table = Table::new(2, width, if have_errors { [14, 14] } else { [16, 14] });
        writeln!(f, "\nestimates")?;
        if have_errors {
            table.head(f, ["estimate", "standard error"])?;
        }
        let cells = |estimate: &Estimate| match estimate {
            Estimate::Number(value) => vec![format!("{value:.8e}")],
            Estimate::Mean(mean) => vec![
                significant(mean.estimate, 4),
                significant(mean.standard_error, 2),
            ],
        };
        for (Name { title, .. }, Told { of, value }) in estimates {
            table.known(f, title, value, cells, of)?;
        }
        Ok(())
    }
}
