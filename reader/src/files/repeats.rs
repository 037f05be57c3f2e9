//! Rows that stand in the files more than once.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, Hash, Hasher, RandomState},
};

use super::{File, Files};

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

impl Files {
    /// The rows that repeat an earlier row wholly, in the numbers of the predictions and in the label; none where such
    /// repeats are natural. They are, unless all of these hold:
    ///
    /// - a number of the row has more than five decimals, and is not within 0.001 of a whole number,
    /// - such rows are five, and one in a hundred of all rows,
    /// - of the rows with such a number, at least one in ten has numbers that no earlier row has,
    /// - of the rows with the numbers of an earlier row, at most one in ten has another label.
    pub(super) fn repeats(&self) -> Option<usize> {
        let table = &self.sets[0].table;
        let (n, columns) = (table.rows(), table.numbers.columns.max(1));
        let rows = || table.numbers.values.chunks(columns).enumerate();
        let same = |a: usize, b: usize| {
            let row = |row: usize| &table.numbers.values[row * columns..][..columns];
            row(a) == row(b)
        };
        let mut first = Firsts::default();
        let (mut fine, mut repeated, mut whole) = (0, 0, 0);
        for (row, numbers) in rows().filter(|(_, numbers)| numbers.iter().any(|x| is_fine(*x))) {
            fine += 1;
            if let Some(earlier) = first.before(row, numbers, same) {
                repeated += 1;
                whole += usize::from(self.has_label_of(row, earlier));
            }
        }
        let [distinct, others] = [fine - repeated, repeated - whole].map(|count| count as f64);
        let is_told = whole as f64 >= (LEAST * n as f64).max(FEWEST)
            && distinct >= DISTINCT * fine as f64
            && others <= OTHERS * repeated as f64;
        is_told.then_some(whole)
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

/// The first row with each numbers, by a hash of them.
#[derive(Default)]
struct Firsts {
    hasher: RandomState,
    rows: HashMap<u64, usize>,
}

impl Firsts {
    /// The first row with the numbers of this row, unless it is this one.
    fn before(
        &mut self,
        row: usize,
        numbers: &[f64],
        same: impl Fn(usize, usize) -> bool,
    ) -> Option<usize> {
        let mut hasher = self.hasher.build_hasher();
        numbers.iter().for_each(|x| x.to_bits().hash(&mut hasher));
        match self.rows.entry(hasher.finish()) {
            Entry::Occupied(first) => Some(*first.get()).filter(|first| same(*first, row)),
            Entry::Vacant(place) => {
                place.insert(row);
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
