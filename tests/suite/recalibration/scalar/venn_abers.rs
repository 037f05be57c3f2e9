//! Venn–Abers predictors, by their definition.

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::prelude::*;

/// The isotonic regression of samples at one of them: `max_{j ≤ i} min_{k ≥ i}` of the means.
fn isotonic(samples: &[(f64, usize)], at: f64) -> f64 {
    let mean = |low: f64, high: f64| {
        let inside = samples.iter().filter(|(s, _)| (low..=high).contains(s));
        let (n, hits) = inside.fold((0, 0), |(n, hits), (_, y)| (n + 1, hits + y));
        f64::from(hits as u32) / f64::from(n)
    };
    let scores = || samples.iter().map(|(s, _)| *s);
    let least = |low: f64| {
        let ends = scores().filter(|s| *s >= at);
        ends.map(|high| mean(low, high))
            .fold(f64::INFINITY, f64::min)
    };
    scores().filter(|s| *s <= at).map(least).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(cases(64))]

    /// With the sample as one where the event occurs, and as one where not; among ties and between.
    #[test]
    fn the_interval_is_that_of_two_regressions(
        samples in vec((-6..7i32, 0..2usize), 1..25),
        at in -14..15i32,
    ) {
        let samples: Vec<(f64, usize)> = samples.iter().map(|(s, y)| (f64::from(*s), *y)).collect();
        let (scores, classes): (Vec<f64>, Vec<usize>) = samples.iter().copied().unzip();
        let map = VennAbersConfig::new().fitted(&two_classes(&scores), &classes);
        let at = 0.5 * f64::from(at);
        let interval = map.interval(tensor(&two_classes(&[at])));
        let with = |y: usize| isotonic(&[&samples[..], &[(at, y)]].concat(), at);
        let (p0, p1) = (vector(interval.lower)[0], vector(interval.upper)[0]);
        prop_assert!((p0 - with(0)).abs() < 1e-15, "{p0} {}", with(0));
        prop_assert!((p1 - with(1)).abs() < 1e-15, "{p1} {}", with(1));
        prop_assert!(p0 < p1);
        let p = probabilities(&map, &[at])[0];
        prop_assert!((p - p1 / (1.0 - p0 + p1)).abs() < 1e-14);
    }
}

/// One of the two probabilities is calibrated, at any sample size: the mean of the one of what occurs is
/// the frequency, over all orders of the samples.
#[test]
fn the_probability_of_what_occurs_is_calibrated() {
    let (rows, classes) = overconfident(40, 2, 40);
    let scores: Vec<f64> = rows.iter().map(|row| row[1] - row[0]).collect();
    let mut sum = 0.0;
    for left_out in 0..40 {
        let without = |values: &mut dyn Iterator<Item = usize>| {
            values.filter(|i| *i != left_out).collect::<Vec<_>>()
        };
        let rest = without(&mut (0..40));
        let (s, y): (Vec<f64>, Vec<usize>) = rest.iter().map(|&i| (scores[i], classes[i])).unzip();
        let map = VennAbersConfig::new().fitted(&two_classes(&s), &y);
        let interval = map.interval(tensor(&two_classes(&[scores[left_out]])));
        let ends = [interval.lower, interval.upper];
        sum += vector(ends[classes[left_out]].clone())[0];
    }
    let frequency = classes.iter().sum::<usize>() as f64;
    assert_relative(sum, frequency, 1e-12);
}

#[test]
fn a_criterion_is_an_error() {
    let (rows, classes) = overconfident(60, 3, 41);
    let brier = ScoreLoss::new(Brier);
    let error = VennAbersConfig::new().fit_by(&brier, tensor(&rows), labels(&classes));
    assert!(matches!(error.unwrap_err(), Error::Unsupported { .. }));
}

/// Log-odds beyond f32, in the fit and after it: the knots are found, and what lies beyond all has the last interval.
#[test]
fn log_odds_of_any_size() {
    for size in [1.0, 1e38, 1e40, 1e98] {
        let scores: Vec<f64> = (0..40).map(|i| size * f64::from(i - 20)).collect();
        let classes: Vec<usize> = (0..40).map(|i| usize::from(i % 7 > 2 + i / 20)).collect();
        let map = VennAbersConfig::new().fitted(&two_classes(&scores), &classes);
        let unit: Vec<f64> = (0..40).map(|i| f64::from(i - 20)).collect();
        let expected = VennAbersConfig::new().fitted(&two_classes(&unit), &classes);
        let at = |factor: f64| vec![-19.0 * factor, 3.5 * factor, 1e300];
        let found = probabilities(&map, &at(size));
        assert_eq!(found, probabilities(&expected, &at(1.0)), "{size}");
        // infinite in f32
        let far = tensor_on(&[[3e38, -3e38], [-3e38, 3e38]], &device(), DType::F32);
        all_finite(vector(map.forward(far)));
    }
}
