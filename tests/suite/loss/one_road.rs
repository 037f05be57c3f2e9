//! Losses of predictions of every kind: shapes, dtypes, labels, padding and tiny batches.

use burn::{
    module::Module,
    nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig},
    tensor::activation,
};

use crate::prelude::*;

fn real_penalty() -> SkceLoss<TensorKernel<RealKernel>> {
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    SkceLoss::new(Skce::unbiased(kernel))
}

fn normal(mean: &[Vec<f64>]) -> Normal {
    let mean = tensor(mean);
    Normal::new(mean.clone(), mean.ones_like())
}

/// One-dimensional predictions with targets of two, and the reverse; another number of them.
#[test]
fn losses_of_distributions_check_shapes() {
    let (one, two) = (vec![vec![0.1]; 8], vec![vec![0.1, 0.2]; 8]);
    for (mean, targets) in [(&one, &two), (&two, &one)] {
        let (predictions, targets) = (normal(mean), tensor(targets));
        panics(|| real_penalty().forward(&predictions, &targets));
        panics(|| ScoreLoss::new(Crps).forward(&predictions, &targets));
        // in the words of what takes data
        let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
        refuses(Skce::unbiased(kernel).estimate(&predictions, &targets));
    }
    panics(|| real_penalty().forward(&normal(&one), &tensor(&one[..7])));
}

#[test]
fn mixed_dtypes_are_an_error() {
    let predictions = normal(&[vec![0.0], vec![1.0]]);
    let targets = tensor_on(&[[0.5], [0.5]], &device(), DType::F32);
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    refuses(Skce::unbiased(kernel).estimate(&predictions, &targets));
    refuses(Crps.upper_bound(&predictions, &targets));
    panics(|| real_penalty().forward(&predictions, &targets));
}

/// Labels that are no classes: the same words from every loss, fused or composed.
#[test]
fn labels_are_checked_alike() {
    let logits = tensor(&[[0.3, 0.1, -0.2]; 4]);
    for label in [-1i64, -100, 3] {
        let labels = Tensor::<1, burn::tensor::Int>::from_data([0, 1, label, 2], &device());
        let expected = format!("row 2: the label is {label}, expected a class in 0..3");
        for computation in [Computation::Auto, Computation::Fused, Computation::Composed] {
            let skce = SkceLossConfig::new().with_computation(computation).init();
            let found = panic_of(|| skce.forward(logits.clone(), labels.clone()));
            assert_eq!(found, expected);
            let mmce = MmceLossConfig::new().with_computation(computation).init();
            let found = panic_of(|| mmce.forward(logits.clone(), labels.clone()));
            assert_eq!(found, expected);
        }
        let criteria: [&dyn Criterion; 4] = [
            &ScoreLoss::new(Brier),
            &ScoreLoss::new(LogScore),
            &ScoreLoss::new(Spherical),
            &FocalLossConfig::new().init(),
        ];
        for criterion in criteria {
            let found = panic_of(|| criterion.value(&of_logits(logits.clone()), &labels));
            assert_eq!(found, expected);
        }
    }
}

/// With padding the value and the gradient are those of the batch without it.
#[test]
fn padding_does_not_count() {
    let mut rng = rng(81);
    let rows = random_rows(12, 4, 2.0, &mut rng);
    let classes = [0, 3, 1, 2, 3, 0, 1, 3, 2, 1, 0, 2];
    let pad = vec![3];
    let kept: Vec<usize> = (0..12).filter(|&i| classes[i] != 3).collect();
    let kept_rows: Vec<_> = kept.iter().map(|&i| rows[i].clone()).collect();
    let kept_classes: Vec<_> = kept.iter().map(|&i| classes[i]).collect();
    let kernel = exponential(0.3);
    fn pair(a: impl Criterion + 'static, b: impl Criterion + 'static) -> [Box<dyn Criterion>; 2] {
        [Box::new(a), Box::new(b)]
    }
    let mut pairs = Vec::new();
    for form in [SkceForm::Biased, SkceForm::Unbiased] {
        let loss = SkceLoss::new(Skce::new(kernel, form));
        pairs.push(pair(loss.clone().with_pad_tokens(pad.clone()), loss));
    }
    for form in [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased] {
        let config = MmceLossConfig::new().with_form(form).with_squared(true);
        let padded = config.clone().with_pad_tokens(Some(pad.clone()));
        pairs.push(pair(padded.init(), config.init()));
    }
    let focal = FocalLossConfig::new();
    let padded = focal.clone().with_pad_tokens(Some(pad.clone()));
    pairs.push(pair(padded.init(), focal.init()));
    let (brier, log) = (ScoreLoss::new(Brier), ScoreLoss::new(LogScore));
    pairs.push(pair(brier.clone().with_pad_tokens(pad.clone()), brier));
    pairs.push(pair(log.clone().with_pad_tokens(pad.clone()), log.clone()));
    // Burn's own, whose meaning of padding this is
    let burn = CrossEntropyLossConfig::new().with_pad_tokens(Some(pad.clone()));
    pairs.push(pair(burn.init(&device()), log));
    for (k, [padded, plain]) in pairs.iter().enumerate() {
        let run = |criterion: &dyn Criterion, rows: &[Vec<f64>], classes: &[usize]| {
            let labels = labels_on(classes, &device().autodiff());
            with_gradient(rows, DType::F64, |z| {
                criterion.value(&of_logits(z), &labels)
            })
        };
        let (value, gradient) = run(padded.as_ref(), &rows, &classes);
        let (expected, expected_gradient) = run(plain.as_ref(), &kept_rows, &kept_classes);
        assert!((value - expected).abs() < 1e-12, "{k}: {value} {expected}");
        for (at, &i) in kept.iter().enumerate() {
            for c in 0..4 {
                let difference = gradient[i * 4 + c] - expected_gradient[at * 4 + c];
                assert!(difference.abs() < 1e-12, "{k}: row {i}");
            }
        }
        for i in (0..12).filter(|&i| classes[i] == 3) {
            assert!(gradient[i * 4..][..4].iter().all(|g| *g == 0.0), "{k}");
        }
        // nothing counts: 0, and not NaN
        let (none, gradient) = run(padded.as_ref(), &rows[..3], &[3, 3, 3]);
        if k < pairs.len() - 1 {
            assert_eq!(none, 0.0, "{k}");
            all_finite(&gradient);
        }
    }
}

/// Blocks count the pairs of samples that count.
#[test]
fn padding_within_blocks() {
    let mut rng = rng(82);
    let rows = random_probabilities(6, 3, &mut rng);
    let classes = [0, 2, 1, 1, 0, 1];
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.4));
    let h = |i: usize, j: usize| {
        let distance = euclidean(&rows[i], &rows[j]);
        let delta = |k: usize, c: usize| f64::from(classes[k] == c) - rows[k][c];
        let dot: f64 = (0..3).map(|c| delta(i, c) * delta(j, c)).sum();
        (-0.5 * (distance / 0.4).powi(2)).exp() * dot
    };
    // blocks (0, 1, 2) and (3, 4, 5), without sample 1
    let pairs = [(0, 2), (3, 4), (3, 5), (4, 5)];
    let expected = pairs.iter().map(|&(i, j)| h(i, j)).sum::<f64>() / 4.0;
    let loss = SkceLoss::new(Skce::block(kernel, 3)).with_pad_tokens(vec![2]);
    let found = scalar(loss.value(&of_probabilities(tensor(&rows)), &labels(&classes)));
    assert!((found - expected).abs() < 1e-13, "{found} {expected}");
}

/// A batch of one sample is 0 with gradient 0, whatever the predictions are.
#[test]
fn tiny_batches_have_a_graph() {
    let device = device().autodiff();
    let raw = tensor_on(&[[0.3, 0.1]], &device, DType::F64).require_grad();
    let target = tensor_on(&[[1.0]], &device, DType::F64);
    let zero_with_gradient = |value: Tensor<1>, x: &Tensor<2>| {
        assert_eq!(scalar(value.clone()), 0.0);
        let gradient = x.grad(&value.backward()).expect("a gradient");
        assert!(vector(gradient).iter().all(|g| *g == 0.0));
    };
    let value = real_penalty().forward(&Normal::from_raw(raw.clone(), 1e-3), &target);
    zero_with_gradient(value, &raw);
    // each parameter has a gradient, not the first alone
    let scale = tensor_on(&[[0.5]], &device, DType::F64).require_grad();
    let mean = tensor_on(&[[0.5]], &device, DType::F64).require_grad();
    let predictions = Normal::new(mean.clone(), scale.clone());
    let value = real_penalty().forward(&predictions, &target);
    zero_with_gradient(value.clone(), &scale);
    zero_with_gradient(real_penalty().forward(&predictions, &target), &mean);
    let weights = tensor_on(&[[1.0, 2.0]], &device, DType::F64).require_grad();
    let raws = tensor_on(&[[0.3, 0.1], [0.1, 0.2]], &device, DType::F64);
    let components = Normal::from_raw(raws, 1e-3);
    let mixture = Mixture::from_logits(weights.clone(), components);
    zero_with_gradient(real_penalty().forward(&mixture, &target), &weights);
    let logits = tensor_on(&[[0.3, 0.1]], &device, DType::F64).require_grad();
    let penalty = SkceLossConfig::new().init();
    let value = penalty.forward(logits.clone(), labels_on(&[0], &device));
    zero_with_gradient(value, &logits);
}

/// A penalised loss of a regression, with its schedule.
#[test]
fn a_penalised_loss_of_distributions() {
    let means: Vec<Vec<f64>> = (0..6).map(|i| vec![0.3 * f64::from(i)]).collect();
    let (predictions, targets) = (normal(&means), tensor(&[[0.4]; 6]));
    let (weight, steps) = (4.0, 10);
    let schedule = WeightSchedule::WarmUp { weight, steps };
    let loss = PenalisedLoss::new(ScoreLoss::new(Crps), real_penalty(), schedule);
    let base = scalar(ScoreLoss::new(Crps).forward(&predictions, &targets));
    let penalty = scalar(real_penalty().forward(&predictions, &targets));
    for (step, weight) in [(0, 0.0), (5, 2.0), (100, 4.0)] {
        let found = scalar(loss.forward(&predictions, &targets, step));
        assert!((found - base - weight * penalty).abs() < 1e-14);
    }
    // a module that trains like any other
    assert_eq!(loss.clone().num_params(), 0);
}

/// A criterion of one's own is one function, for logits and for probabilities.
#[test]
fn a_criterion_of_ones_own() {
    #[derive(Module, Debug)]
    struct Entropy;
    impl Criterion for Entropy {
        fn value(&self, predictions: &Categorical, _: &Tensor<1, Int>) -> Tensor<1> {
            let p = predictions.probabilities();
            (p * predictions.log_probabilities()).sum_dim(1).mean()
        }
    }
    let (logits, labels) = (tensor(&[[1.0, 0.0], [0.0, 2.0]]), labels(&[0, 1]));
    let base: CrossEntropyLoss = CrossEntropyLossConfig::new().init(&device());
    let loss = PenalisedLoss::new(base, Entropy, WeightSchedule::Constant(0.5));
    let found = scalar(loss.forward(logits.clone(), labels.clone(), 0));
    let probabilities = activation::softmax(logits, 1);
    let same = scalar(loss.forward(Probabilities(probabilities), labels, 0));
    assert!((found - same).abs() < 1e-12 && found.is_finite());
}

/// The rows of Burn's own softmax are accepted in every dtype and for many classes, those that are no
/// distributions are not.
#[test]
fn probabilities_of_a_softmax_are_accepted() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for m in [2, 10, 100, 1000] {
            let rows = random_rows(20, m, 3.0, &mut rng(m as u64));
            let probabilities = activation::softmax(tensor_on(&rows, &device(), dtype), 1);
            let accepted = Categorical::from_probabilities(probabilities);
            assert!(accepted.is_ok(), "{dtype:?}, {m}: {accepted:?}");
        }
    }
    for m in [10_000, 32_000] {
        for spread in [1e-6, 1.0, 10.0] {
            let rows = random_rows(4, m, spread, &mut rng(5));
            let logits = tensor_on(&rows, &device(), DType::F32);
            let accepted = Categorical::from_probabilities(activation::softmax(logits, 1));
            assert!(accepted.is_ok(), "{m}, {spread}: {accepted:?}");
        }
    }
    // a sum that is off by a thousandth is no rounding in f32 or f64
    for dtype in [DType::F32, DType::F64] {
        let rows = tensor_on(&[[0.5, 0.501]], &device(), dtype);
        assert!(Categorical::from_probabilities(rows).is_err());
    }
    let rows = tensor_on(&[[0.5, 0.55]], &device(), DType::F16);
    assert!(Categorical::from_probabilities(rows).is_err());
}

/// One column is refused by name everywhere.
#[test]
fn binary_logits_of_one_column() {
    let (column, labels) = (tensor(&[[0.3], [-1.0]]), labels(&[0, 0]));
    refuses(Categorical::from_logits(column.clone()));
    let skce = SkceLossConfig::new().init();
    panics(|| skce.forward(column.clone(), labels.clone()));
    let mmce = MmceLossConfig::new().init();
    panics(|| mmce.forward(column.clone(), labels.clone()));
    panics(|| ScoreLoss::new(Brier).forward(column.clone(), labels.clone()));
    panics(|| mmce.forward(Probabilities(column), labels));
}

/// Predictions that were not checked when they were made are, where data are taken.
#[test]
fn unchecked_predictions_are_checked_as_data() {
    let labels = labels(&[0, 1]);
    let wrong = of_probabilities(tensor(&[[0.5, 0.5], [0.75, 0.5]]));
    refuses(Skce::unbiased(Kernel::exponential()).estimate(&wrong, &labels));
    refuses(Brier.upper_bound(&wrong, &labels));
    let wrong = of_logits(tensor(&[[0.5, f64::NAN], [0.75, 0.5]]));
    refuses(Accuracy.estimate(&wrong, &labels));
}

#[test]
fn accuracy_by_hand() {
    let predictions = categorical(&[[0.6, 0.4], [0.5, 0.5], [0.1, 0.9], [0.3, 0.7]]); // of a tie the first
    let accuracy = |classes| Accuracy.on(&predictions, &labels(classes));
    assert_eq!(accuracy(&[0, 0, 1, 1]), 1.0);
    assert_eq!(accuracy(&[0, 1, 1, 0]), 0.5);
    refuses(Accuracy.estimate(&predictions, &labels(&[0, 1, 2, 0])));
}

/// Predictions that were not checked when they were made are errors of every test, and no p-value.
#[test]
fn tests_check_unchecked_predictions() {
    let wrong = of_logits(tensor(&[
        [0.5, f64::NAN],
        [0.75, 0.5],
        [0.1, 0.2],
        [0.3, 0.2],
    ]));
    let labels = labels(&[0, 1, 0, 1]);
    let kernel = Kernel::exponential();
    let tests: [&dyn CalibrationTest; 11] = [
        &Summarised(OmnibusTest::new()),
        &AsymptoticSkceTest::new(kernel),
        &AsymptoticBlockSkceTest::linear(kernel),
        &DistributionFreeSkceTest::new(Skce::biased(kernel)),
        &CmeTest::new(kernel, 1),
        &ExactTest::new(Skce::unbiased(kernel)),
        &ExactTest::new(Mmce::default()),
        &ExactTest::new(Ece::default()),
        &ExactTest::new(Ece::top_label(5)),
        &ExactTest::new(KolmogorovSmirnov::default()),
        &ConsistencyTest::new(Ece::default()),
    ];
    for test in tests {
        refuses(test.outcome(&wrong, &labels, &mut rng(1)));
    }
    refuses(kernel.with_bandwidth_of_predictions(&wrong));
}

/// With padding, shapes and labels are checked as without.
#[test]
fn padded_batches_are_checked() {
    let (logits, labels) = (tensor(&[[0.5, 0.1], [0.75, 0.5]]), labels(&[0, 7]));
    let loss = SkceLossConfig::new().with_pad_tokens(Some(vec![1])).init();
    panics(|| loss.forward(logits.clone(), labels.clone()));
    panics(|| loss.forward(logits.slice(0..1), labels));
}
