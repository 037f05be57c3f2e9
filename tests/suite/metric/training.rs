//! Metrics in a real training.

use burn::train::{
    MetricEarlyStoppingStrategy, StoppingCondition,
    metric::{
        LossMetric, Metric,
        store::{Aggregate, Direction, Split},
    },
};
use burn_calibration::{
    metric::{EpochMetric, PValue},
    prelude::*,
};

use super::model::{Batch, Model, digits, learner, loader, logged, training};

use super::quiet::Quiet;
use crate::prelude::*;

const CONSTANT: WeightSchedule = WeightSchedule::Constant(1.0);

#[test]
fn logged_values_are_those_of_the_estimators() {
    let directory = tempfile::tempdir().unwrap();
    let digits = digits(250);
    let (train, valid) = digits.split_at(150);
    let kernel = Kernel::exponential();
    let test = AsymptoticSkceTest::new(kernel);
    let p_value = EpochMetric::from_logits(PValue::new("p-value", test, 5));
    let p_value_name = p_value.name();

    let result = training(directory.path(), loader(train, 50), loader(valid, 30))
        .num_epochs(2)
        .metrics((
            EpochMetric::from_logits(Ece::default()),
            EpochMetric::from_logits(Cwce::default()),
            EpochMetric::from_logits(Skce::unbiased(kernel)),
            EpochMetric::from_logits(Mmce::default()),
            EpochMetric::from_logits(Brier),
            EpochMetric::from_logits(LogScore),
        ))
        .metric_valid_numeric(p_value)
        .launch(learner(Model::new(CONSTANT), 0.02));
    assert!(result.error.is_none());

    // the trained model on the validation data, by hand; in the same batches, since the rounding
    // of a matrix product may depend on its shape
    let logits = valid
        .chunks(30)
        .map(|rows| result.model.logits(&Batch::new(rows, &device())));
    let predictions = Categorical::from_logits(Tensor::cat(logits.collect(), 0)).unwrap();
    let labels = Batch::new(valid, &device()).labels;
    let score =
        |score: &dyn Score<Categorical>| score.upper_bound(&predictions, &labels).unwrap().estimate;
    let outcome = test.outcome(&predictions, &labels, &mut rng(5)).unwrap();
    let expected = [
        (
            "ECE",
            Ece::default().estimate(&predictions, &labels).unwrap(),
        ),
        (
            "Class-wise ECE",
            Cwce::default().estimate(&predictions, &labels).unwrap(),
        ),
        (
            "SKCE",
            Skce::unbiased(kernel)
                .estimate(&predictions, &labels)
                .unwrap(),
        ),
        (
            "MMCE",
            Mmce::default().estimate(&predictions, &labels).unwrap(),
        ),
        ("Brier score", score(&Brier)),
        ("Log loss", score(&LogScore)),
        (&p_value_name, outcome.p_value),
    ];
    for (name, expected) in expected {
        let value = logged(directory.path(), 2, name);
        assert_eq!(value, Some(format!("{expected},final")), "{name}");
        if name != p_value_name.as_str() {
            // which is 0.001 or less in both
            assert_ne!(value, logged(directory.path(), 1, name), "{name}");
        }
    }
}

/// The epochs after which a training of at most four stops.
fn epochs(learning_rate: f64) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let digits = digits(100);
    let (train, valid) = digits.split_at(60);
    let log_loss = EpochMetric::from_logits(LogScore);
    let result = training(directory.path(), loader(train, 30), loader(valid, 15))
        .num_epochs(4)
        .early_stopping(MetricEarlyStoppingStrategy::new(
            &log_loss,
            Aggregate::Mean,
            Direction::Lowest,
            Split::Valid,
            StoppingCondition::NoImprovementSince { n_epochs: 1 },
        ))
        .metric_valid_numeric(log_loss)
        .launch(learner(Model::new(CONSTANT), learning_rate));
    assert!(result.error.is_none());
    let logged = |epoch| logged(directory.path(), epoch, "Log loss").is_some();
    (1..=4).take_while(|&epoch| logged(epoch)).count()
}

#[test]
fn stops_early_on_validation_log_loss() {
    assert_eq!(epochs(0.02), 4, "it falls in every epoch");
    assert_eq!(epochs(0.0), 2, "it stays the same in the second");
}

/// An image of NaNs among the validation data: the training goes on, and says why there is no value.
#[test]
fn undefined_values_do_not_stop_a_training() {
    let directory = tempfile::tempdir().unwrap();
    let mut digits = digits(60);
    digits[47].0.fill(f32::NAN);
    let (train, valid) = digits.split_at(40);
    let renderer = Quiet::default();
    let result = training(directory.path(), loader(train, 20), loader(valid, 5))
        .renderer(Box::new(renderer.clone()))
        .num_epochs(2)
        .metric_valid_numeric(EpochMetric::from_logits(Ece::default()))
        .metric_train_numeric(LossMetric::new())
        .summary()
        .launch(learner(Model::new(CONSTANT), 0.02));
    assert!(result.error.is_none());
    for epoch in [1, 2] {
        let value = logged(directory.path(), epoch, "ECE");
        assert_eq!(value.as_deref(), Some("NaN,final"));
    }
    let text = "epoch NaN: row 7, class 0: the logit is NaN, expected a finite number";
    assert_eq!(*renderer.entries.lock().unwrap(), [text, text]);
}
