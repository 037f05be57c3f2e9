//! Values by independent programs: SciPy 1.17.1, scikit-learn 1.9.1, and by hand.

use super::*;
use crate::prelude::*;

/// Log-odds with ties, and classes.
const S: [f64; 40] = [
    0.5, 1.4, -0.3, -2.2, -0.9, -2.5, 0.7, 4.5, -1.0, -1.4, 2.0, 1.6, 0.8, -2.3, 0.4, 2.6, -3.5,
    -0.9, -5.2, -3.4, -5.0, -0.2, -3.3, 1.3, 1.0, -0.1, -7.1, -1.1, 0.4, 0.8, -4.1, -0.9, -2.4,
    -1.9, 3.7, -1.9, 0.4, 3.2, -1.3, 0.2,
];
const Y: [usize; 40] = [
    0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0,
    0, 1, 0, 0, 0, 1, 1, 1,
];

/// Others, for which beta calibration has `b = 0`.
const S_BOUND: [f64; 40] = [
    2.7, -2.1, 1.8, -1.9, 2.6, -2.6, -0.9, -0.7, -3.7, 2.2, -2.6, -2.1, -0.6, 2.0, -1.1, 4.5, 0.5,
    -0.1, 1.4, 0.2, -1.6, -0.6, 0.8, 3.7, 1.0, 1.5, -4.0, -0.0, 0.4, 4.0, 3.7, 0.7, 1.6, 0.4, -1.0,
    0.5, -0.3, 1.1, 1.9, 0.1,
];
const Y_BOUND: [usize; 40] = [
    0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1,
    1, 1, 0, 1, 0, 1, 0, 0,
];

/// Where maps are compared.
const GRID: [f64; 15] = [
    -20.0, -6.05, -3.3, -2.05, -1.0, -0.35, 0.0, 0.25, 0.9, 1.35, 2.2, 3.15, 4.4, 6.0, 20.0,
];

fn fit<F: Fit>(config: F, scores: &[f64], classes: &[usize]) -> F::Map {
    let logits = tensor(&two_classes(scores));
    config.fit(logits, labels(classes)).unwrap()
}

/// SciPy: `minimize` (trust-exact), then `root` of the gradient to 1e-17. `_SigmoidCalibration` of
/// scikit-learn gives (0.435662189, −0.466631972).
#[test]
fn platt_scaling() {
    let map = fit(PlattScalingConfig::new(), &S, &Y);
    let expected = [0.4356621899457934, -0.4666319801193219];
    all_relative(map.parameters()[0], expected, 1e-10);
    let report = converged(&map);
    assert_relative(report.objective, 0.5576766555747936, 1e-12);
    assert!(report.gradient.unwrap() <= 1e-10 && report.evaluations < 20);
}

/// SciPy, as for Platt: the free minimum where it is within the bounds, else that with `b = 0`, which
/// L-BFGS-B with bounds finds as well.
#[test]
fn beta_calibration() {
    for (scores, classes, expected, objective) in [
        (
            S,
            Y,
            [0.5937434142122289, 0.2680739354440683, -0.1305329326630149],
            0.5557835139844526,
        ),
        (
            S_BOUND,
            Y_BOUND,
            [1.3367702299734392, 0.0, 0.5657821210969793],
            0.5718267040531739,
        ),
    ] {
        let map = fit(BetaCalibrationConfig::new(), &scores, &classes);
        all_relative(map.parameters()[0], expected, 1e-8);
        let report = converged(&map);
        assert_relative(report.objective, objective, 1e-12);
    }
}

/// `IsotonicRegression(y_min=1/82, y_max=81/82, out_of_bounds="clip")` of scikit-learn.
#[test]
fn isotonic_regression() {
    let map = fit(IsotonicRegressionConfig::new(), &S, &Y);
    let expected = [
        0.012195121951219513,
        0.012195121951219513,
        0.012195121951219513,
        0.1875,
        0.1875,
        0.1875,
        0.29166666666666663,
        0.5,
        0.625,
        0.75,
        0.75,
        0.75,
        0.958079268292683,
        0.9878048780487805,
        0.9878048780487805,
    ];
    all_relative(probabilities(&map, &GRID), expected, 1e-12);
}

/// SciPy: `CubicSpline(bc_type="natural")` as the basis, `numpy.linalg.lstsq`, `numpy.interp`.
#[test]
fn spline_calibration() {
    let corrected = [
        0.05396662221546837,
        0.08888703309017451,
        0.22599742357161606,
        0.2456980947483743,
        0.11892640402674687,
        0.16769109903227297,
        0.2823667987191895,
        0.3531716574167422,
        0.6564924022257594,
        0.7062412716900484,
        0.7653522903077397,
        0.8334597834029669,
        0.8990247443129123,
        0.9037800084805657,
        0.9037800084805657,
    ];
    let map = fit(SplineCalibrationConfig::new(), &S, &Y);
    all_relative(probabilities(&map, &GRID), corrected, 1e-9);
    assert_eq!(map.knots()[0].len(), 34);
}

#[test]
fn histogram_by_hand() {
    // ranks 2 and 4 of 6; the ties at 1 share the second bin
    let scores = [3.0, -1.0, 1.0, -2.0, 1.0, 1.0];
    let classes = [1, 0, 1, 0, 0, 1];
    let three = HistogramBinningConfig::new().with_bins(3);
    let map = fit(three.clone(), &scores, &classes);
    let [low, middle, high] = [0.5 / 3.0, 2.5 / 4.0, 1.5 / 2.0];
    let probe = [-9.0, -1.0, -0.01, 0.01, 1.0, 1.99, 2.01, 9.0];
    let expected = [low, low, low, middle, middle, middle, high, high];
    all_relative(probabilities(&map, &probe), expected, 1e-14);
    let knots = map.knots();
    let levels: Vec<f64> = knots[0].iter().map(|knot| knot.place).collect();
    assert_eq!(levels, [0.0, 0.0, 2.0, 2.0]);

    let map = fit(three.with_smoothing(1.0), &scores, &classes);
    let expected = [1.0 / 4.0, 3.0 / 5.0, 2.0 / 3.0];
    all_relative(probabilities(&map, &[-9.0, 1.0, 9.0]), expected, 1e-14);

    let one = fit(HistogramBinningConfig::new().with_bins(1), &S, &Y);
    all_relative(probabilities(&one, &[-5.0, 5.0]), [14.5 / 41.0; 2], 1e-14);
}

/// `g_c = p_c` for the identity, hence the log-probabilities, whatever the logits.
#[test]
fn identities() {
    let platt = PlattScaling::from_parameters(&[[1.0, 0.0]; 3], &device()).unwrap();
    let beta = BetaCalibration::from_parameters(&[[1.0, 1.0, 0.0]; 3], &device()).unwrap();
    let rows = [
        vec![0.3, -1.2, 2.0],
        vec![5.0, 5.0, 5.0],
        vec![1e4, -1e4, 0.0],
        vec![-1e4, -1e4, 0.0],
        vec![800.0, 800.0, -800.0],
        vec![1e-9, 0.0, 0.0],
    ];
    for map in [&platt as &dyn Recalibration, &beta] {
        let outputs = rows_of(map.forward(tensor(&rows)));
        for (row, got) in rows.iter().zip(outputs) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
            for (z, got) in row.iter().zip(got) {
                let expected = z - largest - sum.ln();
                assert_relative_eq!(got, expected, max_relative = 1e-13, epsilon = 1e-13);
            }
        }
    }
    let two = PlattScaling::from_parameters(&[[2.0, -1.0]], &device()).unwrap();
    let logits = vector(two.forward(tensor(&[[1.0, 4.0]])));
    assert_relative(logits[1] - logits[0], 5.0, 1e-14);
}

/// SciPy: `minimize` (BFGS), then `root` of the gradient.
#[test]
fn quadratic_scaling() {
    let map = fit(QuadraticScalingConfig::new(), &S, &Y);
    let expected = [
        0.4303261874156915,
        -0.028120933069992925,
        -0.3648828392123198,
    ];
    all_relative(map.parameters()[0], expected, 1e-8);
    let report = map.report().unwrap();
    assert_relative(report.objective, 0.5554216779952381, 1e-12);
    let kept = |parameters| {
        let map = QuadraticScaling::from_parameters(&[parameters], &device()).unwrap();
        let kept = map.guarantees();
        (kept.keeps_order, kept.injective)
    };
    assert_eq!(kept([2.0, 0.0, 0.0]), (true, true));
    assert_eq!(kept([2.0, 0.0, 0.5]), (false, true));
    assert_eq!(kept([2.0, 0.1, 0.0]), (false, false));
}

#[test]
fn gradients_through_the_maps() {
    let (rows, classes_of_rows) = overconfident(60, 3, 6);
    let probe = random_rows(5, 3, 3.0, &mut rng(7));
    let loss = ScoreLoss::new(LogScore);
    let classes = labels(&[0, 1, 2, 0, 1]);
    for map in &every_of(&rows, &classes_of_rows)[..CONTINUOUS] {
        check_gradient(&probe, 1e-6, |z| {
            loss.forward(map.forward(z), classes.clone())
        });
    }
    let (rows, classes) = overconfident(60, 2, 8);
    for map in &every_of(&rows, &classes)[..CONTINUOUS] {
        let probe = [vec![0.3, 0.3], vec![1.0, -0.7]];
        let of = |z| loss.forward(map.forward(z), labels(&[0, 1]));
        check_gradient(&probe, 1e-6, of);
    }
}

#[test]
fn maps_without_a_descent_say_so() {
    fn check<F: Fit<Scored = Categorical>>(config: F) {
        let (logits, labels) = (tensor(&two_classes(&S)), labels(&Y));
        refuses(config.fit_by(&ScoreLoss::new(Brier), logits, labels));
    }
    check(IsotonicRegressionConfig::new());
    check(HistogramBinningConfig::new());
    check(SplineCalibrationConfig::new());
    check(PlattScalingConfig::new());
    check(BetaCalibrationConfig::new());
    check(QuadraticScalingConfig::new());
}

#[test]
fn the_report_of_a_table_is_its_log_loss() {
    for m in [2, 3] {
        let (rows, classes) = overconfident(200, m, 10);
        let maps = every_of(&rows, &classes);
        let smoothed = ["Platt scaling", "beta calibration", "quadratic scaling"];
        for map in maps.iter().filter(|map| !smoothed.contains(&map.kind())) {
            let loss = log_loss(&rows_of(map.forward(tensor(&rows))), &classes);
            assert_relative(converged(&**map).objective, loss, 1e-12);
        }
    }
}
