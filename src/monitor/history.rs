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

/// Adds a row to a history. While there are at most 512 rows, each has its point. When there is no place for another
/// point, each two neighbours become one. So no maximum and no alarm is lost.
pub(super) fn add(history: &mut Vec<HistoryPoint>, row: HistoryPoint) {
    // a power of two, so that MOST points reach beyond this row
    let stride = (row.row / MOST as u64 + 1).next_power_of_two();
    let is_first = |point: &HistoryPoint| point.row.is_multiple_of(stride);
    match history.last_mut() {
        Some(last) if !is_first(&row) => last.join(&row),
        _ => {
            if history.len() >= MOST {
                history.dedup_by(|next, last| {
                    let is_second = !is_first(next);
                    if is_second {
                        last.join(next);
                    }
                    is_second
                });
            }
            history.push(row);
        }
    }
}

impl HistoryPoint {
    fn join(&mut self, next: &Self) {
        self.wealth = self.wealth.max(next.wealth);
        self.detector = self.detector.max(next.detector);
        self.alarms += next.alarms;
    }
}
