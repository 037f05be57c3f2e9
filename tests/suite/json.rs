//! Results as JSON.

use std::fmt::Debug;

use burn_calibration::{
    diagram::{CorpReliability, PitDiagram, QuantileDiagram},
    estimator::regression::{Ence, Pit, QuantileCalibration},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::prelude::*;

/// Reads what was written.
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_value(value).unwrap(); // numbers as they are, and not as text
    assert_eq!(&serde_json::from_value::<T>(json).unwrap(), value);
}

/// Results whose fields are numbers are read back as they were.
#[test]
fn results_are_read_back() {
    let rows = random_probabilities(80, 2, &mut rng(4));
    let (predictions, labels) = (
        categorical(&rows),
        labels(&random_labels(80, 2, &mut rng(5))),
    );
    let event = Event::Class(1);
    comes_back(&Cox::new(event).fit(&predictions, &labels).unwrap());
    comes_back(&Ici::new(event).errors(&predictions, &labels).unwrap());
    comes_back(&Corp::of(&Brier, event, &predictions, &labels).unwrap());
    comes_back(
        &CorpReliability::new(event)
            .diagram(&predictions, &labels)
            .unwrap(),
    );
    comes_back(&Guarantees::NONE);
    comes_back(&RefinementError);
    let zeros = Tensor::<2>::zeros([60, 1], &device());
    let predictions = Normal::new(zeros.clone(), zeros.ones_like());
    let targets = predictions.sample(&mut rng(7));
    comes_back(&Ence::new(4).bins(&predictions, &targets).unwrap());
    let curve = QuantileCalibration::default()
        .curve(&predictions, &targets)
        .unwrap();
    comes_back(&curve);
    comes_back(&QuantileDiagram::new(curve, 60, 0.95).unwrap());
    let pit = Pit::new(&predictions, &targets).unwrap();
    comes_back(&PitDiagram::new(&pit, 5, 0.95).unwrap());
    comes_back(&pit.histogram(0, 5).unwrap());
    comes_back(&pit.kolmogorov_smirnov(0));
}
