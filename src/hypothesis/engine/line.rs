use super::{EachSet, Evaluator};
use crate::{
    distribution::{Categorical, Flip, LabelSets},
    estimator::{Mmce, MmceForm},
    ops::Line,
};

/// The MMCE of a valid bandwidth: a Laplacian kernel on the confidences, which are sorted once.
pub fn confidence_kernel(
    mmce: &Mmce,
    predictions: &Categorical,
) -> impl Evaluator<LabelSets> + use<> {
    let (form, rows) = (mmce.form, predictions.rows());
    let confidences: Vec<f64> = (0..rows.samples()).map(|i| rows.confidence(i)).collect();
    let line = Line::new(&confidences, mmce.bandwidth);
    EachSet(move |flips: &[Flip]| {
        let (n, wrong) = (confidences.len() as f64, flips.len() as f64);
        let (of_right, of_wrong) = match form {
            MmceForm::Weighted => ((n - wrong).recip(), wrong.recip()),
            _ => (1.0, 1.0),
        };
        let of_right = |confidence| (1.0 - confidence) * of_right; // c − r
        let mut residuals: Vec<f64> = confidences.iter().map(of_right).collect();
        for flip in flips {
            let i = flip.sample as usize;
            residuals[i] = -confidences[i] * of_wrong;
        }
        let total = line.form(&residuals);
        match form {
            MmceForm::Weighted => total,
            MmceForm::Unweighted => total / (n * n),
            MmceForm::Unbiased => {
                let diagonal: f64 = residuals.iter().map(|a| a * a).sum();
                (total - diagonal) / (n * (n - 1.0))
            }
        }
    })
}
