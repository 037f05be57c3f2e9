//! What a report can be asked for that it cannot give.

use burn_calibration::{
    diagram::Reliability,
    distribution::Categorical,
    estimator::{Binning, Event},
};
use burn_calibration_report::ReportBuilder;

use crate::data::*;
use crate::support::binary;

#[test]
fn errors_name_the_cause() {
    let predictions = binary(&[0.5, 0.6]);
    let drawn = labels(&[0, 1]);
    let message = |reliability: Reliability| {
        let error = reliability.diagram(&predictions, &drawn).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message(Reliability::default().with_level(1.0)),
        "the level of a consistency band is 1, expected a number between 0 and 1, both excluded"
    );
    assert_eq!(
        message(Reliability::new(Event::Class(2))),
        "the class of a class-wise lens is 2, expected a column of the predictions"
    );
    assert_eq!(
        message(Reliability::default().with_binning(Binning::Uniform { bins: 0 })),
        "the number of bins is 0, expected at least 1"
    );
    let build = |builder: ReportBuilder<Categorical>| builder.build().unwrap_err().to_string();
    let builder = ReportBuilder::new(&predictions, &drawn);
    assert_eq!(
        build(builder.clone().with_class_names(["a"])),
        "the number of class names is 1, expected one for each class"
    );
    let three = categorical(&[vec![0.2, 0.3, 0.5], vec![0.2, 0.3, 0.5]]);
    assert_eq!(
        build(builder.clone().with_after(&three)),
        "the predictions have 3 classes, expected 2"
    );
    let short = binary(&[0.5]);
    assert_eq!(
        build(builder.with_after(&short)),
        "1 predictions but 2 labels, expected the same number of both"
    );
}
