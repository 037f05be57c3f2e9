//! `calibration evaluate`.

use burn_calibration::{
    estimator::Skce,
    hypothesis::{benjamini_hochberg, holm},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    answer::{Answer, Size, Sizing, check_level, omnibus},
    args::{Evaluate, Lens, SizeArgs},
    input::Result,
    kind::{Data, Estimate, Test},
    kind::{Kind, with_family},
    limits::{BLOCK, QUADRATIC_LIMIT},
    output::{Adjusted, Aspect, Estimated, Evaluation, Name, Tested, key},
    progress::{Costs, Progress},
    quantities::{estimates, tests},
};

pub fn run(args: &Evaluate) -> Result<()> {
    check_level(&args.sizes)?;
    with_family!(args.family, P => evaluate::<P>(args))
}

fn evaluate<P: Kind>(args: &Evaluate) -> Result<()> {
    let (sets, targets) = P::read(&[&args.predictions], &args.source)?;
    let predictions = sets.into_iter().next().expect("one set for one file");
    let (n, outcomes) = (predictions.len(), predictions.outcomes());
    let views = predictions.views(targets, args.lens)?;
    let tests = chosen::<P>(args)?;
    let mut estimates = estimates::<P>();
    estimates.retain(|estimate| n <= QUADRATIC_LIMIT || !estimate.is_quadratic);

    let costs = Costs::new(n);
    let all_pairs = match n <= QUADRATIC_LIMIT {
        true => costs.quadratic(),
        false => costs.linear(),
    };
    let redraws = costs.redraws(args.replicates);
    let total = 2 * all_pairs
        + redraws
        + costs.linear() * estimates.len() as u64
        + (all_pairs + redraws) * tests.len() as u64;
    let progress = Progress::new(total * views.len() as u64);
    let mut rng = StdRng::seed_from_u64(args.seed);
    let mut aspects = Vec::new();
    for view in &views {
        progress.step("bandwidth", all_pairs);
        let kernel = P::kernel(args, view, &mut rng)?;
        let (predictions, targets) = (&view.predictions, &view.targets);
        let on_predictions = P::on_predictions(&kernel);
        progress.step("omnibus test", redraws);
        let answer = omnibus(
            on_predictions,
            args.replicates,
            predictions,
            targets,
            &mut rng,
        );
        progress.step("confidence intervals", all_pairs);
        let mut data = Data {
            predictions,
            targets,
            kernel,
            event: view.event,
            unbiased: None,
        };
        let sizes = sizes(&args.sizes, &data);
        if n <= QUADRATIC_LIMIT {
            let skce = sizes.iter().find(|size| size.key == "skce");
            data.unbiased = skce.and_then(|size| Some(size.interval.as_ref().ok()?.estimate));
        }
        let estimate = |estimate: &Estimate<P>| {
            progress.step(estimate.title, costs.linear());
            Estimated {
                name: Name::new(estimate.key, estimate.title),
                value: (estimate.run)(&data).map_err(|e| e.to_string()),
            }
        };
        let estimates = estimates.iter().map(estimate).collect();
        let test = |test: &Test<P>| {
            progress.step(test.title, all_pairs + redraws);
            let build = (test.build)(kernel, view.event, args.replicates as usize);
            let outcome = build.evaluate(predictions, targets, &mut rng);
            Tested {
                name: Name::new(test.key, test.title),
                outcome: outcome.map_err(|e| e.to_string()),
            }
        };
        aspects.push(Aspect {
            class: view.class,
            kernel: on_predictions,
            on_targets: P::on_targets(&kernel),
            answer: Answer {
                omnibus: answer,
                sizes,
            },
            estimates,
            tests: tests.iter().map(test).collect(),
        });
    }
    drop(progress);

    let evaluation = Evaluation {
        n,
        outcomes,
        family: args.family,
        lens: args.lens,
        adjusted: match args.lens {
            Lens::ClassWise => adjust(&aspects),
            _ => Vec::new(),
        },
        aspects,
    };
    match args.json {
        true => println!("{}", evaluation.json()),
        false => print!("{evaluation}"),
    }
    Ok(())
}

/// The tests that the arguments name.
fn chosen<P: Kind>(args: &Evaluate) -> Result<Vec<Test<P>>> {
    let find = |name: &String| {
        let found = tests::<P>().into_iter().find(|test| test.key == name);
        found.ok_or_else(|| {
            let family = key(args.family);
            format!("--test {name}: of classes, there is none for --family {family}")
        })
    };
    args.tests.iter().map(find).collect()
}

/// How large the errors are.
pub fn sizes<P: Kind>(args: &SizeArgs, data: &Data<P>) -> Vec<Size> {
    let sizing = Sizing {
        args,
        predictions: data.predictions,
        targets: data.targets,
    };
    let skce = match data.predictions.len() <= QUADRATIC_LIMIT {
        true => Skce::unbiased(data.kernel),
        false => Skce::block(data.kernel, BLOCK),
    };
    let mut sizes = P::sizes(&sizing, data.event);
    sizes.push(sizing.of("skce", "SKCE, unbiased", &skce));
    sizes
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(classes: &[Aspect]) -> Vec<Adjusted> {
    let adjusted = |name: Name, p_value: &dyn Fn(&Aspect) -> Option<f64>| {
        let p_values: Vec<f64> = classes.iter().map(p_value).collect::<Option<_>>()?;
        Some(Adjusted {
            name,
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        })
    };
    let omnibus = |class: &Aspect| class.answer.omnibus.as_ref().ok().map(|o| o.p_value);
    let of_test = |(k, test): (usize, &Tested)| {
        let p_value = |class: &Aspect| class.tests[k].outcome.as_ref().ok().map(|o| o.p_value());
        adjusted(test.name, &p_value)
    };
    let tests = classes.first().map_or(&[][..], |class| &class.tests);
    adjusted(Name::new("omnibus", "omnibus test"), &omnibus)
        .into_iter()
        .chain(tests.iter().enumerate().filter_map(of_test))
        .collect()
}
