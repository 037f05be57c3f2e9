use nalgebra::DMatrix;
use rand::{Rng, seq::index};

use crate::{
    distribution::{Geometry, Weights},
    error::Result,
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    ops::{MatrixView, Real, product},
    parallel::{self, for_each_chunk},
};

/// A kernel of low rank between samples, `φ(p)ᵀφ(q)`, at one or several bandwidths: `φ(p) = K_TT^{−½} k_T(p)` for
/// `J` of the predictions as locations `T` (Williams and Seeger 2001, the Nyström method).
///
/// With residuals `δ_i` of `r` coordinates and `z = Σ_i δ_i φ(p_i)ᵀ` the unbiased SKCE is
/// `(‖z‖² − Σ_i ‖φ(p_i)‖²‖δ_i‖²)/(n(n − 1))`, linear in `n`.
pub struct LowRank<T> {
    /// `φ(p_i)` of every bandwidth, row by row: `[n, B·J]`.
    features: Vec<T>,
    /// `‖φ(p_i)‖²` of every bandwidth, `[n, B]`.
    squares: Vec<f64>,
    /// The weight of all pairs of samples.
    pairs: f64,
    /// `J`.
    rank: usize,
    /// `B`.
    bandwidths: usize,
}

/// The sums over samples that the SKCE is made from.
#[derive(Clone)]
pub struct LowRankSums {
    /// `z`, `[r, B·J]`.
    pub z: Vec<f64>,
    /// `Σ_i ‖φ(p_i)‖²‖δ_i‖²` of every bandwidth.
    pub diagonal: Vec<f64>,
}

/// The unbiased SKCE by a kernel of low rank, of labels or of vectors.
pub struct LowRankSkce<T, F> {
    pub(super) kernel: LowRank<T>,
    /// The sums of each set of targets.
    pub(super) sums: F,
}

impl<T: Real, S, F: Fn(&LowRank<T>, &S) -> Vec<LowRankSums>> Evaluator<S> for LowRankSkce<T, F> {
    fn width(&self) -> usize {
        self.kernel.bandwidths
    }

    fn values(&self, sets: &S) -> Result<Vec<f64>> {
        let sums = (self.sums)(&self.kernel, sets).into_iter();
        Ok(sums.flat_map(|sums| self.kernel.estimates(sums)).collect())
    }
}

/// Samples of a block of work.
const BLOCK: usize = 1024;

impl<T: Real> LowRank<T> {
    /// Computes `φ` in blocks of samples, on all threads.
    ///
    /// - locations: the kernel between the locations at each bandwidth, `[J, J]`
    /// - at_each: calls a function with each bandwidth and the kernel between so many samples from the first on
    ///   and the locations, `[count, J]`
    pub fn new(
        (samples, weights): (usize, &Weights),
        locations: &[Vec<f64>],
        at_each: impl Fn((usize, usize), &mut dyn FnMut(usize, &[f64])) + Sync,
    ) -> Self {
        let bandwidths = locations.len();
        let rank = locations[0].len().isqrt();
        let roots: Vec<DMatrix<f64>> = (locations.iter())
            .map(|gram| inverse_root(gram, rank))
            .collect();
        let width = bandwidths * rank;
        let mut features = vec![T::new(0.0); samples * width];
        for_each_chunk(&mut features, BLOCK * width, rank, |(block, features)| {
            let count = features.len() / width;
            let mut of_bandwidth = vec![0.0; count * rank];
            at_each((block * BLOCK, count), &mut |b, gram| {
                let root = MatrixView::new(roots[b].as_slice(), rank, [rank, rank]); // symmetric
                let gram = MatrixView::new(gram, rank, [count, rank]);
                product(&mut of_bandwidth, rank, gram, root);
                let rows = of_bandwidth.chunks(rank);
                let samples = block * BLOCK..;
                for ((features, row), i) in features.chunks_mut(width).zip(rows).zip(samples) {
                    let (features, w) = (features[b * rank..].iter_mut(), weights.at(i));
                    features.zip(row).for_each(|(to, x)| *to = T::new(w * x));
                }
            });
        });
        let blocks: Vec<&[T]> = features.chunks(BLOCK * width).collect();
        let squares = parallel::map(blocks.len(), &|block| -> Vec<f64> {
            blocks[block].chunks(rank).map(square).collect()
        });
        Self {
            squares: squares.concat(),
            pairs: weights.pairs(samples),
            features,
            rank,
            bandwidths,
        }
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.squares.len() / self.bandwidths
    }

    /// `B·J`.
    pub fn width(&self) -> usize {
        self.bandwidths * self.rank
    }

    /// `φ(p_i)` of every bandwidth.
    pub fn feature(&self, i: usize) -> &[T] {
        &self.features[i * self.width()..][..self.width()]
    }

    /// `φ` of all samples, `[n, B·J]`.
    pub fn features(&self) -> MatrixView<'_, T> {
        MatrixView::new(&self.features, self.width(), [self.samples(), self.width()])
    }

    /// `‖φ(p_i)‖²` of every bandwidth.
    pub fn squares(&self, i: usize) -> &[f64] {
        &self.squares[i * self.bandwidths..][..self.bandwidths]
    }

    /// The estimates of every bandwidth.
    fn estimates(&self, LowRankSums { z, diagonal }: LowRankSums) -> Vec<f64> {
        let mut squares = vec![0.0; self.bandwidths]; // ‖z‖²
        for of_coordinate in z.chunks(self.width()) {
            for (sum, z) in squares.iter_mut().zip(of_coordinate.chunks(self.rank)) {
                *sum += z.iter().map(|z| z * z).sum::<f64>();
            }
        }
        let estimate = |(square, diagonal): (f64, f64)| (square - diagonal) / self.pairs;
        squares.into_iter().zip(diagonal).map(estimate).collect()
    }
}

/// `‖φ‖²`, in eight sums that a vector can hold.
#[inline(always)]
fn square<T: Real>(feature: &[T]) -> f64 {
    let (chunks, rest) = feature.as_chunks::<8>();
    let square = |x: &T| x.to_f64() * x.to_f64();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        sums.iter_mut()
            .zip(chunk)
            .for_each(|(sum, x)| *sum += square(x));
    }
    sums.iter().sum::<f64>() + rest.iter().map(square).sum::<f64>()
}

/// `K^{−½}` of a positive definite matrix, without its directions of hardly any weight.
pub fn inverse_root(gram: &[f64], size: usize) -> DMatrix<f64> {
    let eigen = DMatrix::from_row_slice(size, size, gram).symmetric_eigen();
    let largest = eigen.eigenvalues.max();
    let root = eigen.eigenvalues.map(|value| {
        if value > 1e-6 * largest {
            value.sqrt().recip()
        } else {
            0.0
        }
    });
    let vectors = &eigen.eigenvectors;
    vectors * DMatrix::from_diagonal(&root) * vectors.transpose()
}

/// The same kernel with its bandwidth fixed at the median distance of at most 256 of the predictions, drawn.
pub fn with_bandwidth_of_some<P: Geometry>(
    kernel: Kernel,
    predictions: &P,
    rng: &mut dyn Rng,
) -> Result<Kernel> {
    let n = predictions.len();
    let rows = index::sample(rng, n, n.min(MEDIAN_OF)).into_vec();
    kernel.with_bandwidth_of_predictions(&predictions.select_rows(&rows))
}

/// Predictions whose median distance is taken.
const MEDIAN_OF: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// A root of a matrix without full rank is that of its range.
    #[test]
    fn roots_of_singular_matrices() {
        let gram = [1.0, 1.0, 0.5, 1.0, 1.0, 0.5, 0.5, 0.5, 1.0];
        let root = inverse_root(&gram, 3);
        let matrix = DMatrix::from_row_slice(3, 3, &gram);
        let again = &matrix * &root * &root * &matrix;
        assert!((again - matrix).abs().max() < 1e-12);
    }
}
