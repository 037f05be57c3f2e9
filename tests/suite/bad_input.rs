//! Every kind of bad data gives the error that names it, with its place and its value.

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::Categorical,
    error::Error,
    estimator::{Ece, Estimator, Mmce, MmceForm, Skce},
    hypothesis::*,
    kernel::{Bandwidth, Kernel},
    loss::{MmceLossConfig, PenalisedLoss, SkceLossConfig, WeightSchedule},
    recalibration::{
        Fit, MatrixScaling, Recalibration, TemperatureScaling, TemperatureScalingConfig,
        VectorScaling,
    },
    score::{Brier, Score},
};

use crate::data::*;

fn message(result: Result<impl std::fmt::Debug, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn predictions() {
    let logits = |rows: &[Vec<f64>]| message(Categorical::from_logits(tensor(rows)));
    let probabilities = |rows: &[Vec<f64>]| message(Categorical::from_probabilities(tensor(rows)));
    assert_eq!(
        logits(&[vec![0.0, 1.0], vec![0.0, f64::NAN]]),
        "row 1, class 1: the logit is NaN, expected a finite number"
    );
    assert_eq!(
        logits(&[vec![0.0, 1.0, f64::NEG_INFINITY]]),
        "row 0, class 2: the logit is -inf, expected a finite number"
    );
    assert_eq!(
        probabilities(&[vec![0.5, 0.5], vec![0.5, 0.51]]),
        "row 1: the probabilities sum to 1.01, expected 1 within 1e-5"
    );
    assert_eq!(
        probabilities(&[vec![1.5, -0.5]]),
        "row 0, class 0: the probability is 1.5, expected a number in [0, 1]"
    );
    assert_eq!(
        probabilities(&[vec![f64::INFINITY, 0.0]]),
        "row 0, class 0: the probability is inf, expected a finite number"
    );
    let empty = Tensor::<2>::zeros([0, 3], &device());
    let message = message(Categorical::from_logits(empty));
    assert_eq!(
        message,
        "a set of predictions needs at least 1 samples, got 0"
    );
    assert_eq!(
        logits(&[vec![1.0], vec![2.0]]),
        "the predictions have 1 columns, expected at least 2 classes; of two classes with log-odds z the logits are (0, z)"
    );
}

#[test]
fn labels_of_every_entry_point() {
    let predictions = categorical(&vec![vec![0.5, 0.5]; 4]);
    let kernel = Kernel::exponential();
    let check = |classes: &[i64], expected: &str| {
        let labels = burn::tensor::Tensor::from_data(
            burn::tensor::TensorData::new(classes.to_vec(), [classes.len()]),
            &device(),
        );
        let test =
            |test: &dyn CalibrationTest| message(test.evaluate(&predictions, &labels, &mut rng(0)));
        let logits = tensor(&vec![vec![0.5, 0.2]; 4]);
        let messages = [
            message(Skce::biased(kernel).estimate(&predictions, &labels)),
            message(Skce::linear(kernel).estimate(&predictions, &labels)),
            message(Mmce::default().estimate(&predictions, &labels)),
            message(Ece::default().estimate(&predictions, &labels)),
            message(Brier.upper_bound(&predictions, &labels)),
            message(predictions.top_label(&labels)),
            message(predictions.class_wise(0, &labels)),
            test(&AsymptoticSkceTest::new(kernel)),
            test(&AsymptoticBlockSkceTest::linear(kernel)),
            test(&DistributionFreeSkceTest::new(Skce::biased(kernel))),
            message(TemperatureScalingConfig::new().fit(logits.clone(), labels.clone())),
            message(TemperatureScalingConfig::new().fit_by(
                &SkceLossConfig::new().init(),
                logits,
                labels.clone(),
            )),
        ];
        messages
            .iter()
            .for_each(|message| assert_eq!(message, expected));
    };
    check(
        &[0, 1, 2, 0],
        "row 2: the label is 2, expected a class in 0..2",
    );
    check(
        &[0, -1, 0, 1],
        "row 1: the label is -1, expected a class in 0..2",
    );
    check(
        &[0, 1],
        "4 predictions but 2 labels, expected as many of one as of the other",
    );
}

#[test]
fn too_few_samples() {
    let kernel = Kernel::exponential();
    let (one, label) = (categorical(&[vec![0.5, 0.5]]), labels(&[0]));
    let unbiased = "an unbiased estimate of the SKCE needs at least 2 samples, got 1";
    assert_eq!(
        message(Skce::unbiased(kernel).estimate(&one, &label)),
        unbiased
    );
    assert_eq!(
        message(Skce::linear(kernel).estimate(&one, &label)),
        unbiased
    );
    assert!(Skce::biased(kernel).estimate(&one, &label).is_ok());
    let mmce = message(Mmce::new(MmceForm::Unbiased).estimate(&one, &label));
    assert_eq!(
        mmce,
        "an unbiased estimate of the MMCE needs at least 2 samples, got 1"
    );
    let evaluate = |test: &dyn CalibrationTest| message(test.evaluate(&one, &label, &mut rng(0)));
    assert!(
        evaluate(&AsymptoticSkceTest::new(kernel)).ends_with("needs at least 2 samples, got 1")
    );
    assert_eq!(evaluate(&AsymptoticBlockSkceTest::linear(kernel)), unbiased);
    assert_eq!(
        evaluate(&DistributionFreeSkceTest::new(Skce::unbiased(kernel))),
        unbiased
    );

    let (three, labels) = (categorical(&vec![vec![0.5, 0.5]; 3]), labels(&[0, 1, 0]));
    assert_eq!(
        message(Skce::block(kernel, 4).estimate(&three, &labels)),
        "blocks of 4 samples from 3 samples, expected a size in 2..=3"
    );
    assert_eq!(
        message(Skce::block(kernel, 1).estimate(&three, &labels)),
        "blocks of 1 samples from 3 samples, expected a size in 2..=3"
    );
    let test = AsymptoticBlockSkceTest::new(kernel, 2);
    assert_eq!(
        message(test.evaluate(&three, &labels, &mut rng(0))),
        "the asymptotic test of two blocks needs at least 4 samples, got 3"
    );
}

#[test]
fn parameters() {
    let (predictions, labels) = (
        categorical(&vec![vec![0.75, 0.25]; 4]),
        labels(&[0, 0, 0, 0]),
    );
    for (bandwidth, shown) in [
        (0.0, "0"),
        (-1.0, "-1"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
    ] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(bandwidth));
        let expected =
            format!("the kernel bandwidth is {shown}, expected a positive finite number");
        assert_eq!(
            message(Skce::unbiased(kernel).estimate(&predictions, &labels)),
            expected
        );
        let mmce = Mmce {
            bandwidth,
            ..Mmce::default()
        };
        assert_eq!(message(mmce.estimate(&predictions, &labels)), expected);
        let init = std::panic::catch_unwind(|| SkceLossConfig::new().with_kernel(kernel).init());
        assert!(init.is_err());
    }
    let evaluate =
        |test: &dyn CalibrationTest| message(test.evaluate(&predictions, &labels, &mut rng(0)));
    assert_eq!(
        evaluate(&AsymptoticBlockSkceTest::linear(Kernel::exponential())),
        "all 2 block estimates equal 0.125, the asymptotic normal test needs their variance to be positive"
    );
    assert_eq!(
        evaluate(&ConsistencyTest::new(Ece::default()).with_replicates(0)),
        "the number of replicates is 0, expected at least 1"
    );
    assert_eq!(
        message(predictions.class_wise(2, &labels)),
        "the class of a class-wise lens is 2, expected a column of the predictions"
    );
    assert_eq!(
        message(Ece::top_label(0).estimate(&predictions, &labels)),
        "the number of bins is 0, expected at least 1"
    );
    assert_eq!(
        message(TemperatureScaling::from_temperature(-2.0, &device())),
        "the temperature is -2, expected a positive finite number"
    );
}

/// Squares of bandwidths and of logits are numbers, or there is an error.
#[test]
fn scales_whose_squares_are_no_numbers() {
    let (rows, classes) = (tensor(&vec![vec![0.75, 0.25]; 4]), labels(&[0, 1, 0, 0]));
    let predictions = categorical(&vec![vec![0.75, 0.25]; 4]);
    for bandwidth in [1e-160, 1e160, 5e-324] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(bandwidth));
        assert_eq!(
            message(Skce::unbiased(kernel).estimate(&predictions, &classes)),
            format!(
                "the kernel bandwidth is {bandwidth:e}, expected a number from 1e-100 to 1e100"
            )
        );
    }
    let fit = |factor: f64| {
        let logits = tensor(&vec![vec![factor, 0.0]; 4]);
        let config = TemperatureScalingConfig::new().with_prior(None);
        config.fit(logits, classes.clone())
    };
    assert_eq!(
        message(fit(1e200)),
        "the largest logit in absolute value is 1e200, expected at most 1e100"
    );
    assert_eq!(
        message(fit(1e-200)),
        "the largest difference between two logits of a row is 1e-200, expected 0, or at least 1e-100"
    );
    for factor in [1e-90, 1.0, 1e90] {
        let map = fit(factor).unwrap();
        let expected = factor / 3f64.ln();
        assert!((map.temperature() / expected - 1.0).abs() < 1e-9);
    }
    let matrix =
        MatrixScaling::from_parameters(vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0], &device());
    assert_eq!(vector(matrix.unwrap().forward(rows))[..2], [6.25, 9.25]);
    assert_eq!(
        message(VectorScaling::from_parameters(
            vec![1.0; 3],
            vec![0.0; 2],
            &device()
        )),
        "the number of weights is 3, expected that of the intercepts for a vector, its square for a matrix"
    );
    assert_eq!(
        message(VectorScaling::from_parameters(
            vec![1.0, f64::NAN],
            vec![0.0; 2],
            &device()
        )),
        "a parameter is NaN, expected a finite number"
    );
}

#[test]
#[should_panic(expected = "the unbiased MMCE can be negative and has no root")]
fn no_root_of_the_unbiased_mmce() {
    MmceLossConfig::new().with_form(MmceForm::Unbiased).init();
}

#[test]
#[should_panic(expected = "expected finite weights of at least 0")]
fn no_negative_weight_of_a_penalty() {
    let loss = SkceLossConfig::new().init();
    PenalisedLoss::new(loss.clone(), loss, WeightSchedule::Constant(-1.0));
}

#[test]
#[should_panic(expected = "the logits have 2 classes, expected 3, those of the vector scaling")]
fn logits_of_another_width_than_the_map() {
    let map = VectorScaling::from_parameters(vec![1.0; 3], vec![0.0; 3], &device()).unwrap();
    map.forward(tensor(&[vec![0.0, 1.0]]));
}
