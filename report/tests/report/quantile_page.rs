use burn_calibration::estimator::regression::{IntervalCoverage, QuantileCalibration, Sharpness};
use burn_calibration_report::ReportBuilder;

use crate::support::{digits, interval, mean_of, number_of, parsed, pictures, standard};
use burn_calibration_testing::data::*;

#[test]
fn numbers_are_those_of_the_estimators() {
    let (predictions, targets) = standard(200, 2, 1.3, &mut rng(7));
    let report = ReportBuilder::new(&predictions, &targets).build();
    let report = report.unwrap();
    let (answer, means, page) = (
        &report.before.answer,
        &report.before.means,
        &report.before.page,
    );
    assert_eq!((report.samples, report.subject.dimensions), (200, 2));
    let coverage = |level| IntervalCoverage::new(level).coverage(&predictions, &targets);
    for (key, expected) in [
        ("log", LogScore.mean(&predictions, &targets)),
        ("crps", Crps.mean(&predictions, &targets)),
        (
            "standard_deviation",
            Sharpness.standard_deviation(&predictions),
        ),
        ("coverage_50", coverage(0.5)),
        ("coverage_90", coverage(0.9)),
    ] {
        assert_eq!(means.get(key), Some(&expected.unwrap()), "{key}");
    }
    let variance = Sharpness.variance(&predictions).unwrap();
    assert_eq!(page.variance, variance.estimate);
    let quantiles = QuantileCalibration::default();
    let curve = quantiles.curve(&predictions, &targets).unwrap();
    assert_eq!(page.quantiles.curve, curve);
    let kernel = RealKernel::gaussian(1.0).with_median_of(&targets);
    let skce = Skce::unbiased(TensorKernel::wasserstein(kernel));
    let skce = skce.size(&predictions, &targets).unwrap();
    assert_eq!(interval(answer, "skce"), skce.interval(0.95).unwrap());
    let over = IntervalOverconfidence::default().size(&predictions, &targets);
    let over = over.unwrap().interval(0.95).unwrap();
    assert_eq!(interval(answer, "overconfidence"), over);
    let test = OmnibusTest::new().with_kernel(report.kernel.predictions);
    let outcome = test.outcome(&predictions, &targets, &mut rng(0)).unwrap();
    assert_eq!(answer.omnibus.0.as_ref().unwrap().aspects, outcome.aspects);
    let errors = targets.clone() - predictions.means();
    let mean_square = mean(&vector(errors.powi_scalar(2)));
    let found = number_of(&report.before, "root_mean_squared_error");
    assert_near(found, mean_square.sqrt(), 1e-12);
    let density = vector(predictions.log_density(&targets));
    let log = mean_of(&report.before, "log");
    assert_near(log, -mean(&density), 1e-9);
}

#[test]
fn the_page_is_well_formed_and_complete() {
    let (before, targets) = standard(600, 2, 1.4, &mut rng(9));
    let after = Normal::new(before.mean(), before.standard_deviation() * 1.4);
    let report = ReportBuilder::new(&before, &targets).with_after(&after);
    let report = report.with_title("<b>\"A\" & 'B'</b>").build().unwrap();
    let page = report.to_html();
    let document = parsed(&page);
    for picture in pictures(&document, "<b>\"A\" & 'B'</b>", 4) {
        for tag in ["title", "desc"] {
            assert!(picture.children().any(|node| node.has_tag_name(tag)));
        }
    }
    let after = report.after.as_ref().unwrap();
    for set in [&report.before, after] {
        let summary = &set.page;
        let percent = |x: f64| format!("{:.2}\u{a0}%", 100.0 * x);
        let skce = interval(&set.answer, "skce").estimate;
        let mut numbers = vec![
            format!("<td>{:.4}<", mean_of(set, "log")),
            format!("<td>{:.3}<", mean_of(set, "crps")),
            format!("{:.3}", mean_of(set, "standard_deviation")),
            format!("{:.3}", number_of(set, "root_mean_squared_error")),
            percent(mean_of(set, "coverage_50")),
            percent(mean_of(set, "coverage_90")),
            format!("{:.4}", summary.quantiles.curve.mean_absolute_error()),
            digits(skce),
        ];
        let counts = summary.pit.counts.iter();
        numbers.extend(counts.map(|count| format!("<td>{count}</td>")));
        let points = summary.quantiles.curve.points.iter();
        numbers.extend(points.map(|point| format!("<td>{:.3}</td>", point.frequency)));
        for number in numbers {
            assert!(page.contains(&number), "{number}");
        }
    }
    let verdict = page
        .find("Before recalibration: <strong>The model is not calibrated: p\u{a0}≤\u{a0}0.001.");
    assert!(verdict.unwrap() < page.find("<h2>").unwrap(), "first");
    assert!(page.contains("<li>predictions of coordinate 1 are too narrow: after a common shift"));
    let over = interval(&report.before.answer, "overconfidence");
    let ends = [over.estimate, over.lower, over.upper].map(|x| format!("{:.2}", 100.0 * x));
    let [estimate, lower, upper] = ends;
    let cell = format!("<td>{estimate}<span class=\"note\">[{lower}, {upper}]</span></td>");
    assert!(page.contains(&cell), "{cell}");
    assert!(mean_of(&report.before, "coverage_90") < 0.85 && after.page.pit.outside() < 4);
    assert!(page.contains("too certain") && page.contains("coordinates are counted together"));
}
