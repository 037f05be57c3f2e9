//! What is no prediction has no number: NaN, with the reason as text.

use burn::train::metric::{Metric, Numeric};
use burn_calibration::{
    metric::{CalibrationInput, EpochMetric, PValue, Quantity},
    prelude::*,
};

use super::{end_epoch, feed, metadata};

use crate::prelude::*;

const NAN: f64 = f64::NAN;

/// The text of the entry of an epoch whose value is undefined, and that the next epoch has a value.
fn reason<Q: Quantity>(mut metric: EpochMetric<Q>, batches: &[(&[Vec<f64>], &[usize])]) -> String {
    for (output, y) in batches {
        let batch = CalibrationInput {
            output: tensor(output),
            labels: labels(y),
        };
        metric.update(&batch, &metadata()).unwrap();
    }
    let entry = metric.compute().unwrap();
    assert_eq!(entry.serialized, "NaN,final");
    assert!(metric.final_value().current().is_nan());
    metric.clear();

    let rows = [vec![0.75, 0.25], vec![0.5, 0.5], vec![0.25, 0.75]];
    feed(&mut metric, &tensor(&rows), &labels(&[0, 1, 0]), &[2, 1]);
    assert!(end_epoch(&mut metric).is_finite());
    entry.formatted
}

#[test]
fn rows_and_labels_are_named() {
    let good: (&[Vec<f64>], &[usize]) = (&[vec![0.5, 0.5], vec![0.25, 0.75]], &[0, 1]);
    let ece = || EpochMetric::from_probabilities(Ece::default());
    let logits = EpochMetric::from_logits(LogScore);
    assert_eq!(
        reason(
            logits,
            &[good, (&[vec![1.0, 2.0], vec![NAN, 0.0]], &[0, 1])]
        ),
        "epoch NaN: row 3, class 0: the logit is NaN, expected a finite number"
    );
    assert_eq!(
        reason(ece(), &[good, (&[vec![0.5, 0.75]], &[0])]),
        "epoch NaN: row 2: the probabilities sum to 1.25, expected 1 within 1e-5"
    );
    assert_eq!(
        reason(ece(), &[good, (&[vec![0.5, 0.5]], &[2])]),
        "epoch NaN: row 2: the label is 2, expected a class in 0..2"
    );
    assert_eq!(
        reason(ece(), &[good, (&[vec![0.5, 0.25, 0.25]], &[2])]),
        "epoch NaN: the predictions have 3 classes, expected 2"
    );
    assert_eq!(
        reason(ece(), &[good, (&[vec![0.5, 0.5]], &[0, 1])]),
        "epoch NaN: 1 prediction but 2 labels, expected the same number of both"
    );
    assert_eq!(
        reason(
            EpochMetric::from_probabilities(LogScore),
            &[(&[vec![1.0, 0.0]], &[1])]
        ),
        "epoch NaN: row 0: the log score of class 1 is infinite, expected a finite number"
    );
}

#[test]
fn too_few_samples_are_no_number() {
    let one: (&[Vec<f64>], &[usize]) = (&[vec![0.5, 0.5]], &[0]);
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5));
    let skce = EpochMetric::from_probabilities(Skce::unbiased(kernel));
    assert_eq!(
        reason(skce, &[one]),
        "epoch NaN: an unbiased estimate of the SKCE needs at least 2 samples, got 1"
    );
    let p_value = PValue::new("p-value", AsymptoticSkceTest::new(kernel), 0);
    let text = reason(EpochMetric::from_probabilities(p_value), &[one]);
    contains(&text, "at least 2 samples, got 1");
}

#[test]
fn an_epoch_without_batches_has_no_value() {
    let mut metric = EpochMetric::from_logits(Ece::default());
    let entry = metric.compute().unwrap();
    assert!(entry.is_not_available());
    assert!(metric.value().is_none());
    assert!(metric.final_value().current().is_nan()); // Burn asks for it all the same
}
