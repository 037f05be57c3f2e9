//! Maps fitted by the SKCE and by the CRPS, and the SKCE of predictions that go through samples.

use super::*;

/// Of `N(sin i, 1)` predictions whose targets have the standard deviation 2 and ½.
fn overconfident() -> (Normal, Tensor<2>) {
    let n = 60;
    let location: Vec<f64> = (0..2 * n).map(|i| (i as f64).sin()).collect();
    let mean = matrix(&location, 2);
    let truth = Normal::new(mean.clone(), repeated(&[2.0, 0.5], n));
    let y = truth.sample(&mut rng(14));
    (Normal::new(mean.clone(), mean.ones_like()), y)
}

fn skce() -> SkceLoss<TensorKernel<RealKernel>> {
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    SkceLoss::new(Skce::biased(kernel.with_bandwidth(Bandwidth::Fixed(1.0))))
}

/// At a minimum below the fit to the log score.
#[test]
fn temperature_by_the_skce() {
    let ((p, y), skce) = (overconfident(), skce());
    let criterion = |p: &Normal, y: &Tensor<2>| skce.forward(p, y);
    let config = TemperatureScalingConfig::new();
    let map = config.fit_to_by(&criterion, &p, &y);
    converged(&map);
    let at = |t: f64| {
        let map = temperature_map(t);
        scalar(criterion(&map.forward(p.clone()), &y))
    };
    let best = at(map.temperature());
    close(map.report().unwrap().objective, best, 1e-12);
    for t in [0.98, 1.02].map(|factor| factor * map.temperature()) {
        assert!(at(t) > best);
    }
    assert!(at(config.fit_to(&p, &y).temperature()) > best);
}

/// With a factor for each coordinate it is at most that of one factor, which is a temperature.
#[test]
fn variances_by_the_skce() {
    let ((p, y), skce) = (overconfident(), skce());
    let criterion = |p: &Normal, y: &Tensor<2>| skce.forward(p, y);
    let config = VarianceScalingConfig::new();
    let each = config.fit_to_by(&criterion, &p, &y);
    let one = TemperatureScalingConfig::new();
    let one = one.fit_to_by(&criterion, &p, &y);
    let [each_skce, one_skce] =
        [each.report(), one.report()].map(|report| report.unwrap().objective);
    assert!(each_skce < one_skce, "{each_skce} {one_skce}");
    let found = scalar(criterion(&each.forward(p.clone()), &y));
    close(found, each_skce, 1e-12);
}

/// The samples of recalibrated predictions are calibrated where those before are not.
#[test]
fn of_samples_before_and_after() {
    let (n, mut rng) = (60, rng(15));
    let truth = Normal::new(repeated(&[1.0], n), repeated(&[0.5], n));
    let p = Normal::new(repeated(&[0.0], n), repeated(&[1.0], n));
    let map = QuantileRecalibrationConfig::new()
        .fit(p.clone(), truth.sample(&mut rng))
        .unwrap();
    let y = truth.sample(&mut rng);
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    let estimate = |samples: &Samples| Skce::unbiased(kernel).on(samples, &y);
    let before = estimate(&Samples::drawn_from(&p, 40, &mut rng));
    let after = estimate(&map.forward(p.clone()).samples(40, &mut rng));
    assert!(before > 0.05 && after.abs() < 0.02, "{before} {after}");
}

/// Calibrated predictions, through samples.
#[test]
fn of_draws() {
    let (n, mut rng) = (40, rng(16));
    let p = Laplace::new(column(u(n)), column(v(n)));
    let y = p.sample(&mut rng);
    let kernel = TensorKernel::wasserstein(RealKernel::laplacian(0.5));
    let samples = Samples::drawn_from(&p, 50, &mut rng);
    let estimate = Skce::biased(kernel).on(&samples, &y);
    assert!(estimate > 0.0 && estimate < 0.1, "{estimate}");
}

/// A network that was trained by the CRPS, whose errors have heavier tails than its predictions: the factor of the
/// least log score costs CRPS, that of the least CRPS does not. Targets are the quantiles of a Laplace distribution.
#[test]
fn a_network_trained_by_the_crps() {
    let n = 400;
    let quantile = |i: usize| {
        let u = (i as f64 + 0.5) / n as f64 - 0.5;
        -u.signum() * (1.0 - 2.0 * u.abs()).ln()
    };
    let y = matrix(&(0..n).map(quantile).collect::<Vec<_>>(), 1);
    let p = Normal::new(y.zeros_like(), y.ones_like());
    let loss = ScoreLoss::new(Crps);
    let by_crps = |p: &Normal| {
        let map = VarianceScalingConfig::new().fit_by(&loss, p.clone(), y.clone());
        map.unwrap().forward(p.clone())
    };
    let trained = by_crps(&p);
    let map = VarianceScalingConfig::new().fit(trained.clone(), y.clone());
    let by_log_score = map.unwrap().forward(trained.clone());
    let [before, log_score, again] =
        [&trained, &by_log_score, &by_crps(&trained)].map(|p| Crps.mean(p, &y).unwrap().estimate);
    assert!(log_score > 1.002 * before, "{log_score}, {before}");
    assert!((again - before).abs() < 1e-4 * before, "{again}, {before}");
}
