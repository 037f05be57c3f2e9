//! Tests of the probabilities of an event, with weights.

use super::*;

/// Class 1 of two, whose labels a line in the log-odds explains in part.
fn event() -> (Categorical, Tensor<1, Int>) {
    let rows = logit_rows();
    let score = |i: usize, c: usize| {
        let (i, c, z) = (i as f64, c as f64, rows[i][c]);
        z + 1.8 * (5.1 * i + 1.7 * c * c + 0.3).sin()
    };
    let is_1 = |i: usize| score(i, 1) > score(i, 0).max(score(i, 2));
    let odds: Vec<Vec<f64>> = rows.iter().map(|z| vec![0.0, z[1] - z[0]]).collect();
    let classes: Vec<usize> = (0..N).map(|i| usize::from(is_1(i))).collect();
    let predictions = Categorical::from_logits(tensor(&odds)).unwrap();
    (predictions, labels(&classes))
}

const CLASS_1: Event = Event::Class(1);

/// The estimates of statsmodels 0.14, `GLM(y, X, Binomial(), var_weights=w)`, with the log-odds as an offset in the
/// large; the others by NumPy.
#[test]
fn numbers_of_statsmodels() {
    let (p, y) = event();
    let weights = weight_tensor(&sample_weights());
    let (p, y) = p.weighted(&weights, &y).unwrap();
    let cox = Cox::new(CLASS_1);
    let fit = cox.fit(&p, &y).unwrap();
    let large = cox.in_the_large(&p, &y).unwrap();
    let found = [fit.intercept, fit.slope, large];
    let expected = [
        [-0.26045221563121584, 0.40039762021949],
        [0.7143153209259768, 0.21718001074680354],
        [-0.30307366727276563, 0.4775128321350108],
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        assert_relative(found.estimate, expected[0], 1e-9);
        assert_relative(found.standard_error, expected[1], 1e-9);
    }
    assert_relative(cox.on(&p, &y), 2.5626036672684123, 1e-9);
    let spiegelhalter = Spiegelhalter::new(CLASS_1);
    let outcome = spiegelhalter.seeded(&p, &y, 0);
    assert_relative(outcome.statistic, 1.397628481592858, 1e-9);
    assert_relative(outcome.estimate, 0.0402393492499021, 1e-9);
}

/// Whole weights are repeated rows in estimates and likelihoods, also where probabilities separate the outcomes; not
/// in variances.
#[test]
fn whole_weights_are_repeated_rows() {
    let (p, y) = event();
    let whole = whole_weights();
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; whole[i] as usize]).collect();
    let (repeated, of_repeated) = (p.select_rows(&rows), y.select_rows(&rows));
    let (p, y) = p.weighted(&weight_tensor(&whole), &y).unwrap();
    let cox = Cox::new(CLASS_1);
    let [found, expected] =
        [(&p, &y), (&repeated, &of_repeated)].map(|(p, y)| cox.fit(p, y).unwrap());
    assert_relative(found.intercept.estimate, expected.intercept.estimate, 1e-8);
    assert_relative(found.slope.estimate, expected.slope.estimate, 1e-8);
    // weights have mean 1
    let scale = rows.len() as f64 / p.len() as f64;
    let ratio = scale * cox.on(&p, &y);
    assert_relative(ratio, cox.on(&repeated, &of_repeated), 1e-8);
    let probabilities = [0.2, 0.4, 0.4, 0.4, 0.8];
    let separated = binary(&probabilities);
    let classes = [0, 0, 1, 0, 1];
    let weights = [1.0, 2.0, 3.0, 1.0, 1.0];
    let rows = [0, 1, 1, 2, 2, 2, 3, 4];
    let expected = cox.estimate(
        &separated.select_rows(&rows),
        &labels(&rows.map(|i| classes[i])),
    );
    let (p, y) = separated
        .weighted(&weight_tensor(&weights), &labels(&classes))
        .unwrap();
    let found = cox.on(&p, &y);
    assert_relative(found * 8.0 / 5.0, expected.unwrap(), 1e-9);
}

/// Of calibrated predictions, with weights that depend on them: intervals of Cox's line cover, and Spiegelhalter's test
/// and its exact one keep their levels.
#[test]
fn error_rates() {
    let mut rng = rng(961);
    let trials = 400;
    let (mut covered, mut rejected) = ([0; 3], [0; 2]);
    for _ in 0..trials {
        let probabilities: Vec<f64> = (0..200).map(|_| rng.random_range(0.05..0.95)).collect();
        let weight = |p: &f64| 1.0 / (0.1 + p) * rng.random_range(0.2..1.8);
        let weights: Vec<f64> = probabilities.iter().map(weight).collect();
        let p = binary(&probabilities);
        let y = p.sample(&mut rng);
        let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
        let cox = Cox::new(CLASS_1);
        let fit = cox.fit(&p, &y).unwrap();
        let large = cox.in_the_large(&p, &y).unwrap();
        let of = [(fit.intercept, 0.0), (fit.slope, 1.0), (large, 0.0)];
        for (count, (coefficient, truth)) in covered.iter_mut().zip(of) {
            let Interval {
                lower: low,
                upper: high,
                ..
            } = coefficient.interval(0.95).unwrap();
            *count += usize::from(low <= truth && truth <= high);
        }
        let spiegelhalter = Spiegelhalter::new(CLASS_1);
        let tests: [Box<dyn CalibrationTest>; 2] = [
            Box::new(spiegelhalter),
            Box::new(ExactTest::new(spiegelhalter).with_replicates(19)),
        ];
        for (count, test) in rejected.iter_mut().zip(tests) {
            let outcome = test.outcome(&p, &y, &mut rng).unwrap();
            *count += usize::from(outcome.p_value <= 0.05 + 1e-9);
        }
    }
    // 380 and 20 expected, and 4.4 standard deviation
    assert!(
        covered.iter().all(|c| (365..=397).contains(c)),
        "{covered:?}"
    );
    assert!(
        rejected.iter().all(|c| (6..=36).contains(c)),
        "{rejected:?}"
    );
}
