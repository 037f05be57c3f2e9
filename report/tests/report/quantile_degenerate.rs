use burn::tensor::Tensor;
use burn_calibration::{
    diagram::PitDiagram,
    distribution::{Normal, Samples},
    error::Error,
    estimator::regression::Pit,
};
use burn_calibration_report::{Draw, QuantileSection, Report, ReportBuilder};

use crate::data::*;
use crate::support::parsed;

/// A page without numbers that are none.
fn check(report: Report<QuantileSection>) -> Report<QuantileSection> {
    let page = report.to_html();
    parsed(&page);
    for garbage in ["NaN", "inf<", "inf ", "inf,", "∞"] {
        assert!(!page.contains(garbage), "{garbage} in\n{page}");
    }
    parsed(&report.before.pit.to_svg());
    parsed(&report.before.quantiles.to_svg());
    report
}

fn normal(mean: &[f64], deviation: f64) -> Normal {
    let rows: Vec<Vec<f64>> = mean.iter().map(|&mean| vec![mean]).collect();
    let mean = tensor(&rows);
    Normal::new(mean.clone(), mean.ones_like() * deviation)
}

fn column(values: &[f64]) -> Tensor<2> {
    tensor(&values.iter().map(|&y| vec![y]).collect::<Vec<_>>())
}

#[test]
fn a_single_sample() {
    let (predictions, targets) = (normal(&[0.0], 1.0), column(&[0.3]));
    let report = ReportBuilder::new(&predictions, &targets).build();
    let report = check(report.unwrap());
    assert!(matches!(
        report.before.skce,
        Err(Error::TooFewSamples { .. })
    ));
    assert!(report.to_html().contains("1 prediction of a real number"));
    assert!(report.to_html().contains("needs at least 2 samples, got 1"));
}

#[test]
fn equal_transforms() {
    let (predictions, targets) = (normal(&[1.0; 50], 2.0), column(&[1.0; 50]));
    let builder = ReportBuilder::new(&predictions, &targets).with_after(&predictions);
    let report = check(builder.build().unwrap());
    assert_eq!(report.before.pit.counts[4], 50); // 0.5, in a right-closed bin
    assert_eq!(report.before.root_mean_squared_error, 0.0);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["after"], json["before"]);
    assert_eq!(json["before"]["pit"]["counts"][4], 50);
    assert!(json["before"]["log"]["estimate"].is_number());
    assert_eq!(json["kernel"]["targets"]["profile"], "Gaussian");
}

#[test]
fn tiny_and_huge_scales() {
    for scale in [1e-9, 1e9] {
        let mean = [0.0, 1.0, 2.0, 3.0].map(|x: f64| x * scale);
        let predictions = normal(&mean, scale);
        let targets = column(&[0.5, -1.0, 4.0, 3.0].map(|x: f64| x * scale));
        let report = ReportBuilder::new(&predictions, &targets).build();
        let page = check(report.unwrap()).to_html();
        let exponent = if scale < 1.0 { "10⁻⁹" } else { "10⁹" };
        contains(&page, &format!("1.00\u{a0}×\u{a0}{exponent}"));
    }
    // certain, and wrong: all transforms are 0 or 1
    let predictions = normal(&[0.0; 30], 1e-6);
    let targets = column(&(0..30).map(|i| f64::from(i % 3 - 1)).collect::<Vec<_>>());
    let report = ReportBuilder::new(&predictions, &targets).build();
    let report = check(report.unwrap());
    assert_eq!(report.before.pit.counts[9], 10);
    approx::assert_relative_eq!(report.before.ninety.coverage.estimate, 1.0 / 3.0);
}

#[test]
fn draws_have_no_log_score() {
    let draws = tensor(&random_rows(40, 9, 1.0, &mut rng(4))).reshape([40, 9, 1]);
    let (predictions, targets) = (Samples::new(draws), column(&[0.1; 40]));
    let builder = ReportBuilder::new(&predictions, &targets).with_bins(7);
    let report = check(builder.clone().build().unwrap());
    assert!(report.before.log.is_none());
    assert!(
        report
            .to_html()
            .contains("these predictions have no density")
    );
    assert_ne!(
        report.before.pit,
        builder.with_seed(1).build().unwrap().before.pit,
        "randomised"
    );
    // one draw each: a single point, of no width
    let one = Samples::new(tensor(&vec![vec![0.0]; 5]).reshape([5, 1, 1]));
    let targets = column(&[0.0, 1.0, -1.0, 0.0, 0.5]);
    let report = ReportBuilder::new(&one, &targets).build();
    assert_eq!(
        check(report.unwrap())
            .before
            .sharpness
            .standard_deviation
            .estimate,
        0.0
    );
}

/// A saved diagram comes back as it was; one without values is an error, and no panic when it is drawn.
#[test]
fn saved_histograms() {
    let pit = Pit::new(&normal(&[0.0; 20], 1.0), &column(&[0.3; 20])).unwrap();
    let diagram = PitDiagram::new(&pit, 10, 0.95).unwrap();
    let saved = serde_json::to_value(&diagram).unwrap();
    let loaded: PitDiagram = serde_json::from_value(saved.clone()).unwrap();
    assert_eq!(loaded, diagram);
    let with = |name: &str, value: serde_json::Value| {
        let mut saved = saved.clone();
        saved[name] = value;
        serde_json::from_value::<PitDiagram>(saved)
            .unwrap_err()
            .to_string()
    };
    for counts in [
        serde_json::json!([]),
        serde_json::json!([3]),
        serde_json::json!([0, 0]),
        serde_json::json!([usize::MAX, 1]),
    ] {
        let said = with("counts", counts);
        contains(&said, "expected two bins or more with a value");
    }
    assert!(with("level", 1.5.into()).contains("level"));
}
