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
    let normal = Normal::new(zero(), scale());
    let map = config().fit_to(&normal, &y);
    close(map.temperature(), 14.25 / 4.0, 1e-14);
    assert_eq!(converged(&map).gradient, None); // in closed form
    let laplace = Laplace::new(zero(), scale());
    let map = config().fit_to(&laplace, &y);
    close(map.temperature(), 6.5 / 4.0, 1e-14);
}

/// The objective is the mean log score of the recalibrated predictions.
#[test]
fn reports_the_log_score() {
    fn check<P: ScaleFamily>(p: &P, y: &Tensor<2>) {
        let map = config().fit_to(p, y);
        let score = -mean(&vector(map.forward(p.clone()).log_density(y)));
        close(map.report().unwrap().objective, score, 1e-12);
    }
    check(&normal(20), &targets(20));
    let laplace = Laplace::new(column(v(20)), column(u(20)));
    check(&laplace, &column(spread(20, 0.38)));
}

/// Predictions that are sharper than the truth by a known temperature.
#[test]
fn recovers_the_temperature_of_simulated_data() {
    let (n, mut rng) = (20_000, rng(6));
    let (u, v) = (u(n), v(n));
    let truth = temperature_map(2.5);
    fn fitted<P: ScaleFamily>(p: &P, truth: &TemperatureScaling, rng: &mut StdRng) {
        let y = truth.forward(p.clone()).sample(rng);
        let map = config().fit_to(p, &y);
        assert_near(map.temperature(), 2.5, 0.125);
        converged(&map);
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
    let map = config().fit_to_by(&crps, &p, &y);
    close(map.temperature(), 2.07659652061574, 1e-6);
    close(converged(&map).objective, 0.39121506131824324, 1e-12);
    // the log score as any criterion
    let map = config().fit_to_by(&log_score, &p, &y);
    close(map.temperature(), 4.2445841424429, 1e-6);
    let closed = config().fit_to(&p, &y).temperature();
    close(closed, 4.2445841424429, 1e-12);
}

#[test]
fn ends_at_a_bound_and_says_so() {
    let p = Normal::new(column([1.0, 2.0]), column([1.0, 3.0]));
    let map = config().fit(p.clone(), column([1.0, 2.0])).unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    close(map.temperature().ln(), -80.0, 1e-12);
    let one = Normal::new(column([1.0]), column([1.0]));
    let map = config().fit_to(&one, &column([1e20]));
    assert_eq!(map.report().unwrap().status, FitStatus::UpperBound);
    close(map.temperature().ln(), 80.0, 1e-12);
    // one sample is enough otherwise
    let p = Laplace::new(column([0.0]), column([2.0]));
    let map = config().fit_to(&p, &column([-3.0]));
    close(map.temperature(), 1.5, 1e-14);
}

#[test]
fn bad_data_are_named() {
    let p = Normal::new(column([1.0, 2.0]), column([1.0, 3.0]));
    refuses(config().fit(p.clone(), column([1.0, f64::NAN])));
    refuses(config().fit(p.clone(), column([1.0])));
    let zero = Normal::new(column([1.0, 2.0]), column([1.0, 0.0]));
    refuses(config().fit(zero.clone(), column([1.0, 2.0])));
    let zeros = || Tensor::zeros([0, 1], &device());
    refuses(config().fit(Normal::new(zeros(), zeros()), zeros()));
    for t in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(TemperatureScaling::from_temperature(t, &device()).is_err());
    }
}

/// Predictions in f32 stay so, and the map of T = 1 changes nothing.
#[test]
fn keeps_the_dtype_and_is_the_identity_at_one() {
    let single = |x: f64| column([x]).cast(DType::F32);
    let map = temperature_map(1.0);
    let p = Normal::new(single(0.3), single(0.7));
    let same = map.forward(p.clone()).standard_deviation();
    assert_eq!(same.dtype(), DType::F32);
    assert_eq!(vector(same), vector(p.standard_deviation()));
}

/// Predictions of a network in training: the fit leaves their gradients alone, the map passes them on.
#[test]
fn predictions_that_record_gradients() {
    let recording = device().autodiff();
    let lift = |x: Tensor<2>| Tensor::<2>::from_data(x.into_data(), (&recording, DType::F64));
    let (p, y) = (normal(40), lift(targets(40)));
    let location = lift(p.mean()).require_grad();
    let p = Normal::new(location.clone(), lift(p.standard_deviation()));
    let map = config().fit_to(&p, &y);
    close(map.temperature(), 4.2445841424429, 1e-12);
    let by_criterion = config().fit_to_by(&log_score, &p, &y);
    close(by_criterion.temperature(), 4.2445841424429, 1e-6);
    let gradients = log_score(&map.forward(p.clone()), &y).backward();
    let gradient = vector(location.grad(&gradients).unwrap());
    let (z, s) = (vector(p.mean() - y), vector(p.standard_deviation()));
    for (i, found) in gradient.into_iter().enumerate() {
        let expected = z[i] / (s[i] * s[i] * map.temperature()) / 40.0;
        close(found, expected, 1e-12);
    }
    let scaling = VarianceScalingConfig::new();
    let y = lift(targets(40));
    let factor = scaling.fit_to(&p, &y).factors()[0];
    close(factor.powi(2), 4.2445841424429, 1e-12);
    let factor = scaling.fit_to_by(&log_score, &p, &y).factors()[0];
    close(factor.powi(2), 4.2445841424429, 1e-6);
}
