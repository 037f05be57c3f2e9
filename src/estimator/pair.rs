//! The pair statistic `h_ij = k(p_i, p_j) · δ_iᵀ M δ_j` of the squared kernel calibration error
//! (Widmann et al. 2019, Lemma 1), its one definition for training, estimates and tests.
//!
//! The matrix enters through the residuals: with `M = L Lᵀ`, `h` is the product of `k` and the inner
//! product of the folded residuals `Lᵀδ`. For a scalar kernel `M = I`, and they are the residuals.

use burn::tensor::{Int, Tensor};

use crate::{
    distribution::{self, Categorical},
    error::Result,
    host::to_vec,
    kernel::{ClassKernel, Kernel},
    tiles::{SIDE, Tile, upper_tiles},
};

/// The folded residuals `Lᵀδ_i`, `[n, m] → [n, rank]`.
pub(crate) fn residuals(
    kernel: &impl ClassKernel,
    probabilities: Tensor<2>,
    labels: Tensor<1, Int>,
) -> Tensor<2> {
    kernel.fold(distribution::residuals(probabilities, labels))
}

/// `h` between all samples of each batch, from folded residuals.
///
/// - points: `[batch, n, d]`, residuals: `[batch, n, m]`, output: `[batch, n, n]`
pub(crate) fn within(kernel: &Kernel, points: Tensor<3>, residuals: Tensor<3>) -> Tensor<3> {
    kernel.gram(points) * residuals.clone().matmul(residuals.transpose())
}

/// The diagonal of `h`: `h_ii = κ(0) δ_iᵀ M δ_i = ‖Lᵀδ_i‖²`, `[batch, n, m] → [batch, n, 1]`.
pub(crate) fn diagonal(residuals: Tensor<3>) -> Tensor<3> {
    residuals.square().sum_dim(2)
}

/// Checked data, embedded for a kernel with a fixed bandwidth: rows of `h` in tiles.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    kernel: Kernel,
    points: Tensor<2>,
    /// Folded.
    residuals: Tensor<2>,
    labels: Tensor<1, Int>,
}

impl Pairs {
    /// Checks the labels and fixes the bandwidth at the median of all pairs where it is to be.
    pub fn new(
        kernel: impl ClassKernel,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Self> {
        predictions.check_labels(labels)?;
        kernel.validate_for(predictions.classes())?;
        let points = predictions.probabilities().detach();
        let residuals = residuals(&kernel, points.clone(), labels.clone());
        let kernel = kernel.scalar().with_bandwidth_of(&points)?;
        Ok(Self {
            kernel,
            points,
            residuals,
            labels: labels.clone(),
        })
    }

    /// Other predictions for the same labels, by the same kernel with the same bandwidth.
    ///
    /// - predictions: as many, over as many classes
    pub fn with_predictions(&self, kernel: impl ClassKernel, predictions: &Categorical) -> Self {
        let points = predictions.probabilities().detach();
        Self {
            kernel: self.kernel,
            residuals: residuals(&kernel, points.clone(), self.labels.clone()),
            points,
            labels: self.labels.clone(),
        }
    }

    /// The predictions, `[n, m]`.
    pub fn points(&self) -> &Tensor<2> {
        &self.points
    }

    /// The labels, `[n]`.
    pub fn labels(&self) -> &Tensor<1, Int> {
        &self.labels
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.points.dims()[0]
    }

    /// `h` between the rows and the columns of a tile: `[rows, columns]`.
    pub fn tile(&self, tile: &Tile) -> Tensor<2> {
        let (rows, columns) = (tile.rows.clone(), tile.columns.clone());
        let residuals_rows = self.residuals.clone().slice(rows.clone());
        let residuals_columns = self.residuals.clone().slice(columns.clone());
        let gram = self.kernel.between(
            self.points.clone().slice(rows).unsqueeze(),
            self.points.clone().slice(columns).unsqueeze(),
        );
        gram.squeeze_dim(0) * residuals_rows.matmul(residuals_columns.transpose())
    }

    /// The diagonal of `h`: `[n]`.
    pub fn diagonal(&self) -> Tensor<1> {
        diagonal(self.residuals.clone().unsqueeze()).reshape([self.samples()])
    }

    /// `Σ_{j≠i} h_ij` for each `i`, in tiles: `[n]`, on the host.
    pub fn row_sums(&self) -> Vec<f64> {
        let mut sums: Vec<f64> = to_vec(self.diagonal()).iter().map(|h| -h).collect();
        for tile in upper_tiles(self.samples(), SIDE) {
            let h = self.tile(&tile);
            add(&mut sums[tile.rows.clone()], &to_vec(h.clone().sum_dim(1)));
            if !tile.is_diagonal() {
                add(&mut sums[tile.columns.clone()], &to_vec(h.sum_dim(0))); // its mirror image
            }
        }
        sums
    }

    /// The first `⌊n/size⌋` consecutive blocks as batches: points and residuals.
    pub fn blocks(&self, size: usize) -> (Tensor<3>, Tensor<3>) {
        (
            into_blocks(self.points.clone(), size),
            into_blocks(self.residuals.clone(), size),
        )
    }

    /// The scalar kernel, its bandwidth fixed.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

/// `[n, d] → [⌊n/size⌋, size, d]`; the incomplete last block is dropped.
pub(crate) fn into_blocks(rows: Tensor<2>, size: usize) -> Tensor<3> {
    let [n, d] = rows.dims();
    let blocks = n / size;
    rows.slice(0..blocks * size).reshape([blocks, size, d])
}

/// `a += b`.
fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}
