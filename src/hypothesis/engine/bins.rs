use std::sync::Arc;

use super::Evaluator;
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets},
    error::Result,
    estimator::{Binning, Event, EventBin},
};

/// A binned error of the top label: the bins are those of the confidences, whatever the labels.
pub struct BinnedEvent<F> {
    /// The bin of each sample.
    bin: Vec<u32>,
    /// The confidence of each sample.
    confidences: Vec<f64>,
    /// The bins where all labels are the most likely class.
    bins: Vec<EventBin>,
    error: F,
}

impl<F: Fn(&[EventBin]) -> f64 + Sync> BinnedEvent<F> {
    pub fn new(predictions: &Categorical, binning: Binning, error: F) -> Result<Self> {
        let rows = predictions.rows();
        let confidences = Event::TopLabel.probabilities(&rows);
        let partition = binning.partition_rows(&confidences, 1)?;
        let mut bin = vec![0; confidences.len()];
        for (number, members) in partition.iter().enumerate() {
            members.iter().for_each(|&i| bin[i] = number as u32);
        }
        let of_bin = |members: &Vec<usize>| {
            let size = members.len() as f64;
            let mean = |of: fn(f64) -> f64| {
                members.iter().map(|&i| of(confidences[i])).sum::<f64>() / size
            };
            EventBin {
                size,
                probability: mean(|r| r),
                frequency: 1.0,
                square: mean(|r| (1.0 - r) * (1.0 - r)),
            }
        };
        Ok(Self {
            bin,
            bins: partition.iter().map(of_bin).collect(),
            confidences,
            error,
        })
    }

    fn of(&self, flips: &[Flip]) -> f64 {
        let mut wrong = vec![(0.0, 0.0); self.bins.len()];
        for flip in flips {
            let i = flip.sample as usize;
            let (count, squares) = &mut wrong[self.bin[i] as usize];
            *count += 1.0;
            *squares += 2.0 * self.confidences[i] - 1.0; // r² − (1 − r)²
        }
        let bins = self.bins.iter().zip(wrong);
        let bins: Vec<_> = bins
            .map(|(&bin, (wrong, squares))| EventBin {
                frequency: (bin.size - wrong) / bin.size,
                square: bin.square + squares / bin.size,
                ..bin
            })
            .collect();
        (self.error)(&bins)
    }
}

impl<F: Fn(&[EventBin]) -> f64 + Sync> Evaluator<Categorical> for BinnedEvent<F> {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| self.of(flips)))
    }
}

/// The Kolmogorov–Smirnov error of an event: the largest gap between the sums of its probabilities and of
/// its occurrences over the samples up to some probability.
pub struct CumulativeGap {
    event: Event,
    top: Arc<[u32]>,
    /// The rank of each sample's probability among those at which the gap is taken.
    rank: Vec<u32>,
    /// `Σ (c − r)` over the samples of each rank where all labels are the most likely class.
    gaps: Vec<f64>,
}

impl CumulativeGap {
    /// Takes the gap at every distinct probability, or at about `most` of them, of equal mass.
    /// The errors are those of an event that is not a class.
    pub fn new(predictions: &Categorical, event: Event, most: usize) -> Result<Self> {
        event.check(predictions.classes())?;
        let rows = predictions.rows();
        let probabilities = event.probabilities(&rows);
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|&i, &j| probabilities[i].total_cmp(&probabilities[j]));
        let (mut rank, mut gaps) = (vec![0; order.len()], Vec::new());
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
                f64::from(event.occurs(top, top)) - probabilities[i]
            };
            gaps[last] += ties.iter().map(gap).sum::<f64>();
        }
        Ok(Self {
            event,
            top: rows.top.clone(),
            rank,
            gaps,
        })
    }

    fn of(&self, flips: &[Flip]) -> f64 {
        let mut changes = vec![0.0; self.gaps.len()];
        for flip in flips {
            let sample = flip.sample as usize;
            let top = self.top[sample];
            let [before, after] = [top, flip.class].map(|class| self.event.occurs(class, top));
            changes[self.rank[sample] as usize] += f64::from(after) - f64::from(before);
        }
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for (gap, change) in self.gaps.iter().zip(changes) {
            sum += gap + change;
            largest = largest.max(f64::abs(sum));
        }
        largest / self.rank.len() as f64
    }
}

impl Evaluator<Categorical> for CumulativeGap {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| self.of(flips)))
    }
}

/// The binned event: `Σ_b (O_b − E_b)²/V_b` over bins of equal mass, with the expectation and the variance of
/// the count of each bin (Hosmer and Lemeshow 1980, with `V_b = Σ r(1 − r)`). Of two classes the event is
/// class 1, of more that the most likely class is right.
pub struct BinnedCounts {
    rows: Arc<ClassRows>,
    /// The bin of each sample.
    bin: Vec<u32>,
    /// `O_b − E_b` of each bin where all labels are the most likely class, and `V_b`.
    bins: Vec<[f64; 2]>,
}

impl BinnedCounts {
    /// Takes at most so many bins.
    pub fn new(predictions: &Categorical, bins: usize) -> Result<Self> {
        let rows = predictions.rows();
        let n = rows.samples();
        let probability = |i: usize| match rows.classes {
            2 => rows.row(i)[1],
            _ => rows.confidence(i),
        };
        let probabilities: Vec<f64> = (0..n).map(probability).collect();
        let partition = Binning::EqualMass { bins }.partition_rows(&probabilities, 1)?;
        let mut bin = vec![0; n];
        let of_bin = |(number, members): (usize, &Vec<usize>)| {
            let mut sums = [0.0; 2];
            for &i in members {
                bin[i] = number as u32;
                let wrong = rows.error_probability[i];
                sums[0] -= Self::change(&rows, i) * wrong;
                sums[1] += wrong * (1.0 - wrong);
            }
            sums
        };
        let bins = partition.iter().enumerate().map(of_bin).collect();
        Ok(Self { rows, bin, bins })
    }

    /// The number of bins.
    pub fn count(&self) -> usize {
        self.bins.len()
    }

    /// The change in the count of the event by a label that is not the most likely class.
    fn change(rows: &ClassRows, sample: usize) -> f64 {
        if rows.classes == 2 && rows.top[sample] == 0 {
            1.0
        } else {
            -1.0
        }
    }

    fn of(&self, flips: &[Flip]) -> f64 {
        let mut gaps: Vec<f64> = self.bins.iter().map(|[gap, _]| *gap).collect();
        for flip in flips {
            let i = flip.sample as usize;
            gaps[self.bin[i] as usize] += Self::change(&self.rows, i);
        }
        let bins = gaps.iter().zip(&self.bins);
        let term = |(gap, [_, variance]): (&f64, &[f64; 2])| {
            if *gap == 0.0 {
                0.0
            } else {
                gap * gap / variance
            }
        };
        bins.map(term).sum()
    }
}

impl Evaluator<Categorical> for BinnedCounts {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(|flips| self.of(flips)))
    }
}

#[cfg(test)]
mod tests {
    use crate::estimator::Estimator;
    use burn::tensor::{DType, Device, Tensor, TensorData};
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{
        distribution::{Predictive, Redrawn},
        estimator::KolmogorovSmirnov,
    };

    /// The counts of bins by hand: of class 1 of two classes, of the most likely class of three.
    #[test]
    fn counts_of_bins() {
        for m in [2, 3] {
            let row = |i: usize| {
                let p = 0.05 + 0.9 * i as f64 / 11.0;
                if m == 2 {
                    vec![1.0 - p, p]
                } else {
                    vec![0.3 * (1.0 - p), p, 0.7 * (1.0 - p)]
                }
            };
            let rows: Vec<Vec<f64>> = (0..12).map(row).collect();
            let data = TensorData::new(rows.concat(), [12, m]);
            let tensor = Tensor::<2>::from_data(data, (&Device::default(), DType::F64));
            let predictions = Categorical::from_probabilities(tensor).unwrap();
            let labels: Vec<usize> = (0..12).map(|i| i * 5 % m).collect();
            let event = |i: usize| -> (f64, bool) {
                let top = (1..m).fold(0, |top, c| if rows[i][c] > rows[i][top] { c } else { top });
                let class = if m == 2 { 1 } else { top };
                (rows[i][class], labels[i] == class)
            };
            let mut order: Vec<usize> = (0..12).collect();
            order.sort_by(|&i, &j| event(i).0.total_cmp(&event(j).0));
            let of_bin = |members: &[usize]| {
                let gap: f64 = members
                    .iter()
                    .map(|&i| f64::from(event(i).1) - event(i).0)
                    .sum();
                let variance: f64 = members
                    .iter()
                    .map(|&i| event(i).0 * (1.0 - event(i).0))
                    .sum();
                gap * gap / variance
            };
            let expected: f64 = order.chunks(4).map(of_bin).sum();
            let counts = BinnedCounts::new(&predictions, 3).unwrap();
            assert_eq!(counts.count(), 3);
            let found = counts.values(&predictions.as_redrawn(&labels)).unwrap()[0];
            assert!((found - expected).abs() < 1e-12, "{m}: {found}, {expected}");
        }
    }

    /// At fewer probabilities the gap is at most the largest, and misses no more than a group of samples
    /// can add; ties are not split.
    #[test]
    fn gaps_at_some_confidences() {
        let mut rng = StdRng::seed_from_u64(1);
        let n = 200;
        let row = |_| {
            let p = f64::from(rng.random_range(10u32..60)) / 60.0;
            [p, 1.0 - p]
        };
        let rows: Vec<[f64; 2]> = (0..n).map(row).collect();
        let rows = TensorData::new(rows.concat(), [n, 2]);
        let rows = Tensor::<2>::from_data(rows, (&Device::default(), DType::F64));
        let predictions = Categorical::from_probabilities(rows).unwrap();
        let sets = (predictions.redrawer().draw)(50, &mut rng);
        for event in [Event::TopLabel, Event::Class(1)] {
            gaps_of(event, &predictions, &sets);
        }
    }

    fn gaps_of(event: Event, predictions: &Categorical, sets: &LabelSets) {
        let n = predictions.len();
        let exact: Vec<f64> = (0..sets.len())
            .map(|set| {
                let labels = predictions.observed(&sets.set(set));
                let estimate = KolmogorovSmirnov::new(event).estimate(predictions, &labels);
                estimate.unwrap()
            })
            .collect();
        for most in [1, 3, 10, 200, 4096] {
            let gaps = CumulativeGap::new(predictions, event, most).unwrap();
            let ranks = gaps.gaps.len();
            assert!(ranks <= most, "{ranks}, {most}");
            let mut members = vec![0; ranks];
            gaps.rank
                .iter()
                .for_each(|&rank| members[rank as usize] += 1);
            let largest = *members.iter().max().unwrap() as f64 / n as f64;
            let probabilities = event.probabilities(&predictions.rows());
            for (i, r) in probabilities.iter().enumerate() {
                for (j, s) in probabilities.iter().enumerate() {
                    assert!(r != s || gaps.rank[i] == gaps.rank[j]);
                    assert!(r >= s || gaps.rank[i] <= gaps.rank[j]);
                }
            }
            for (value, exact) in gaps.values(sets).unwrap().iter().zip(&exact) {
                assert!(*value <= exact + 1e-12 && *value >= exact - largest);
                assert!(most < n || (value - exact).abs() < 1e-12);
            }
        }
    }
}
