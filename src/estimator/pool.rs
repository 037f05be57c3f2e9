//! Isotonic regression of frequencies: pooling adjacent violators.

/// Neighbouring scores with one frequency of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// The least score.
    pub first: f64,
    /// The greatest score.
    pub last: f64,
    pub samples: usize,
    /// The number of them in which the event occurred.
    pub hits: usize,
    /// The sum of their scores.
    pub sum: f64,
}

impl Block {
    /// Samples of one score.
    pub fn of_ties(score: f64, samples: usize, hits: usize) -> Self {
        Self {
            first: score,
            last: score,
            samples,
            hits,
            sum: samples as f64 * score,
        }
    }

    /// The frequency of the event.
    pub fn frequency(&self) -> f64 {
        self.hits as f64 / self.samples as f64
    }

    /// Whether the frequency is at least that of another: `h/n ≥ h'/n'` in whole numbers.
    fn reaches(&self, next: &Self) -> bool {
        self.hits as u128 * next.samples as u128 >= next.hits as u128 * self.samples as u128
    }
}

/// Pools blocks of increasing score until their frequencies increase: `O(n)`, in exact comparisons.
pub(crate) fn pool(blocks: impl IntoIterator<Item = Block>) -> Vec<Block> {
    let mut pooled: Vec<Block> = Vec::new();
    for mut block in blocks {
        while let Some(before) = pooled.pop_if(|before| before.reaches(&block)) {
            block.first = before.first;
            block.samples += before.samples;
            block.hits += before.hits;
            block.sum += before.sum;
        }
        pooled.push(block);
    }
    pooled
}
