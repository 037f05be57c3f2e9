//! Levels of the omnibus test and of each of its aspects, on calibrated data.

use std::collections::BTreeMap;

use crate::prelude::*;

const LEVELS: [f64; 2] = [0.01, 0.05];

/// How often the test, each aspect, and any adjusted aspect reject calibrated data.
fn rejections<P: Omnibus>(
    sets: usize,
    redraws: usize,
    mut data: impl FnMut(&mut StdRng) -> (P, P::Targets),
) -> BTreeMap<String, [usize; 2]> {
    let mut rng = rng(621);
    let test = OmnibusTest::new().with_redraws(redraws);
    let mut rejected: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for _ in 0..sets {
        let (predictions, targets) = data(&mut rng);
        let outcome = test.outcome(&predictions, &targets, &mut rng).unwrap();
        let mut count = |name: &str, p: f64| {
            let counts = rejected.entry(name.into()).or_default();
            for (count, level) in counts.iter_mut().zip(LEVELS) {
                *count += usize::from(p <= level + 1e-12);
            }
        };
        count("omnibus", outcome.p_value);
        for (number, aspect) in outcome.aspects.iter().enumerate() {
            // the bandwidth in the name depends on the data
            let of_kernel = format!("skce_{number}");
            let skce = aspect.name.starts_with("skce");
            let name = if skce { &of_kernel } else { &aspect.name };
            count(name, aspect.p_value);
        }
    }
    rejected
}

/// Never above the level; at 5 % not below, where the statistics have no ties.
fn check(what: &str, sets: usize, continuous: bool, rejected: BTreeMap<String, [usize; 2]>) {
    println!("{what}, {sets} data sets: {rejected:?}");
    for (name, counts) in rejected {
        for (count, level) in counts.into_iter().zip(LEVELS) {
            let expected = sets as f64 * level;
            // one of some hundred comparisons may be off by more than 3 standard deviations
            let z = if name == "omnibus" { 3.0 } else { 3.5 };
            let deviation = z * (expected * (1.0 - level)).sqrt();
            let found = count as f64;
            let said = format!("{what}, {name}: {count} of {sets} at {level}");
            // few are expected: the skewness by Cornish and Fisher
            let skewness = (z * z - 1.0) / 6.0 * (1.0 - 2.0 * level);
            assert!(found <= expected + deviation + skewness, "{said}");
            // the furthest of draws has ties: those of the ranks are broken once for all sets. So has the least
            // likely label: where the rarest class of all samples has a probability above the level, as of
            // uncertain predictions, it is the label of more data sets than that. Its p-value is checked
            // against its exact law in `least_likely_label_by_its_law`
            let has_ties = ["furthest_target", "least_likely_label"].contains(&name.as_str());
            if continuous && !has_ties && level == 0.05 {
                assert!(found >= expected - deviation, "{said}");
            }
        }
    }
}

fn of_model(model: Model, n: usize, m: usize, rng: &mut StdRng) -> (Categorical, Tensor<1, Int>) {
    let (rows, classes) = draw(model, n, m, rng);
    (categorical(&rows), labels(&classes))
}

/// Labels drawn from given rows.
fn calibrated(rows: &[Vec<f64>], rng: &mut StdRng) -> (Categorical, Tensor<1, Int>) {
    let predictions = categorical(rows);
    let labels = predictions.sample(rng);
    (predictions, labels)
}

#[test]
fn classes() {
    let sets = simulated(400);
    let rejected = rejections(sets, 99, |rng| of_model(Model::M1, 50, 4, rng));
    check("M1", sets, false, rejected);
    // many classes that are almost equally likely: no ties but in the counts of classes
    let rejected = rejections(sets, 99, |rng| {
        calibrated(&softmax_rows(&random_rows(60, 3, 1.0, rng)), rng)
    });
    check("uncertain", sets, true, rejected);
    let rejected = rejections(sets, 99, |rng| {
        let rows = random_pairs(40, 0.05..0.95, rng);
        calibrated(&rows, rng)
    });
    check("binary", sets, true, rejected);
}

/// Labels are independent: `P(min_i p_{i,y_i} ≤ t) = 1 − Π_i Σ_{c: p_ic > t} p_ic`.
#[test]
fn least_likely_label_by_its_law() {
    let mut rng = rng(622);
    let redraws = 1999;
    for (n, scale) in [(5, 1.0), (30, 2.0), (60, 4.0)] {
        let logits = random_rows(n, 4, scale, &mut rng);
        let rows = softmax_rows(&logits);
        for _ in 0..5 {
            let (predictions, targets) = calibrated(&rows, &mut rng);
            let classes = classes_of(&targets);
            let of_label = rows.iter().zip(classes).map(|(p, y)| p[y]);
            let least = of_label.fold(1.0, f64::min);
            let rarer_than_none = |p: &Vec<f64>| -> f64 {
                let likelier = p.iter().filter(|p| **p > least * (1.0 + 1e-9));
                likelier.sum()
            };
            let exact = 1.0 - rows.iter().map(rarer_than_none).product::<f64>();
            let test = OmnibusTest::new().with_redraws(redraws);
            let outcome = test.outcome(&predictions, &targets, &mut rng).unwrap();
            let mut aspects = outcome.aspects.iter();
            let aspect = aspects.find(|aspect| aspect.name == "least_likely_label");
            let found = aspect.unwrap().p_value;
            let deviation = (exact * (1.0 - exact) / redraws as f64).sqrt();
            let tolerance = 4.0 * deviation + 1.0 / redraws as f64;
            assert!((found - exact).abs() <= tolerance, "{found}, {exact}");
        }
    }
}

/// Half an error is expected: most data sets have none.
#[test]
fn confident_classes() {
    let sets = simulated(500);
    let rejected = rejections(sets, 99, |rng| {
        let rows = random_pairs(50, 0.985..0.995, rng);
        calibrated(&rows, rng)
    });
    check("confident", sets, false, rejected);
    let rejected = rejections(sets, 199, |rng| {
        calibrated(&vec![vec![0.98, 0.015, 0.005]; 50], rng)
    });
    check("confident and equal", sets, false, rejected);
}

/// Predictions of a network on images, as they are and sharpened.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn real_classes() {
    let folder = cifar10::folder();
    let rows = cifar10::predictions(&folder, "googlenet");
    for sharpness in [1.0, 2.0] {
        let sets = simulated(300);
        let rejected = rejections(sets, 99, |rng| {
            let mut row = || {
                let row = &rows[rng.random_range(0..rows.len())];
                let powers: Vec<f64> = row.iter().map(|p| p.powf(sharpness)).collect();
                let sum: f64 = powers.iter().sum();
                powers.iter().map(|p| p / sum).collect()
            };
            let rows: Vec<Vec<f64>> = (0..200).map(|_| row()).collect();
            calibrated(&rows, rng)
        });
        let what = format!("CIFAR-10 to the power {sharpness}");
        check(&what, sets, false, rejected);
    }
}

pub use crate::prelude::random_normal as normal;

#[test]
fn real_targets() {
    let sets = simulated(600);
    for d in [1, 2] {
        let rejected = rejections(sets, 99, |rng| {
            let predictions = normal(40, d, rng);
            let targets = predictions.sample(rng);
            (predictions, targets)
        });
        check(&format!("normal, d = {d}"), sets, true, rejected);
    }
    let sets = simulated(100);
    let rejected = rejections(sets, 99, |rng| {
        let ensemble = Mixture::ensemble(&[normal(30, 1, rng), normal(30, 1, rng)]);
        let targets = ensemble.sample(rng);
        (ensemble, targets)
    });
    check("mixtures", sets, true, rejected);
    let sets = simulated(200);
    let rejected = rejections(sets, 99, |rng| {
        let members: Vec<Normal> = (0..6).map(|_| normal(30, 1, rng)).collect();
        let ensemble = Mixture::ensemble(&members);
        let targets = ensemble.sample(rng);
        (ensemble.compared_by_quantiles(), targets)
    });
    check("mixtures by quantiles", sets, true, rejected);
}

/// Targets that are one more draw: exchangeable with the draws of the prediction. Few draws are the hard case,
/// and counts: a redrawn target that is always one of the draws would differ from one that is not.
#[test]
fn draws() {
    for (n, each, d, sets, by_quantiles) in [
        (40, 20, 1, 300, false),
        (100, 10, 1, 400, false),
        (30, 1, 1, 300, false),
        (30, 2, 1, 300, false),
        (30, 3, 2, 300, false),
        (30, 3, 2, 300, true),
    ] {
        let sets = simulated(sets);
        for of_counts in [false, true] {
            let rejected = rejections(sets, 99, |rng| {
                let truth = normal(n, d, rng);
                let samples = Samples::drawn_from(&truth, each, rng);
                let samples = if by_quantiles {
                    samples.compared_by_quantiles()
                } else {
                    samples
                };
                let targets = truth.sample(rng);
                match of_counts {
                    true => (samples.map(&|x| x.round()), targets.round()),
                    false => (samples, targets),
                }
            });
            let what = format!("{each} draws, n = {n}, d = {d}, counts: {of_counts}");
            println!("{what}: {rejected:?}");
            check(&what, sets, !of_counts && each > 2, rejected);
        }
    }
}
