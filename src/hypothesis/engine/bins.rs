use std::sync::Arc;

use super::{Detail, EachSet, Evaluator, Place};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets, Redrawn as _, Weighted as _, Weights},
    error::Result,
    estimator::{Binning, Cwce, Event, EventBin, ScoredSample},
    parallel,
};

/// A binned error of an event: the bins are those of its probabilities, whatever the labels.
pub fn binned_error<F: Fn(&[EventBin]) -> f64 + Sync>(
    predictions: &Categorical,
    event: Event,
    binning: Binning,
    error: F,
) -> Result<impl Evaluator<LabelSets> + use<F>> {
    let (predictions, weights) = predictions.parted();
    event.check(predictions.classes())?;
    let rows = predictions.rows();
    let probabilities = event.probabilities(&predictions, &rows);
    let partition = binning.partition_weighted(&probabilities, 1, &weights)?;
    let bin = number_of_each(&partition, probabilities.len());
    // where all labels are the most likely class
    let likely = |i: usize| {
        let occurs = event.occurs(rows.top[i], rows.top[i]);
        ScoredSample {
            score: probabilities[i],
            occurred: f64::from(occurs),
            weight: weights.at(i),
        }
    };
    let of_bin = |members: &Vec<usize>| EventBin::of(members, likely);
    let bins: Vec<EventBin> = partition.iter().map(of_bin).collect();
    Ok(EachSet(move |flips: &[Flip]| {
        let mut changes = vec![(0.0, 0.0); bins.len()];
        for flip in flips {
            let i = flip.sample as usize;
            let (w, change) = (weights.at(i), event_change(event, rows.top[i], flip));
            let (count, squares) = &mut changes[bin[i] as usize];
            *count += w * change;
            *squares += w * w * (change * (1.0 - 2.0 * probabilities[i])); // (r − c)²
        }
        let changed = |(bin, (count, squares)): (&EventBin, (f64, f64))| EventBin {
            frequency: (bin.frequency * bin.weight + count) / bin.weight,
            square: bin.square + squares / bin.squares(),
            ..*bin
        };
        error(&bins.iter().zip(changes).map(changed).collect::<Vec<_>>())
    }))
}

/// A class-wise error: classes in turn, because the bins of many are too much to hold.
pub struct ClassWiseError<'a> {
    pub of: &'a Cwce,
    pub predictions: &'a Categorical,
}

impl Evaluator<LabelSets> for ClassWiseError<'_> {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let Cwce {
            binning,
            form,
            weight,
        } = *self.of;
        let classes = self.predictions.classes();
        let power = |bins: &[EventBin]| form.expected(bins.iter().copied());
        let powers = parallel::map(classes, &|class| {
            binned_error(self.predictions, Event::Class(class), binning, power)?.values(sets)
        });
        let mut sums = vec![0.0; sets.len()];
        for of_class in powers {
            let pairs = sums.iter_mut().zip(of_class?);
            pairs.for_each(|(sum, power)| *sum += power);
        }
        let error = |sum| form.root(weight.total(sum, classes));
        Ok(sums.into_iter().map(error).collect())
    }
}

/// The change in the occurrence of an event by a label that is not the most likely class.
fn event_change(event: Event, top: u32, flip: &Flip) -> f64 {
    let [before, after] = [top, flip.class].map(|class| event.occurs(class, top));
    f64::from(after) - f64::from(before)
}

/// The bin of each sample.
fn number_of_each(partition: &[Vec<usize>], samples: usize) -> Vec<u32> {
    let mut bin = vec![0; samples];
    for (number, members) in partition.iter().enumerate() {
        members.iter().for_each(|&i| bin[i] = number as u32);
    }
    bin
}

/// The Kolmogorov–Smirnov error of an event: the largest gap between the sums of its probabilities and of
/// its occurrences over the samples up to some probability.
pub struct CumulativeGap {
    event: Event,
    rows: Arc<ClassRows>,
    weights: Weights,
    /// The rank of each sample's probability among those at which the gap is taken.
    rank: Vec<u32>,
    /// `Σ (c − r)` over the samples of each rank where all labels are the most likely class.
    gaps: Vec<f64>,
    /// The sum of the weights.
    total: f64,
}

/// Share of the largest gap from which on the gap of all samples says the same: then the largest is no finding.
const REPEATED: f64 = 0.9;

impl CumulativeGap {
    /// Sorts the probabilities. The gap is taken at every distinct one, or at about `most` of them, of equal
    /// mass. The errors are those of an event that is not a class.
    pub fn new(predictions: &Categorical, event: Event, most: usize) -> Result<Self> {
        let (predictions, weights) = predictions.parted();
        event.check(predictions.classes())?;
        let rows = predictions.rows();
        let probabilities = event.probabilities(&predictions, &rows);
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|&i, &j| probabilities[i].total_cmp(&probabilities[j]));
        let total = weights.total(order.len());
        let (mut rank, mut gaps) = (vec![0u32; order.len()], Vec::new());
        let size = order.len().div_ceil(most);
        let mut members = 0; // of the last rank
        for ties in order.chunk_by(|&i, &j| probabilities[i] == probabilities[j]) {
            if members == 0 || members >= size {
                gaps.push(0.0);
                members = 0;
            }
            members += ties.len();
            let last = gaps.len() - 1;
            ties.iter().for_each(|&i| rank[i] = last as u32);
            let gap = |&i: &usize| {
                let top = rows.top[i];
                weights.at(i) * (f64::from(event.occurs(top, top)) - probabilities[i])
            };
            gaps[last] += ties.iter().map(gap).sum::<f64>();
        }
        Ok(Self {
            event,
            rows,
            weights,
            rank,
            gaps,
            total,
        })
    }

    /// The largest gap, and that of all samples, in size.
    fn largest_and_last(&self, flips: &[Flip]) -> [f64; 2] {
        let mut changes = vec![0.0; self.gaps.len()];
        for flip in flips {
            let sample = flip.sample as usize;
            let change = event_change(self.event, self.rows.top[sample], flip);
            changes[self.rank[sample] as usize] += self.weights.at(sample) * change;
        }
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for (gap, change) in self.gaps.iter().zip(changes) {
            sum += gap + change;
            largest = largest.max(f64::abs(sum));
        }
        [largest, sum.abs()].map(|gap| gap / self.total)
    }
}

impl Evaluator<LabelSets> for CumulativeGap {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| self.largest_and_last(flips)[0]))
    }

    /// A gap that is about that of all samples says what the mean says: it is no finding of its own.
    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let [largest, last] = self.largest_and_last(data.flips(0));
        let is_repeated = last >= REPEATED * largest;
        Ok(vec![Detail {
            least_p_value: f64::from(u8::from(is_repeated)),
            ..Detail::default()
        }])
    }
}

/// The binned event: `Σ_b (O_b − E_b)²/V_b` over bins of equal mass, with the expectation and the variance
/// of the count of each bin (Hosmer and Lemeshow 1980, with `V_b = Σ r(1 − r)`). For two classes the event
/// is class 1, of more that the most likely class is right.
pub struct BinnedCounts {
    event: Event,
    rows: Arc<ClassRows>,
    weights: Weights,
    /// The bin of each sample.
    bin: Vec<u32>,
    bins: Vec<CountBin>,
}

/// Sums over the samples of a bin.
#[derive(Debug, Clone, Copy, Default)]
struct CountBin {
    /// `O_b − E_b` where all labels are the most likely class.
    gap: f64,
    /// `V_b`.
    variance: f64,
    /// `Σ w`.
    weight: f64,
    /// The expected number of events.
    events: f64,
    /// The expected number of samples without the event.
    others: f64,
}

impl BinnedCounts {
    /// Takes at most so many bins.
    pub fn new(predictions: &Categorical, bins: usize) -> Result<Self> {
        let (predictions, weights) = predictions.parted();
        let rows = predictions.rows();
        let event = match rows.classes {
            2 => Event::Class(1),
            _ => Event::TopLabel,
        };
        let probabilities = event.probabilities(&predictions, &rows);
        let partition = Binning::EqualMass { bins }.partition_weighted(
            &probabilities,
            1,
            &Weights::default(),
        )?;
        let bin = number_of_each(&partition, probabilities.len());
        let of_bin = |members: &Vec<usize>| {
            let mut sums = CountBin::default();
            for &i in members {
                let (top, wrong) = (rows.top[i], rows.error_probability[i]);
                let w = weights.at(i);
                let [likely, unlikely] = [w * (1.0 - wrong), w * wrong];
                if event.occurs(top, top) {
                    sums.gap += unlikely;
                    sums.events += likely;
                    sums.others += unlikely;
                } else {
                    sums.gap -= unlikely;
                    sums.events += unlikely;
                    sums.others += likely;
                }
                sums.variance += w * w * (wrong * (1.0 - wrong));
                sums.weight += w;
            }
            sums
        };
        Ok(Self {
            bins: partition.iter().map(of_bin).collect(),
            event,
            rows,
            weights,
            bin,
        })
    }

    /// The number of bins.
    pub fn count(&self) -> usize {
        self.bins.len()
    }

    /// `O_b − E_b` of each bin.
    fn gaps(&self, flips: &[Flip]) -> Vec<f64> {
        let mut gaps: Vec<f64> = self.bins.iter().map(|bin| bin.gap).collect();
        for flip in flips {
            let i = flip.sample as usize;
            let change = event_change(self.event, self.rows.top[i], flip);
            gaps[self.bin[i] as usize] += self.weights.at(i) * change;
        }
        gaps
    }
}

impl CountBin {
    /// `(O_b − E_b)²/V_b`.
    fn term(&self, gap: f64) -> f64 {
        if gap == 0.0 {
            0.0
        } else {
            gap * gap / self.variance
        }
    }

    /// The rarer of the two outcomes in the bin.
    fn place(&self, gap: f64) -> Place {
        let (expected, excess) = if self.events <= self.others {
            (self.events, gap)
        } else {
            (self.others, -gap)
        };
        Place::Bin {
            probability: expected / self.weight,
            observed: expected + excess,
            expected,
        }
    }
}

impl Evaluator<LabelSets> for BinnedCounts {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| {
            let gaps = self.gaps(flips);
            let terms = self.bins.iter().zip(gaps);
            terms.map(|(bin, gap)| bin.term(gap)).sum()
        }))
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let gaps = self.gaps(data.flips(0));
        let bins = self.bins.iter().zip(gaps);
        let furthest = bins.max_by(|(a, x), (b, y)| a.term(*x).total_cmp(&b.term(*y)));
        Ok(vec![Detail {
            place: furthest.map(|(bin, gap)| bin.place(gap)),
            ..Detail::default()
        }])
    }
}
