use burn_calibration::{
    diagram::{PitDiagram, QuantileDiagram},
    estimator::regression::{Pit, QuantileCalibration},
};
use burn_calibration_report::ReportBuilder;

use crate::support::standard;
use burn_calibration_testing::data::*;

#[test]
fn errors_name_the_cause() {
    let (predictions, targets) = standard(4, 1, 1.0, &mut rng(5));
    let pit = Pit::new(&predictions, &targets).unwrap();
    let of_pit = |bins, level| refuses(PitDiagram::new(&pit, bins, level));
    of_pit(10, 1.0);
    of_pit(1, 0.9);
    of_pit(0, 0.9);
    let curve = QuantileCalibration::default().curve(&predictions, &targets);
    let of_curve =
        |values, level| refuses(QuantileDiagram::new(curve.clone().unwrap(), values, level));
    of_curve(4, f64::NAN);
    of_curve(0, 0.5);

    let builder = ReportBuilder::new(&predictions, &targets);
    let build = |builder: ReportBuilder<Normal>| refuses(builder.build());
    let (two, _) = standard(4, 2, 1.0, &mut rng(6));
    build(builder.clone().with_after(&two));
    let (short, _) = standard(3, 1, 1.0, &mut rng(6));
    build(builder.clone().with_after(&short));
    let flat = Normal::new(predictions.means(), predictions.means());
    build(ReportBuilder::new(&flat, &targets));
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    build(builder.with_kernel(kernel.with_bandwidth(Bandwidth::Fixed(0.0))));
}
