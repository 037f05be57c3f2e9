use burn::tensor::Tensor;
use burn_calibration::{
    distribution::Predictive,
    estimator::Skce,
    kernel::{Bandwidth, Kernel, RealKernel, TargetKernel, TensorKernel},
    score::IntervalOverconfidence,
};
use rand::{SeedableRng, rngs::StdRng, seq::index};

use super::{
    output::Evaluation,
    quantities::{EstimateName, Scored, test},
    source::{read, with_predictions},
};
use crate::{
    answer::{Answer, Sizing, omnibus},
    args::{
        BandwidthChoice, DistanceName, Evaluate, KernelName, LengthScale, Lens, TargetKernelName,
    },
    evaluate::{BLOCK, QUADRATIC_LIMIT, progress},
    input::Result,
    output::{Estimate, Test},
    source::device,
};

/// `calibration evaluate --family …`.
pub fn evaluate(args: &Evaluate) -> Result<()> {
    if args.lens != Lens::Canonical {
        return Err("--lens: of classes only, expected --lens canonical or none".into());
    }
    if args.source.logits {
        return Err("--logits: of classes only".into());
    }
    let device = device(args.source.device)?;
    let files = (&*args.predictions, &*args.source.labels.labels);
    let (predictions, targets) = read(args.family, files, (args.source.device, &device))?;
    let evaluation = with_predictions!(&predictions, p => evaluated(args, p, &targets))?;
    match args.json {
        true => println!("{}", evaluation.json()),
        false => print!("{evaluation}"),
    }
    Ok(())
}

fn evaluated<P>(args: &Evaluate, predictions: &P, targets: &Tensor<2>) -> Result<Evaluation>
where
    P: Scored,
    RealKernel: TargetKernel<P>,
{
    let n = predictions.samples();
    let mut rng = StdRng::seed_from_u64(args.seed);
    let kernel = kernel(args, predictions, targets, &mut rng)?;
    let estimates: Vec<EstimateName> = predictions
        .estimates()
        .into_iter()
        .filter(|estimate| n <= QUADRATIC_LIMIT || !estimate.is_quadratic())
        .collect();
    if let Some(test) = args.tests.iter().find(|test| test.is_of_classes()) {
        let family = crate::output::key(args.family);
        let test = crate::output::key(*test);
        return Err(format!(
            "--test {test}: of classes, there is none for --family {family}"
        ));
    }
    let progress = progress((2 + estimates.len() + args.tests.len()) as u64);
    progress.set_message("omnibus test");
    let answer = omnibus(
        kernel.predictions,
        args.replicates,
        predictions,
        targets,
        &mut rng,
    );
    progress.inc(1);
    progress.set_message("confidence intervals");
    let of = Sizing {
        args: &args.sizes,
        predictions,
        targets,
    };
    let skce = match n <= QUADRATIC_LIMIT {
        true => Skce::unbiased(kernel),
        false => Skce::block(kernel, BLOCK),
    };
    let sizes = vec![
        of.in_points(
            "overconfidence",
            "overconfidence of 90 % intervals, points",
            &IntervalOverconfidence::default(),
        ),
        of.of("skce", "SKCE, unbiased", &skce),
    ];
    progress.inc(1);
    let mut evaluation = Evaluation {
        family: args.family,
        n,
        dimensions: targets.dims()[1],
        kernel,
        left_out: n > QUADRATIC_LIMIT,
        answer: Answer {
            omnibus: answer,
            sizes,
        },
        estimates: vec![],
        tests: vec![],
    };
    for name in estimates {
        progress.set_message(name.title());
        let value = name.compute(kernel, predictions, targets);
        evaluation.estimates.push(Estimate {
            name: name.name(),
            value: value.map_err(|e| e.to_string()),
        });
        progress.inc(1);
    }
    for &name in &args.tests {
        progress.set_message(name.title());
        let test = test::<P>(name, kernel, args.replicates as usize);
        let outcome = test.evaluate(predictions, targets, &mut rng);
        evaluation.tests.push(Test {
            name: name.name(),
            outcome: outcome.map_err(|e| e.to_string()),
        });
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(evaluation)
}

/// The kernel that the arguments ask for, its bandwidth and length scale fixed by the data.
fn kernel<P: Predictive>(
    args: &Evaluate,
    predictions: &P,
    targets: &Tensor<2>,
    rng: &mut StdRng,
) -> Result<TensorKernel<RealKernel>> {
    let n = predictions.samples();
    let too_many = |what: &str, expected: &str| {
        Err(format!(
            "{what} median: the median over all pairs of {n} samples takes too long, expected \
             {expected}"
        ))
    };
    let profile = match args.kernel.shape.profile {
        KernelName::Exponential => Kernel::wasserstein(),
        KernelName::Gaussian => Kernel::gaussian(),
    };
    let kernel = match args.kernel.shape.distance {
        Some(DistanceName::Tv) => {
            return Err("--distance tv: of classes, expected l2, the 2-Wasserstein distance, or l1, that of the parameters".into());
        }
        Some(distance) => profile.with_distance(distance.into()),
        None => profile,
    };
    let kernel = match args.kernel.bandwidth {
        BandwidthChoice::Fixed(value) => kernel.with_bandwidth(Bandwidth::Fixed(value)),
        BandwidthChoice::Median if n > QUADRATIC_LIMIT => {
            return too_many(
                "--bandwidth",
                "a number, or median:5000 for that of 5000 samples",
            );
        }
        BandwidthChoice::MedianOf(samples) if samples < n => {
            let rows = index::sample(rng, n, samples).into_vec();
            let kernel = kernel.with_bandwidth_of_predictions(&predictions.select_rows(&rows));
            kernel.map_err(|e| e.to_string())?
        }
        _ => kernel
            .with_bandwidth_of_predictions(predictions)
            .map_err(|e| e.to_string())?,
    };
    let target = match args.targets.target_kernel {
        TargetKernelName::Gaussian => RealKernel::gaussian(1.0),
        TargetKernelName::Laplacian => RealKernel::laplacian(1.0),
    };
    let target = match args.targets.length_scale {
        LengthScale::Fixed(length_scale) => RealKernel {
            length_scale,
            ..target
        },
        LengthScale::Median if n > QUADRATIC_LIMIT => {
            return too_many("--length-scale", "a number");
        }
        LengthScale::Median => target.with_median_of(targets),
    };
    Ok(TensorKernel::new(kernel, target))
}
