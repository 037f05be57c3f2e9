use burn_calibration_report::{Draw, QuantileSection, Report, ReportBuilder};

use crate::support::{is_sound, mean_of, number_of, parsed};
use burn_calibration_testing::data::*;

/// A page without numbers that are none.
fn check(report: Report<QuantileSection>) -> Report<QuantileSection> {
    let page = report.to_html();
    is_sound(&page);
    assert!(!page.contains('∞'));
    parsed(&report.before.page.pit.to_svg());
    parsed(&report.before.page.quantiles.to_svg());
    report
}

fn normal(mean: &[f64], deviation: f64) -> Normal {
    let mean = column(mean);
    Normal::new(mean.clone(), mean.ones_like() * deviation)
}

#[test]
fn a_single_sample() {
    let (predictions, targets) = (normal(&[0.0], 1.0), column([0.3]));
    let report = ReportBuilder::new(&predictions, &targets).build();
    let report = check(report.unwrap());
    let skce = report.before.answer.intervals.get("skce").unwrap();
    contains(&skce, "needs at least 2 samples, got 1");
    assert!(report.to_html().contains("1 prediction of a real number"));
    assert!(report.to_html().contains("needs at least 2 samples, got 1"));
}

#[test]
fn equal_transforms() {
    let (predictions, targets) = (normal(&[1.0; 50], 2.0), column([1.0; 50]));
    let builder = ReportBuilder::new(&predictions, &targets).with_after(&predictions);
    let report = check(builder.build().unwrap());
    assert_eq!(report.before.page.pit.counts[4], 50); // 0.5, in a right-closed bin
    assert_eq!(number_of(&report.before, "root_mean_squared_error"), 0.0);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["after"], json["before"]);
    assert_eq!(json["before"]["page"]["pit"]["counts"][4], 50);
    assert!(json["before"]["means"]["log"]["estimate"].is_number());
    assert_eq!(json["kernel"]["targets"]["profile"], "Gaussian");
}

#[test]
fn tiny_and_huge_scales() {
    for scale in [1e-9, 1e9] {
        let mean = [0.0, 1.0, 2.0, 3.0].map(|x: f64| x * scale);
        let predictions = normal(&mean, scale);
        let targets = column([0.5, -1.0, 4.0, 3.0].map(|x: f64| x * scale));
        let report = ReportBuilder::new(&predictions, &targets).build();
        let page = check(report.unwrap()).to_html();
        let exponent = if scale < 1.0 { "10⁻⁹" } else { "10⁹" };
        contains(&page, &format!("1.00\u{a0}×\u{a0}{exponent}"));
    }
    // certain, and wrong: all transforms are 0 or 1
    let predictions = normal(&[0.0; 30], 1e-6);
    let targets = column((0..30).map(|i| f64::from(i % 3 - 1)).collect::<Vec<_>>());
    let report = ReportBuilder::new(&predictions, &targets).build();
    let report = check(report.unwrap());
    assert_eq!(report.before.page.pit.counts[9], 10);
    approx::assert_relative_eq!(mean_of(&report.before, "coverage_90"), 1.0 / 3.0);
}

#[test]
fn draws_have_no_log_score() {
    let draws = tensor(&random_rows(40, 9, 1.0, &mut rng(4))).reshape([40, 9, 1]);
    let (predictions, targets) = (Samples::new(draws), column([0.1; 40]));
    let builder = ReportBuilder::new(&predictions, &targets).with_bins(7);
    let report = check(builder.clone().build().unwrap());
    assert!(report.before.answer.estimates.0.get("log").is_none());
    // beside predictions that have a density, the page says so
    let normal = Normal::new(column([0.0; 40]), column([1.0; 40]));
    let both = ReportBuilder::new(&predictions, &targets).with_after_of(&normal);
    let page = both.build().unwrap().to_html();
    contains(&page, "Before: these predictions have no such number.");
    let other = builder.with_seed(1).build().unwrap();
    assert_ne!(report.before.page.pit, other.before.page.pit, "randomised");
    // one draw each: a single point, of no width
    let one = Samples::new(tensor(&vec![vec![0.0]; 5]).reshape([5, 1, 1]));
    let targets = column([0.0, 1.0, -1.0, 0.0, 0.5]);
    let report = ReportBuilder::new(&one, &targets).build();
    let report = check(report.unwrap());
    assert_eq!(mean_of(&report.before, "standard_deviation"), 0.0);
}
