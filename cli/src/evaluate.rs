//! `calibration evaluate`.

use burn_calibration::{
    estimator::Skce,
    hypothesis::{TestOutcome, benjamini_hochberg, holm},
    names::{self, Name},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    answer::{Answer, Size, Sizing, check_level, omnibus},
    args::{Evaluate, Lens, SizeArgs},
    columns, finite, given,
    input::Result,
    kind::{Data, Estimate, Kind, Test, with_family},
    limits::{BLOCK, QUADRATIC_LIMIT, redraws},
    output::{Adjusted, Aspect, Class, Evaluation, Found, Told},
    progress::{Costs, Progress},
    quantities::{ece_name, estimates, tests},
    rows::Wanted,
    words::{KernelWords, Known, Missing, Named, key, show},
};

pub fn run(args: &Evaluate) -> Result<()> {
    check_level(&args.sizes)?;
    with_family!(args.family, P => evaluate::<P>(args))
}

fn evaluate<P: Kind>(args: &Evaluate) -> Result<()> {
    let loaded = P::read(&[&args.predictions], &args.source, Wanted::Probabilities)?;
    let (targets, class_names) = (loaded.targets, loaded.class_names);
    let predictions = loaded
        .sets
        .into_iter()
        .next()
        .expect("one set for one file");
    let (n, outcomes) = (predictions.len(), predictions.outcomes());
    let (replicates, most) = redraws("--replicates", args.replicates, outcomes.1)?;
    let (summary, subject) = (predictions.summary(&targets), predictions.subject());
    let views = predictions.views(targets, (args.lens, &class_names))?;
    let tests = chosen::<P>(args)?;
    let columns = match &args.given {
        Some(path) => columns::read(path, (&args.predictions, n))?,
        None => Vec::new(),
    };
    let estimates = estimates::<P>();

    let costs = Costs::new(n);
    let all_pairs = match n <= QUADRATIC_LIMIT {
        true => costs.quadratic(),
        false => costs.linear(),
    };
    let redraws = costs.redraws(replicates);
    let total = 2 * all_pairs
        + redraws
        + costs.linear() * estimates.len() as u64
        + (all_pairs + redraws) * tests.len() as u64
        + redraws * given::count(&columns) as u64;
    let progress = Progress::new(total * views.len() as u64);
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let mut aspects = Vec::new();
    for view in &views {
        progress.step("bandwidth", all_pairs);
        let kernel = P::kernel(args, view, &mut rng)?;
        let (predictions, targets) = (&view.predictions, &view.targets);
        let names = names_of(view.class, args.lens, &class_names);
        let on_predictions = P::on_predictions(&kernel);
        let given = (!columns.is_empty()).then(|| {
            progress.step("given", redraws * given::count(&columns) as u64);
            let replicates = replicates as usize;
            let view = (view, &names[..]);
            let answer = given::test(&columns, view, on_predictions, replicates, &mut rng);
            Known(answer.map_err(Missing::Error))
        });
        progress.step("omnibus test", redraws);
        let answer = omnibus(
            on_predictions,
            (replicates, most),
            predictions,
            (targets, &names),
            &mut rng,
        );
        progress.step("confidence intervals", all_pairs);
        let mut data = Data {
            predictions,
            targets,
            kernel,
            event: view.event,
            of: &view.of,
            unbiased: None,
        };
        let intervals = sizes(&args.sizes, &data);
        if n <= QUADRATIC_LIMIT {
            let skce = (intervals.0.iter()).find(|(name, _)| name.key == names::SKCE.key);
            data.unbiased =
                skce.and_then(|(_, size)| Some(size.interval.0.as_ref().ok()?.estimate));
        }
        let estimate = |estimate: &Estimate<P>| {
            progress.step(&estimate.name.title, costs.linear());
            let value = match estimate.is_quadratic && n > QUADRATIC_LIMIT {
                true => Known(Err(too_many(n))),
                false => Known::of((estimate.run)(&data)),
            };
            let name = if estimate.name.key == names::ECE_TOP_LABEL.key {
                ece_name(view.predictions.subject(), view.class)
            } else {
                estimate.name.clone()
            };
            (name, Told::new(view.of.of(estimate.of), value))
        };
        let estimates: Vec<_> = estimates.iter().map(estimate).collect();
        let test = |test: &Test<P>| {
            progress.step(&test.name.title, all_pairs + redraws);
            let build = (test.build)(kernel, view, replicates as usize);
            let outcome = build.evaluate(predictions, targets, &mut rng);
            (
                test.name.clone(),
                Told::new(view.of.of(test.of), Known::of(outcome)),
            )
        };
        let tests: Vec<_> = tests.iter().map(test).collect();
        let aspect = Aspect {
            class: view.class.map(|index| Class {
                index,
                name: names[1].clone(),
            }),
            kernel: KernelWords::from(&on_predictions),
            on_targets: P::on_targets(&kernel),
            given,
            answer: Answer {
                class_names: names,
                omnibus: answer,
                intervals,
            },
            estimates: Named(estimates),
            tests: Named(tests),
        };
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

/// Why an estimate of so many samples is left out.
fn too_many(n: usize) -> Missing {
    Missing::Skipped(format!(
        "its cost is the square of the number of samples, {n}, which is above {QUADRATIC_LIMIT}"
    ))
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
            format!("--test {name}: of classes, there is none for --family {family}")
        })
    };
    args.tests.iter().map(find).collect()
}

/// The sizes of the errors.
pub fn sizes<P: Kind>(args: &SizeArgs, data: &Data<P>) -> Named<Size> {
    let sizing = Sizing {
        args,
        predictions: data.predictions,
        targets: data.targets,
    };
    let skce = match data.predictions.len() <= QUADRATIC_LIMIT {
        true => Skce::unbiased(data.kernel),
        false => Skce::block(data.kernel, BLOCK),
    };
    let mut sizes = P::sizes(&sizing, (data.event, data.of));
    sizes.push(sizing.of(names::SKCE.of(&data.of.whole), &skce));
    Named(sizes)
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(classes: &[Aspect]) -> Named<Adjusted> {
    let adjusted = |name: Name, p_value: &dyn Fn(&Aspect) -> Option<f64>| {
        let p_values: Vec<f64> = classes.iter().map(p_value).collect::<Option<_>>()?;
        let adjusted = Adjusted {
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        };
        Some((name, adjusted))
    };
    let omnibus = |class: &Aspect| Some(class.answer.omnibus.0.as_ref().ok()?.p_value);
    let of_test = |(k, (name, _)): (usize, &(Name, Told<TestOutcome>))| {
        let p_value = |class: &Aspect| Some(class.tests.0[k].1.value.0.as_ref().ok()?.p_value());
        adjusted(name.clone(), &p_value)
    };
    let tests = classes.first().map_or(&[][..], |class| &class.tests.0);
    let of_tests = tests.iter().enumerate().filter_map(of_test);
    let omnibus = adjusted(names::OMNIBUS, &omnibus);
    Named(omnibus.into_iter().chain(of_tests).collect())
}
