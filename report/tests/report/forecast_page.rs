use burn_calibration::estimator::regression::QuantileCoverage;
use burn_calibration_report::ReportBuilder;

use crate::data::*;
use crate::support::{all, parsed};

/// Forecasts that are all alike, and the targets 1 to `n`.
fn forecasts(n: usize, row: &[f64], levels: &[f64]) -> (QuantileForecasts, Tensor<2>) {
    let targets: Vec<Vec<f64>> = (1..=n).map(|y| vec![y as f64]).collect();
    let quantiles = QuantileForecasts::new(levels.to_vec(), tensor(&vec![row.to_vec(); n]));
    (quantiles.unwrap(), tensor(&targets))
}

/// The numbers are those of the estimators, and the page has them, before and after.
#[test]
fn numbers_are_those_of_the_estimators() {
    let levels = [0.25, 0.5, 0.75];
    let (before, y) = forecasts(40, &[18.0, 20.0, 22.0], &levels);
    let (after, _) = forecasts(40, &[10.0, 20.0, 31.0], &levels);
    let report = ReportBuilder::new(&before, &y).with_after(&after);
    let report = report.with_title("Sales").build().unwrap();
    let section = report.after.as_ref().unwrap();
    assert_eq!(section.wis, WeightedIntervalScore.mean(&after, &y));
    assert_eq!(section.wis_parts, WeightedIntervalScore.parts(&after, &y));
    assert_eq!(
        Ok(section.central_intervals.clone()),
        QuantileCoverage::of_intervals(&after, &y)
    );
    assert_eq!(
        section.quantiles.curve,
        QuantileCoverage::curve(&section.levels)
    );
    let test = OmnibusTest::new();
    assert_eq!(
        report.before.omnibus,
        test.outcome(&before, &y, &mut rng(0))
    );
    assert!(report.before.omnibus.as_ref().unwrap().p_value < 0.05);
    let page = report.to_html();
    let document = parsed(&page);
    let text: String = all(&document, "body")
        .flat_map(|body| body.descendants())
        .filter_map(|node| node.text())
        .collect();
    contains(
        &text,
        "40 predictions by quantiles at 3 levels, before and after recalibration.",
    );
    contains(
        &text,
        "Before: the central 50\u{a0}% intervals contain 12.50",
    );
    contains(&text, "WIS, underprediction");
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
        parsed(&page);
        for garbage in ["NaN", "inf<", "inf ", "∞"] {
            assert!(!page.contains(garbage), "{garbage} in\n{page}");
        }
    }
    let (p, y) = forecasts(4, &[2.0], &[0.5]);
    let (other, _) = forecasts(4, &[2.0], &[0.4]);
    let report = ReportBuilder::new(&p, &y);
    let error = report.clone().with_after(&other).build().unwrap_err();
    contains(&error, "the quantiles are at the levels [0.5] and at [0.4]");
    assert!(report.with_level(1.0).build().is_err());
}
