use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// How often each sample was on one side.
fn counts<'a>(sides: impl Iterator<Item = &'a Vec<usize>>) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    sides
        .flatten()
        .for_each(|&sample| *counts.entry(sample).or_insert(0) += 1);
    counts
}

fn hold_out() -> impl Strategy<Value = HoldOut> {
    prop_oneof![
        (0.01..0.99).prop_map(|fraction| HoldOut::Fixed { fraction }),
        (2..12usize).prop_map(|folds| HoldOut::Rotating { folds }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_sample_is_once_on_one_side(
        n in 12..200usize,
        batch in 1..40usize,
        hold_out in hold_out(),
        seed in any::<u64>(),
        epoch in 0..30usize,
    ) {
        let sampler = HoldOutSampler::new(n, batch, hold_out, seed);
        let batches = sampler.epoch(epoch);
        prop_assert_eq!(batches.len(), sampler.steps(epoch));
        let base = counts(batches.iter().map(|batch| &batch.base));
        let penalty = counts(batches.iter().map(|batch| &batch.penalty));
        prop_assert!(base.values().chain(penalty.values()).all(|&count| count == 1));
        let mut all: Vec<usize> = base.keys().chain(penalty.keys()).copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
        // sizes
        let (last, full) = batches.split_last().unwrap();
        prop_assert!(full.iter().all(|b| b.base.len() == batch) && last.base.len() <= batch);
        let parts = batches.iter().map(|batch| batch.penalty.len());
        prop_assert!(parts.clone().max().unwrap() - parts.min().unwrap() <= 1);
        let expected = match hold_out {
            HoldOut::Rotating { folds } => n / folds..=n.div_ceil(folds),
            HoldOut::Fixed { fraction } => {
                let size = ((fraction * n as f64).round() as usize).clamp(1, n - 1);
                size..=size
            }
        };
        prop_assert!(expected.contains(&penalty.len()));
        // a function of seed and epoch
        prop_assert_eq!(&batches, &HoldOutSampler::new(n, batch, hold_out, seed).epoch(epoch));
        prop_assert_ne!(&batches, &sampler.epoch(epoch + 1));
        prop_assert_ne!(&batches, &HoldOutSampler::new(n, batch, hold_out, seed ^ 1).epoch(epoch));
    }

    #[test]
    fn penalty_batches_of_a_size(
        n in 12..120usize,
        batch in 1..30usize,
        size in 1..40usize,
        hold_out in hold_out(),
        epoch in 0..20usize,
    ) {
        let parts = HoldOutSampler::new(n, batch, hold_out, 3);
        let sampler = parts.with_penalty_batch(size);
        let batches = sampler.epoch(epoch);
        let held_out = counts(parts.epoch(epoch).iter().map(|batch| &batch.penalty));
        for batch in &batches {
            prop_assert_eq!(batch.penalty.len(), size.min(held_out.len()));
            let once = counts([&batch.penalty].into_iter());
            prop_assert!(once.values().all(|&count| count == 1), "none twice in a batch");
        }
        let taken = counts(batches.iter().map(|batch| &batch.penalty));
        prop_assert!(taken.keys().all(|sample| held_out.contains_key(sample)));
        let often = held_out.keys().map(|sample| taken.get(sample).copied().unwrap_or(0));
        prop_assert!(often.clone().max().unwrap() - often.min().unwrap() <= 1);
        // the base loss does not notice
        let bases = |sampler: &HoldOutSampler| sampler.steps(epoch);
        prop_assert_eq!(bases(&sampler), bases(&parts));
        let base = counts(batches.iter().map(|batch| &batch.base));
        prop_assert_eq!(base.len() + held_out.len(), n);
    }
}

fn held_out(sampler: &HoldOutSampler, epoch: usize) -> Vec<usize> {
    let held_out = counts(sampler.epoch(epoch).iter().map(|batch| &batch.penalty));
    held_out.into_keys().collect()
}

#[test]
fn fixed_samples_stay_and_folds_rotate() {
    let fixed = HoldOutSampler::new(50, 8, HoldOut::Fixed { fraction: 0.2 }, 7);
    let first = held_out(&fixed, 0);
    assert_eq!(first.len(), 10);
    assert_eq!(first, held_out(&fixed, 5));
    let rotating = HoldOutSampler::new(53, 8, HoldOut::Rotating { folds: 5 }, 7);
    let mut all: Vec<usize> = (0..5)
        .flat_map(|epoch| held_out(&rotating, epoch))
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..53).collect::<Vec<_>>()); // each fold once, and from the start again
    assert_eq!(held_out(&rotating, 1), held_out(&rotating, 6));
}

#[test]
#[should_panic(expected = "a share of 1 held out")]
fn nothing_for_the_base_loss() {
    HoldOutSampler::new(10, 2, HoldOut::Fixed { fraction: 1.0 }, 0);
}

#[test]
#[should_panic(expected = "11 folds of 10 samples")]
fn more_folds_than_samples() {
    HoldOutSampler::new(10, 2, HoldOut::Rotating { folds: 11 }, 0);
}
