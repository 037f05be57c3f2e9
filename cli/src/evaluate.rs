//! `calibration evaluate`.

use burn_calibration::{
    hypothesis::{TestOutcome, benjamini_hochberg, holm},
    names::{self, Name},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    answer::{Answer, check_level, omnibus, sizes},
    args::{Evaluate, Lens},
    columns::{self, Column},
    error::{Result, wrong},
    finite, given,
    kind::{Kind, Test, View, with_family},
    limits::{QUADRATIC_LIMIT, redraws},
    output::{Adjusted, Aspect, Class, Evaluation, Found},
    progress::Progress,
    quantities::{estimates, estimates_of_pairs, tests},
    rows::Wanted,
    words::{KernelWords, Known, Missing, Named, Told, key, show},
};

pub fn run(args: &Evaluate) -> Result<()> {
    check_level(&args.sizes)?;
    with_family!(args.family, P => evaluate::<P>(args))
}

fn evaluate<P: Kind>(args: &Evaluate) -> Result<()> {
    let mut loaded = P::read(&[&args.predictions], &args.source, Wanted::Probabilities)?;
    let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
    let class_names = loaded.class_names;
    let (n, outcomes) = (predictions.len(), predictions.outcomes());
    let count = redraws("--replicates", args.replicates, outcomes.1)?;
    let (summary, subject) = (predictions.summary(&targets), predictions.subject());
    let views = predictions.views(targets, (args.lens, &class_names))?;
    let tests = chosen::<P>(args)?;
    let columns = match &args.given {
        Some(path) => columns::read(path, (&args.predictions, n))?,
        None => Vec::new(),
    };
    let steps = 4 + tests.len() + usize::from(!columns.is_empty());
    let progress = Progress::new(steps * views.len());
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let mut aspects = Vec::new();
    for view in &views {
        let names = names_of(view.class, args.lens, &class_names);
        let asked = (&columns[..], &tests[..]);
        let aspect = aspect(args, (view, names), asked, count, &progress, &mut rng)?;
        finite::check(&aspect)?;
        aspects.push(aspect);
    }
    drop(progress);
    let evaluation = Evaluation {
        n,
        outcomes,
        summary,
        subject,
        family: args.family,
        lens: args.lens,
        class_names,
        found: match args.lens {
            Lens::ClassWise => Found::Classes {
                adjusted: adjust(&aspects),
                classes: aspects,
            },
            _ => Found::Whole(Box::new(aspects.remove(0))),
        },
    };
    show("evaluate", &evaluation, args.json)
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
    let count = (replicates, most);
    let omnibus = omnibus(
        on_predictions,
        count,
        predictions,
        (targets, &names[..]),
        rng,
    );
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
        let outcome = build.evaluate(predictions, targets, rng);
        let told = Told::new((test.of)(&view.of), Known::of(outcome));
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
            let family = key(args.family);
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
        let p_value = |class: &Aspect| Some(class.tests.0[k].1.value.0.as_ref().ok()?.p_value());
        adjusted(name, &p_value)
    };
    let tests = classes.first().map_or(&[][..], |class| &class.tests.0);
    let of_tests = tests.iter().enumerate().filter_map(of_test);
    let omnibus = adjusted(&names::OMNIBUS, &omnibus);
    Named(omnibus.into_iter().chain(of_tests).collect())
}
