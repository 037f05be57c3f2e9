//! Weights of the rows.

use serde::Serialize;

use super::Files;
use crate::{
    clipped,
    error::{Context, Result, wrong},
};

/// The weights of the rows, with their effective sample size.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RowWeights {
    /// The weights, all positive.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// Their sum.
    pub sum: f64,
    /// The effective number of rows, `(Σw)²/Σw²`.
    pub effective_n: f64,
    /// The rows of weight 0, which are left out; none where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero: Option<usize>,
}

impl Files {
    /// Takes the weights of the rows, and leaves out rows of weight 0.
    pub(super) fn weigh(&mut self) -> Result<()> {
        let first = &self.sets[0];
        let (file, column) = match (&self.weights, &first.table.weights) {
            (Some(file), _) => {
                let [column] = &file.table.labels[..] else {
                    let columns = file.table.labels.len();
                    return Err(wrong!("{columns} columns, expected one weight per row"))
                        .of(&file.path);
                };
                (file, column)
            }
            (None, Some(column)) => (first, column),
            (None, None) => return Ok(()),
        };
        let weight = |(row, cell): (usize, &str)| {
            let weight = cell.parse().ok();
            let weight = weight.filter(|w: &f64| w.is_finite() && *w >= 0.0);
            weight.ok_or_else(|| {
                let cell = clipped(cell);
                wrong!("the weight is {cell}, expected a finite number of at least 0").at_row(row)
            })
        };
        let values: Result<Vec<f64>> = column.cells.iter().enumerate().map(weight).collect();
        let mut values = values.on(&file.path, &file.table.lines)?;
        let n = values.len();
        let kept: Vec<usize> = (0..n).filter(|&row| values[row] > 0.0).collect();
        if kept.is_empty() {
            return Err(wrong!("all weights are 0, expected a positive one")).of(&file.path);
        }
        let largest = values.iter().copied().fold(0.0, f64::max);
        let sum: f64 = values.iter().map(|w| w / largest).sum();
        if !(sum * largest).is_finite() {
            return Err(wrong!(
                "the weights sum to more than 1.8e308, expected smaller ones: only ratios count"
            ))
            .of(&file.path);
        }
        if kept.len() < n {
            self.all_mut().for_each(|file| file.table.select(&kept));
            values.retain(|weight| *weight > 0.0);
        }
        let squares: f64 = values.iter().map(|w| (w / largest).powi(2)).sum();
        self.row_weights = Some(RowWeights {
            sum: sum * largest,
            effective_n: sum * sum / squares,
            zero: Some(n - kept.len()),
            values,
        });
        Ok(())
    }
}
