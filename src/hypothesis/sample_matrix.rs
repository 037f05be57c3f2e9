use burn::tensor::{Int, Tensor};
use rand::{Rng, seq::index};

use crate::{
    distribution::Categorical,
    error::Result,
    estimator::pair::Pairs,
    host::{int_tensor, widened},
    kernel::Kernel,
    tiles::Tile,
};

/// The most samples whose matrix of `h` is built: what needs the matrix as a whole, such as its
/// eigenvalues, is estimated from a random subset of that size where there are more.
pub(super) const LARGEST: usize = 512;

/// `h` between `s = min(n, 512)` samples, drawn without replacement, with the diagonal set to 0:
/// `[s, s]`, in f64 where the device has it.
pub(super) fn off_diagonal(
    kernel: Kernel,
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    rng: &mut dyn Rng,
) -> Result<Tensor<2>> {
    let n = predictions.samples();
    let pairs = if n <= LARGEST {
        Pairs::new(kernel, predictions, labels)?
    } else {
        let rows = index::sample(rng, n, LARGEST).into_vec();
        let chosen = int_tensor(rows.iter().copied(), &labels.device()).cast(labels.dtype());
        Pairs::new(
            kernel,
            &predictions.select(&rows),
            &labels.clone().select(0, chosen),
        )?
    };
    let size = pairs.samples();
    let h = pairs.tile(&Tile {
        rows: 0..size,
        columns: 0..size,
    });
    let diagonal = Tensor::<2>::eye(size, &h.device()).bool();
    Ok(widened(h).mask_fill(diagonal, 0.0))
}
