//! `calibration evaluate`.

use std::io::IsTerminal;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    estimator::{Event, Skce, Tce},
    hypothesis::{benjamini_hochberg, holm},
    kernel::Kernel,
    score::Overconfidence,
};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    answer::{Answer, Size, Sizing, check_level, omnibus},
    args::{Evaluate, Family, Lens, SizeArgs},
    input::Result,
    kernel::{bandwidth, fix_bandwidth, kernel},
    output::{Adjusted, Aspect, Estimate, Evaluation, Name, Test},
    quantities::{EstimateName, TestName},
    real,
    source::{device, read_labels, read_predictions},
};

/// Above so many samples, what costs the square of their number is left out unless asked for.
pub const QUADRATIC_LIMIT: usize = 20_000;
/// Samples in a block of the SKCE where all pairs are too many.
pub const BLOCK: usize = 25;

pub fn run(args: &Evaluate) -> Result<()> {
    check_level(&args.sizes)?;
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
    let tests = &args.tests;

    let progress = progress((aspects.len() * (2 + estimates.len() + tests.len())) as u64);
    let mut rng = StdRng::seed_from_u64(args.seed);
    let mut results = Vec::new();
    let mut fixed = kernel;
    for (class, predictions, labels, event) in aspects {
        fixed = fix_bandwidth(&args.kernel, kernel, &predictions, &mut rng);
        progress.set_message("omnibus test");
        let answer = omnibus(fixed, args.replicates, &predictions, &labels, &mut rng);
        progress.inc(1);
        progress.set_message("confidence intervals");
        let mut aspect = Aspect {
            class,
            bandwidth: bandwidth(&fixed),
            answer: Answer {
                omnibus: answer,
                sizes: sizes(&args.sizes, fixed, event, (&predictions, &labels)),
            },
            estimates: vec![],
            tests: vec![],
        };
        progress.inc(1);
        for &name in &estimates {
            progress.set_message(name.title());
            let value = name.compute(fixed, event, &predictions, &labels);
            aspect.estimates.push(Estimate {
                name: name.name(),
                value: value.map_err(|e| e.to_string()),
            });
            progress.inc(1);
        }
        for &name in tests {
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
        Lens::ClassWise => adjust(tests, &results),
        _ => Vec::new(),
    };
    let evaluation = Evaluation {
        n,
        classes: predictions.classes(),
        kernel: fixed,
        lens: args.lens,
        left_out: n > QUADRATIC_LIMIT,
        aspects: results,
        adjusted,
    };
    match args.json {
        true => println!("{}", evaluation.json()),
        false => print!("{evaluation}"),
    }
    Ok(())
}

/// How large the errors are.
pub fn sizes(
    args: &SizeArgs,
    kernel: Kernel,
    event: Event,
    (predictions, targets): (&Categorical, &Tensor<1, Int>),
) -> Vec<Size> {
    let of = Sizing {
        args,
        predictions,
        targets,
    };
    let skce = match predictions.samples() <= QUADRATIC_LIMIT {
        true => Skce::unbiased(kernel),
        false => Skce::block(kernel, BLOCK),
    };
    vec![
        of.in_points(
            "overconfidence",
            "overconfidence, points",
            &Overconfidence { event },
        ),
        of.in_points(
            "ece_debiased",
            "ECE of order 2, debiased, points",
            &Tce::default().with_event(event),
        ),
        of.of("skce", "SKCE, unbiased", &skce),
    ]
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(tests: &[TestName], classes: &[Aspect]) -> Vec<Adjusted> {
    let adjusted = |name: Name, p_value: &dyn Fn(&Aspect) -> Option<f64>| {
        let p_values: Option<Vec<f64>> = classes.iter().map(p_value).collect();
        let p_values = p_values?;
        Some(Adjusted {
            name,
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        })
    };
    let name = Name {
        key: "omnibus".into(),
        title: "omnibus test",
    };
    let omnibus = |class: &Aspect| class.answer.omnibus.as_ref().ok().map(|o| o.p_value);
    let of_test = |(k, test): (usize, &TestName)| {
        let p_value = |class: &Aspect| class.tests[k].outcome.as_ref().ok().map(|o| o.p_value());
        adjusted(test.name(), &p_value)
    };
    let of_tests = tests.iter().enumerate().filter_map(of_test);
    adjusted(name, &omnibus)
        .into_iter()
        .chain(of_tests)
        .collect()
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
