//! The choice among maps.

use burn_calibration::{loss::ScoreLoss, recalibration::*, score::Brier};
use rand::rngs::StdRng;

use super::{draw_class, overconfident};
use crate::data::*;

fn auto(rows: &[Vec<f64>], classes: &[usize]) -> AutoRecalibration {
    let config = AutoRecalibrationConfig::new();
    config.fit(tensor(rows), labels(classes)).unwrap()
}

/// Rows of logits with classes drawn from the probabilities of others.
fn drawn(
    n: usize,
    m: usize,
    seed: u64,
    truth: impl Fn(&[f64]) -> Vec<f64>,
) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut rng: StdRng = rng(seed);
    let rows = random_rows(n, m, 3.0, &mut rng);
    let classes = (rows.iter())
        .map(|row| draw_class(&softmax(&truth(row)), &mut rng))
        .collect();
    (rows, classes)
}

/// A scale and an intercept for each of four classes.
fn by_a_vector(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    let (a, b) = ([0.3, 1.0, 0.6, 1.5], [1.5, -0.5, 0.0, -1.5]);
    drawn(n, 4, seed, |row| {
        (0..4).map(|c| a[c] * row[c] + b[c]).collect()
    })
}

fn held_out(map: &dyn Recalibration, (rows, classes): &(Vec<Vec<f64>>, Vec<usize>)) -> f64 {
    let out = vector(map.forward(tensor(rows)));
    let m = out.len() / classes.len();
    let losses = out
        .chunks(m)
        .zip(classes)
        .map(|(z, &y)| -softmax(z)[y].ln());
    losses.sum::<f64>() / classes.len() as f64
}

#[test]
fn a_temperature_is_found_where_it_made_the_data() {
    for seed in 0..2 {
        let (rows, classes) = overconfident(400, 140 + seed);
        let map = auto(&rows, &classes);
        let choice = map.choice();
        assert_eq!(choice.chosen, "temperature", "{choice}");
        let alone = TemperatureScalingConfig::new()
            .with_prior(Some(0.35))
            .fit(tensor(&rows), labels(&classes))
            .unwrap();
        assert_eq!(
            vector(map.forward(tensor(&rows))),
            vector(alone.forward(tensor(&rows)))
        );
        let (low, high) = choice.interval().unwrap();
        assert!(low < choice.change.estimate && high < 0.0, "{choice}");
        assert!(choice.costs.is_empty(), "{choice}");
        let few = "400 samples are too few to try diagonal";
        assert!(
            choice
                .warnings
                .iter()
                .any(|warning| warning.to_string().starts_with(few))
        );
        let gains = choice.candidates.iter().map(|candidate| candidate.change);
        assert!(gains.skip(1).all(|gain| gain.estimate < 0.0), "{choice}");
    }
}

/// Little is lost where there is nothing to gain.
#[test]
fn calibrated_predictions_stay_nearly_as_they_are() {
    for seed in 0..3 {
        let data = drawn(300, 3, 150 + seed, |row| row.to_vec());
        let map = auto(&data.0, &data.1);
        let others = drawn(2000, 3, 155, |row| row.to_vec());
        let none = TemperatureScaling::from_temperature(1.0, &device()).unwrap();
        let lost = held_out(&*map, &others) - held_out(&none, &others);
        assert!(lost < 0.02, "{lost}\n{}", map.choice());
    }
}

/// It is better on other data too, and says what its guarantees would cost; asked to keep, it keeps.
#[test]
fn a_rich_map_is_found_where_it_made_the_data() {
    let (rows, classes) = by_a_vector(1000, 160);
    let map = auto(&rows, &classes);
    let choice = map.choice();
    let matrix = |name: &str| name.ends_with("matrix");
    let parts = choice.weights.iter();
    let of_matrices = parts
        .filter(|part| matrix(part.name))
        .map(|part| part.weight);
    assert!(
        matrix(choice.chosen) || of_matrices.sum::<f64>() > 0.3,
        "{choice}"
    );
    let others = by_a_vector(2000, 161);
    let temperature = TemperatureScalingConfig::new()
        .fit(tensor(&rows), labels(&classes))
        .unwrap();
    assert!(held_out(&*map, &others) < held_out(&temperature, &others) - 0.05);
    let cost = |keep| choice.costs.iter().find(|cost| cost.keep == keep).unwrap();
    let order = cost(Keep::Order);
    assert!(order.change.estimate > 0.05, "{choice}");
    let text = choice.to_string();
    assert!(
        text.contains("would keep the accuracy, the order of the classes"),
        "{text}"
    );

    for (keep, expected) in [
        (Keep::Order, order.name),
        (Keep::Accuracy, cost(Keep::Accuracy).name),
    ] {
        let config = AutoRecalibrationConfig::new().with_keep(Some(keep));
        let map = config.fit(tensor(&rows), labels(&classes)).unwrap();
        assert!(map.guarantees().keeps(keep), "{}", map.choice());
        assert_eq!(map.choice().chosen, expected);
        let over = &map.choice().passed_over;
        let matrix = over.iter().find(|over| over.name == "structured-matrix");
        assert!(
            matrix.unwrap().reason.starts_with("it does not keep"),
            "{}",
            map.choice()
        );
    }
    let config = AutoRecalibrationConfig::new().with_keep(Some(Keep::Information));
    let map = config.fit(tensor(&rows), labels(&classes)).unwrap();
    assert!(map.guarantees().injective, "{}", map.choice());
}

#[test]
fn two_classes() {
    // log-odds that are right below 0 and far too large above
    let truth = |row: &[f64]| {
        let s = row[1] - row[0];
        vec![0.0, if s > 0.0 { 0.1 * s } else { s } + 0.7]
    };
    let (rows, classes) = drawn(2000, 2, 170, truth);
    let map = auto(&rows, &classes);
    let names: Vec<_> = map
        .choice()
        .candidates
        .iter()
        .map(|candidate| candidate.name)
        .collect();
    assert!(
        names.contains(&"beta") && names.contains(&"quadratic"),
        "{names:?}"
    );
    assert!(!["none", "temperature", "ensemble-temperature"].contains(&map.choice().chosen));
    assert!(map.choice().change.estimate < -0.05, "{}", map.choice());
}

/// Saved as what was chosen; the same from the same seed; fitted to a criterion in the end.
#[test]
fn files_seeds_and_criteria() {
    let (rows, classes) = by_a_vector(400, 180);
    let map = auto(&rows, &classes);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("chosen.map");
    map.save(&path).unwrap();
    let loaded = load_map(&path, &device()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(loaded.kind(), map.kind());
    let out = |map: &dyn Recalibration| vector(map.forward(tensor(&rows)));
    assert_eq!(out(loaded.as_ref()), out(&*map));
    assert_eq!(out(&*auto(&rows, &classes)), out(&*map));

    let brier = ScoreLoss::new(Brier);
    let (z, y) = (tensor(&rows), labels(&classes));
    let by_brier = AutoRecalibrationConfig::new().fit_by(&brier, z.clone(), y.clone());
    let by_brier = by_brier.unwrap();
    let candidates = |map: &AutoRecalibration| {
        let all = map.choice().candidates.clone().into_iter();
        let single = all.filter(|candidate| candidate.name != "mixture");
        single
            .map(|candidate| (candidate.name, candidate.log_loss.estimate))
            .collect::<Vec<_>>()
    };
    assert_eq!(candidates(&by_brier), candidates(&map));
    assert_ne!(by_brier.choice().chosen, "mixture");
    let value = |map: &dyn Recalibration| scalar(brier.forward(map.forward(z.clone()), y.clone()));
    // the penalties weigh more beside a score that is less steep
    assert!(value(&*by_brier) < value(&*map) + 0.02);
    assert_ne!(out(&*by_brier), out(&*map));
}

/// Two classes have Venn–Abers too, but for a criterion; a hundred classes of fewer samples a temperature alone.
#[test]
fn few_and_many_classes() {
    let truth = |row: &[f64]| vec![0.0, 1.0 / (1.0 + (row[0] - row[1]).exp())];
    let (rows, classes) = drawn(1000, 2, 175, truth);
    let (z, y) = (tensor(&rows), labels(&classes));
    let map = auto(&rows, &classes);
    let mut candidates = map.choice().candidates.iter();
    assert!(candidates.any(|candidate| candidate.name == "venn-abers"));
    let brier = ScoreLoss::new(Brier);
    let map = AutoRecalibrationConfig::new().fit_by(&brier, z, y).unwrap();
    let over = map.choice().passed_over.iter();
    let over: Vec<_> = over.map(|over| (over.name, over.least)).collect();
    assert_eq!(over, [("venn-abers", None), ("mixture", None)]);

    let (rows, classes) = drawn(60, 100, 176, |row| row.to_vec());
    let map = auto(&rows, &classes);
    let none = TemperatureScaling::from_temperature(1.0, &device()).unwrap();
    let others = drawn(500, 100, 177, |row| row.to_vec());
    let lost = held_out(&*map, &others) - held_out(&none, &others);
    assert!(lost < 0.1, "{lost}\n{}", map.choice());
    assert!(["none", "temperature"].contains(&map.choice().chosen));
}

/// Where classes are drawn from a sharper prediction or, in two of five cases, without a look at it, no single map
/// is right, and a mixture is nearer.
#[test]
fn a_mixture_is_found_where_it_made_the_data() {
    let truth = |row: &[f64]| {
        let sharp = softmax(&row.iter().map(|z| 3.0 * z).collect::<Vec<_>>());
        let mixed = sharp.iter().zip([0.9, 0.05, 0.05]);
        mixed.map(|(p, q)| (0.6 * p + 0.4 * q).ln()).collect()
    };
    let (rows, classes) = drawn(2000, 3, 172, truth);
    let map = auto(&rows, &classes);
    let choice = map.choice();
    assert_eq!(
        (choice.chosen, map.kind()),
        ("mixture", "mixture of maps"),
        "{choice}"
    );
    let weights: Vec<f64> = choice.weights.iter().map(|part| part.weight).collect();
    assert!(
        weights.len() > 1 && weights.iter().all(|weight| *weight >= 0.02),
        "{choice}"
    );
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let others = drawn(4000, 3, 173, truth);
    let temperature = TemperatureScalingConfig::new()
        .fit(tensor(&rows), labels(&classes))
        .unwrap();
    assert!(
        held_out(&*map, &others) < held_out(&temperature, &others),
        "{choice}"
    );
    let costs: Vec<_> = choice.costs.iter().map(|cost| cost.keep).collect();
    assert!(
        costs.contains(&Keep::Order) && costs.contains(&Keep::Accuracy),
        "{choice}"
    );
    assert!(
        choice.to_string().contains("chosen:     mixture, of 0."),
        "{choice}"
    );

    let config = AutoRecalibrationConfig::new().with_keep(Some(Keep::Order));
    let map = config.fit(tensor(&rows), labels(&classes)).unwrap();
    let mut over = map.choice().passed_over.iter();
    let mixture = over.find(|over| over.name == "mixture").unwrap();
    assert!(
        mixture.reason.starts_with("it does not keep"),
        "{}",
        map.choice()
    );
}

/// Of many samples one fold is left out of the fits, and the map is still fitted to all.
#[test]
fn many_samples() {
    let (rows, classes) = drawn(20_000, 3, 178, |row| {
        vec![row[0] + 0.5, 0.5 * row[1], row[2]]
    });
    let config =
        AutoRecalibrationConfig::new().with_keep(Some(Keep::InformationOfLogProbabilities));
    let map = config.fit(tensor(&rows), labels(&classes)).unwrap();
    let choice = map.choice();
    assert_eq!((choice.folds, choice.change.samples), (1, 4000));
    assert_eq!(choice.chosen, "matrix", "{choice}"); // of which the truth is one
    let text = choice.to_string();
    assert!(
        text.contains("on 4000 samples left out of the fits"),
        "{text}"
    );
    let weight = map.report().unwrap().regularisation.unwrap();
    let alone = MatrixScalingConfig::new().with_regularisation(Regularisation::Fixed(weight));
    let alone = alone.fit(tensor(&rows), labels(&classes));
    let out = |map: &dyn Recalibration| vector(map.forward(tensor(&rows)));
    assert_eq!(out(&*map), out(&alone.unwrap()));
}

/// What is not known is said, and from twenty samples no loss on other data is far above that of a uniform
/// prediction.
#[test]
fn few_and_hard_samples() {
    let other = overconfident(1000, 190);
    for n in [1, 2, 3, 5, 20, 30] {
        let (rows, classes) = overconfident(n, 191);
        let likely = |row: &Vec<f64>| (0..4).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let right: Vec<usize> = rows.iter().map(likely).collect();
        let missing: Vec<usize> = classes.iter().map(|y| y % 3).collect();
        for classes in [&classes, &right, &missing, &vec![2; n]] {
            let map = auto(&rows, classes);
            let loss = held_out(&*map, &other);
            let bound = match n {
                20.. if *classes == right => 6.0,
                20.. => 4.0,
                _ => f64::MAX,
            };
            assert!(loss < bound, "{n}: {loss}\n{}", map.choice());
            if *classes == right {
                let warnings = &map.choice().warnings;
                let said = warnings
                    .iter()
                    .any(|warning| warning.to_string().contains("how sharp"));
                assert!(said, "{warnings:?}");
            } else if n < 20 {
                let few = map
                    .choice()
                    .passed_over
                    .iter()
                    .all(|over| over.least.is_some());
                assert!(few, "{}", map.choice());
            }
        }
    }
    let error = AutoRecalibrationConfig::new()
        .with_folds(1)
        .fit(tensor(&other.0), labels(&other.1))
        .unwrap_err();
    assert!(error.to_string().contains("the number of folds"), "{error}");
}

/// Of calibrated predictions no gain is established: they stay as they are.
#[test]
fn calibrated_predictions_are_chosen_as_they_are() {
    let mut chosen = 0;
    for seed in 0..12 {
        let n = [60, 250, 400][seed as usize % 3];
        let (rows, classes) = drawn(n, 2 + seed as usize % 3, 300 + seed, |row| row.to_vec());
        let map = auto(&rows, &classes);
        let none = map.choice().chosen == "none";
        chosen += usize::from(!none);
        assert_eq!(map.choice().candidates[0].name, "none");
        if none {
            assert_eq!(map.choice().interval(), None);
            assert_eq!(vector(map.forward(tensor(&rows))), vector(tensor(&rows)));
        }
    }
    assert!(chosen <= 2, "{chosen}"); // of 12 at 2.5 %, 3 have a probability of 0.003
}

/// A wild row decides neither for nor against a map.
#[test]
fn a_wild_row_does_not_choose() {
    let (mut rows, mut classes) = overconfident(400, 140);
    let others = overconfident(2000, 139);
    let none = TemperatureScaling::from_temperature(1.0, &device()).unwrap();
    for class in [0, 1] {
        rows[7] = vec![1e8, 0.0, 0.0, 0.0];
        classes[7] = class;
        let map = auto(&rows, &classes);
        let gain = held_out(&*map, &others) - held_out(&none, &others);
        assert!(gain < -0.2, "{gain} {}", map.choice());
    }
}

/// The over- or underconfidence of each candidate is that of predictions that it was not fitted to.
#[test]
fn confidence_is_told() {
    let (rows, classes) = overconfident(400, 141);
    let map = auto(&rows, &classes);
    let of = |name: &str| {
        let found = map.choice().candidates.iter().find(|one| one.name == name);
        found.unwrap().overconfidence.unwrap()
    };
    let (before, after) = (of("none"), of("temperature"));
    assert!(
        before.estimate > 0.1 && after.estimate.abs() < 0.06,
        "{before:?} {after:?}"
    );
    let text = map.choice().to_string();
    assert!(text.contains("none                  log loss") && text.contains(", overconfident by"));
}

/// Labels that are random in 12 of 100 cases: a temperature cannot correct that, and the chosen map is neither
/// over- nor underconfident.
#[test]
fn noisy_labels() {
    let sharp = |row: &[f64]| row.iter().map(|z| 3.0 * z).collect::<Vec<f64>>();
    let sample = |n, seed| {
        let (rows, classes) = drawn(n, 6, seed, |row| {
            let noisy = softmax(&sharp(row)).into_iter().map(|p| 0.88 * p + 0.02);
            noisy.map(f64::ln).collect()
        });
        let rows: Vec<_> = rows.iter().map(|row| sharp(row)).collect();
        (rows, classes)
    };
    let others = sample(4000, 311);
    let overconfidence = |map: &dyn Recalibration| {
        let out = vector(map.forward(tensor(&others.0)));
        let excess = |(z, &y): (&[f64], &usize)| {
            let p = softmax(z);
            let likely = (1..6).fold(0, |k, c| if p[c] > p[k] { c } else { k });
            p[likely] - f64::from(u8::from(likely == y))
        };
        out.chunks(6).zip(&others.1).map(excess).sum::<f64>() / 4000.0
    };
    for (n, seed) in [(800, 312), (2000, 310)] {
        let (rows, classes) = sample(n, seed);
        let map = auto(&rows, &classes);
        let temperature = TemperatureScalingConfig::new()
            .fit(tensor(&rows), labels(&classes))
            .unwrap();
        assert_ne!(map.choice().chosen, "temperature");
        let gain = held_out(&temperature, &others) - held_out(&*map, &others);
        assert!(gain > 0.02, "{gain} {}", map.choice());
        let found = overconfidence(&*map);
        assert!(found.abs() < 0.025, "{found} {}", map.choice());
    }
}

/// The interval of the gain holds the true gain of the map that is given, at least as often as it says.
#[test]
fn the_interval_of_the_gain_covers() {
    let truth = |row: &[f64]| -> Vec<f64> { row.iter().map(|z| z / 4.0).collect() };
    let expected = |rows: &[Vec<f64>], logits: &[f64]| {
        let rows = rows.iter().zip(logits.chunks(3));
        let of_row = |(row, z): (&Vec<f64>, &[f64])| {
            let (p, q) = (softmax(&truth(row)), softmax(z));
            p.iter().zip(q).map(|(p, q)| -p * q.ln()).sum::<f64>()
        };
        rows.map(of_row).sum::<f64>() / logits.len() as f64 * 3.0
    };
    let (mut given, mut held) = (0, 0);
    for seed in 0..150 {
        let (rows, classes) = drawn(150, 3, 7000 + seed, truth);
        let map = auto(&rows, &classes);
        if let Some((low, high)) = map.choice().interval() {
            let others = random_rows(3000, 3, 3.0, &mut rng(9000 + seed));
            let after = expected(&others, &vector(map.forward(tensor(&others))));
            let gain = after - expected(&others, &others.concat());
            given += 1;
            held += usize::from(low <= gain && gain <= high);
        }
    }
    let share = held as f64 / given as f64;
    assert!(given > 50, "{given}");
    assert!(
        share > 0.95 - 3.0 * (0.95 * 0.05 / given as f64).sqrt(),
        "{held} of {given}"
    );
}

/// The last progress is that of the last fit.
#[test]
fn progress_ends() {
    let (rows, classes) = overconfident(400, 142);
    let mut last = None;
    let mut observe = |at: FitProgress| last = Some((at.fit, at.fits));
    let config = AutoRecalibrationConfig::new();
    config
        .fit_observed(None, tensor(&rows), labels(&classes), &mut observe)
        .unwrap();
    let (fit, fits) = last.unwrap();
    assert_eq!(fit, fits);
}
