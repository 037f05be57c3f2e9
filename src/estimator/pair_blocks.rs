//! The U-statistic of every block of samples, in memory that does not grow with the blocks.

use super::{block_values, pair::Pairs};
use crate::{
    host::{to_scalar, to_vec},
    tiles::{SIDE, Tile, upper_tiles},
};

impl Pairs {
    /// The U-statistics of the first `⌊n/size⌋` consecutive blocks.
    pub fn block_estimates(&self, size: usize) -> Vec<f64> {
        match size {
            size if size <= SIDE => small_blocks(self, size),
            size => large_blocks(self, size),
        }
    }
}

/// Pairs whose `h` is held at once.
const BATCH: usize = 1 << 18;

/// The U-statistic of each block, many blocks at once.
fn small_blocks(pairs: &Pairs, size: usize) -> Vec<f64> {
    let (points, residuals) = pairs.blocks(size); // [N, B, m] each
    let blocks = points.dims()[0];
    let batch = (BATCH / (size * size)).max(1);
    (0..blocks)
        .step_by(batch)
        .flat_map(|start| {
            let range = start..(start + batch).min(blocks);
            let points = points.clone().slice(range.clone());
            let residuals = residuals.clone().slice(range);
            to_vec(block_values(pairs.kernel(), points, residuals))
        })
        .collect()
}

/// The U-statistic of each block, in tiles: `(Σ_ij h_ij − Σ_i h_ii) / (B(B−1))`.
fn large_blocks(pairs: &Pairs, size: usize) -> Vec<f64> {
    let diagonal = to_vec(pairs.diagonal());
    let estimate = |block: usize| {
        let start = block * size;
        let total: f64 = upper_tiles(size, SIDE)
            .map(|tile| {
                let tile = tile.shifted(start);
                tile.multiplicity() * to_scalar(pairs.tile(&tile).sum())
            })
            .sum();
        let diagonal: f64 = diagonal[start..start + size].iter().sum();
        (total - diagonal) / (size * (size - 1)) as f64
    };
    (0..pairs.samples() / size).map(estimate).collect()
}

impl Tile {
    /// The tile of samples that come `start` later.
    fn shifted(&self, start: usize) -> Self {
        Self {
            rows: self.rows.start + start..self.rows.end + start,
            columns: self.columns.start + start..self.columns.end + start,
        }
    }
}
