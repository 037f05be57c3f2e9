use std::sync::Arc;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Detail, Evaluator, Place, p_value_of_count, p_value_of_sum};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets, Weighted as _, Weights},
    error::Result,
    hypothesis::p_value::resampling_p_value,
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
    /// The pairs, by most likely class and label.
    pairs: Vec<Pair>,
    /// The numbers of the first pair of each most likely class, and of pairs.
    first: Vec<usize>,
    /// The expectation of `Σ w²` over the wrong labels of each most likely class.
    squares: Vec<f64>,
}

/// A most likely class `t`, and a label `c` that is another.
#[derive(Debug, Clone, Copy)]
struct Pair {
    top: u32,
    label: u32,
    /// `π_c`.
    share: f64,
    /// The variance of `O_c − E_c` given the predictions.
    variance: f64,
}

/// Sums of weights over one set of labels.
#[derive(Debug, Clone)]
struct Sums {
    /// `O_c − E_c` of each pair.
    gaps: Vec<f64>,
    /// `Σ w²` over the wrong labels of each most likely class.
    squares: Vec<f64>,
}

/// The least variance of the count of a pair.
const LEAST_VARIANCE: f64 = 0.5;

/// The sum of squares over the pairs.
pub const CHI_SQUARE: usize = 0;
/// The largest deviation of a pair.
pub const LARGEST: usize = 1;

/// Redraws of the labels that are wrong, for the p-value given which ones are.
const CONDITIONAL_REDRAWS: usize = 499;
/// Number of redraws whose sums are held at a time.
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
        let of_top = |top: usize| pairs_of(top as u32, &rows, &others, &weights, &members[top]);
        let (pairs, squares): (Vec<_>, _) =
            parallel::map(rows.classes, &of_top).into_iter().unzip();
        let mut first = vec![0];
        first.extend(pairs.iter().scan(0, |count, own: &Vec<Pair>| {
            *count += own.len();
            Some(*count)
        }));
        let pairs = pairs.concat();
        (!pairs.is_empty()).then_some(Self {
            rows,
            weights,
            others,
            pairs,
            first,
            squares,
        })
    }

    /// The number of pairs.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The samples with wrong labels whose prediction gives the other classes a probability, and these labels.
    fn wrong<'a>(&'a self, flips: &'a [Flip]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let labels = (flips.iter()).map(|flip| (flip.sample as usize, flip.class));
        labels.filter(|(i, _)| self.others[*i] > 0.0)
    }

    /// The sums given which labels are wrong, before any of these is counted: the gaps are `−E_c`.
    fn expected(&self, flips: &[Flip]) -> Sums {
        let mut sums = Sums {
            gaps: vec![0.0; self.pairs.len()],
            squares: vec![0.0; self.squares.len()],
        };
        for (i, _) in self.wrong(flips) {
            let (w, p, top) = (
                self.weights.at(i),
                self.rows.row(i),
                self.rows.top[i] as usize,
            );
            sums.squares[top] += w * w;
            let pairs = self.first[top]..self.first[top + 1];
            for (gap, pair) in sums.gaps[pairs.clone()].iter_mut().zip(&self.pairs[pairs]) {
                *gap -= w / self.others[i] * p[pair.label as usize];
            }
        }
        sums
    }

    /// Counts the label of a sample, if its pair is taken.
    fn count(&self, sums: &mut Sums, i: usize, label: u32) {
        let top = self.rows.top[i] as usize;
        let first = self.first[top];
        let pairs = &self.pairs[first..self.first[top + 1]];
        if let Ok(at) = pairs.binary_search_by_key(&label, |pair| pair.label) {
            sums.gaps[first + at] += self.weights.at(i);
        }
    }

    fn sums(&self, flips: &[Flip]) -> Sums {
        let mut sums = self.expected(flips);
        (self.wrong(flips)).for_each(|(i, label)| self.count(&mut sums, i, label));
        sums
    }

    /// `z_c` of each pair.
    fn deviations<'a>(&'a self, sums: &'a Sums) -> impl Iterator<Item = f64> + 'a {
        let pairs = self.pairs.iter().zip(&sums.gaps);
        pairs.map(|(pair, gap)| {
            let top = pair.top as usize;
            let excess = (sums.squares[top] / self.squares[top]).max(1.0);
            gap / (pair.variance * excess).sqrt()
        })
    }

    fn numbers(&self, sums: &Sums) -> [f64; 2] {
        let pairs = self.pairs.iter().zip(self.deviations(sums));
        pairs.fold([0.0; 2], |[chi_square, largest], (pair, z)| {
            [
                chi_square + (1.0 - pair.share) * z * z,
                largest.max(z.abs()),
            ]
        })
    }

    /// The p-value of `χ²` given which labels are wrong: these are redrawn from the other classes. It is exact
    /// whatever the accuracy is.
    fn conditional_p_value(&self, flips: &[Flip], data: &Sums) -> f64 {
        let mut rng = StdRng::seed_from_u64(0);
        let expected = self.expected(flips);
        let mut redrawn = Vec::with_capacity(CONDITIONAL_REDRAWS);
        while redrawn.len() < CONDITIONAL_REDRAWS {
            let count = CONDITIONAL_BATCH.min(CONDITIONAL_REDRAWS - redrawn.len());
            let mut sets = vec![expected.clone(); count];
            for (i, _) in self.wrong(flips) {
                let mut sum = 0.0;
                let mut sums = Vec::with_capacity(self.rows.classes); // over the classes up to each
                for (class, p) in (0..).zip(self.rows.row(i)) {
                    sum += if class == self.rows.top[i] { 0.0 } else { *p };
                    sums.push(sum);
                }
                for set in &mut sets {
                    let below = rng.random::<f64>() * sum;
                    let label = sums.partition_point(|&sum| sum <= below);
                    self.count(set, i, label as u32);
                }
            }
            redrawn.extend(sets.iter().map(|set| self.numbers(set)[CHI_SQUARE]));
        }
        // equal but for rounding
        resampling_p_value(self.numbers(data)[CHI_SQUARE] * (1.0 - 1e-9), &redrawn)
    }

    /// The pair that deviates most, and the p-value of the hypothesis that it is as frequent among the wrong
    /// labels as predicted, times the number of pairs.
    fn largest(&self, flips: &[Flip], data: &Sums) -> Detail {
        let sizes = self.deviations(data).map(f64::abs).enumerate();
        let larger =
            |most: (usize, f64), next: (usize, f64)| if next.1 > most.1 { next } else { most };
        let Pair { top, label, .. } = self.pairs[sizes.fold((0, 0.0), larger).0];
        let [
            mut observed,
            mut expected,
            mut wrong,
            mut variance,
            mut squares,
        ] = [0.0; 5];
        for (i, class) in self.wrong(flips).filter(|(i, _)| self.rows.top[*i] == top) {
            let (w, share) = (
                self.weights.at(i),
                self.rows.probability(i, label) / self.others[i],
            );
            let occurred = f64::from(u8::from(class == label));
            wrong += w;
            observed += w * occurred;
            expected += w * share;
            variance += w * w * (share * (1.0 - share));
            squares += (w * (occurred - share)).powi(2);
        }
        let p_value = if self.weights.are_given() {
            p_value_of_sum(observed - expected, variance, squares)
        } else {
            p_value_of_count(observed, expected, wrong)
        };
        Detail {
            least_p_value: (p_value * self.pairs.len() as f64).min(1.0),
            place: Some(Place::Pair {
                predicted: top as usize,
                label: label as usize,
                observed,
                expected,
                wrong,
            }),
            ..Detail::default()
        }
    }
}

/// The pairs of samples that share a most likely class, and the expectation of `Σ w²` over their wrong labels.
fn pairs_of(
    top: u32,
    rows: &ClassRows,
    others: &[f64],
    weights: &Weights,
    members: &[usize],
) -> (Vec<Pair>, f64) {
    let wrong: f64 = members.iter().map(|&i| rows.error_probability[i]).sum();
    if wrong < LEAST_VARIANCE {
        return (Vec::new(), 0.0); // that of no label is larger
    }
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
    let pair = |(label, [sum, count, variance]): (u32, [f64; 3])| {
        (label != top && count >= LEAST_VARIANCE).then_some(Pair {
            top,
            label,
            share: sum / weight,
            variance,
        })
    };
    ((0..).zip(sums).filter_map(pair).collect(), squares)
}

impl Evaluator<LabelSets> for OtherLabels {
    fn width(&self) -> usize {
        2
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let numbers = sets.map(|flips| self.numbers(&self.sums(flips)));
        Ok(numbers.into_iter().flatten().collect())
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let flips = data.flips(0);
        let sums = self.sums(flips);
        let chi_square = Detail {
            least_p_value: self.conditional_p_value(flips, &sums),
            ..Detail::default()
        };
        Ok(vec![chi_square, self.largest(flips, &sums)])
    }
}
