//! Isotonic regression of frequencies: pooling adjacent violators.

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
    ///
    /// - rows: the score of each sample, 1 where the event occurred and else 0, and its weight
    pub fn ties(rows: impl Iterator<Item = (f64, f64, f64)>) -> Vec<Self> {
        let mut sorted: Vec<_> = rows.collect();
        sorted.sort_by(|(r, ..), (s, ..)| r.total_cmp(s));
        let ties = sorted.chunk_by(|(r, ..), (s, ..)| r == s);
        let block = |ties: &[(f64, f64, f64)]| {
            let sums = ties.iter().fold([0.0; 2], |[weight, hits], (_, c, w)| {
                [weight + w, hits + w * c]
            });
            Self {
                last: ties[ties.len() - 1].0,
                ..Self::of_ties(ties[0].0, ties.len(), sums)
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
