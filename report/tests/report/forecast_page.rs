use burn_calibration::estimator::regression::QuantileCoverage;
use burn_calibration_report::ReportBuilder;

use crate::support::{all, is_sound, parsed};
use burn_calibration_testing::data::*;

/// Forecasts that are all alike, and the targets 1 to `n`.
fn forecasts(n: usize, row: &[f64], levels: &[f64]) -> (QuantileForecasts, Tensor<2>) {
    let quantiles = QuantileForecasts::new(levels.to_vec(), tensor(&vec![row; n]));
    (quantiles.unwrap(), column((1..=n).map(|y| y as f64)))
}

/// The numbers are those of the estimators, and the page has them, before and after.
#[test]
fn numbers_are_those_of_the_estimators() {
    let levels = [0.25, 0.5, 0.75];
    let (before, y) = forecasts(40, &[18.0, 20.0, 22.0], &levels);
    let (after, _) = forecasts(40, &[10.0, 20.0, 31.0], &levels);
    let report = ReportBuilder::new(&before, &y).with_after(&after);
    let report = report.with_title("Sales").build().unwrap();
    let section = &report.after.as_ref().unwrap().page;
    let means = &report.after.as_ref().unwrap().means;
    let expected = WeightedIntervalScore.mean(&after, &y).unwrap();
    assert_eq!(means.get("wis"), Some(&expected));
    let expected = WeightedIntervalScore.parts(&after, &y).unwrap();
    assert_eq!(means.get("wis_dispersion"), Some(&expected.dispersion));
    let intervals = QuantileCoverage::by_interval(&after, &y);
    assert_eq!(section.central_intervals, intervals.unwrap());
    let curve = QuantileCoverage::curve(&section.levels);
    assert_eq!(section.quantiles.curve, curve);
    let expected = omnibus(OmnibusTest::new(), &before, &y, 0);
    assert!(expected.p_value < 0.05);
    assert_eq!(report.before.answer.omnibus.0, Ok(expected));
    let page = report.to_html();
    let document = parsed(&page);
    let nodes = all(&document, "body").flat_map(|body| body.descendants());
    let text: String = nodes.filter_map(|node| node.text()).collect();
    for part in [
        "40 predictions by quantiles at 3 levels, before and after recalibration.",
        "Before: the central 50\u{a0}% intervals contain 12.50",
        "WIS, underprediction",
    ] {
        contains(&text, part);
    }
    assert!(!text.contains("kernel") && !text.contains("bandwidth"));
    assert_eq!(all(&document, "figure").count(), 2);
}

/// One level, equal quantiles and one sample have a page without numbers that are none; other levels after are an
/// error.
#[test]
fn degenerate_forecasts() {
    for (n, row, levels) in [
        (1, &[0.0][..], &[0.3][..]),
        (3, &[2.0, 2.0, 2.0], &[0.1, 0.5, 0.9]),
        (2, &[0.0, 9.0], &[0.3, 0.5]),
    ] {
        let (p, y) = forecasts(n, row, levels);
        let report = ReportBuilder::new(&p, &y).with_level(0.9).build();
        let page = report.unwrap().to_html();
        is_sound(&page);
        assert!(!page.contains('∞'));
    }
    let (p, y) = forecasts(4, &[2.0], &[0.5]);
    let (other, _) = forecasts(4, &[2.0], &[0.4]);
    let report = ReportBuilder::new(&p, &y);
    let error = report.clone().with_after(&other).build().unwrap_err();
    contains(&error, "the quantiles are at the levels [0.5] and at [0.4]");
    assert!(report.with_level(1.0).build().is_err());
}
