//! Sentences about real targets: outliers, counts.

use crate::*;

/// Two of 200 targets at nine standard deviations.
#[test]
fn outliers_are_far_outside() {
    let folder = folder("outliers");
    write(
        &folder,
        &[
            ("p.csv", include_str!("cases/tail_p.csv")),
            ("y.csv", include_str!("cases/tail_y.csv")),
        ],
    );
    let output = calibration(
        &folder,
        "evaluate --family normal --predictions p.csv --targets y.csv",
    );
    let text = String::from_utf8(output.stdout).unwrap();
    contains(&text, "The model is not calibrated: p ≤ 0.001.");
    contains(&text, "targets are far outside more often than predicted");
    contains(&text, "the target of row 0 is too far outside");
}

/// Calibrated counts: coverage and frequencies of quantiles are what they should be, in every command.
#[test]
fn calibrated_counts_are_not_accused() {
    let folder = folder("counts");
    write(&folder, &[("p.csv", include_str!("cases/counts.csv"))]);
    let data = "--family samples --label-column obs --predictions p.csv";
    let found = found(&folder, &format!("evaluate {data}"));
    assert!(number(&found["omnibus"]["p_value"]) > 0.05);
    let estimates = &found["estimates"];
    for (name, level) in [("coverage_50", 0.5), ("coverage_90", 0.9)] {
        // of 400 targets
        let error = number(&estimates[name]) - level;
        assert!(error.abs() < 0.05, "{estimates}");
    }
    assert!(
        number(&estimates["quantile_calibration"]) < 0.03,
        "{estimates}"
    );
    let over = &found["intervals"]["overconfidence"];
    assert!(
        number(&over["lower"]) < 0.0 && number(&over["upper"]) > 0.0,
        "{over}"
    );
    {
        let output = calibration(&folder, &format!("report {data} -o page.html"));
        assert!(output.status.success());
        let page = fs::read_to_string(folder.join("page.html")).unwrap();
        contains(&page, "0 of 19 levels outside the band");
        contains(&page, "by the part of its step");
    }
}

/// Few draws of a calibrated model: one number is called the unbiased SKCE, and no test takes the draws for the
/// whole distribution.
#[test]
fn few_draws_are_not_the_distribution() {
    let folder = folder("draws");
    write(
        &folder,
        &[
            ("p.csv", include_str!("cases/e_p.csv")),
            ("y.csv", include_str!("cases/e_y.csv")),
        ],
    );
    let arguments = "evaluate --family samples --predictions p.csv --targets y.csv";
    let tests = [
        "skce_unbiased_asymptotic",
        "cme",
        "skce_unbiased_exact",
        "skce_unbiased_distribution_free",
        "skce_linear_asymptotic",
    ];
    let flags: String = tests.iter().map(|name| format!(" --test {name}")).collect();
    let found = found(&folder, &format!("{arguments}{flags}"));
    for name in &tests[..2] {
        let error = found["tests"][name]["error"].as_str().unwrap();
        contains(error, "no null distribution for predictions by draws");
    }
    for name in &tests[2..] {
        let p_value = number(&found["tests"][name]["p_value"]);
        assert!(p_value > 0.05, "{name}: {p_value}");
    }
    let estimate = number(&found["estimates"]["skce_unbiased"]);
    for name in &tests[2..4] {
        let tested = number(&found["tests"][name]["estimate"]);
        assert!(
            (tested - estimate).abs() < 1e-12,
            "{name}: {tested}, {estimate}"
        );
    }
    assert_eq!(
        found["intervals"]["skce"]["estimate"],
        found["estimates"]["skce_unbiased"]
    );
}
