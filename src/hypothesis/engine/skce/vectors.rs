use std::{cell::OnceCell, ops::Range};

use burn::tensor::Tensor;

use super::estimate;
use crate::{
    distribution::{Batch as _, Geometry, Predictive, Redrawn, RedrawnBy, Targets, Weights},
    error::Result,
    estimator::{PairMatrix, SkceForm, normal_samples},
    host::{to_scalar, to_vec},
    hypothesis::engine::Evaluator,
    kernel::{KnownKernel, TargetKernel, TensorKernel},
    ops::Computation,
    tiles::{SIDE, Tile, sum_over_pairs, upper_tiles},
};

/// The quadratic estimators of the SKCE of a [`TensorKernel`]. The kernel between predictions is computed
/// once for a batch of sets, and what holds no target once for all of them. Where residuals have
/// [features](TargetKernel::residual_features), `r` numbers of each sample, a set costs a product of
/// matrices with it, `n²·r`; otherwise a fused pass, or the kernel on targets for all pairs and its
/// expectations.
pub struct VectorSkce<P: Predictive, T> {
    /// Its bandwidth is fixed.
    kernel: TensorKernel<T>,
    form: SkceForm,
    predictions: P,
    weights: Weights,
    /// `Σ_ij k_P(P_i, P_j) E k_Y(Z_i, Z_j)`, and the same over `i = j`, where there are no features.
    constant: OnceCell<[f64; 2]>,
}

/// Numbers in the features of sets that are held at once, and how many there may be of a sample.
const BATCH: usize = 1 << 21;
const FEATURES: usize = 64;

impl<P: Geometry, T: TargetKernel<P::Unconditional> + Clone> VectorSkce<P, T> {
    /// Takes a kernel with a fixed bandwidth.
    pub fn new(kernel: TensorKernel<T>, form: SkceForm, predictions: &P) -> Self {
        let (predictions, weights) = predictions.detach().parted();
        Self {
            weights,
            kernel,
            form,
            predictions,
            constant: OnceCell::new(),
        }
    }

    /// The predictions of the rows and of the columns of a tile.
    fn in_tile(&self, tile: &Tile) -> [P::Unconditional; 2] {
        let all = self.predictions.unconditional();
        [&tile.rows, &tile.columns].map(|at| all.slice_rows(at.clone()))
    }

    /// The kernel between predictions of a tile.
    fn gram(&self, tile: &Tile) -> Tensor<2> {
        let [p, q] = [&tile.rows, &tile.columns].map(|at| self.predictions.slice_rows(at.clone()));
        let gram = self.kernel.predictions.between_of(&p, &q);
        gram.squeeze_dim(0)
    }

    /// `w_i w_j k_ij` of a tile.
    fn weighted_gram(&self, tile: &Tile) -> Tensor<2> {
        let gram = self.gram(tile);
        let Some(weights) = self.weights.column(&gram) else {
            return gram;
        };
        let of = |rows: &Range<usize>| weights.clone().slice(rows.clone());
        gram * of(&tile.rows).matmul(of(&tile.columns).transpose())
    }

    /// The estimates of sets of targets, where residuals have features.
    fn by_features(&self, sets: &[P::Targets]) -> Option<Vec<f64>> {
        let targets = &self.kernel.targets;
        let features = targets
            .residual_features(self.predictions.unconditional(), sets)?
            .into_iter();
        let weighted = |rows: Tensor<2>| match self.weights.column(&rows) {
            Some(weights) => rows * weights,
            None => rows,
        };
        let features: Vec<Tensor<2>> = features.map(weighted).collect();
        let square = |rows: &Tensor<2>| to_scalar(rows.clone().square().sum());
        let diagonals = features.iter().map(square).collect();
        let vectors = Tensor::cat(features, 1);
        let totals = quadratic_forms(&vectors, sets.len(), |tile| self.gram(tile));
        Some(self.estimates([totals, diagonals]))
    }

    /// The same by a fused pass over all pairs for each set, which is faster than what the sets have in common.
    fn fused(&self, sets: &[P::Targets]) -> Option<Vec<f64>> {
        if self.weights.are_given() {
            return None;
        }
        let all = &self.predictions;
        let first = sets.first().filter(|_| all.has_own_distances())?;
        let targets: &dyn TargetKernel<P::Unconditional> = &self.kernel.targets;
        let known = targets.known(all.unconditional());
        if !matches!(known, Some(KnownKernel::Gaussian { .. })) {
            return None;
        }
        normal_samples(all.unconditional(), first)?;
        let mean = |y| {
            let pairs = PairMatrix::unchecked(&self.kernel, Computation::Auto, all, y);
            pairs.fused(self.form).map(to_scalar)
        };
        sets.iter().map(mean).collect()
    }

    /// The same in any case.
    fn composed(&self, sets: &[P::Targets]) -> Vec<f64> {
        let (kernel, all) = (&self.kernel.targets, self.predictions.unconditional());
        let n = all.len();
        let [constant, of_diagonal] = *self.constant.get_or_init(|| {
            let total = sum_over_pairs(n, |tile| {
                let [p, q] = self.in_tile(tile);
                self.weighted_gram(tile) * kernel.double_expectation(&p, &q, 1).squeeze_dim::<2>(0)
            });
            let diagonal = self.sum(kernel.double_expectation(all, all, n));
            [total, diagonal]
        });
        let mut totals = vec![constant; sets.len()];
        for tile in upper_tiles(n, SIDE) {
            let gram = self.weighted_gram(&tile).unsqueeze();
            let [p, q] = self.in_tile(&tile);
            let of_set = |y: &P::Targets| {
                let [y, z] = [&tile.rows, &tile.columns].map(|rows| y.slice_rows(rows.clone()));
                let product = kernel.between(&y, &z, &p, 1)
                    - kernel.expectation(&p, &z, 1)
                    - kernel.expectation(&q, &y, 1).transpose();
                to_scalar((gram.clone() * product).sum())
            };
            let terms: Vec<f64> = sets.iter().map(of_set).collect();
            add(&mut totals, tile.multiplicity(), &terms);
        }
        let diagonal = |y: &P::Targets| {
            let single = kernel.between(y, y, all, n) - kernel.expectation(all, y, n) * 2.0;
            self.sum(single) + of_diagonal
        };
        self.estimates([totals, sets.iter().map(diagonal).collect()])
    }

    /// `Σ w_i² x_i`, of numbers of the samples, `[n, 1, 1]`.
    fn sum(&self, numbers: Tensor<3>) -> f64 {
        let column = numbers.reshape([self.predictions.len(), 1]);
        to_scalar(match self.weights.column(&column) {
            Some(weights) => (column * weights.square()).sum(),
            None => column.sum(),
        })
    }

    /// From `Σ_ij h_ij` and `Σ_i h_ii` of each set.
    fn estimates(&self, [totals, diagonals]: [Vec<f64>; 2]) -> Vec<f64> {
        let n = self.predictions.len();
        let samples = (n, &self.weights);
        let estimate = |(total, diagonal)| estimate(self.form, samples, total, diagonal);
        totals.into_iter().zip(diagonals).map(estimate).collect()
    }
}

impl<P: Geometry, T: TargetKernel<P::Unconditional> + Clone> Evaluator<RedrawnBy<P>>
    for VectorSkce<P, T>
{
    fn values(&self, sets: &RedrawnBy<P>) -> Result<Vec<f64>> {
        let n = self.predictions.len();
        let targets: Vec<P::Targets> = (0..sets.len())
            .map(|set| self.predictions.observed(&sets.set(set)))
            .collect();
        let batches = targets.chunks((BATCH / (n * FEATURES)).max(1));
        let values = batches.flat_map(|batch| {
            self.fused(batch)
                .or_else(|| self.by_features(batch))
                .unwrap_or_else(|| self.composed(batch))
        });
        Ok(values.collect())
    }
}

/// `Σ_ij k_ij v_i·v_j` of each of `R` sets of vectors `v`, by one matrix product with each tile of `k`.
///
/// - vectors: `[n, R·m]`, those of a set side by side
/// - tile: `k` between the rows and the columns
fn quadratic_forms(
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
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
