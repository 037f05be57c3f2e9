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

impl Evaluator<Categorical> for LeastLikelyLabel {
    /// Where the sample of the least confidence is flipped, its label is less likely still: the minimum over
    /// the most likely classes of all samples does no harm.
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

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor};
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::distribution::{Predictive, Redrawn};

    #[test]
    fn agrees_with_the_definition() {
        let p = [
            [0.5, 0.3, 0.2],
            [0.1, 0.8, 0.1],
            [0.0, 0.4, 0.6],
            [0.36, 0.32, 0.32],
        ];
        let rows = Tensor::from_floats(p, &Device::default());
        let predictions = Categorical::from_probabilities(rows).unwrap();
        let least = LeastLikelyLabel::new(&predictions);
        let sets = (predictions.redrawer().draw)(200, &mut StdRng::seed_from_u64(3));
        let values = least.values(&sets).unwrap();
        for (set, value) in values.into_iter().enumerate() {
            let labels = sets.set(set);
            let of_label = |(p, &y): (&[f64; 3], &usize)| p[y];
            let expected = p.iter().zip(&labels).map(of_label).fold(1.0, f64::min);
            assert!((value + expected.ln()).abs() < 1e-6, "{labels:?}");
            let one = predictions.as_redrawn(&labels);
            let row = least.details(&one).unwrap()[0].row.unwrap();
            assert_eq!(p[row][labels[row]], expected);
        }
        let impossible = predictions.as_redrawn(&vec![0; 4]);
        assert_eq!(least.values(&impossible).unwrap(), [f64::INFINITY]);
        assert_eq!(least.details(&impossible).unwrap()[0].row, Some(2));
    }
}
