use burn::tensor::Tensor;

use crate::{
    host::to_vec,
    tiles::{SIDE, Tile, upper_tiles},
};

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
