use std::cell::OnceCell;

use burn::tensor::Tensor;

use super::Evaluator;
use crate::{
    distribution::{Geometry, Predictive, Redrawn, RedrawnBy, Targets},
    error::Result,
    estimator::SkceForm,
    host::to_scalar,
    hypothesis::sums::{add, quadratic_forms},
    kernel::{TargetKernel, TensorKernel},
    tiles::{SIDE, Tile, upper_tiles},
};

/// The quadratic estimators of the SKCE of a [`TensorKernel`]. The kernel between predictions is computed
/// once for a batch of sets, and what holds no target once for all of them. Where residuals have
/// [features](TargetKernel::residual_features), `r` numbers of each sample, a set costs a product of
/// matrices with it, `n²·r`; else the kernel on targets for all pairs and its expectations.
pub struct TensorQuadratic<P: Predictive, T> {
    /// Its bandwidth is fixed.
    kernel: TensorKernel<T>,
    form: SkceForm,
    predictions: P,
    points: Option<Tensor<2>>,
    /// `Σ_ij k_P(P_i, P_j) E k_Y(Z_i, Z_j)`, and the same over `i = j`, where there are no features.
    constant: OnceCell<[f64; 2]>,
}

/// Numbers in the features of sets that are held at once, and how many there may be of a sample.
const BATCH: usize = 1 << 21;
const FEATURES: usize = 64;

impl<P: Geometry, T: TargetKernel<P>> TensorQuadratic<P, T> {
    /// Takes a kernel with a fixed bandwidth.
    pub fn new(kernel: TensorKernel<T>, form: SkceForm, predictions: &P) -> Self {
        let predictions = predictions.detach();
        Self {
            kernel,
            form,
            points: predictions.coordinates(),
            predictions,
            constant: OnceCell::new(),
        }
    }

    fn tiles(&self) -> impl Iterator<Item = Tile> {
        upper_tiles(self.predictions.len(), SIDE)
    }

    /// The kernel between predictions of a tile.
    fn gram(&self, tile: &Tile) -> Tensor<2> {
        let (rows, columns) = (tile.rows.clone(), tile.columns.clone());
        let kernel = self.kernel.predictions;
        let gram = match &self.points {
            Some(points) => {
                let [x, y] = [rows, columns].map(|rows| points.clone().slice(rows).unsqueeze());
                kernel.between(x, y)
            }
            None => {
                let predictions = &self.predictions;
                kernel.between_of(
                    &predictions.slice_rows(rows),
                    &predictions.slice_rows(columns),
                )
            }
        };
        gram.squeeze_dim(0)
    }

    /// `Σ_ij h_ij` and `Σ_i h_ii` of sets of targets.
    fn sums(&self, sets: &[P::Targets]) -> [Vec<f64>; 2] {
        match self
            .kernel
            .targets
            .residual_features(&self.predictions, sets)
        {
            Some(features) => {
                let diagonal = features
                    .iter()
                    .map(|rows| to_scalar(rows.clone().square().sum()));
                let diagonal = diagonal.collect();
                let vectors = Tensor::cat(features, 1);
                let totals = quadratic_forms(&vectors, sets.len(), |tile| self.gram(tile));
                [totals, diagonal]
            }
            None => self.composed(sets),
        }
    }

    /// The same without features.
    fn composed(&self, sets: &[P::Targets]) -> [Vec<f64>; 2] {
        let (kernel, all) = (&self.kernel.targets, &self.predictions);
        let n = all.len();
        let [constant, of_diagonal] = *self.constant.get_or_init(|| {
            let double = |tile: Tile| {
                let [p, q] = [&tile.rows, &tile.columns].map(|rows| all.slice_rows(rows.clone()));
                let double = kernel.double_expectation(&p, &q, 1).squeeze_dim::<2>(0);
                tile.multiplicity() * to_scalar((self.gram(&tile) * double).sum())
            };
            let diagonal = to_scalar(kernel.double_expectation(all, all, n).sum());
            [self.tiles().map(double).sum(), diagonal]
        });
        let mut totals = vec![constant; sets.len()];
        for tile in self.tiles() {
            let gram = self.gram(&tile).unsqueeze();
            let [p, q] = [&tile.rows, &tile.columns].map(|rows| all.slice_rows(rows.clone()));
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
            to_scalar(single.sum()) + of_diagonal
        };
        [totals, sets.iter().map(diagonal).collect()]
    }
}

impl<P: Geometry, T: TargetKernel<P>> Evaluator<P> for TensorQuadratic<P, T> {
    fn values(&self, sets: &RedrawnBy<P>) -> Result<Vec<f64>> {
        let n = self.predictions.len();
        let targets: Vec<P::Targets> = (0..sets.len())
            .map(|set| self.predictions.observed(&sets.set(set)))
            .collect();
        // a fused pass over everything is faster than what the sets have in common
        let pairing = self.form.pairing(n);
        let fused = |y| self.kernel.fused_mean(&self.predictions, y, pairing);
        let fused: Option<Vec<f64>> = targets.iter().map(|y| fused(y).map(to_scalar)).collect();
        if let Some(values) = fused {
            return Ok(values);
        }
        let size = n as f64;
        let mut values = Vec::with_capacity(targets.len());
        for batch in targets.chunks((BATCH / (n * FEATURES)).max(1)) {
            let [totals, diagonals] = self.sums(batch);
            let value = |(total, diagonal): (&f64, &f64)| match self.form {
                SkceForm::Biased => total / (size * size),
                _ => (total - diagonal) / (size * (size - 1.0)),
            };
            values.extend(totals.iter().zip(&diagonals).map(value));
        }
        Ok(values)
    }
}
