//! The same numbers on every backend that is compiled in: estimates, losses with their gradients,
//! tests with the same seed, fits. The reference is Flex in f64, which the other modules check.

use burn::tensor::{DType, Device, Tensor};
use burn_calibration::{
    distribution::{Categorical, Geometry, Laplace, Mixture, Normal, Samples},
    estimator::{Ece, Estimator, Mmce, MmceForm, Skce, SkceForm},
    hypothesis::*,
    kernel::{Distance, Kernel, Profile, RealKernel, TargetKernel, TensorKernel},
    loss::*,
    ops::{Computation, PairKernel, Pairing, pair_statistic, residual_statistic},
    recalibration::{Fit, Recalibration, TemperatureScaling, TemperatureScalingConfig, load_map},
    score::{Brier, ErrorSize, LogScore, Overconfidence, Quantify, Score, Spherical},
};

use crate::{
    data::*,
    recalibration::{logits as maps, scalar as scalar_maps},
};

/// The backends compiled in, with the dtypes they know and a tolerance relative to the largest
/// number of a kind: 1e-12 in f64, 2e-5 in f32.
fn backends() -> Vec<(&'static str, Device, DType, f64)> {
    #[allow(unused_mut)] // without other backends
    let mut backends = vec![
        ("flex", Device::flex(), DType::F64, 1e-12),
        ("flex", Device::flex(), DType::F32, 2e-5),
    ];
    #[cfg(feature = "ndarray")]
    {
        #[allow(deprecated)] // upstream deprecates the backend; it stays a supported feature here
        let device = Device::ndarray();
        backends.push(("ndarray", device.clone(), DType::F64, 1e-12));
        backends.push(("ndarray", device, DType::F32, 2e-5));
    }
    #[cfg(feature = "wgpu")]
    backends.push(("wgpu", Device::wgpu(Default::default()), DType::F32, 2e-5));
    #[cfg(feature = "cuda")]
    {
        backends.push(("cuda", Device::cuda(0), DType::F64, 1e-12));
        backends.push(("cuda", Device::cuda(0), DType::F32, 2e-5));
    }
    #[cfg(feature = "cubecl-cpu")]
    {
        backends.push(("cpu", Device::cpu(), DType::F64, 1e-12));
        backends.push(("cpu", Device::cpu(), DType::F32, 2e-5));
    }
    backends
}

const N: usize = 24;
const M: usize = 3;

fn logits() -> Vec<Vec<f64>> {
    let mut rows = random_rows(N, M, 2.0, &mut rng(61));
    rows[1] = rows[0].clone(); // coincident predictions
    rows
}

fn classes() -> Vec<usize> {
    random_labels(N, M, &mut rng(62))
}

/// Computes named numbers on each backend and compares each kind with the reference.
fn compare(compute: impl Fn(&Device, DType) -> Vec<(String, Vec<f64>)>) {
    let reference = compute(&Device::flex(), DType::F64);
    for (name, device, dtype, tolerance) in &backends() {
        let (dtype, tolerance) = (*dtype, *tolerance);
        for ((what, expected), (_, found)) in reference.iter().zip(compute(device, dtype)) {
            let largest = expected
                .iter()
                .fold(0.0f64, |largest, x| largest.max(x.abs()));
            assert_eq!(expected.len(), found.len());
            for (e, f) in expected.iter().zip(&found) {
                assert!(
                    (e - f).abs() <= tolerance * largest,
                    "{name} {dtype:?} {what}: {f}, not {e}"
                );
            }
        }
        println!(
            "{name} {dtype:?}: {} kinds of numbers agree",
            reference.len()
        );
    }
}

fn losses() -> Vec<(String, Box<dyn Criterion>)> {
    let mut losses: Vec<(String, Box<dyn Criterion>)> = vec![
        ("brier".into(), Box::new(ScoreLoss::new(Brier))),
        ("log".into(), Box::new(ScoreLoss::new(LogScore))),
        ("spherical".into(), Box::new(ScoreLoss::new(Spherical))),
    ];
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(4)] {
            let config = SkceLossConfig::new().with_kernel(kernel).with_form(form);
            losses.push((format!("{config:?}"), Box::new(config.init())));
        }
    }
    for form in [MmceForm::Unweighted, MmceForm::Weighted] {
        for computation in [Computation::Auto, Computation::Fused] {
            let config = MmceLossConfig::new()
                .with_form(form)
                .with_computation(computation);
            losses.push((format!("{config:?}"), Box::new(config.init())));
        }
    }
    losses
}

#[test]
fn losses_and_gradients() {
    compare(|device, dtype| {
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
    compare(|device, dtype| {
        let predictions = Categorical::from_logits(tensor_on(&logits(), device, dtype)).unwrap();
        let labels = labels_on(&classes(), device);
        let mut numbers = Vec::new();
        for kernel in [Kernel::exponential(), Kernel::gaussian()] {
            for skce in [
                Skce::biased(kernel),
                Skce::unbiased(kernel),
                Skce::block(kernel, 5),
            ] {
                let estimate = skce.estimate(&predictions, &labels).unwrap();
                numbers.push((format!("{skce:?}"), vec![estimate]));
            }
            let tests: [&dyn CalibrationTest; 3] = [
                &AsymptoticSkceTest::new(kernel)
                    .with_null(NullDistribution::Bootstrap)
                    .with_replicates(99),
                &AsymptoticBlockSkceTest::new(kernel, 4),
                &DistributionFreeSkceTest::new(Skce::biased(kernel)),
            ];
            for test in tests {
                let outcome = test.evaluate(&predictions, &labels, &mut rng(63)).unwrap();
                numbers.push((outcome.name().into(), vec![outcome.p_value()]));
            }
        }
        for form in [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased] {
            let estimate = Mmce::new(form).estimate(&predictions, &labels).unwrap();
            numbers.push((format!("{form:?}"), vec![estimate]));
        }
        for score in [&Brier as &dyn Score<Categorical>, &LogScore, &Spherical] {
            let bound = score.upper_bound(&predictions, &labels).unwrap();
            numbers.push((
                format!("{score:?}"),
                vec![bound.estimate, bound.standard_error],
            ));
        }
        numbers.push((
            "ece".into(),
            vec![Ece::default().estimate(&predictions, &labels).unwrap()],
        ));
        numbers
    });
}

#[test]
fn recalibration() {
    compare(|device, dtype| {
        let logits = tensor_on(&logits(), device, dtype);
        let labels = labels_on(&classes(), device);
        let config = TemperatureScalingConfig::new();
        let map = config.fit(logits.clone(), labels.clone()).unwrap();
        let by_brier = config
            .fit_by(&ScoreLoss::new(Brier), logits.clone(), labels)
            .unwrap();
        let calibrated: Tensor<2> = map.forward(logits);
        assert_eq!(calibrated.dtype(), dtype);
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("backends.bpk");
        map.save(&path).unwrap();
        let loaded = TemperatureScaling::load(&path, device).unwrap();
        assert_eq!(loaded.temperature(), map.temperature());
        vec![
            ("temperature".into(), vec![map.temperature()]),
            // a minimum by values alone: half the digits
            (
                "brier objective".into(),
                vec![by_brier.report().unwrap().objective],
            ),
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
    compare(|device, dtype| {
        let logits = tensor_on(&rows, device, dtype);
        let apply = |(name, path): &(String, std::path::PathBuf)| {
            let map = load_map(path, device).unwrap();
            (name.to_string(), vector(map.forward(logits.clone())))
        };
        files.iter().map(apply).collect()
    });
}

/// A penalty with its gradient, an estimate and a test of predictions that a function makes of
/// outputs, `[N · K, 2d]`. Terms of `h` are of the order of 1, and so is their rounding.
fn real_numbers<P: Geometry<Targets = Tensor<2>>>(
    kind: &str,
    predictions: impl Fn(Tensor<2>) -> P,
    device: &Device,
    dtype: DType,
) -> Vec<(String, Vec<f64>)>
where
    RealKernel: TargetKernel<P>,
{
    let outputs = random_rows(N * K, 2 * D, 1.0, &mut rng(66));
    let targets = random_rows(N, D, 1.5, &mut rng(67));
    let numbers = [RealKernel::gaussian(0.9), RealKernel::laplacian(1.1)].map(|kernel| {
        let autodiff = device.clone().autodiff();
        let x = tensor_on(&outputs, &autodiff, dtype).require_grad();
        let loss = SkceLoss::new(Skce::unbiased(TensorKernel::wasserstein(kernel)));
        let value = loss.forward(
            &predictions(x.clone()),
            &tensor_on(&targets, &autodiff, dtype),
        );
        let gradient = vector(x.grad(&value.clone().backward()).unwrap());

        let data = predictions(tensor_on(&outputs, device, dtype));
        let test = AsymptoticSkceTest::new(loss.skce.kernel).with_null(NullDistribution::Bootstrap);
        let outcome = test.evaluate(&data, &tensor_on(&targets, device, dtype), &mut rng(68));
        let outcome = outcome.unwrap();
        let values = vec![1.0, scalar(value), outcome.estimate(), outcome.p_value()];
        [
            (format!("{kind}, {kernel:?}"), values),
            (format!("{kind}, {kernel:?}, gradient"), gradient),
        ]
    });
    numbers.into_iter().flatten().collect()
}

/// Dimension of the targets, and components of a mixture.
const D: usize = 2;
const K: usize = 2;

#[test]
fn real_predictions() {
    compare(|device, dtype| {
        let first = |x: Tensor<2>| x.slice(0..N);
        let mixture = |x: Tensor<2>| {
            let logits = x.clone().slice([0..N, 0..K]);
            Mixture::from_logits(logits, Normal::from_raw(x, 0.1))
        };
        let samples = |x: Tensor<2>| Samples::new(x.reshape([N, 2 * K, D]));
        [
            real_numbers("normal", |x| Normal::from_raw(first(x), 0.1), device, dtype),
            real_numbers(
                "Laplace",
                |x| Laplace::from_raw(first(x), 0.1),
                device,
                dtype,
            ),
            real_numbers("mixture", mixture, device, dtype),
            real_numbers("samples", samples, device, dtype),
        ]
        .concat()
    });
}

/// Shapes, and sizes of blocks for each: rows that do not fill a tile, tiles that share columns or
/// walk over them, several blocks in a tile and blocks over several, samples in no block, more
/// coordinates than are staged at once.
const SHAPES: [(usize, usize, &[usize]); 3] = [
    (37, 10, &[37, 2, 5, 18]),
    (20, 130, &[20, 7]),
    (331, 3, &[331]),
];

/// The fused pass: values with and without gradients, and both gradients.
#[test]
fn pair_statistics() {
    compare(|device, dtype| {
        let mut numbers = Vec::new();
        for (n, m, sizes) in SHAPES {
            let rows = coarse_probabilities(n, m);
            let classes = random_labels(n, m, &mut rng(65));
            let blocks = sizes.iter().map(|&size| Pairing::Blocks { size });
            let pairings: Vec<_> = [Pairing::All].into_iter().chain(blocks).collect();
            for distance in [Distance::TotalVariation, Distance::Euclidean] {
                for profile in [Profile::Exponential, Profile::Gaussian] {
                    let kernel = PairKernel::new(distance, profile);
                    for &pairing in &pairings {
                        let name = format!("{n} × {m} {kernel:?} {pairing:?}");
                        let statistic = |device: &Device, require: bool| {
                            let points = tensor_on(&rows, device, dtype).set_require_grad(require);
                            let bandwidth = Tensor::<1>::from_data([0.4], (device, dtype));
                            let bandwidth = bandwidth.set_require_grad(require);
                            let (p, labels) = (points.clone(), labels_on(&classes, device));
                            let value =
                                pair_statistic(p, labels, bandwidth.clone(), kernel, pairing);
                            assert_eq!(value.dtype(), dtype);
                            (value, points, bandwidth)
                        };
                        let value = vector(statistic(device, false).0);
                        let (again, points, bandwidth) =
                            statistic(&device.clone().autodiff(), true);
                        let gradients = again.clone().backward();
                        numbers.extend([
                            (format!("{name} value"), value),
                            (format!("{name} value with gradient"), vector(again)),
                            (
                                format!("{name} gradient"),
                                vector(points.grad(&gradients).unwrap()),
                            ),
                            (
                                format!("{name} bandwidth"),
                                vector(bandwidth.grad(&gradients).unwrap()),
                            ),
                        ]);
                    }
                }
            }
        }
        numbers
    });
}

/// With residuals of another length than the points: value and all gradients.
#[test]
fn residual_statistics() {
    let rows = coarse_probabilities(37, 5);
    let residuals = random_rows(37, 3, 1.0, &mut rng(66));
    compare(|device, dtype| {
        let mut numbers = Vec::new();
        let device = &device.clone().autodiff();
        for (distance, profile) in [
            (Distance::TotalVariation, Profile::Exponential),
            (Distance::Euclidean, Profile::Gaussian),
        ] {
            for pairing in [Pairing::All, Pairing::Blocks { size: 18 }] {
                let kernel = PairKernel::new(distance, profile);
                let [x, r] =
                    [&rows, &residuals].map(|x| tensor_on(x, device, dtype).require_grad());
                let bandwidth = Tensor::<1>::from_data([0.4], (device, dtype)).require_grad();
                let value =
                    residual_statistic(x.clone(), r.clone(), bandwidth.clone(), kernel, pairing);
                let gradients = value.backward();
                let name = format!("{kernel:?} {pairing:?}");
                numbers.extend([
                    (format!("{name} value"), vector(value)),
                    (
                        format!("{name} points"),
                        vector(x.grad(&gradients).unwrap()),
                    ),
                    (
                        format!("{name} residuals"),
                        vector(r.grad(&gradients).unwrap()),
                    ),
                    (
                        format!("{name} bandwidth"),
                        vector(bandwidth.grad(&gradients).unwrap()),
                    ),
                ]);
            }
        }
        numbers
    });
}

/// The omnibus test of classes and of real targets, and sizes of errors.
#[test]
fn omnibus_and_sizes() {
    fn of_outcome(kind: &str, outcome: OmnibusOutcome) -> Vec<(String, Vec<f64>)> {
        let of_aspects = |value: fn(&AspectOutcome) -> f64| outcome.aspects.iter().map(value);
        let mut p_values = vec![outcome.p_value];
        p_values.extend(of_aspects(|aspect| aspect.p_value));
        vec![
            (format!("{kind} p-values"), p_values),
            (
                format!("{kind} estimates"),
                of_aspects(|aspect| aspect.estimate).collect(),
            ),
        ]
    }
    compare(|device, dtype| {
        let predictions = Categorical::from_logits(tensor_on(&logits(), device, dtype)).unwrap();
        let labels = labels_on(&classes(), device);
        let test = OmnibusTest::new().with_redraws(199);
        let outcome = test.outcome(&predictions, &labels, &mut rng(9));
        let mut numbers = of_outcome("classes", outcome.unwrap());
        let mut ends = |name: &str, size: ErrorSize| {
            let interval = size.interval(0.95).unwrap();
            let ends = vec![interval.estimate, interval.lower, interval.upper];
            numbers.push((name.into(), ends));
        };
        let skce = Skce::unbiased(Kernel::exponential());
        ends("SKCE", skce.size(&predictions, &labels).unwrap());
        let overconfidence = Overconfidence::default();
        ends(
            "overconfidence",
            overconfidence.size(&predictions, &labels).unwrap(),
        );

        let means = random_rows(N, 1, 1.0, &mut rng(65));
        let scales = vec![vec![0.75]; N];
        let normal = Normal::new(
            tensor_on(&means, device, dtype),
            tensor_on(&scales, device, dtype),
        );
        let targets = tensor_on(&random_rows(N, 1, 2.0, &mut rng(66)), device, dtype);
        let outcome = test.outcome(&normal, &targets, &mut rng(9));
        numbers.extend(of_outcome("normal", outcome.unwrap()));
        numbers
    });
}

/// Multiples of 2⁻²⁰, so that ties are ties in f32 too; some rows coincide, some are one-hot.
fn coarse_probabilities(n: usize, m: usize) -> Vec<Vec<f64>> {
    let mut rows = random_probabilities(n, m, &mut rng(64));
    for p in rows.iter_mut().flatten() {
        *p = (*p * 1048576.0).round() / 1048576.0;
    }
    rows[1] = rows[0].clone();
    rows[2] = (0..m).map(|c| f64::from(c == 0)).collect();
    rows[3] = rows[2].clone();
    rows
}
