//! Distribution functions, quantiles, moments and densities. References by mpmath in 40 digits and
//! scipy 1.17 (`scipy.stats.norm`, `laplace`).

use super::*;
use crate::prelude::*;

/// `½ erfc(∓z/√2)`, mpmath.
const NORMAL: [(f64, f64, f64); 9] = [
    (-37.0, 5.725571222524577e-300, 1.0),
    (-12.0, 1.776482112077679e-33, 1.0),
    (-5.0, 2.866515718791939e-7, 0.9999997133484281),
    (-1.0, 0.15865525393145705, 0.8413447460685429),
    (-0.1, 0.460172162722971, 0.539827837277029),
    (0.0, 0.5, 0.5),
    (0.3, 0.6179114221889527, 0.3820885778110474),
    (2.0, 0.9772498680518208, 0.02275013194817921),
    (6.0, 0.9999999990134123, 9.86587645037698e-10),
];

#[test]
fn normal_distribution_function() {
    let n = NORMAL.len();
    let z: Vec<f64> = NORMAL.iter().map(|row| row.0).collect();
    let expected: Vec<f64> = NORMAL.iter().map(|row| row.1).collect();
    let predictions = Normal::new(repeated(3.0, n), repeated(2.0, n));
    let targets = column(&z) * 2.0 + 3.0;
    let values = predictions.cdf(&targets);
    assert_eq!(values.dtype(), DType::F64);
    // the rounding of z²/2 = 684 at z = −37 is what the first line is far by
    all_relative(&vector(values.clone())[..1], &expected[..1], 1e-12);
    all_relative(&vector(values)[1..], &expected[1..], 3e-14);

    let host = predictions.on_host();
    for (at, (z, below, above)) in NORMAL.into_iter().enumerate() {
        let Tails { lower, upper } = host.tails(at, 2.0 * z + 3.0);
        all_relative([lower, upper], [below, above], 1e-13);
    }
}

#[test]
fn normal_distribution_function_in_f32() {
    let rows = &NORMAL[1..]; // the first is below the smallest f32
    let (n, z) = (rows.len(), rows.iter().map(|row| row.0).collect::<Vec<_>>());
    let expected: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let of = |values: Vec<f64>| column(&values).cast(DType::F32);
    let predictions = Normal::new(of(vec![0.0; n]), of(vec![1.0; n]));
    let values = predictions.cdf(&of(z));
    assert_eq!(values.dtype(), DType::F32);
    all_relative(vector(values), &expected, 1e-5);
}

#[test]
fn normal_quantiles() {
    let host = Normal::new(column([0.0]), column([1.0])).on_host();
    for (level, expected) in [
        (1e-300, -37.047_096_299_361_2),
        (1e-12, -7.034483825301132),
        (0.025, -1.9599639845400543),
        (0.3, -0.5244005127080408),
        (0.9, 1.2815515655446006),
        (0.9999, 3.7190164854557084),
    ] {
        all_relative([host.quantile(0, level)], [expected], 1e-13);
    }
    assert!(host.quantile(0, 0.5).abs() < 1e-15);
}

#[test]
fn laplace_by_scipy() {
    let n = 4;
    let predictions = Laplace::new(repeated(0.5, n), repeated(2.0, n));
    let targets = column([-60.0, -1.0, 0.5, 3.0]);
    let expected = [
        3.643862047909846e-14,
        0.23618327637050734,
        0.5,
        0.8567476015699049,
    ];
    all_relative(vector(predictions.cdf(&targets)), expected, 1e-14);
    let expected = [
        -31.636294361119887,
        -2.136294361119891,
        -1.3862943611198906,
        -2.636294361119891,
    ];
    all_relative(vector(predictions.log_density(&targets)), expected, 1e-15);
    all_relative(&vector(predictions.variances())[..1], [8.0], 1e-15);
    for (level, expected) in [
        (1e-9, -39.560237312772934),
        (0.3, -0.5216512475319814),
        (0.975, 6.49146454710798),
    ] {
        let quantiles = vector(predictions.quantile(level));
        all_relative(quantiles, [expected; 4], 1e-13);
    }
}

#[test]
fn mixtures_by_mpmath() {
    let predictions = normal_mixture(3);
    let targets = column([-2.0, 0.25, 1.9]);
    let expected = [0.00765485905252391, 0.3994049040937669, 0.762995147236868];
    all_relative(vector(predictions.cdf(&targets)), expected, 1e-14);
    // scipy: ln Σ w f
    let expected = [-3.494611643736888, -1.6077125087504298, -0.6601227225089096];
    all_relative(vector(predictions.log_density(&targets)), expected, 1e-14);
    all_relative(vector(predictions.means()), [0.65; 3], 1e-15);
    all_relative(vector(predictions.variances()), [1.67125; 3], 1e-14);

    let (normal, laplace) = (normal_mixture(1).on_host(), laplace_mixture(1).on_host());
    for (level, of_normals, of_laplaces) in [
        (1e-9, -5.384193354830441, -18.836971507963376),
        (0.1, -1.1556768216271012, -1.2754194558868561),
        (0.5, 0.7535810925053037, 0.7340498041893533),
        (0.95, 2.3093115808940894, 2.5389231725987984),
    ] {
        all_relative([normal.quantile(0, level)], [of_normals], 1e-14);
        all_relative([laplace.quantile(0, level)], [of_laplaces], 1e-14);
    }
}

/// The quantile function is the inverse in both tails, whatever the component is at.
#[test]
fn quantiles_are_inverse() {
    let mixture = laplace_mixture(2).on_host();
    for level in [1e-200, 1e-20, 0.01, 0.4] {
        let tails = mixture.tails(1, mixture.quantile(1, level));
        all_relative([tails.lower], [level], 1e-12);
    }
    for rest in [1e-14, 0.01, 0.4] {
        let tails = mixture.tails(1, mixture.quantile(1, 1.0 - rest));
        all_relative([tails.upper], [1.0 - (1.0 - rest)], 1e-12);
    }
    // the median of a symmetric mixture is 0, where relative precision means nothing
    let pair = Normal::new(column([-1.0, 1.0]), column([1.0, 1.0]));
    let symmetric = Mixture::new(tensor(&[[0.5, 0.5]]), pair);
    assert!(vector(symmetric.quantile(0.5))[0].abs() < 1e-15);
}

#[test]
fn empirical_distribution() {
    let predictions = samples(&[vec![vec![3.0], vec![1.0], vec![2.0], vec![2.0]]]);
    let at = |y: f64| vector(predictions.cdf(&column([y])))[0];
    assert_eq!(
        [0.5, 1.0, 1.5, 2.0, 2.9, 3.0].map(at),
        [0.0, 0.25, 0.25, 0.75, 0.75, 1.0]
    );
    assert_eq!(vector(predictions.means()), [2.0]);
    assert_eq!(vector(predictions.variances()), [0.5]);
    let host = predictions.on_host();
    let levels = [0.01, 0.25, 0.26, 0.75, 0.76, 0.99];
    assert_eq!(
        levels.map(|level| host.quantile(0, level)),
        [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    );
    assert_eq!([1.0, 2.0, 2.5].map(|x| host.atom(0, x)), [0.25, 0.5, 0.0]);
    let Tails { lower, upper } = host.tails(0, 2.0);
    assert_eq!([lower, upper], [0.75, 0.25]);
    // 100 · 0.07 > 7 and 100 · 0.29 < 29 in floating point
    let hundred = (1..=100).map(|x| vec![x as f64]).collect();
    let host = samples(&[hundred]).on_host();
    for rank in 1..100 {
        assert_eq!(host.quantile(0, rank as f64 / 100.0), rank as f64);
    }
}

/// A mixture of one, and of equal ones, is its component.
#[test]
fn trivial_mixtures() {
    let rng = &mut rng(1);
    let (n, d) = (5, 2);
    let component = Normal::new(
        tensor(&random_rows(n, d, 2.0, rng)),
        tensor(&positive_rows(n, d, [0.2, 2.0], rng)),
    );
    let targets = tensor(&random_rows(n, d, 3.0, rng));
    for mixture in [
        Mixture::ensemble(std::slice::from_ref(&component)),
        Mixture::ensemble(&[component.clone(), component.clone(), component.clone()]),
    ] {
        let pairs = [
            (mixture.means(), component.means()),
            (mixture.variances(), component.variances()),
            (mixture.cdf(&targets), component.cdf(&targets)),
            (mixture.quantile(0.8), component.quantile(0.8)),
        ];
        for (got, expected) in pairs {
            all_relative(vector(got), vector(expected), 1e-14);
        }
        let got = mixture.log_density(&targets);
        let expected = component.log_density(&targets);
        all_relative(vector(got), vector(expected), 1e-14);
    }
}

/// Weights of 0, and densities that underflow, leave values and gradients finite.
#[test]
fn log_densities_of_extreme_mixtures() {
    let device = device().autodiff();
    for dtype in [DType::F64, DType::F32] {
        let of = |rows: &[Vec<f64>]| tensor_on(rows, &device, dtype).require_grad();
        let weights = of(&[vec![0.0, 1.0], vec![0.5, 0.5], vec![1.0, 0.0]]);
        let means = of(&[[0.0], [100.0], [0.0], [1.0], [0.0], [0.0]].map(|x| x.to_vec()));
        let scales = of(&[[1.0], [0.5], [0.01], [0.01], [1.0], [1e-3]].map(|x| x.to_vec()));
        let targets = tensor_on(&[[0.0], [30.0], [0.0]], &device, dtype);
        let mixture = Mixture::new(weights.clone(), Normal::new(means.clone(), scales.clone()));
        let values = mixture.log_density(&targets);
        let constant = |sigma: f64| -0.5 * std::f64::consts::TAU.ln() - sigma.ln();
        let expected = [
            -0.5 * 200.0f64.powi(2) + constant(0.5),
            -0.5 * 2900.0f64.powi(2) + constant(0.01) - 2f64.ln(),
            constant(1.0),
        ];
        let precision = if dtype == DType::F64 { 1e-14 } else { 1e-6 };
        all_relative(vector(values.clone()), expected, precision);
        let gradients = values.sum().backward();
        for parameter in [weights, means, scales] {
            let gradient = vector(parameter.grad(&gradients).unwrap());
            all_finite(&gradient);
        }
    }
}

/// The distribution function of a Laplace variable is smooth at its location: the slope is `1/2β`.
#[test]
fn gradient_at_the_location() {
    let device = device().autodiff();
    let of = |x: f64| tensor_on(&[[x]], &device, DType::F64);
    let location = of(1.0).require_grad();
    let value = Laplace::new(location.clone(), of(2.0)).cdf(&of(1.0));
    let gradient = location.grad(&value.sum().backward()).unwrap();
    assert_eq!(vector(gradient), [-0.25]);
}

#[test]
fn quantiles_are_on_the_device_of_the_parameters_below_one() {
    let predictions = normal_mixture(2).slice_rows(0..1);
    panics(|| predictions.quantile(1.0));
    let quantile = predictions.quantile(0.5);
    assert_eq!((quantile.dims(), quantile.dtype()), ([1, 1], DType::F64));
}
