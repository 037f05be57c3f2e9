//! What outcomes say.

use crate::prelude::*;

/// Predictions of 80 % for the second class, so many of which come true.
fn spiegelhalter(samples: usize, right: usize) -> TestOutcome {
    let predictions = categorical(&vec![vec![0.2, 0.8]; samples]);
    let classes: Vec<usize> = (0..samples).map(|i| usize::from(i < right)).collect();
    Spiegelhalter::new(Event::Class(1)).seeded(&predictions, &labels(&classes), 0)
}

/// `z = Σ(c − r)(−0.6)/√(Σ 0.36 · 0.16)`.
#[test]
fn asymptotic_outcomes_read_well() {
    let caveat = "10.0 errors are expected: too few for this approximation, but not for an exact test or \
                  the omnibus test";
    let outcome = spiegelhalter(50, 25);
    assert_eq!(outcome.caveat.as_deref(), Some(caveat));
    assert_eq!((outcome.p_value, outcome.is_bound), (1e-3, true));
    let expected = format!(
        "Spiegelhalter's test\n    estimate      1.8000e-1\n    statistic     5.3033\n    \
         standardised  5.3 (standard deviations of the null)\n    p-value       p < 0.001  (n = 50)\n    \
         caveat        {caveat}"
    );
    assert_eq!(outcome.to_string(), expected);
    let outcome = spiegelhalter(200, 150);
    assert!(outcome.caveat.is_none() && !outcome.is_bound);
    let expected = "Spiegelhalter's test\n    estimate      3.0000e-2\n    statistic     1.7678\n    \
                    standardised  1.8 (standard deviations of the null)\n    p-value       p = 0.0771  (n = 200)";
    assert_eq!(outcome.to_string(), expected);
}

#[test]
fn an_outcome_serialises() {
    let found = serde_json::to_value(spiegelhalter(50, 25)).unwrap();
    assert_eq!(found["p_value"], 1e-3);
    assert_eq!(found["is_bound"], true);
    assert!((found["expected_errors"].as_f64().unwrap() - 10.0).abs() < 1e-12);
    assert!(found["caveat"].is_string());
}

#[test]
fn replicates() {
    let drawn: Vec<f64> = (0..1000).map(|t| f64::from(t % 2)).collect(); // ½ ± ½
    let by_replicates =
        |statistic, drawn: &[f64]| TestOutcome::by_replicates("test", 100, statistic, drawn);
    let outcome = by_replicates(5.5, &drawn);
    assert!(outcome.is_bound && outcome.caveat.is_none());
    assert!((outcome.standardised.unwrap() - 10.0).abs() < 0.01);
    let text = outcome.to_string();
    contains(&text, "p <= 0.001  (n = 100, 1000 replicates)");
    let mut one = vec![0.0; 1000];
    one[7] = 1.0;
    let outcome = by_replicates(1.0, &one);
    assert!(!outcome.is_bound && outcome.to_string().contains("p = 0.0020  ("));
    assert_eq!(by_replicates(2.0, &[1.0, 2.0, 3.0]).p_value, 0.75);
    // without deviation
    assert_eq!(by_replicates(1.0, &[0.1; 99]).standardised, None);
}

#[test]
fn bounds_are_rounded_up() {
    for (replicates, up) in [
        (1000, "0.001"),
        (999, "0.001"),
        (60, "0.017"),
        (19, "0.05"),
        (2, "0.34"),
        (269_541, "3.8e-6"),
        (0, "1"),
    ] {
        let drawn = vec![0.0; replicates];
        let text = TestOutcome::by_replicates("test", 100, 1.0, &drawn).to_string();
        contains(&text, &format!("p <= {up}  ("));
    }
}
