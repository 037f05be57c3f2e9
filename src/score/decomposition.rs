use std::{cmp::Ordering, fmt};

use burn::tensor::{Int, Tensor};

use super::Divergence;
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    host::to_vec,
};

/// The calibration–sharpness decomposition of a mean score over groups of equal predictions:
///
/// `score = entropy − sharpness + calibration`,
///
/// with the generalised entropy `g(q) = S(q, q)` and the divergence `d(p, q) = S(p, q) − S(q, q)` of the
/// expected score `S(p, q) = E_{Y∼q} S(p, Y)` (Gruber and Buettner 2022, Lemma 4.1; Bröcker 2009; Murphy
/// 1973 for the Brier score). An identity of the data, to rounding.
///
/// As estimates for the model that the data come from, calibration and sharpness are both biased upward:
/// for the Brier score exactly by `Σ_g g(q_g)/n`, entropies of all `G` groups over the number `n` of
/// samples (sharpness by `g(q̄)/n` less), for the log score by about `G(m−1)/2n`. They mean something
/// where predictions are few and each comes often: binned, rounded, or those of a tree. Where all
/// are distinct each label is its own group, the calibration is the whole score and the sharpness the
/// whole entropy, whatever the model. Use a [`Refinement`](super::Refinement) there.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Decomposition {
    /// The mean score.
    pub score: f64,
    /// `g(q̄)` of the frequencies `q̄` of all labels: the score of a constant prediction of these.
    pub entropy: f64,
    /// `Σ_g (n_g/n) d(q̄, q_g)` for the frequencies `q_g` of the labels in group `g`: what the
    /// predictions tell about the labels, at least 0.
    pub sharpness: f64,
    /// `Σ_g (n_g/n) d(p_g, q_g)`: the proper calibration error of the groups, at least 0.
    pub calibration: f64,
    /// The number `G` of distinct predictions.
    pub groups: usize,
    /// The number `n` of samples.
    pub samples: usize,
}

impl fmt::Display for Decomposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.6} = {:.6} entropy − {:.6} sharpness + {:.6} calibration ({} distinct predictions, n = {})",
            self.score, self.entropy, self.sharpness, self.calibration, self.groups, self.samples
        )
    }
}

impl Decomposition {
    /// The decomposition of the mean score into entropy, sharpness and calibration.
    ///
    /// A group is of rows that are equal in every digit: of the log probabilities for the log score,
    /// which differ where probabilities underflow, and of the probabilities for the others.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, score::{Brier, Decomposition}};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::<2>::from_floats([[0.75, 0.25], [0.75, 0.25]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
    /// let predictions = Categorical::from_probabilities(rows)?;
    /// let brier = Decomposition::of(&Brier, &predictions, &labels)?;
    /// assert_eq!((brier.entropy, brier.sharpness, brier.calibration), (0.5, 0.0, 0.125));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m + n·log n)` but for rows that share their first entries, on the host in f64.
    /// The errors are those of [`Score::each`](super::Score::each).
    pub fn of(
        score: &(impl Divergence + ?Sized),
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Self> {
        let mean = score.mean(predictions, labels)?.estimate;
        let classes = predictions.check_labels(labels)?;
        let (n, m) = (predictions.len(), predictions.classes());
        let rows = to_vec(score.coordinates(predictions));
        let row = |i: usize| &rows[i * m..(i + 1) * m];
        let order = sorted(n, row);
        let groups: Vec<&[usize]> = order.chunk_by(|&i, &j| row(i) == row(j)).collect();
        let frequencies = |members: &[usize]| {
            let mut frequencies = vec![0.0; m];
            let share = 1.0 / members.len() as f64;
            let labels = members.iter().map(|&i| classes[i]);
            labels.for_each(|label| frequencies[label] += share);
            frequencies
        };

        let marginal = frequencies(&order);
        let constant = score.coordinates_of(&marginal);
        let (mut sharpness, mut calibration) = (0.0, 0.0);
        for group in &groups {
            let weight = group.len() as f64 / n as f64;
            let frequencies = frequencies(group);
            sharpness += weight * score.divergence(&constant, &frequencies);
            calibration += weight * score.divergence(row(group[0]), &frequencies);
        }
        Ok(Self {
            score: mean,
            entropy: score.entropy(&marginal),
            sharpness,
            calibration,
            groups: groups.len(),
            samples: n,
        })
    }
}

/// The row numbers `0..n` such that equal rows follow each other.
fn sorted<'a>(n: usize, row: impl Fn(usize) -> &'a [f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    // adding 0 makes −0 the same as 0
    let keys = |i: usize| row(i).iter().map(|x| x + 0.0);
    order.sort_by(|&i, &j| {
        let mut orderings = keys(i).zip(keys(j)).map(|(x, y)| x.total_cmp(&y));
        orderings.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    order
}
