//! What a report can be asked for that it cannot give.

use burn_calibration::diagram::Reliability;
use burn_calibration_report::ReportBuilder;

use burn_calibration_testing::data::*;

#[test]
fn errors_name_the_cause() {
    let predictions = binary(&[0.5, 0.6]);
    let drawn = labels(&[0, 1]);
    let diagram = |reliability: Reliability| refuses(reliability.diagram(&predictions, &drawn));
    diagram(Reliability::default().with_level(1.0));
    diagram(Reliability::new(Event::Class(2)));
    diagram(Reliability::default().with_binning(Binning::Uniform { bins: 0 }));
    let build = |builder: ReportBuilder<Categorical>| refuses(builder.build());
    let builder = ReportBuilder::new(&predictions, &drawn);
    build(builder.clone().with_class_names(["a"]));
    let three = categorical(&[vec![0.2, 0.3, 0.5], vec![0.2, 0.3, 0.5]]);
    build(builder.clone().with_after(&three));
    let short = binary(&[0.5]);
    build(builder.with_after(&short));
}
