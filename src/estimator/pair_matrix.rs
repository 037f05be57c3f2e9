use std::ops::Range;

use burn::tensor::Tensor;

use super::SkceForm;
use crate::{
    error::{Error, Result},
    host::{is_host, to_scalar, to_vec},
    ops::Computation,
    tiles::{SIDE, upper_tiles},
};

/// The symmetric matrix of the pair statistic `h_ij` of data, which is never stored as a whole:
/// what estimates and tests read of it. Detached from gradients.
pub trait PairMatrix {
    /// The number `n` of samples.
    fn samples(&self) -> usize;

    /// The same matrix, with its tiles composed of tensor operations if the computation is.
    fn with_computation(self, computation: Computation) -> Self
    where
        Self: Sized;

    /// `h` between consecutive samples and others, `[rows, columns]`.
    fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Tensor<2>;

    /// `h_ii`, `[n]`.
    fn diagonal(&self) -> Tensor<1>;

    /// `h` within each of the given blocks of `size` consecutive samples, `[blocks, size, size]`.
    fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3>;

    /// The estimate in one fused pass, where there is one.
    ///
    /// # Errors
    ///
    /// [`Error::NoFusedPath`] if a fused computation is asked for that does not exist.
    fn fused_estimate(&self, form: SkceForm, computation: Computation) -> Result<Option<f64>>;

    /// `Σ_j h_ij` for each `i` but `j = i`, in tiles.
    fn row_sums(&self) -> Vec<f64> {
        let mut sums: Vec<f64> = to_vec(self.diagonal()).iter().map(|h| -h).collect();
        for tile in upper_tiles(self.samples(), SIDE) {
            let h = self.tile(tile.rows.clone(), tile.columns.clone());
            let [of_rows, of_columns] = sums_of_tile(h, !tile.is_diagonal());
            add(&mut sums[tile.rows], &of_rows);
            add(&mut sums[tile.columns], &of_columns); // its mirror image
        }
        sums
    }

    /// `Σ_ij h_ij`, in tiles.
    fn total(&self) -> f64 {
        total(self, 0, self.samples())
    }

    /// The U-statistics of the first `⌊n/size⌋` consecutive blocks, in memory that does not grow with
    /// the blocks.
    fn block_estimates(&self, size: usize) -> Vec<f64> {
        block_estimates(self, size)
    }

    /// The SKCE, for samples that are enough for the form.
    ///
    /// # Errors
    ///
    /// As [`fused_estimate`](Self::fused_estimate).
    fn estimate(&self, form: SkceForm, computation: Computation) -> Result<f64> {
        if let Some(estimate) = self.fused_estimate(form, computation)? {
            return Ok(estimate);
        }
        let n = self.samples() as f64;
        Ok(match form {
            SkceForm::Biased => self.total() / (n * n),
            SkceForm::Unbiased => {
                (self.total() - to_scalar(self.diagonal().sum())) / (n * (n - 1.0))
            }
            SkceForm::Block(size) => {
                let blocks = block_estimates(self, size); // composed: there was no fused one
                blocks.iter().sum::<f64>() / blocks.len() as f64
            }
        })
    }
}

/// [`PairMatrix::block_estimates`] of `h` composed from tensor operations.
pub(super) fn block_estimates<M: PairMatrix + ?Sized>(pairs: &M, size: usize) -> Vec<f64> {
    let diagonal = to_vec(pairs.diagonal());
    let pairs_of_block = (size * (size - 1)) as f64;
    let blocks = pairs.samples() / size;
    let totals: Vec<f64> = match size {
        size if size <= SIDE => {
            let batch = (BATCH / (size * size)).max(1);
            let totals = |start: usize| {
                let h = pairs.within_blocks(start..(start + batch).min(blocks), size);
                to_vec(h.sum_dims(&[1, 2]))
            };
            (0..blocks).step_by(batch).flat_map(totals).collect()
        }
        size => (0..blocks)
            .map(|block| total(pairs, block * size, size))
            .collect(),
    };
    let estimate =
        |(total, diagonal): (&f64, &[f64])| (total - diagonal.iter().sum::<f64>()) / pairs_of_block;
    totals
        .iter()
        .zip(diagonal.chunks(size))
        .map(estimate)
        .collect()
}

/// Pairs whose `h` is held at once.
const BATCH: usize = 1 << 18;

/// `Σ h` over all pairs of `size` samples from `start` on.
fn total<M: PairMatrix + ?Sized>(pairs: &M, start: usize, size: usize) -> f64 {
    let shifted = |range: &Range<usize>| range.start + start..range.end + start;
    upper_tiles(size, SIDE)
        .map(|tile| {
            let h = pairs.tile(shifted(&tile.rows), shifted(&tile.columns));
            tile.multiplicity() * to_scalar(h.sum())
        })
        .sum()
}

/// Returns `None`: there is no fused pass.
///
/// # Errors
///
/// [`Error::NoFusedPath`] if it is asked for.
pub(super) fn without_fused_pass(computation: Computation, kernel: String) -> Result<Option<f64>> {
    match computation {
        Computation::Fused => Err(Error::NoFusedPath { kernel }),
        _ => Ok(None),
    }
}

/// The sums of the rows, and of the columns if they are wanted.
fn sums_of_tile(h: Tensor<2>, of_columns: bool) -> [Vec<f64>; 2] {
    if !is_host(&h.device()) {
        let of_rows = to_vec(h.clone().sum_dim(1));
        return if of_columns {
            [of_rows, to_vec(h.sum_dim(0))]
        } else {
            [of_rows, vec![]]
        };
    }
    let [_, width] = h.dims();
    let h = to_vec(h);
    let mut columns = vec![0.0; if of_columns { width } else { 0 }];
    h.chunks(width).for_each(|row| add(&mut columns, row));
    let rows = h.chunks(width).map(|row| row.iter().sum());
    [rows.collect(), columns]
}

/// `a += b`.
fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}
