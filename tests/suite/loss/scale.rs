//! Scales of the SKCE as a penalty: the root and the z-score.

use burn::{nn::loss::CrossEntropyLossConfig, tensor::activation};

use crate::prelude::*;

fn fixed(kernel: Kernel) -> Kernel {
    kernel.with_bandwidth(Bandwidth::Fixed(0.4))
}

#[test]
fn root_of_the_biased_form() {
    let mut rng = rng(1);
    let logits = random_rows(7, 3, 2.0, &mut rng);
    let classes = labels(&random_labels(7, 3, &mut rng));
    let loss = SkceLoss::root(fixed(Kernel::gaussian()));
    let square = Skce::biased(fixed(Kernel::gaussian()));
    let square = scalar(square.value(&of_logits(tensor(&logits)), &classes));
    let value = scalar(loss.forward(tensor(&logits), classes.clone()));
    assert!((value - square.sqrt()).abs() < 1e-14);
    check_gradient(&logits, 1e-5, |x| loss.forward(x, classes.clone()));
}

/// All right and certain: 0 with gradient 0, and the same for a single sample.
#[test]
fn no_error_has_no_gradient() {
    for n in [1, 4] {
        let logits = vec![vec![800.0, 0.0]; n];
        for loss in [
            SkceLossConfig::root().init(),
            SkceLossConfig::standardised().init(),
        ] {
            let gradient = gradient(&logits, |x| loss.forward(x, labels(&vec![0; n])));
            assert!(gradient.iter().all(|g| *g == 0.0), "{gradient:?}");
        }
    }
}

#[test]
fn scales_of_other_forms_panic() {
    let unbiased = SkceLossConfig::new().with_form(SkceForm::Unbiased);
    panics(|| unbiased.with_scale(SkceScale::Root).init());
    let blocks = SkceLoss::new(Skce::linear(Kernel::gaussian()));
    panics(|| blocks.with_scale(SkceScale::Standardised));
}

/// The standard deviation of the estimate over all sets of labels, weighted by what the model predicts.
fn deviation_by_enumeration<K: JointKernel<Categorical>>(kernel: &K, rows: &[Vec<f64>]) -> f64 {
    let skce = Skce::unbiased(kernel.clone());
    let term = |(classes, probability): (Vec<usize>, f64)| {
        let value = scalar(skce.value(&categorical(rows), &labels(&classes)));
        probability * value * value
    };
    let variance: f64 = labellings(rows).map(term).sum();
    variance.sqrt()
}

/// Exact, in one pass over the pairs and by tensor operations, for a matrix-valued kernel too.
#[test]
fn deviation_of_classes() {
    let mut rng = rng(2);
    // near ½, so that the deviation is above its floor
    let near = random_rows(9, 1, 0.2, &mut rng);
    let rows: Vec<Vec<f64>> = near.iter().map(|x| vec![0.5 + x[0], 0.5 - x[0]]).collect();
    let classes = labels(&random_labels(9, 2, &mut rng));
    let agrees = |found: f64, expected: f64| {
        assert!(expected > 2.1 / 72.0, "{expected} is below the floor");
        assert_near(found, expected, 1e-13);
    };
    for profile in [
        Kernel::exponential(),
        Kernel::gaussian(),
        Kernel::matern32(),
    ] {
        let kernel = fixed(profile);
        let expected = deviation_by_enumeration(&kernel, &rows);
        let predictions = categorical(&rows);
        let all = Tensor::<1, Int>::ones([9], &device()).bool();
        for kept in [None, Some(all)] {
            let found = kernel.null_deviation(&predictions, &classes, kept);
            agrees(scalar(found), expected);
        }
        let matrix = [vec![1.0, 0.2], vec![0.2, 1.5]];
        let kernel = MatrixKernel::from_rows(kernel, &matrix).unwrap();
        let expected = deviation_by_enumeration(&kernel, &rows);
        let found = kernel.null_deviation(&predictions, &classes, None);
        agrees(scalar(found), expected);
    }
}

/// Where nothing can vary, what one pair makes.
#[test]
fn floor_of_the_deviation() {
    let predictions = categorical(&[[1.0, 0.0]; 5]);
    let kernel = fixed(Kernel::gaussian());
    let found = kernel.null_deviation(&predictions, &labels(&[0; 5]), None);
    assert!((scalar(found) - 2.0 / 20.0).abs() < 1e-15);
}

/// More samples than a block of the pass has, in f32 and f64.
#[test]
fn deviation_in_one_pass_and_by_tensors() {
    let mut rng = rng(3);
    for (n, m) in [(2, 2), (33, 5), (70, 12)] {
        let rows = random_probabilities(n, m, &mut rng);
        let classes = labels(&random_labels(n, m, &mut rng));
        let all = Tensor::<1, Int>::ones([n], &device()).bool();
        let kernel = fixed(Kernel::exponential());
        for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F32, 1e-5)] {
            let predictions = of_probabilities(tensor_on(&rows, &device(), dtype));
            let by_pass = scalar(kernel.null_deviation(&predictions, &classes, None));
            let by_tensors =
                scalar(kernel.null_deviation(&predictions, &classes, Some(all.clone())));
            let difference = (by_pass / by_tensors - 1.0).abs();
            assert!(difference < tolerance, "{by_pass}, by tensors {by_tensors}");
        }
    }
}

/// Of a calibrated model the z-score has mean 0 and standard deviation 1, whatever the model.
#[test]
fn z_score_of_calibrated_models() {
    let mut rng = rng(4);
    let sets = simulated(2000);
    for (n, m, power) in [(64, 2, 1), (64, 10, 1), (200, 5, 4)] {
        let rows = random_probabilities(n, m, &mut rng);
        let rows = softmax_rows(&mapped(&rows, |p| f64::from(power) * p.ln()));
        let (predictions, loss) = (categorical(&rows), SkceLossConfig::standardised().init());
        let score = |_| scalar(loss.forward(&predictions, &predictions.sample(&mut rng)));
        let scores: Vec<f64> = (0..sets).map(score).collect();
        let mean = mean(&scores);
        let variance = scores.iter().map(|z| z * z).sum::<f64>() / sets as f64;
        // standard errors: 1/√sets of the mean, 4.5 times that of the variance, whose tail is long
        let error = (sets as f64).sqrt().recip();
        assert!(mean.abs() < 4.0 * error, "mean {mean} of n = {n}, m = {m}");
        assert_near_in((n, m), variance, 1.0, 13.5 * error);
    }
}

/// No gradient flows through the standard deviation.
#[test]
fn gradient_of_the_z_score() {
    let mut rng = rng(5);
    let logits = random_rows(9, 3, 2.0, &mut rng);
    let classes = labels(&random_labels(9, 3, &mut rng));
    let kernel = fixed(Kernel::gaussian());
    let loss = SkceLoss::standardised(kernel);
    let skce = SkceLoss::new(Skce::unbiased(kernel));
    let found = gradient(&logits, |x| loss.forward(x, classes.clone()));
    let deviation = scalar(kernel.null_deviation(&of_logits(tensor(&logits)), &classes, None));
    let expected = gradient(&logits, |x| skce.forward(x, classes.clone()));
    let expected: Vec<f64> = expected.iter().map(|g| g / deviation).collect();
    all_near(found, expected, 1e-12);
}

/// Rows of padding do not count on any scale.
#[test]
fn padding() {
    let mut rng = rng(6);
    let logits = random_rows(8, 3, 2.0, &mut rng);
    let kernel = fixed(Kernel::gaussian());
    for loss in [SkceLoss::root(kernel), SkceLoss::standardised(kernel)] {
        let padded = loss.clone().with_pad_tokens(vec![2]);
        let found = scalar(padded.forward(tensor(&logits), labels(&[0, 1, 2, 0, 1, 1, 2, 0])));
        let left: Vec<_> = [0, 1, 3, 4, 5, 7].map(|row| logits[row].clone()).into();
        let expected = scalar(loss.forward(tensor(&left), labels(&[0, 1, 0, 1, 1, 0])));
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }
}

/// Of real predictions the variance is that of the data, `h_ij²`, fused and composed.
#[test]
fn deviation_of_real_predictions() {
    let mut rng = rng(7);
    let n = 20;
    let raw = tensor(&random_rows(n, 2, 1.0, &mut rng));
    let targets = tensor(&random_rows(n, 1, 1.0, &mut rng));
    let predictions = Normal::from_raw(raw, 0.1);
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(0.7));
    let kernel = kernel.with_bandwidth(Bandwidth::Fixed(0.8));
    let skce = Skce::unbiased(kernel);
    let squares = pairs(n).map(|(i, j)| {
        let rows = Tensor::<1, Int>::from_ints([i as i32, j as i32], &device());
        let pair = predictions.select_rows(&[i, j]);
        scalar(skce.value(&pair, &targets.clone().select(0, rows))).powi(2)
    });
    let expected = (4.0 * squares.sum::<f64>()).sqrt() / (n * (n - 1)) as f64;
    let deviation = scalar(kernel.null_deviation(&predictions, &targets, None));
    assert_near(deviation, expected, 1e-13);

    let (fused, median) = (SkceLoss::standardised(kernel), Bandwidth::Median);
    let composed = SkceLoss::new(skce.with_computation(Computation::Composed));
    let ratio = scalar(composed.forward(&predictions, &targets)) / expected;
    assert!((scalar(fused.forward(&predictions, &targets)) - ratio).abs() < 1e-11);
    let at_median = SkceLoss::standardised(kernel.with_bandwidth(median));
    assert!(scalar(at_median.forward(&predictions, &targets)).is_finite());
}

/// Networks begin with logits that hardly differ: with a smooth kernel and the floor of a median bandwidth,
/// gradients of a penalty are at most a few times those of the cross-entropy, whatever their spread.
#[test]
fn gradients_at_every_spread() {
    let mut rng = rng(8);
    let base_loss = CrossEntropyLossConfig::new().init(&device().autodiff());
    let norm = |gradient: Vec<f64>| gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    for (n, m) in [(128, 2), (128, 10), (64, 100)] {
        let base = random_rows(n, m, 1.7, &mut rng);
        let balanced = labels(&(0..n).map(|i| i % m).collect::<Vec<_>>());
        let drawn = labels(&random_labels(n, m, &mut rng));
        for classes in [&balanced, &drawn] {
            for spread in [1.0, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8] {
                let logits: Vec<Vec<f64>> = mapped(&base, |x| spread * x);
                let of = |loss: &dyn Fn(Tensor<2>) -> Tensor<1>| norm(gradient(&logits, loss));
                let base =
                    of(&|x| base_loss.forward(x, classes.clone().to_device(&device().autodiff())));
                for (loss, weight) in [
                    (SkceLoss::new(Skce::unbiased(Kernel::gaussian())), 4.0),
                    (SkceLoss::new(Skce::unbiased(Kernel::exponential())), 4.0),
                    (SkceLossConfig::new().init(), 12.0),
                    (SkceLoss::root(Kernel::gaussian()), 1.0),
                    (SkceLoss::standardised(Kernel::gaussian()), 0.03),
                    (SkceLoss::standardised(Kernel::exponential()), 0.03),
                ] {
                    let penalty = weight * of(&|x| loss.forward(x, classes.clone()));
                    assert!(
                        penalty <= 6.0 * base,
                        "{penalty} beside {base}: {loss:?}, spread {spread}, n = {n}, m = {m}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_median_has_a_floor_in_training() {
    let mut rng = rng(9);
    let near = random_rows(12, 3, 1e-3, &mut rng);
    let apart = random_rows(12, 3, 3.0, &mut rng);
    let classes = labels(&random_labels(12, 3, &mut rng));
    let value = |rows: &[Vec<f64>], bandwidth, computation| {
        let kernel = Kernel::exponential().with_bandwidth(bandwidth);
        let skce = Skce::unbiased(kernel).with_computation(computation);
        scalar(SkceLoss::new(skce).forward(tensor(rows), classes.clone()))
    };
    for computation in [Computation::Auto, Computation::Composed] {
        let of = |rows: &[Vec<f64>], bandwidth| value(rows, bandwidth, computation);
        let floor = of(&near, Bandwidth::Fixed(TRAINING_FLOOR));
        let share = |share| Bandwidth::MedianAtLeast(share);
        assert!((of(&near, Bandwidth::Median) - floor).abs() < 1e-15);
        assert!((of(&near, share(0.0)) - floor).abs() > 1e-6);
        let points = activation::softmax(tensor(&apart), 1);
        let median = Kernel::exponential().with_bandwidth_of(&points);
        let median = median.unwrap().bandwidth;
        assert!((of(&apart, Bandwidth::Median) - of(&apart, median)).abs() < 1e-14);
        assert!((of(&apart, share(2.0)) - of(&apart, Bandwidth::Fixed(2.0))).abs() < 1e-14);
    }
}

/// The floor of real predictions is in units of their own spread, on data and in training.
#[test]
fn the_floor_of_real_predictions() {
    let mut rng = rng(10);
    let location = tensor(&random_rows(10, 1, 1e-4, &mut rng));
    let targets = tensor(&random_rows(10, 1, 1.0, &mut rng));
    for unit in [1e-3, 1.0, 1e3] {
        let predictions = Normal::new(location.clone() * unit, location.ones_like() * 2.0 * unit);
        let kernel = Kernel::wasserstein().with_bandwidth(Bandwidth::MedianAtLeast(0.1));
        let fixed = kernel.with_bandwidth_of_predictions(&predictions).unwrap();
        assert_relative(fixed_bandwidth(&fixed), 0.2 * unit, 1e-12);
        for computation in [Computation::Auto, Computation::Composed] {
            let value = |kernel| {
                let kernel = TensorKernel::new(kernel, RealKernel::gaussian(unit));
                let skce = Skce::unbiased(kernel).with_computation(computation);
                scalar(SkceLoss::new(skce).forward(&predictions, &(targets.clone() * unit)))
            };
            let (median, fixed) = (value(Kernel::wasserstein()), value(fixed));
            assert!((median - fixed).abs() < 1e-12 * fixed.abs().max(1e-3));
        }
    }
}

/// A training that diverges: distances overflow before the predictions do, and there is no panic.
#[test]
fn a_median_that_overflows() {
    let device = device().autodiff();
    let column = |numbers: &[f32]| {
        let numbers = Tensor::<1>::from_data(numbers, (&device, DType::F32));
        numbers.unsqueeze_dim::<2>(1)
    };
    let far = [-3e38, 1e38, 3e38, 2e38, -1e38, 0.0f32];
    let targets = column(&[0.0, 1.0, -1.0, 0.5, 2.0, 0.1]);
    for (means, scales) in [(far, [1.0f32; 6]), ([0.0; 6], far.map(|x| x.abs() + 1.0))] {
        for target in [RealKernel::gaussian(1.0), RealKernel::laplacian(1.0)] {
            let means = column(&means).require_grad();
            let normal = Normal::new(means.clone(), column(&scales));
            let kernel = TensorKernel::new(Kernel::wasserstein(), target);
            for skce in [Skce::unbiased(kernel), Skce::biased(kernel)] {
                let value = SkceLoss::new(skce).forward(&normal, &targets);
                let gradients = value.backward();
                assert_eq!(means.grad(&gradients).unwrap().dims(), [6, 1]);
            }
            // the variable of a conditional kernel, as a user has it
            let given = Given::new(normal, column(&far));
            let value = SkceLoss::new(Skce::unbiased(kernel)).forward(&given, &targets);
            let _ = value.backward();
        }
    }
}

#[test]
fn a_floor_must_be_a_number() {
    for share in [-0.1, f64::NAN, f64::INFINITY] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::MedianAtLeast(share));
        let error = kernel.validate().unwrap_err().to_string();
        contains(&error, "the floor of a median bandwidth");
    }
}
