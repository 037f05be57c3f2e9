use burn_calibration::{
    diagram::{PitDiagram, QuantileDiagram},
    distribution::{Marginals, Normal},
    estimator::regression::{Pit, QuantileCalibration},
    kernel::{Bandwidth, RealKernel, TensorKernel},
};
use burn_calibration_report::ReportBuilder;

use crate::data::*;
use crate::support::standard;

#[test]
fn errors_name_the_cause() {
    let (predictions, targets) = standard(4, 1, 1.0, &mut rng(5));
    let pit = Pit::new(&predictions, &targets).unwrap();
    let message = |bins, level| PitDiagram::new(&pit, bins, level).unwrap_err().to_string();
    assert_eq!(
        message(10, 1.0),
        "the level of a consistency band is 1, expected a number between 0 and 1, both excluded"
    );
    assert_eq!(
        message(1, 0.9),
        "the number of bins is 1, expected at least 2"
    );
    assert_eq!(
        message(0, 0.9),
        "the number of bins is 0, expected at least 2"
    );
    let curve = QuantileCalibration::default().curve(&predictions, &targets);
    let message = |values, level| {
        let diagram = QuantileDiagram::new(curve.clone().unwrap(), values, level);
        diagram.unwrap_err().to_string()
    };
    assert_eq!(
        message(4, f64::NAN),
        "the level of a consistency band is NaN, expected a number between 0 and 1, both excluded"
    );
    assert_eq!(
        message(0, 0.5),
        "a quantile diagram needs at least 1 samples, got 0"
    );

    let builder = ReportBuilder::new(&predictions, &targets);
    let build = |builder: ReportBuilder<Normal>| builder.build().unwrap_err().to_string();
    let (two, _) = standard(4, 2, 1.0, &mut rng(6));
    assert_eq!(
        build(builder.clone().with_after(&two)),
        "the targets have 2 dimensions, expected 1"
    );
    let (short, _) = standard(3, 1, 1.0, &mut rng(6));
    assert_eq!(
        build(builder.clone().with_after(&short)),
        "3 predictions but 4 targets, expected the same number of both"
    );
    let flat = Normal::new(predictions.means(), predictions.means());
    assert_eq!(
        build(ReportBuilder::new(&flat, &targets)),
        "row 0, coordinate 0: the scale is 0, expected a positive number"
    );
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    assert_eq!(
        build(builder.with_kernel(kernel.with_bandwidth(Bandwidth::Fixed(0.0)))),
        "the kernel bandwidth is 0, expected a positive finite number"
    );
}
