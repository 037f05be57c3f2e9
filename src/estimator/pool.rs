//! Isotonic regression of frequencies: pooling adjacent violators.

/// A sample with a score of an event, such as its predicted probability.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoredSample {
    pub score: f64,
    /// 1 if the event occurred, else 0.
    pub occurred: f64,
    pub weight: f64,
}

/// Neighbouring scores with one frequency of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// The least score.
    pub first: f64,
    /// The greatest score.
    pub last: f64,
    pub samples: usize,
    /// The sum of their weights: their number where there are none.
    pub weight: f64,
    /// The weight of those in which the event occurred.
    pub hits: f64,
    /// The sum of their scores.
    pub sum: f64,
}

impl Block {
    /// Samples of one score, the sum of their weights and that of those in which the event occurred.
    pub fn of_ties(score: f64, samples: usize, [weight, hits]: [f64; 2]) -> Self {
        Self {
            first: score,
            last: score,
            samples,
            weight,
            hits,
            sum: weight * score,
        }
    }

    /// The samples of each score, by increasing score.
    pub fn ties(samples: impl Iterator<Item = ScoredSample>) -> Vec<Self> {
        let mut sorted: Vec<_> = samples.collect();
        sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
        let ties = sorted.chunk_by(|a, b| a.score == b.score);
        let block = |ties: &[ScoredSample]| {
            let sums = ties.iter().fold([0.0; 2], |[weight, hits], sample| {
                [
                    weight + sample.weight,
                    hits + sample.weight * sample.occurred,
                ]
            });
            Self {
                last: ties[ties.len() - 1].score,
                ..Self::of_ties(ties[0].score, ties.len(), sums)
            }
        };
        ties.map(block).collect()
    }

    /// The frequency of the event.
    pub fn frequency(&self) -> f64 {
        self.hits / self.weight
    }

    /// Whether the frequency is at least that of another: `h/n ≥ h'/n'`, in products that are exact of counts.
    fn reaches(&self, next: &Self) -> bool {
        self.hits * next.weight >= next.hits * self.weight
    }
}

/// Pools blocks of increasing score until their frequencies increase: `O(n)`.
pub(crate) fn pool(blocks: impl IntoIterator<Item = Block>) -> Vec<Block> {
    let mut pooled: Vec<Block> = Vec::new();
    for mut block in blocks {
        while let Some(before) = pooled.pop_if(|before| before.reaches(&block)) {
            block.first = before.first;
            block.samples += before.samples;
            block.weight += before.weight;
            block.hits += before.hits;
            block.sum += before.sum;
        }
        pooled.push(block);
    }
    pooled
}
