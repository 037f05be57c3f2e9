use std::sync::Arc;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Detail, Evaluator, Place, p_value_of_count, p_value_of_sum};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets, Weighted as _, Weights},
    error::Result,
    parallel,
};

/// The label among the classes that are not the most likely one, given the most likely class.
///
/// For samples whose most likely class is `t` and whose label is not, `O_c` counts the labels `c`, and
/// `E_c = Σ_i p_ic/(1 − p_it)` is the expectation of that given which samples these are. So the number of wrong
/// labels does not matter. The numbers are
///
/// - `Σ (1 − π_c) z_c²` over the pairs `(t, c)`, with `z_c = (O_c − E_c)/σ_c` and the predicted share `π_c` of `c` among
///   the wrong labels: where all samples have the same probabilities this is Pearson's `χ²`;
/// - `max |z_c|`.
///
/// `σ_c` is the standard deviation given the predictions, times the root of the number of wrong labels over its
/// expectation where that is above 1. Only pairs of a variance of at least ½ are taken, of which there are at most
/// twice as many as wrong labels are expected. A label of which the prediction is certain to be another has no
/// share, and does not count. A set costs a number for each difference and pair of its most likely class.
pub struct OtherLabels {
    rows: Arc<ClassRows>,
    weights: Weights,
    /// `Σ_{c ≠ t} p_ic` of each sample.
    others: Vec<f64>,
    /// The pairs of each most likely class.
    tops: Vec<TopClass>,
    /// The number of pairs.
    count: usize,
}

/// The pairs of a most likely class `t`.
#[derive(Debug, Clone, Default)]
struct TopClass {
    /// The number of the first pair.
    first: usize,
    /// The pairs, by increasing label.
    pairs: Vec<Pair>,
    /// The expectation of `Σ w²` over the wrong labels.
    squares: f64,
}

/// A label `c` that is not the most likely class.
#[derive(Debug, Clone, Copy)]
struct Pair {
    label: u32,
    /// `π_c`.
    share: f64,
    /// The variance of `O_c − E_c` given the predictions.
    variance: f64,
}

/// Counts of one set of labels, which are sums of weights.
#[derive(Debug, Clone)]
struct Counts {
    /// `O_c` of each pair.
    observed: Vec<f64>,
    /// `E_c` of each pair.
    expected: Vec<f64>,
    /// Sums over the wrong labels of each most likely class.
    wrong: Vec<Wrong>,
}

/// Sums over the wrong labels of a most likely class.
#[derive(Debug, Clone, Copy, Default)]
struct Wrong {
    /// `Σ w`.
    weight: f64,
    /// `Σ w²`.
    squares: f64,
}

/// The least variance of the count of a pair.
const LEAST_VARIANCE: f64 = 0.5;

/// The sum of squares over the pairs.
pub const CHI_SQUARE: usize = 0;
/// The largest deviation of a pair.
pub const LARGEST: usize = 1;

/// Redraws of the labels that are wrong, for the p-value given which ones are.
const CONDITIONAL_REDRAWS: usize = 499;
/// Those of which the counts are held at a time.
const CONDITIONAL_BATCH: usize = 50;

impl OtherLabels {
    /// Prepares the pairs, or none if no label is expected often enough.
    pub fn new(predictions: &Categorical) -> Option<Self> {
        let (predictions, weights) = predictions.parted();
        let rows = predictions.rows();
        let mut members = vec![Vec::new(); rows.classes];
        for (i, &top) in rows.top.iter().enumerate() {
            members[top as usize].push(i);
        }
        let others = (0..rows.samples()).map(|i| {
            let (p, top) = (rows.row(i), rows.top[i] as usize);
            p[..top].iter().chain(&p[top + 1..]).sum()
        });
        let others: Vec<f64> = others.collect();
        let mut tops = parallel::map(rows.classes, &|top| {
            TopClass::new((&rows, &others), &weights, &members[top])
        });
        let mut count = 0;
        for top in &mut tops {
            top.first = count;
            count += top.pairs.len();
        }
        (count > 0).then_some(Self {
            rows,
            weights,
            others,
            tops,
            count,
        })
    }

    /// The number of pairs.
    pub fn pairs(&self) -> usize {
        self.count
    }

    /// The number of a pair, if it is taken.
    fn pair(&self, top: u32, label: u32) -> Option<usize> {
        let TopClass { first, pairs, .. } = &self.tops[top as usize];
        let at = pairs.binary_search_by_key(&label, |pair| pair.label);
        at.ok().map(|at| first + at)
    }

    /// The wrong labels whose prediction gives the other classes a probability.
    fn with_shares<'a>(&'a self, flips: &'a [Flip]) -> impl Iterator<Item = &'a Flip> {
        flips
            .iter()
            .filter(|flip| self.others[flip.sample as usize] > 0.0)
    }

    fn counts(&self, flips: &[Flip]) -> Counts {
        let mut counts = Counts {
            observed: vec![0.0; self.count],
            expected: vec![0.0; self.count],
            wrong: vec![Wrong::default(); self.tops.len()],
        };
        for flip in self.with_shares(flips) {
            let i = flip.sample as usize;
            let (w, p, top) = (self.weights.at(i), self.rows.row(i), self.rows.top[i]);
            let wrong = &mut counts.wrong[top as usize];
            wrong.weight += w;
            wrong.squares += w * w;
            let scale = w / self.others[i];
            let TopClass { first, pairs, .. } = &self.tops[top as usize];
            for (expected, pair) in counts.expected[*first..].iter_mut().zip(pairs) {
                *expected += scale * p[pair.label as usize];
            }
            if let Some(pair) = self.pair(top, flip.class) {
                counts.observed[pair] += w;
            }
        }
        counts
    }

    /// `z_c` of each pair, with `1 − π_c`.
    fn deviations<'a>(&'a self, counts: &'a Counts) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.tops
            .iter()
            .zip(&counts.wrong)
            .flat_map(move |(top, wrong)| {
                let excess = (wrong.squares / top.squares).max(1.0);
                let pairs = top.pairs.iter().enumerate();
                pairs.map(move |(k, pair)| {
                    let gap = counts.observed[top.first + k] - counts.expected[top.first + k];
                    (gap / (pair.variance * excess).sqrt(), 1.0 - pair.share)
                })
            })
    }

    fn numbers(&self, counts: &Counts) -> [f64; 2] {
        (self.deviations(counts)).fold([0.0; 2], |[chi_square, largest], (z, others)| {
            [chi_square + others * z * z, largest.max(z.abs())]
        })
    }

    /// The p-value of `χ²` given which labels are wrong: these are redrawn from the other classes. It is exact
    /// whatever the accuracy is.
    fn conditional_p_value(&self, flips: &[Flip], counts: &Counts) -> f64 {
        let mut rng = StdRng::seed_from_u64(0);
        let data = self.numbers(counts)[CHI_SQUARE];
        let mut reaching = 0;
        let mut left = CONDITIONAL_REDRAWS;
        while left > 0 {
            let sets = left.min(CONDITIONAL_BATCH);
            left -= sets;
            for observed in self.redrawn_labels(flips, sets, &mut rng) {
                let redrawn = Counts {
                    observed,
                    expected: counts.expected.clone(),
                    wrong: counts.wrong.clone(),
                };
                // equal but for rounding
                if self.numbers(&redrawn)[CHI_SQUARE] >= data * (1.0 - 1e-9) {
                    reaching += 1;
                }
            }
        }
        (1 + reaching) as f64 / (1 + CONDITIONAL_REDRAWS) as f64
    }

    /// The counts of each pair in sets of labels that are redrawn from the classes that are not the most likely one.
    fn redrawn_labels(&self, flips: &[Flip], sets: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
        let mut observed = vec![vec![0.0; self.count]; sets];
        for flip in self.with_shares(flips) {
            let (i, top) = (flip.sample as usize, self.rows.top[flip.sample as usize]);
            let mut sum = 0.0;
            let mut sums = Vec::with_capacity(self.rows.classes); // over the classes up to each
            for (class, p) in (0..).zip(self.rows.row(i)) {
                sum += if class == top { 0.0 } else { *p };
                sums.push(sum);
            }
            for set in &mut observed {
                let below = rng.random::<f64>() * sum;
                let label = sums.partition_point(|&sum| sum <= below) as u32;
                if let Some(pair) = self.pair(top, label) {
                    set[pair] += self.weights.at(i);
                }
            }
        }
        observed
    }

    /// The pair that deviates most, and the p-value of the hypothesis that it is as frequent among the wrong
    /// labels as predicted, times the number of pairs.
    fn largest(&self, flips: &[Flip], counts: &Counts) -> Detail {
        let sizes = self.deviations(counts).map(|(z, _)| z.abs()).enumerate();
        let (pair, _) = sizes.fold(
            (0, 0.0),
            |most, (pair, size)| {
                if size > most.1 { (pair, size) } else { most }
            },
        );
        let top = self.tops.partition_point(|top| top.first <= pair) - 1;
        let label = self.tops[top].pairs[pair - self.tops[top].first].label;
        let [mut variance, mut squares] = [0.0; 2];
        for flip in self.with_shares(flips) {
            let i = flip.sample as usize;
            if self.rows.top[i] as usize == top {
                let share = self.rows.probability(i, label) / self.others[i];
                let gap = f64::from(u8::from(flip.class == label)) - share;
                let square = self.weights.at(i).powi(2);
                variance += square * (share * (1.0 - share));
                squares += square * (gap * gap);
            }
        }
        let (observed, expected) = (counts.observed[pair], counts.expected[pair]);
        let wrong = counts.wrong[top].weight;
        let p_value = if self.weights.are_given() {
            p_value_of_sum(observed - expected, variance, squares)
        } else {
            p_value_of_count(observed, expected, wrong)
        };
        Detail {
            least_p_value: (p_value * self.count as f64).min(1.0),
            place: Some(Place::Pair {
                predicted: top,
                label: label as usize,
                observed,
                expected,
                wrong,
            }),
            ..Detail::default()
        }
    }
}

impl TopClass {
    /// The pairs of samples that share a most likely class.
    fn new((rows, others): (&ClassRows, &[f64]), weights: &Weights, members: &[usize]) -> Self {
        let wrong: f64 = members.iter().map(|&i| rows.error_probability[i]).sum();
        let Some(&first) = members.first().filter(|_| wrong >= LEAST_VARIANCE) else {
            return Self::default();
        };
        // of a label: the expected Σ w, and the variances of the count and of the sum of weights
        let mut sums = vec![[0.0; 3]; rows.classes];
        let [mut weight, mut squares] = [0.0; 2];
        for &i in members.iter().filter(|&&i| others[i] > 0.0) {
            let (w, wrong) = (weights.at(i), rows.error_probability[i]);
            weight += w * wrong;
            squares += w * w * wrong;
            for ([sum, count, variance], p) in sums.iter_mut().zip(rows.row(i)) {
                let share = p / others[i];
                let spread = wrong * share * (1.0 - share);
                *sum += w * wrong * share;
                *count += spread;
                *variance += w * w * spread;
            }
        }
        let pair = |(label, &[sum, count, variance]): (usize, &[f64; 3])| {
            let is_taken = label as u32 != rows.top[first] && count >= LEAST_VARIANCE;
            is_taken.then_some(Pair {
                label: label as u32,
                share: sum / weight,
                variance,
            })
        };
        Self {
            first: 0,
            pairs: sums.iter().enumerate().filter_map(pair).collect(),
            squares,
        }
    }
}

impl Evaluator<LabelSets> for OtherLabels {
    fn width(&self) -> usize {
        2
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let numbers = sets.map(|flips| self.numbers(&self.counts(flips)));
        Ok(numbers.into_iter().flatten().collect())
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let flips = data.flips(0);
        let counts = self.counts(flips);
        let chi_square = Detail {
            least_p_value: self.conditional_p_value(flips, &counts),
            ..Detail::default()
        };
        Ok(vec![chi_square, self.largest(flips, &counts)])
    }
}
