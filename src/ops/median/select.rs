//! Order statistics of many numbers, exactly, without storing them: a sample brackets the wanted number; one
//! pass counts those below the bracket and keeps those in it, and selects among them. Of too many in the bracket
//! a part is kept, which brackets the number more closely for another pass.

use crate::ops::simd::real::Real;

/// The most numbers that are kept without a bracket.
const FEW: u64 = 1 << 16;
/// The most numbers that are selected from without a bracket.
const FEW_STORED: usize = 1 << 11;
/// The most numbers that are kept of a bracket.
pub(super) const MOST: usize = if cfg!(test) { 1 << 12 } else { 1 << 22 };
/// The most numbers that are added together.
pub(super) const TOGETHER: usize = 32;

/// The distances between pairs, which are computed again at each pass over them. NaN counts as infinity.
pub(super) trait Distances<T> {
    /// Returns how many there are.
    fn count(&self) -> u64;

    /// Returns some of them, in any order.
    fn sample(&self) -> Vec<T>;

    /// Adds all of them.
    fn add_to(&self, within: Within<T>) -> Within<T>;
}

/// Numbers by their place with respect to a closed interval.
#[derive(Debug, Clone)]
pub(super) struct Within<T> {
    /// Without one, all numbers are kept.
    interval: Option<[T; 2]>,
    /// How many are below the interval.
    pub below: u64,
    /// How many are equal to its lower end, and else to its upper one.
    at_ends: [u64; 2],
    /// How many are strictly between its ends.
    between: u64,
    /// Every `step`-th number between, in any order; a power of 2.
    pub kept: Vec<T>,
    step: u64,
}

/// The place of a rank: its number, or a closer interval that it is in.
enum Place<T> {
    Number(T),
    Bracketed([T; 2]),
    Below,
    Above,
}

impl<T: Real> Within<T> {
    /// The numbers of an interval, before any is added.
    pub fn new(interval: Option<[T; 2]>) -> Self {
        Self {
            interval,
            below: 0,
            at_ends: [0; 2],
            between: 0,
            kept: Vec::new(),
            step: 1,
        }
    }

    /// The same without numbers.
    pub fn emptied(&self) -> Self {
        Self::new(self.interval)
    }

    /// Adds at most [`TOGETHER`] numbers.
    #[inline(always)]
    pub fn add(&mut self, numbers: &[T]) {
        let Some([low, high]) = self.interval else {
            return self.kept.extend_from_slice(numbers);
        };
        let (mut below, mut not_above) = (0u32, 0u32);
        for &x in numbers {
            below += u32::from(x < low);
            not_above += u32::from(x <= high);
        }
        self.below += u64::from(below);
        if not_above > below {
            // without a branch that cannot be foretold
            let (mut inside, mut count) = ([T::new(0.0); TOGETHER + 1], 0);
            for &x in numbers {
                inside[count] = x;
                count += usize::from((low <= x) & (x <= high));
            }
            self.keep(&inside[..count], [low, high]);
        }
    }

    fn keep(&mut self, inside: &[T], [low, high]: [T; 2]) {
        for &x in inside {
            if x == low {
                self.at_ends[0] += 1;
            } else if x == high {
                self.at_ends[1] += 1;
            } else {
                if self.between & (self.step - 1) == 0 {
                    self.kept.push(x);
                }
                self.between += 1;
            }
        }
        self.thin_out(1);
    }

    /// Keeps at most [`MOST`] numbers, with at least this step.
    fn thin_out(&mut self, step: u64) {
        while self.step < step || self.kept.len() > MOST {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.step *= 2;
        }
    }

    /// Adds what was added to another one of the same interval.
    pub fn merge(mut self, mut other: Self) -> Self {
        self.thin_out(other.step);
        other.thin_out(self.step);
        self.below += other.below;
        self.between += other.between;
        for (own, other) in self.at_ends.iter_mut().zip(other.at_ends) {
            *own += other;
        }
        self.kept.append(&mut other.kept);
        self.thin_out(1);
        self
    }

    fn place(&self, rank: u64, [low, high]: [T; 2]) -> Place<T> {
        let [first, last] = self.at_ends;
        match rank.checked_sub(self.below) {
            None => Place::Below,
            Some(rank) if rank < first => Place::Number(low),
            Some(rank) if rank - first < self.between => {
                if self.step == 1 {
                    return Place::Number(stored(&self.kept, &[rank - first])[0]);
                }
                let [from, to] = bracket(self.kept.clone(), self.between, rank - first);
                let from = if from < low { low } else { from };
                let to = if to > high { high } else { to };
                Place::Bracketed([from, to])
            }
            Some(rank) if rank - first - self.between < last => Place::Number(high),
            Some(_) => Place::Above,
        }
    }
}

/// For each rank (0-based) the distance of that rank; infinity where it is not finite.
///
/// # Panics
///
/// If a rank is not below the number of distances.
pub(super) fn order_statistics<T: Real>(distances: &impl Distances<T>, ranks: &[u64]) -> Vec<f64> {
    let count = distances.count();
    for &rank in ranks {
        assert!(rank < count, "rank {rank} of {count} distances");
    }
    let numbers = if count <= FEW {
        stored(&distances.add_to(Within::new(None)).kept, ranks)
    } else {
        search(distances, ranks)
    };
    numbers.into_iter().map(T::to_f64).collect()
}

/// The numbers of ranks among numbers that are stored.
pub(super) fn stored<T: Real>(numbers: &[T], ranks: &[u64]) -> Vec<T> {
    if numbers.len() > FEW_STORED {
        return search(&Stored(numbers), ranks);
    }
    let mut numbers = numbers.to_vec();
    let select = |&rank: &u64| select_nth(&mut numbers, rank as usize);
    ranks.iter().map(select).collect()
}

struct Stored<'a, T>(&'a [T]);

impl<T: Real> Distances<T> for Stored<'_, T> {
    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn sample(&self) -> Vec<T> {
        let step = 2 * self.0.len() / FEW_STORED;
        self.0.iter().step_by(step).copied().collect()
    }

    fn add_to(&self, mut within: Within<T>) -> Within<T> {
        self.0.chunks(TOGETHER).for_each(|some| within.add(some));
        within
    }
}

fn search<T: Real>(distances: &impl Distances<T>, ranks: &[u64]) -> Vec<T> {
    let (sample, mut last) = (distances.sample(), None);
    let find = |&rank: &u64| find(distances, rank, &sample, &mut last);
    ranks.iter().map(find).collect()
}

/// The distance of a rank, after the passes that it takes: mostly one, or none if it is in the interval of the
/// last pass.
fn find<T: Real>(
    distances: &impl Distances<T>,
    rank: u64,
    sample: &[T],
    last: &mut Option<([T; 2], Within<T>)>,
) -> T {
    let pass = |interval| (interval, distances.add_to(Within::new(Some(interval))));
    let first = || pass(bracket(sample.to_vec(), distances.count(), rank));
    let mut known = everything();
    let mut current = last.take().unwrap_or_else(first);
    loop {
        let (interval, within) = &current;
        let next = match within.place(rank, *interval) {
            Place::Number(x) => {
                *last = Some(current);
                return x;
            }
            Place::Below => {
                known[1] = interval[0];
                known
            }
            Place::Above => {
                known[0] = interval[1];
                known
            }
            Place::Bracketed(closer) => {
                known = *interval;
                closer
            }
        };
        current = pass(next);
    }
}

/// The interval of all numbers.
fn everything<T: Real>() -> [T; 2] {
    [-1.0, 2.0].map(|factor| T::new(factor).times(T::MAX))
}

/// The number at a place once they are sorted; it and the smaller ones are moved before the rest.
fn select_nth<T: Real>(numbers: &mut [T], place: usize) -> T {
    *numbers.select_nth_unstable_by(place, T::total_cmp).1
}

/// An interval that very probably holds the number of a rank: five standard deviations of a rank to both sides
/// in a sample.
fn bracket<T: Real>(mut sample: Vec<T>, count: u64, rank: u64) -> [T; 2] {
    let (size, share) = (sample.len() as f64, rank as f64 / count as f64);
    let margin = 5.0 * (share * (1.0 - share) * size).sqrt() + 4.0;
    let mut at = |place: f64, end: T| {
        if (0.0..size).contains(&place) {
            select_nth(&mut sample, place as usize)
        } else {
            end
        }
    };
    let [least, greatest] = everything();
    let place = share * size;
    [at(place - margin, least), at(place + margin, greatest)]
}
