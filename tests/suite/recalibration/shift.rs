//! Shifts of the logits of classes.

use crate::prelude::*;

fn unpenalised() -> LogitShiftConfig {
    LogitShiftConfig::new().with_regularisation(Regularisation::Fixed(0.0))
}

/// Equal rows: the probabilities after the shift are the frequencies.
#[test]
fn frequencies_in_closed_form() {
    let rows = vec![vec![1.5, -0.5, 0.25]; 12];
    let classes = [0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 1];
    let map = unpenalised().fitted(&rows, &classes);
    let after = softmax(&vector(map.forward(tensor(&rows[..1]))));
    all_near(after, [0.25, 0.25, 0.5], 1e-8);
    // only differences matter, and the shifts sum to 0
    let expected = [0.25f64.ln() - 1.5, 0.25f64.ln() + 0.5, 0.5f64.ln() - 0.25];
    let mean = expected.iter().sum::<f64>() / 3.0;
    all_near(map.shifts(), expected.map(|b| b - mean), 1e-7);
    assert!(map.guarantees().injective && !map.guarantees().keeps_accuracy);
}

/// The derivatives of the criterion in its documentation vanish: `mean(p − e_y) + 4b/n = 0`.
#[test]
fn the_penalised_minimum() {
    let (rows, classes) = crate::recalibration::logits::overconfident(80, 91);
    let map = LogitShiftConfig::new().fitted(&rows, &classes);
    let mut slopes: Vec<f64> = map.shifts().iter().map(|b| 4.0 * b / 80.0).collect();
    let after = vector(map.forward(tensor(&rows)));
    for (row, &y) in after.chunks(4).zip(&classes) {
        let p = softmax(row).into_iter().enumerate();
        p.for_each(|(c, p)| slopes[c] += (p - f64::from(u8::from(c == y))) / 80.0);
    }
    all_near(slopes, [0.0; 4], 1e-7);
    let farther = unpenalised().fitted(&rows, &classes);
    let size = |map: &LogitShift| map.shifts().iter().map(|b| b * b).sum::<f64>();
    assert!(size(&map) < size(&farther));
}

/// A class without a label keeps a probability; two classes of one label too.
#[test]
fn absent_classes() {
    for classes in [vec![0; 5], vec![0, 1, 0, 1, 1]] {
        let map = LogitShiftConfig::new().fitted(&vec![vec![0.0, 1.0, 2.0]; 5], &classes);
        assert!(map.shifts().iter().all(|b| b.abs() < 5.0), "{map:?}");
    }
    assert!(LogitShift::from_shifts(vec![1.0], &device()).is_err());
    assert!(LogitShift::from_shifts(vec![1.0, f64::NAN], &device()).is_err());
}
