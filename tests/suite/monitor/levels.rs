//! False alarms of calibrated models, and delays.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Poisson, StandardNormal, StudentT};

use super::*;
use crate::data::{StdRng, assert_at_most, simulated};

/// Streams of so many rows by a function of the stream's generator: how many alarm, and the median first alarm.
fn alarms(
    streams: u64,
    alpha: f64,
    feed: impl Fn(&mut CalibrationMonitor, &mut StdRng),
) -> (usize, u64, usize) {
    let mut rows = Vec::new();
    let mut outside = 0;
    for seed in 0..streams {
        let mut monitor = CalibrationMonitor::new(alpha).unwrap();
        feed(&mut monitor, &mut StdRng::seed_from_u64(seed));
        rows.push(monitor.state().alarm_at.unwrap_or(u64::MAX));
        outside += usize::from(has_wrong_bounds(&monitor));
    }
    rows.sort_unstable();
    let count = rows.iter().filter(|row| **row < u64::MAX).count();
    (count, rows[rows.len() / 2], outside)
}

/// Whether bounds exclude the value of a calibrated model.
fn has_wrong_bounds(monitor: &CalibrationMonitor) -> bool {
    let error = monitor.mean_error();
    let mut ranges = monitor.coverage().into_iter();
    error.is_some_and(|e| e.lower > 0.0 || e.upper < 0.0)
        || ranges.any(|(part, e)| {
            part.level()
                .is_some_and(|level| e.lower > level || e.upper < level)
        })
}

fn check(name: &str, feed: impl Fn(&mut CalibrationMonitor, &mut StdRng)) {
    let streams = simulated(300);
    let (count, _, outside) = alarms(streams as u64, 0.05, feed);
    println!("{name}: {count} alarms, {outside} bounds without 0, of {streams}");
    assert_at_most(count, streams, (0.05, 3.0), name);
    assert_at_most(outside, streams, (0.05, 3.0), name);
}

/// Events whose log-odds are autocorrelated, with labels of `slope · l + shift` and an own centre.
fn event_rows(
    rng: &mut StdRng,
    rows: usize,
    centre: f64,
    line: [f64; 2],
) -> (Categorical, Tensor<1, Int>) {
    let (mut x, mut p, mut y) = (0.0, Vec::new(), Vec::new());
    for _ in 0..rows {
        let step: f64 = StandardNormal.sample(rng);
        x = 0.9 * x + 0.19f64.sqrt() * step;
        let l: f64 = centre + 1.5 * x;
        p.push(1.0 / (1.0 + (-l).exp()));
        y.push(i64::from(
            rng.random::<f64>() < 1.0 / (1.0 + (-line[0] * l - line[1]).exp()),
        ));
    }
    events(&p, &y)
}

#[test]
fn false_alarms() {
    for (name, centre) in [("events", 0.0), ("rare events", -5.0)] {
        check(name, |monitor, rng| {
            let (p, y) = event_rows(rng, 500, centre, [1.0, 0.0]);
            monitor.update(&p, &y).unwrap();
        });
    }
    // the probability of the next label depends on the labels before, and drifts
    check("of the past", |monitor, rng| {
        let (mut p, mut y, mut ones) = (Vec::new(), Vec::new(), 1.0);
        for row in 0..500 {
            let next = (0.2 + 0.6 * ones / (row as f64 + 2.0)) * (1.0 - row as f64 / 1000.0);
            p.push(next);
            y.push(i64::from(rng.random::<f64>() < next));
            ones += y[row] as f64;
        }
        let (p, y) = events(&p, &y);
        monitor.update(&p, &y).unwrap();
    });
    for m in [10, 100] {
        check(&format!("{m} classes"), |monitor, rng| {
            let (mut p, mut y) = (Vec::new(), Vec::new());
            for _ in 0..200 {
                let z: Vec<f64> = (0..m)
                    .map(|_| {
                        let z: f64 = StandardNormal.sample(rng);
                        (2.0 * z).exp()
                    })
                    .collect();
                let sum: f64 = z.iter().sum();
                let mut u = rng.random::<f64>() * sum;
                let label = z
                    .iter()
                    .position(|z| {
                        u -= z;
                        u < 0.0
                    })
                    .unwrap_or(m - 1);
                y.push(label as i64);
                p.extend(z.iter().map(|z| z / sum));
            }
            let (p, y) = classes(&p, m, &y);
            monitor.update(&p, &y).unwrap();
        });
    }
    check("normal", |monitor, rng| {
        let draw = |rng: &mut StdRng| -> f64 { StandardNormal.sample(rng) };
        let mean: Vec<f64> = (0..500).map(|_| 3.0 * draw(rng)).collect();
        let y: Vec<f64> = mean.iter().map(|mean| mean + 2.0 * draw(rng)).collect();
        let p = Normal::new(column(&mean), column(&[2.0; 500]));
        monitor.update(&p, &column(&y)).unwrap();
    });
    for (name, counts) in [("draws of t", false), ("draws of counts", true)] {
        check(name, |monitor, rng| {
            let draw = |rng: &mut StdRng| -> f64 {
                if counts {
                    Poisson::new(1.5).unwrap().sample(rng)
                } else {
                    StudentT::new(3.0).unwrap().sample(rng)
                }
            };
            let draws: Vec<f64> = (0..300 * 20).map(|_| draw(rng)).collect();
            let y: Vec<f64> = (0..300).map(|_| draw(rng)).collect();
            let p = Samples::new(column(&draws).reshape([300, 20, 1]));
            monitor.update(&p, &column(&y)).unwrap();
        });
    }
    // quantiles of counts have ties
    check("quantiles of counts", |monitor, rng| {
        let values = column(&[0.0, 1.0, 3.0].repeat(500)).reshape([500, 3]); // Poisson(1.5)
        let p = QuantileForecasts::new(vec![0.1, 0.5, 0.9], values).unwrap();
        let y: Vec<f64> = (0..500)
            .map(|_| Poisson::new(1.5).unwrap().sample(rng))
            .collect();
        monitor.update(&p, &column(&y)).unwrap();
    });
}

/// An error is found, and a drift that begins at a known row; false alarms of the detector are rare.
#[test]
fn delays() {
    // the rows at which the score test of the shift, or of the slope, has a power of 90 % in this very design
    for (line, most) in [([1.0, 0.5], 240), ([1.0 / 1.5, 0.0], 347)] {
        let (count, median, _) = alarms(100, 0.05, |monitor, rng| {
            let (p, y) = event_rows(rng, 2000, 0.0, line);
            monitor.update(&p, &y).unwrap();
        });
        println!("{line:?}: {count} of 100, median {median}");
        assert!(count > 95 && median <= most, "{line:?} {count} {median}");
    }
    let (mut starts, mut false_alarms) = (Vec::new(), 0);
    for seed in 0..40 {
        let mut rng = StdRng::seed_from_u64(seed);
        let monitor = CalibrationMonitor::new(0.05).unwrap();
        let mut monitor = monitor.with_rows_between_alarms(5000.0).unwrap();
        let (p, y) = event_rows(&mut rng, 1000, 0.0, [1.0, 0.0]);
        monitor.update(&p, &y).unwrap();
        false_alarms += monitor.state().alarms;
        let (p, y) = event_rows(&mut rng, 1500, 0.0, [1.0, 1.0]);
        let change = monitor.update(&p, &y).unwrap();
        starts.push(change.map_or(0, |change| change.since));
    }
    starts.sort_unstable();
    println!("{false_alarms} false alarms in 40,000 rows; starts {starts:?}");
    assert!(false_alarms <= 18); // at most 8 expected
    let middle = starts[20]; // the change is at row 1000
    assert!(
        (985..=1015).contains(&middle) && starts[38] <= 1100,
        "{starts:?}"
    );
}
