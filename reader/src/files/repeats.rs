//! Rows that stand in the files more than once.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, Hash, Hasher, RandomState},
};

use super::{File, Files};
use crate::Notes;

/// Decimals up to which numbers are taken as rounded, so that they repeat by chance.
const FEW_DECIMALS: i32 = 5;
/// The distance from whole numbers below which numbers are near the end of a scale, where they repeat by chance, too.
const END: f64 = 1e-3;
/// The smallest share of rows that is told.
const LEAST: f64 = 0.01;
/// The smallest number of them.
const FEWEST: f64 = 5.0;
/// The smallest share of distinct ones among rows whose numbers do not repeat by chance: predictions of fewer values are
/// those of groups.
const DISTINCT: f64 = 0.1;
/// The largest share of rows with the numbers of an earlier row whose label is another one. Samples that are alike have
/// different labels, and copies have not.
const OTHERS: f64 = 0.1;
/// The largest probability that independent labels of the predictions differ as seldom as those of the repeats.
const BY_PREDICTIONS: f64 = 1e-3;
/// The same where frequencies are those of the labels of similar predictions, which hold if the predictions are wrong.
const BY_NEIGHBOURS: f64 = 0.05;

/// Rows of predictions of classes that repeat an earlier row, until their labels are compared with the predictions.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    /// The rows with the label of the earlier row, too.
    whole: usize,
    /// The earlier row of each row that repeats its numbers.
    firsts: Vec<usize>,
}

impl Files {
    /// Looks for rows that repeat an earlier row. Of targets they are told; of classes this waits for the probabilities
    /// of the labels, see [`note_copies`](Self::note_copies).
    pub(super) fn find_repeats(&mut self, are_classes: bool, notes: &mut Notes) {
        let repeats = self.repeats(are_classes);
        match repeats {
            Some(repeats) if !are_classes => self.say_repeats(&repeats, notes),
            repeats => self.repeats = repeats,
        }
    }

    /// Tells rows of classes that repeat an earlier row, unless labels that are independent given the predictions would
    /// agree as often. Those of a rare event or of a confident model do.
    ///
    /// - `of_labels`: the probability of the label of each row, or an upper bound of it
    pub fn note_copies(&self, of_labels: impl FnOnce() -> Vec<f64>, notes: &mut Notes) {
        let Some(repeats) = &self.repeats else {
            return;
        };
        let of_labels = of_labels();
        let firsts = repeats.firsts.iter();
        let differ: Vec<f64> = firsts.map(|first| 1.0 - of_labels[*first]).collect();
        if lower_tail(&differ, differ.len() - repeats.whole) <= BY_PREDICTIONS {
            self.say_repeats(repeats, notes);
        }
    }

    fn say_repeats(&self, repeats: &Repeats, notes: &mut Notes) {
        let (repeats, n) = (repeats.whole, self.sets[0].table.rows());
        notes.say(
            &self.sets[0].path,
            format_args!(
                "{repeats} of {n} rows repeat an earlier row, with all digits of its predictions and the label: \
                 p-values and intervals take rows as independent, and are too small and too narrow if these are \
                 copies"
            ),
        );
    }

    /// The rows that repeat an earlier row wholly, in the numbers of the predictions and in the label; none where such
    /// repeats are natural. They are, unless all of these hold:
    ///
    /// - a number of the row has more than five decimals, and is not within 0.001 of a whole number,
    /// - such rows are five, and one in a hundred of all rows,
    /// - of the rows with such a number, at least one in ten has numbers that no earlier row has,
    /// - of the rows with the numbers of an earlier row, at most one in ten has another label,
    /// - labels of classes agree with the earlier row more often than with rows of similar predictions.
    fn repeats(&self, are_classes: bool) -> Option<Repeats> {
        let table = &self.sets[0].table;
        let (n, columns) = (table.rows(), table.numbers.columns.max(1));
        let rows = || table.numbers.values.chunks(columns).enumerate();
        let same = |a: usize, b: usize| self.numbers(a) == self.numbers(b);
        let mut groups = Groups::default();
        let mut repeats = Repeats::default();
        let mut fine = 0;
        for (row, numbers) in rows().filter(|(_, numbers)| numbers.iter().any(|x| is_fine(*x))) {
            fine += 1;
            if let Some(earlier) = groups.before(row, numbers, same) {
                repeats.firsts.push(earlier);
                repeats.whole += usize::from(self.has_label_of(row, earlier));
            }
        }
        let (repeated, whole) = (repeats.firsts.len(), repeats.whole);
        let [distinct, others] = [fine - repeated, repeated - whole].map(|count| count as f64);
        let is_told = whole as f64 >= (LEAST * n as f64).max(FEWEST)
            && distinct >= DISTINCT * fine as f64
            && others <= OTHERS * repeated as f64
            && (!are_classes || self.chance_of_agreement(groups.all) <= BY_NEIGHBOURS);
        is_told.then_some(repeats)
    }

    /// A bound of the probability that labels agree within groups of equal predictions as often as they do, if a label
    /// is as likely to agree with that of the most similar predictions. It holds for predictions that are wrong, too.
    ///
    /// The first two rows of a group and the first one of the next group count if two of the three labels are equal and
    /// one is another. If the three are exchangeable, the two are those of the group with probability 1/3.
    fn chance_of_agreement(&self, mut groups: Vec<Group>) -> f64 {
        let place = |group: &Group| place(self.numbers(group.first));
        groups.sort_by(|a, b| {
            let ((a, of_a), (b, of_b)) = (place(a), place(b));
            a.cmp(&b).then(of_a.total_cmp(&of_b))
        });
        let (mut split, mut differ) = (0, 0);
        for (at, group) in groups.iter().enumerate() {
            let next = groups.get(at + 1).or(groups.get(at.wrapping_sub(1)));
            let (Some(second), Some(next)) = (group.second, next) else {
                continue;
            };
            let agree = self.has_label_of(group.first, second);
            let with_next = [group.first, second].map(|row| self.has_label_of(row, next.first));
            if [agree, with_next[0], with_next[1]]
                .iter()
                .filter(|agree| **agree)
                .count()
                == 1
            {
                split += 1;
                differ += usize::from(!agree);
            }
        }
        lower_tail(&vec![2.0 / 3.0; split], differ)
    }

    /// The numbers of a row of the first predictions.
    fn numbers(&self, row: usize) -> &[f64] {
        let numbers = &self.sets[0].table.numbers;
        &numbers.values[row * numbers.columns..][..numbers.columns]
    }

    /// Whether two rows have the same labels or targets.
    fn has_label_of(&self, row: usize, other: usize) -> bool {
        let File { table, .. } = self.of_labels();
        let are_texts_same =
            (table.labels.iter()).all(|labels| labels.cells.get(row) == labels.cells.get(other));
        // in a file of their own targets are numbers
        let columns = table.numbers.columns;
        let numbers = |row: usize| &table.numbers.values[row * columns..][..columns];
        are_texts_same && (self.labels.is_none() || numbers(row) == numbers(other))
    }
}

/// A bound of the probability that at most so many of independent events happen: the least of Chernoff's bounds
/// `s^−count Π (1 − p + p s)` over some `s` from 0 to 1.
fn lower_tail(probabilities: &[f64], count: usize) -> f64 {
    let bound = |s: f64| {
        let logs = probabilities.iter().map(|p| (-p * (1.0 - s)).ln_1p());
        let power = if count == 0 {
            0.0
        } else {
            count as f64 * s.ln()
        };
        logs.sum::<f64>() - power
    };
    let some = (0..24).map(|halvings| 0.5f64.powi(halvings));
    // the exact probability that none happens
    let none = (count == 0).then_some(0.0);
    let least = some.chain(none).map(bound).fold(0.0, f64::min);
    least.exp()
}

/// The place of predictions among others, by which similar ones are neighbours: the largest number, and its lead. The
/// lead is that of logits and of logarithms, too.
fn place(numbers: &[f64]) -> (usize, f64) {
    if let [number] = numbers {
        return (0, *number);
    }
    let (mut top, mut largest, mut second) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (at, &x) in numbers.iter().enumerate() {
        if x > largest {
            (top, second, largest) = (at, largest, x);
        } else {
            second = second.max(x);
        }
    }
    (top, largest - second)
}

/// Rows with the same numbers.
struct Group {
    first: usize,
    second: Option<usize>,
}

/// The groups of rows with the same numbers, by a hash of them.
#[derive(Default)]
struct Groups {
    hasher: RandomState,
    places: HashMap<u64, usize>,
    all: Vec<Group>,
}

impl Groups {
    /// Puts a row into its group, and returns the first row with its numbers, unless it is this one.
    fn before(
        &mut self,
        row: usize,
        numbers: &[f64],
        same: impl Fn(usize, usize) -> bool,
    ) -> Option<usize> {
        let mut hasher = self.hasher.build_hasher();
        numbers.iter().for_each(|x| x.to_bits().hash(&mut hasher));
        match self.places.entry(hasher.finish()) {
            Entry::Occupied(place) => {
                let group = &mut self.all[*place.get()];
                let is_same = same(group.first, row);
                if is_same {
                    group.second.get_or_insert(row);
                }
                is_same.then_some(group.first)
            }
            Entry::Vacant(place) => {
                place.insert(self.all.len());
                self.all.push(Group {
                    first: row,
                    second: None,
                });
                None
            }
        }
    }
}

/// Whether a number has many decimals, as f64 and as f32, and is no end of a scale.
fn is_fine(x: f64) -> bool {
    let unit = 10f64.powi(FEW_DECIMALS);
    let rounded = (x * unit).round() / unit;
    (x - x.round()).abs() > END && x != rounded && x as f32 != rounded as f32
}
