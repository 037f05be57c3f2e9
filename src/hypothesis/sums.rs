use burn::tensor::Tensor;

use crate::{
    estimator::pair::Pairs,
    host::{to_scalar, to_vec},
    tiles::{SIDE, upper_tiles},
};

/// What one pass over the tiles of `H` gives.
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

impl Sums {
    /// - weights: `[n, R]`
    pub fn over(pairs: &Pairs, weights: &Tensor<2>) -> Self {
        let [n, replicates] = weights.dims();
        let mut sums = Self {
            total: 0.0,
            rows: vec![0.0; n],
            diagonal: to_vec(pairs.diagonal()),
            forms: vec![0.0; replicates],
        };
        for tile in upper_tiles(n, SIDE) {
            let h = pairs.tile(&tile); // [rows, columns]
            sums.total += tile.multiplicity() * to_scalar(h.clone().sum());
            add(
                &mut sums.rows[tile.rows.clone()],
                1.0,
                &to_vec(h.clone().sum_dim(1)),
            );
            if !tile.is_diagonal() {
                add(
                    &mut sums.rows[tile.columns.clone()],
                    1.0,
                    &to_vec(h.clone().sum_dim(0)),
                );
            }
            let rows = weights.clone().slice(tile.rows.clone()); // [rows, R]
            let columns = weights.clone().slice(tile.columns.clone()); // [columns, R]
            let forms = (rows * h.matmul(columns)).sum_dim(0); // [1, R]
            add(&mut sums.forms, tile.multiplicity(), &to_vec(forms));
        }
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

/// `a += factor · b`.
pub(super) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
