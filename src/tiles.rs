//! Covering all pairs of `n` samples by square tiles, so that no `n × n` matrix is needed.

use std::ops::Range;

use burn::tensor::Tensor;

use crate::host::to_scalar;

/// Samples on a side of a tile: a tile of 8-byte numbers fits into a processor's cache.
pub(crate) const SIDE: usize = 256;

/// A tile of the upper triangle, diagonal included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
}

impl Tile {
    /// Returns whether the tile lies on the diagonal; all others stand for their mirror image as well.
    pub fn is_diagonal(&self) -> bool {
        self.rows == self.columns
    }

    /// The multiplicity of the tile in the sum over all ordered pairs.
    pub fn multiplicity(&self) -> f64 {
        if self.is_diagonal() { 1.0 } else { 2.0 }
    }
}

/// The tiles of the upper triangle of an `n × n` matrix.
pub(crate) fn upper_tiles(n: usize, side: usize) -> impl Iterator<Item = Tile> {
    let ranges = move |from: usize| {
        (from..n)
            .step_by(side)
            .map(move |start| start..(start + side).min(n))
    };
    ranges(0).flat_map(move |rows| {
        ranges(rows.start).map(move |columns| Tile {
            rows: rows.clone(),
            columns,
        })
    })
}

/// The sum over all ordered pairs of `n` samples of what a function gives for a tile; it is symmetric in the pair.
pub(crate) fn sum_over_pairs(n: usize, of_tile: impl Fn(&Tile) -> Tensor<2>) -> f64 {
    let of_tile = |tile: Tile| tile.multiplicity() * to_scalar(of_tile(&tile).sum());
    upper_tiles(n, SIDE).map(of_tile).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_covered_once() {
        for (n, side) in [(1, 3), (3, 3), (7, 3), (8, 2), (5, 100)] {
            let mut count = vec![0; n * n];
            for tile in upper_tiles(n, side) {
                for i in tile.rows.clone() {
                    for j in tile.columns.clone() {
                        count[i * n + j] += 1;
                        if !tile.is_diagonal() {
                            count[j * n + i] += 1;
                        }
                    }
                }
            }
            assert!(count.iter().all(|&c| c == 1), "n = {n}, side = {side}");
        }
    }
}
