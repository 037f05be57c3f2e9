use super::{EachSet, Evaluator};
use crate::{
    distribution::{Categorical, Flip, LabelSets},
    error::Result,
    estimator::{Binning, Event, EventBin},
};

/// A binned error of the top label: the bins are those of the confidences, whatever the labels.
pub fn binned_error<F: Fn(&[EventBin]) -> f64 + Sync>(
    predictions: &Categorical,
    binning: Binning,
    error: F,
) -> Result<impl Evaluator<LabelSets> + use<F>> {
    let confidences = Event::TopLabel.probabilities(&predictions.rows());
    let partition = binning.partition_rows(&confidences, 1)?;
    let bin = number_of_each(&partition, confidences.len());
    // where all labels are the most likely class
    let of_bin = |members: &Vec<usize>| {
        let size = members.len() as f64;
        let mean =
            |of: fn(f64) -> f64| members.iter().map(|&i| of(confidences[i])).sum::<f64>() / size;
        EventBin {
            size,
            probability: mean(|r| r),
            frequency: 1.0,
            square: mean(|r| (1.0 - r) * (1.0 - r)),
        }
    };
    let bins: Vec<EventBin> = partition.iter().map(of_bin).collect();
    Ok(EachSet::new(move |flips: &[Flip]| {
        let mut wrong = vec![(0.0, 0.0); bins.len()];
        for flip in flips {
            let i = flip.sample as usize;
            let (count, squares) = &mut wrong[bin[i] as usize];
            *count += 1.0;
            *squares += 2.0 * confidences[i] - 1.0; // r² − (1 − r)²
        }
        let bins = bins.iter().zip(wrong);
        let bins: Vec<_> = bins
            .map(|(&bin, (wrong, squares))| EventBin {
                frequency: (bin.size - wrong) / bin.size,
                square: bin.square + squares / bin.size,
                ..bin
            })
            .collect();
        error(&bins)
    }))
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
///
/// The gap is taken at every distinct probability, or at about `most` of them, of equal mass.
/// The errors are those of an event that is not a class.
pub fn cumulative_gap(
    predictions: &Categorical,
    event: Event,
    most: usize,
) -> Result<impl Evaluator<LabelSets> + use<>> {
    event.check(predictions.classes())?;
    let rows = predictions.rows();
    let probabilities = event.probabilities(&rows);
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&i, &j| probabilities[i].total_cmp(&probabilities[j]));
    // the rank of each sample's probability among those at which the gap is taken, and Σ (c − r) over the samples of
    // each rank where all labels are the most likely class
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
            f64::from(event.occurs(top, top)) - probabilities[i]
        };
        gaps[last] += ties.iter().map(gap).sum::<f64>();
    }
    Ok(EachSet::new(move |flips: &[Flip]| {
        let mut changes = vec![0.0; gaps.len()];
        for flip in flips {
            let sample = flip.sample as usize;
            let top = rows.top[sample];
            let [before, after] = [top, flip.class].map(|class| event.occurs(class, top));
            changes[rank[sample] as usize] += f64::from(after) - f64::from(before);
        }
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for (gap, change) in gaps.iter().zip(changes) {
            sum += gap + change;
            largest = largest.max(f64::abs(sum));
        }
        largest / rank.len() as f64
    }))
}

/// The binned event: `Σ_b (O_b − E_b)²/V_b` over bins of equal mass, with the expectation and the variance of
/// the count of each bin (Hosmer and Lemeshow 1980, with `V_b = Σ r(1 − r)`). Of two classes the event is
/// class 1, of more that the most likely class is right. Takes at most so many bins, and gives their number.
pub fn binned_counts(
    predictions: &Categorical,
    bins: usize,
) -> Result<(impl Evaluator<LabelSets> + use<>, usize)> {
    let rows = predictions.rows();
    let probability = |i: usize| match rows.classes {
        2 => rows.row(i)[1],
        _ => rows.confidence(i),
    };
    let probabilities: Vec<f64> = (0..rows.samples()).map(probability).collect();
    let partition = Binning::EqualMass { bins }.partition_rows(&probabilities, 1)?;
    let bin = number_of_each(&partition, probabilities.len());
    // the change in the count of the event by a label that is not the most likely class
    let of_zero = rows.classes == 2;
    let top = rows.top.clone();
    let change = move |sample: usize| {
        if of_zero && top[sample] == 0 {
            1.0
        } else {
            -1.0
        }
    };
    // O_b − E_b of each bin where all labels are the most likely class, and V_b
    let of_bin = |members: &Vec<usize>| {
        let mut sums = [0.0; 2];
        for &i in members {
            let wrong = rows.error_probability[i];
            sums[0] -= change(i) * wrong;
            sums[1] += wrong * (1.0 - wrong);
        }
        sums
    };
    let bins: Vec<[f64; 2]> = partition.iter().map(of_bin).collect();
    let count = bins.len();
    let evaluator = EachSet::new(move |flips: &[Flip]| {
        let mut gaps: Vec<f64> = bins.iter().map(|[gap, _]| *gap).collect();
        for flip in flips {
            let i = flip.sample as usize;
            gaps[bin[i] as usize] += change(i);
        }
        let term = |(gap, [_, variance]): (&f64, &[f64; 2])| {
            if *gap == 0.0 {
                0.0
            } else {
                gap * gap / variance
            }
        };
        gaps.iter().zip(&bins).map(term).sum()
    });
    Ok((evaluator, count))
}
