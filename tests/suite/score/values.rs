use crate::prelude::*;

/// p = (0.5, 0.3, 0.2), y = 1 and p = (0.1, 0.1, 0.8), y = 2, by hand.
#[test]
fn scores_by_hand() {
    let rows = [vec![0.5, 0.3, 0.2], vec![0.1, 0.1, 0.8]];
    let cases: [(&dyn Divergence, _); 3] = [
        (&Brier, [0.25 + 0.49 + 0.04, 0.01 + 0.01 + 0.04]),
        (&LogScore, [-0.3f64.ln(), -0.8f64.ln()]),
        (
            &Spherical,
            [1.0 - 0.3 / 0.38f64.sqrt(), 1.0 - 0.8 / 0.66f64.sqrt()],
        ),
    ];
    for (score, expected) in cases {
        let values = vector(score.values(&categorical(&rows), &labels(&[1, 2])));
        let bound = score
            .upper_bound(&categorical(&rows), &labels(&[1, 2]))
            .unwrap();
        all_relative(&values, expected, 1e-14);
        assert_relative(bound.estimate, (expected[0] + expected[1]) / 2.0, 1e-14);
        // two values a, b: s² = (a − b)²/2, over n = 2
        assert_relative(
            bound.standard_error,
            (expected[0] - expected[1]).abs() / 2.0,
            1e-13,
        );
        assert_eq!(bound.samples, 2);
    }
}

/// Cumulative probabilities of 0.7, 0.9 where the first of three classes is right: 0.09 + 0.01; then 0.01 + 0.81 and
/// 0.09 + 0.16. Of two classes it is half of the Brier score, and of certain predictions the number of classes off.
#[test]
fn ranked_probabilities_by_hand() {
    let rows = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]].map(Vec::from);
    let each = RankedProbabilityScore.each(&categorical(&rows), &labels(&[0, 2, 1]));
    all_relative(each.unwrap(), [0.10, 0.82, 0.25], 1e-14);
    let certain = categorical(&[vec![0.0, 0.0, 0.0, 1.0], vec![0.0, 1.0, 0.0, 0.0]]);
    let each = RankedProbabilityScore.each(&certain, &labels(&[0, 1]));
    assert_eq!(each.unwrap(), [3.0, 0.0]);
    let (two, y) = (binary(&[0.2, 0.9, 0.5]), labels(&[1, 1, 0]));
    let halves = Brier
        .each(&two, &y)
        .unwrap()
        .into_iter()
        .map(|brier| 0.5 * brier);
    let each = RankedProbabilityScore.each(&two, &y).unwrap();
    all_relative(&each, halves.collect::<Vec<_>>(), 1e-13);
}

#[test]
fn losses_are_the_bounds_of_their_scores() {
    let mut rng = rng(31);
    let logits = random_rows(20, 4, 3.0, &mut rng);
    let labels = labels(&random_labels(20, 4, &mut rng));
    let predictions = Categorical::from_logits(tensor(&logits)).unwrap();
    let brier = ScoreLoss::new(Brier);
    let log = ScoreLoss::new(LogScore);
    let spherical = ScoreLoss::new(Spherical);
    for (loss, bound) in [
        (
            brier.forward(tensor(&logits), labels.clone()),
            Brier.upper_bound(&predictions, &labels),
        ),
        (
            log.forward(tensor(&logits), labels.clone()),
            LogScore.upper_bound(&predictions, &labels),
        ),
        (
            spherical.forward(tensor(&logits), labels.clone()),
            Spherical.upper_bound(&predictions, &labels),
        ),
    ] {
        assert_relative(scalar(loss), bound.unwrap().estimate, 1e-13);
    }
}

/// The score is proper: the truth has the lowest expected score.
#[test]
fn scores_are_proper() {
    let mut rng = rng(32);
    for _ in 0..50 {
        let pair = random_probabilities(2, 3, &mut rng);
        let expected = |score: &dyn Divergence, p: &Vec<f64>| {
            let rows = vec![p.clone(); 3];
            let values = vector(score.values(&categorical(&rows), &labels(&[0, 1, 2])));
            values
                .iter()
                .zip(&pair[0])
                .map(|(value, q)| value * q)
                .sum::<f64>()
        };
        for score in [&Brier as &dyn Divergence, &LogScore, &Spherical] {
            assert!(expected(score, &pair[0]) < expected(score, &pair[1]));
        }
    }
}

/// A logit that far below the largest has probability 0 in f64, but a finite log score.
#[test]
fn log_scores_do_not_underflow_from_logits() {
    let logits = Categorical::from_logits(tensor(&[[0.0, 2000.0]])).unwrap();
    let bound = LogScore.upper_bound(&logits, &labels(&[0])).unwrap();
    assert_eq!(
        (bound.estimate, bound.standard_error),
        (2000.0, f64::INFINITY)
    );
    let probabilities = categorical(&[[0.5, 0.5], [0.0, 1.0]]);
    refuses(LogScore.upper_bound(&probabilities, &labels(&[0, 0])));
}

/// Intervals of means have the quantiles of Student's distribution: `tan(π(½ − tail))` for one degree of freedom,
/// `(1 − 2a)/√(2a(1 − a))` for two, and the table of Fisher and Yates for ten; the normal quantile in the limit, with
/// the first term of its expansion, `(z³ + z)/4ν`.
#[test]
fn intervals_of_means() {
    let quantile = |tail: f64, freedom: usize| {
        let mean = MeanEstimate::from_moments(freedom + 1, 0.0, 1.0);
        let Interval { upper, .. } = mean.interval(1.0 - 2.0 * tail).unwrap();
        upper / mean.standard_error
    };
    for tail in [0.4, 0.025, 1e-6] {
        let one = (std::f64::consts::PI * tail).tan().recip();
        assert_relative(quantile(tail, 1), one, 1e-9);
        let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
        assert_relative(quantile(tail, 2), two, 1e-9);
    }
    assert_relative(quantile(0.025, 10), 2.228_138_851_964_938_5, 1e-9);
    let z: f64 = 1.959_963_984_540_054;
    for freedom in [10_000, 1_000_000, 10_000_000] {
        let expansion = z + (z.powi(3) + z) / (4.0 * freedom as f64);
        assert_relative(quantile(0.025, freedom), expansion, 1e-7);
    }
}
