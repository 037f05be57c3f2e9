use std::sync::Arc;

use super::Evaluator;
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets},
    error::Result,
    estimator::{Mmce, MmceForm},
    ops::Line,
};

/// The MMCE: a Laplacian kernel on the confidences, which are sorted once.
pub struct ConfidenceKernel {
    form: MmceForm,
    rows: Arc<ClassRows>,
    line: Line,
}

impl ConfidenceKernel {
    /// Builds the sums for a valid bandwidth.
    pub fn new(mmce: &Mmce, predictions: &Categorical) -> Self {
        let rows = predictions.rows();
        let confidences: Vec<f64> = (0..rows.samples()).map(|i| rows.confidence(i)).collect();
        Self {
            form: mmce.form,
            line: Line::new(&confidences, mmce.bandwidth).expect("finite confidences"),
            rows,
        }
    }

    fn of(&self, flips: &[Flip]) -> f64 {
        let (n, wrong) = (self.rows.samples() as f64, flips.len() as f64);
        let (of_right, of_wrong) = match self.form {
            MmceForm::Weighted => ((n - wrong).recip(), wrong.recip()),
            _ => (1.0, 1.0),
        };
        let confidence = |i: usize| self.rows.confidence(i);
        let mut residuals: Vec<f64> = (0..self.rows.samples())
            .map(|i| (1.0 - confidence(i)) * of_right) // c − r
            .collect();
        for flip in flips {
            let i = flip.sample as usize;
            residuals[i] = -confidence(i) * of_wrong;
        }
        let total = self.line.form(&residuals);
        match self.form {
            MmceForm::Weighted => total,
            MmceForm::Unweighted => total / (n * n),
            MmceForm::Unbiased => {
                let diagonal: f64 = residuals.iter().map(|a| a * a).sum();
                (total - diagonal) / (n * (n - 1.0))
            }
        }
    }
}

impl Evaluator<Categorical> for ConfidenceKernel {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| self.of(flips)))
    }
}
