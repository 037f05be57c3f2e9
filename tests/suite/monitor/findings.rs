//! Sentences of streams that are wrong in one respect from their first row on: they do not name another.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::data::{StdRng, assert_at_most, simulated};

/// The sentences of a stream: of its first alarm, and of the largest gain after an alarm of the test.
fn sentences<P: Monitored>(predictions: &P, targets: &P::Targets) -> [Option<String>; 2] {
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    let change = monitor.update(predictions, targets).unwrap();
    let is_rejected = monitor.state().alarm_at.is_some();
    let gain = monitor.winner().filter(|_| is_rejected);
    [change.and_then(|change| change.component), gain].map(|one| Some(one?.sentence(&[])))
}

/// Checks the sentences of streams: few have one of the false words, and of the largest gains most have a true one, if it
/// is given. Returns whether most first alarms have it, which come after few rows.
fn check(
    name: &str,
    [false_words, true_words]: [&[&str]; 2],
    stream: impl Fn(&mut StdRng) -> [Option<String>; 2],
) -> bool {
    let streams = simulated(400);
    let (mut wrong, mut right, mut all) = ([0; 2], [0; 2], [0; 2]);
    let mut example = [None, None];
    for seed in 0..streams as u64 {
        let found = stream(&mut StdRng::seed_from_u64(seed));
        for (k, sentence) in found.into_iter().enumerate() {
            let Some(sentence) = sentence else { continue };
            let has = |words: &[&str]| words.iter().any(|word| sentence.contains(word));
            all[k] += 1;
            wrong[k] += usize::from(has(false_words));
            right[k] += usize::from(has(true_words));
            example[k] = Some(sentence);
        }
    }
    println!("{name}: {wrong:?} false, {right:?} right, of {all:?} in {streams}: {example:?}");
    for wrong in wrong {
        assert_at_most(wrong, streams, (0.05, 3.0), name);
    }
    assert!(
        true_words.is_empty() || 2 * right[1] > streams,
        "{name}: {right:?}"
    );
    2 * right[0] > streams
}

const LOCATION: &[&str] = &["too low", "too high"];
const SPREAD: &[&str] = &["too narrow", "too wide", "tails"];
const FACTOR: &[&str] = &["too extreme", "too moderate"];
const NONE: &[&str] = &[];

fn draw(rng: &mut StdRng) -> f64 {
    StandardNormal.sample(rng)
}

fn laplace(rng: &mut StdRng) -> f64 {
    let u = rng.random::<f64>() - 0.5;
    -u.signum() * (1.0 - 2.0 * u.abs()).ln()
}

/// Locations, scales, and targets with these errors in scales.
fn reals(rows: usize, rng: &mut StdRng, error: impl Fn(&mut StdRng) -> f64) -> [Vec<f64>; 3] {
    let mean: Vec<f64> = (0..rows).map(|_| draw(rng)).collect();
    let sd: Vec<f64> = (0..rows).map(|_| (0.4 * draw(rng)).exp()).collect();
    let pairs = mean.iter().zip(&sd);
    let y = pairs.map(|(mean, sd)| mean + sd * error(rng)).collect();
    [mean, sd, y]
}

#[test]
fn spread_is_not_location() {
    for (rows, factor) in [
        (400, 0.5),
        (2000, 0.5),
        (400, 0.7),
        (2000, 0.7),
        (400, 2.0),
        (400, 0.3),
    ] {
        let words = if factor < 1.0 {
            &["too narrow"]
        } else {
            &["too wide"]
        };
        check(&format!("normal, sd {factor}"), [LOCATION, words], |rng| {
            let [mean, sd, y] = reals(rows, rng, |rng| draw(rng) / factor);
            sentences(&Normal::new(column(&mean), column(&sd)), &column(&y))
        });
    }
    check("laplace, half", [LOCATION, &["too narrow"]], |rng| {
        let [mean, sd, y] = reals(400, rng, |rng| 2.0 * laplace(rng));
        sentences(&Laplace::new(column(&mean), column(&sd)), &column(&y))
    });
    check("draws, half", [LOCATION, &["too narrow"]], |rng| {
        let [mean, sd, y] = reals(400, rng, |rng| 2.0 * draw(rng));
        let pairs = mean.iter().zip(&sd);
        let draws = pairs.flat_map(|(mean, sd)| [(); 20].map(|()| mean + sd * draw(rng)));
        let draws = column(&draws.collect::<Vec<_>>()).reshape([400, 20, 1]);
        sentences(&Samples::new(draws), &column(&y))
    });
}

#[test]
fn location_is_not_spread() {
    for shift in [0.5, 1.0, 1.2, 2.0] {
        for rows in [400, 2000] {
            let is_named = check(&format!("normal, {shift}"), [SPREAD, &["too low"]], |rng| {
                let [mean, sd, y] = reals(rows, rng, |rng| shift + draw(rng));
                sentences(&Normal::new(column(&mean), column(&sd)), &column(&y))
            });
            assert!(is_named || shift > 1.2, "{shift}");
        }
        check(
            &format!("laplace, {shift}"),
            [SPREAD, &["too low"]],
            |rng| {
                let [mean, sd, y] = reals(400, rng, |rng| shift + laplace(rng));
                sentences(&Laplace::new(column(&mean), column(&sd)), &column(&y))
            },
        );
    }
}

/// An event whose log-odds are `slope · l + shift`, where `l` is predicted.
fn event(rows: usize, centre: f64, line: [f64; 2], rng: &mut StdRng) -> [Option<String>; 2] {
    let l: Vec<f64> = (0..rows).map(|_| centre + 1.5 * draw(rng)).collect();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let p: Vec<f64> = l.iter().map(|l| sigmoid(*l)).collect();
    let happens = |l: &f64| i64::from(rng.random::<f64>() < sigmoid(line[0] * l + line[1]));
    let y: Vec<i64> = l.iter().map(happens).collect();
    let (p, y) = events(&p, &y);
    sentences(&p, &y)
}

#[test]
fn events_that_are_wrong_in_one_respect() {
    for (rows, centre) in [(400, 0.0), (2000, 0.0), (2000, -2.0)] {
        for shift in [-0.7, 0.7, 1.5] {
            check(
                &format!("{rows} {centre} {shift}"),
                [FACTOR, LOCATION],
                |rng| event(rows, centre, [1.0, shift], rng),
            );
        }
    }
    // a factor about 0 is no shift
    for slope in [0.33, 0.5, 0.6, 2.0] {
        check(&format!("times {slope}"), [LOCATION, NONE], |rng| {
            event(2000, 0.0, [slope, 0.0], rng)
        });
    }
    // constant probabilities
    check("constant", [&["too high"], &["too low"]], |rng| {
        let y: Vec<i64> = (0..400)
            .map(|_| i64::from(rng.random::<f64>() < 0.4))
            .collect();
        let (p, y) = events(&[0.2; 400], &y);
        sentences(&p, &y)
    });
}

/// One of three coordinates is wrong: no sentence is about all of them, or about another.
#[test]
fn one_coordinate_of_three() {
    let words = [LOCATION, SPREAD].concat();
    for (name, scale, shift) in [("shift", 1.0, 0.7), ("scale", 2.0, 0.0)] {
        let of = |rng: &mut StdRng| {
            let [mean, sd, mut y] = reals(1200, rng, draw);
            for row in (1..1200).step_by(3) {
                y[row] = mean[row] + scale * (y[row] - mean[row]) + shift * sd[row];
            }
            [mean, sd, y].map(|values| column(&values).reshape([400, 3]))
        };
        check(name, [&words, &["the predictions are wrong"]], |rng| {
            let [mean, sd, y] = of(rng);
            sentences(&Normal::new(mean, sd), &y)
        });
        let others = ["the predictions are", "coordinate 2"];
        check(name, [&others, &["coordinate 1"]], |rng| {
            let [mean, sd, y] = of(rng);
            let drawn = (0..20).map(|_| {
                let z: Vec<f64> = (0..1200).map(|_| draw(rng)).collect();
                (mean.clone() + sd.clone() * column(&z).reshape([400, 3])).reshape([400, 1, 3])
            });
            let draws = Tensor::cat(drawn.collect(), 1);
            sentences(&Samples::new(draws), &y)
        });
    }
}

/// Of quantiles no share is stated that was not counted.
#[test]
fn a_quantile_that_is_too_low() {
    let levels = [0.1, 0.5, 0.9];
    let scores = [-1.281_551_565_5, 0.0, 0.524_400_512_7]; // the last of 0.7
    let false_words = ["76.8", "10 % quantile", "50 % quantile"];
    check(
        "quantiles",
        [
            &false_words,
            &["90 % quantile is too low: fewer than 90 % of"],
        ],
        |rng| {
            let [mean, sd, y] = reals(400, rng, draw);
            let pairs = mean.iter().zip(&sd);
            let values = pairs.flat_map(|(mean, sd)| scores.map(|z| mean + sd * z));
            let values = column(&values.collect::<Vec<_>>()).reshape([400, 3]);
            let forecasts = QuantileForecasts::new(levels.to_vec(), values).unwrap();
            sentences(&forecasts, &column(&y))
        },
    );
}

/// The wealth of limits does not decide which component gained most, and a state without new fields is read.
#[test]
fn wealth_beyond_its_limit() {
    let normal = Normal::new(column(&[0.0; 3000]), column(&[1.0; 3000]));
    let mut rng = StdRng::seed_from_u64(0);
    let y: Vec<f64> = (0..3000).map(|_| 2.0 * draw(&mut rng)).collect();
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    monitor
        .update(&normal.slice_rows(0..30), &column(&y[..30]))
        .unwrap();
    let text = serde_json::to_string(&monitor.state().components).unwrap();
    assert!(!text.contains("cut") && !text.contains("findings"));
    monitor
        .update(&normal.slice_rows(30..3000), &column(&y[30..]))
        .unwrap();
    let gain = monitor.winner().unwrap();
    assert_eq!([gain.factor, gain.shift], [2.0, 0.0]);
    assert_eq!(
        gain.sentence(&[]),
        "the predictions are too narrow: 2 times as wide they fit better"
    );
    let text = serde_json::to_string(&monitor).unwrap();
    let resumed: CalibrationMonitor = serde_json::from_str(&text).unwrap();
    assert_eq!(resumed, monitor);
}
