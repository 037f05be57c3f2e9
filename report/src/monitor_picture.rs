//! The pictures of a monitor: its wealth and its detector over the rows.

use maud::Markup;

use super::{
    drawn::Drawn,
    frame::{Frame, plot_under},
    number::{counted, power_of_ten, short, significant, whole},
    svg::{Paint, Pen, line, mark, text},
    table,
};
use burn_calibration::monitor::{CalibrationMonitor, HistoryPoint};

/// A quantity over the rows, on an axis of powers of ten.
struct Curve {
    name: &'static str,
    /// The level of an alarm.
    level: f64,
    /// The first row of each point, and the largest value from there to the next point.
    values: Vec<(u64, f64)>,
    /// The rows of alarms, or of points with alarms.
    alarms: Vec<u64>,
    rows: u64,
    /// Smaller powers of ten are drawn as this one.
    least: f64,
}

/// The wealth over the rows, with the level of the test and its alarm.
pub(super) fn wealth(monitor: &CalibrationMonitor) -> Drawn {
    let state = monitor.state();
    Curve {
        name: "wealth",
        level: 1.0 / state.alpha,
        values: values(monitor, |point| point.wealth),
        alarms: state.alarm_at.into_iter().collect(),
        rows: state.rows,
        least: -4.0,
    }
    .drawn()
}

/// The detector over the rows, with the level and the alarms of it.
pub(super) fn detector(monitor: &CalibrationMonitor) -> Drawn {
    let state = monitor.state();
    let alarms = monitor
        .state()
        .history
        .iter()
        .filter(|point| point.alarms > 0);
    Curve {
        name: "detector",
        level: state.rows_between_alarms,
        values: values(monitor, |point| point.detector),
        alarms: alarms.map(|point| point.row).collect(),
        rows: state.rows,
        least: 0.0,
    }
    .drawn()
}

fn values(monitor: &CalibrationMonitor, of: impl Fn(&HistoryPoint) -> f64) -> Vec<(u64, f64)> {
    let points = monitor.state().history.iter();
    points.map(|point| (point.row, of(point))).collect()
}

/// The numbers of both pictures as a table.
pub(super) fn numbers(monitor: &CalibrationMonitor) -> Markup {
    let row = |point: &HistoryPoint| {
        let [wealth, detector] = [point.wealth, point.detector].map(significant);
        let [row, alarms] = [point.row, point.alarms].map(|count| whole(count as usize));
        vec![row, wealth, detector, alarms]
    };
    table::picture_table(
        "The largest wealth and the largest value of the detector from this row to the next one of the table, and the \
         number of alarms of the detector",
        &["row", "wealth", "detector", "alarms"],
        monitor.state().history.iter().map(row),
    )
}

impl Curve {
    fn drawn(&self) -> Drawn {
        let rows = counted(self.rows as usize, "row");
        let heading = format!("{}, {rows}", self.name);
        Drawn {
            picture: plot_under(250.0, &heading, ("row", self.name), |frame| {
                self.plot(frame)
            }),
            title: format!("The {} over {rows}", self.name),
            description: self.description(),
        }
    }

    /// Describes the picture in words.
    fn description(&self) -> String {
        let rows: Vec<String> = self.alarms.iter().map(|row| whole(*row as usize)).collect();
        let alarms = if rows.is_empty() {
            "no alarm".into()
        } else {
            format!("alarms at or after row {}", rows.join(", "))
        };
        let level = significant(self.level);
        let mut text = format!(
            "The largest {} from each row to the next one here. An alarm is at {level}: {alarms}.",
            self.name
        );
        for (row, value) in &self.values {
            let row = whole(*row as usize);
            text += &format!(" From row {row}: {}.", significant(*value));
        }
        text
    }

    fn plot(&self, frame: &Frame) -> Vec<Markup> {
        let finite = self.values.iter().map(|(_, value)| value.log10());
        let finite = finite.filter(|power| power.is_finite());
        let level = self.level.log10();
        let bottom = finite.clone().fold(0.0, f64::min).max(self.least).floor();
        let top = finite.fold(level, f64::max) + 0.5;
        let last = self.rows.saturating_sub(1).max(1) as f64;
        let place = |row: u64, power: f64| {
            let height = (power - bottom) / (top - bottom);
            (row as f64 / last, height.clamp(0.0, 1.0))
        };
        let at = |row, power| {
            let (x, y) = place(row, power);
            frame.at(x, y)
        };
        let grid = |ends: [(f64, f64); 2]| frame.line(&ends, Paint::GRID, 0.05);
        let powers = ticks(bottom, top).map(|power| (place(0, power).1, power));
        let rows = ticks(0.0, last).map(|row| (row / last, row));
        let mut shapes = vec![frame.paper()];
        shapes.extend((powers.clone()).map(|(y, _)| grid([(0.0, y), (1.0, y)])));
        shapes.extend((rows.clone()).map(|(x, _)| grid([(x, 0.0), (x, 1.0)])));
        let height = place(0, level).1;
        shapes.push(frame.dashed((0.0, height), (1.0, height)));
        let points: Vec<_> = (self.values.iter())
            .map(|(row, value)| at(*row, value.log10()))
            .collect();
        shapes.push(line(&points, Pen::solid(Paint::INK, 0.1 * frame.font)));
        shapes.push(frame.border());
        let alarm = |row: &u64| mark(at(*row, level), 0.3 * frame.font, false, frame.font);
        shapes.extend(self.alarms.iter().map(alarm));
        shapes.extend(powers.map(|(y, power)| frame.name_left(y, &power_of_ten(power as i32))));
        shapes.extend(rows.map(|(x, row)| {
            let (x, y) = frame.at(x, 0.0);
            let name = short(row as usize);
            text((x, y + frame.font), &name, frame.font, "middle")
        }));
        shapes
    }
}

/// The multiples of 1, 2 or 5 times a power of ten, at least 1, between two numbers: at most seven.
fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> + Clone {
    let span = high - low;
    let power = 10f64.powf(span.log10().floor() - 1.0).max(1.0);
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| span / step < 6.0);
    let step = step.unwrap_or(20.0 * power).round();
    let first = (low / step).ceil();
    (0..7)
        .map(move |k| (first + f64::from(k)) * step)
        .filter(move |tick| *tick <= high)
}
