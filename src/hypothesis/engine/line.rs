use super::{EachSet, Evaluator};
use crate::{
    distribution::{Categorical, Flip, LabelSets, Weighted as _},
    estimator::{Mmce, MmceForm},
    ops::Line,
};

/// The MMCE of a valid bandwidth: a Laplacian kernel on the confidences, which are sorted once.
pub fn confidence_kernel(
    mmce: &Mmce,
    predictions: &Categorical,
) -> impl Evaluator<LabelSets> + use<> {
    let (predictions, weights) = predictions.parted();
    let (form, rows) = (mmce.form, predictions.rows());
    let confidences: Vec<f64> = (0..rows.samples()).map(|i| rows.confidence(i)).collect();
    let line = Line::new(&confidences, mmce.bandwidth);
    let n = confidences.len();
    let (total, pairs) = (weights.total(n), weights.pairs(n));
    EachSet(move |flips: &[Flip]| {
        let wrong: f64 = flips
            .iter()
            .map(|flip| weights.at(flip.sample as usize))
            .sum();
        let (of_right, of_wrong) = match form {
            MmceForm::Weighted => ((total - wrong).recip(), wrong.recip()),
            _ => (1.0, 1.0),
        };
        let of_right = |(confidence, w): (&f64, f64)| w * ((1.0 - confidence) * of_right); // c − r
        let all = confidences.iter().zip(weights.all(confidences.len()));
        let mut residuals: Vec<f64> = all.map(of_right).collect();
        for flip in flips {
            let i = flip.sample as usize;
            residuals[i] = weights.at(i) * (-confidences[i] * of_wrong);
        }
        let sum = line.form(&residuals);
        match form {
            MmceForm::Weighted => sum,
            MmceForm::Unweighted => sum / (total * total),
            MmceForm::Unbiased => {
                let diagonal: f64 = residuals.iter().map(|a| a * a).sum();
                (sum - diagonal) / pairs
            }
        }
    })
}
