//! Weights of the samples.

use burn::tensor::{DType, Tensor, TensorData};
use burn_calibration::distribution::Predictive;
use serde::Serialize;

use super::Files;
use crate::{
    error::{Context, Result, wrong},
    input::clipped,
};

/// Weights of the samples, and what they are worth.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SampleWeights {
    #[serde(skip)]
    values: Vec<f64>,
    /// Their sum.
    pub sum: f64,
    /// The effective number of samples, `(Σw)²/Σw²`.
    pub effective_n: f64,
    /// The rows of weight 0, which are left out; not known of merged pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero: Option<usize>,
}

impl SampleWeights {
    /// Weights of samples that were summed up.
    pub fn of_sums(sum: f64, effective_n: f64) -> Self {
        Self {
            sum,
            effective_n,
            ..Self::default()
        }
    }

    /// The weights, all positive.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The predictions with their weights, if there are any.
    pub fn on<P: Predictive>(of: &Option<Self>, predictions: P, targets: &P::Targets) -> Result<P> {
        let Some(weights) = of else {
            return Ok(predictions);
        };
        let data = TensorData::new(weights.values.clone(), [weights.values.len()]);
        let dtype = match predictions.dtype() {
            DType::F64 => DType::F64,
            _ => DType::F32,
        };
        let weights = Tensor::from_data(data, (&predictions.device(), dtype));
        Ok(predictions.weighted(&weights, targets)?.0)
    }
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
        self.samples = Some(SampleWeights {
            sum: sum * largest,
            effective_n: sum * sum / squares,
            zero: Some(n - kept.len()),
            values,
        });
        Ok(())
    }
}
