use std::sync::Arc;

use super::{Detail, Evaluator, p_value_of_count, p_value_of_sum};
use crate::{
    distribution::{
        Categorical, ClassRows, Flip, LabelSets, Moments, Redrawn, Weighted as _, Weights,
    },
    error::Result,
    parallel,
};

/// Sums over samples whose mean and variance given the predictions are known: of the confidence, the
/// Brier score, the log score, and of each class.
///
/// For a value `v_i(y)` of sample `i` with label `y`, the sum `Σ_i v_i(y_i) − E[v_i(Y_i)]` changes by
/// `v_i(y) − v_i(top_i)` for each label that is not the most likely class.
pub struct SampleSums {
    rows: Arc<ClassRows>,
    /// Mean deviations from the expectations where all labels are the most likely class.
    base: Vec<f64>,
    /// The standard deviations of the means, given the predictions.
    pub deviations: Vec<f64>,
    weights: Weights,
    /// The sum of the weights.
    total: f64,
}

/// The mean confidence minus the accuracy.
pub const CONFIDENCE: usize = 0;
/// The mean Brier score minus its expectation.
pub const BRIER: usize = 1;
/// The mean log score minus its expectation.
pub const LOG: usize = 2;
/// The mean probability of class 0 less its frequency; those of the others follow.
pub const CLASSES: usize = 3;

impl SampleSums {
    pub fn new(predictions: &Categorical) -> Self {
        let (predictions, weights) = predictions.parted();
        let rows = predictions.rows();
        let (n, width) = (rows.samples(), CLASSES + rows.classes);
        let [base, variance] = parallel::sums(n, width, |i, [base, variance]| {
            let (w, p) = (weights.at(i), rows.row(i));
            let square = w * w;
            let ln: Vec<f64> = p.iter().map(|p| p.ln()).collect();
            let (top, r, wrong) = (
                rows.top[i] as usize,
                rows.confidence(i),
                rows.error_probability[i],
            );
            base[CONFIDENCE] -= w * wrong;
            variance[CONFIDENCE] += square * (r * wrong);
            // S = 1 − 2 p_y + ‖p‖²
            let of_probability = moments(p, p);
            base[BRIER] += w * (2.0 * (of_probability.mean - p[top]));
            variance[BRIER] += square * (4.0 * of_probability.variance);
            let of_logarithm = moments(p, &ln);
            base[LOG] += w * (of_logarithm.mean - ln[top]);
            variance[LOG] += square * of_logarithm.variance;
            for (c, &p) in p.iter().enumerate() {
                base[CLASSES + c] += w * if c == top { -wrong } else { p };
                let spread = if c == top { r * wrong } else { p * (1.0 - p) };
                variance[CLASSES + c] += square * spread;
            }
        });
        let total = weights.total(n);
        Self {
            base: base.iter().map(|sum| sum / total).collect(),
            deviations: variance.iter().map(|v| v.sqrt() / total).collect(),
            rows,
            weights,
            total,
        }
    }

    /// `Σ_i (v_i(y_i) − E v_i(Y_i))²` of each value.
    fn squares(&self, labels: &[usize]) -> Vec<f64> {
        let rows = &self.rows;
        let [squares] = parallel::sums(rows.samples(), self.width(), |i, [squares]| {
            let (p, y) = (rows.row(i), labels[i]);
            let w = self.weights.at(i).powi(2);
            let ln: Vec<f64> = p.iter().map(|p| p.ln()).collect();
            let (top, wrong) = (rows.top[i] as usize, rows.error_probability[i]);
            let gap = |c: usize| match (c == top, c == y) {
                (true, true) => wrong,
                (false, true) => 1.0 - p[c],
                _ => p[c],
            };
            squares[CONFIDENCE] += w * gap(top).powi(2);
            squares[BRIER] += w * (4.0 * (p[y] - moments(p, p).mean).powi(2));
            squares[LOG] += w * (ln[y] - moments(p, &ln).mean).powi(2);
            for c in 0..p.len() {
                squares[CLASSES + c] += w * gap(c).powi(2);
            }
        });
        squares
    }

    /// Adds what the labels that differ change in the sums.
    fn add(&self, changes: &mut [f64], flips: &[Flip]) {
        let mut ratios = 1.0; // a product, of which one logarithm is taken
        let (rows, are_weighted) = (&self.rows, self.weights.are_given());
        rows.for_each_flip(flips, |Flip { sample, class }, [of_top, of_class]| {
            let w = self.weights.at(sample as usize);
            changes[CONFIDENCE] += w;
            changes[BRIER] += w * (2.0 * (of_top - of_class));
            let ratio = of_top / of_class;
            if are_weighted || ratio > LARGE {
                changes[LOG] += w * (of_top.ln() - of_class.ln());
            } else {
                ratios *= ratio;
            }
            if ratios > LARGE {
                changes[LOG] += f64::ln(ratios);
                ratios = 1.0;
            }
            changes[CLASSES + rows.top[sample as usize] as usize] += w;
            changes[CLASSES + class as usize] -= w;
        });
        changes[LOG] += ratios.ln();
    }
}

/// The product of two numbers up to this is finite.
const LARGE: f64 = 1e150;

/// Mean and variance of `v_y` for a label `y ∼ p`; classes of probability 0 do not count.
fn moments(p: &[f64], v: &[f64]) -> Moments {
    let terms = || p.iter().zip(v).filter(|(p, _)| **p > 0.0);
    let total: f64 = p.iter().sum();
    let mean = terms().map(|(p, v)| p * v).sum::<f64>() / total;
    let variance = terms()
        .map(|(p, v)| p * (v - mean) * (v - mean))
        .sum::<f64>()
        / total;
    Moments { mean, variance }
}

impl Evaluator<LabelSets> for SampleSums {
    fn width(&self) -> usize {
        self.base.len()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        assert_eq!(sets.reference(), &self.rows.top, "the most likely classes");
        assert!(!sets.is_empty(), "one set or more");
        let n = self.total;
        let zeros = vec![0.0; self.width()];
        let changes = sets.sweep(&zeros, zeros.len(), |sums, flips| self.add(sums, flips));
        let bases = self.base.iter().cycle();
        let means = changes.iter().flatten().zip(bases);
        Ok(means.map(|(change, base)| base + change / n).collect())
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let n = self.total;
        let (means, squares) = (self.values(data)?, self.squares(&data.set(0)));
        let numbers = means.iter().zip(&self.deviations).zip(squares);
        let mut p_values: Vec<f64> = numbers
            .map(|((mean, deviation), squares)| {
                p_value_of_sum(n * mean, (n * deviation).powi(2), squares)
            })
            .collect();
        if !self.weights.are_given() {
            let (wrong, expected) = (data.flips(0).len() as f64, self.rows.expected_errors());
            let of_count = p_value_of_count(wrong, expected, self.rows.samples() as f64);
            p_values[CONFIDENCE] = p_values[CONFIDENCE].min(of_count);
        }
        let detail = |least_p_value| Detail {
            least_p_value,
            ..Detail::default()
        };
        Ok(p_values.into_iter().map(detail).collect())
    }
}
