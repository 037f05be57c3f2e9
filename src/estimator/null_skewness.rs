//! The skewness of `T = n·SKCE_uq` if the model is calibrated, given the predictions.
//!
//! With `S = Σ_{i≠j} h_ij = (n − 1) T` and the covariance `C_i = diag(p_i) − p_i p_iᵀ` of `δ_i`,
//!
//! `E[S²] = 2 Σ_{i≠j} k_ij² tr(C_i C_j)`,
//! `E[S³] = 8 Σ_{i,j,l distinct} k_ij k_jl k_li tr(C_i C_j C_l) + 4 Σ_{i≠j} k_ij³ E[(δ_iᵀδ_j)³]`.
//!
//! No label enters. For many samples both are estimated from some of them, weighted by the inverse of their
//! inclusion probabilities (Horvitz, Thompson 1952).

use burn::tensor::Tensor;
use nalgebra::{DMatrix, DVector};
use rand::{Rng, RngExt};

use super::{joint::JointKernel, null_variance::Compared};
use crate::{
    distribution::Geometry,
    error::Result,
    host::{int_tensor, tensor_like, to_scalar, to_vec, widened, without_diagonal},
};

/// The skewness of `n·SKCE_uq` if the model is calibrated, given the predictions, `E[T³]/E[T²]^{3/2}`; the bandwidth
/// must be fixed. It may be negative, and is 0 where there is no variance.
///
/// Exact for classes and `M = I` for as many samples as a budget of operations allows, see
/// [`AsymptoticSkceTest`](crate::hypothesis::AsymptoticSkceTest), otherwise from about so many of them. For
/// others both moments are unbiased estimates from redrawn targets, of a random subset of about 512 samples where
/// there are more. Both moments are of one sample, so that what it has too much or too little of cancels in
/// their ratio.
///
/// Cost: `s³·m` operations for `s` samples.
///
/// # Errors
///
/// As [`JointKernel::pairs`].
pub fn null_skewness<P: Geometry, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    rng: &mut dyn Rng,
) -> Result<f64> {
    predictions.check()?;
    let Some(classes) = Compared::new(kernel, predictions) else {
        let sample = Subsample::new(&vec![1.0; predictions.len()], LARGEST, rng);
        return by_redrawing(kernel, predictions, &sample, rng);
    };
    let p = widened(classes.classes.probabilities.clone());
    let m = p.dims()[1] as f64;
    let traces = to_vec((p.clone() * (p.neg() + 1.0)).sum_dim(1));
    if classes.classes.matrix.is_some() {
        let sample = Subsample::new(&traces, LARGEST, rng);
        return by_redrawing(kernel, predictions, &sample, rng);
    }
    let size = (TRIPLES / (m + 1.0)).cbrt().clamp(128.0, 1024.0) as usize;
    let sample = Subsample::new(&traces, size, rng);
    Ok(standardised(moments_of_classes(&classes, &sample)))
}

/// A random subset of the samples, with weights.
struct Subsample {
    /// The samples, in increasing order.
    rows: Vec<usize>,
    /// The number of samples that each stands for in a sum: the inverse of its inclusion probability.
    weights: Vec<f64>,
}

/// The largest number of samples whose matrix of `h` is built.
const LARGEST: usize = 512;

impl Subsample {
    /// All samples if there are at most `size`, otherwise at most about so many: each is drawn independently, with a
    /// probability in proportion to a tenth of the mean of the importances and its own, or 1 where that is larger.
    /// So no weight exceeds some `10 n/size`. Samples of importance 0 add nothing and are left out.
    ///
    /// - importances: of classes `tr C_i = Σ_c p_ic (1 − p_ic)`, on which what a sample adds to the moments depends
    fn new(importances: &[f64], size: usize, rng: &mut dyn Rng) -> Self {
        let positive: Vec<usize> = (0..importances.len())
            .filter(|&i| importances[i] > 0.0)
            .collect();
        let mean = positive.iter().map(|&i| importances[i]).sum::<f64>() / positive.len() as f64;
        let count = positive.len() as f64;
        let inclusion = |row: usize| {
            if count <= size as f64 {
                return 1.0;
            }
            let share = (importances[row] + 0.1 * mean) / (1.1 * mean * count);
            (share * size as f64).min(1.0)
        };
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for row in positive {
            let inclusion = inclusion(row);
            if inclusion == 1.0 || rng.random::<f64>() < inclusion {
                rows.push(row);
                weights.push(inclusion.recip());
            }
        }
        Self { rows, weights }
    }
}

/// The skewness from `E[S²]` and `E[S³]`.
fn standardised([second, third]: [f64; 2]) -> f64 {
    let skewness = third / second.powf(1.5);
    if second > 0.0 && skewness.is_finite() {
        skewness
    } else {
        0.0 // no variance
    }
}

/// The skewness for a kernel whose moments have no closed form: from targets that are redrawn from the
/// predictions, whose `h` have the same moments.
fn by_redrawing<P: Geometry, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    sample: &Subsample,
    rng: &mut dyn Rng,
) -> Result<f64> {
    let s = sample.rows.len();
    if s < 2 {
        return Ok(0.0);
    }
    let predictions = predictions.select_rows(&sample.rows);
    let sets = (PAIRS / (s * s)).clamp(4, 64);
    let roots = DVector::from_iterator(s, sample.weights.iter().map(|w| w.sqrt()));
    let weights = &roots * roots.transpose(); // √(w_i w_j)
    let mut moments = [0.0; 2];
    for _ in 0..sets {
        let pairs = kernel.pairs(&predictions, &predictions.sample(rng))?;
        // on the host: products of matrices on a GPU may have three digits, and their sum cancels
        let mut h = DMatrix::from_vec(s, s, to_vec(pairs.tile(0..s, 0..s))); // symmetric
        h.fill_diagonal(0.0);
        let scaled = h.component_mul(&weights);
        let triangles = (&scaled * &scaled).dot(&scaled);
        let squares = scaled.component_mul(&scaled); // w_i w_j h_ij²
        let (second, cubes) = (squares.sum(), squares.dot(&h));
        moments[0] += 2.0 * second;
        moments[1] += 8.0 * triangles + 4.0 * cubes;
    }
    Ok(standardised(moments.map(|sum| sum / sets as f64)))
}

/// Pairs of samples over all redrawn data sets.
const PAIRS: usize = 1 << 20;

/// Ordered triples of samples by classes: `s³ (m + 1)`, of which one in six is computed.
const TRIPLES: f64 = 2.5e9;

/// Both moments, weighted, in f64 where the device has it. With `g_ij = p_iᵀp_j`, sums over classes `c`, and
/// `y ∼ p_i`, `y' ∼ p_j`:
///
/// - `tr(C_i C_j) = g − Σ p_ic² p_jc − Σ p_ic p_jc² + g²`;
/// - `E[(δ_iᵀδ_j)³] = g + 3g² + 4g³ + 2 Σ (p_ic p_jc³ + p_ic³ p_jc) + 6 Σ p_ic² p_jc²
///   − (3 + 6g) Σ (p_ic p_jc² + p_ic² p_jc)`, from `δ_iᵀδ_j = 1[y = y'] − p_j[y] − p_i[y'] + g`;
/// - `tr(C_i C_j C_l) = Σ_c p_ic p_jc p_lc (1 − p_ic − p_jc − p_lc + g_ij + g_jl + g_li) − g_ij g_jl g_li`,
///   or the mean of this and its transpose, which enter a sum over ordered triples alike.
///
/// In the sum over triples the three `p` count alike, and so do the three `g`. With a kernel that is 0 on the
/// diagonal, where triples are not distinct, and `A_c = K∘(√p_c √p_cᵀ)` it is
/// `Σ_c Σ_ij (A_c²)_ij (A_c)_ij (1 − 3 p_ic + 3 g_ij) − Σ_ij (B²)_ij B_ij` for `B = K∘g`.
fn moments_of_classes(classes: &Compared, sample: &Subsample) -> [f64; 2] {
    let s = sample.rows.len();
    if s < 2 {
        return [0.0; 2];
    }
    let [p, points] = [&classes.classes.probabilities, &classes.points].map(|x| {
        let rows = int_tensor(sample.rows.iter().copied(), &x.device());
        widened(x.clone().detach()).select(0, rows) // [s, m], [s, w]
    });
    let points = points.unsqueeze();
    let k = classes.kernel.between(points.clone(), points); // [1, s, s]
    let k = without_diagonal(k.squeeze_dim(0));
    let roots = sample.weights.iter().map(|w| w.sqrt()).collect();
    let roots = tensor_like(roots, [s, 1], &k);
    let weights = roots.clone() * roots.transpose(); // √(w_i w_j)

    let product = |x: &Tensor<2>, y: &Tensor<2>| x.clone().matmul(y.clone().transpose());
    let symmetric = |x: Tensor<2>| x.clone() + x.transpose();
    let square = p.clone().square();
    let g = product(&p, &p);
    let third = symmetric(product(&square, &p));
    let fourth = symmetric(product(&(square.clone() * p.clone()), &p));
    let trace = g.clone() - third.clone() + g.clone().square();
    let cube = g.clone()
        + g.clone().square() * 3.0
        + g.clone().powi_scalar(3) * 4.0
        + fourth * 2.0
        + product(&square, &square) * 6.0
        - third * (g.clone() * 6.0 + 3.0);
    let pairs = weights.clone().square() * k.clone().square();
    let second = to_scalar((pairs.clone() * trace).sum());
    let cubes = to_scalar((pairs * k.clone() * cube).sum());

    let k = k * weights; // each weight is in two factors of a triple
    let closed = |a: &Tensor<2>| a.clone().matmul(a.clone()) * a.clone();
    let of_class = |c: usize| {
        let p = p.clone().slice([0..s, c..c + 1]);
        let root = p.clone().sqrt();
        let a = k.clone() * (root.clone() * root.transpose());
        to_scalar((closed(&a) * ((g.clone() - p) * 3.0 + 1.0)).sum())
    };
    let triples: f64 = (0..p.dims()[1]).map(of_class).sum();
    let triples = triples - to_scalar(closed(&(k.clone() * g.clone())).sum());
    [2.0 * second, 8.0 * triples + 4.0 * cubes]
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, TensorData};
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::kernel::{Bandwidth, Kernel, OnClasses};

    /// The mean over many samples is what all samples give.
    #[test]
    fn weighted_samples_are_unbiased() {
        let mut rng = StdRng::seed_from_u64(5);
        let row = |_| {
            let weights = [(); 3].map(|()| (9.0 * rng.random::<f64>()).exp());
            weights.map(|w| w / weights.iter().sum::<f64>())
        };
        let rows: Vec<f64> = (0..24).flat_map(row).collect();
        let options = (&Device::flex(), DType::F64);
        let p = Tensor::<2>::from_data(TensorData::new(rows, [24, 3]), options);
        let classes = Compared {
            kernel: Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.4)),
            points: p.clone(),
            classes: OnClasses {
                probabilities: p.clone(),
                matrix: None,
            },
        };
        let mut rng = StdRng::seed_from_u64(5);
        let traces = to_vec((p.clone() * (p.neg() + 1.0)).sum_dim(1));
        let all = Subsample::new(&traces, 24, &mut rng);
        let expected = moments_of_classes(&classes, &all);
        let sets = 1500;
        let (mut size, mut sum, mut squares) = (0, [0.0; 2], [0.0; 2]);
        for _ in 0..sets {
            let sample = Subsample::new(&traces, 16, &mut rng);
            size += sample.rows.len();
            let found = moments_of_classes(&classes, &sample);
            for (at, value) in found.into_iter().enumerate() {
                sum[at] += value / sets as f64;
                squares[at] += value * value / sets as f64;
            }
        }
        let size = size as f64 / sets as f64;
        assert!(size > 8.0 && size < 16.3, "{size}");
        for (at, expected) in expected.into_iter().enumerate() {
            let error = ((squares[at] - sum[at] * sum[at]) / sets as f64).sqrt();
            assert!(
                (sum[at] - expected).abs() < 4.0 * error,
                "{sum:?}, {expected}, {error}"
            );
            assert!(error < 0.1 * expected.abs());
        }
    }

    /// Certain samples are left out, and the most important ones always taken.
    #[test]
    fn certain_samples_are_left_out() {
        let mut rng = StdRng::seed_from_u64(6);
        let few = Subsample::new(&[0.0, 0.5, 0.0, 0.1], 2, &mut rng);
        assert_eq!((few.rows, few.weights), (vec![1, 3], vec![1.0; 2]));
        let importances: Vec<f64> = (0..100).map(|i| 0.9f64.powi(i)).collect();
        for _ in 0..20 {
            let some = Subsample::new(&importances, 20, &mut rng);
            assert!(some.rows.starts_with(&[0, 1, 2, 3, 4]) && some.weights[4] == 1.0);
            assert!(some.rows.len() < 30 && some.weights.iter().all(|&w| w <= 50.0 * 1.1));
        }
        assert!(Subsample::new(&[0.0; 9], 2, &mut rng).rows.is_empty());
    }
}
