use burn::tensor::Tensor;
use rand::{Rng, seq::index};

use crate::{
    distribution::{Predictive, Targets},
    error::Result,
    estimator::{JointKernel, PairMatrix},
    host::{widened, without_diagonal},
};

/// The most samples whose matrix of `h` is built: what needs the matrix as a whole, such as its
/// eigenvalues, is estimated from a random subset of that size where there are more.
pub(super) const LARGEST: usize = 512;

/// `h` between `s = min(n, 512)` samples, drawn without replacement, with the diagonal set to 0:
/// `[s, s]`, in f64 where the device has it.
///
/// - pairs: of all samples
pub(super) fn off_diagonal<P: Predictive, K: JointKernel<P>>(
    kernel: &K,
    pairs: &K::Pairs,
    predictions: &P,
    targets: &P::Targets,
    rng: &mut dyn Rng,
) -> Result<Tensor<2>> {
    let n = predictions.len();
    let whole = |pairs: &K::Pairs| pairs.tile(0..pairs.samples(), 0..pairs.samples());
    let h = if n <= LARGEST {
        whole(pairs)
    } else {
        let rows = index::sample(rng, n, LARGEST).into_vec();
        whole(&kernel.pairs(&predictions.select_rows(&rows), &targets.select_rows(&rows))?)
    };
    Ok(without_diagonal(widened(h)))
}
