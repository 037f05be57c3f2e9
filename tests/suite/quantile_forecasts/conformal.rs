//! Conformal shifts.

use rand_distr::StandardNormal;

use super::*;
use crate::recalibration::files::Temporary;

/// Calibrated in coverage whatever the forecasts were: of continuous targets each shifted quantile covers `k/(n + 1)`,
/// and each interval what it says or more.
#[test]
fn conformal_shifts_cover() {
    let (mut rng, n, sets) = (rng(5), 39, 400);
    let rows = |count: usize, rng: &mut StdRng| -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |_| {
            let mean = rng.random_range(-1.0..1.0);
            let z = rng.sample::<f64, _>(StandardNormal);
            // too narrow, and off by 1
            (normal_quantiles(mean + 1.0, 0.3 + 0.2 * mean), mean + z)
        };
        (0..count).map(row).unzip()
    };
    let (mut below, mut covered) = ([0; 7], [0; 3]);
    for _ in 0..sets {
        let (fitted, y) = rows(n, &mut rng);
        let map = ConformalShiftConfig::new();
        let map = map.fit_to(&forecasts(&USUAL, &fitted), &column(&y));
        let (new, y) = rows(1, &mut rng);
        let shifted = map.forward(forecasts(&USUAL, &new));
        shifted.check().unwrap();
        let q = vector(shifted.values());
        for (count, q) in below.iter_mut().zip(&q) {
            *count += usize::from(y[0] <= *q);
        }
        for (k, count) in covered.iter_mut().enumerate() {
            *count += usize::from(q[k] <= y[0] && y[0] <= q[6 - k]);
        }
    }
    for (count, level) in below.into_iter().zip(USUAL) {
        assert_binomial(count, sets, (level, 4.0), below);
    }
    for (count, level) in covered.into_iter().zip([0.95, 0.8, 0.5]) {
        assert_binomial(count, sets, (level, 4.0), covered);
    }
}

/// By hand: shifts, the order of quantiles that would cross, and a file.
#[test]
fn conformal_shifts_by_hand() {
    let levels = [0.25, 0.5, 0.75];
    // residuals 1, 2, 3 of the first and 0, 1, 2 and −10, −9, −8 of the others: n + 1 = 4
    let rows = [1.0, 2.0, 3.0].map(|y| vec![y - y, 1.0, 11.0]);
    let (p, y) = (forecasts(&levels, &rows), column([1.0, 2.0, 3.0]));
    let map = ConformalShiftConfig::new().fit(p.clone(), y).unwrap();
    assert_eq!(map.shifts(), [1.0, 1.0, -8.0]);
    let wide = map.forward(forecasts(&levels, &[[0.0, 1.0, 11.0], [4.0; 3]]));
    // the second row is 5, 5, −4 before it is put in order
    assert_eq!(vector(wide.values()), [1.0, 2.0, 3.0, 5.0, 5.0, 5.0]);
    let low = ConformalShift::from_shifts(vec![0.1, 0.2], vec![3.0, -1.0], &device()).unwrap();
    let ordered = low.forward(forecasts(&[0.1, 0.2], &[vec![0.0, 1.0]]));
    assert_eq!(vector(ordered.values()), [0.0, 0.0]);
    let high = ConformalShift::from_shifts(vec![0.5, 0.8], vec![1.0, -1.0], &device()).unwrap();
    let ordered = high.forward(forecasts(&[0.5, 0.8], &[vec![0.0, 1.0]]));
    assert_eq!(vector(ordered.values()), [1.0, 1.0]);
    refuses(map.check_levels(&forecasts(&[0.1, 0.5, 0.75], &rows)));
    let wrong = ConformalShift::from_shifts(vec![0.5, 0.1], vec![0.0; 2], &device());
    refuses(wrong);
    let file = Temporary::new("shift.map");
    let file = &file.0;
    map.save(file).unwrap();
    let loaded = ConformalShift::load(file, &device()).unwrap();
    assert_eq!(loaded.levels(), map.levels());
    assert_eq!(loaded.shifts(), map.shifts());
    let message = DistributionMap::load(file, &device()).unwrap_err();
    ends(
        &message,
        "expected one of normal or Laplace predictions: apply it with --family quantiles",
    );
    let message = load_map(file, &device()).unwrap_err();
    ends(&message, "apply it with --family quantiles");
}
