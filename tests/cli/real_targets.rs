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
    #[cfg(feature = "report")]
    {
        let output = calibration(&folder, &format!("report {data} -o page.html"));
        assert!(output.status.success());
        let page = fs::read_to_string(folder.join("page.html")).unwrap();
        contains(&page, "0 of 19 levels outside the band");
        contains(&page, "by the part of its step");
    }
}
