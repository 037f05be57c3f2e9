//! Order statistics of many numbers, exactly, without storing them: a sample brackets each wanted number;
//! one pass counts those below the bracket and keeps those in it, and selects among them. Should the sample
//! mislead, the bracket is widened to everything.

use std::cmp::Reverse;

use crate::ops::simd::real::Real;

/// The most numbers that are kept without a bracket.
const FEW: u64 = 1 << 16;

/// The distances between pairs, which are computed again at each pass over them.
pub(super) trait Distances<T> {
    /// How many there are.
    fn count(&self) -> u64;

    /// Some of them, in any order.
    fn sample(&self) -> Vec<T>;

    /// What is known of an interval after a pass.
    fn between(&self, interval: [T; 2]) -> Between<T>;
}

/// Numbers by their place with respect to an interval.
#[derive(Debug, Clone, Default)]
pub(super) struct Between<T> {
    /// How many are below the interval.
    pub below: u64,
    /// Numbers in the interval, in any order.
    pub inside: Vec<T>,
    /// Others in it, in ascending order, and how often each occurs.
    pub repeated: Vec<(T, u64)>,
}

/// For each rank (0-based) the distance of that rank; infinity where it is not finite.
///
/// # Panics
///
/// If a rank is not below the number of distances.
pub(super) fn order_statistics<T: Real>(distances: &impl Distances<T>, ranks: &[u64]) -> Vec<f64> {
    let count = distances.count();
    let (Some(&least), Some(&greatest)) = (ranks.iter().min(), ranks.iter().max()) else {
        return Vec::new();
    };
    assert!(greatest < count, "rank {greatest} of {count} distances");
    if count > FEW {
        let interval = bracket(distances.sample(), count, [least, greatest]);
        let found = distances.between(interval);
        if found.below <= least && greatest < found.below + found.inside() {
            return found.at_ranks(ranks);
        }
    }
    distances.between(everything()).at_ranks(ranks)
}

/// The interval of all finite numbers.
pub(super) fn everything<T: Real>() -> [T; 2] {
    [-1.0, 1.0].map(|side| T::new(side).times(T::MAX))
}

impl<T: Real> Between<T> {
    /// How many are in the interval.
    fn inside(&self) -> u64 {
        self.inside.len() as u64 + self.repeated.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Counts equal numbers, so that each is kept once.
    pub fn count_repeated(&mut self) {
        self.inside.sort_unstable_by(T::total_cmp);
        let known = std::mem::take(&mut self.repeated);
        let mut known = known.into_iter().peekable();
        for equal in self.inside.chunk_by(|a, b| a == b) {
            let (number, mut count) = (equal[0], equal.len() as u64);
            while let Some(other) = known.next_if(|(other, _)| *other <= number) {
                if other.0 == number {
                    count += other.1
                } else {
                    self.repeated.push(other)
                }
            }
            self.repeated.push((number, count));
        }
        self.repeated.extend(known);
        self.inside.clear();
    }

    fn at_ranks(mut self, ranks: &[u64]) -> Vec<f64> {
        let below = self.below;
        if self.repeated.is_empty() {
            return at_ranks(self.inside, ranks.iter().map(|rank| rank - below).collect());
        }
        self.count_repeated();
        let at_rank = |&rank: &u64| {
            let mut end = below;
            let found = self.repeated.iter().find(|(_, count)| {
                end += count;
                rank < end
            });
            found.map_or(f64::INFINITY, |(number, _)| number.to_f64())
        };
        ranks.iter().map(at_rank).collect()
    }
}

/// The numbers at these places once they are sorted, infinity beyond the last one.
pub(super) fn at_ranks<T: Real>(mut numbers: Vec<T>, mut ranks: Vec<u64>) -> Vec<f64> {
    while let Some((below, inside)) = narrowed(&numbers, &ranks) {
        numbers = inside;
        ranks.iter_mut().for_each(|rank| *rank -= below);
    }
    // from the greatest rank downwards: what is to the left of it stays there
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&k| Reverse(ranks[k]));
    let mut found = vec![f64::INFINITY; ranks.len()];
    let mut end = numbers.len();
    for k in order {
        let place = ranks[k] as usize;
        if place < numbers.len() {
            found[k] = select_nth(&mut numbers[..end], place);
            end = place + 1;
        }
    }
    found
}

/// More numbers than these are narrowed before they are selected from.
const NARROW: usize = 2048;

/// Of many numbers those that can be of these ranks, and how many are below them; `None` where they are not
/// much fewer.
fn narrowed<T: Real>(numbers: &[T], ranks: &[u64]) -> Option<(u64, Vec<T>)> {
    let (least, greatest) = (*ranks.iter().min()?, *ranks.iter().max()?);
    if numbers.len() <= NARROW || greatest >= numbers.len() as u64 {
        return None;
    }
    let step = numbers.len() / (NARROW / 2);
    let sample = numbers.iter().step_by(step).copied().collect();
    let [low, high] = bracket(sample, numbers.len() as u64, [least, greatest]);
    let (mut below, mut count) = (0, 0);
    let mut inside = vec![T::new(0.0); numbers.len() + 1];
    for &x in numbers {
        inside[count] = x; // without a branch that cannot be foretold
        count += usize::from((low <= x) & (x <= high));
        below += u64::from(x < low);
    }
    inside.truncate(count);
    let holds = below <= least && greatest < below + count as u64;
    (holds && 2 * count < numbers.len()).then_some((below, inside))
}

/// The number at a place once they are sorted; it and the smaller ones are moved before the rest.
fn select_nth<T: Real>(numbers: &mut [T], place: usize) -> f64 {
    let (_, found, _) = numbers.select_nth_unstable_by(place, T::total_cmp);
    found.to_f64()
}

/// An interval that very probably holds the numbers of these ranks: five standard deviations of
/// a rank to both sides in a sample.
pub(super) fn bracket<T: Real>(mut sample: Vec<T>, count: u64, ranks: [u64; 2]) -> [T; 2] {
    let size = sample.len() as f64;
    let place = |rank: u64, side: f64| {
        let share = rank as f64 / count as f64;
        let margin = 5.0 * (share * (1.0 - share) * size).sqrt() + 4.0;
        share * size + side * margin
    };
    // finite, as differences of an infinite end and an infinite separation are NaN
    let mut at = |place: f64| match T::new(select_nth(&mut sample, place as usize)) {
        overflown if overflown > T::MAX => T::MAX,
        separation => separation,
    };
    let (first, last) = (place(ranks[0], -1.0), place(ranks[1], 1.0));
    [
        if first < 0.0 {
            T::new(-1.0).times(T::MAX)
        } else {
            at(first)
        },
        if last >= size { T::MAX } else { at(last) },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever their order, with ties and infinite ones: the numbers of a sort.
    #[test]
    fn selected_numbers_are_those_of_a_sort() {
        let n = 20_000u32;
        let scattered = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 8);
        let numbers: [&dyn Fn(u32) -> f64; 5] = [
            &scattered,
            &|k| f64::from(k),
            &|k| f64::from(n - k) * 1e-300,
            &|k| f64::from(k % 3),
            &|k| {
                if k % 2 == 0 {
                    f64::INFINITY
                } else {
                    scattered(k)
                }
            },
        ];
        for numbers in numbers {
            let numbers: Vec<f64> = (0..n).map(numbers).collect();
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            for ranks in [vec![9_999, 10_000], vec![0], vec![19_999, 3, 700], vec![]] {
                let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank as usize]).collect();
                assert_eq!(at_ranks(numbers.clone(), ranks), expected);
            }
            assert_eq!(at_ranks(numbers, vec![20_000]), [f64::INFINITY]);
        }
    }
}
