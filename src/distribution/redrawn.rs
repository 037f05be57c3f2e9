use std::{fmt::Debug, sync::Arc};

use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

use super::{Predictive, Targets, class_rows::ClassRows};
use crate::parallel;

/// Data sets that share their predictions, each with targets of its own: many redraws, or the data
/// themselves as one set.
pub trait Redrawn: Clone + Debug + Send + Sync {
    /// The targets of one set, on the host.
    type Drawn;

    /// Collects the targets of each set.
    fn from_sets(sets: Vec<Self::Drawn>) -> Self;

    /// The number of sets.
    fn len(&self) -> usize;

    /// Returns whether there are no sets.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The targets of a set, `n` samples row by row.
    ///
    /// # Panics
    ///
    /// If there is no such set.
    fn set(&self, index: usize) -> Self::Drawn;
}

/// Redraws of a kind of prediction.
pub type RedrawnBy<P> = <<P as Predictive>::Targets as Targets>::Redrawn;

/// Draws sets of targets, some at a time.
pub struct Redrawer<S> {
    /// The number of sets that are drawn at a time, so that they fit into memory; it depends on the
    /// predictions alone, so that a seed gives the same sets whatever is computed from them.
    pub batch: usize,
    /// Draws a number of sets.
    pub draw: Box<Draw<S>>,
}

/// A function that draws a number of sets.
pub type Draw<S> = dyn Fn(usize, &mut dyn Rng) -> S;

/// Real targets of several sets.
impl Redrawn for Vec<Vec<f64>> {
    type Drawn = Vec<f64>;

    fn from_sets(sets: Vec<Vec<f64>>) -> Self {
        sets
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn set(&self, index: usize) -> Vec<f64> {
        self[index].clone()
    }
}

/// The labels of several sets as differences from a reference: of confident models a set is a few
/// differences from the most likely classes.
#[derive(Debug, Clone)]
pub struct LabelSets {
    reference: Arc<[u32]>,
    /// The flips; those of set `r` are `flips[starts[r]..starts[r + 1]]`, by increasing sample.
    flips: Vec<Flip>,
    starts: Vec<usize>,
}

/// A label that is not the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flip {
    pub sample: u32,
    pub class: u32,
}

impl LabelSets {
    /// Collects the labels of each set.
    pub(crate) fn against(reference: &Arc<[u32]>, sets: &[Vec<usize>]) -> Self {
        let (mut flips, mut starts) = (Vec::new(), vec![0]);
        for set in sets {
            assert_eq!(set.len(), reference.len(), "labels of each set");
            let pairs = set.iter().zip(reference.iter()).enumerate();
            flips.extend(pairs.filter_map(|(sample, (&class, &reference))| {
                (class != reference as usize).then_some(Flip {
                    sample: sample as u32,
                    class: class as u32,
                })
            }));
            starts.push(flips.len());
        }
        Self {
            reference: reference.clone(),
            flips,
            starts,
        }
    }

    /// Independent labels from the predictions, never one of probability 0: for each sample the sets in
    /// which it is not the most likely class, which are few for confident predictions, so that the cost
    /// is of the order of `n` and the differences.
    pub(super) fn draw(rows: &ClassRows, sets: usize, rng: &mut dyn Rng) -> Self {
        let chunks = rows.samples().div_ceil(CHUNK);
        let seeds: Vec<u64> = (0..chunks).map(|_| rng.next_u64()).collect();
        let parts: Vec<Vec<(u32, Flip)>> = parallel::map(chunks, &|chunk| {
            let mut rng = StdRng::seed_from_u64(seeds[chunk]);
            let samples = chunk * CHUNK..rows.samples().min((chunk + 1) * CHUNK);
            let (mut flips, mut scratch) = (Vec::new(), Vec::new());
            samples.for_each(|sample| {
                flips_of(rows, sample, sets, &mut rng, (&mut flips, &mut scratch));
            });
            flips.shrink_to_fit(); // those of all samples are held together
            flips
        });
        let mut starts = vec![0; sets + 1];
        for (set, _) in parts.iter().flatten() {
            starts[*set as usize + 1] += 1;
        }
        for set in 0..sets {
            starts[set + 1] += starts[set];
        }
        let mut next = starts.clone();
        let mut flips = vec![Flip::default(); starts[sets]];
        for (set, flip) in parts.into_iter().flatten() {
            let at = &mut next[set as usize];
            flips[*at] = flip;
            *at += 1;
        }
        Self {
            reference: rows.top.clone(),
            flips,
            starts,
        }
    }

    /// The labels that a set has where it has no [`Flip`].
    pub(crate) fn reference(&self) -> &Arc<[u32]> {
        &self.reference
    }

    /// The differences of a set from the reference, by increasing sample.
    pub(crate) fn flips(&self, set: usize) -> &[Flip] {
        &self.flips[self.starts[set]..self.starts[set + 1]]
    }

    /// The sums over the samples of each set, on all threads: `add` gets the flips of some
    /// consecutive samples at a time.
    ///
    /// The sets of a group go through the samples together, so that what belongs to the samples is read
    /// from memory once for all of them. They are so few that the numbers which they hold, `held` each, stay
    /// in the cache.
    pub(crate) fn sweep<A: Clone + Send + Sync>(
        &self,
        start: &A,
        held: usize,
        add: impl Fn(&mut A, &[Flip]) + Sync,
    ) -> Vec<A> {
        let group = self.len().div_ceil(2 * rayon::current_num_threads());
        let group = group.clamp(1, GROUP).min((HELD / held).max(1));
        let groups = parallel::map(self.len().div_ceil(group), &|k| {
            let first = k * group;
            let sets = first..self.len().min(first + group);
            let mut sums = vec![start.clone(); sets.len()];
            let mut rest: Vec<&[Flip]> = sets.map(|set| self.flips(set)).collect();
            for end in (CHUNK..self.reference.len() + CHUNK).step_by(CHUNK) {
                for (sum, rest) in sums.iter_mut().zip(&mut rest) {
                    let count = rest.iter().take_while(|flip| (flip.sample as usize) < end);
                    let (flips, others) = rest.split_at(count.count());
                    add(sum, flips);
                    *rest = others;
                }
            }
            sums
        });
        groups.into_iter().flatten().collect()
    }

    /// The value of each set, on all threads.
    pub(crate) fn map<T: Send>(&self, value: impl Fn(&[Flip]) -> T + Sync) -> Vec<T> {
        parallel::map(self.len(), &|set| value(self.flips(set)))
    }
}

/// The number of samples that share a generator, whatever the number of threads.
const CHUNK: usize = 512;
/// The largest number of sets that go through the samples together.
const GROUP: usize = 64;
/// The largest number of numbers that the sets of a group hold.
const HELD: usize = 1 << 15;
/// The expected number of flips of a batch of sets.
const FLIPS: f64 = (1 << 21) as f64;
/// The probability up to which the sets in which a sample is flipped are found by their gaps.
const RARE: f64 = 0.25;

/// The number of sets that are drawn at a time.
pub(super) fn batch(rows: &ClassRows) -> usize {
    (FLIPS / rows.expected_errors().max(1.0)).clamp(1.0, 1024.0) as usize
}

/// The sets in which a sample is flipped, and to what.
fn flips_of(
    rows: &ClassRows,
    sample: usize,
    sets: usize,
    rng: &mut StdRng,
    (flips, others): (&mut Vec<(u32, Flip)>, &mut Vec<f64>),
) {
    let wrong = rows.error_probability[sample];
    if wrong <= 0.0 {
        return;
    }
    let top = rows.top[sample] as usize;
    others.clear(); // Σ_{d ≤ c, d ≠ top} p_d, once it is needed
    let mut flip = |set: usize, u: f64| {
        if others.is_empty() {
            let mut sum = 0.0;
            others.extend(rows.row(sample).iter().enumerate().map(|(class, p)| {
                sum += if class == top { 0.0 } else { *p };
                sum
            }));
        }
        let below = u * others[others.len() - 1]; // in [0, total)
        let class = others.partition_point(|&sum| sum <= below);
        let flip = Flip {
            sample: sample as u32,
            class: class as u32,
        };
        flips.push((set as u32, flip));
    };
    if wrong > RARE {
        for set in 0..sets {
            let u: f64 = rng.random();
            if u < wrong {
                flip(set, u / wrong);
            }
        }
        return;
    }
    let mut u = 1.0 - rng.random::<f64>(); // in (0, 1]
    // (1 − wrong)^sets ≥ 1 − sets·wrong: most samples of confident predictions need no logarithms
    if u < 1.0 - 1e-9 - sets as f64 * wrong {
        return;
    }
    let rate = (-wrong).ln_1p().recip();
    let mut set = 0.0; // counted in f64: a gap can be beyond any integer
    loop {
        set += (u.ln() * rate).floor();
        if set >= sets as f64 {
            return;
        }
        flip(set as usize, rng.random());
        set += 1.0;
        u = 1.0 - rng.random::<f64>();
    }
}

impl Redrawn for LabelSets {
    type Drawn = Vec<usize>;

    /// The reference is the first set.
    fn from_sets(sets: Vec<Vec<usize>>) -> Self {
        let reference = sets.first().map_or(Vec::new(), |set| {
            set.iter().map(|&class| class as u32).collect()
        });
        Self::against(&reference.into(), &sets)
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn set(&self, index: usize) -> Vec<usize> {
        let mut labels: Vec<usize> = self.reference.iter().map(|&class| class as usize).collect();
        for flip in self.flips(index) {
            labels[flip.sample as usize] = flip.class as usize;
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor};

    use super::*;
    use crate::distribution::Categorical;

    /// However many sets go through the samples together.
    #[test]
    fn sweeps_see_every_flip() {
        let p = [[0.5, 0.3, 0.2]; 1100]; // three chunks
        let rows = Categorical::from_probabilities(Tensor::from_floats(p, &Device::default()));
        let drawn = LabelSets::draw(&rows.unwrap().rows(), 9, &mut StdRng::seed_from_u64(2));
        for held in [1, HELD / 2, 2 * HELD] {
            let seen = drawn.sweep(&Vec::new(), held, |seen, flips| seen.extend(flips.to_vec()));
            assert_eq!(seen.len(), 9);
            for (set, seen) in seen.iter().enumerate() {
                assert_eq!(seen, drawn.flips(set), "{held}");
            }
        }
    }

    #[test]
    fn sets_are_what_they_are_made_of() {
        let sets = vec![vec![0, 2, 1], vec![0, 1, 1], vec![2, 2, 2]];
        let reference: Arc<[u32]> = vec![0, 1, 1].into();
        let drawn = LabelSets::against(&reference, &sets);
        assert_eq!((0..3).map(|set| drawn.set(set)).collect::<Vec<_>>(), sets);
        assert_eq!(drawn.flips(1), []);
        assert_eq!(
            drawn.flips(0),
            [Flip {
                sample: 1,
                class: 2
            }]
        );
    }
}
