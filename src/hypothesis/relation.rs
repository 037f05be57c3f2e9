use std::fmt;

use burn::tensor::{Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    host::{checked_labels, to_vec},
};

/// Labels that have no higher probability than those of other rows, though the predictions are sure: predictions and
/// labels may not be of the same rows. [`Display`](fmt::Display) asks whether they are.
///
/// Let `p̄` be the mean prediction, `f` the frequencies of the labels, and `x_i = p_i(y_i) − p̄(y_i)`. Where labels are
/// drawn from the predictions, the mean of `x` is `G = n⁻¹ Σ_i Σ_k p_ik (p_ik − p̄_k)` in expectation; where labels are
/// permuted it is 0, with a known variance (Hoeffding 1951). They are called unrelated if all of these hold:
///
/// - the mean of `x` is within two standard errors of 0;
/// - the mean of `x` is two standard errors below `G/4`, those of labels of which a quarter is drawn from the predictions and
///   the others from `f`: a quarter of the claimed relation got this in 0 to 4 % of simulated sets, and a half in 0.2 %;
/// - labels of calibrated predictions have such a mean with a probability of at most 10⁻³, by Bernstein's inequality, at
///   every number of rows;
/// - the log loss is above the entropy of `f`;
/// - at least twenty rows claim the relation, by their effective number `(Σ g_i)²/Σ g_i²`, `g_i = Σ_k p_ik (p_ik − p̄_k)`:
///   one wrong row says nothing of the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unrelated {
    /// The mean probability of the labels.
    pub found: f64,
    /// The same for labels that are permuted.
    pub permuted: f64,
}

/// Standard errors of both comparisons.
const ERRORS: f64 = 2.0;
/// The part of the relation that predictions claim, from which they are related.
const SHARE: f64 = 0.25;
/// The largest share of calibrated predictions that are called unrelated.
const LEVEL: f64 = 1e-3;
/// The smallest effective number of rows that claim the relation.
const FEWEST: f64 = 20.0;
/// The most probabilities that are looked at: of more rows some, evenly.
const MOST: usize = 5_000_000;

impl Unrelated {
    /// Creates it without a test.
    pub fn new(found: f64, permuted: f64) -> Self {
        Self { found, permuted }
    }

    /// Returns the mean probabilities if predictions and labels look unrelated. Weights do not count, and of more than
    /// five million probabilities some rows are taken, evenly.
    ///
    /// # Errors
    ///
    /// Labels that are no classes, or another number of them than of predictions.
    pub fn test(predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Option<Self>> {
        let (n, classes) = (predictions.len(), predictions.classes());
        let step = (n * classes).div_ceil(MOST).max(1);
        let rows: Vec<i64> = (0..n as i64).step_by(step).collect();
        let labels = checked_labels(labels, n, classes)?;
        let labels: Vec<usize> = labels.into_iter().step_by(step).collect();
        let probabilities = predictions.probabilities();
        let shape = [rows.len()];
        let rows = Tensor::from_data(TensorData::new(rows, shape), &probabilities.device());
        let probabilities = to_vec(probabilities.select(0, rows));
        Ok(Self::of(&probabilities, classes, &labels))
    }

    /// The same of probabilities, row after row.
    pub(crate) fn of(probabilities: &[f64], classes: usize, labels: &[usize]) -> Option<Self> {
        let n = labels.len() as f64;
        let rows = || probabilities.chunks_exact(classes).zip(labels);
        let (mut frequency, mut mean) = (vec![0.0; classes], vec![0.0; classes]);
        let (mut found, mut loss) = (0.0, 0.0);
        for (row, &y) in rows() {
            frequency[y] += 1.0 / n;
            mean.iter_mut().zip(row).for_each(|(sum, p)| *sum += p / n);
            found += row[y] / n;
            loss -= row[y].max(f64::MIN_POSITIVE).ln() / n;
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let permuted = dot(&mean, &frequency);
        let excess = found - permuted;
        let entropy = -(frequency.iter().filter(|share| **share > 0.0))
            .map(|share| share * share.ln())
            .sum::<f64>();
        // sums of variances: of permuted labels, of related ones, of calibrated ones
        let (mut of_permuted, mut of_related, mut of_calibrated) = (0.0, 0.0, 0.0);
        let (mut claimed, mut claimed_square, mut largest) = (0.0, 0.0, 0.0f64);
        for (row, _) in rows() {
            let own = dot(row, &frequency) - permuted;
            let mut drawn = 0.0;
            for (p, mean) in row.iter().zip(&mean) {
                drawn += p * (p - mean);
            }
            claimed += drawn / n;
            claimed_square += (drawn / n).powi(2);
            let mixed = SHARE * drawn + (1.0 - SHARE) * own;
            let (mut square, mut square_of_drawn) = (0.0, 0.0);
            for ((p, mean), share) in row.iter().zip(&mean).zip(&frequency) {
                let x = p - mean;
                of_permuted += share * (x - own).powi(2);
                square += (SHARE * p + (1.0 - SHARE) * share) * x * x;
                square_of_drawn += p * x * x;
                if *p > 0.0 {
                    largest = largest.max((x - drawn).abs());
                }
            }
            of_related += square - mixed * mixed;
            of_calibrated += square_of_drawn - drawn * drawn;
        }
        let of_permuted = (of_permuted / (n - 1.0) / n).sqrt();
        let of_related = of_related.max(0.0).sqrt() / n;
        let missing = n * (claimed - excess);
        let bernstein = -missing * missing / 2.0 / (of_calibrated + largest * missing / 3.0);
        let is_unrelated = excess.abs() < ERRORS * of_permuted
            && excess + ERRORS * of_related < SHARE * claimed
            && missing > 0.0
            && bernstein < LEVEL.ln()
            && loss > entropy
            && claimed * claimed >= FEWEST * claimed_square;
        is_unrelated.then_some(Self { found, permuted })
    }
}

impl fmt::Display for Unrelated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, permuted } = self;
        write!(
            f,
            "predictions and labels look unrelated: the mean probability of the labels is {found:.3}, and \
             {permuted:.3} where rows are permuted: do the rows of predictions and labels match?"
        )
    }
}
