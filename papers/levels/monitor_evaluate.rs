//! The delays of `CalibrationMonitor` and the rows that other tests of the same error need.

use std::time::Instant;

use burn_calibration::{
    hypothesis::{Omnibus, OmnibusTest},
    monitor::{CalibrationMonitor, Monitored},
};
use rand::{SeedableRng, rngs::StdRng};

use super::{Cells, Stream, class_rows, event_rows, normal_rows};

/// Runs the cells of errors.
pub fn run(cells: &Cells) {
    cells.delay("delay: shift 0.5", 400, |rng| {
        event_rows(2000, 0.9, 0.0, [1.0, 0.5], rng)
    });
    cells.delay("delay: temperature 1.5", 400, |rng| {
        event_rows(2000, 0.9, 0.0, [1.0 / 1.5, 0.0], rng)
    });
    cells.delay("delay: scale 1.3", 400, |rng| normal_rows(1000, 1.3, rng));
    cells.delay("delay: one class of ten", 200, |rng| {
        class_rows(12000, 10, 1.0, 1.2, rng)
    });
    for (name, between, line) in [
        ("evaluate: shift 0.5", [120, 400], [1.0, 0.5]),
        ("evaluate: temperature 1.5", [400, 800], [1.0 / 1.5, 0.0]),
    ] {
        cells.sample_size(name, 200, between, |n, rng| {
            event_rows(n, 0.9, 0.0, line, rng)
        });
    }
    cells.sample_size("evaluate: scale 1.3", 200, [60, 200], |n, rng| {
        normal_rows(n, 1.3, rng)
    });
    cells.sample_size("evaluate: one class of ten", 50, [3250, 4000], |n, rng| {
        class_rows(n, 10, 1.0, 1.2, rng)
    });
}

impl Cells {
    /// The rows that the omnibus test, which `evaluate` runs, needs for a power of 90 % at 5 %: a bisection to 3 %
    /// between two numbers of rows, with the same seeds at all of them.
    ///
    /// - feed: so many rows
    fn sample_size<P: Monitored + Omnibus>(
        &self,
        name: &str,
        sets: usize,
        [mut low, mut high]: [usize; 2],
        feed: impl Fn(usize, &mut StdRng) -> Stream<P>,
    ) {
        if !self.has(name) {
            return;
        }
        let (start, sets) = (Instant::now(), self.streams(sets));
        let power = |rows: usize| {
            let is_found = |seed: &u64| {
                let rng = &mut StdRng::seed_from_u64(*seed);
                let (p, y) = feed(rows, rng).rows;
                let outcome = OmnibusTest::new().outcome(&p, &y, rng);
                outcome.expect("valid rows").p_value <= 0.05
            };
            let power = (0..sets).filter(is_found).count() as f64 / sets as f64;
            println!("{name}: {rows} rows, power {power:.3}");
            power
        };
        while high - low > high / 33 {
            let middle = low.midpoint(high);
            if power(middle) < 0.9 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let time = start.elapsed();
        println!("{name}: {sets} sets, 90 % power at {high} rows; {time:.1?}");
    }

    /// The median row of the alarm, and the rows at which the score test has a power of 90 %.
    fn delay<P: Monitored>(
        &self,
        name: &str,
        streams: usize,
        feed: impl Fn(&mut StdRng) -> Stream<P>,
    ) {
        if !self.has(name) {
            return;
        }
        let (start, streams) = (Instant::now(), self.streams(streams));
        let (mut delays, mut rejected) = (Vec::new(), Vec::<u64>::new());
        for seed in 0..streams {
            let mut monitor = CalibrationMonitor::new(0.05).expect("a level");
            let Stream {
                rows: (p, y),
                scores,
            } = feed(&mut StdRng::seed_from_u64(seed));
            monitor.update(&p, &y).expect("valid rows");
            delays.push(monitor.state().alarm_at.map_or(u64::MAX, |row| row + 1));
            rejected.resize(scores.len(), 0);
            let (mut sum, mut variance) = (0.0, 0.0);
            for (count, [score, its]) in rejected.iter_mut().zip(scores) {
                sum += score;
                variance += its;
                *count += u64::from(sum.abs() > 1.959964 * variance.sqrt());
            }
        }
        delays.sort_unstable();
        let weak = rejected
            .iter()
            .rposition(|count| (*count as f64) < 0.9 * streams as f64);
        let quantile = |q: f64| delays[((streams - 1) as f64 * q) as usize];
        println!(
            "{name}: {streams} streams, alarm after {} rows in the median, {} at 90 %; the single test has 90 % power at {}; {:.1?}",
            quantile(0.5),
            quantile(0.9),
            weak.map_or(1, |at| at + 2),
            start.elapsed()
        );
    }
}
