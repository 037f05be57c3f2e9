//! Which samples of a training step the base loss looks at, and which the penalty.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde::{Deserialize, Serialize};

/// Which training samples are held out from the base loss, for the penalty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum HoldOut {
    /// The same share of the samples in every epoch, rounded to a number from 1 to `n − 1`.
    Fixed {
        /// The share, in `(0, 1)`.
        fraction: f64,
    },
    /// One fold an epoch, each in turn: every sample serves the base loss in all epochs but one in
    /// `folds`. Sizes of folds are equal within 1.
    Rotating {
        /// The number of folds, from 2 to `n`.
        folds: usize,
    },
}

/// The samples of a training step, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSamples {
    /// Those of the base loss.
    pub base: Vec<usize>,
    /// Those of the penalty, different ones.
    pub penalty: Vec<usize>,
}

/// Divides training samples between the base loss and the penalty, so that the penalty uses samples that
/// the base loss does not fit (interleaved training, Yoon et al. 2023).
///
/// Every sample is on one side for an epoch. Those of the base loss come once, in batches of the same size
/// except for the last. Those of the penalty come once too, in as many parts of equal size within 1; a
/// penalty that compares samples with each other wants more of them at a time, see
/// [`with_penalty_batch`](Self::with_penalty_batch).
///
/// A function of seed and epoch alone: training resumed from a checkpoint goes on with the same batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoldOutSampler {
    samples: usize,
    batch: usize,
    hold_out: HoldOut,
    seed: u64,
    penalty_batch: Option<usize>,
}

impl HoldOutSampler {
    /// A sampler of so many samples, in batches of the base loss of this size.
    ///
    /// # Panics
    ///
    /// If there are fewer than two samples, the size of a batch is 0, the share is not between 0 and 1, or
    /// the number of folds not from 2 to the number of samples.
    pub fn new(samples: usize, batch: usize, hold_out: HoldOut, seed: u64) -> Self {
        assert!(samples > 1, "{samples} samples for two sides");
        assert!(batch > 0, "batches of no samples");
        match hold_out {
            HoldOut::Fixed { fraction } => assert!(
                fraction > 0.0 && fraction < 1.0,
                "a share of {fraction} held out, expected a number between 0 and 1, both excluded"
            ),
            HoldOut::Rotating { folds } => assert!(
                (2..=samples).contains(&folds),
                "{folds} folds of {samples} samples, expected at least 2, and at most the samples"
            ),
        }
        Self {
            samples,
            batch,
            hold_out,
            seed,
            penalty_batch: None,
        }
    }

    /// Gives the penalty so many samples in every step, all that are held out if there are fewer. They are
    /// taken again and again, in another order each time, none twice in a batch: equally often within
    /// 1 in an epoch.
    ///
    /// # Panics
    ///
    /// If the size is 0.
    pub fn with_penalty_batch(self, size: usize) -> Self {
        assert!(size > 0, "penalties of no samples");
        Self {
            penalty_batch: Some(size),
            ..self
        }
    }

    /// The number of steps of a 0-based epoch; that of rotating folds can differ by 1 between epochs.
    pub fn steps(&self, epoch: usize) -> usize {
        let [from, to] = self.held_out(epoch);
        (self.samples - (to - from)).div_ceil(self.batch)
    }

    /// The batches of a 0-based epoch.
    pub fn epoch(&self, epoch: usize) -> Vec<StepSamples> {
        let mut order: Vec<usize> = (0..self.samples).collect();
        order.shuffle(&mut self.rng(0));
        let [from, to] = self.held_out(epoch);
        let held_out: Vec<usize> = order.drain(from..to).collect();
        let rng = &mut self.rng(epoch as u64 + 1);
        order.shuffle(rng);
        let steps = order.len().div_ceil(self.batch);
        let bound = |step: usize| step * held_out.len() / steps;
        let mut queue: Vec<usize> = Vec::new();
        let step_samples = |(step, base): (usize, &[usize])| {
            let size = match self.penalty_batch {
                None => bound(step + 1) - bound(step),
                Some(size) => size.min(held_out.len()),
            };
            if queue.len() < size {
                let mut again = held_out.clone();
                again.shuffle(rng);
                again.sort_by_key(|sample| queue.contains(sample)); // what is left comes first, and once
                queue.append(&mut again);
            }
            StepSamples {
                base: base.to_vec(),
                penalty: queue.drain(..size).collect(),
            }
        };
        order
            .chunks(self.batch)
            .enumerate()
            .map(step_samples)
            .collect()
    }

    /// Where the samples that are held out begin and end in the order of the seed.
    fn held_out(&self, epoch: usize) -> [usize; 2] {
        let n = self.samples;
        match self.hold_out {
            HoldOut::Fixed { fraction } => {
                let size = (fraction * n as f64).round() as usize;
                [0, size.clamp(1, n - 1)]
            }
            HoldOut::Rotating { folds } => {
                let fold = epoch % folds;
                [fold * n / folds, (fold + 1) * n / folds]
            }
        }
    }

    /// A generator of its own for each number.
    fn rng(&self, number: u64) -> StdRng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        StdRng::from_seed(key)
    }
}

#[cfg(test)]
mod tests;
