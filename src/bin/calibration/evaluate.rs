//! `calibration evaluate`.

use std::io::IsTerminal;

use burn_calibration::{
    estimator::Event,
    hypothesis::{benjamini_hochberg, holm},
};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    args::{Evaluate, Family, Lens},
    input::Result,
    kernel::{bandwidth, fix_bandwidth, kernel},
    output::{Adjusted, Aspect, Estimate, Evaluation, Test},
    quantities::{EstimateName, TestName},
    real,
    source::{device, read_labels, read_predictions},
};

/// Above so many samples, what costs the square of their number is left out unless asked for.
pub const QUADRATIC_LIMIT: usize = 20_000;

pub fn run(args: &Evaluate) -> Result<()> {
    match args.family {
        Family::Categorical => classes(args),
        _ => real::evaluate(args),
    }
}

fn classes(args: &Evaluate) -> Result<()> {
    let device = device(args.source.device)?;
    let predictions = read_predictions(&args.predictions, &args.source, &device)?;
    let labels = read_labels(
        &args.source.labels,
        (&args.predictions, &predictions.probabilities()),
    )?;
    let n = predictions.samples();
    let kernel = kernel(&args.kernel, &predictions)?;
    let aspects = match args.lens {
        Lens::Canonical => vec![(None, predictions.clone(), labels, Event::TopLabel)],
        Lens::TopLabel => {
            let (binary, correct) = predictions.top_label(&labels).map_err(|e| e.to_string())?;
            vec![(None, binary, correct, Event::Class(1))]
        }
        Lens::ClassWise => (0..predictions.classes())
            .map(|class| {
                let lens = predictions
                    .class_wise(class, &labels)
                    .map_err(|e| e.to_string());
                lens.map(|(binary, labels)| (Some(class), binary, labels, Event::Class(1)))
            })
            .collect::<Result<_>>()?,
    };
    let estimates: Vec<_> = EstimateName::value_variants()
        .iter()
        .copied()
        .filter(|estimate| n <= QUADRATIC_LIMIT || !estimate.is_quadratic())
        .collect();
    let tests = tests(args, n);

    let progress = progress((aspects.len() * (estimates.len() + tests.len())) as u64);
    let mut rng = StdRng::seed_from_u64(args.seed);
    let mut results = Vec::new();
    let mut fixed = kernel;
    for (class, predictions, labels, event) in aspects {
        fixed = fix_bandwidth(&args.kernel, kernel, &predictions, &mut rng);
        let mut aspect = Aspect {
            class,
            bandwidth: bandwidth(&fixed),
            estimates: vec![],
            tests: vec![],
        };
        for &name in &estimates {
            progress.set_message(name.title());
            let value = name.compute(fixed, event, &predictions, &labels);
            aspect.estimates.push(Estimate {
                name: name.name(),
                value: value.map_err(|e| e.to_string()),
            });
            progress.inc(1);
        }
        for &name in &tests {
            progress.set_message(name.title());
            let test = name.build(fixed, event, args.replicates as usize);
            let outcome = test.evaluate(&predictions, &labels, &mut rng);
            aspect.tests.push(Test {
                name: name.name(),
                outcome: outcome.map_err(|e| e.to_string()),
            });
            progress.inc(1);
        }
        results.push(aspect);
    }
    progress.finish_and_clear();

    let adjusted = match args.lens {
        Lens::ClassWise => adjust(&tests, &results),
        _ => Vec::new(),
    };
    let evaluation = Evaluation {
        n,
        classes: predictions.classes(),
        kernel: fixed,
        lens: args.lens,
        left_out: n > QUADRATIC_LIMIT && args.tests.is_empty(),
        aspects: results,
        adjusted,
    };
    match args.json {
        true => println!("{}", evaluation.json()),
        false => print!("{evaluation}"),
    }
    Ok(())
}

/// The tests that are asked for, or those that are usual.
pub fn tests(args: &Evaluate, n: usize) -> Vec<TestName> {
    let usual =
        |test: &TestName| test.is_default() && (n <= QUADRATIC_LIMIT || !test.is_quadratic());
    match args.tests.is_empty() {
        true => TestName::value_variants()
            .iter()
            .copied()
            .filter(usual)
            .collect(),
        false => args.tests.clone(),
    }
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(tests: &[TestName], classes: &[Aspect]) -> Vec<Adjusted> {
    let of_test = |(k, &name): (usize, &TestName)| {
        let p_values: std::result::Result<Vec<f64>, _> = classes
            .iter()
            .map(|class| class.tests[k].outcome.as_ref().map(|o| o.p_value()))
            .collect();
        let p_values = p_values.ok()?;
        Some(Adjusted {
            name: name.name(),
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        })
    };
    tests.iter().enumerate().filter_map(of_test).collect()
}

/// A bar on standard error, if that is a terminal, once the work has taken a second.
pub fn progress(steps: u64) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(5),
        false => ProgressDrawTarget::hidden(),
    };
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a valid template");
    ProgressBar::with_draw_target(Some(steps), target).with_style(style)
}
