//! The sentences of a verdict: how the sizes of errors agree with it.

use burn_calibration::names::{self, Name};

use crate::prelude::*;

type Data = (Categorical, Tensor<1, Int>);

fn event(risks: &[f64], occurred: impl Fn(usize) -> bool) -> Data {
    let drawn: Vec<usize> = (0..risks.len()).map(|i| usize::from(occurred(i))).collect();
    (binary(risks).about(Subject::Event).unwrap(), labels(&drawn))
}

/// Risks that are too high by 0.08.
fn too_high() -> Data {
    let risks: Vec<f64> = (0..150).map(|i| 0.1 + 0.8 * f64::from(i) / 150.0).collect();
    event(&risks, |i| (0.618034 * i as f64) % 1.0 < risks[i] - 0.08)
}

/// A risk of 10 %, of which so many of 40,000 events occur.
fn many(events: usize) -> Data {
    event(&[0.1; 40_000], |i| i < events)
}

fn errors((predictions, labels): &Data) -> Vec<(Name, Interval)> {
    let event = Event::Class(1);
    let interval = |size: Result<ErrorSize, Error>| size.unwrap().interval(0.95).unwrap();
    let ratio = ObservedExpected::interval(event, predictions, labels, 0.95);
    let excess = Overconfidence { event }.size(predictions, labels);
    let ece = Tce::default().with_event(event).size(predictions, labels);
    vec![
        (names::OBSERVED_EXPECTED.with("a detail"), ratio.unwrap()),
        (names::OVERPREDICTION.with("points"), interval(excess)),
        (names::ECE_DEBIASED.with("points"), interval(ece)),
    ]
}

fn outcome((predictions, labels): &Data, redraws: usize) -> OmnibusOutcome {
    let test = OmnibusTest::new().with_redraws(redraws);
    omnibus(test, predictions, labels, 0)
}

#[test]
fn intervals_that_exclude_the_value_of_a_calibrated_model() {
    let data = too_high();
    let alone = outcome(&data, 999);
    assert!(!alone.is_rejected() && alone.sentences().len() == 1);
    let found = alone.beside(errors(&data));
    let sentence = "Some intervals exclude the value of a calibrated model: O/E (1), mean probability minus \
                    frequency (0). An interval is of one quantity by itself. The verdict is adjusted for all 9 aspects.";
    assert_eq!(found.sentences()[1..], [sentence]);
    // text and JSON have the same sentences
    assert!(
        found
            .to_string()
            .contains(&format!("{sentence}\n    omnibus test"))
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["verdict"], found.verdict());
    assert!(found.verdict().ends_with(sentence));
    // of several tests
    let together = OmnibusOutcome::together(vec![found.clone(), found.clone()]);
    let [_, sentence] = &together[0].sentences()[..] else {
        panic!("{together:?}");
    };
    assert!(sentence.ends_with("adjusted for all 9 aspects of all tests."));
    // intervals around the value of a calibrated model say nothing, and nor does a test without a verdict
    let around = found.beside(errors(&many(4000)));
    assert_eq!(around.sentences().len(), 1);
    let few = outcome(&data, 9).beside(errors(&data));
    assert_eq!((few.sentences().len(), few.least_p_value()), (1, Some(0.1)));
}

#[test]
fn errors_below_a_point() {
    let data = many(3800);
    let found = outcome(&data, 99).beside(errors(&data));
    assert!(found.is_rejected());
    let [_, sentence] = &found.sentences()[..] else {
        panic!("{found}");
    };
    let start = "The error is small: mean probability minus frequency 0.50 points [0.2";
    assert!(sentence.starts_with(start), "{sentence}");
    assert!(
        sentence.contains("], debiased ECE of order 2 0.4"),
        "{sentence}"
    );
    // of a larger error, of one that is not known, or where a label was all but excluded
    for errors in [
        errors(&too_high()),
        errors(&data)[1..2].to_vec(),
        Vec::new(),
    ] {
        assert_eq!(found.clone().beside(errors).sentences().len(), 1);
    }
    // of a rare event half a point is a quarter
    let rare = event(&[0.02; 20_000], |i| i < 300);
    let found = outcome(&rare, 99).beside(errors(&rare));
    assert!(
        found.is_rejected() && found.sentences().len() == 1,
        "{found}"
    );
    let mut risks = vec![0.1; 40_000];
    risks[0] = 1e-9;
    let excluded = event(&risks, |i| i < 3800);
    let found = outcome(&excluded, 99).beside(errors(&excluded));
    assert!(
        found.is_rejected() && found.sentences().len() == 1,
        "{found}"
    );
}
