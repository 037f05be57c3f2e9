//! Every kind of bad data gives the error that names it, with its place and its value.

use crate::data::*;

fn message(result: Result<impl std::fmt::Debug, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn predictions() {
    let logits = |rows: &[Vec<f64>]| message(Categorical::from_logits(tensor(rows)));
    let probabilities = |rows: &[Vec<f64>]| message(Categorical::from_probabilities(tensor(rows)));
    says(logits(&[vec![0.0, 1.0], vec![0.0, f64::NAN]]));
    says(logits(&[vec![0.0, 1.0, f64::NEG_INFINITY]]));
    says(probabilities(&[vec![0.5, 0.5], vec![0.5, 0.51]]));
    says(probabilities(&[vec![1.5, -0.5]]));
    says(probabilities(&[vec![f64::INFINITY, 0.0]]));
    let empty = Tensor::<2>::zeros([0, 3], &device());
    let message = message(Categorical::from_logits(empty));
    says(message);
    says(logits(&[vec![1.0], vec![2.0]]));
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
            |test: &dyn CalibrationTest| message(test.outcome(&predictions, &labels, &mut rng(0)));
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
        "4 predictions but 2 labels, expected the same number of both",
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
    says(mmce);
    let evaluate = |test: &dyn CalibrationTest| message(test.outcome(&one, &label, &mut rng(0)));
    assert!(
        evaluate(&AsymptoticSkceTest::new(kernel)).ends_with("needs at least 2 samples, got 1")
    );
    assert_eq!(evaluate(&AsymptoticBlockSkceTest::linear(kernel)), unbiased);
    assert_eq!(
        evaluate(&DistributionFreeSkceTest::new(Skce::unbiased(kernel))),
        unbiased
    );

    let (three, labels) = (categorical(&vec![vec![0.5, 0.5]; 3]), labels(&[0, 1, 0]));
    says(message(Skce::block(kernel, 4).estimate(&three, &labels)));
    says(message(Skce::block(kernel, 1).estimate(&three, &labels)));
    let test = AsymptoticBlockSkceTest::new(kernel, 2);
    says(message(test.outcome(&three, &labels, &mut rng(0))));
}

#[test]
fn parameters() {
    let predictions = categorical(&vec![vec![0.75, 0.25]; 4]);
    let labels = labels(&[0, 0, 0, 0]);
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
        |test: &dyn CalibrationTest| message(test.outcome(&predictions, &labels, &mut rng(0)));
    says(evaluate(&AsymptoticBlockSkceTest::linear(
        Kernel::exponential(),
    )));
    says(evaluate(
        &ConsistencyTest::new(Ece::default()).with_replicates(0),
    ));
    says(message(predictions.class_wise(2, &labels)));
    says(message(Ece::top_label(0).estimate(&predictions, &labels)));
    says(message(TemperatureScaling::from_temperature(
        -2.0,
        &device(),
    )));
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
    says(message(fit(1e200)));
    says(message(fit(1e-200)));
    for factor in [1e-90, 1.0, 1e90] {
        let map = fit(factor).unwrap();
        let expected = factor / 3f64.ln();
        assert!((map.temperature() / expected - 1.0).abs() < 1e-9);
    }
    let matrix =
        MatrixScaling::from_parameters(vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0], &device());
    assert_eq!(vector(matrix.unwrap().forward(rows))[..2], [6.25, 9.25]);
    says(message(VectorScaling::from_parameters(
        vec![1.0; 3],
        vec![0.0; 2],
        &device(),
    )));
    says(message(VectorScaling::from_parameters(
        vec![1.0, f64::NAN],
        vec![0.0; 2],
        &device(),
    )));
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
