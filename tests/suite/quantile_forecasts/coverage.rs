//! How often targets fall below quantiles, and draws of them.

use burn_calibration::{
    diagram::QuantileDiagram,
    estimator::regression::{QuantileCoverage, QuantileCurve},
};

use super::*;

/// By `binom` and `beta` of SciPy. Rows 0, 3 and 5 have targets that equal quantiles.
#[test]
fn coverage_agrees_with_scipy() {
    let (p, y) = example();
    let levels = QuantileCoverage::by_level(&p, &y).unwrap();
    let intervals = QuantileCoverage::by_interval(&p, &y).unwrap();
    let [low, high] = [0.00421074451448947, 0.8818827512429748];
    let upper = [0.11811724875702521, 0.9567281317072583];
    let expected = [
        (0.025, [1, 3], 0.2818633979492188, [low, high]),
        (0.25, [1, 3], 1.0, [low, high]),
        (0.5, [2, 4], 1.0, [0.043271868292741676, 0.9567281317072583]),
        (0.75, [3, 4], 0.93212890625, upper),
        (0.975, [3, 4], 0.01753468994140628, upper),
        (0.95, [1, 3], 0.0044596875000000105, [low, high]),
        (0.5, [1, 3], 1.0, [low, high]),
    ];
    assert_eq!((levels.len(), intervals.len()), (5, 2));
    let all = levels.iter().chain(&intervals);
    for (found, (level, counts, p_value, interval)) in all.zip(expected) {
        assert_relative(found.expected, level, 1e-14);
        let shares = counts.map(|count| f64::from(count) / 6.0);
        assert_eq!([found.inside, found.covered], shares);
        assert_relative(found.p_value, p_value, 1e-10);
        let Interval { lower, upper, .. } = found.interval(0.95).unwrap();
        assert_relative(lower, interval[0], 1e-8);
        assert_relative(upper, interval[1], 1e-8);
        let nearest = level.clamp(found.inside, found.covered);
        assert_relative(found.estimate, nearest, 1e-14);
    }
    assert_eq!(intervals[0].lower_level, Some(0.025));
    assert_eq!(intervals[0].level, 0.975);
    assert_eq!((levels[1].lower_level, levels[1].level), (None, 0.25));
    let curve: QuantileCurve = QuantileCoverage::curve(&levels);
    let diagram = QuantileDiagram::new(curve, 6, 0.95).unwrap();
    assert_eq!(diagram.curve.points[4].frequency, 4.0 / 6.0);
    assert_eq!(diagram.outside(), 0); // ± 0.55
}

/// Targets fall between quantiles with the probabilities of the levels, and equal them where quantiles are equal.
#[test]
fn draws_are_between_quantiles() {
    let levels = [0.1, 0.5, 0.6, 0.9];
    let row = [0.3, 1.7, 1.7, 4.0];
    let n = 4000;
    let y = vector(forecasts(&levels, &vec![row.to_vec(); n]).sample(&mut rng(1)));
    let count = |inside: &dyn Fn(f64) -> bool| y.iter().filter(|y| inside(**y)).count();
    let counts = [
        count(&|y| y < 0.3),
        count(&|y| 0.3 < y && y < 1.7),
        count(&|y| y == 1.7),
        count(&|y| 1.7 < y && y < 4.0),
        count(&|y| y > 4.0),
    ];
    for (count, probability) in counts.into_iter().zip([0.1, 0.4, 0.1, 0.3, 0.1]) {
        assert_binomial(count, n, (probability, 4.0), counts);
    }
    let point = forecasts(&levels, &vec![vec![0.0; 4]; n]);
    let y = vector(point.sample(&mut rng(1)));
    let outside = y.iter().filter(|y| **y != 0.0).count();
    assert_binomial(outside, n, (0.2, 4.0), "");
}

#[test]
fn bad_forecasts() {
    for rows in [
        &[vec![0.0, 0.0], vec![1.0, 0.5]][..],
        &[vec![0.0, f64::INFINITY]],
        &[vec![f64::NAN, 0.0]],
    ] {
        refuses(forecasts(&[0.1, 0.5], rows).check());
    }
    for levels in [&[][..], &[0.5, 1.0], &[0.5, 0.5], &[0.1, 0.5, 0.9]] {
        let values = tensor(&[[0.0, 1.0]]);
        refuses(QuantileForecasts::new(levels.to_vec(), values));
    }
    let (p, y) = example();
    refuses(p.check_targets(&y.clone().slice([0..5, 0..1])));
    let other = forecasts(&[0.5], &vec![vec![0.0]; 6]);
    refuses(p.check_like(&other));
    refuses(ConformalShiftConfig::new().fit(p.clone(), y));
    let crossing = forecasts(&[0.1, 0.9], &[vec![1.0, 0.0]]);
    let crossed = OmnibusTest::new().outcome(&crossing, &column([0.0]), &mut rng(0));
    assert!(crossed.is_err());
}
