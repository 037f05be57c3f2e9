use proptest::prelude::*;

use super::*;

/// `n` predictions with targets: locations, logarithms of scales, targets.
fn data() -> impl Strategy<Value = Vec<[f64; 3]>> {
    prop::collection::vec([-5.0..5.0f64, -3.0..3.0f64, -5.0..5.0f64], 1..30)
}

fn columns(rows: &[[f64; 3]]) -> [Tensor<2>; 3] {
    let of = |c: usize| column(rows.iter().map(|row| row[c]));
    [of(0), of(1).exp(), of(2)]
}

fn mean_log_score<P: Density<Targets = Tensor<2>>>(p: &P, y: &Tensor<2>) -> f64 {
    scalar(p.log_density(y).mean().neg())
}

proptest! {
    #![proptest_config(cases(64))]

    /// No other temperature has a lower log score.
    #[test]
    fn the_temperature_is_best(rows in data(), other in -1.0..1.0f64) {
        let [location, scale, y] = columns(&rows);
        let config = TemperatureScalingConfig::new();
        macro_rules! check {
            ($p:expr, $y:expr) => {
                let (p, y) = ($p, $y);
                let map = config.fit_to(&p, &y);
                prop_assume!(map.report().unwrap().warnings.is_empty()); // of all rows
                let t = map.temperature() * other.exp();
                let beside = temperature_map(t);
                let [best, other] = [map, beside].map(|map| mean_log_score(&map.forward(p.clone()), &y));
                prop_assert!(best <= other + 1e-9 * (1.0 + other.abs()), "{best} {other}");
            };
        }
        check!(Normal::new(location.clone(), scale.clone()), y.clone());
        check!(Laplace::new(location, scale), y);
    }

    /// A map of a map: temperatures multiply.
    #[test]
    fn temperatures_compose(s in 0.1..10.0f64, t in 0.1..10.0f64) {
        let map = |t| temperature_map(t);
        let p = Laplace::new(column([0.5]), column([1.5]));
        let twice = vector(map(t).forward(map(s).forward(p.clone())).scale())[0];
        let once = vector(map(s * t).forward(p.clone()).scale())[0];
        prop_assert!((twice / once - 1.0).abs() < 1e-13);
    }

    /// Refitting a recalibrated prediction changes nothing.
    #[test]
    fn fits_are_idempotent(rows in data()) {
        let [location, scale, y] = columns(&rows);
        let p = Normal::new(location, scale);
        let map = TemperatureScalingConfig::new().fit_to(&p, &y);
        let again = TemperatureScalingConfig::new().fit(map.forward(p.clone()), y.clone()).unwrap();
        prop_assert!((again.temperature() - 1.0).abs() < 1e-12);
        let map = VarianceScalingConfig::new().fit_to(&p, &y);
        let again = VarianceScalingConfig::new().fit(map.forward(p.clone()), y.clone()).unwrap();
        prop_assert!((again.factors()[0] - 1.0).abs() < 1e-12);
    }

    /// Monotone levels, and in the order of those before.
    #[test]
    fn quantile_recalibration_is_monotone(rows in data(), x in -9.0..9.0f64, step in 0.0..3.0f64) {
        let [location, scale, y] = columns(&rows);
        let p = Normal::new(location.clone(), scale);
        let Ok(map) = QuantileRecalibrationConfig::new().fit(p.clone(), y.clone()) else {
            return Ok(()); // all in the far tails
        };
        let q = map.forward(p.clone());
        let (low, high) = (location.clone() + x, location + (x + step));
        for (low, high) in vector(q.cdf(&low)).into_iter().zip(vector(q.cdf(&high))) {
            prop_assert!((0.0..=high).contains(&low) && high <= 1.0);
        }
        // targets in the order of their levels before have levels in their order after
        let before = vector(p.cdf(&y));
        let after = vector(q.cdf(&y));
        for i in 0..rows.len() {
            for j in 0..rows.len() {
                prop_assert!(before[i] <= before[j] || after[i] >= after[j]);
            }
        }
        prop_assert!(map.guarantees().injective);
    }
}
