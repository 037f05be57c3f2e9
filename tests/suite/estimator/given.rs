//! Predictions given a variable: the pair statistic, fused and composed, and its gradients.

use burn::nn::loss::CrossEntropyLossConfig;
use proptest::prelude::*;

use crate::prelude::*;

const FORMS: [SkceForm; 3] = [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(4)];

/// `k(z, z')·δᵀδ'` by loops.
pub(super) fn by_loops(
    z: &[Vec<f64>],
    rows: &[Vec<f64>],
    classes: &[usize],
    kernel: &Kernel,
) -> Vec<Vec<f64>> {
    let gram = vector(kernel.gram(tensor(z).unsqueeze()));
    pair_statistic_by(rows, classes, |i, j| gram[i * z.len() + j])
}

fn of_form(h: &[Vec<f64>], form: SkceForm) -> f64 {
    match form {
        SkceForm::Biased => biased(h),
        SkceForm::Block(size) => in_blocks(h, size),
        _ => unbiased(h),
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Every kernel and form: estimate and value, fused and composed, as loops.
    #[test]
    fn classes_as_by_loops(n in 4usize..20, m in 2usize..5, d in 1usize..4, seed in 0u64..1000) {
        let mut rng = rng(seed);
        let rows = random_probabilities(n, m, &mut rng);
        let classes = random_labels(n, m, &mut rng);
        let z = random_rows(n, d, 1.0, &mut rng);
        let given = Given::new(categorical(&rows), tensor(&z));
        let y = labels(&classes);
        for kernel in kernels() {
            let h = by_loops(&z, &rows, &classes, &kernel);
            for form in FORMS {
                let expected = of_form(&h, form);
                for computation in [Computation::Auto, Computation::Fused, Computation::Composed] {
                    let skce = Skce::new(kernel, form).with_computation(computation);
                    let estimate = skce.on(&given, &y);
                    let value = scalar(skce.value(&given, &y));
                    prop_assert!((estimate - expected).abs() < 1e-13, "{estimate}, {expected}");
                    prop_assert!((value - expected).abs() < 1e-13, "{value}, {expected}");
                }
            }
        }
    }
}

/// With the predictions in the place of `z` it is the ordinary SKCE: values, medians, gradients, and with
/// a matrix; of normal predictions, Laplace ones, mixtures and samples.
#[test]
fn the_predictions_themselves() {
    let mut rng = rng(5);
    let rows = random_rows(14, 3, 2.0, &mut rng);
    let classes = random_labels(14, 3, &mut rng);
    let y = labels(&classes);
    let matrix = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]];
    let matrix = MatrixKernel::from_rows(Kernel::gaussian(), &matrix).unwrap();
    fn value<K>(kernel: &K, form: SkceForm, logits: Tensor<2>, y: &Tensor<1, Int>) -> [Tensor<1>; 2]
    where
        K: JointKernel<Categorical> + JointKernel<Given<Categorical>>,
    {
        let predictions = of_logits(logits);
        let points = predictions.probabilities();
        let given = Given::attached(predictions.clone(), points);
        let skce = Skce::new(kernel.clone(), form);
        [skce.value(&predictions, y), skce.value(&given, y)]
    }
    for form in FORMS {
        let both: [&dyn Fn(Tensor<2>) -> [Tensor<1>; 2]; 3] = [
            &|x| value(&Kernel::exponential(), form, x, &y),
            &|x| value(&Kernel::gaussian(), form, x, &y),
            &|x| value(&matrix, form, x, &y),
        ];
        for of in both {
            let [alone, given] = of(tensor(&rows));
            assert_relative_eq!(scalar(alone), scalar(given), epsilon = 1e-14);
            let [alone, given] = [0, 1].map(|k| gradient(&rows, |x| of(x)[k].clone()));
            all_near(&alone, &given, 1e-12);
        }
    }

    fn check<P: Geometry<Targets = Tensor<2>>>(predictions: P)
    where
        RealKernel: TargetKernel<P::Unconditional> + TargetKernel<P>,
    {
        let targets = predictions.sample(&mut crate::data::rng(6));
        let points = predictions.coordinates().unwrap();
        let given = Given::new(predictions.clone(), points);
        for target in [RealKernel::gaussian(0.8), RealKernel::laplacian(0.8)] {
            let kernel = TensorKernel::wasserstein(target);
            for form in FORMS {
                for computation in [Computation::Auto, Computation::Composed] {
                    let skce = Skce::new(kernel, form).with_computation(computation);
                    let alone = skce.on(&predictions, &targets);
                    let estimate = skce.on(&given, &targets);
                    assert_relative_eq!(alone, estimate, epsilon = 1e-12);
                    let value = scalar(skce.value(&given, &targets));
                    let alone = scalar(skce.value(&predictions, &targets));
                    assert_relative_eq!(alone, value, epsilon = 1e-12);
                }
            }
        }
    }
    let mut parameters = |d| {
        let mean = tensor(&random_rows(13, d, 1.0, &mut rng));
        (mean.clone(), mean.sin() * 0.3 + 0.7)
    };
    let ((a, b), (c, d)) = (parameters(1), parameters(2));
    check(Normal::new(a.clone(), b.clone()));
    check(Normal::new(c, d));
    check(Laplace::new(a.clone(), b.clone()));
    check(Mixture::ensemble(&[Normal::new(a, b)]));
}

/// By central differences: through logits, through an attached variable, through parameters of normal and
/// Laplace predictions; a detached variable has none.
#[test]
fn gradients() {
    let mut rng = rng(9);
    let n = 9;
    let rows = random_rows(n, 3, 1.0, &mut rng);
    let z = random_rows(n, 2, 1.0, &mut rng);
    let y = labels(&random_labels(n, 3, &mut rng));
    for kernel in kernels() {
        for form in FORMS {
            for computation in [Computation::Auto, Computation::Composed] {
                let skce = Skce::new(kernel, form).with_computation(computation);
                let loss = SkceLoss::new(skce);
                let on =
                    |x: &Tensor<2>, rows: &[Vec<f64>]| tensor_on(rows, &x.device(), DType::F64);
                check_gradient(&rows, 1e-5, |x| {
                    let given = Given::new(of_logits(x.clone()), on(&x, &z));
                    loss.forward(&given, &y)
                });
                check_gradient(&z, 1e-5, |x| {
                    let given = Given::attached(of_logits(on(&x, &rows)), x);
                    loss.forward(&given, &y)
                });
            }
        }
    }
    let raw = random_rows(n, 2, 1.0, &mut rng);
    let targets = tensor(&random_rows(n, 1, 1.5, &mut rng));
    for target in [RealKernel::gaussian(0.9), RealKernel::laplacian(0.9)] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.6));
        let loss = SkceLoss::new(Skce::unbiased(TensorKernel::new(kernel, target)));
        let check = |of: &dyn Fn(Tensor<2>) -> Tensor<1>| check_gradient(&raw, 1e-5, of);
        check(&|x| loss.forward(&Given::new(Normal::from_raw(x, 0.1), tensor(&z)), &targets));
        check(&|x| {
            let laplace = Laplace::new(x.clone().slice([0..n, 0..1]), x.slice([0..n, 1..2]).exp());
            loss.forward(&Given::new(laplace, tensor(&z)), &targets)
        });
    }
    let x = tensor_on(&z, &device().autodiff(), DType::F64).require_grad();
    let logits = tensor_on(&rows, &device().autodiff(), DType::F64).require_grad();
    let given = Given::new(of_logits(logits), x.clone());
    let loss = SkceLoss::new(Skce::unbiased(Kernel::gaussian())).forward(&given, &y);
    assert!(x.grad(&loss.backward()).is_none());
}

/// The base loss sees the predictions, the penalty the variable: for classes and for normal predictions;
/// padded samples do not count, and a batch of one sample is 0 with gradient 0.
#[test]
fn penalised_losses() {
    let mut rng = rng(10);
    let (n, weight) = (8, 3.0);
    let rows = random_rows(n, 3, 1.0, &mut rng);
    let z = random_rows(n, 2, 1.0, &mut rng);
    let y = labels(&random_labels(n, 3, &mut rng));
    let constant = WeightSchedule::Constant(weight);
    let penalty = SkceLoss::new(Skce::unbiased(Kernel::gaussian()));
    let base = CrossEntropyLossConfig::new().init(&device());
    let loss = PenalisedLoss::new(base.clone(), penalty.clone(), constant);
    let given = Given::new(of_logits(tensor(&rows)), tensor(&z));
    let expected = scalar(base.forward(tensor(&rows), y.clone()))
        + weight * scalar(penalty.forward(&given, &y));
    assert_near(scalar(loss.forward(&given, &y, 0)), expected, 1e-14);

    let raw = tensor(&random_rows(n, 2, 1.0, &mut rng));
    let given = Given::new(Normal::from_raw(raw.clone(), 0.1), tensor(&z));
    let targets = tensor(&random_rows(n, 1, 1.0, &mut rng));
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    let real = SkceLoss::new(Skce::unbiased(kernel));
    let crps = ScoreLoss::new(burn_calibration::score::Crps);
    let loss = PenalisedLoss::new(crps.clone(), real.clone(), constant);
    let expected = scalar(crps.forward(given.predictions(), &targets))
        + weight * scalar(real.forward(&given, &targets));
    assert_near(scalar(loss.forward(&given, &targets, 0)), expected, 1e-14);

    // without padding
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.7));
    let penalty = SkceLoss::new(Skce::unbiased(kernel));
    let classes = [0, 1, 2, 0, 1, 2, 2, 1];
    let of = |kept: &[usize]| {
        let part =
            |rows: &[Vec<f64>]| tensor(&kept.iter().map(|&i| rows[i].clone()).collect::<Vec<_>>());
        let y: Vec<usize> = kept.iter().map(|&i| classes[i]).collect();
        (Given::new(of_logits(part(&rows)), part(&z)), labels(&y))
    };
    let (all, y) = of(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let (few, few_y) = of(&[0, 1, 3, 4, 7]);
    let padded = penalty.clone().with_pad_tokens(vec![2]).forward(&all, &y);
    assert_near(scalar(padded), scalar(penalty.forward(&few, &few_y)), 1e-14);

    let x = tensor_on(&rows[..1], &device().autodiff(), DType::F64).require_grad();
    let z = tensor_on(&z[..1], &device().autodiff(), DType::F64);
    let one = Given::new(of_logits(x.clone()), z);
    let value = penalty.forward(&one, &labels(&[1]));
    assert_eq!(vector(x.grad(&value.clone().backward()).unwrap()), [0.0; 3]);
    assert_eq!(scalar(value), 0.0);
}

/// Rows that are wrong have their numbers; shapes are asserted; a constant variable and one of any scale
/// are no error, with a median bandwidth.
#[test]
fn degenerate_variables() {
    let mut rng = rng(11);
    let rows = random_probabilities(6, 2, &mut rng);
    let y = labels(&[0, 1, 1, 0, 1, 0]);
    for value in [f64::NAN, f64::INFINITY] {
        let mut z = vec![vec![0.0, 1.0]; 6];
        z[4][1] = value;
        let given = Given::new(categorical(&rows), tensor(&z));
        refuses(Skce::unbiased(Kernel::gaussian()).estimate(&given, &y));
    }
    let narrow = |n| Given::new(categorical(&rows), tensor(&vec![vec![0.0]; n]));
    panic_of(|| narrow(5).len());
    let constant = narrow(6);
    let unit = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0));
    let expected = Skce::unbiased(unit).on(&constant, &y);
    for kernel in [
        Kernel::gaussian(),
        Kernel::exponential(),
        Kernel::matern32(),
    ] {
        let estimate = Skce::unbiased(kernel).on(&constant, &y);
        assert_relative_eq!(estimate, expected, epsilon = 1e-15);
        let z = random_rows(6, 2, 1.0, &mut rng);
        let at = |scale: f64| {
            let given = Given::new(categorical(&rows), tensor(&z) * scale);
            Skce::unbiased(kernel).on(&given, &y)
        };
        assert_relative_eq!(at(1e-6), at(1.0), epsilon = 1e-12);
        assert_relative_eq!(at(1e6), at(1.0), epsilon = 1e-12);
    }
    let one = Given::new(categorical(&rows[..1]), tensor(&[[1.0]]));
    refuses(Skce::unbiased(Kernel::gaussian()).estimate(&one, &labels(&[0])));
}

/// The moments of the null distribution are exact, without a draw: as over all labels.
#[test]
fn null_moments_by_enumeration() {
    let mut data = rng(12);
    let n = 6;
    let rows = random_probabilities(n, 2, &mut data);
    let z = tensor(&random_rows(n, 2, 1.0, &mut data));
    let given = Given::new(categorical(&rows), z);
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        let kernel = kernel.with_distance(Distance::Euclidean);
        let kernel = kernel.with_bandwidth(Bandwidth::Fixed(0.8));
        let skce = Skce::unbiased(kernel);
        let (mut second, mut third) = (0.0, 0.0);
        for (classes, probability) in labellings(&rows) {
            let t = n as f64 * skce.on(&given, &labels(&classes));
            second += probability * t * t;
            third += probability * t.powi(3);
        }
        for seed in [1, 2] {
            let variance = null_variance(&kernel, &given, &mut rng(seed)).unwrap();
            let skewness = null_skewness(&kernel, &given, &mut rng(seed)).unwrap();
            assert_relative(variance, second, 1e-12);
            assert_relative(skewness, third / second.powf(1.5), 1e-10);
        }
        let least = 2.0 / (n * (n - 1)) as f64; // one pair with the largest h
        let deviation = (second.sqrt() / n as f64).max(least);
        for classes in [[0; 6], [1; 6]] {
            let found = scalar(kernel.null_deviation(&given, &labels(&classes), None));
            assert_relative(found, deviation, 1e-12);
        }
    }
}
