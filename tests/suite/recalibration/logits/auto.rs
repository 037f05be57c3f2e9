//! The choice among maps.

use super::overconfident;
use crate::prelude::*;

pub(super) fn auto(rows: &[Vec<f64>], classes: &[usize]) -> AutoRecalibration {
    AutoRecalibrationConfig::new().fitted(rows, classes)
}

/// Rows of logits with classes drawn from the probabilities of others.
pub(super) type Data = (Vec<Vec<f64>>, Vec<usize>);

pub(super) fn drawn(n: usize, m: usize, seed: u64, truth: impl Fn(&[f64]) -> Vec<f64>) -> Data {
    let mut rng: StdRng = rng(seed);
    let rows = random_rows(n, m, 3.0, &mut rng);
    let classes = (rows.iter())
        .map(|row| draw_class(&softmax(&truth(row)), &mut rng))
        .collect();
    (rows, classes)
}

/// A scale and an intercept for each of four classes.
fn by_a_vector(n: usize, seed: u64) -> Data {
    let (a, b) = ([0.3, 1.0, 0.6, 1.5], [1.5, -0.5, 0.0, -1.5]);
    drawn(n, 4, seed, |row| {
        (0..4).map(|c| a[c] * row[c] + b[c]).collect()
    })
}

pub(super) fn held_out(map: &dyn Recalibration, (rows, classes): &Data) -> f64 {
    log_loss(&rows_of(map.forward(tensor(rows))), classes)
}

/// By how much a map changes the log loss of other data.
pub(super) fn change(map: &dyn Recalibration, others: &Data) -> f64 {
    held_out(map, others) - held_out(&temperature_map(1.0), others)
}

pub(super) fn outputs(map: &dyn Recalibration, rows: &[Vec<f64>]) -> Vec<f64> {
    vector(map.forward(tensor(rows)))
}

fn warns(choice: &Choice, words: &str) -> bool {
    let mut warnings = choice.warnings.iter().map(ToString::to_string);
    warnings.any(|warning| warning.contains(words))
}

fn names(choice: &Choice) -> Vec<&str> {
    choice.candidates.iter().map(|tried| tried.name).collect()
}

/// A candidate is passed over because it does not keep what is asked for.
fn does_not_keep(choice: &Choice, name: &str) {
    let over = choice.passed_over.iter().find(|over| over.name == name);
    begins(&over.unwrap().reason, "it does not keep");
}

#[test]
fn a_temperature_is_found_where_it_made_the_data() {
    for seed in 0..2 {
        let (rows, classes) = overconfident(400, 140 + seed);
        let map = auto(&rows, &classes);
        let choice = map.choice();
        assert_eq!(choice.chosen, "temperature", "{choice}");
        let alone = TemperatureScalingConfig::new().with_prior(Some(0.35));
        let alone = alone.fitted(&rows, &classes);
        assert_eq!(outputs(&map, &rows), outputs(&alone, &rows));
        let Interval {
            lower: low,
            upper: high,
            ..
        } = choice.interval().unwrap();
        assert!(low < choice.change.estimate && high < 0.0, "{choice}");
        assert!(choice.costs.is_empty(), "{choice}");
        let few = "400 samples are too few to try diagonal";
        assert!(warns(choice, few), "{choice}");
        // a shift does not correct a temperature
        let others = choice.candidates.iter().skip(1);
        let mut others = others.filter(|candidate| candidate.name != "shift");
        assert!(others.all(|one| one.change.estimate < 0.0), "{choice}");
    }
}

/// Little is lost where there is nothing to gain.
#[test]
fn calibrated_predictions_stay_nearly_as_they_are() {
    for seed in 0..3 {
        let data = drawn(300, 3, 150 + seed, |row| row.to_vec());
        let map = auto(&data.0, &data.1);
        let others = drawn(2000, 3, 155, |row| row.to_vec());
        let lost = change(&map, &others);
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
    assert!(matrix(choice.chosen), "{choice}");
    let others = by_a_vector(2000, 161);
    let temperature = TemperatureScalingConfig::new().fitted(&rows, &classes);
    assert!(held_out(&map, &others) < held_out(&temperature, &others) - 0.05);
    let cost = |keep| choice.costs.iter().find(|cost| cost.keep == keep).unwrap();
    let order = cost(Keep::Order);
    assert!(order.change.estimate > 0.05, "{choice}");
    let text = choice.to_string();
    contains(&text, "would keep the accuracy, the order of the classes");

    let accuracy = cost(Keep::Accuracy);
    for (keep, expected) in [(Keep::Order, order), (Keep::Accuracy, accuracy)] {
        let config = AutoRecalibrationConfig::new().with_keep(Some(keep));
        let map = config.fitted(&rows, &classes);
        assert!(map.guarantees().keeps(keep), "{}", map.choice());
        assert_eq!(map.choice().chosen, expected.name);
        does_not_keep(map.choice(), "structured-matrix");
    }
    let config = AutoRecalibrationConfig::new().with_keep(Some(Keep::Information));
    let map = config.fitted(&rows, &classes);
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
    let names = names(map.choice());
    let tried = |name| names.contains(&name);
    assert!(tried("beta") && tried("quadratic"), "{names:?}");
    assert!(!["none", "temperature", "ensemble-temperature"].contains(&map.choice().chosen));
    assert!(map.choice().change.estimate < -0.05, "{}", map.choice());
}

/// Saved as what was chosen; the same from the same seed; by the log loss alone.
#[test]
fn files_seeds_and_criteria() {
    let (rows, classes) = by_a_vector(400, 180);
    let map = auto(&rows, &classes);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("chosen.map");
    map.save(&path).unwrap();
    let loaded = load_map(&path, &device()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(loaded.kind(), map.kind());
    let out = outputs(&map, &rows);
    assert_eq!(outputs(&loaded, &rows), out);
    assert_eq!(outputs(&auto(&rows, &classes), &rows), out);

    let brier = ScoreLoss::new(Brier);
    let (z, y) = (tensor(&rows), labels(&classes));
    refuses(AutoRecalibrationConfig::new().fit_by(&brier, z, y));
}

/// Two classes have Venn–Abers too; a hundred classes of fewer samples a temperature alone.
#[test]
fn few_and_many_classes() {
    let truth = |row: &[f64]| vec![0.0, 1.0 / (1.0 + (row[0] - row[1]).exp())];
    let (rows, classes) = drawn(1000, 2, 175, truth);
    let map = auto(&rows, &classes);
    assert!(names(map.choice()).contains(&"venn-abers"));
    assert!(map.choice().passed_over.is_empty());

    let (rows, classes) = drawn(60, 100, 176, |row| row.to_vec());
    let map = auto(&rows, &classes);
    let others = drawn(500, 100, 177, |row| row.to_vec());
    let lost = change(&map, &others);
    assert!(lost < 0.1, "{lost}\n{}", map.choice());
    assert!(["none", "temperature", "shift"].contains(&map.choice().chosen));
}

/// By hand: 28 of 40 events of probability 1/2 have a χ² of 8²/10, and log-odds that are all 0 have no slope.
#[test]
fn the_score_test_of_a_shift() {
    let rows = vec![vec![0.0, 0.0]; 40];
    let classes: Vec<usize> = (0..40).map(|i| usize::from(i % 10 < 7)).collect();
    let config = AutoRecalibrationConfig::new().with_subject(Subject::Event);
    let map = config.fitted(&rows, &classes);
    let choice = map.choice();
    let p_value = |name: &str| {
        let mut candidates = choice.candidates.iter();
        candidates
            .find(|one| one.name == name)
            .unwrap()
            .score_p_value
    };
    assert_near(p_value("shift").unwrap(), 0.011412036386, 1e-9);
    assert_eq!((p_value("temperature"), p_value("platt")), (None, None));
    assert_eq!(choice.chosen, "shift", "{choice}");
    contains(
        &choice,
        "the score test rejects the predictions before: p = 0.011",
    );
}

/// Three classes by another formula: `Uᵀ V⁺ U` of all classes, here with equal rows `p`, is Pearson's
/// `Σ (n_c − n p_c)²/(n p_c)`; Holm's adjustment doubles the smaller of two p-values.
#[test]
fn the_score_test_of_classes() {
    let p = [0.5, 0.3, 0.2];
    let rows = vec![p.map(f64::ln).to_vec(); 60];
    let counts = [24, 30, 6];
    let classes: Vec<usize> = (0..60)
        .map(|i| usize::from(i >= 24) + usize::from(i >= 54))
        .collect();
    let pearson: f64 = (counts.iter().zip(p))
        .map(|(&count, p)| (f64::from(count) - 60.0 * p).powi(2) / (60.0 * p))
        .sum();
    let exact = (-0.5 * pearson).exp(); // χ² of two degrees of freedom
    let map = auto(&rows, &classes);
    let mut candidates = map.choice().candidates.iter();
    let found = candidates
        .find(|one| one.name == "shift")
        .unwrap()
        .score_p_value;
    assert_relative(found.unwrap(), 2.0 * exact, 1e-9);
}

/// The words of one answer agree: what is chosen is not called worse or not established, and a map that loses for
/// certain is worse.
#[test]
fn words_agree() {
    for seed in 0..12 {
        let (rows, classes) = overconfident([40, 150, 300][seed as usize % 3], 820 + seed);
        let rows: Vec<_> = rows
            .iter()
            .map(|row| row.iter().map(|z| z / 2.5).collect())
            .collect();
        let map = auto(&rows, &classes);
        let choice = map.choice();
        for candidate in &choice.candidates {
            let text = choice.to_string();
            let line = format!("\n  {:21} ", candidate.name);
            let line = text.split(&line).nth(1).unwrap().lines().next().unwrap();
            let Interval { lower: low, .. } = candidate.change.interval(0.95).unwrap();
            let is_worse = !candidate.established && low > 0.0 && candidate.name != choice.chosen;
            assert_eq!(line.contains(", worse"), is_worse, "{text}");
            let doubted = line.contains("not established");
            assert!(
                !doubted || candidate.name != choice.chosen && low <= 0.0,
                "{text}"
            );
        }
    }
}

/// A logit of 1e40 beside ordinary ones: a map or an error, and what fails is passed over.
#[test]
fn a_huge_logit() {
    let (mut rows, classes) = overconfident(400, 840);
    for size in [1e17, 1e40, 1e90] {
        rows[3][classes[3]] = size;
        let map = auto(&rows, &classes);
        all_finite(outputs(&map, &rows[..3]));
        rows[3][classes[3]] = 0.0;
        rows[3][(classes[3] + 1) % 4] = size;
        let map = auto(&rows, &classes);
        all_finite(outputs(&map, &rows[..3]));
        let raises = "the map raises the mean log loss";
        assert!(map.choice().chosen == "temperature" || !warns(map.choice(), raises));
    }
}

/// Of many samples one fold is left out of the fits, and the map is still fitted to all.
#[test]
fn many_samples() {
    let (rows, classes) = drawn(20_000, 3, 178, |row| {
        vec![row[0] + 0.5, 0.5 * row[1], row[2]]
    });
    let config =
        AutoRecalibrationConfig::new().with_keep(Some(Keep::InformationOfLogProbabilities));
    let map = config.fitted(&rows, &classes);
    let choice = map.choice();
    assert_eq!((choice.folds, choice.change.samples), (1, 4000));
    assert_eq!(choice.chosen, "matrix", "{choice}"); // of which the truth is one
    let text = choice.to_string();
    contains(&text, "on 4000 samples left out of the fits");
    let weight = map.report().unwrap().regularisation.unwrap();
    let alone = MatrixScalingConfig::new().with_regularisation(Regularisation::Fixed(weight));
    let alone = alone.fitted(&rows, &classes);
    assert_eq!(outputs(&map, &rows), outputs(&alone, &rows));
}

/// What is not known is said, and from twenty samples no loss on other data is far above that of a uniform
/// prediction.
#[test]
fn few_and_hard_samples() {
    let other = overconfident(1000, 190);
    for n in [1, 2, 3, 5, 20, 30] {
        let (rows, classes) = overconfident(n, 191);
        let right = argmaxes(&rows);
        let missing: Vec<usize> = classes.iter().map(|y| y % 3).collect();
        for classes in [&classes, &right, &missing, &vec![2; n]] {
            let map = auto(&rows, classes);
            let loss = held_out(&map, &other);
            let bound = match n {
                20.. if *classes == right => 6.0,
                20.. => 4.0,
                _ => f64::MAX,
            };
            assert!(loss < bound, "{n}: {loss}\n{}", map.choice());
            if *classes == right {
                assert!(warns(map.choice(), "how sharp"), "{}", map.choice());
            } else if n < 20 {
                let mut over = map.choice().passed_over.iter();
                assert!(over.all(|over| over.least.is_some()), "{}", map.choice());
            }
        }
    }
    let config = AutoRecalibrationConfig::new().with_folds(1);
    let error = config.fit(tensor(&other.0), labels(&other.1)).unwrap_err();
    contains(&error, "the number of folds");
}

/// Answers with confidences of 0, 40, 80 and 100 %: frequencies that rise with them, so isotonic regression gives
/// the frequencies, and 1/(2(n + 1)) where nothing happens.
#[test]
fn probabilities_of_zero_are_taken() {
    let groups = [
        (0.0, 0, 138),
        (0.4, 100, 200),
        (0.8, 150, 262),
        (1.0, 250, 400),
    ];
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for (p, hits, count) in groups {
        for at in 0..count {
            rows.push(vec![f64::ln(1.0 - p).max(-800.0), f64::ln(p).max(-800.0)]);
            classes.push(usize::from(at < hits));
        }
    }
    let config = AutoRecalibrationConfig::new().with_zeros(true);
    let map = config.fitted(&rows, &classes);
    let choice = map.choice();
    assert_eq!(choice.chosen, "isotonic", "{choice}");
    assert_eq!(
        names(choice),
        ["none", "isotonic", "histogram", "venn-abers"]
    );
    // zeros count as 1/2002: 150 labels of 1000 with ln 2002, the others as they are
    let loss = |p: f64, hits: f64, count: f64| -> f64 {
        let log = |p: f64| p.max(1.0 / 2002.0).ln();
        -hits * log(p) - (count - hits) * log(1.0 - p)
    };
    let sum: f64 = (groups.iter())
        .map(|&(p, hits, count)| loss(p, f64::from(hits), f64::from(count)))
        .sum();
    let found = choice.candidates[0].log_loss.estimate;
    assert!((found - sum / 1000.0).abs() < 1e-3, "{found} {sum}");
    let out = outputs(&map, &rows);
    let probability = |row: usize| softmax(&out[2 * row..][..2])[1];
    let expected = [1.0 / 2002.0, 0.5, 150.0 / 262.0, 0.625];
    all_near([0, 138, 338, 600].map(probability), expected, 1e-9);
    // too few samples for any of them: the predictions stay as they are
    let few = config.fitted(&rows[..20], &classes[..20]);
    assert_eq!(few.choice().chosen, "none");
    // none of them keeps the accuracy
    let kept = config.with_keep(Some(Keep::Accuracy));
    let kept = kept.fitted(&rows, &classes);
    assert_eq!(kept.choice().chosen, "none");
}

/// Of 120 predictions that say 0 or 1, the frequencies of both: 8 of 80 and 30 of 40. Maps of the order alone are tried
/// on few distinct predictions from 30 samples on, whether there are zeros or not.
#[test]
fn few_distinct_predictions_take_their_frequencies() {
    let label = |i: usize| usize::from(i < 8 || (80..110).contains(&i));
    let classes: Vec<usize> = (0..120).map(label).collect();
    let row = |i: usize, certain: f64| match i {
        0..80 => vec![0.0, -certain],
        _ => vec![-certain, 0.0],
    };
    let certain: Vec<_> = (0..120).map(|i| row(i, 800.0)).collect();
    let config = AutoRecalibrationConfig::new().with_subject(Subject::Event);
    let map = config.with_zeros(true).fitted(&certain, &classes);
    assert_eq!(map.choice().chosen, "histogram", "{}", map.choice());
    let out = outputs(&map, &certain);
    let probability = |row: usize| softmax(&out[2 * row..][..2])[1];
    // with half a sample of each kind in a bin
    all_near([0, 100].map(probability), [8.5 / 81.0, 30.5 / 41.0], 1e-9);
    let likely: Vec<_> = (0..120).map(|i| row(i, 3.0)).collect();
    let config = AutoRecalibrationConfig::new();
    let map = config.fitted(&likely, &classes);
    assert!(
        names(map.choice()).contains(&"isotonic"),
        "{}",
        map.choice()
    );
    let map = config.fitted(&likely[70..95], &classes[70..95]);
    assert!(
        !names(map.choice()).contains(&"isotonic"),
        "{}",
        map.choice()
    );
}
