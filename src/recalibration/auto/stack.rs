//! The weights of a mixture of all candidates, and its log losses.

use serde::Serialize;

use super::{
    super::{common::*, regularisation::folds},
    candidates::softmax,
    rules::Tried,
};
pub(super) use crate::recalibration::mixture::MIXTURE;

/// The least weight: a map with less is no part.
const LEAST: f64 = 0.02;
/// Parts of the samples that weights are found without, to evaluate them on.
const PARTS: usize = 5;

/// The part of a map in a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Weight {
    /// The short name of the map.
    pub name: &'static str,
    /// Its weight, above 0; the weights sum to 1.
    pub weight: f64,
}

/// A mixture of `k` maps by what they give to the label of each sample.
pub struct Mixing {
    /// The probabilities of the labels, `[n, k]`, row after row, over the largest of each row.
    relative: Vec<f64>,
    /// The log loss of the largest of each row.
    least: Vec<f64>,
    maps: usize,
    /// The part of each sample, at random.
    parts: Vec<usize>,
    /// The weight of each sample; their sum is the effective number of samples.
    samples: Vec<f64>,
    /// The weight of each map, found on all samples.
    pub weights: Vec<f64>,
    /// The weights found on the samples of all parts but each.
    without: Vec<Vec<f64>>,
}

impl Mixing {
    /// Finds the weights of at least two maps.
    pub fn new(tried: &[Tried], seed: u64) -> Self {
        let losses: Vec<&[f64]> = tried.iter().map(|tried| &tried.losses[..]).collect();
        let (n, maps) = (losses[0].len(), losses.len());
        let least = |i: usize| losses.iter().map(|of| of[i]).fold(f64::INFINITY, f64::min);
        let least: Vec<f64> = (0..n).map(least).collect();
        let row = |i: usize| losses.iter().map(move |of| of[i]);
        let relative = (0..n).flat_map(|i| row(i).map(|loss| loss - least[i]).collect::<Vec<_>>());
        let mut parts = vec![0; n];
        for (part, rows) in folds(n, PARTS, seed).into_iter().enumerate() {
            rows.into_iter().for_each(|row| parts[row] = part);
        }
        let weights = &tried[0].weights;
        let scale = weights.effective(n) / weights.total(n);
        let mut mixing = Self {
            relative: relative.map(|loss| (-loss).exp()).collect(),
            least,
            maps,
            parts,
            samples: weights.all(n).map(|w| w * scale).collect(),
            weights: vec![],
            without: vec![],
        };
        mixing.weights = mixing.weights_of(|_| true);
        let but_part = |part| mixing.weights_of(|i| mixing.parts[i] != part);
        mixing.without = (0..PARTS).map(but_part).collect();
        mixing
    }

    /// The weights on the simplex of the lowest weighted log loss of the mixture of some samples, with a prior of one
    /// more sample that each map alone explains; without those that are small. Convex in the weights; descended
    /// in their logarithms.
    fn weights_of(&self, taken: impl Fn(usize) -> bool) -> Vec<f64> {
        let rows = self.relative.chunks_exact(self.maps).zip(&self.samples);
        let rows: Vec<(&[f64], f64)> = (rows.enumerate())
            .filter_map(|(i, (row, w))| taken(i).then_some((row, *w)))
            .collect();
        let n: f64 = rows.iter().map(|(_, w)| w).sum();
        let at = |theta: &[f64]| {
            let weights = softmax(theta.to_vec());
            let (mut parts, mut loss) = (vec![1.0; self.maps], 0.0);
            for &(row, w) in &rows {
                let sum = dot(row, &weights);
                loss -= w * sum.ln();
                for ((part, p), weight) in parts.iter_mut().zip(row).zip(&weights) {
                    *part += w * (weight * p / sum);
                }
            }
            loss -= weights.iter().map(|weight| weight.ln()).sum::<f64>();
            let total = n + self.maps as f64;
            let slopes = weights
                .iter()
                .zip(parts)
                .map(|(weight, part)| (total * weight - part) / n);
            (loss / n, slopes.collect())
        };
        let start = vec![0.0; self.maps];
        let (theta, _) = minimise(at, &start, Limits::new(1e-6, 100), &mut |_, _| {});
        let mut weights = softmax(theta);
        weights
            .iter_mut()
            .filter(|weight| **weight < LEAST)
            .for_each(|weight| *weight = 0.0);
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// The log loss of each sample by weights of samples of the other parts.
    pub fn losses(&self) -> Vec<f64> {
        let rows = self.relative.chunks_exact(self.maps).zip(&self.least);
        rows.zip(&self.parts)
            .map(|((row, least), &part)| least - dot(row, &self.without[part]).ln())
            .collect()
    }

    /// The probabilities of each sample by weights of samples of the other parts, `[n, m]`.
    pub fn probabilities(&self, tried: &[Tried], m: usize) -> Vec<f64> {
        let mut mixed = vec![0.0; self.parts.len() * m];
        for (k, tried) in tried.iter().enumerate() {
            let rows = mixed.chunks_mut(m).zip(tried.probabilities.chunks(m));
            for ((mixed, row), &part) in rows.zip(&self.parts) {
                let weight = self.without[part][k];
                (mixed.iter_mut().zip(row)).for_each(|(sum, p)| *sum += weight * p);
            }
        }
        mixed
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Weights;

    fn mixing(losses: [Vec<f64>; 2]) -> Mixing {
        weighted_mixing(losses, Weights::default())
    }

    fn weighted_mixing(losses: [Vec<f64>; 2], weights: Weights) -> Mixing {
        let tried = losses.map(|losses| Tried {
            name: "a map",
            losses,
            excess: vec![],
            probabilities: vec![],
            weights: weights.clone(),
            score: None,
            guarantees: Guarantees::NONE,
        });
        Mixing::new(&tried, 0)
    }

    /// Two maps: one that knows the odd samples, the other the even ones. The weights are the shares of the
    /// samples that each knows, with one more of each.
    #[test]
    fn weights_by_hand() {
        let loss = |i: usize, own: usize| if i % 2 == own { 0.1 } else { 690.0 };
        let mixing = mixing([0, 1].map(|own| (0..60).map(|i| loss(i, own)).collect()));
        for (taken, expected) in [(6, 0.5), (2, 31.0 / 42.0)] {
            let weights = mixing.weights_of(|i| i % 2 == 0 || i % 6 < taken);
            assert!((weights[0] - expected).abs() < 1e-5, "{weights:?}");
        }
        // the parts have about as many samples of each
        for loss in mixing.losses() {
            assert!((loss - 0.1 + 0.5f64.ln()).abs() < 0.2, "{loss}");
        }
    }

    /// Weights of 3 and 1 of 30 samples each are an effective number of 48, of which they are 36 and 12.
    #[test]
    fn weights_of_samples_by_hand() {
        let loss = |i: usize, own: usize| if i % 2 == own { 0.1 } else { 690.0 };
        let losses = [0, 1].map(|own| (0..60).map(|i| loss(i, own)).collect());
        let of_samples: Vec<f64> = (0..60).map(|i| [3.0, 1.0][i % 2]).collect();
        let mixing = weighted_mixing(losses, Weights::new(&of_samples));
        let found = mixing.weights[0];
        assert!((found - 37.0 / 50.0).abs() < 1e-5, "{found}");
    }

    /// A map that is worse on each sample is no part.
    #[test]
    fn dominated() {
        let good: Vec<f64> = (1..500).map(|i| 0.01 * f64::from(i)).collect();
        let bad = good.iter().map(|loss| loss + 0.5).collect();
        let mixing = mixing([bad, good.clone()]);
        assert_eq!(mixing.weights, [0.0, 1.0]);
        assert_eq!(mixing.losses(), good);
    }
}
