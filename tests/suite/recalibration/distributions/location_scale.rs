use proptest::prelude::*;

use super::*;

fn fit(p: Normal, y: Tensor<2>) -> LocationScaleRecalibration {
    LocationScaleRecalibrationConfig::new().fit(p, y).unwrap()
}

fn parameters(map: &LocationScaleRecalibration) -> Vec<f64> {
    [map.shifts(), map.factors(), map.powers()].concat()
}

/// Sixty predictions that are biased and whose widths vary too much: means, deviations, targets.
pub fn biased() -> [Vec<f64>; 3] {
    let numbers = |f: &dyn Fn(f64) -> f64| (0..60).map(|i| f(i as f64)).collect::<Vec<f64>>();
    let m = numbers(&|i| 2.0 * (1.3 * i).sin());
    let s = numbers(&|i| (0.6 * (2.1 * i).cos()).exp());
    let y = (m.iter().zip(&s).enumerate())
        .map(|(i, (m, s))| {
            m + (3.0 * m).sin() + 0.2 * s + 0.5 * s.sqrt() * (5.7 * i as f64 + 1.0).sin()
        })
        .collect();
    [m, s, y]
}

// b, s, γ and the log score
const NORMAL: [f64; 3] = [0.18864366613060624, 0.7561685003330608, 0.1341097940865457];
const NORMAL_SCORE: f64 = 1.1396119805323415;
const LAPLACE: [f64; 3] = [0.1727565043903072, 0.6461758446112322, 0.10430192267238832];
const LAPLACE_SCORE: f64 = 1.256591509898932;

/// The parameters that SciPy's Nelder-Mead finds from four starts.
#[test]
fn optima_of_scipy() {
    let [m, s, y] = biased().map(column);
    let map = fit(Normal::new(m.clone(), s.clone()), y.clone());
    all_near(parameters(&map), NORMAL, 1e-6);
    close(converged(&map).objective, NORMAL_SCORE, 1e-12);
    let laplace = Laplace::new(m, s);
    let map = LocationScaleRecalibrationConfig::new().fit_to(&laplace, &y);
    all_near(parameters(&map), LAPLACE, 1e-5);
    close(map.report().unwrap().objective, LAPLACE_SCORE, 1e-9);
}

#[test]
fn recovers_the_parameters_of_simulated_data() {
    let (n, mut rng) = (40_000, rng(8));
    let truth = [[0.3, 0.5, 0.6], [-0.2, 2.0, 1.4]];
    let truth = LocationScaleRecalibration::from_parameters(&truth, &device()).unwrap();
    let scale = matrix(&v(2 * n), 2);
    let p = Normal::new(matrix(&u(2 * n), 2), scale);
    let y = truth.forward(p.clone()).sample(&mut rng);
    let map = fit(p, y);
    all_near(parameters(&map), parameters(&truth), 0.03);
    assert!(!map.guarantees().keeps_mean && map.guarantees().injective);
}

/// Variance scaling where there is no bias to remove and no width to compare.
#[test]
fn equal_widths_have_a_power_of_one() {
    let y = column([1.0, -3.0, 2.0, 0.0]);
    let p = Normal::new(y.zeros_like(), y.ones_like().mul_scalar(2.0));
    let config = LocationScaleRecalibrationConfig::new();
    let map = config.fit_to(&p, &y);
    let factors = VarianceScalingConfig::new().fit(p, y).unwrap().factors();
    close(map.factors()[0], factors[0], 1e-14);
    assert_eq!((map.powers()[0], map.shifts()[0]), (1.0, 0.0));
    assert!(map.guarantees().keeps_mean);
}

#[test]
fn bounds_and_errors() {
    let zeros = column([0.0; 3]);
    let p = Normal::new(zeros.clone(), column([1.0, 2.0, 3.0]));
    let map = fit(p.clone(), zeros.clone()); // every target is the mean
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    let deviations = vector(map.forward(p.clone()).standard_deviation());
    assert!(deviations.iter().all(|s| *s > 0.0));
    let one = Normal::new(column([1.0]), column([1.0]));
    let map = fit(one.clone(), column([3.0])); // a single sample
    close(vector(map.forward(one).mean())[0], 3.0, 1e-12);
    let error = LocationScaleRecalibrationConfig::new().fit_by(
        &|p: &Normal, _: &Tensor<2>| p.mean().sum(),
        p,
        zeros,
    );
    assert!(matches!(error, Err(Error::Unsupported { .. })));
    for wrong in [
        [f64::NAN, 1.0, 1.0],
        [0.0, 0.0, 1.0],
        [0.0, 1.0, f64::INFINITY],
    ] {
        assert!(LocationScaleRecalibration::from_parameters(&[wrong], &device()).is_err());
    }
    assert!(LocationScaleRecalibration::from_parameters(&[], &device()).is_err());
}

proptest! {
    #![proptest_config(cases(64))]

    /// No map beside the fitted one has a lower log score, and units do not matter.
    #[test]
    fn the_fit_is_best(
        rows in prop::collection::vec([-5.0..5.0f64, -3.0..3.0f64, -5.0..5.0f64], 3..30),
        aside in [-0.3..0.3f64, -0.3..0.3f64, -0.3..0.3f64],
        unit in prop::sample::select(vec![1e-6f64, 1.0, 1e6]),
    ) {
        let of = |c: usize| rows.iter().map(move |row| row[c]);
        let (m, s, y) = (column(of(0)), column(of(1).map(f64::exp)), column(of(2)));
        let score = |map: &LocationScaleRecalibration, p: Normal, y: &Tensor<2>| {
            vector(map.forward(p).log_density(y)).iter().sum::<f64>()
        };
        let p = Normal::new(m.clone(), s.clone());
        let map = fit(p.clone(), y.clone());
        let [shift, factor, power] = [map.shifts()[0], map.factors()[0], map.powers()[0]];
        let beside = [[shift + aside[0], factor * aside[1].exp(), power + aside[2]]];
        let beside = LocationScaleRecalibration::from_parameters(&beside, &device()).unwrap();
        let [best, other] = [&map, &beside].map(|map| score(map, p.clone(), &y));
        prop_assert!(best >= other - 1e-9 * (1.0 + other.abs()), "{best} {other}");

        let q = Normal::new(m * unit, s * unit);
        let scaled = fit(q.clone(), y.clone() * unit);
        let (got, expected) = (score(&scaled, q, &(y * unit)), best - rows.len() as f64 * unit.ln());
        prop_assert!((got - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{got} {expected}");
    }
}
