//! Losses, estimates, tests and maps of classes.

use super::{N, classes, compare_many_products, compare_products, logits};
use crate::prelude::*;
use crate::recalibration::logits as maps;
use crate::recalibration::scalar as scalar_maps;

fn losses() -> Vec<(String, Box<dyn Criterion>)> {
    let mut losses: Vec<(String, Box<dyn Criterion>)> = vec![
        ("brier".into(), Box::new(ScoreLoss::new(Brier))),
        ("log".into(), Box::new(ScoreLoss::new(LogScore))),
        ("spherical".into(), Box::new(ScoreLoss::new(Spherical))),
    ];
    let mut add = |kernel, form| {
        let config = SkceLossConfig::new().with_kernel(kernel).with_form(form);
        losses.push((format!("{config:?}"), Box::new(config.init())));
    };
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        for form in [SkceForm::Biased, SkceForm::Block(4)] {
            add(kernel, form);
        }
        let fixed = kernel.with_bandwidth(Bandwidth::Fixed(0.3));
        add(fixed, SkceForm::Unbiased);
    }
    for distance in Distance::ALL {
        for profile in Profile::all() {
            let kernel = Kernel::exponential().with_distance(distance);
            add(kernel.with_profile(profile), SkceForm::Unbiased); // the median bandwidth
        }
    }
    for form in [MmceForm::Unweighted, MmceForm::Weighted] {
        for computation in [Computation::Auto, Computation::Fused] {
            let config = MmceLossConfig::new().with_form(form);
            let config = config.with_computation(computation);
            losses.push((format!("{config:?}"), Box::new(config.init())));
        }
    }
    losses
}

#[test]
fn losses_and_gradients() {
    compare_products(|device, dtype| {
        let device = device.clone().autodiff();
        let labels = labels_on(&classes(), &device);
        let value_and_gradient = |(name, loss): (String, Box<dyn Criterion>)| {
            let z = tensor_on(&logits(), &device, dtype).require_grad();
            let value = loss.value(&of_logits(z.clone()), &labels);
            assert_eq!(value.dtype(), dtype);
            let gradient = z.grad(&value.backward()).unwrap();
            [
                (format!("{name} value"), vector(value)),
                (format!("{name} gradient"), vector(gradient)),
            ]
        };
        losses().into_iter().flat_map(value_and_gradient).collect()
    });
}

#[test]
fn estimates_and_tests() {
    compare_products(|device, dtype| {
        let predictions = Categorical::from_logits(tensor_on(&logits(), device, dtype)).unwrap();
        let labels = labels_on(&classes(), device);
        let mut numbers = Vec::new();
        for kernel in [Kernel::exponential(), Kernel::gaussian()] {
            for skce in [
                Skce::biased(kernel),
                Skce::unbiased(kernel),
                Skce::block(kernel, 5),
            ] {
                let estimate = skce.on(&predictions, &labels);
                numbers.push((format!("{skce:?}"), vec![estimate]));
            }
            let tests: [&dyn CalibrationTest; 3] = [
                &AsymptoticSkceTest::new(kernel),
                &AsymptoticBlockSkceTest::new(kernel, 4),
                &DistributionFreeSkceTest::new(Skce::biased(kernel)),
            ];
            for test in tests {
                let outcome = test.seeded(&predictions, &labels, 63);
                numbers.push((outcome.name.into(), vec![outcome.p_value]));
            }
        }
        for form in [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased] {
            let estimate = Mmce::new(form).on(&predictions, &labels);
            numbers.push((format!("{form:?}"), vec![estimate]));
        }
        for score in [&Brier as &dyn Score<Categorical>, &LogScore, &Spherical] {
            let bound = score.upper_bound(&predictions, &labels).unwrap();
            let bound_of = vec![bound.estimate, bound.standard_error];
            numbers.push((format!("{score:?}"), bound_of));
        }
        let ece = Ece::default().on(&predictions, &labels);
        numbers.push(("ece".into(), vec![ece]));
        numbers
    });
}

#[test]
fn recalibration() {
    compare_products(|device, dtype| {
        let logits = tensor_on(&logits(), device, dtype);
        let labels = labels_on(&classes(), device);
        let map = without_prior().fit_to(&logits, &labels);
        let by_brier = without_prior().fit_to_by(&ScoreLoss::new(Brier), &logits, &labels);
        let objective = by_brier.report().unwrap().objective;
        let calibrated: Tensor<2> = map.forward(logits);
        assert_eq!(calibrated.dtype(), dtype);
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("backends.bpk");
        map.save(&path).unwrap();
        let loaded = TemperatureScaling::load(&path, device).unwrap();
        assert_eq!(loaded.temperature(), map.temperature());
        vec![
            ("temperature".into(), vec![map.temperature()]),
            ("brier objective".into(), vec![objective]), // a minimum by values alone: half the digits
            ("calibrated logits".into(), vector(calibrated)),
        ]
    });
}

/// Maps fitted and saved on the reference, loaded and applied in both dtypes.
#[test]
fn fitted_maps() {
    let (rows, classes) = (logits(), classes());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let scalar = scalar_maps::every(&tensor(&rows), &labels(&classes));
    let scalar =
        (scalar.into_iter().enumerate()).map(|(i, map)| (format!("{} {i}", map.kind()), map));
    let fitted = maps::fitters().into_iter().map(|(name, fit)| {
        let map = fit(None, tensor(&rows), labels(&classes)).unwrap();
        (name.to_string(), map)
    });
    let files: Vec<_> = fitted
        .chain(scalar)
        .map(|(name, map)| {
            let path = folder.join(format!("backends {name}.map"));
            map.save(&path).unwrap();
            (name, path)
        })
        .collect();
    compare_many_products(|device, dtype| {
        // not those of the fit, at which the steps of a map lie: rounding decides on their side
        let logits = tensor_on(&rows, device, dtype) * 0.93;
        let apply = |(name, path): &(String, std::path::PathBuf)| {
            let map = load_map(path, device).unwrap();
            (name.to_string(), vector(map.forward(logits.clone())))
        };
        files.iter().map(apply).collect()
    });
}

/// The omnibus test of classes and of real targets, and sizes of errors.
#[test]
fn omnibus_and_sizes() {
    fn of_outcome(kind: &str, outcome: OmnibusOutcome) -> Vec<(String, Vec<f64>)> {
        let of_aspects = |value: fn(&AspectOutcome) -> f64| outcome.aspects.iter().map(value);
        let mut p_values = vec![outcome.p_value];
        p_values.extend(of_aspects(|aspect| aspect.p_value));
        let estimates = of_aspects(|aspect| aspect.estimate).collect();
        vec![
            (format!("{kind} p-values"), p_values),
            (format!("{kind} estimates"), estimates),
        ]
    }
    compare_products(|device, dtype| {
        let predictions = Categorical::from_logits(tensor_on(&logits(), device, dtype)).unwrap();
        let labels = labels_on(&classes(), device);
        let test = OmnibusTest::new().with_redraws(199);
        let outcome = test.outcome(&predictions, &labels, &mut rng(9));
        let mut numbers = of_outcome("classes", outcome.unwrap());
        let skce = Skce::unbiased(Kernel::exponential());
        let skce = skce.size(&predictions, &labels).unwrap().estimate; // few labels are wrong
        numbers.push(("SKCE".into(), vec![skce]));
        let mut ends = |name: &str, size: ErrorSize| {
            let interval = size.interval(0.95).unwrap();
            let ends = vec![interval.estimate, interval.lower, interval.upper];
            numbers.push((name.into(), ends));
        };
        let size = Overconfidence::default().size(&predictions, &labels);
        ends("overconfidence", size.unwrap());

        let means = random_rows(N, 1, 1.0, &mut rng(65));
        let scales = vec![vec![0.75]; N];
        let on = |rows: &[Vec<f64>]| tensor_on(rows, device, dtype);
        let normal = Normal::new(on(&means), on(&scales));
        let targets = on(&random_rows(N, 1, 2.0, &mut rng(66)));
        let outcome = test.outcome(&normal, &targets, &mut rng(9));
        numbers.extend(of_outcome("normal", outcome.unwrap()));
        numbers
    });
}
