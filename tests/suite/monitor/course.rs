//! What a monitor keeps of its course: the history of its wealth, and the coverage of quantiles.

use super::*;

/// Events that happen too often from row 700 on.
fn drifting(rows: usize) -> (Categorical, Tensor<1, Int>) {
    let p: Vec<f64> = (0..rows).map(|row| 0.2 + 0.1 * (row % 6) as f64).collect();
    let happens = |(row, p): (usize, &f64)| {
        let u = (0.618_033_988_75 * row as f64).fract();
        i64::from(u < p + if row < 700 { 0.0 } else { 0.2 })
    };
    let y: Vec<i64> = p.iter().enumerate().map(happens).collect();
    events(&p, &y)
}

/// The points of the history are the maxima of the values after each row, and no alarm is lost; rows at once are rows
/// one by one, and the history does not grow.
#[test]
fn the_history_is_of_every_row() {
    let new = |between: f64| {
        let monitor = CalibrationMonitor::new(0.05).unwrap();
        monitor.with_rows_between_alarms(between).unwrap()
    };
    let (p, y) = drifting(1100);
    let [mut at_once, mut one_by_one, mut silent] = [new(200.0), new(200.0), new(1e300)];
    at_once.update(&p, &y).unwrap();
    let (mut wealth, mut detector, mut alarms) = (vec![], vec![], vec![]);
    for row in 0..1100 {
        let (one, target) = (p.slice_rows(row..row + 1), label(&y, row));
        one_by_one.update(&one, &target).unwrap();
        silent.update(&one, &target).unwrap();
        wealth.push(one_by_one.state().wealth);
        detector.push(silent.state().detector);
        alarms.push(one_by_one.state().alarms);
        if row == 510 {
            assert_eq!(one_by_one.state().history.len(), 511);
        }
        if row == 512 {
            assert_eq!(one_by_one.state().history.len(), 257);
        }
        if row % 9 == 0 {
            let text = serde_json::to_string(&one_by_one).unwrap();
            one_by_one = serde_json::from_str(&text).unwrap();
        }
    }
    assert_eq!(one_by_one, at_once);
    let most = |values: &[f64], rows: std::ops::Range<usize>| {
        values[rows].iter().copied().fold(0.0, f64::max)
    };
    let history = &at_once.state().history;
    assert_eq!(history.len(), 275); // of four rows each
    let state = at_once.state();
    assert!(state.alarms > 3);
    // the last of several alarms is of the same change, at row 700
    let since = state.change.as_ref().unwrap().since;
    assert!((690..760).contains(&since), "{since}");
    let mut before = 0;
    for (k, point) in history.iter().enumerate() {
        let rows = 4 * k..4 * k + 4;
        assert_eq!(point.row, 4 * k as u64);
        assert_eq!(point.wealth, most(&wealth, rows.clone()));
        assert_eq!(point.alarms, alarms[rows.end - 1] - before);
        assert!(point.alarms == 0 || point.detector >= 200.0);
        before = alarms[rows.end - 1];
        assert_eq!(silent.state().history[k].detector, most(&detector, rows));
    }

    let mut long = new(1e4);
    let mut size = 0;
    for _ in 0..20 {
        long.update(&p, &y).unwrap();
        size = size.max(serde_json::to_string(&long).unwrap().len());
        assert!(long.state().history.len() <= 512);
    }
    assert!(size < 70_000, "{size}");
    assert_eq!(long.state().history[1].row, 64);
}

/// The coverage of quantiles with ties, with its bounds by Python.
#[test]
fn coverage_as_by_hand() {
    let y = [0.0, 2.0, 2.0, 5.0, 1.0, 3.0, 0.0, 2.0, 4.0, 1.0].repeat(20);
    let values = column(&[1.0, 2.0, 4.0].repeat(200)).reshape([200, 3]);
    let forecasts = QuantileForecasts::new(vec![0.25, 0.5, 0.75], values).unwrap();
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    assert_eq!(monitor.coverage(), []);
    monitor.update(&forecasts, &column(&y)).unwrap();
    assert_eq!(monitor.mean_error(), None);
    let expected = [
        (0.0, 0.25, [0.25, 0.060084854869526944, 0.5785445812424621]),
        (0.0, 0.5, [0.5, 0.2262840982715365, 0.8737159017284635]),
        (0.0, 0.75, [0.8, 0.660084854869527, 1.0]),
        (0.25, 0.75, [0.5, 0.2262840982715365, 0.8737159017284635]),
    ];
    let found = monitor.coverage();
    assert_eq!(found.len(), expected.len());
    for ((part, coverage), (low, high, numbers)) in found.into_iter().zip(expected) {
        assert_eq!(part, Part::Range { low, high });
        assert_eq!((part.level(), coverage.level), (Some(high - low), 0.95));
        close(coverage.estimate, numbers[0]);
        close(coverage.lower, numbers[1]);
        close(coverage.upper, numbers[2]);
    }
    let error = CalibrationMonitor::new(0.05).unwrap().mean_error();
    assert_eq!(error, None);
}
