//! What is wrong is found, and named.

use super::levels::normal;
use crate::prelude::*;

const SETS: usize = 8;
const WHOLE: &str = "something is off in the whole prediction: SKCE ";
const WIDE: &str = "predictions are too wide";
const COVERAGE: &str = "central 50 % intervals cover ";
const NARROW: &str = "predictions are too narrow";

/// The outcomes of some data sets, nearly all of which are rejected.
fn outcomes<P: Omnibus>(
    seed: u64,
    mut data: impl FnMut(&mut StdRng) -> (P, P::Targets),
) -> Vec<OmnibusOutcome> {
    let mut rng = rng(seed);
    let test = OmnibusTest::new().with_redraws(199);
    let outcomes: Vec<OmnibusOutcome> = (0..SETS)
        .map(|_| {
            let (predictions, targets) = data(&mut rng);
            test.outcome(&predictions, &targets, &mut rng).unwrap()
        })
        .collect();
    let rejected = outcomes.iter().filter(|outcome| outcome.p_value <= 0.05);
    let rejected = rejected.count();
    assert!(rejected + 1 >= SETS, "{rejected} of {SETS}");
    outcomes
}

/// In nearly all data sets a finding among those that fail begins like this, and none like that.
fn named(outcomes: &[OmnibusOutcome], finding: &str, never: &[&str]) {
    let mut found = 0;
    for outcome in outcomes {
        let failing = outcome.failing(0.05);
        found += usize::from(failing.iter().any(|a| a.finding.starts_with(finding)));
        for aspect in &failing {
            for never in never {
                assert!(!aspect.finding.starts_with(never), "{}", aspect.finding);
            }
            assert!(aspect.adjusted_p_value <= 0.05);
            assert!(outcome.to_string().contains(&aspect.finding));
        }
        let order = failing.iter().map(|aspect| aspect.adjusted_p_value);
        assert!(order.is_sorted());
        assert!(outcome.to_string().starts_with(&outcome.verdict()));
    }
    let first = &outcomes[0];
    assert!(found + 1 >= SETS, "{finding}: {found} of {SETS}, {first}");
}

fn tempered(rows: &[Vec<f64>], power: f64) -> Vec<Vec<f64>> {
    softmax_rows(&mapped(rows, |p| power * p.ln()))
}

/// Labels from rows, with predictions at another temperature.
#[test]
fn temperature() {
    let outcomes_at = |power: f64| {
        outcomes(631, move |rng| {
            let rows = random_probabilities(400, 4, rng);
            let labels = categorical(&rows).sample(rng);
            (categorical(&tempered(&rows, power)), labels)
        })
    };
    let sharp = outcomes_at(1.5);
    named(&sharp, "overconfident by ", &["underconfident"]);
    let blunt = outcomes_at(1.0 / 1.5);
    named(&blunt, "underconfident by ", &["overconfident"]);
}

/// Probability is moved to the last class from all others.
#[test]
fn a_class_too_likely() {
    let found = outcomes(632, |rng| {
        let rows = random_probabilities(400, 4, rng);
        let labels = categorical(&rows).sample(rng);
        let moved = |row: &Vec<f64>| -> Vec<f64> {
            let mut row: Vec<f64> = row.iter().map(|p| 0.85 * p).collect();
            row[3] += 0.15;
            row
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(moved).collect();
        (categorical(&rows), labels)
    });
    let never = [
        "class 0 is predicted too often",
        "class 3 is predicted too rarely",
    ];
    named(&found, "class 3 is predicted too often, by ", &never);
}

/// The top label is calibrated, and the class of a wrong label is never the second but always the next
/// class of the list: only the whole vector tells.
#[test]
fn the_rest_wrong() {
    let found = outcomes(633, |rng| {
        let mut rows = Vec::new();
        let mut classes = Vec::new();
        for i in 0..600 {
            let top = i % 4;
            let confidence = rng.random_range(0.4..0.7);
            let mut row = vec![(1.0 - confidence) / 3.0; 4];
            row[top] = confidence;
            rows.push(row);
            let right = rng.random_bool(confidence);
            classes.push(if right { top } else { (top + 1) % 4 });
        }
        (categorical(&rows), labels(&classes))
    });
    named(&found, WHOLE, &["overconfident", "underconfident"]);
}

#[test]
fn normal_predictions() {
    let data = |shift: f64, factor: f64, d: usize| {
        move |rng: &mut StdRng| {
            let truth = normal(150, d, rng);
            let targets = truth.sample(rng);
            let predictions =
                Normal::new(truth.mean() - shift, truth.standard_deviation() * factor);
            (predictions, targets)
        }
    };
    let high = outcomes(634, data(0.4, 1.0, 1));
    named(
        &high,
        "targets are too high",
        &["targets are too low", WIDE],
    );
    let low = outcomes(635, data(-0.4, 1.0, 1));
    named(&low, "targets are too low", &["targets are too high"]);
    let narrow = outcomes(636, data(0.0, 0.6, 1));
    named(&narrow, NARROW, &[WIDE]);
    let wide = outcomes(637, data(0.0, 1.6, 1));
    named(&wide, COVERAGE, &[NARROW, WIDE]);
    let both = outcomes(638, data(0.4, 1.0, 2));
    named(&both, "targets of coordinate 1 are too high", &[]);
}

/// Means that are right on the whole but not where: transforms are uniform, the SKCE tells.
#[test]
fn conditional_shift() {
    let found = outcomes(639, |rng| {
        let truth = normal(400, 1, rng);
        let targets = truth.sample(rng);
        let spread = (truth.mean().square().mean() + 1.0).sqrt();
        // the same mean for all, and the spread of all targets
        let mean = truth.mean() * -1.0;
        let scale = truth.standard_deviation().ones_like() * (scalar(spread) + 0.3);
        (Normal::new(mean, scale), targets)
    });
    named(&found, WHOLE, &[]);
}

/// Above 10,000 samples, by landmarks.
#[test]
fn many_samples() {
    let mut rng = rng(640);
    let rows = random_probabilities(10_100, 3, &mut rng);
    let labels = categorical(&rows).sample(&mut rng);
    let test = OmnibusTest::new().with_redraws(99);
    let outcome = |predictions: &Categorical, rng: &mut StdRng| {
        test.outcome(predictions, &labels, rng).unwrap()
    };
    let calibrated = outcome(&categorical(&rows), &mut rng);
    assert!(calibrated.p_value > 0.01, "{calibrated}");
    let sharp = outcome(&categorical(&tempered(&rows, 1.2)), &mut rng);
    assert_eq!(sharp.p_value, 0.01);
    let failing = sharp.failing(0.05);
    for finding in ["overconfident by ", WHOLE] {
        let found = failing.iter().any(|a| a.finding.starts_with(finding));
        assert!(found, "{sharp}");
    }
}
