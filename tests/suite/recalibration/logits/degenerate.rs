//! Data that make solvers fail: a defined result all the same.

use super::fitters;
use crate::prelude::*;

/// Every map fits, its output is finite on the data and far from it, and it is no worse than the
/// temperature on the data, its regularisation aside.
fn fits(what: &str, rows: &[Vec<f64>], classes: &[usize]) {
    let m = rows[0].len();
    for (name, fit) in fitters() {
        let map = fit(None, tensor(rows), labels(classes))
            .unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
        let report = map.report().unwrap();
        assert!(report.objective.is_finite(), "{name}, {what}: {report}");
        let far = table(1, m, |_, c| [1e4, -1e4, 0.0][c % 3]);
        for rows in [rows, &far] {
            let out = vector(map.forward(tensor(rows)));
            all_finite(&out);
        }
    }
}

#[test]
fn separable() {
    let rows = [
        vec![2.0, 0.0, 0.1],
        vec![0.0, 1.0, 0.5],
        vec![-1.0, 0.0, 3.0],
        vec![4.0, 1.0, 0.0],
    ];
    fits("separable", &rows, &[0, 1, 2, 0]);
}

#[test]
fn misleading() {
    let rows = [vec![2.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.1]];
    fits("misleading", &rows, &[1, 0, 1]);
}

#[test]
fn one_class_missing() {
    let mut rng = rng(90);
    let rows = random_rows(30, 4, 2.0, &mut rng);
    let classes: Vec<usize> = (0..30).map(|i| i % 3).collect();
    fits("a class missing", &rows, &classes);
    fits("one class alone", &rows, &[2; 30]);
}

#[test]
fn all_logits_equal() {
    fits("equal logits", &vec![vec![3.0; 3]; 5], &[0, 1, 2, 0, 0]);
    let rows = vec![vec![1.0, 0.0, 2.0]; 5];
    fits("equal rows", &rows, &[0, 1, 2, 0, 0]);
}

#[test]
fn far_out() {
    let rows = [
        vec![1e4, -1e4, 0.0],
        vec![-1e4, 1e4, 0.0],
        vec![1e4, 0.0, -1e4],
        vec![0.0, 1e4, 9999.0],
    ];
    fits("logits of 10⁴, right", &rows, &[0, 1, 0, 1]);
    fits("logits of 10⁴, sometimes wrong", &rows, &[0, 1, 2, 2]);
    let small: Vec<Vec<f64>> = mapped(&rows, |z| 1e-12 * z);
    fits("logits of 10⁻⁸", &small, &[0, 1, 2, 2]);
}

#[test]
fn one_and_two_samples() {
    fits("one sample, right", &[vec![1.0, 0.0]], &[0]);
    fits("one sample, wrong", &[vec![1.0, 0.0, 0.0]], &[2]);
    fits("two samples", &[vec![1.0, 0.0], vec![1.0, 0.0]], &[0, 1]);
}

/// The intercepts alone: the frequencies of the classes.
#[test]
fn equal_logits_leave_the_frequencies() {
    let classes = [0, 0, 0, 1, 1, 2];
    let map = VectorScalingConfig::new().fitted(&[[0.0; 3]; 6], &classes);
    converged(&map);
    let p = softmax(&vector(map.forward(tensor(&[[0.0; 3]]))));
    all_near(p, [3.0, 2.0, 1.0].map(|count| count / 6.0), 1e-6);
}
