//! The test of calibration: its level, its power and what it finds.

use rand_distr::{Distribution, Poisson, StandardNormal};

use super::*;

/// The quantiles of counts, by their definition.
fn poisson_quantiles(rate: f64) -> Vec<f64> {
    let quantile = |level: f64| {
        let (mut count, mut probability) = (0.0, (-rate).exp());
        let mut up_to = probability;
        while up_to < level {
            count += 1.0;
            probability *= rate / count;
            up_to += probability;
        }
        count
    };
    USUAL.map(quantile).to_vec()
}

/// Data sets of so many rows, in each of which a row gives its quantiles and its target, that are rejected at 5 %;
/// and those in which an aspect of some names is accused.
fn rejected(
    (sets, n): (usize, usize),
    names: &[&str],
    row: impl Fn(usize, &mut StdRng) -> (Vec<f64>, f64),
) -> [usize; 2] {
    let mut rng = rng(7);
    let mut counts = [0; 2];
    for _ in 0..sets {
        let (rows, y): (Vec<_>, Vec<_>) = (0..n).map(|i| row(i, &mut rng)).unzip();
        let test = OmnibusTest::new().with_redraws(99);
        let p = forecasts(&USUAL, &rows);
        let outcome = test.outcome(&p, &column(&y), &mut rng).unwrap();
        counts[0] += usize::from(outcome.p_value <= 0.05);
        let failing = outcome.failing(0.05);
        let mut failing = failing.iter();
        counts[1] += usize::from(failing.any(|aspect| names.contains(&aspect.name.as_str())));
    }
    counts
}

/// The level is exact where no target equals a quantile.
#[test]
fn calibrated_numbers_are_rejected_at_the_level() {
    let sets = simulated(800);
    let [count, _] = rejected((sets, 40), &[], |i, rng| {
        let (mean, deviation) = ((i % 7) as f64, 1.0 + (i % 3) as f64);
        let z: f64 = StandardNormal.sample(rng);
        (normal_quantiles(mean, deviation), mean + deviation * z)
    });
    assert_binomial(count, sets, (0.05, 3.0), "normal");
    // also where quantiles are equal, if targets are redraws
    let [count, _] = rejected((sets, 40), &[], |i, rng| {
        let quantiles = vec![0.0, 0.0, 0.0, (i % 2) as f64, 2.0, 3.0, 5.0];
        let p = forecasts(&USUAL, std::slice::from_ref(&quantiles));
        (quantiles, vector(p.sample(rng))[0])
    });
    assert_binomial(count, sets, (0.05, 3.0), "equal quantiles");
}

/// Counts equal quantiles, and no calibrated model of them is rejected more often than the level; too small ones are
/// found.
#[test]
fn calibrated_counts_are_rejected_at_most_at_the_level() {
    for rates in [[0.2, 0.5, 1.0], [1.0, 3.0, 6.0], [20.0, 60.0, 200.0]] {
        let counts = |factor: f64| {
            move |i: usize, rng: &mut StdRng| {
                let rate: f64 = rates[i % 3];
                let y = Poisson::new(factor * rate).unwrap().sample(rng);
                (poisson_quantiles(rate), y)
            }
        };
        let sets = simulated(400);
        let [count, _] = rejected((sets, 60), &[], counts(1.0));
        assert_at_most(count, sets, (0.05, 3.0), rates);
        let [found, _] = rejected((20, 120), &[], counts(2.0));
        assert!(found >= 19, "{rates:?}: {found} of 20 found");
    }
}

/// Only the quantiles at 0.9 and 0.975 are too low: others are not accused more often than the level.
#[test]
fn what_is_right_is_not_accused() {
    let names = [
        "level_0.025",
        "level_0.1",
        "level_0.25",
        "level_0.5",
        "level_0.75",
        "interval_0.5",
    ];
    let sets = simulated(400);
    let [wrong, accused] = rejected((sets, 100), &names, |_, rng| {
        let mut quantiles = normal_quantiles(0.0, 1.0);
        quantiles[5] = 0.75;
        quantiles[6] = 0.8;
        (quantiles, rng.sample::<f64, _>(StandardNormal))
    });
    assert!(20 * wrong >= 19 * sets, "{wrong} of {sets}");
    assert_at_most(accused, sets, (0.05, 3.0), "accused");
}

fn outcome(rows: &[Vec<f64>], y: &[f64]) -> OmnibusOutcome {
    let test = OmnibusTest::new();
    let outcome = test.outcome(&forecasts(&USUAL, rows), &column(y), &mut rng(3));
    outcome.unwrap()
}

/// Findings tell the share of targets that are covered.
#[test]
fn findings_of_coverage() {
    // targets at the quantiles of a model that is twice as wide, one for each level
    let y: Vec<f64> = (0..200)
        .map(|i| -4.0 + 8.0 * (i as f64 + 0.5) / 200.0)
        .collect();
    let narrow = outcome(&vec![normal_quantiles(0.0, 1.0); 200], &y);
    assert_eq!(narrow.p_value, 0.001);
    let findings: Vec<&str> = (narrow.failing(0.05).iter())
        .map(|aspect| aspect.finding.as_str())
        .collect();
    let finding = "central 95 % intervals cover 49.0 % of the targets, 95.0 % if calibrated";
    assert!(findings.contains(&finding), "{findings:?}");
    let finding = "the quantile at level 0.9 covers 66.0 % of the targets, 90.0 % if calibrated";
    assert!(findings.contains(&finding), "{findings:?}");
    // right on average: too high where forecasts are high, and too low where they are low
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|i| normal_quantiles(if i % 2 == 0 { 0.75 } else { -0.75 }, 1.25))
        .collect();
    let mut generator = rng(1);
    let y: Vec<f64> = (0..200)
        .map(|_| StandardNormal.sample(&mut generator))
        .collect();
    let trend = outcome(&rows, &y);
    assert!(trend.p_value < 0.01);
    let of_high = trend
        .aspects
        .iter()
        .find(|a| a.name == "high_level_0.5")
        .unwrap();
    begins(
        &of_high.finding,
        "where forecasts are higher, the quantile at level 0.5 covers",
    );
    assert!(of_high.adjusted_p_value < 0.01 && of_high.estimate > 0.2);
    // one level, one row, all forecasts equal
    let p = forecasts(&[0.3], &[vec![1.0]]);
    let one = omnibus(OmnibusTest::new(), &p, &column([0.0]), 0);
    assert_eq!(one.aspects.len(), 1);
    assert!(one.p_value > 0.2);
}

/// Widths that are equal but for rounding are ties, as equal ones are: no forecast is wider than another.
#[test]
fn widths_that_differ_by_rounding_are_ties() {
    let mut rng = rng(48);
    let y: Vec<f64> = (0..40).map(|_| 5.0 + 10.0 * rng.random::<f64>()).collect();
    let names = |width: &dyn Fn(usize) -> f64| {
        let row = |(i, y): (usize, &f64)| {
            let low = ((y - 2.0) * 1e4).round() / 1e4;
            [low, low + width(i)]
        };
        let rows: Vec<[f64; 2]> = y.iter().enumerate().map(row).collect();
        let test = OmnibusTest::new().with_redraws(99);
        let outcome = test.outcome(
            &forecasts(&[0.05, 0.95], &rows),
            &column(&y),
            &mut self::rng(1),
        );
        let aspects = outcome.unwrap().aspects;
        aspects
            .into_iter()
            .map(|aspect| aspect.name)
            .collect::<Vec<_>>()
    };
    let rounded = names(&|_| 4.9347);
    assert_eq!(rounded, names(&|i| 4.9347 + (i % 3) as f64 * 2e-15));
    assert!(
        !rounded.iter().any(|name| name.contains("wide")),
        "{rounded:?}"
    );
    let other = names(&|i| 4.9347 + (i % 3) as f64 * 1e-9);
    assert!(other.iter().any(|name| name.contains("wide")), "{other:?}");
}
