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
    let map = config().fit_to(&normal, &y);
    all_near(map.factors(), [2.5, 4.625].map(f64::sqrt), 2e-14);
    let (first, second) = (map.factors()[0], map.factors()[1]);
    let laplace = Laplace::new(zero(), scale());
    all_near(config().fit_to(&laplace, &y).factors(), [1.5, 1.75], 2e-14);

    let scaled = map.forward(normal.clone());
    assert_eq!(vector(scaled.mean()), [0.0; 4]);
    let expected = [first, 2.0 * second, first, 0.5 * second];
    assert_eq!(vector(scaled.standard_deviation()), expected);
    let log_score = vector(scaled.log_density(&y));
    close(converged(&map).objective, -mean(&log_score), 1e-14);
}

#[test]
fn recovers_the_factors_of_simulated_data() {
    let (n, mut rng) = (20_000, rng(8));
    let truth = VarianceScaling::from_factors(vec![0.25, 4.0], &device()).unwrap();
    let scale = matrix(&v(2 * n), 2);
    let p = Normal::new(scale.zeros_like(), scale);
    let y = truth.forward(p.clone()).sample(&mut rng);
    all_relative(config().fit_to(&p, &y).factors(), [0.25, 4.0], 0.03);
}

/// The log score as any criterion, from a start beside its minimum, and the CRPS, least where it is
/// stationary in both factors.
#[test]
fn by_another_criterion() {
    let mut rng = rng(9);
    let [location, y] = [(); 2].map(|()| tensor(&random_rows(30, 2, 2.0, &mut rng)));
    let scale = tensor(&random_rows(30, 2, 1.0, &mut rng)).exp();
    let p = Normal::new(location, scale);
    let expected = config().fit_to(&p, &y).factors();
    let map = config().fit_to_by(&log_score, &p, &y);
    all_near(map.factors(), expected, 1e-5);
    let map = config().fit_to_by(&crps, &p, &y);
    let best = scalar(crps(&map.forward(p.clone()), &y));
    close(converged(&map).objective, best, 1e-12);
    for factors in [[0.99, 1.0], [1.01, 1.0], [1.0, 0.99], [1.0, 1.01]] {
        let fitted = map.factors();
        let beside = vec![fitted[0] * factors[0], fitted[1] * factors[1]];
        let beside = VarianceScaling::from_factors(beside, &device()).unwrap();
        assert!(scalar(crps(&beside.forward(p.clone()), &y)) > best);
    }
}

/// A criterion takes every row, and names none as set aside.
#[test]
fn a_criterion_is_not_robust() {
    let mut y = [1.0, -1.0].repeat(50);
    y[7] = 1e3;
    let y = matrix(&y, 1);
    let p = Normal::new(y.zeros_like(), y.ones_like());
    let map = config().fit_to_by(&crps, &p, &y);
    let robust = Robust(config()).fit_to_by(&crps, &p, &y);
    assert_eq!(robust.factors(), map.factors());
    assert!(converged(&robust).warnings.is_empty());
    assert!(
        !Robust(config())
            .fit_to(&p, &y)
            .report()
            .unwrap()
            .warnings
            .is_empty()
    );
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

/// A row of tiny deviation does not rule the factors of any robust map of scales: the others keep theirs, and it is
/// named. Without `Robust` the factor is the root mean square of all rows.
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
            let map = Robust(config()).fit_to(&p, &y);
            close(map.factors()[0], factor.recip(), 0.1 / factor);
            assert_eq!(map.report().unwrap().warnings, aside);
            let all = config().fit_to(&p, &y);
            assert_eq!(all.report().unwrap().warnings, []);
            let wild = (vector(y.clone())[17] - vector(truth.mean())[17]).abs() / tiny;
            let bound = 40f64.exp().min(wild / (n as f64).sqrt());
            assert!(
                all.factors()[0] >= 0.99 * bound,
                "{:?} {bound}",
                all.factors()
            );
            let map = Robust(TemperatureScalingConfig::new()).fit_to(&p, &y);
            close(map.temperature(), factor.powi(-2), 0.2 / factor.powi(2));
            assert_eq!(map.report().unwrap().warnings, aside);
            let map = Robust(LocationScaleRecalibrationConfig::new()).fit_to(&p, &y);
            let [before, after] =
                [p.clone(), map.forward(p.clone())].map(|p| vector(p.log_density(&y)));
            let others = (0..n).filter(|i| *i != 17);
            let changes: Vec<f64> = others.map(|i| before[i] - after[i]).collect();
            assert!(mean(&changes) < 0.1, "{changes:?}");
        }
    }
}
