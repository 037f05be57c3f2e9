use super::*;

fn config() -> TemperatureScalingConfig {
    TemperatureScalingConfig::new()
}

fn normal(n: usize) -> Normal {
    let (u, v) = (u(n), v(n));
    Normal::new(column(u), column(v.iter().map(|v| 0.2 + 0.5 * v)))
}

fn targets(n: usize) -> Tensor<2> {
    column(v(n).iter().map(|v| 2.0 * v - 0.5))
}

/// `mean(z²)` and `mean(|z|)` over samples and coordinates, by hand.
#[test]
fn closed_forms() {
    let zero = || matrix(&[0.0; 4], 2);
    let scale = || matrix(&[1.0, 2.0, 1.0, 0.5], 2);
    let y = matrix(&[1.0, -6.0, 2.0, 0.25], 2); // z = 1, −3, 2, ½
    let map = config()
        .fit(Normal::new(zero(), scale()), y.clone())
        .unwrap();
    close(map.temperature(), 14.25 / 4.0, 1e-14);
    let report = map.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged);
    assert_eq!(report.gradient, None); // in closed form
    let map = config()
        .fit(Laplace::new(zero(), scale()), y.clone())
        .unwrap();
    close(map.temperature(), 6.5 / 4.0, 1e-14);
}

/// The objective is the mean log score of the recalibrated predictions.
#[test]
fn reports_the_log_score() {
    let check = |objective: f64, log_density: Tensor<1>| {
        let values = vector(log_density);
        close(
            objective,
            -values.iter().sum::<f64>() / values.len() as f64,
            1e-12,
        );
    };
    let (p, y) = (normal(20), targets(20));
    let map = config().fit(p.clone(), y.clone()).unwrap();
    check(
        map.report().unwrap().objective,
        map.forward(p.clone()).log_density(&y),
    );
    let p = Laplace::new(column(v(20)), column(u(20)));
    let y = column(spread(20, 0.38));
    let map = config().fit(p.clone(), y.clone()).unwrap();
    check(
        map.report().unwrap().objective,
        map.forward(p.clone()).log_density(&y),
    );
}

/// Predictions that are sharper than the truth by a known temperature.
#[test]
fn recovers_the_temperature_of_simulated_data() {
    let (n, mut rng) = (20_000, rng(6));
    let (u, v) = (u(n), v(n));
    let truth = TemperatureScaling::from_temperature(2.5, &device()).unwrap();
    fn fitted<P: ScaleFamily>(p: &P, truth: &TemperatureScaling, rng: &mut rand::rngs::StdRng) {
        let y = truth.forward(p.clone()).sample(rng);
        let map = config().fit(p.clone(), y.clone()).unwrap();
        assert!(
            (map.temperature() / 2.5 - 1.0).abs() < 0.05,
            "{}",
            map.temperature()
        );
        assert_eq!(map.report().unwrap().status, FitStatus::Converged);
    }
    let (mu, scale) = (column(u.clone()), column(v.iter().map(|v| v + 0.1)));
    fitted(&Normal::new(mu.clone(), scale.clone()), &truth, &mut rng);
    fitted(&Laplace::new(mu, scale), &truth, &mut rng);
}

/// The CRPS by scipy.optimize.minimize_scalar, in closed form; its temperature is not that of the log
/// score, 4.24.
#[test]
fn by_another_criterion() {
    let (p, y) = (normal(40), targets(40));
    let crps = |p: &Normal, y: &Tensor<2>| {
        let z = (y.clone() - p.mean()) / p.standard_deviation();
        let density = (z.clone().square() * -0.5).exp() * (2.0 / std::f64::consts::TAU.sqrt());
        let term = z * (p.cdf(y) * 2.0 - 1.0) + density - std::f64::consts::PI.sqrt().recip();
        (p.standard_deviation() * term).mean()
    };
    let map = config().fit_by(&crps, p.clone(), y.clone()).unwrap();
    close(map.temperature(), 2.07659652061574, 1e-6);
    close(map.report().unwrap().objective, 0.39121506131824324, 1e-12);
    assert_eq!(map.report().unwrap().status, FitStatus::Converged);
    // the log score as any criterion
    let log_score = |p: &Normal, y: &Tensor<2>| p.log_density(y).mean().neg();
    let map = config().fit_by(&log_score, p.clone(), y.clone()).unwrap();
    close(map.temperature(), 4.2445841424429, 1e-6);
    close(
        config().fit(p.clone(), y.clone()).unwrap().temperature(),
        4.2445841424429,
        1e-12,
    );
}

#[test]
fn ends_at_a_bound_and_says_so() {
    let p = Normal::new(column([1.0, 2.0]), column([1.0, 3.0]));
    let map = config().fit(p.clone(), column([1.0, 2.0])).unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    close(map.temperature().ln(), -80.0, 1e-12);
    let one = Normal::new(column([1.0]), column([1.0]));
    let map = config().fit(one, column([1e20])).unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::UpperBound);
    close(map.temperature().ln(), 80.0, 1e-12);
    // one sample is enough otherwise
    let p = Laplace::new(column([0.0]), column([2.0]));
    close(
        config()
            .fit(p.clone(), column([-3.0]))
            .unwrap()
            .temperature(),
        1.5,
        1e-14,
    );
}

#[test]
fn bad_data_are_named() {
    let p = Normal::new(column([1.0, 2.0]), column([1.0, 3.0]));
    refuses(config().fit(p.clone(), column([1.0, f64::NAN])));
    refuses(config().fit(p.clone(), column([1.0])));
    let zero = Normal::new(column([1.0, 2.0]), column([1.0, 0.0]));
    refuses(config().fit(zero.clone(), column([1.0, 2.0])));
    let none = Normal::new(
        Tensor::zeros([0, 1], &device()),
        Tensor::zeros([0, 1], &device()),
    );
    refuses(config().fit(none.clone(), Tensor::zeros([0, 1], &device())));
    for t in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(TemperatureScaling::from_temperature(t, &device()).is_err());
    }
}

/// Predictions in f32 stay so, and the map of T = 1 changes nothing.
#[test]
fn keeps_the_dtype_and_is_the_identity_at_one() {
    let single = |x: f64| column([x]).cast(DType::F32);
    let map = TemperatureScaling::from_temperature(1.0, &device()).unwrap();
    let p = Normal::new(single(0.3), single(0.7));
    let same = map.forward(p.clone());
    assert_eq!(same.dtype(), DType::F32);
    assert_eq!(
        vector(same.standard_deviation()),
        vector(p.standard_deviation())
    );
}

/// Predictions of a network in training: the fit leaves their gradients alone, the map passes them on.
#[test]
fn predictions_that_record_gradients() {
    let recording = device().autodiff();
    let lift = |x: Tensor<2>| Tensor::<2>::from_data(x.into_data(), (&recording, DType::F64));
    let (p, y) = (normal(40), lift(targets(40)));
    let location = lift(p.mean()).require_grad();
    let p = Normal::new(location.clone(), lift(p.standard_deviation()));
    let map = config().fit(p.clone(), y.clone()).unwrap();
    close(map.temperature(), 4.2445841424429, 1e-12);
    let log_score = |p: &Normal, y: &Tensor<2>| p.log_density(y).mean().neg();
    let by_criterion = config().fit_by(&log_score, p.clone(), y.clone()).unwrap();
    close(by_criterion.temperature(), 4.2445841424429, 1e-6);
    let gradients = log_score(&map.forward(p.clone()), &y).backward();
    let gradient = vector(location.grad(&gradients).unwrap());
    let (z, s) = (vector(p.mean() - y), vector(p.standard_deviation()));
    for i in 0..40 {
        close(
            gradient[i],
            z[i] / (s[i] * s[i] * map.temperature()) / 40.0,
            1e-12,
        );
    }
    let scaling = VarianceScalingConfig::new();
    let y = lift(targets(40));
    close(
        scaling.fit(p.clone(), y.clone()).unwrap().factors()[0].powi(2),
        4.2445841424429,
        1e-12,
    );
    let factor = scaling
        .fit_by(&log_score, p.clone(), y.clone())
        .unwrap()
        .factors()[0];
    close(factor.powi(2), 4.2445841424429, 1e-6);
}
