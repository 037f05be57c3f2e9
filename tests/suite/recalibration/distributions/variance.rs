use super::*;

fn config() -> VarianceScalingConfig {
    VarianceScalingConfig::new()
}

/// By hand: z = (1, −3) and (2, ½) in two coordinates.
#[test]
fn closed_forms() {
    let zero = || matrix(&[0.0; 4], 2);
    let scale = || matrix(&[1.0, 2.0, 1.0, 0.5], 2);
    let y = matrix(&[1.0, -6.0, 2.0, 0.25], 2);
    let normal = Normal::new(zero(), scale());
    let map = config().fit(normal.clone(), y.clone()).unwrap();
    let [first, second] = map.factors()[..] else {
        panic!("two factors")
    };
    close(first, 2.5f64.sqrt(), 1e-14);
    close(second, 4.625f64.sqrt(), 1e-14);
    let laplace = Laplace::new(zero(), scale());
    let factors = config().fit(laplace.clone(), y.clone()).unwrap().factors();
    close(factors[0], 1.5, 1e-14);
    close(factors[1], 1.75, 1e-14);

    let scaled = map.forward(normal.clone());
    assert_eq!(vector(scaled.mean()), [0.0; 4]);
    let expected = [first, 2.0 * second, first, 0.5 * second];
    assert_eq!(vector(scaled.standard_deviation()), expected);
    let log_score = vector(scaled.log_density(&y));
    let report = map.report().unwrap();
    close(
        report.objective,
        -(log_score[0] + log_score[1]) / 2.0,
        1e-14,
    );
    assert_eq!(report.status, FitStatus::Converged);
}

#[test]
fn recovers_the_factors_of_simulated_data() {
    let (n, mut rng) = (20_000, rng(8));
    let truth = VarianceScaling::from_factors(vec![0.25, 4.0], &device()).unwrap();
    let scale = matrix(&v(2 * n), 2);
    let p = Normal::new(scale.zeros_like(), scale);
    let y = truth.forward(p.clone()).sample(&mut rng);
    for (got, expected) in config()
        .fit(p.clone(), y.clone())
        .unwrap()
        .factors()
        .iter()
        .zip([0.25, 4.0])
    {
        assert!((got / expected - 1.0).abs() < 0.03, "{got}");
    }
}

/// The log score as any criterion, from a start beside its minimum, and the CRPS, least where it is
/// stationary in both factors.
#[test]
fn by_another_criterion() {
    let mut rng = rng(9);
    let [location, y] = [(); 2].map(|()| tensor(&random_rows(30, 2, 2.0, &mut rng)));
    let scale = tensor(&random_rows(30, 2, 1.0, &mut rng)).exp();
    let p = Normal::new(location, scale);
    let log_score = |p: &Normal, y: &Tensor<2>| p.log_density(y).mean().neg();
    let expected = config().fit(p.clone(), y.clone()).unwrap().factors();
    let map = config().fit_by(&log_score, p.clone(), y.clone()).unwrap();
    for (got, expected) in map.factors().into_iter().zip(expected) {
        close(got, expected, 1e-5);
    }
    let crps = |p: &Normal, y: &Tensor<2>| {
        let z = (y.clone() - p.mean()) / p.standard_deviation();
        let density = (z.clone().square() * -0.5).exp() * (2.0 / std::f64::consts::TAU.sqrt());
        let term = z * (p.cdf(y) * 2.0 - 1.0) + density - std::f64::consts::PI.sqrt().recip();
        (p.standard_deviation() * term).mean()
    };
    let map = config().fit_by(&crps, p.clone(), y.clone()).unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::Converged);
    let best = scalar(crps(&map.forward(p.clone()), &y));
    close(map.report().unwrap().objective, best, 1e-12);
    for factors in [[0.99, 1.0], [1.01, 1.0], [1.0, 0.99], [1.0, 1.01]] {
        let fitted = map.factors();
        let beside = vec![fitted[0] * factors[0], fitted[1] * factors[1]];
        let beside = VarianceScaling::from_factors(beside, &device()).unwrap();
        assert!(scalar(crps(&beside.forward(p.clone()), &y)) > best);
    }
}

#[test]
fn degenerate_data() {
    let p = Normal::new(matrix(&[1.0, 2.0], 2), matrix(&[1.0, 3.0], 2));
    let map = config().fit(p.clone(), matrix(&[1.0, 5.0], 2)).unwrap(); // z = 0, 1
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    close(map.factors()[0].ln(), -40.0, 1e-13);
    close(map.factors()[1], 1.0, 1e-14);
    let map = config().fit(p.clone(), matrix(&[1e20, 5.0], 2)).unwrap();
    assert_eq!(map.report().unwrap().status, FitStatus::UpperBound);
    refuses(config().fit(p.clone(), matrix(&[f64::INFINITY, 5.0], 2)));
    refuses(config().fit(p.clone(), column([1.0])));
    for factors in [vec![], vec![0.0], vec![1.0, f64::NAN]] {
        assert!(VarianceScaling::from_factors(factors, &device()).is_err());
    }
    let map = VarianceScaling::from_factors(vec![1.0, 2.0], &device()).unwrap();
    let one = repeated(&[1.0; 3], 2);
    panics(|| map.forward(Normal::new(one.clone(), one)));
}

/// A row of tiny deviation does not rule the factors of any map of scales: the others keep theirs, and it is named.
#[test]
fn a_row_of_tiny_deviation_is_set_aside() {
    let (n, mut rng) = (300, rng(10));
    let truth = Normal::new(column(u(n)), column(v(n)));
    let y = truth.sample(&mut rng);
    for factor in [1.0, 0.25] {
        for tiny in [1e-6, 1.5e-30] {
            let mut deviations: Vec<f64> = v(n).into_iter().map(|s| s * factor).collect();
            deviations[17] = tiny;
            let p = Normal::new(column(u(n)), column(deviations));
            let aside = [FitWarning::SetAside { rows: vec![17] }];
            let map = config().fit(p.clone(), y.clone()).unwrap();
            close(map.factors()[0], factor.recip(), 0.1 / factor);
            assert_eq!(map.report().unwrap().warnings, aside);
            let map = TemperatureScalingConfig::new()
                .fit(p.clone(), y.clone())
                .unwrap();
            close(map.temperature(), factor.powi(-2), 0.2 / factor.powi(2));
            assert_eq!(map.report().unwrap().warnings, aside);
            let map = LocationScaleRecalibrationConfig::new()
                .fit(p.clone(), y.clone())
                .unwrap();
            let [before, after] =
                [p.clone(), map.forward(p.clone())].map(|p| vector(p.log_density(&y)));
            let changes = before
                .iter()
                .zip(&after)
                .map(|(before, after)| before - after);
            let others: Vec<f64> = changes
                .enumerate()
                .filter(|(i, _)| *i != 17)
                .map(|(_, x)| x)
                .collect();
            assert!(others.iter().sum::<f64>() / 299.0 < 0.1, "{others:?}");
        }
    }
}
