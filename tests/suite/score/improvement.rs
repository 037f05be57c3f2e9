use super::population::*;
use crate::prelude::*;

fn improvement(
    score: &dyn Divergence,
    before: &[Vec<f64>],
    after: &[Vec<f64>],
    classes: &[usize],
) -> Result<Improvement, Error> {
    let (p, q) = (categorical(before), categorical(after));
    Improvement::of(score, &p, &q, &labels(classes))
}

/// Brier, label 0: (0.9, 0.1) and (0.2, 0.8) become (0.8, 0.2) and (0.4, 0.6), 2(1 − p)² each.
#[test]
fn two_samples_by_hand() {
    let before = [vec![0.9, 0.1], vec![0.2, 0.8]];
    let after = [vec![0.8, 0.2], vec![0.4, 0.6]];
    let gain = improvement(&Brier, &before, &after, &[0, 0]).unwrap();
    assert_relative(gain.before.estimate, (0.02 + 1.28) / 2.0, 1e-14);
    assert_relative(gain.after.estimate, (0.08 + 0.72) / 2.0, 1e-14);
    // differences 0.06 and −0.56: mean −0.25, standard error half of their distance
    assert_relative(gain.difference.estimate, -0.25, 1e-13);
    assert_relative(gain.difference.standard_error, 0.31, 1e-13);
    // two samples prove nothing
    let Interval {
        lower: low,
        upper: high,
        ..
    } = gain.interval(0.95).unwrap();
    assert!(low < -0.5 && high > 0.05, "{low} {high}");
    assert!(gain.p_value().unwrap() > 0.2);
}

/// Each score against a loop over the samples.
#[test]
fn agrees_with_a_loop() {
    let mut rng = rng(301);
    let before = random_probabilities(40, 4, &mut rng);
    let after = random_probabilities(40, 4, &mut rng);
    let classes = random_labels(40, 4, &mut rng);
    for score in SCORES {
        let gain = improvement(score, &before, &after, &classes).unwrap();
        let of = |rows: &[Vec<f64>]| -> Vec<f64> {
            let pairs = rows.iter().zip(&classes);
            pairs.map(|(p, &y)| by_loop(score, p, y)).collect()
        };
        let (old, new) = (of(&before), of(&after));
        let differences: Vec<f64> = new.iter().zip(&old).map(|(a, b)| a - b).collect();
        let (mean, deviation) = moments(&differences);
        assert_relative(gain.difference.estimate, mean, 1e-12);
        let error = deviation / 40f64.sqrt();
        assert_relative(gain.difference.standard_error, error, 1e-12);
        assert_relative(gain.before.estimate, moments(&old).0, 1e-13);
        assert_relative(gain.after.estimate, moments(&new).0, 1e-13);
    }
}

/// Proposition 4.4: an injective map changes the score by as much as the calibration error, a map that
/// merges predictions does not.
#[test]
fn of_an_injective_map_it_is_the_change_of_the_calibration_error() {
    let population = Population::overconfident(302);
    let (before, after, classes) = population.draw(300, &mut rng(303));
    let constant = vec![vec![0.5, 0.3, 0.2]; 300];
    for score in SCORES {
        let calibration = |rows: &[Vec<f64>]| by_groups(score, rows, &classes)[0];
        let change = |rows: &[Vec<f64>]| calibration(rows) - calibration(&before);
        let gain = |rows: &[Vec<f64>]| {
            let gain = improvement(score, &before, rows, &classes).unwrap();
            gain.difference.estimate
        };
        assert_relative_eq!(gain(&after), change(&after), epsilon = 1e-13);
        assert!(gain(&constant) > change(&constant) + 0.01, "{score:?}");
    }
}

/// Samples of 100: the interval covers the exact difference as often as it says, less four binomial standard
/// deviations; the p-value rejects where the interval excludes 0.
#[test]
fn intervals_cover() {
    let population = Population::overconfident(304);
    let mut rng = rng(305);
    let (runs, level) = (simulated(2400), 0.9);
    let mut covered = [0; 3];
    let truths = SCORES.map(|score| {
        population.score(score, &population.after) - population.score(score, &population.before)
    });
    for _ in 0..runs {
        let (before, after, classes) = population.draw(100, &mut rng);
        for ((covered, score), truth) in covered.iter_mut().zip(SCORES).zip(truths) {
            let gain = improvement(score, &before, &after, &classes).unwrap();
            let Interval {
                lower: low,
                upper: high,
                ..
            } = gain.interval(level).unwrap();
            *covered += usize::from(low <= truth && truth <= high);
            let is_excluded = low > 0.0 || high < 0.0;
            assert_eq!(gain.p_value().unwrap() < 1.0 - level, is_excluded);
        }
    }
    let deviation = (level * (1.0 - level) / runs as f64).sqrt();
    for covered in covered {
        let share = covered as f64 / runs as f64;
        assert!(share > level - 4.0 * deviation, "{share}");
        assert!(share < level + 0.06, "as narrow as can be: {share}");
    }
}

/// Of the same predictions, exactly 0; of one sample, everything is possible.
#[test]
fn degenerate_data() {
    let rows = random_probabilities(30, 3, &mut rng(306));
    let classes = random_labels(30, 3, &mut rng(307));
    for score in SCORES {
        let same = improvement(score, &rows, &rows, &classes).unwrap();
        assert_eq!(same.difference.estimate, 0.0);
        assert_eq!(same.difference.standard_error, 0.0);
        assert_eq!(same.p_value().unwrap(), 1.0);
        // these rows do not tell how models differ elsewhere
        let everything = [f64::NEG_INFINITY, f64::INFINITY];
        let Interval { lower, upper, .. } = same.interval(0.95).unwrap();
        assert_eq!([lower, upper], everything);
        contains(&same.unbounded().unwrap(), "same in all rows");

        let one = improvement(score, &rows[..1], &rows[1..2], &classes[..1]).unwrap();
        let Interval { lower, upper, .. } = one.interval(0.95).unwrap();
        assert_eq!([lower, upper], everything);
        assert_eq!((one.p_value().unwrap(), one.difference.samples), (1.0, 1));
        assert!(one.difference.estimate.is_finite());

        // every sample gains the same: others need not
        let (before, after) = (vec![rows[0].clone(); 5], vec![rows[1].clone(); 5]);
        let constant = improvement(score, &before, &after, &[1; 5]).unwrap();
        assert_eq!(constant.difference.standard_error, 0.0);
        assert!((1e-3..=1.0).contains(&constant.p_value().unwrap()));
        let Interval {
            lower: low,
            upper: high,
            ..
        } = constant.interval(0.95).unwrap();
        assert!(low < high, "{low} {high}");
    }
}

/// From logits the log score is finite where a probability is 0.
#[test]
fn log_score_of_underflowing_logits() {
    let logits = |z: f64| Categorical::from_logits(tensor(&[[0.0, z]])).unwrap();
    let gain = LogScore.improvement(&logits(2000.0), &logits(500.0), &labels(&[0]));
    assert_eq!(gain.unwrap().difference.estimate, -1500.0);
}

#[test]
fn injectivity_is_what_the_caller_says() {
    let rows = [vec![0.5, 0.5], vec![0.25, 0.75]];
    let gain = improvement(&LogScore, &rows, &rows, &[0, 1]).unwrap();
    assert_eq!(gain.injective, None);
    ends(&gain.warning().unwrap(), "only if the map is injective");
    let injective = gain.clone().with_injective(true);
    assert_eq!(injective.warning(), None);
    assert_eq!(injective.to_string().lines().count(), 3);
    let merging = gain.with_injective(false);
    begins(&merging.warning().unwrap(), "the map is not injective");
    assert!(merging.to_string().ends_with(merging.warning().unwrap()));
}

#[test]
fn errors_say_of_which_predictions() {
    let two = [vec![0.5, 0.5], vec![0.0, 1.0]];
    let half = [vec![0.5, 0.5], vec![0.5, 0.5]];
    let wrong = |before: &[Vec<f64>], after: &[Vec<f64>], classes: &[usize]| {
        refuses(improvement(&LogScore, before, after, classes));
    };
    wrong(&half, &two, &[0, 0]); // an infinite score
    wrong(&two, &half, &[0, 0]);
    wrong(&half, &half[..1], &[0, 0]);
    wrong(&half[..1], &half, &[0, 0]);
    wrong(&half, &vec![vec![0.2, 0.3, 0.5]; 2], &[0, 0]);
    wrong(&half, &half, &[0, 2]);
    let gain = improvement(&Brier, &half, &half, &[0, 1]).unwrap();
    for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        refuses(gain.interval(level));
    }
}

/// A label that the predictions before exclude and those after do not has an infinite loss before: the gain can be
/// without bound, whether it happened or not.
#[test]
fn an_excluded_label_is_missed() {
    let before = categorical(&[[1.0, 0.0]; 30]);
    let after = categorical(&[[0.7, 0.3]; 30]);
    let gain = LogScore.improvement(&before, &after, &labels(&[0; 30]));
    let Interval {
        lower: low,
        upper: high,
        ..
    } = gain.unwrap().interval(0.95).unwrap();
    assert_eq!(low, f64::NEG_INFINITY);
    assert!(high.is_finite(), "{high}");
}

/// Differences have the units of the scores, however small these are; rounding alone is none.
#[test]
fn units_do_not_matter() {
    let mut rng: StdRng = rng(371);
    let numbers: Vec<[f64; 2]> = (0..50).map(|_| [rng.random(), rng.random()]).collect();
    let gain = |unit: f64, factor: f64| {
        let column =
            |of: &dyn Fn(&[f64; 2]) -> f64| column(numbers.iter().map(|row| unit * of(row)));
        let normal = |width: f64| Normal::new(column(&|row| row[0]), column(&|_| width));
        let targets = column(&|row| row[1]);
        let gain = Crps.improvement(&normal(1.0), &normal(factor), &targets);
        let gain = gain.unwrap();
        (gain.difference.estimate / unit, gain.p_value().unwrap())
    };
    let (expected, p_value) = gain(1.0, 2.0);
    for unit in [1e-20, 1e20] {
        let (found, p) = gain(unit, 2.0);
        assert_relative(found, expected, 1e-9);
        assert_relative(p, p_value, 1e-6);
        assert_eq!(gain(unit, 1.0 + f64::EPSILON), (0.0, 1.0));
    }
}

/// Where differences are even, the interval and the p-value are those of the paired t test, and not of one where few
/// samples decide: a rare event, or few samples without an error.
#[test]
fn even_differences_have_the_paired_t_test() {
    let mut rng = rng(471);
    let paired = |rows: Vec<(f64, bool)>| {
        let (p, c): (Vec<f64>, Vec<bool>) = rows.into_iter().unzip();
        let after: Vec<f64> = p.iter().map(|p| 0.5 + 0.8 * (p - 0.5)).collect();
        let c: Vec<usize> = c.into_iter().map(usize::from).collect();
        Brier
            .improvement(&binary(&p), &binary(&after), &labels(&c))
            .unwrap()
    };
    let even = paired(
        (0..200)
            .map(|_| {
                let p: f64 = rng.random();
                (p, rng.random::<f64>() < p)
            })
            .collect(),
    );
    let of_t = even.difference.interval(0.9).unwrap();
    assert_eq!(even.interval(0.9).unwrap(), of_t);
    assert_eq!(even.p_value().unwrap(), even.difference.p_value());
    for (n, events) in [(2000, 4), (30, 0)] {
        let few = paired(
            (0..n)
                .map(|i| (0.02 + 0.01 * (i % 3) as f64, i < events))
                .collect(),
        );
        let [found, of_t] =
            [few.interval(0.95), few.difference.interval(0.95)].map(|interval| interval.unwrap());
        assert!(
            found.upper - found.lower > 1.15 * (of_t.upper - of_t.lower),
            "{n}"
        );
    }
}
