//! The test of the calibration mean embedding.

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

use crate::prelude::*;

fn fixed() -> Kernel {
    Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5))
}

/// One location is a t-test of `z` by hand.
#[test]
fn one_location_is_a_t_test() {
    let rows = [
        vec![0.5, 0.5],
        vec![1.0, 0.0],
        vec![0.75, 0.25],
        vec![0.0, 1.0],
    ];
    let classes = [0, 0, 1, 1];
    let test = CmeTest::at(fixed(), categorical(&[vec![0.5, 0.5]]), labels(&[0]));
    let outcome = test.outcome_on(&rows, &classes, 0);
    // total variation to (.5, .5): 0, .5, .25, .5; residuals of class 0: .5, 0, −.75, 0
    let z = [0.5, 0.0, -0.75 * (-0.5f64).exp(), 0.0];
    let mean = z.iter().sum::<f64>() / 4.0;
    let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / 3.0;
    let t = mean / (variance / 4.0).sqrt();
    assert_relative(outcome.estimate, mean * mean, 1e-12);
    assert_relative(outcome.statistic, t * t, 1e-12);
    let two_sided = 2.0 * StudentsT::new(0.0, 1.0, 3.0).unwrap().sf(t.abs());
    assert_relative(outcome.p_value, two_sided, 1e-9);
    let chi = test.with_null(CmeNull::ChiSquared);
    let outcome = chi.outcome_on(&rows, &classes, 0);
    assert_relative(outcome.statistic, t * t, 1e-12);
    let upper = 1.0 - ChiSquared::new(1.0).unwrap().cdf(t * t);
    assert_relative(outcome.p_value, upper, 1e-9);
}

/// Solves `S x = z` by Gaussian elimination.
fn solve(mut s: Vec<Vec<f64>>, mut z: Vec<f64>) -> Vec<f64> {
    let d = z.len();
    for k in 0..d {
        for i in k + 1..d {
            let factor = s[i][k] / s[k][k];
            let pivot = s[k].clone();
            s[i].iter_mut()
                .zip(pivot)
                .for_each(|(a, b)| *a -= factor * b);
            z[i] -= factor * z[k];
        }
    }
    for k in (0..d).rev() {
        let known: f64 = (k + 1..d).map(|j| s[k][j] * z[j]).sum();
        z[k] = (z[k] - known) / s[k][k];
    }
    z
}

#[test]
fn four_locations_by_brute_force() {
    let (n, m, j) = (40, 3, 4);
    let (rows, classes) = draw(Model::M2, n, m, &mut rng(91));
    let locations = random_probabilities(j, m, &mut rng(92));
    let at = vec![0, 2, 1, 0];
    let z: Vec<Vec<f64>> = rows
        .iter()
        .zip(&classes)
        .map(|(p, y)| {
            let entry = |(t, tau): (&Vec<f64>, &usize)| {
                kernel_value(&fixed(), t, p) * (f64::from(y == tau) - p[*tau])
            };
            locations.iter().zip(&at).map(entry).collect()
        })
        .collect();
    let mean: Vec<f64> = (0..j)
        .map(|j| z.iter().map(|z| z[j]).sum::<f64>() / n as f64)
        .collect();
    let covariance = |a: usize, b: usize| {
        let terms = z.iter().map(|z| (z[a] - mean[a]) * (z[b] - mean[b]));
        terms.sum::<f64>() / (n - 1) as f64
    };
    let s = (0..j)
        .map(|a| (0..j).map(|b| covariance(a, b)).collect())
        .collect();
    let solution = solve(s, mean.clone());
    let q: f64 = n as f64 * mean.iter().zip(&solution).map(|(a, b)| a * b).sum::<f64>();

    let test = CmeTest::at(fixed(), categorical(&locations), labels(&at));
    let outcome = test.outcome_on(&rows, &classes, 0);
    let f = q * (n - j) as f64 / (j * (n - 1)) as f64;
    assert_relative(outcome.statistic, f, 1e-8);
    let ucme = mean.iter().map(|z| z * z).sum::<f64>() / j as f64;
    assert_relative(outcome.estimate, ucme, 1e-10);
}

/// Calibrated binary predictions between .3 and .7, locations evenly among them.
fn rejections(locations: usize, null: CmeNull, n: usize, sets: usize) -> usize {
    let binary = |p: f64| vec![p, 1.0 - p];
    let at: Vec<Vec<f64>> = (0..locations)
        .map(|j| binary(0.3 + 0.4 * j as f64 / (locations - 1) as f64))
        .collect();
    let test = CmeTest::at(fixed(), categorical(&at), labels(&vec![0; locations])).with_null(null);
    let mut rng = rng(93);
    let mut rejects = || {
        let p: Vec<f64> = (0..n).map(|_| rng.random_range(0.3..0.7)).collect();
        let rows: Vec<Vec<f64>> = p.iter().map(|&p| binary(p)).collect();
        let classes: Vec<usize> = p
            .iter()
            .map(|&p| usize::from(!rng.random_bool(p)))
            .collect();
        let outcome = test.outcome(&categorical(&rows), &labels(&classes), &mut rng);
        outcome.unwrap().p_value <= 0.05
    };
    (0..sets).filter(|_| rejects()).count()
}

/// Levels of the same test in NumPy, over 6,000 data sets: F 7.6 % at n = 16 and 5.2 % at n = 256,
/// χ² 17.2 % and 5.4 %.
#[test]
fn levels() {
    let sets = 400;
    for (null, n, level) in [
        (CmeNull::Hotelling, 16, 0.076),
        (CmeNull::Hotelling, 256, 0.052),
        (CmeNull::ChiSquared, 16, 0.172),
        (CmeNull::ChiSquared, 256, 0.054),
    ] {
        let rejected = rejections(3, null, n, sets);
        assert_binomial(rejected, sets, (level, 3.0), null);
    }
}

#[test]
fn power_and_seed() {
    let (rows, classes) = draw(Model::M2, 250, 10, &mut rng(94));
    let outcome = |seed| CmeTest::new(Kernel::exponential(), 10).outcome_on(&rows, &classes, seed);
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1).statistic, outcome(2).statistic);
    assert_eq!((outcome(1).p_value, outcome(1).is_bound), (1e-3, true));
}

/// With redrawn labels the same quantity keeps its level where the F distribution does not: 40 % of
/// binary data sets at 5 %.
#[test]
fn exact_level() {
    let sets = 300;
    let mut data = rng(97);
    let locations = categorical(&random_probabilities(5, 2, &mut data));
    let ucme = Ucme::new(Kernel::exponential(), &locations, &labels(&[0, 1, 0, 1, 0])).unwrap();
    let test = ExactTest::new(ucme.clone()).with_replicates(99);
    let rejected = (0..sets)
        .filter(|_| {
            let (rows, classes) = draw(Model::M1, 20, 2, &mut data);
            let (predictions, labels) = (categorical(&rows), labels(&classes));
            let outcome = test.outcome(&predictions, &labels, &mut data).unwrap();
            let estimate = ucme.estimate(&predictions, &labels).unwrap();
            assert_relative(outcome.estimate, estimate, 1e-12);
            outcome.p_value <= 0.05
        })
        .count();
    // ties of discrete labels make it conservative
    let most = 0.05 * sets as f64 + 3.0 * (0.05 * 0.95 * sets as f64).sqrt();
    assert!(rejected as f64 <= most, "{rejected} of {sets}");
    let (rows, classes) = draw(Model::M2, 250, 2, &mut data);
    let outcome = test.outcome(&categorical(&rows), &labels(&classes), &mut data);
    assert_eq!(outcome.unwrap().p_value, 0.01);
}

#[test]
fn few_expected_errors_are_said() {
    let three = [vec![0.98, 0.02], vec![0.03, 0.97], vec![0.95, 0.05]];
    let rows: Vec<_> = three.into_iter().cycle().take(60).collect();
    let classes = [0, 1, 0]
        .repeat(19)
        .into_iter()
        .chain([1, 1, 0])
        .collect::<Vec<_>>();
    let outcome =
        CmeTest::at(fixed(), categorical(&rows[..1]), labels(&[0])).outcome_on(&rows, &classes, 0);
    assert_relative(outcome.expected_errors.unwrap(), 2.0, 1e-9);
    let caveat = outcome.caveat.as_ref().unwrap();
    assert!(caveat.starts_with("2.0 errors are expected"));
    contains(&outcome, "\n    caveat        2.0 errors");
}

#[test]
fn what_data_can_get_wrong() {
    let (rows, classes) = draw(Model::M1, 10, 3, &mut rng(95));
    let evaluate = |test: CmeTest| {
        test.outcome(&categorical(&rows), &labels(&classes), &mut rng(0))
            .map(|outcome| outcome.p_value)
    };
    assert!(evaluate(CmeTest::new(fixed(), 5)).is_ok());
    refuses(evaluate(CmeTest::new(fixed(), 10)));
    let at = |rows: &[Vec<f64>], classes: &[usize]| {
        refuses(evaluate(CmeTest::at(
            fixed(),
            categorical(rows),
            labels(classes),
        )));
    };
    at(&random_probabilities(12, 3, &mut rng(96)), &[0; 12]);
    let twice = vec![rows[0].clone(), rows[0].clone()];
    at(&twice, &[1, 1]);
    at(&twice, &[1]);
    at(&twice, &[1, 3]);
    at(&[vec![0.5, 0.5]], &[0]);
    refuses(evaluate(CmeTest::new(fixed(), 0)));
}

/// It does not keep its level at any number of expected errors, and says so.
#[test]
fn the_outcome_always_has_a_caveat() {
    let mut rng = rng(93);
    let rows = random_probabilities(400, 2, &mut rng);
    let classes = random_labels(400, 2, &mut rng);
    for null in [CmeNull::Hotelling, CmeNull::ChiSquared] {
        let test = CmeTest::new(fixed(), 10).with_null(null);
        let outcome = test
            .outcome(&categorical(&rows), &labels(&classes), &mut rng)
            .unwrap();
        let errors = outcome.expected_errors.unwrap();
        assert!(errors > TestOutcome::FEWEST_EXPECTED_ERRORS, "{errors}");
        assert!(outcome.caveat.unwrap().contains("Ucme"));
    }
}
