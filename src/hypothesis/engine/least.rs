use std::sync::Arc;

use super::{Detail, Evaluator};
use crate::{
    distribution::{Categorical, ClassRows, LabelSets},
    error::Result,
};

/// The label that was the least likely: `−ln min_i p_{i,y_i}`.
pub struct LeastLikelyLabel {
    rows: Arc<ClassRows>,
    /// The least probability of a most likely class.
    top: f64,
}

impl LeastLikelyLabel {
    pub fn new(predictions: &Categorical) -> Self {
        let rows = predictions.rows();
        let confidences = (0..rows.samples()).map(|i| rows.confidence(i));
        let top = confidences.fold(1.0, f64::min);
        Self { rows, top }
    }
}

impl Evaluator<LabelSets> for LeastLikelyLabel {
    /// Where the sample of the smallest confidence is flipped, its label is less likely still: the minimum
    /// over the most likely classes of all samples does no harm.
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| {
            let mut least = self.top;
            (self.rows).for_each_flip(flips, |_, [_, of_class]| least = least.min(of_class));
            -least.ln()
        }))
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let mut labels = self.rows.top.to_vec();
        for flip in data.flips(0) {
            labels[flip.sample as usize] = flip.class;
        }
        let of_label = |&i: &usize| self.rows.probability(i, labels[i]);
        let row = (0..labels.len()).min_by(|i, j| of_label(i).total_cmp(&of_label(j)));
        Ok(vec![Detail {
            row,
            ..Detail::default()
        }])
    }
}
