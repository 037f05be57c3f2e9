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
    assert!(report.gradient.unwrap() < 1e-12);
    let map = config()
        .fit(Laplace::new(zero(), scale()), y.clone())
        .unwrap();
    close(map.temperature(), 6.5 / 4.0, 1e-14);
    // κ/d · mean(q^κ) with q = 1 + 9 and 4 + ¼
    let power = PowerExponential::new(zero(), scale(), 2.0);
    let map = config().fit(power.clone(), y.clone()).unwrap();
    close(map.temperature(), (100.0 + 4.25 * 4.25) / 2.0, 1e-14);
}

/// scipy.optimize.brentq on the derivative with digamma functions (Beta and Dirichlet),
/// minimize_scalar on gennorm (power exponential, to 1e-7).
#[test]
fn agrees_with_scipy() {
    let (u, v) = (u(40), v(40));
    let pairs = || u.iter().zip(&v);
    let beta = Beta::new(
        column(v.iter().map(|v| 1.0 + 3.0 * v)),
        column(u.iter().map(|u| 2.0 + u)),
    );
    let y = column(u.iter().map(|u| 0.05 + 0.9 * u));
    let map = config().fit(beta.clone(), y.clone()).unwrap();
    close(map.temperature(), 2.0174988079915517, 1e-11);
    close(map.report().unwrap().objective, 0.14342744556046316, 1e-13);

    let alpha: Vec<f64> = pairs()
        .flat_map(|(u, v)| [1.0 + 3.0 * v, 2.0 + u, 0.5 + v * u])
        .collect();
    let y: Vec<f64> = pairs()
        .flat_map(|(u, v)| {
            let point = [u + 0.1, v + 0.1, (1.0 - u) * v + 0.1];
            point.map(|y| y / point.iter().sum::<f64>())
        })
        .collect();
    let map = config()
        .fit(Dirichlet::new(matrix(&alpha, 3)), matrix(&y, 3))
        .unwrap();
    close(map.temperature(), 1.10074159845632, 1e-11);
    close(map.report().unwrap().objective, -0.2411181247755841, 1e-13);

    let scale = column(v.iter().map(|v| 0.3 + v));
    let power = PowerExponential::new(column(u.clone()), scale, 1.7);
    let y = column(v.iter().map(|v| 3.0 * v - 1.0));
    let map = config().fit(power.clone(), y.clone()).unwrap();
    close(map.temperature(), 33.72668972753316, 1e-6);
    close(map.report().unwrap().objective, 1.7817507950127205, 1e-13);
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
    let p = Beta::new(column(v(20)), column(u(20)));
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
    fn fitted<P: Tempered>(p: &P, truth: &TemperatureScaling, rng: &mut rand::rngs::StdRng) {
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
    fitted(&Laplace::new(mu.clone(), scale.clone()), &truth, &mut rng);
    fitted(&PowerExponential::new(mu, scale, 2.2), &truth, &mut rng);
    let parameter = |x: &[f64]| column(x.iter().map(|x| 4.0 + 8.0 * x));
    fitted(&Beta::new(parameter(&u), parameter(&v)), &truth, &mut rng);
    let alpha: Vec<f64> = u
        .iter()
        .zip(&v)
        .flat_map(|(u, v)| [4.0 + u, 9.0 * v + 3.0, 5.0])
        .collect();
    fitted(&Dirichlet::new(matrix(&alpha, 3)), &truth, &mut rng);
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
    // at the means of Beta and Dirichlet predictions, up to rounding
    let p = Beta::new(column([0.1, 3.0]), column([0.7, 1.3]));
    let map = config()
        .fit(p.clone(), column([0.1 / 0.8, 3.0 / 4.3]))
        .unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    let p = Dirichlet::new(matrix(&[1.0, 2.0, 1.0], 3));
    let map = config()
        .fit(p.clone(), matrix(&[0.25, 0.5, 0.25], 3))
        .unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
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
    let error = config()
        .fit(p.clone(), column([1.0, f64::NAN]))
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Value {
                what: "the target",
                row: 1,
                ..
            }
        ),
        "{error}"
    );
    let error = config().fit(p.clone(), column([1.0])).unwrap_err();
    assert_eq!(
        error,
        Error::Length {
            predictions: 2,
            got: 1,
            what: "targets"
        }
    );
    let zero = Normal::new(column([1.0, 2.0]), column([1.0, 0.0]));
    let error = config().fit(zero.clone(), column([1.0, 2.0])).unwrap_err();
    assert!(matches!(
        error,
        Error::Value {
            row: 1,
            at: 0,
            value: 0.0,
            ..
        }
    ));
    let none = Normal::new(
        Tensor::zeros([0, 1], &device()),
        Tensor::zeros([0, 1], &device()),
    );
    assert!(matches!(
        config()
            .fit(none.clone(), Tensor::zeros([0, 1], &device()))
            .unwrap_err(),
        Error::TooFewSamples { .. }
    ));
    let p = Beta::new(column([1.0, 2.0]), column([1.0, 3.0]));
    for end in [0.0, 1.0] {
        let error = config().fit(p.clone(), column([0.5, end])).unwrap_err();
        assert!(
            matches!(error, Error::Value { row: 1, at: 0, .. }),
            "{error}"
        );
    }
    let p = Dirichlet::new(matrix(&[1.0, 2.0], 2));
    let error = config().fit(p.clone(), matrix(&[0.0, 1.0], 2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0, coordinate 0: the target is 0, expected a positive number"
    );
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
    let p = PowerExponential::new(single(0.3), single(0.7), 0.9);
    assert_eq!(vector(map.forward(p.clone()).scale()), vector(p.scale()));
    let p = Dirichlet::new(matrix(&[0.1, 0.7], 2));
    assert_eq!(vector(map.forward(p.clone()).concentration()), [0.1, 0.7]);
    let p = Beta::new(single(0.3), single(0.7));
    assert_eq!(vector(map.forward(p.clone()).alpha()), vector(p.alpha()));
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
