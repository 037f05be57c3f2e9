//! Order statistics of many numbers of at least 0, exactly, in bounded memory: a sample brackets the wanted
//! number; one pass counts those below the bracket and keeps those in it, and selects among them. Where there are
//! more in the bracket than are kept, those kept bracket the number more closely for another pass.

use crate::ops::simd::{arch::Arch, real::Real};

/// The most numbers that are kept.
pub(super) const MOST: usize = if cfg!(test) { 1 << 12 } else { 1 << 23 };
/// Numbers that are added together.
const TOGETHER: usize = 16;

/// Which numbers a pass visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Sample,
    All,
}

/// For each rank (0-based) the number of that rank.
///
/// - count: how many numbers there are
/// - add: adds those that a pass visits
pub(super) fn order_statistics<T: Real>(
    count: u64,
    ranks: &[u64],
    add: impl Fn(Pass, Within<T>) -> Within<T>,
) -> Vec<T> {
    let sample = add(Pass::Sample, Within::new(everything(), MOST));
    let mut last: Option<Within<T>> = None;
    let number = |&rank: &u64| {
        let found = last.take().filter(|last| last.has(rank));
        let share = rank as f64 / count as f64;
        let bracket = || sample.clone().bracket(share);
        let found = found.unwrap_or_else(|| find(rank, bracket(), &add));
        last.insert(found).number(rank)
    };
    ranks.iter().map(number).collect()
}

/// The numbers of an interval that has that of a rank: all of them, or they are equal.
fn find<T: Real>(
    rank: u64,
    mut next: [T; 2],
    add: &impl Fn(Pass, Within<T>) -> Within<T>,
) -> Within<T> {
    let mut known = everything();
    loop {
        let mut found = add(Pass::All, Within::new(next, MOST));
        let [low, high] = next;
        if !found.has(rank) {
            if rank < found.below {
                known[1] = low.next_down();
            } else {
                known[0] = high.next_up();
            }
            next = known;
        } else if found.kept.len() as u64 == found.inside || low == high {
            return found;
        } else {
            known = next;
            let share = (rank - found.below) as f64 / found.inside as f64;
            next = found.bracket(share);
            if next == known {
                // two numbers are nearly all
                let middle = (share * found.kept.len() as f64) as u64;
                next = [found.number(found.below + middle); 2];
            }
        }
    }
}

/// The numbers of some ranks among numbers that are all stored.
pub(super) fn of_stored<T: Real>(kept: Vec<T>, ranks: &[u64]) -> Vec<T> {
    let mut all = Within::new(everything(), kept.len());
    (all.inside, all.kept) = (kept.len() as u64, kept);
    ranks.iter().map(|&rank| all.number(rank)).collect()
}

fn everything<T: Real>() -> [T; 2] {
    [0.0, f64::INFINITY].map(T::new)
}

/// Numbers by their place with respect to a closed interval.
#[derive(Clone)]
pub(super) struct Within<T> {
    interval: [T; 2],
    /// How many are below the interval.
    below: u64,
    /// How many are in it.
    inside: u64,
    /// Those in it; a random sample where there are more than `most`.
    kept: Vec<T>,
    most: usize,
    /// So many of those kept are not greater than the others.
    sorted: usize,
}

impl<T: Real> Within<T> {
    /// The numbers of an interval, before any is added. Equal ones need not be kept.
    fn new(interval: [T; 2], most: usize) -> Self {
        Self {
            interval,
            below: 0,
            inside: 0,
            kept: Vec::new(),
            most: if interval[0] == interval[1] { 0 } else { most },
            sorted: 0,
        }
    }

    /// The same without numbers, as one of some parts that are [merged](Self::merge).
    pub fn part(&self, parts: usize) -> Self {
        Self::new(self.interval, self.most / parts)
    }

    /// Adds numbers; NaN stands for none.
    pub fn add(&mut self, numbers: &[T]) {
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let (groups, rest) = numbers.as_chunks();
                groups.iter().for_each(|group| self.add_group(group));
                if !rest.is_empty() {
                    let mut group = [T::new(f64::NAN); TOGETHER];
                    group[..rest.len()].copy_from_slice(rest);
                    self.add_group(&group);
                }
            },
        );
    }

    #[inline(always)]
    fn add_group(&mut self, numbers: &[T; TOGETHER]) {
        let [low, high] = self.interval;
        let (mut below, mut inside) = (0, 0u32);
        for (lane, &x) in numbers.iter().enumerate() {
            below += u32::from(x < low);
            inside |= u32::from((low <= x) & (x <= high)) << lane;
        }
        self.below += u64::from(below);
        while inside != 0 {
            self.keep(numbers[inside.trailing_zeros() as usize]);
            inside &= inside - 1;
        }
    }

    /// For more numbers than are kept each is kept with the same probability (Vitter's algorithm R).
    #[inline(always)]
    fn keep(&mut self, x: T) {
        self.inside += 1;
        if self.kept.len() < self.most {
            self.kept.push(x);
        } else if self.most > 0 {
            let scrambled = self.inside.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
            let place = (scrambled % self.inside) as usize;
            if place < self.most {
                self.kept[place] = x;
            }
        }
    }

    /// Adds what was added to a [part](Self::part).
    pub fn merge(&mut self, mut other: Self) {
        self.below += other.below;
        self.inside += other.inside;
        self.kept.append(&mut other.kept);
    }

    /// How many numbers are kept.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    fn has(&self, rank: u64) -> bool {
        (self.below..self.below + self.inside).contains(&rank)
    }

    /// The number of a rank in the interval, where its numbers are all kept, or equal.
    fn number(&mut self, rank: u64) -> T {
        let [low, high] = self.interval;
        if low == high {
            return low;
        }
        let place = (rank - self.below) as usize;
        let sorted = if place < self.sorted { 0 } else { self.sorted };
        self.sorted = place + 1;
        let rest = &mut self.kept[sorted..];
        *rest.select_nth_unstable_by(place - sorted, T::total_cmp).1
    }

    /// An interval that very probably has the number at a share of those of this one: four standard deviations of
    /// a rank to both sides among those that are kept.
    fn bracket(&mut self, share: f64) -> [T; 2] {
        let (size, [low, high]) = (self.kept.len() as f64, self.interval);
        let margin = 4.0 * (share * (1.0 - share) * size).sqrt() + 4.0;
        let mut at = |place: f64, end: T| {
            if (0.0..size).contains(&place) {
                self.number(self.below + place as u64)
            } else {
                end
            }
        };
        [
            at(share * size - margin, low),
            at(share * size + margin, high),
        ]
    }
}
