//! The weights of a mixture of all candidates, and its log losses.

use serde::Serialize;

use super::{
    super::{MapMixture, common::*, registry::AnyMap, regularisation::folds},
    candidates::{LeftOutSamples, Trial},
    choice::Tried,
    left_out::excess,
    selection::Selection,
};

/// The name of the mixture among the candidates.
pub const MIXTURE: &str = "mixture";
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

/// What the maps give to the label of each sample: `[n, k]`, row after row, over the largest of each row; and the
/// log loss of that.
struct LabelProbabilities {
    relative: Vec<f64>,
    least: Vec<f64>,
    maps: usize,
    /// The part of each sample, at random.
    parts: Vec<usize>,
}

impl LabelProbabilities {
    fn of(losses: &[&[f64]], seed: u64) -> Self {
        let (n, maps) = (losses[0].len(), losses.len());
        let least = |i: usize| losses.iter().map(|of| of[i]).fold(f64::INFINITY, f64::min);
        let least: Vec<f64> = (0..n).map(least).collect();
        let of_row = |i: usize| losses.iter().map(move |of| of[i]);
        let relative =
            (0..n).flat_map(|i| of_row(i).map(|loss| loss - least[i]).collect::<Vec<_>>());
        let relative = relative.map(|loss| (-loss).exp()).collect();
        let mut parts = vec![0; n];
        for (part, rows) in folds(n, PARTS, seed).into_iter().enumerate() {
            rows.into_iter().for_each(|row| parts[row] = part);
        }
        Self {
            relative,
            least,
            maps,
            parts,
        }
    }

    /// The weights on the simplex of the least mean log loss of the mixture of some samples, with a prior of one
    /// more sample that each map alone explains; without those that are small. Convex in the weights; descended
    /// in their logarithms.
    fn weights(&self, taken: impl Fn(usize) -> bool) -> Vec<f64> {
        let rows: Vec<&[f64]> = (self.relative.chunks_exact(self.maps).enumerate())
            .filter_map(|(i, row)| taken(i).then_some(row))
            .collect();
        let n = rows.len() as f64;
        let at = |theta: &[f64]| {
            let weights = softmax(theta);
            let (mut parts, mut loss) = (vec![1.0; self.maps], 0.0);
            for row in &rows {
                let sum = dot(row, &weights);
                loss -= sum.ln();
                for ((part, p), weight) in parts.iter_mut().zip(*row).zip(&weights) {
                    *part += weight * p / sum;
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
        let mut weights = softmax(&theta);
        weights
            .iter_mut()
            .filter(|weight| **weight < LEAST)
            .for_each(|weight| *weight = 0.0);
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// The weights of the samples of all parts but each.
    fn without(&self) -> Vec<Vec<f64>> {
        let of_part = |part| self.weights(|i| self.parts[i] != part);
        (0..PARTS).map(of_part).collect()
    }

    /// The log loss of each sample by weights of samples of the other parts.
    fn losses(&self, without: &[Vec<f64>]) -> Vec<f64> {
        let rows = self
            .relative
            .chunks_exact(self.maps)
            .zip(&self.least)
            .enumerate();
        rows.map(|(i, (row, least))| least - dot(row, &without[self.parts[i]]).ln())
            .collect()
    }
}

fn softmax(theta: &[f64]) -> Vec<f64> {
    let largest = theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = theta.iter().map(|x| (x - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Adds the mixture of the maps that were tried, of which there are two at least, or passes it over.
pub fn add_mixture(
    selection: &mut Selection<Trial>,
    samples: &LeftOutSamples,
    seed: u64,
    by_criterion: bool,
) {
    if !selection.admits(MIXTURE, Guarantees::NONE) {
        return;
    }
    if by_criterion {
        let reason = "it is fitted by the log loss alone".into();
        return selection.pass_over(MIXTURE, reason, None);
    }
    let tried = &selection.tried[1..];
    let losses: Vec<&[f64]> = tried.iter().map(|tried| &tried.losses[..]).collect();
    let probabilities = LabelProbabilities::of(&losses, seed);
    let weights = probabilities.weights(|_| true);
    let weights: Vec<Weight> = (tried.iter().zip(weights))
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(tried, weight)| Weight {
            name: tried.name,
            weight,
        })
        .collect();
    if let [Weight { name, .. }] = weights[..] {
        return selection.pass_over(MIXTURE, format!("all of it would be {name}"), None);
    }
    let without = probabilities.without();
    let (labels, m) = (&samples.labels, samples.data.classes);
    let mut mixed = vec![0.0; labels.len() * m];
    for (k, trial) in selection.maps[1..].iter().enumerate() {
        let rows = mixed.chunks_mut(m).zip(trial.probabilities.chunks(m));
        for ((mixed, row), &part) in rows.zip(&probabilities.parts) {
            let weight = without[part][k];
            (mixed.iter_mut().zip(row)).for_each(|(sum, p)| *sum += weight * p);
        }
    }
    let rows = mixed.chunks(m).zip(labels);
    let tried = Tried {
        name: MIXTURE,
        losses: probabilities.losses(&without),
        excess: rows
            .map(|(row, &label)| excess(row, label, samples.subject))
            .collect(),
        score: None,
        guarantees: Guarantees::NONE,
    };
    let trial = Trial {
        map: None,
        probabilities: mixed,
        refit: None,
        weights,
    };
    selection.add(tried, trial);
}

/// Mixes maps of the given names with the weights of some of them.
pub fn mix(maps: Vec<(&'static str, Option<AnyMap>)>, weights: &[Weight]) -> Result<MapMixture> {
    let part = |(name, map): (_, Option<AnyMap>)| {
        let weight = weights.iter().find(|weight| weight.name == name)?;
        Some((name, weight.weight, map?))
    };
    MapMixture::new(maps.into_iter().filter_map(part)).map_err(|reason| Error::Unsupported {
        what: format!("the {} failed: {reason}", MapMixture::KIND),
        expected: "maps with finite parameters",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two maps: one that knows the odd samples, the other the even ones. The weights are the shares of the
    /// samples that each knows, with one more of each.
    #[test]
    fn weights_by_hand() {
        let loss = |i: usize, own: usize| if i % 2 == own { 0.1 } else { 690.0 };
        let losses = [0, 1].map(|own| (0..60).map(|i| loss(i, own)).collect::<Vec<_>>());
        let of = LabelProbabilities::of(&[&losses[0], &losses[1]], 0);
        for (taken, expected) in [(6, 0.5), (2, 31.0 / 42.0)] {
            let weights = of.weights(|i| i % 2 == 0 || i % 6 < taken);
            assert!((weights[0] - expected).abs() < 1e-5, "{weights:?}");
        }
        // the parts have about as many samples of each
        for loss in of.losses(&of.without()) {
            assert!((loss - 0.1 + 0.5f64.ln()).abs() < 0.2, "{loss}");
        }
    }

    /// A map that is worse on each sample is no part.
    #[test]
    fn dominated() {
        let good: Vec<f64> = (1..500).map(|i| 0.01 * f64::from(i)).collect();
        let bad: Vec<f64> = good.iter().map(|loss| loss + 0.5).collect();
        let of = LabelProbabilities::of(&[&bad, &good], 0);
        assert_eq!(of.weights(|_| true), [0.0, 1.0]);
        assert_eq!(of.losses(&of.without()), good);
    }
}
