use super::{EachSet, Evaluator};
use crate::{
    distribution::{Categorical, Flip, LabelSets, Predictive},
    error::Result,
    estimator::{Binning, Event, EventBin},
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
        (probabilities[i], f64::from(occurs))
    };
    let of_bin = |members: &Vec<usize>| EventBin::of(members, &weights, likely);
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
///
/// The gap is taken at every distinct probability, or at about `most` of them, of equal mass.
/// The errors are those of an event that is not a class.
pub fn cumulative_gap(
    predictions: &Categorical,
    event: Event,
    most: usize,
) -> Result<impl Evaluator<LabelSets> + use<>> {
    let (predictions, weights) = predictions.parted();
    event.check(predictions.classes())?;
    let rows = predictions.rows();
    let probabilities = event.probabilities(&predictions, &rows);
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&i, &j| probabilities[i].total_cmp(&probabilities[j]));
    let total = weights.total(order.len());
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
            weights.at(i) * (f64::from(event.occurs(top, top)) - probabilities[i])
        };
        gaps[last] += ties.iter().map(gap).sum::<f64>();
    }
    Ok(EachSet(move |flips: &[Flip]| {
        let mut changes = vec![0.0; gaps.len()];
        for flip in flips {
            let sample = flip.sample as usize;
            let change = event_change(event, rows.top[sample], flip);
            changes[rank[sample] as usize] += weights.at(sample) * change;
        }
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for (gap, change) in gaps.iter().zip(changes) {
            sum += gap + change;
            largest = largest.max(f64::abs(sum));
        }
        largest / total
    }))
}

/// The binned event: `Σ_b (O_b − E_b)²/V_b` over bins of equal mass, with the expectation and the variance
/// of the count of each bin (Hosmer and Lemeshow 1980, with `V_b = Σ r(1 − r)`). For two classes the event
/// is class 1, of more that the most likely class is right. Takes at most so many bins, and gives their
/// number.
pub fn binned_counts(
    predictions: &Categorical,
    bins: usize,
) -> Result<(impl Evaluator<LabelSets> + use<>, usize)> {
    let (predictions, weights) = predictions.parted();
    let rows = predictions.rows();
    let event = match rows.classes {
        2 => Event::Class(1),
        _ => Event::TopLabel,
    };
    let probabilities = event.probabilities(&predictions, &rows);
    let partition = Binning::EqualMass { bins }.partition_rows(&probabilities, 1)?;
    let bin = number_of_each(&partition, probabilities.len());
    // O_b − E_b of each bin where all labels are the most likely class, and V_b
    let of_bin = |members: &Vec<usize>| {
        let mut sums = [0.0; 2];
        for &i in members {
            let (top, wrong) = (rows.top[i], rows.error_probability[i]);
            let w = weights.at(i);
            sums[0] += if event.occurs(top, top) {
                w * wrong
            } else {
                -w * wrong
            };
            sums[1] += w * w * (wrong * (1.0 - wrong));
        }
        sums
    };
    let bins: Vec<[f64; 2]> = partition.iter().map(of_bin).collect();
    let count = bins.len();
    let evaluator = EachSet(move |flips: &[Flip]| {
        let mut gaps: Vec<f64> = bins.iter().map(|[gap, _]| *gap).collect();
        for flip in flips {
            let i = flip.sample as usize;
            gaps[bin[i] as usize] += weights.at(i) * event_change(event, rows.top[i], flip);
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
