//! What predictions draw is distributed as they say.

use crate::prelude::*;

const DRAWS: usize = 20_000;

/// Mean, variance and the share below `at` of draws from the only prediction.
fn moments(predictions: &impl Predictive<Targets = burn::tensor::Tensor<2>>, at: f64) -> [f64; 3] {
    let draws = predictions.sampler()(&[0; DRAWS], &mut rng(81));
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    [
        mean,
        variance,
        draws.iter().filter(|x| **x < at).count() as f64 / n,
    ]
}

fn assert_moments(got: [f64; 3], expected: [f64; 3], fourth: f64) {
    let n = DRAWS as f64;
    let [mean, variance, share] = expected;
    // 5 standard errors of each, with the fourth central moment
    assert!(
        (got[0] - mean).abs() < 5.0 * (variance / n).sqrt(),
        "{got:?}"
    );
    assert!(
        (got[1] - variance).abs() < 5.0 * ((fourth - variance * variance) / n).sqrt(),
        "{got:?}"
    );
    assert!(
        (got[2] - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(),
        "{got:?}"
    );
}

fn one(value: f64) -> burn::tensor::Tensor<2> {
    tensor(&[vec![value]])
}

#[test]
fn normal() {
    let share = 0.8413447460685429; // Φ(1)
    assert_moments(
        moments(&Normal::new(one(1.0), one(2.0)), 3.0),
        [1.0, 4.0, share],
        48.0,
    );
}

#[test]
fn laplace() {
    let share = 1.0 - 0.5 * (-1f64).exp();
    // variance 2β², fourth moment 24β⁴
    assert_moments(
        moments(&Laplace::new(one(1.0), one(2.0)), 3.0),
        [1.0, 8.0, share],
        384.0,
    );
}

#[test]
fn mixture() {
    let components = Normal::new(
        tensor(&[vec![-1.0], vec![2.0], vec![9.0]]),
        tensor(&[vec![1.0], vec![0.5], vec![1.0]]),
    );
    let mixture = Mixture::new(tensor(&[vec![0.25, 0.75, 0.0]]), components);
    let mean = -0.25 + 1.5;
    let variance =
        0.25 * (1.0 + (-1.0f64 - mean).powi(2)) + 0.75 * (0.25 + (2.0f64 - mean).powi(2));
    // below 0: ¼ Φ(1) + ¾ Φ(−4)
    let share = 0.25 * 0.8413447460685429 + 0.75 * 3.167124183311986e-5;
    assert_moments(moments(&mixture, 0.0), [mean, variance, share], 20.0);
}

#[test]
fn samples_are_drawn_from() {
    let samples = Samples::new(tensor(&[vec![1.0, 2.0, 4.0]]).reshape([1, 3, 1]));
    let draws = samples.sampler()(&[0; 3000], &mut rng(82));
    for value in [1.0, 2.0, 4.0] {
        let count = draws.iter().filter(|x| **x == value).count();
        assert!((870..=1130).contains(&count), "{count}"); // 5 standard deviations of 26
    }
}

/// The same generator draws the same targets, one for each row in the order of the rows.
#[test]
fn seeds_repeat() {
    let rows = super::data::Rows::random(4, 3, &mut rng(83));
    let draw = || vector(rows.normal().sample(&mut rng(84)));
    assert_eq!(draw(), draw());
    assert_eq!(draw().len(), 12);
}
