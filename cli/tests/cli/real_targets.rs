//! Sentences about real targets: outliers, counts.

use crate::*;

/// Few draws of a calibrated model: one number is called the unbiased SKCE, and no test takes the draws for the
/// whole distribution.
#[test]
fn few_draws_are_not_the_distribution() {
    let folder = folder("draws");
    let (p, y) = (include_str!("cases/e_p.csv"), include_str!("cases/e_y.csv"));
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
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
        let is_near = (tested - estimate).abs() < 1e-12;
        assert!(is_near, "{name}: {tested}, {estimate}");
    }
    assert_eq!(found["intervals"]["skce"]["estimate"], estimate);
}
