//! The coverage of forecasts by quantiles: tables of levels and of central intervals.

use std::{fmt, ops::Not};

use burn_calibration::{
    estimator::regression::QuantileCoverage,
    numbers::{percent, significant},
    score::{Interval, MeanEstimate},
};
use serde::Serialize;

use crate::{table::TextTable, words::probability};

/// The coverage of the quantiles at each level, and of the central intervals.
#[derive(Serialize)]
pub struct Coverage {
    pub levels: Vec<LevelCoverage>,
    pub central_intervals: Vec<LevelCoverage>,
}

/// The coverage of the quantiles at one level, or of a central interval.
#[derive(Serialize)]
pub struct LevelCoverage {
    #[serde(flatten)]
    pub coverage: QuantileCoverage,
    /// Whether the p-value is a bound, the least that a test reports.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_bound: bool,
    pub interval: Interval,
    /// The pinball score of a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinball: Option<MeanEstimate>,
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = format!("{} % interval", 100.0 * self.levels[0].interval.level);
        let columns = ["below", "at most", &interval, "p-value", "pinball"];
        let mut table = TextTable::new(&columns);
        for level in &self.levels {
            let title = format!("level {}", level.coverage.level);
            table.row(&title, &level.cells(), "");
        }
        write!(f, "\ncoverage of quantiles\n{table}")?;
        if self.central_intervals.is_empty() {
            return Ok(());
        }
        let mut table = TextTable::new(&["open", "closed", &interval, "p-value"]);
        for interval in &self.central_intervals {
            let title = format!("{} %", (1e9 * interval.coverage.expected).round() / 1e7);
            table.row(&title, &interval.cells(), "");
        }
        write!(f, "\ncoverage of central intervals\n{table}")
    }
}

impl LevelCoverage {
    fn cells(&self) -> Vec<String> {
        let share = |share| percent(share, 1);
        let (coverage, interval) = (&self.coverage, &self.interval);
        let mut cells = vec![
            share(coverage.inside),
            share(coverage.covered),
            format!("[{}, {}]", share(interval.lower), share(interval.upper)),
            probability(coverage.p_value, self.is_bound),
        ];
        cells.extend(self.pinball.map(|pinball| significant(pinball.estimate, 4)));
        cells
    }
}
