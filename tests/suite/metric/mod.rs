//! Metrics of the trainer: values of whole epochs, and trainings that go on where they stopped.

mod devices;
mod epoch;
mod model;
mod names;
#[path = "../../../examples/distributed/quiet.rs"]
mod quiet;
mod resume;
mod training;
mod undefined;

use burn::{
    data::dataloader::Progress,
    tensor::{Int, Tensor},
    train::metric::{Metric, MetricMetadata, Numeric},
};
use burn_calibration::metric::{CalibrationInput, EpochMetric, Quantity};

pub fn metadata() -> MetricMetadata {
    MetricMetadata {
        progress: Progress::new(1, 1, None),
        iteration: None,
        lr: None,
    }
}

/// Feeds the rows to the metric in batches of the given sizes.
pub fn feed<Q: Quantity>(
    metric: &mut EpochMetric<Q>,
    output: &Tensor<2>,
    labels: &Tensor<1, Int>,
    sizes: &[usize],
) {
    let mut from = 0;
    for size in sizes {
        let rows = from..from + size;
        let batch = CalibrationInput {
            output: output.clone().slice(rows.clone()),
            labels: labels.clone().slice(rows),
        };
        let entry = metric.update(&batch, &metadata()).unwrap();
        assert!(entry.is_not_available(), "there is no value of a batch");
        assert!(metric.value().is_none() && metric.running_value().is_none());
        from += size;
    }
    assert_eq!(from, output.dims()[0], "all rows are fed");
}

/// The value when the epoch ends, as the trainer asks for it.
pub fn end_epoch<Q: Quantity>(metric: &mut EpochMetric<Q>) -> f64 {
    let entry = metric.compute().unwrap();
    let value = metric.final_value().current();
    let logged = burn::train::metric::NumericEntry::deserialize(&entry.serialized).unwrap();
    assert_eq!(
        logged.current().to_bits(),
        value.to_bits(),
        "logged exactly"
    );
    metric.clear();
    value
}
