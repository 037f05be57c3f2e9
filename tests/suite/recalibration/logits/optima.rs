//! Solutions by the definition of what they minimise, on the host, and fits of few or many classes.

use super::{super::injective, overconfident};
use crate::prelude::*;

/// The mean log loss of logits.
fn log_loss(rows: &[Vec<f64>], classes: &[usize], map: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mapped: Vec<_> = rows.iter().map(|row| map(row)).collect();
    crate::data::log_loss(&mapped, classes)
}

/// The largest central difference of a function in absolute value, in the scale of each parameter.
fn slope(theta: &[f64], scales: &[f64], f: impl Fn(&[f64]) -> f64) -> f64 {
    let of = |k: usize| {
        let moved = |h: f64| {
            let mut theta = theta.to_vec();
            theta[k] += h * scales[k];
            f(&theta)
        };
        let difference = |h: f64| (moved(h) - moved(-h)) / (2.0 * h);
        // without the error of second order
        (4.0 * difference(5e-4) - difference(1e-3)) / 3.0
    };
    (0..theta.len()).map(|k| of(k).abs()).fold(0.0, f64::max)
}

/// The root mean square of the logits about the mean of their row.
fn spread(rows: &[Vec<f64>]) -> f64 {
    let of_row = |row: &Vec<f64>| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        row.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / row.len() as f64
    };
    (rows.iter().map(of_row).sum::<f64>() / rows.len() as f64).sqrt()
}

/// A criterion that is the log loss ends where the log loss does.
fn assert_same(by_criterion: &dyn Recalibration, by_log_loss: &FitReport) {
    let report = converged(by_criterion);
    assert!(report.evaluations <= 2, "{report}");
    assert_relative(report.objective, by_log_loss.objective, 1e-12);
}

/// Weights and intercepts minimise the log loss with the mean squares of off-diagonal weights, of logits
/// over their spread, and of intercepts; and that of one more sample of a class without a label, spread over the rows.
#[test]
fn affine_maps_are_at_the_minimum() {
    let (rows, drawn) = overconfident(300, 100);
    let normalised = mapped(&softmax_rows(&rows), f64::ln);
    let (z, m) = (tensor(&rows), 4);
    let log_score = ScoreLoss::new(LogScore);
    for (weight, classes_drawn) in [(1e-4, 4), (0.1, 4), (10.0, 4), (0.1, 3)] {
        let classes: Vec<usize> = drawn.iter().map(|y| y % classes_drawn).collect();
        let y = labels(&classes);
        let fixed = Regularisation::Fixed(weight);
        let config = VectorScalingConfig::new().with_regularisation(fixed);
        let config = config.with_tolerance(1e-10);
        let by_score = config.fit_to_by(&log_score, &z, &y);
        let vector = config.fit_to(&z, &y);
        let matrix = MatrixScalingConfig::new().with_regularisation(fixed);
        let matrix = matrix.with_tolerance(1e-10).fit_to(&z, &y);
        let dirichlet = DirichletCalibrationConfig::new().with_regularisation(fixed);
        let dirichlet = dirichlet.with_tolerance(1e-10).fit_to(&z, &y);
        if classes_drawn == 4 {
            assert_same(&by_score, vector.report().unwrap());
        }
        let thetas = [
            [vector.weight(), vector.bias()],
            [matrix.weight(), matrix.bias()],
            [dirichlet.weight(), dirichlet.bias()],
        ];
        let maps: [&dyn Recalibration; 3] = [&vector, &matrix, &dirichlet];
        for (at, theta) in thetas.iter().enumerate() {
            let (rows, theta) = ([&rows, &rows, &normalised][at], theta.concat());
            let (report, s, k) = (converged(maps[at]), spread(rows), theta.len() - m);
            assert!(report.evaluations < 20, "{report}"); // by the Hessian
            let objective = |theta: &[f64]| {
                let (w, b) = theta.split_at(k);
                let map = |row: &[f64]| -> Vec<f64> {
                    let product = |c: usize| match k == m {
                        true => w[c] * row[c],
                        false => (0..m).map(|d| w[c * m + d] * row[d]).sum(),
                    };
                    (0..m).map(|c| product(c) + b[c]).collect()
                };
                let off_diagonal = |e: &usize| k > m && !e.is_multiple_of(m + 1);
                let squares = (0..k).filter(off_diagonal).map(|e| (w[e] * s).powi(2));
                let penalty = squares.sum::<f64>() / (m * (m - 1)) as f64
                    + b.iter().map(|b| b * b).sum::<f64>() / m as f64;
                let absent = (classes_drawn..m).map(|c| log_loss(rows, &vec![c; 300], map));
                let absent = absent.sum::<f64>() / 300.0;
                log_loss(rows, &classes, map) + absent + weight * penalty
            };
            assert_near(objective(&theta), report.objective, 1e-12);
            let scales: Vec<f64> = (0..k + m)
                .map(|e| if e < k { s.recip() } else { 1.0 })
                .collect();
            let slope = slope(&theta, &scales, objective);
            assert!(slope < 1e-8, "{slope}, {report}");
        }
    }
}

/// The weights of a network minimise the log loss with their squared distance from the start.
fn network_is_at_a_minimum<M: Recalibration>(
    fit: impl Fn(Option<&dyn Criterion>, usize) -> M,
    restored: impl Fn(Vec<NamedParameter>, &Device) -> burn_calibration::error::Result<M>,
    (rows, classes): &(Vec<Vec<f64>>, Vec<usize>),
) {
    let (start, map) = (fit(None, 0), fit(None, 5000));
    let report = converged(&map);
    assert_same(&fit(Some(&ScoreLoss::new(LogScore)), 5000), report);
    let of_network = |map: &M| {
        let mut parameters = map.named_parameters();
        parameters.retain(|parameter| parameter.name != "scales");
        parameters
    };
    let weights = |map: &M| -> Vec<f64> {
        let parameters = of_network(map).into_iter();
        parameters.flat_map(|parameter| parameter.values).collect()
    };
    let scales = map.named_parameters().pop().unwrap();
    let (centre, theta, shapes) = (weights(&start), weights(&map), of_network(&map));
    let objective = |theta: &[f64]| {
        let mut rest = theta;
        let mut parameters = vec![("scales", &scales.values[..], &scales.shape[..])];
        for parameter in &shapes {
            let (values, after) = rest.split_at(parameter.values.len());
            parameters.push((&parameter.name, values, &parameter.shape));
            rest = after;
        }
        let moved = restored(injective::named(&parameters), &device()).unwrap();
        let logits = rows_of(moved.forward(tensor(rows)));
        let distances = theta.iter().zip(&centre).map(|(x, c)| (x - c).powi(2));
        log_loss(&logits, classes, <[f64]>::to_vec) + 1e-2 * distances.sum::<f64>()
    };
    assert_relative(report.objective, objective(&theta), 1e-12);
    let slope = slope(&theta, &vec![1.0; theta.len()], objective);
    assert!(slope < 1e-7, "{slope}, {report}");
}

/// Of more logits than are computed together.
#[test]
fn order_preserving_maps_are_at_a_minimum() {
    let data = overconfident(1100, 105);
    let (z, y) = (tensor(&data.0), labels(&data.1));
    let fixed = Regularisation::Fixed(1e-2);
    let config = OrderPreservingConfig::new().with_hidden(2);
    let config = config.with_regularisation(fixed).with_tolerance(1e-8);
    let fit = |criterion: Option<&dyn Criterion>, iterations| {
        let config = config.clone().with_max_iterations(iterations);
        config.fit_with(
            z.clone(),
            y.clone(),
            FitOptions::new(criterion, &mut |_| {}),
        )
    };
    let restored = OrderPreserving::from_named_parameters;
    network_is_at_a_minimum(|by, most| fit(by, most).unwrap(), restored, &data);
    let config = OrderInvariantConfig::new().with_hidden(2);
    let config = config.with_regularisation(fixed).with_tolerance(1e-8);
    let fit = |criterion: Option<&dyn Criterion>, iterations| {
        let config = config.clone().with_max_iterations(iterations);
        config.fit_with(
            z.clone(),
            y.clone(),
            FitOptions::new(criterion, &mut |_| {}),
        )
    };
    let restored = OrderInvariant::from_named_parameters;
    network_is_at_a_minimum(|by, most| fit(by, most).unwrap(), restored, &data);
}

/// Without a penalty the slopes at four knots, which a network of more weights gives, minimise the log loss.
#[test]
fn the_diagonal_map_is_at_a_minimum() {
    let (rows, classes) = overconfident(1100, 106);
    let (z, y) = (tensor(&rows), labels(&classes));
    let config = DiagonalScalingConfig::new().with_hidden(8).with_knots(4);
    let config = config.with_regularisation(Regularisation::Fixed(0.0));
    let config = config.with_tolerance(1e-9).with_max_iterations(5000);
    let map = config.fit_to(&z, &y);
    let report = converged(&map);
    let by = config.fit_to_by(&ScoreLoss::new(LogScore), &z, &y);
    assert_same(&by, report);
    let knots: Vec<f64> = map.knots().iter().map(|knot| knot.place).collect();
    let slopes: Vec<f64> = map.knots().iter().map(|knot| knot.slope).collect();
    let objective = |slopes: &[f64]| {
        let mut values = vec![0.0];
        for (x, s) in knots.windows(2).zip(slopes.windows(2)) {
            let last = values[values.len() - 1];
            values.push(last + 0.5 * (x[1] - x[0]) * (s[0] + s[1]));
        }
        let parameters: [(&str, &[f64], &[usize]); 3] = [
            ("knots", &knots, &[4]),
            ("values", &values, &[4]),
            ("slopes", slopes, &[4]),
        ];
        let parameters = injective::named(&parameters);
        let moved = DiagonalScaling::from_named_parameters(parameters, &device()).unwrap();
        let logits = rows_of(moved.forward(z.clone()));
        log_loss(&logits, &classes, <[f64]>::to_vec)
    };
    assert_relative(report.objective, objective(&slopes), 1e-12);
    let slope = slope(&slopes, &[1.0; 4], objective);
    assert!(slope < 1e-6, "{slope}, {report}");
}

/// One label in five is anything: a minimum inside, in `log T` and the logarithms of the weights.
#[test]
fn the_ensemble_is_at_a_minimum() {
    let (rows, mut classes) = overconfident(1000, 101);
    let anything = random_labels(1000, 4, &mut rng(102));
    (0..1000).step_by(5).for_each(|i| classes[i] = anything[i]);
    let config = EnsembleTemperatureScalingConfig::new().with_prior(None);
    let map = config.with_tolerance(1e-10).fitted(&rows, &classes);
    let report = converged(&map);
    let weights = map.weights();
    let theta = [map.temperature(), weights[0], weights[1], weights[2]].map(f64::ln);
    let objective = |theta: &[f64]| {
        let [t, w1, w2, w3] = [0, 1, 2, 3].map(|k| theta[k].exp());
        let map = |row: &[f64]| -> Vec<f64> {
            let cooler = softmax(&row.iter().map(|z| z / t).collect::<Vec<_>>());
            let mixed = |(a, b): (f64, f64)| ((w1 * a + w2 * b + 0.25 * w3) / (w1 + w2 + w3)).ln();
            cooler.into_iter().zip(softmax(row)).map(mixed).collect()
        };
        log_loss(&rows, &classes, map)
    };
    assert_near(objective(&theta), report.objective, 1e-12);
    let slope = slope(&theta, &[1.0; 4], objective);
    assert!(slope < 1e-8, "{slope}, {report}");
}

/// Twenty samples, by cross-validation: of classes that are drawn, of which one is missing, and separable.
#[test]
fn twenty_samples() {
    let (rows, drawn) = overconfident(20, 103);
    let missing: Vec<usize> = drawn.iter().map(|c| c % 3).collect();
    let right = argmaxes(&rows);
    for (what, classes) in [
        ("drawn", drawn),
        ("a class missing", missing),
        ("separable", right),
    ] {
        for kind in MapKind::ALL {
            let name = kind.name();
            let fit = kind.config(0).fit(tensor(&rows), labels(&classes));
            let map = fit.unwrap();
            let report = map.report().unwrap();
            let out = vector(map.forward(tensor(&rows)));
            all_finite(&out);
            assert!(report.objective.is_finite(), "{name}, {what}: {report}");
            if ["vector", "matrix", "dirichlet"].contains(&name) {
                assert_eq!(report.status, FitStatus::Converged, "{name}, {what}");
            }
        }
    }
}

/// Two hundred classes, whose matrix has 40,200 parameters, of a sample each.
#[test]
fn many_classes() {
    let (n, m) = (200, 200);
    let mut rng = rng(104);
    let classes: Vec<usize> = (0..n).collect();
    let mut rows = random_rows(n, m, 1.0, &mut rng);
    for (row, &y) in rows.iter_mut().zip(&classes) {
        row[y] += rng.random_range(0.0..6.0);
    }
    let config = MatrixScalingConfig::new().with_regularisation(Regularisation::Fixed(0.1));
    let map = config.fitted(&rows, &classes);
    let report = converged(&map);
    let temperature = without_prior().fitted(&rows, &classes);
    let alone = temperature.report().unwrap().objective;
    assert!(report.objective < alone, "{report}");
    converged(&VectorScalingConfig::new().fitted(&rows, &classes));
}
