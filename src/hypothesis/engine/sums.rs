use std::sync::Arc;

use rayon::prelude::*;

use super::{Evaluator, PART, add_all};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets, Redrawn},
    error::Result,
};

/// Sums over samples whose mean and variance given the predictions are known: of the confidence, the
/// Brier score, the log score, and of each class.
///
/// For a value `v_i(y)` of sample `i` with label `y`, the sum `Σ_i v_i(y_i) − E[v_i(Y_i)]` changes by
/// `v_i(y) − v_i(top_i)` for each label that is not the most likely class.
pub struct Sums {
    rows: Arc<ClassRows>,
    /// Where all labels are the most likely class: mean deviations from the expectations.
    base: Vec<f64>,
    /// The standard deviations of the means, given the predictions.
    pub deviations: Vec<f64>,
}

/// The mean confidence less the accuracy.
pub const CONFIDENCE: usize = 0;
/// The mean Brier score less its expectation.
pub const BRIER: usize = 1;
/// The mean log score less its expectation.
pub const LOG: usize = 2;
/// The mean probability of class 0 less its frequency; those of the others follow.
pub const CLASSES: usize = 3;

impl Sums {
    pub fn new(predictions: &Categorical) -> Self {
        let rows = predictions.rows();
        let (n, width) = (rows.samples(), CLASSES + rows.classes);
        let part = |first: usize| {
            let (mut base, mut variance) = (vec![0.0; width], vec![0.0; width]);
            let mut ln = vec![0.0; rows.classes];
            for i in first..n.min(first + PART) {
                let p = rows.row(i);
                ln.iter_mut().zip(p).for_each(|(ln, p)| *ln = p.ln());
                let (top, r, doubt) = (rows.top[i] as usize, rows.confidence(i), rows.doubt[i]);
                base[CONFIDENCE] -= doubt;
                variance[CONFIDENCE] += r * doubt;
                // S = 1 − 2 p_y + ‖p‖²
                let (mean, spread) = moments(p, p);
                base[BRIER] += 2.0 * (mean - p[top]);
                variance[BRIER] += 4.0 * spread;
                let (mean, spread) = moments(p, &ln);
                base[LOG] += mean - ln[top];
                variance[LOG] += spread;
                for (c, &p) in p.iter().enumerate() {
                    base[CLASSES + c] += match c == top {
                        true => -doubt,
                        false => p,
                    };
                    variance[CLASSES + c] += match c == top {
                        true => r * doubt,
                        false => p * (1.0 - p),
                    };
                }
            }
            [base, variance]
        };
        let firsts: Vec<usize> = (0..n).step_by(PART).collect();
        let parts: Vec<[Vec<f64>; 2]> = firsts.into_par_iter().map(part).collect();
        let mut sums = [vec![0.0; width], vec![0.0; width]];
        for part in &parts {
            for (sums, part) in sums.iter_mut().zip(part) {
                add_all(sums, part);
            }
        }
        let [base, variance] = sums;
        Self {
            base: base.iter().map(|sum| sum / n as f64).collect(),
            deviations: variance.iter().map(|v| v.sqrt() / n as f64).collect(),
            rows,
        }
    }

    /// Adds what the labels that differ change in the sums.
    fn add(&self, changes: &mut [f64], flips: &[Flip]) {
        let mut ratios = 1.0; // a product, of which one logarithm is taken
        let rows = &self.rows;
        rows.for_each_flip(flips, |Flip { sample, class }, [of_top, of_class]| {
            changes[CONFIDENCE] += 1.0;
            changes[BRIER] += 2.0 * (of_top - of_class);
            match of_top / of_class {
                ratio if ratio > LARGE => changes[LOG] += of_top.ln() - of_class.ln(),
                ratio => ratios *= ratio,
            }
            if ratios > LARGE {
                changes[LOG] += f64::ln(ratios);
                ratios = 1.0;
            }
            changes[CLASSES + rows.top[sample as usize] as usize] += 1.0;
            changes[CLASSES + class as usize] -= 1.0;
        });
        changes[LOG] += ratios.ln();
    }
}

/// The product of two numbers up to this is finite.
const LARGE: f64 = 1e150;

/// Mean and variance of `v_y` for a label `y ∼ p`; classes of probability 0 do not count.
fn moments(p: &[f64], v: &[f64]) -> (f64, f64) {
    let terms = || p.iter().zip(v).filter(|(p, _)| **p > 0.0);
    let total: f64 = p.iter().sum();
    let mean = terms().map(|(p, v)| p * v).sum::<f64>() / total;
    let variance = terms()
        .map(|(p, v)| p * (v - mean) * (v - mean))
        .sum::<f64>()
        / total;
    (mean, variance)
}

impl Evaluator<Categorical> for Sums {
    fn width(&self) -> usize {
        self.base.len()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        debug_assert_eq!(sets.reference(), &self.rows.top);
        debug_assert!(sets.len() > 0);
        let n = self.rows.samples() as f64;
        let zeros = vec![0.0; self.width()];
        let changes = sets.sweep(&zeros, zeros.len(), |sums, flips| self.add(sums, flips));
        let bases = self.base.iter().cycle();
        let means = changes.iter().flatten().zip(bases);
        Ok(means.map(|(change, base)| base + change / n).collect())
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, Tensor, TensorData};

    use super::*;
    use crate::distribution::Predictive;

    const ROWS: [[f64; 3]; 4] = [
        [0.2, 0.7, 0.1],
        [0.0, 0.4, 0.6],
        [0.5, 0.0, 0.5],
        [0.0, 0.0, 1.0],
    ];

    fn predictions() -> Categorical {
        let rows = TensorData::new(ROWS.concat(), [4, 3]);
        let rows = Tensor::<2>::from_data(rows, (&Device::default(), DType::F64));
        Categorical::from_probabilities(rows).unwrap()
    }

    /// The means of the definitions, of labels with a value for each class.
    fn by_definition(labels: &[usize]) -> Vec<f64> {
        let mean = |value: &dyn Fn(&[f64; 3], usize) -> f64| {
            let of_sample = |(p, &y): (&[f64; 3], &usize)| {
                let expected = (0..3).filter(|&c| p[c] > 0.0).map(|c| p[c] * value(p, c));
                value(p, y) - expected.sum::<f64>()
            };
            ROWS.iter().zip(labels).map(of_sample).sum::<f64>() / 4.0
        };
        let first = |p: &[f64; 3]| (0..3).fold(0, |top, c| if p[c] > p[top] { c } else { top });
        let mut means = vec![
            mean(&|p, y| f64::from(y != first(p))),
            mean(&|p, y| {
                let gap = |c: usize| p[c] - f64::from(c == y);
                (0..3).map(|c| gap(c) * gap(c)).sum()
            }),
            mean(&|p, y| -p[y].ln()),
        ];
        means.extend((0..3).map(|c| mean(&|_, y| -f64::from(c == y))));
        means
    }

    /// Ratios of probabilities whose products, or which themselves, are beyond the largest number.
    #[test]
    fn labels_that_are_hardly_possible() {
        for tiny in [1e-140_f64, 1e-160, 5e-324] {
            let rows = TensorData::new([tiny, 1.0 - tiny].repeat(50), [50, 2]);
            let rows = Tensor::<2>::from_data(rows, (&Device::default(), DType::F64));
            let predictions = Categorical::from_probabilities(rows).unwrap();
            for wrong in [1, 2, 50] {
                let labels: Vec<usize> = (0..50).map(|i| usize::from(i >= wrong)).collect();
                let sums = Sums::new(&predictions);
                let values = sums.values(&predictions.as_redrawn(&labels)).unwrap();
                let expected = -tiny.ln() * wrong as f64 / 50.0;
                let error = (values[LOG] - expected).abs();
                assert!(error < 1e-13 * expected, "{tiny}, {wrong}: {error}");
            }
        }
    }

    /// Over all labels that are possible, values, means and variances.
    #[test]
    fn agrees_with_the_definitions() {
        let predictions = predictions();
        let sums = Sums::new(&predictions);
        let (mut mean, mut square) = (vec![0.0; 6], vec![0.0; 6]);
        for code in 0..81 {
            let labels: Vec<usize> = (0..4).map(|i| code / 3usize.pow(i) % 3).collect();
            let values = sums.values(&predictions.as_redrawn(&labels)).unwrap();
            let probability: f64 = labels.iter().zip(ROWS).map(|(&y, p)| p[y]).product();
            for (k, (value, expected)) in values.iter().zip(by_definition(&labels)).enumerate() {
                let equal = value == &expected || (value - expected).abs() < 1e-14;
                assert!(equal, "{k}, {labels:?}: {value}, {expected}");
                if probability > 0.0 {
                    mean[k] += probability * value;
                    square[k] += probability * value * value;
                }
            }
        }
        for k in 0..6 {
            assert!(mean[k].abs() < 1e-15, "{k}: {}", mean[k]);
            let deviation = sums.deviations[k];
            assert!(
                (square[k].sqrt() - deviation).abs() < 1e-14,
                "{k}: {deviation}"
            );
        }
    }
}
