//! Fits against independent solvers and definitions.

use super::{fitters, overconfident};
use crate::prelude::*;

/// Sixty rows of three logits that any program can make again.
pub fn sines() -> (Vec<Vec<f64>>, Vec<usize>) {
    let row = |i: usize| -> Vec<f64> {
        let entry = |c: usize| {
            let (i, c) = (i as f64, c as f64);
            3.0 * (1.7 * i + 2.3 * c).sin() + 0.5 * (0.37 * i * (c + 1.0)).cos()
        };
        (0..3).map(entry).collect()
    };
    let rows: Vec<Vec<f64>> = (0..60).map(row).collect();
    let label = |(i, row): (usize, &Vec<f64>)| match i % 4 {
        0 => (i / 4) % 3,
        _ => argmax(row),
    };
    let classes = rows.iter().enumerate().map(label).collect();
    (rows, classes)
}

/// SciPy 1.17, `minimize(method="BFGS", gtol=1e-10)`, on the same sixty rows.
#[test]
fn affine_maps_agree_with_scipy() {
    let (rows, classes) = sines();
    let (z, y) = (tensor(&rows), labels(&classes));
    let map = without_prior().fit_to(&z, &y);
    assert_relative(map.temperature(), 1.8352459316273864, 1e-8);
    assert_relative(map.report().unwrap().objective, 0.6691114837474597, 1e-12);

    let map = VectorScalingConfig::new().fit_to(&z, &y);
    let report = converged(&map);
    assert!(report.gradient.unwrap() <= 1e-7);
    assert_relative(report.objective, 0.6655576597752284, 1e-12);
    let a = [0.65576549, 0.48370356, 0.51321273];
    let b = [-0.03408702, -0.02353623, 0.05762325];
    let mean = map.bias().iter().sum::<f64>() / 3.0; // of no influence
    for c in 0..3 {
        assert_relative_eq!(map.weight()[c], a[c], epsilon = 1e-6);
        assert_relative_eq!(map.bias()[c] - mean, b[c], epsilon = 1e-6);
    }

    let fixed = Regularisation::Fixed(0.01);
    let config = MatrixScalingConfig::new().with_regularisation(fixed);
    let map = config.fit_to(&z, &y);
    let report = converged(&map);
    assert_relative(report.objective, 0.6650451349202036, 1e-10);
    let off_diagonal = [0.06326336976, -0.009036057814, 0.036979266992];
    for (k, expected) in [1, 2, 3].into_iter().zip(off_diagonal) {
        assert_relative_eq!(map.weight()[k], expected, epsilon = 5e-5);
    }
    assert_relative_eq!(map.bias()[2], 0.056081252, epsilon = 5e-5);

    let config = DirichletCalibrationConfig::new().with_regularisation(fixed);
    let map = config.fit_to(&z, &y);
    let report = map.report().unwrap();
    assert_relative(report.objective, 0.6632185534093231, 1e-10);
    assert_relative_eq!(map.bias()[1], -0.46187605, epsilon = 5e-5);
}

/// SciPy on log-probabilities of the first 5,000 rows: BFGS with exact gradients to 2·10⁻⁹; for the
/// ensemble, the best of four starts, which is the temperature alone.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn real_predictions_agree_with_scipy() {
    let (z, y) = cifar10::log_probabilities("resnet18", 0..5000);
    let map = VectorScalingConfig::new().fit_to(&z, &y);
    let report = converged(&map);
    assert_relative(report.objective, 0.301133318256652, 1e-10);

    let config = MatrixScalingConfig::new().with_regularisation(Regularisation::Fixed(0.001));
    let map = config.fit_to(&z, &y);
    let report = converged(&map);
    assert_relative(report.objective, 0.27960897594211037, 1e-9);

    let config = EnsembleTemperatureScalingConfig::new().with_prior(None);
    let map = config.fit_to(&z, &y);
    let report = map.report().unwrap();
    assert_relative(report.objective, 0.3102589200106228, 1e-7);
    assert_relative(map.temperature(), 1.4966604, 1e-4);
    assert!(map.weights()[0] > 0.999);
}

/// The mixture itself, by its definition; and it is found where it made the data.
#[test]
fn the_ensemble_is_a_mixture() {
    let mut rng = rng(73);
    let rows = random_rows(2000, 4, 6.0, &mut rng);
    // one label in five is anything: the uniform part
    let mut classes = draw_classes(&softmax_rows(&rows), &mut rng);
    let anything = random_labels(2000, 4, &mut rng);
    (0..2000).step_by(5).for_each(|i| classes[i] = anything[i]);
    let (z, y) = (tensor(&rows), labels(&classes));
    let config = EnsembleTemperatureScalingConfig::new().with_prior(None);
    let map = config.fit_to(&z, &y);
    let (t, [w1, w2, w3]) = (map.temperature(), map.weights());
    assert_relative(w1 + w2 + w3, 1.0, 1e-12);
    assert!(w3 > 0.1 && w3 < 0.3, "{:?}", map.weights());
    let out = vector(map.forward(z.clone()));
    for (row, out) in rows.iter().zip(out.chunks(4)).take(20) {
        let cooler = softmax(&row.iter().map(|z| z / t).collect::<Vec<_>>());
        for ((a, b), out) in cooler.iter().zip(softmax(row)).zip(out) {
            assert_relative(out.exp(), w1 * a + w2 * b + w3 / 4.0, 1e-12);
        }
    }
    let alone = without_prior().fit_to(&z, &y);
    let (mixed, alone) = (map.report().unwrap(), alone.report().unwrap());
    assert!(mixed.objective < alone.objective - 1e-3);
}

/// A logit that was bent by an increasing function is bent back.
#[test]
fn diagonal_scaling_bends_back() {
    let (rows, classes) = overconfident(3000, 74);
    let bent = mapped(&rows, |x| (x / 2.5).powi(3) + 0.05 * x);
    let (z, y) = (tensor(&bent), labels(&classes));
    let fit = |weight| {
        let config = DiagonalScalingConfig::new().with_regularisation(weight);
        config.fit_to(&z, &y)
    };
    let map = fit(Regularisation::CrossValidated { folds: 3 });
    let truth = tensor(&rows) * 0.4;
    let best = scalar(ScoreLoss::new(LogScore).forward(truth, y.clone()));
    let found = scalar(ScoreLoss::new(LogScore).forward(map.forward(z.clone()), y.clone()));
    let temperature = without_prior().fit_to(&z, &y);
    let alone = temperature.report().unwrap().objective;
    assert!(found < best + 0.002, "{found} and at best {best}");
    assert!(alone > best + 0.01, "{alone} and at best {best}");
    // without freedom it is the temperature
    let stiff = fit(Regularisation::Fixed(1e6)).report().unwrap().objective;
    assert_relative(stiff, alone, 1e-4);
}

/// Every map is at least as good as the temperature on its data, but for its penalty.
#[test]
fn no_map_is_worse_than_the_temperature() {
    let (rows, classes) = overconfident(400, 75);
    let (z, y) = (tensor(&rows), labels(&classes));
    let loss = ScoreLoss::new(LogScore);
    let alone = without_prior().fit_to(&z, &y);
    let temperature = alone.report().unwrap().objective;
    for (name, fit) in fitters() {
        let map = fit(None, z.clone(), y.clone()).unwrap();
        let value = scalar(loss.forward(map.forward(z.clone()), y.clone()));
        assert!(value < temperature + 1e-6, "{name}: {value}, {temperature}");
        let report = map.report().unwrap();
        assert!(report.objective >= value - 1e-9, "{name}: {report}");
        assert!(report.gradient.unwrap() < 1e-2, "{name}: {report}");
    }
}

/// By any criterion: no higher than at the log loss's optimum, from where the descent starts, but for the penalty that
/// other maps have.
#[test]
fn fitting_by_any_criterion() {
    let (rows, classes) = overconfident(80, 76);
    let (z, y) = (tensor(&rows), labels(&classes));
    let kernel = exponential(0.5);
    let skce = SkceLoss::new(Skce::biased(kernel));
    let criteria: [(&str, &dyn Criterion); 4] = [
        ("log", &ScoreLoss::new(LogScore)),
        ("brier", &ScoreLoss::new(Brier)),
        ("skce", &skce),
        ("mmce", &MmceLossConfig::new().init()),
    ];
    for (name, fit) in fitters() {
        if !["temperature", "ensemble", "vector"].contains(&name) {
            fit(Some(criteria[1].1), z.clone(), y.clone()).unwrap();
            continue;
        }
        let by_log = fit(None, z.clone(), y.clone()).unwrap();
        for (what, criterion) in criteria {
            let by = fit(Some(criterion), z.clone(), y.clone()).unwrap();
            let value = |map: &dyn Recalibration| {
                scalar(criterion.value(&of_logits(map.forward(z.clone())), &y))
            };
            let (before, after) = (value(by_log.as_ref()), value(by.as_ref()));
            let factor = if what == "skce" { 0.999 } else { 1.0 };
            let least = factor * before + 1e-9;
            assert!(after <= least, "{name} by {what}: {after} after {before}");
        }
    }
}

#[test]
fn the_seed_decides() {
    let (rows, classes) = overconfident(80, 77);
    let (z, y) = (tensor(&rows), labels(&classes));
    let out = |seed| {
        let config = OrderInvariantConfig::new()
            .with_seed(seed)
            .with_max_iterations(20)
            .with_regularisation(Regularisation::CrossValidated { folds: 2 });
        vector(config.fit_to(&z, &y).forward(z.clone()))
    };
    assert_eq!(out(1), out(1));
    assert_ne!(out(1), out(2));
}

#[test]
fn progress_counts_evaluations_and_fits() {
    let (rows, classes) = overconfident(40, 78);
    let mut seen: Vec<FitProgress> = Vec::new();
    let folds = Regularisation::CrossValidated { folds: 2 };
    let config = MatrixScalingConfig::new().with_regularisation(folds);
    let mut observe = |at| seen.push(at);
    let map = config.fit_with(
        tensor(&rows),
        labels(&classes),
        FitOptions::new(None, &mut observe),
    );
    let map = map.unwrap();
    let fits = seen[0].fits;
    assert_eq!(fits, 2 * 6 + 1); // two folds, six weights, all data
    for fit in 1..=fits {
        let of_fit = seen.iter().filter(|at| at.fit == fit);
        let counts: Vec<usize> = of_fit.map(|at| at.evaluations).collect();
        // weights that are worse than the one before end it
        let sure = fit <= 4 || fit == fits;
        assert!(!(sure && counts.is_empty()), "fit {fit}");
        assert!(counts.iter().copied().eq(1..=counts.len()), "{counts:?}");
    }
    let (last, report) = (seen.last().unwrap(), map.report().unwrap());
    assert_eq!((last.fit, last.evaluations), (fits, report.evaluations));
    assert!(report.regularisation.is_some());
}

/// Labels without relation to the logits: all freedom overfits, and the strongest weights win.
#[test]
fn cross_validation_holds_back_noise_and_lets_structure_through() {
    let mut rng = rng(79);
    let rows = random_rows(150, 4, 2.0, &mut rng);
    let chosen = |rows: &[Vec<f64>], classes: &[usize]| {
        let map = MatrixScalingConfig::new().fit(tensor(rows), labels(classes));
        map.unwrap().report().unwrap().regularisation.unwrap()
    };
    let noise = random_labels(150, 4, &mut rng);
    assert!(chosen(&rows, &noise) >= 1.0);
    // the logits of two classes are exchanged: only off the diagonal is there an answer
    let (rows, classes) = overconfident(1500, 80);
    let exchanged: Vec<usize> = classes.iter().map(|c| [1, 0, 2, 3][*c]).collect();
    let weight = chosen(&rows, &exchanged);
    assert!(weight <= 0.1, "{weight}");
}

#[test]
fn bad_configurations() {
    let (rows, classes) = overconfident(20, 81);
    let (z, y) = (tensor(&rows), labels(&classes));
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let config = VectorScalingConfig::new().with_regularisation(Regularisation::Fixed(weight));
        refuses(config.fit(z.clone(), y.clone()));
    }
    let one_fold = Regularisation::CrossValidated { folds: 1 };
    let config = MatrixScalingConfig::new().with_regularisation(one_fold);
    refuses(config.fit(z.clone(), y.clone()));
    let config = OrderPreservingConfig::new().with_hidden(0);
    refuses(config.fit(z.clone(), y.clone()));
    let config = DiagonalScalingConfig::new().with_knots(2);
    refuses(config.fit(z, y));
}
