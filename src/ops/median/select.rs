//! Order statistics of many numbers of at least 0, exactly, without storing them: a sample brackets the wanted
//! number; one pass counts those below the bracket and keeps those in it, and selects among them. Of too many in
//! the bracket a part is kept, which brackets the number more closely for another pass.

use crate::ops::simd::real::Real;

/// The most numbers that are kept.
pub(super) const MOST: usize = if cfg!(test) { 1 << 12 } else { 1 << 23 };
/// Numbers that are added together.
pub(super) const TOGETHER: usize = 16;

/// Numbers by their place with respect to a closed interval.
#[derive(Debug, Clone)]
pub(super) struct Within<T> {
    interval: [T; 2],
    /// How many are below the interval.
    below: u64,
    /// How many are in it.
    inside: u64,
    /// Those in it; where there are more than `most`, those of every `step`-th addition.
    pub kept: Vec<T>,
    most: usize,
    step: u64,
    additions: u64,
    /// So many of those kept are not greater than the others.
    sorted: usize,
}

impl<T: Real> Within<T> {
    /// The numbers of an interval, before any is added.
    fn new(interval: [T; 2]) -> Self {
        Self {
            interval,
            below: 0,
            inside: 0,
            kept: Vec::new(),
            most: MOST,
            step: 1,
            additions: 0,
            sorted: 0,
        }
    }

    /// All numbers, in any order.
    pub fn stored(kept: Vec<T>) -> Self {
        Self {
            inside: kept.len() as u64,
            kept,
            ..Self::new([0.0, f64::INFINITY].map(T::new))
        }
    }

    /// The same without numbers, as one of some parts that are [merged](Self::merge).
    pub fn part(&self, parts: usize) -> Self {
        Self {
            most: self.most / parts,
            ..Self::new(self.interval)
        }
    }

    /// Adds numbers; NaN stands for none.
    #[inline(always)]
    pub fn add(&mut self, numbers: &[T; TOGETHER]) {
        let [low, high] = self.interval;
        let (mut below, mut inside) = (0, 0u32);
        for (lane, &x) in numbers.iter().enumerate() {
            below += u32::from(x < low);
            inside |= u32::from((low <= x) & (x <= high)) << lane;
        }
        self.below += u64::from(below);
        if inside == 0 {
            return;
        }
        self.inside += u64::from(inside.count_ones());
        self.additions += 1;
        if self.additions & (self.step - 1) == 0 {
            while inside != 0 {
                self.kept.push(numbers[inside.trailing_zeros() as usize]);
                inside &= inside - 1;
            }
            self.thin_out(1);
        }
    }

    /// Keeps at most so many numbers as wanted, with at least this step, a power of 2.
    fn thin_out(&mut self, step: u64) {
        while self.step < step || self.kept.len() > self.most {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.step *= 2;
        }
    }

    /// Adds what was added to a [part](Self::part).
    pub fn merge(mut self, mut other: Self) -> Self {
        self.thin_out(other.step);
        other.thin_out(self.step);
        self.below += other.below;
        self.inside += other.inside;
        self.kept.append(&mut other.kept);
        self.thin_out(1);
        self
    }

    fn has(&self, rank: u64) -> bool {
        (self.below..self.below + self.inside).contains(&rank)
    }

    /// The number of a rank in the interval, where its numbers are all kept, or equal.
    pub fn number(&mut self, rank: u64) -> T {
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

/// For each rank (0-based) the number of that rank.
///
/// - add: adds all numbers, or else a sample of them
pub(super) fn order_statistics<T: Real>(
    count: u64,
    ranks: &[u64],
    add: impl Fn(bool, Within<T>) -> Within<T>,
) -> Vec<T> {
    let sample = add(false, Within::stored(Vec::new()));
    let mut last: Option<Within<T>> = None;
    let number = |&rank: &u64| {
        let found = last.take().filter(|last| last.has(rank));
        let share = rank as f64 / count as f64;
        let find = || {
            find(rank, sample.clone().bracket(share), |within| {
                add(true, within)
            })
        };
        last.insert(found.unwrap_or_else(find)).number(rank)
    };
    ranks.iter().map(number).collect()
}

/// The numbers of an interval that has that of a rank: all of them, or they are equal.
fn find<T: Real>(rank: u64, mut next: [T; 2], add: impl Fn(Within<T>) -> Within<T>) -> Within<T> {
    let mut known = [0.0, f64::INFINITY].map(T::new);
    loop {
        let mut found = add(Within::new(next));
        let [low, high] = next;
        if !found.has(rank) {
            if rank < found.below {
                known[1] = low.next_down();
            } else {
                known[0] = high.next_up();
            }
            next = known;
        } else if found.step == 1 || low == high {
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
