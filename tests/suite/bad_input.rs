//! Every kind of bad data gives the error that names it, with its place and its value.

use crate::prelude::*;

#[test]
fn predictions() {
    let logits = |rows: &[Vec<f64>]| refuses(Categorical::from_logits(tensor(rows)));
    let probabilities = |rows: &[Vec<f64>]| refuses(Categorical::from_probabilities(tensor(rows)));
    logits(&[vec![0.0, 1.0], vec![0.0, f64::NAN]]);
    logits(&[vec![0.0, 1.0, f64::NEG_INFINITY]]);
    probabilities(&[vec![0.5, 0.5], vec![0.5, 0.51]]);
    probabilities(&[vec![1.5, -0.5]]);
    probabilities(&[vec![f64::INFINITY, 0.0]]);
    let empty = Tensor::<2>::zeros([0, 3], &device());
    refuses(Categorical::from_logits(empty));
    logits(&[vec![1.0], vec![2.0]]);
}

#[test]
fn labels_of_every_entry_point() {
    let predictions = categorical(&[[0.5, 0.5]; 4]);
    let kernel = Kernel::exponential();
    fn message<T>(result: Result<T, Error>) -> String {
        result.err().expect("an error").to_string()
    }
    for classes in [&[0i64, 1, 2, 0][..], &[0, -1, 0, 1], &[0, 1]] {
        let labels = Tensor::<1, Int>::from_data(classes, &device());
        let test =
            |test: &dyn CalibrationTest| message(test.outcome(&predictions, &labels, &mut rng(0)));
        let logits = tensor(&[[0.5, 0.2]; 4]);
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
        messages.iter().for_each(|m| assert_eq!(m, &messages[0]));
        says(&messages[0]);
    }
}

#[test]
fn too_few_samples() {
    let kernel = Kernel::exponential();
    let (one, label) = (categorical(&[[0.5, 0.5]]), labels(&[0]));
    refuses(Skce::unbiased(kernel).estimate(&one, &label));
    refuses(Skce::linear(kernel).estimate(&one, &label));
    assert!(Skce::biased(kernel).estimate(&one, &label).is_ok());
    refuses(Mmce::new(MmceForm::Unbiased).estimate(&one, &label));
    let evaluate = |test: &dyn CalibrationTest| refuses(test.outcome(&one, &label, &mut rng(0)));
    evaluate(&AsymptoticSkceTest::new(kernel));
    evaluate(&AsymptoticBlockSkceTest::linear(kernel));
    evaluate(&DistributionFreeSkceTest::new(Skce::unbiased(kernel)));

    let (three, labels) = (categorical(&[[0.5, 0.5]; 3]), labels(&[0, 1, 0]));
    refuses(Skce::block(kernel, 4).estimate(&three, &labels));
    refuses(Skce::block(kernel, 1).estimate(&three, &labels));
    let test = AsymptoticBlockSkceTest::new(kernel, 2);
    refuses(test.outcome(&three, &labels, &mut rng(0)));
}

#[test]
fn parameters() {
    let predictions = categorical(&[[0.75, 0.25]; 4]);
    let labels = labels(&[0, 0, 0, 0]);
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(bandwidth));
        refuses(Skce::unbiased(kernel).estimate(&predictions, &labels));
        let mmce = Mmce {
            bandwidth,
            ..Mmce::default()
        };
        refuses(mmce.estimate(&predictions, &labels));
        panics(|| SkceLossConfig::new().with_kernel(kernel).init());
    }
    let evaluate =
        |test: &dyn CalibrationTest| refuses(test.outcome(&predictions, &labels, &mut rng(0)));
    evaluate(&AsymptoticBlockSkceTest::linear(Kernel::exponential()));
    evaluate(&ConsistencyTest::new(Ece::default()).with_replicates(0));
    refuses(predictions.class_wise(2, &labels));
    refuses(Ece::top_label(0).estimate(&predictions, &labels));
    refuses(TemperatureScaling::from_temperature(-2.0, &device()));
}

/// Squares of bandwidths and of logits are numbers, or there is an error.
#[test]
fn scales_whose_squares_are_no_numbers() {
    let (rows, classes) = (tensor(&[[0.75, 0.25]; 4]), labels(&[0, 1, 0, 0]));
    let predictions = categorical(&[[0.75, 0.25]; 4]);
    for bandwidth in [1e-160, 1e160, 5e-324] {
        let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(bandwidth));
        refuses(Skce::unbiased(kernel).estimate(&predictions, &classes));
    }
    let fit = |factor: f64| {
        let logits = tensor(&[[factor, 0.0]; 4]);
        let config = without_prior();
        config.fit(logits, classes.clone())
    };
    refuses(fit(1e200));
    refuses(fit(1e-200));
    for factor in [1e-90, 1.0, 1e90] {
        let map = fit(factor).unwrap();
        let expected = factor / 3f64.ln();
        assert!((map.temperature() / expected - 1.0).abs() < 1e-9);
    }
    let matrix =
        MatrixScaling::from_parameters(vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0], &device());
    assert_eq!(vector(matrix.unwrap().forward(rows))[..2], [6.25, 9.25]);
    refuses(VectorScaling::from_parameters(
        vec![1.0; 3],
        vec![0.0; 2],
        &device(),
    ));
    refuses(VectorScaling::from_parameters(
        vec![1.0, f64::NAN],
        vec![0.0; 2],
        &device(),
    ));
}

#[test]
fn settings_and_widths_of_no_meaning_panic() {
    panics(|| MmceLossConfig::new().with_form(MmceForm::Unbiased).init());
    panics(|| FocalLossConfig::new().with_gamma(-1.0).init());
    panics(|| PinballLossConfig::new(vec![0.5, 1.0]).init());
    let loss = SkceLossConfig::new().init();
    panics(|| PenalisedLoss::new(loss.clone(), loss, WeightSchedule::Constant(-1.0)));
    let map = VectorScaling::from_parameters(vec![1.0; 3], vec![0.0; 3], &device()).unwrap();
    panics(|| map.forward(tensor(&[[0.0, 1.0]])));
    let wide = Normal::new(tensor(&[[0.0, 1.0]]), tensor(&[[1.0, 1.0]]));
    panics(|| ScoreLoss::new(Crps).forward(&wide, &column([0.0])));
}

/// Each error of a chain says something that the one above it does not.
#[test]
fn no_source_is_said_twice() {
    use std::error::Error as _;
    let [one, two] = [1, 2].map(|n| categorical(&vec![[0.5, 0.5]; n]));
    let error = Brier.improvement(&two, &one, &labels(&[0, 1])).unwrap_err();
    assert!(matches!(error, Error::Recalibration { .. }), "{error}");
    let source = error.source().map(|source| source.to_string());
    assert!(source.is_none_or(|source| !error.to_string().contains(&source)));
}

/// A matrix of so many classes that its fit would take all memory.
#[test]
fn a_matrix_of_too_many_classes() {
    let logits = tensor(&[vec![0.5; 10_000], vec![0.25; 10_000]]);
    let fit = |kind: MapKind| kind.config(0).fit(logits.clone(), labels(&[0, 1]));
    for kind in [
        MapKind::Matrix,
        MapKind::Dirichlet,
        MapKind::StructuredMatrix,
    ] {
        refuses(fit(kind));
    }
}
