use burn_calibration::distribution::Geometry;
use proptest::prelude::*;

use super::*;

/// scipy.stats.beta.logpdf and cdf of the first three of 40 predictions.
#[test]
fn beta_density_and_distribution_function() {
    let (u, v) = (u(40), v(40));
    let predictions = Beta::new(
        column(v.iter().map(|v| 1.0 + 3.0 * v)),
        column(u.iter().map(|u| 2.0 + u)),
    );
    let targets = column(u.iter().map(|u| 0.05 + 0.9 * u));
    let log_density = vector(predictions.log_density(&targets));
    let levels = vector(predictions.cdf(&targets));
    let expected = [0.5963729050359654, 0.6237058049088078, 0.009300114737960996];
    for (got, expected) in log_density.into_iter().zip(expected) {
        close(got, expected, 1e-13);
    }
    let expected = [0.10724074140240403, 0.5814871877635547, 0.12059587312216298];
    for (got, expected) in levels.into_iter().zip(expected) {
        close(got, expected, 1e-12);
    }
}

/// scipy.stats.beta.ppf.
#[test]
fn beta_quantiles() {
    let levels = [1e-9, 0.2, 0.5, 0.999];
    for (a, b, expected) in [
        (
            0.3,
            4.0,
            [
                1.90496532e-31,
                8.93062653e-04,
                1.97783146e-02,
                7.13443702e-01,
            ],
        ),
        (40.0, 0.5, [0.62539551, 0.97955375, 0.994294, 0.99999998]),
    ] {
        let predictions = Beta::new(column([a]), column([b]));
        for (level, expected) in levels.into_iter().zip(expected) {
            let quantile = vector(predictions.quantile(level))[0];
            assert!(
                (quantile / expected - 1.0).abs() < 1e-8,
                "{quantile} {expected}"
            );
        }
    }
}

/// scipy.stats.dirichlet.logpdf([0.2, 0.3, 0.5], [0.5, 2.0, 7.5]).
#[test]
fn dirichlet_density() {
    let predictions = Dirichlet::new(matrix(&[0.5, 2.0, 7.5], 3));
    let targets = matrix(&[0.2, 0.3, 0.5], 3);
    close(
        vector(predictions.log_density(&targets))[0],
        -0.20961222135049518,
        1e-13,
    );
    // a Beta distribution is one over two coordinates
    let beta = Beta::new(column([0.5]), column([7.5]));
    let pair = Dirichlet::new(matrix(&[0.5, 7.5], 2));
    let expected = vector(beta.log_density(&column([0.25])))[0];
    close(
        vector(pair.log_density(&matrix(&[0.25, 0.75], 2)))[0],
        expected,
        1e-14,
    );
}

/// `Beta(a, a)` tends to `N(½, 1/(8a))`, whose density at ½ is `√(4a/π)`; no digits are lost in f32 to
/// `ln Γ(10⁸)`, which is 10⁹.
#[test]
fn densities_of_large_parameters_in_f32() {
    let single = |values: &[f64]| column(values.iter().copied()).cast(DType::F32);
    let predictions = Beta::new(single(&[1e4, 1e8]), single(&[1e4, 1e8]));
    let log_density = vector(predictions.log_density(&single(&[0.5, 0.5])));
    for (got, a) in log_density.into_iter().zip([1e4f64, 1e8]) {
        let expected = 0.5 * (4.0 * a / std::f64::consts::PI).ln();
        close(got, expected, 1e-5);
    }
}

/// scipy.stats.gennorm(2κ, μ, σ 2^{1/2κ}).logpdf, of the first three and the mean of 40.
#[test]
fn power_exponential_density() {
    let (u, v) = (u(40), v(40));
    let scale = column(v.iter().map(|v| 0.3 + v));
    let predictions = PowerExponential::new(column(u), scale, 1.7);
    let targets = column(v.iter().map(|v| 3.0 * v - 1.0));
    let log_density = vector(predictions.log_density(&targets));
    let expected = [
        -24.651440740700746,
        -0.9282942007018785,
        -0.5933619746377317,
    ];
    for (got, expected) in log_density.iter().zip(expected) {
        close(*got, expected, 1e-12);
    }
    close(
        log_density.iter().sum::<f64>() / 40.0,
        -10.372456547292654,
        1e-12,
    );
}

/// `κ = 1` is normal in any dimension; `κ = ½` with `d = 1` is Laplace with the scale `2σ`.
#[test]
fn power_exponentials_that_are_normal_or_laplace() {
    let mut rng = rng(1);
    let [location, targets] = [(); 2].map(|()| tensor(&random_rows(5, 3, 2.0, &mut rng)));
    let scale = tensor(&random_rows(5, 3, 1.0, &mut rng)).exp();
    let normal = Normal::new(location.clone(), scale.clone());
    let power = PowerExponential::new(location.clone(), scale.clone(), 1.0);
    let all_close = |got: Vec<f64>, expected: Vec<f64>| {
        for (got, expected) in got.into_iter().zip(expected) {
            close(got, expected, 1e-13);
        }
    };
    let log_density = vector(power.log_density(&targets));
    all_close(log_density, vector(normal.log_density(&targets)));
    let coordinates = vector(power.coordinates().unwrap());
    all_close(coordinates, vector(normal.coordinates().unwrap()));
    let first = |x: &Tensor<2>| x.clone().narrow(1, 0, 1);
    let laplace = Laplace::new(first(&location), first(&scale) * 2.0);
    let power = PowerExponential::new(first(&location), first(&scale), 0.5);
    let log_density = vector(power.log_density(&first(&targets)));
    all_close(log_density, vector(laplace.log_density(&first(&targets))));
    all_close(vector(power.variances()), vector(laplace.variances()));
}

/// Over a fine grid of the plane, with dependent coordinates.
#[test]
fn power_exponential_density_of_the_plane_integrates_to_one() {
    for kappa in [0.6, 1.0, 2.5] {
        let h = 0.1;
        let line: Vec<f64> = (-200..200).map(|k| (k as f64 + 0.5) * h).collect();
        let points: Vec<f64> = line
            .iter()
            .flat_map(|x| line.iter().flat_map(|y| [*x, *y]))
            .collect();
        let n = points.len() / 2;
        let predictions =
            PowerExponential::new(repeated(&[0.2, -0.3], n), repeated(&[0.8, 1.3], n), kappa);
        let density = vector(predictions.log_density(&matrix(&points, 2)).exp());
        close(density.iter().sum::<f64>() * h * h, 1.0, 1e-3);
    }
}

/// Means and variances of many draws, to five standard errors.
#[test]
fn draws_have_the_moments() {
    let (n, mut rng) = (40_000, rng(2));
    let check = |draws: Vec<f64>, d: usize, means: Vec<f64>, variances: Vec<f64>| {
        let n = draws.len() / d;
        for c in 0..d {
            let values: Vec<f64> = draws.iter().skip(c).step_by(d).copied().collect();
            let mean = values.iter().sum::<f64>() / n as f64;
            let squares: Vec<f64> = values.iter().map(|x| (x - means[c]).powi(2)).collect();
            let variance = squares.iter().sum::<f64>() / n as f64;
            let fourth = squares.iter().map(|s| (s - variance).powi(2)).sum::<f64>() / n as f64;
            let error = 5.0 / (n as f64).sqrt();
            assert!(
                (mean - means[c]).abs() < error * variances[c].sqrt(),
                "{mean} {means:?}"
            );
            assert!(
                (variance - variances[c]).abs() < error * fourth.sqrt(),
                "{variance} {variances:?}"
            );
        }
    };
    for kappa in [0.5, 0.7, 3.0] {
        let p = PowerExponential::new(repeated(&[1.0, -2.0], n), repeated(&[0.5, 3.0], n), kappa);
        let variances = vector(p.variances());
        check(
            vector(p.sample(&mut rng)),
            2,
            vec![1.0, -2.0],
            variances[..2].to_vec(),
        );
    }
    let p = Beta::new(repeated(&[0.2, 4.0], n), repeated(&[3.0, 0.4], n));
    let (means, variances) = (vector(p.means()), vector(p.variances()));
    check(
        vector(p.sample(&mut rng)),
        2,
        means[..2].to_vec(),
        variances[..2].to_vec(),
    );
    let alpha = [0.3, 1.0, 4.0];
    let p = Dirichlet::new(repeated(&alpha, n));
    let total: f64 = alpha.iter().sum();
    let means: Vec<f64> = alpha.iter().map(|a| a / total).collect();
    let variances = means
        .iter()
        .map(|m| m * (1.0 - m) / (total + 1.0))
        .collect();
    assert_eq!(vector(p.mean())[..3], means);
    check(vector(p.sample(&mut rng)), 3, means, variances);
}

/// Many draws of one prediction: as many of each as asked for, by row, coordinates together.
#[test]
fn samples_drawn_from_predictions() {
    let concentration = [[1e7, 2e7, 1e7], [4e7, 1e7, 5e7]].concat();
    let predictions = Dirichlet::new(matrix(&concentration, 3));
    let samples = Samples::drawn_from(&predictions, 4, &mut rng(3));
    assert_eq!(samples.draws().dims(), [2, 4, 3]);
    let means = vector(predictions.mean());
    for (at, draw) in vector(samples.draws()).into_iter().enumerate() {
        close(draw, means[at / 12 * 3 + at % 3], 1e-3);
    }
}

#[test]
fn invalid_parameters_and_targets_are_named() {
    let one = || column([1.0, 1.0]);
    let error = Beta::new(one(), column([1.0, 0.0])).check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1, coordinate 0: β is 0, expected a positive number"
    );
    let error = Beta::new(column([f64::NAN, 1.0]), one())
        .check()
        .unwrap_err();
    assert!(matches!(
        error,
        Error::Value {
            what: "α",
            row: 0,
            ..
        }
    ));
    let error = Beta::new(one(), one())
        .check_targets(&column([0.5, 1.5]))
        .unwrap_err();
    assert!(matches!(error, Error::Value { row: 1, at: 0, .. }));
    let simplex = Dirichlet::new(repeated(&[1.0, 2.0], 2));
    let error = simplex
        .check_targets(&matrix(&[0.5, 0.5, 0.5, 0.6], 2))
        .unwrap_err();
    assert!(matches!(error, Error::Sum { row: 1, .. }), "{error}");
    let error = simplex.check_targets(&column([0.5, 0.5])).unwrap_err();
    assert_eq!(
        error,
        Error::Width {
            what: "the targets",
            columns: "dimensions",
            got: 1,
            expected: 2
        }
    );
    let error = Dirichlet::new(matrix(&[1.0, -1.0], 2)).check().unwrap_err();
    assert!(matches!(
        error,
        Error::Value {
            what: "α",
            row: 0,
            at: 1,
            ..
        }
    ));
    let power = |kappa| PowerExponential::new(one(), one(), kappa);
    assert!(power(1.0).check_like(&power(2.0)).is_err());
    let error = PowerExponential::new(one(), column([1.0, 0.0]), 1.0)
        .check()
        .unwrap_err();
    assert!(matches!(error, Error::Value { row: 1, .. }));
}

/// Also where the target is the location, and the power has no derivative.
#[test]
fn gradients_are_finite_and_right() {
    let device = device().autodiff();
    let tensor = |x: f64| Tensor::<2>::from_data([[x]], (&device, DType::F64)).require_grad();
    for kappa in [0.3, 0.5, 1.0, 2.0] {
        let (location, scale) = (tensor(1.0), tensor(2.0));
        let p = PowerExponential::new(location.clone(), scale.clone(), kappa);
        let gradients = p.log_density(&tensor(1.0).detach()).sum().backward();
        assert_eq!(vector(location.grad(&gradients).unwrap()), [0.0]);
        assert_eq!(vector(scale.grad(&gradients).unwrap()), [-0.5]);
    }
    // d/dα ln f = ψ(α + β) − ψ(α) + ln y; ψ(3) − ψ(1) = 3/2
    let (alpha, beta) = (tensor(1.0), tensor(2.0));
    let p = Beta::new(alpha.clone(), beta);
    let gradients = p.log_density(&tensor(0.25).detach()).sum().backward();
    close(
        vector(alpha.grad(&gradients).unwrap())[0],
        1.5 + 0.25f64.ln(),
        1e-13,
    );
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn beta_quantiles_invert(a in 0.05f64..50.0, b in 0.05f64..50.0, level in 0.001f64..0.999) {
        let predictions = Beta::new(column([a]), column([b]));
        let quantile = predictions.quantile(level);
        let back = vector(predictions.cdf(&quantile))[0];
        // 1 − y rounds where the density is infinite at 1
        prop_assert!((back - level).abs() < 1e-9 || vector(quantile)[0] > 1.0 - 1e-12);
    }
}
