use std::ops::Range;

use burn::tensor::Tensor;

use crate::{
    estimator::PairMatrix,
    host::to_vec,
    tiles::{SIDE, Tile, upper_tiles},
};

/// The sums of one pass over the upper triangle of `H`, a panel of rows at a time.
pub(super) struct Sums {
    /// `Σ_ij H_ij`.
    pub total: f64,
    /// `Σ_j H_ij` for each `i`.
    pub rows: Vec<f64>,
    /// `H_ii` for each `i`.
    pub diagonal: Vec<f64>,
    /// `vᵀ H v` for each column `v` of the weights.
    pub forms: Vec<f64>,
}

/// Columns of a tile: wide ones waste less of a matrix product.
const COLUMNS: usize = 8 * SIDE;

impl Sums {
    /// - weights: `[n, R]`
    pub fn over(pairs: &impl PairMatrix, weights: &Tensor<2>) -> Self {
        let [n, replicates] = weights.dims();
        let mut sums = Self {
            total: 0.0,
            rows: vec![0.0; n],
            diagonal: to_vec(pairs.diagonal()),
            forms: vec![0.0; replicates],
        };
        let weights_of = |samples: Range<usize>| weights.clone().slice(samples); // [samples, R]
        for start in (0..n).step_by(SIDE) {
            let rows = start..n.min(start + SIDE);
            let tile = |columns: Range<usize>| pairs.tile(rows.clone(), columns);
            let h = tile(rows.clone());
            add(&mut sums.rows[rows.clone()], 1.0, &sum_over(&h, 1));
            let mut product = h.matmul(weights_of(rows.clone())); // H v, [rows, R]
            for first in (rows.end..n).step_by(COLUMNS) {
                let columns = first..n.min(first + COLUMNS);
                let h = tile(columns.clone()); // stands for its mirror image as well
                add(&mut sums.rows[rows.clone()], 1.0, &sum_over(&h, 1));
                add(&mut sums.rows[columns.clone()], 1.0, &sum_over(&h, 0));
                product = product + h.matmul(weights_of(columns)) * 2.0;
            }
            let forms = weights_of(rows) * product;
            add(&mut sums.forms, 1.0, &sum_over(&forms, 0));
        }
        sums.total = sums.rows.iter().sum();
        sums
    }

    /// `T = n·SKCE_uq = Σ_{i≠j} H_ij / (n − 1)`.
    pub fn statistic(&self) -> f64 {
        (self.total - self.trace()) / (self.rows.len() as f64 - 1.0)
    }

    /// `Σ_i H_ii`.
    pub fn trace(&self) -> f64 {
        self.diagonal.iter().sum()
    }
}

fn sum_over(x: &Tensor<2>, dimension: usize) -> Vec<f64> {
    to_vec(x.clone().sum_dim(dimension))
}

/// `Σ_ij k_ij v_i·v_j` of each of `R` sets of vectors `v`, by one matrix product with each tile of `k`.
///
/// - vectors: `[n, R·m]`, those of a set side by side
/// - tile: `k` between the rows and the columns
pub(super) fn quadratic_forms(
    vectors: &Tensor<2>,
    sets: usize,
    tile: impl Fn(&Tile) -> Tensor<2>,
) -> Vec<f64> {
    let [n, width] = vectors.dims();
    let mut forms = vec![0.0; sets];
    for at in upper_tiles(n, SIDE) {
        let [rows, columns] = [&at.rows, &at.columns].map(|at| vectors.clone().slice(at.clone()));
        let terms = (rows * tile(&at).matmul(columns)).sum_dim(0); // [1, R·m]
        let of_sets = terms.reshape([sets, width / sets]).sum_dim(1);
        add(&mut forms, at.multiplicity(), &to_vec(of_sets));
    }
    forms
}

/// `a += factor · b`.
pub(super) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
