//! What predictions draw is distributed as they say.

use crate::prelude::*;

const DRAWS: usize = 20_000;

/// Mean, variance and the share below `at` of draws from the only prediction, to five standard errors, with the fourth
/// central moment. A second coordinate `x` is that of `(x + 2)/3 + 1`.
fn assert_moments(
    predictions: &impl Predictive<Targets = Tensor<2>>,
    at: f64,
    expected: [f64; 3],
    fourth: f64,
) {
    let draws = predictions.sampler()(&[0; DRAWS], &mut rng(81));
    let check = |draws: Vec<f64>| {
        let (n, mean) = (draws.len() as f64, mean(&draws));
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let below = draws.iter().filter(|x| **x < at).count() as f64 / n;
        let [_, v, share] = expected;
        let errors = [v, fourth - v * v, share * (1.0 - share)];
        for (k, found) in [mean, variance, below].into_iter().enumerate() {
            assert_near_in(k, found, expected[k], 5.0 * (errors[k] / n).sqrt());
        }
    };
    let d = draws.len() / DRAWS;
    check(draws.iter().step_by(d).copied().collect());
    let second = draws.iter().skip(1).step_by(2);
    if d > 1 {
        check(second.map(|x| (x + 2.0) / 3.0 + 1.0).collect());
    }
}

#[test]
fn normal() {
    let share = 0.8413447460685429; // Φ(1)
    let normal = Normal::new(tensor(&[[1.0, -2.0]]), tensor(&[[2.0, 6.0]]));
    assert_moments(&normal, 3.0, [1.0, 4.0, share], 48.0);
}

#[test]
fn laplace() {
    let share = 1.0 - 0.5 * (-1f64).exp();
    // variance 2β², fourth moment 24β⁴
    let laplace = Laplace::new(tensor(&[[1.0, -2.0]]), tensor(&[[2.0, 6.0]]));
    assert_moments(&laplace, 3.0, [1.0, 8.0, share], 384.0);
}

#[test]
fn mixture() {
    let components = Normal::new(column([-1.0, 2.0, 9.0]), column([1.0, 0.5, 1.0]));
    let mixture = Mixture::new(tensor(&[[0.25, 0.75, 0.0]]), components);
    let mean = -0.25 + 1.5;
    let variance =
        0.25 * (1.0 + (-1.0f64 - mean).powi(2)) + 0.75 * (0.25 + (2.0f64 - mean).powi(2));
    // below 0: ¼ Φ(1) + ¾ Φ(−4)
    let share = 0.25 * 0.8413447460685429 + 0.75 * 3.167124183311986e-5;
    assert_moments(&mixture, 0.0, [mean, variance, share], 20.0);
}

#[test]
fn samples_are_drawn_from() {
    let samples = Samples::new(tensor(&[[1.0, 2.0, 4.0]]).reshape([1, 3, 1]));
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

/// As many of each prediction as asked for, by row, coordinates together.
#[test]
fn of_each_row_together() {
    let means = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let predictions = Normal::new(tensor(&means), tensor(&[[1e-6; 3]; 2]));
    let samples = Samples::drawn_from(&predictions, 4, &mut rng(3));
    assert_eq!(samples.draws().dims(), [2, 4, 3]);
    for (at, draw) in vector(samples.draws()).into_iter().enumerate() {
        let mean: f64 = means[at / 12][at % 3];
        assert!((draw - mean).abs() < 1e-4);
    }
}
