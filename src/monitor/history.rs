use serde::{Deserialize, Serialize};

use super::exact;

/// Some rows that follow each other, in the history of a [`CalibrationMonitor`](super::CalibrationMonitor).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPoint {
    /// The first of the rows.
    pub row: u64,
    /// The largest wealth after these rows.
    #[serde(with = "exact")]
    pub wealth: f64,
    /// The largest value of the detector after these rows, before it starts again.
    #[serde(with = "exact")]
    pub detector: f64,
    /// The number of alarms of the detector.
    pub alarms: u64,
}

/// The largest number of points.
const MOST: usize = 512;

/// Adds a row to a history, or joins it to the last point. All points are of the same power of two of rows, so many that
/// 512 points reach beyond this row. No maximum and no alarm is lost.
pub(super) fn add(history: &mut Vec<HistoryPoint>, mut row: HistoryPoint) {
    let stride = (row.row / MOST as u64 + 1).next_power_of_two();
    let join = |next: &mut HistoryPoint, last: &mut HistoryPoint| {
        let is_same = next.row / stride == last.row / stride;
        if is_same {
            last.wealth = last.wealth.max(next.wealth);
            last.detector = last.detector.max(next.detector);
            last.alarms += next.alarms;
        }
        is_same
    };
    let last = history.last_mut();
    if !last.is_some_and(|last| join(&mut row, last)) {
        history.push(row);
    }
    if history.len() > MOST {
        history.dedup_by(join);
    }
}
