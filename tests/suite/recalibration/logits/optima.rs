//! Solutions by the definition of what they minimise, on the host, and fits of few or many classes.

use burn::module::Module;

use super::{super::injective, overconfident};
use crate::prelude::*;

/// The mean log loss of logits.
fn log_loss(rows: &[Vec<f64>], classes: &[usize], map: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let loss = |(row, &y): (&Vec<f64>, &usize)| {
        let z = map(row);
        let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + z.iter().map(|z| (z - largest).exp()).sum::<f64>().ln() - z[y]
    };
    rows.iter().zip(classes).map(loss).sum::<f64>() / rows.len() as f64
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
    let report = by_criterion.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    assert!(report.evaluations <= 2, "{report}");
    assert_relative(report.objective, by_log_loss.objective, 1e-12);
}

/// Weights and intercepts minimise the log loss with the mean squares of off-diagonal weights, of logits
/// over their spread, and of intercepts; and that of one more sample of a class without a label, spread over the rows.
#[test]
fn affine_maps_are_at_the_minimum() {
    let (rows, drawn) = overconfident(300, 100);
    let normalised: Vec<Vec<f64>> = (rows.iter())
        .map(|row| softmax(row).iter().map(|p| p.ln()).collect())
        .collect();
    let (z, m) = (tensor(&rows), 4);
    let log_score = ScoreLoss::new(LogScore);
    for (weight, classes_drawn) in [(1e-4, 4), (0.1, 4), (10.0, 4), (0.1, 3)] {
        let classes: Vec<usize> = drawn.iter().map(|y| y % classes_drawn).collect();
        let y = labels(&classes);
        let fixed = Regularisation::Fixed(weight);
        let vector = VectorScalingConfig::new().with_regularisation(fixed);
        let vector = vector.with_tolerance(1e-10);
        let by_score = vector.fit_by(&log_score, z.clone(), y.clone()).unwrap();
        let vector = vector.fit(z.clone(), y.clone()).unwrap();
        let matrix = MatrixScalingConfig::new().with_regularisation(fixed);
        let matrix = matrix
            .with_tolerance(1e-10)
            .fit(z.clone(), y.clone())
            .unwrap();
        let dirichlet = DirichletCalibrationConfig::new().with_regularisation(fixed);
        let dirichlet = dirichlet
            .with_tolerance(1e-10)
            .fit(z.clone(), y.clone())
            .unwrap();
        if classes_drawn == 4 {
            assert_same(&by_score, vector.report().unwrap());
        }
        for (rows, theta, report) in [
            (
                &rows,
                [vector.weight(), vector.bias()].concat(),
                vector.report(),
            ),
            (
                &rows,
                [matrix.weight(), matrix.bias()].concat(),
                matrix.report(),
            ),
            (
                &normalised,
                [dirichlet.weight(), dirichlet.bias()].concat(),
                dirichlet.report(),
            ),
        ] {
            let (report, s, k) = (report.unwrap(), spread(rows), theta.len() - m);
            assert_eq!(report.status, FitStatus::Converged, "{report}");
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
fn network_is_at_a_minimum<M: Module + Recalibration>(
    fit: impl Fn(Option<&dyn Objective>, usize) -> M,
    template: M,
    (rows, classes): &(Vec<Vec<f64>>, Vec<usize>),
) {
    let (start, map) = (fit(None, 0), fit(None, 5000));
    let report = map.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
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
        let moved = injective::map(template.clone(), &parameters);
        let logits = vector(moved.forward(tensor(rows)));
        let logits: Vec<Vec<f64>> = logits.chunks(4).map(<[f64]>::to_vec).collect();
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
    let fit = |criterion: Option<&dyn Objective>, iterations| {
        let config = config.clone().with_max_iterations(iterations);
        config.fit_with_progress(criterion, z.clone(), y.clone(), &mut |_| {})
    };
    let template = OrderPreserving::template(&device());
    network_is_at_a_minimum(|by, most| fit(by, most).unwrap(), template, &data);
    let config = OrderInvariantConfig::new().with_hidden(2);
    let config = config.with_regularisation(fixed).with_tolerance(1e-8);
    let fit = |criterion: Option<&dyn Objective>, iterations| {
        let config = config.clone().with_max_iterations(iterations);
        config.fit_with_progress(criterion, z.clone(), y.clone(), &mut |_| {})
    };
    let template = OrderInvariant::template(&device());
    network_is_at_a_minimum(|by, most| fit(by, most).unwrap(), template, &data);
}

/// Without a penalty the slopes at four knots, which a network of more weights gives, minimise the log loss.
#[test]
fn the_diagonal_map_is_at_a_minimum() {
    let (rows, classes) = overconfident(1100, 106);
    let (z, y) = (tensor(&rows), labels(&classes));
    let config = DiagonalScalingConfig::new().with_hidden(8).with_knots(4);
    let config = config.with_regularisation(Regularisation::Fixed(0.0));
    let config = config.with_tolerance(1e-9).with_max_iterations(5000);
    let map = config.fit(z.clone(), y.clone()).unwrap();
    let report = map.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    let by = config.fit_by(&ScoreLoss::new(LogScore), z.clone(), y);
    assert_same(&by.unwrap(), report);
    let knots: Vec<f64> = map.knots().iter().map(|(x, ..)| *x).collect();
    let slopes: Vec<f64> = map.knots().iter().map(|(.., slope)| *slope).collect();
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
        let moved = injective::map(DiagonalScaling::template(&device()), &parameters);
        let logits = vector(moved.forward(z.clone()));
        let logits: Vec<Vec<f64>> = logits.chunks(4).map(<[f64]>::to_vec).collect();
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
    let config = EnsembleTemperatureScalingConfig::new()
        .with_prior(None)
        .with_tolerance(1e-10);
    let map = config.fitted(&rows, &classes);
    let report = map.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    let weights = map.weights();
    let theta = [map.temperature(), weights[0], weights[1], weights[2]].map(f64::ln);
    let objective = |theta: &[f64]| {
        let [t, w1, w2, w3] = [0, 1, 2, 3].map(|k| theta[k].exp());
        let map = |row: &[f64]| -> Vec<f64> {
            let cooler = softmax(&row.iter().map(|z| z / t).collect::<Vec<_>>());
            let parts = cooler.into_iter().zip(softmax(row));
            parts
                .map(|(a, b)| ((w1 * a + w2 * b + 0.25 * w3) / (w1 + w2 + w3)).ln())
                .collect()
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
    let right: Vec<usize> = (rows.iter()).map(|row| argmax(row)).collect();
    for (what, classes) in [
        ("drawn", drawn),
        ("a class missing", missing),
        ("separable", right),
    ] {
        for kind in MapKind::ALL {
            let name = kind.name();
            let map = kind
                .fit(0, None, tensor(&rows), labels(&classes), &mut |_| {})
                .unwrap();
            let report = map.report().unwrap();
            let out = vector(map.forward(tensor(&rows)));
            assert!(out.iter().all(|z| z.is_finite()), "{name}, {what}: {out:?}");
            assert!(report.objective.is_finite(), "{name}, {what}: {report}");
            if ["vector", "matrix", "dirichlet"].contains(&name) {
                assert_eq!(
                    report.status,
                    FitStatus::Converged,
                    "{name}, {what}: {report}"
                );
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
    let report = map.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    let temperature = TemperatureScalingConfig::new()
        .with_prior(None)
        .fitted(&rows, &classes);
    assert!(
        report.objective < temperature.report().unwrap().objective,
        "{report}"
    );
    let vector = VectorScalingConfig::new().fitted(&rows, &classes);
    let report = vector.report().unwrap();
    assert_eq!(report.status, FitStatus::Converged, "{report}");
}
