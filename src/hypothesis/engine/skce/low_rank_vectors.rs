use burn::tensor::{Tensor, TensorData};
use rand::{Rng, seq::index};

use super::{
    HostKernel,
    low_rank::{LowRank, LowRankSkce, LowRankSums, inverse_root},
};
use crate::{
    distribution::{Batch as _, Geometry, Marginals, Weights},
    error::{Result, check_parameter},
    host::to_vec,
    hypothesis::engine::Evaluator,
    kernel::{Kernel, RealKernel, TargetKernel},
    ops::{MatrixView, add_product},
    parallel,
};

/// The residuals of vectors, by a kernel of low rank on targets. It is Gaussian with the median distance of drawn
/// ones, by landmarks `τ` among them: the residuals are
/// `δ_i = ψ(y_i) − E ψ(Y_i)` with `ψ(y) = K_ττ^{−½} k_Y(τ, y)`, whose expectation under each prediction is known.
struct OfTargets {
    /// The weight of a target among the draws of its prediction.
    weight: f64,
    targets: HostKernel,
    /// `τ`, `[r, d]`.
    landmarks: Vec<f64>,
    rank: usize,
    /// `K_ττ^{−½}`, `[r, r]`, symmetric.
    whiten: Vec<f64>,
    /// `E ψ(Y_i)`, `[n, r]`.
    expectations: Vec<f64>,
}

/// Predictions whose targets are drawn.
const DRAWN: usize = 256;

/// The SKCE of vectors, by the same landmarks for all bandwidths: that of the kernel, which is fixed, times each
/// factor.
///
/// - weight: that of a target among the draws of its prediction, or 0
pub fn low_rank_of_targets<P: Marginals + Geometry>(
    (predictions, weight): (&P, f64),
    kernel: Kernel,
    factors: &[f64],
    landmarks: usize,
    rng: &mut dyn Rng,
) -> Result<impl Evaluator<Vec<Vec<f64>>> + use<P>>
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let (predictions, weights) = predictions.detach().parted();
    let n = predictions.len();
    let rows = index::sample(rng, n, n.min(DRAWN.max(landmarks))).into_vec();
    let drawn = predictions.sampler()(&rows, rng);
    let dtype = predictions.dtype();
    let most = dtype.finfo().expect("a float tensor").max;
    if let Some(&draw) = drawn.iter().find(|draw| !(-most..=most).contains(*draw)) {
        let name = "a target drawn from the predictions";
        check_parameter(false, name, draw, "a number of their dtype")?;
    }
    let d = drawn.len() / rows.len();
    let rank = n.min(landmarks);
    let device = predictions.device();
    let tensor = |rows: &[f64]| {
        let data = TensorData::new(rows.to_vec(), [rows.len() / d, d]);
        Tensor::<2>::from_data(data, (&device, dtype))
    };
    let on_targets = RealKernel::gaussian(1.0).with_median_of(&tensor(&drawn));
    let targets = HostKernel::new(on_targets.kernel(), &[1.0], d);
    let landmarks = drawn[..rank * d].to_vec();
    let whiten = inverse_root(&targets.matrices(&landmarks, &landmarks)[0], rank);
    let whiten = whiten.as_slice().to_vec();
    let expected = on_targets.expectation(predictions.unconditional(), &tensor(&landmarks), 1); // [1, n, r]
    let residuals = OfTargets {
        weight,
        targets,
        landmarks,
        rank,
        expectations: product(&to_vec(expected), &whiten, rank),
        whiten,
    };
    let kernel = low_rank((&predictions, &weights), kernel, factors, &rows[..rank]);
    let sums = move |kernel: &LowRank<f64>, sets: &Vec<Vec<f64>>| residuals.sums(kernel, sets);
    Ok(LowRankSkce { kernel, sums })
}

impl OfTargets {
    /// `ψ(y_i) − E ψ(Y_i)`, `[n, r]`; of a target among the draws of its prediction the expectation is over
    /// the others.
    fn residuals(&self, targets: &[f64]) -> Vec<f64> {
        let kernel = &self.targets.matrices(targets, &self.landmarks)[0];
        let mut residuals = product(kernel, &self.whiten, self.rank);
        let of_others = (1.0 - self.weight).recip();
        let expected = residuals.iter_mut().zip(&self.expectations);
        expected.for_each(|(psi, expected)| *psi = (*psi - expected) * of_others);
        residuals
    }

    /// The sums of each set.
    fn sums(&self, kernel: &LowRank<f64>, sets: &[Vec<f64>]) -> Vec<LowRankSums> {
        parallel::map(sets.len(), &|set| {
            let targets = &sets[set];
            let (n, r, width) = (kernel.samples(), self.rank, kernel.width());
            let residuals = self.residuals(targets);
            let mut z = vec![0.0; r * width];
            let transposed = MatrixView::new(&residuals, r, [n, r]).transposed();
            add_product(&mut z, width, transposed, kernel.features());
            let mut diagonal = vec![0.0; kernel.squares(0).len()];
            for (i, residual) in residuals.chunks(r).enumerate() {
                let square = residual.iter().map(|x| x * x).sum::<f64>();
                let terms = diagonal.iter_mut().zip(kernel.squares(i));
                terms.for_each(|(sum, feature)| *sum += feature * square);
            }
            LowRankSums { z, diagonal }
        })
    }
}

/// The kernel between predictions by some of them.
fn low_rank<P: Geometry>(
    (predictions, weights): (&P, &Weights),
    kernel: Kernel,
    factors: &[f64],
    rows: &[usize],
) -> LowRank<f64> {
    let locations = predictions.select_rows(rows);
    let matrices = |p: &P| -> Vec<Vec<f64>> {
        let kernels = kernel.between_by_factors(p, &locations, factors); // [1, n, J] each
        kernels.into_iter().map(to_vec).collect()
    };
    let all = matrices(predictions);
    let n = predictions.len();
    LowRank::new((n, weights), &matrices(&locations), |(first, count), of| {
        let rank = rows.len();
        for (b, kernel) in all.iter().enumerate() {
            of(b, &kernel[first * rank..][..count * rank]);
        }
    })
}

/// `[n, r]` times a symmetric `[r, r]`.
fn product(rows: &[f64], matrix: &[f64], r: usize) -> Vec<f64> {
    let mut products = vec![0.0; rows.len()];
    let rows = MatrixView::new(rows, r, [rows.len() / r, r]);
    add_product(&mut products, r, rows, MatrixView::new(matrix, r, [r, r]));
    products
}
