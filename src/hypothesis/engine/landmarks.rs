use std::sync::Arc;

use burn::tensor::Tensor;
use nalgebra::DMatrix;
use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, seq::index};
use rayon::prelude::*;

use super::{ClassPoints, Evaluator, HostKernel, PART, add_all};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets},
    error::Result,
    host::int_tensor,
    kernel::Kernel,
    ops::{Matrix, product},
};

/// The unbiased SKCE of kernels `φ(p)ᵀφ(q)` of low rank, at one or several bandwidths: `φ(p) = K_TT^{−½} k_T(p)` for `J` of the
/// predictions, drawn, as locations `T` (Williams and Seeger 2001, the Nyström method). With
/// `z_jc = Σ_i φ_j(p_i) δ_ic` it is `(‖z‖² − Σ_i ‖φ(p_i)‖²‖δ_i‖²)/(n(n − 1))`, linear in `n`, and a label
/// that differs changes `2J` numbers.
pub struct Landmarks {
    rows: Arc<ClassRows>,
    /// `φ(p_i)` of every bandwidth, row by row: `[n, B·J]`. Single precision is enough of numbers that
    /// are summed in double.
    features: Vec<f32>,
    /// `‖φ(p_i)‖²` of every bandwidth, `[n, B]`.
    squares: Vec<f64>,
    /// `J`.
    rank: usize,
    /// `B·J`.
    width: usize,
    /// `z_cj` where all labels are the most likely class, `[m, B·J]`.
    base: Vec<f64>,
    /// `Σ_i ‖φ(p_i)‖²‖δ_i‖²` there, for each bandwidth.
    diagonal: Vec<f64>,
}

impl Landmarks {
    /// Creates the test with so many landmarks, drawn from the predictions; a fixed bandwidth times each factor.
    pub fn new(
        kernel: Kernel,
        factors: &[f64],
        all: impl Into<ClassPoints>,
        landmarks: usize,
        rng: &mut dyn Rng,
    ) -> Self {
        let all = all.into();
        let (n, d) = (all.rows.samples(), all.d);
        let kernel = HostKernel::new(kernel, factors, d);
        let chosen = index::sample(rng, n, landmarks.min(n));
        let points: Vec<f64> = chosen.iter().flat_map(|i| all.point(i)).copied().collect();
        let rank = chosen.len();
        let roots: Vec<DMatrix<f64>> = (kernel.matrices(&points, &points).iter())
            .map(|gram| inverse_root(gram, rank))
            .collect();
        let width = roots.len() * rank;
        let mut features = vec![0f32; n * width];
        let blocks = features.par_chunks_mut(BLOCK * width).enumerate();
        blocks.for_each(|(block, features)| {
            let count = features.len() / width;
            let own = &all.values()[block * BLOCK * d..][..count * d];
            let mut of_bandwidth = vec![0.0; count * rank];
            kernel.at_each(own, &points, |b, gram| {
                let root = Matrix::new(roots[b].as_slice(), rank, [rank, rank]); // symmetric
                let gram = Matrix::new(gram, rank, [count, rank]);
                product(&mut of_bandwidth, rank, gram, root);
                let rows = of_bandwidth.chunks(rank);
                for (features, row) in features.chunks_mut(width).zip(rows) {
                    let features = &mut features[b * rank..][..rank];
                    features
                        .iter_mut()
                        .zip(row)
                        .for_each(|(to, x)| *to = *x as f32);
                }
            });
        });
        let squares = features.par_chunks(rank);
        let mut all = Self {
            rank,
            width,
            base: Vec::new(),
            diagonal: Vec::new(),
            squares: squares.map(square).collect(),
            features,
            rows: all.rows,
        };
        let mut diagonal = vec![0.0; roots.len()];
        for i in 0..n {
            add_to(&mut diagonal, all.residual_square(i), all.squares(i));
        }
        all.diagonal = diagonal;
        all.base = all.sums();
        all
    }

    /// `‖e_top − p‖²`.
    fn residual_square(&self, i: usize) -> f64 {
        let p = self.rows.row(i);
        1.0 - 2.0 * self.rows.confidence(i) + p.iter().map(|p| p * p).sum::<f64>()
    }

    /// `Σ_i (e_top − p)_c φ_j(p_i)`.
    fn sums(&self) -> Vec<f64> {
        let (n, m, width) = (self.rows.samples(), self.rows.classes, self.width);
        let part = |first: usize| {
            let mut sums = vec![0.0; m * width];
            for i in first..n.min(first + PART) {
                let (p, top) = (self.rows.row(i), self.rows.top[i] as usize);
                for (c, sums) in sums.chunks_mut(width).enumerate() {
                    let residual = if c == top { self.rows.doubt[i] } else { -p[c] };
                    add_to(sums, residual, self.feature(i));
                }
            }
            sums
        };
        let firsts: Vec<usize> = (0..n).step_by(PART).collect();
        let parts: Vec<Vec<f64>> = firsts.into_par_iter().map(part).collect();
        let mut sums = vec![0.0; m * width];
        for part in parts {
            add_all(&mut sums, &part);
        }
        sums
    }

    /// `φ(p_i)` of every bandwidth.
    fn feature(&self, i: usize) -> &[f32] {
        &self.features[i * self.width..][..self.width]
    }

    /// `‖φ(p_i)‖²` of every bandwidth.
    fn squares(&self, i: usize) -> &[f64] {
        let bandwidths = self.width / self.rank;
        &self.squares[i * bandwidths..][..bandwidths]
    }

    /// The estimates from `z` and `Σ_i ‖φ(p_i)‖²‖δ_i‖²`.
    fn estimates(&self, Sums { z, diagonal }: Sums) -> Vec<f64> {
        let n = self.rows.samples() as f64;
        let mut squares = vec![0.0; diagonal.len()]; // ‖z‖²
        for of_class in z.chunks(self.width) {
            for (sum, z) in squares.iter_mut().zip(of_class.chunks(self.rank)) {
                *sum += z.iter().map(|z| z * z).sum::<f64>();
            }
        }
        let estimate = |(square, diagonal): (f64, f64)| (square - diagonal) / (n * (n - 1.0));
        squares.into_iter().zip(diagonal).map(estimate).collect()
    }
}

/// Sums over the samples, see [`Landmarks`].
#[derive(Clone)]
struct Sums {
    z: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Adds what the labels that differ change, in vectors of the processor.
struct Flipped<'a> {
    landmarks: &'a Landmarks,
    flips: &'a [Flip],
    sums: &'a mut Sums,
}

impl WithSimd for Flipped<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Landmarks { rows, width, .. } = self.landmarks;
        let Sums { z, diagonal } = self.sums;
        rows.for_each_flip(self.flips, |Flip { sample, class }, [of_top, of_class]| {
            let i = sample as usize;
            let (top, feature) = (rows.top[i], self.landmarks.feature(i));
            add_to(&mut z[class as usize * width..][..*width], 1.0, feature);
            add_to(&mut z[top as usize * width..][..*width], -1.0, feature);
            let change = 2.0 * (of_top - of_class);
            add_to(diagonal, change, self.landmarks.squares(i));
        });
    }
}

/// Samples of a block of work.
const BLOCK: usize = 1024;

#[inline(always)]
fn add_to<T: Copy + Into<f64>>(sums: &mut [f64], factor: f64, numbers: &[T]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += factor * (*x).into();
    }
}

/// `‖φ‖²`, in eight sums that a vector can hold.
#[inline(always)]
fn square(feature: &[f32]) -> f64 {
    let (chunks, rest) = feature.as_chunks::<8>();
    let square = |x: &f32| f64::from(*x) * f64::from(*x);
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
    let root = eigen.eigenvalues.map(|value| match value > 1e-6 * largest {
        true => value.sqrt().recip(),
        false => 0.0,
    });
    let vectors = &eigen.eigenvectors;
    vectors * DMatrix::from_diagonal(&root) * vectors.transpose()
}

impl Evaluator<Categorical> for Landmarks {
    fn width(&self) -> usize {
        self.diagonal.len()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let start = Sums {
            z: self.base.clone(),
            diagonal: self.diagonal.clone(),
        };
        let held = start.z.len() + start.diagonal.len();
        let sums = sets.sweep(&start, held, |sums, flips| {
            Arch::new().dispatch(Flipped {
                landmarks: self,
                flips,
                sums,
            });
        });
        Ok(sums
            .into_iter()
            .flat_map(|sums| self.estimates(sums))
            .collect())
    }
}

/// The same kernel with its bandwidth fixed at the median distance of at most 256 of the points, drawn.
pub fn with_bandwidth_of_some(
    kernel: Kernel,
    points: &Tensor<2>,
    rng: &mut dyn Rng,
) -> Result<Kernel> {
    let n = points.dims()[0];
    let rows = index::sample(rng, n, n.min(MEDIAN_OF)).into_iter();
    let rows = int_tensor(rows, &points.device());
    kernel.with_bandwidth_of(&points.clone().select(0, rows))
}

/// Predictions whose median distance is taken.
const MEDIAN_OF: usize = 256;

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, Tensor, TensorData, activation::softmax};
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{
        distribution::{Predictive, Redrawn},
        estimator::SkceForm,
        hypothesis::engine::Quadratic,
        kernel::Bandwidth,
    };

    const FACTORS: [f64; 3] = [0.25, 1.0, 4.0];

    fn predictions(n: usize, m: usize, scale: f64, rng: &mut StdRng) -> Categorical {
        let logits: Vec<f64> = (0..n * m)
            .map(|_| rng.random_range(-scale..scale))
            .collect();
        let logits = TensorData::new(logits, [n, m]);
        let logits = Tensor::<2>::from_data(logits, (&Device::default(), DType::F64));
        Categorical::from_probabilities(softmax(logits, 1)).unwrap()
    }

    fn kernels() -> [Kernel; 3] {
        [
            Kernel::exponential(),
            Kernel::gaussian(),
            Kernel::matern32(),
        ]
        .map(|kernel| kernel.with_bandwidth(Bandwidth::Fixed(0.3)))
    }

    /// `Σ_{i≠j} φ_iᵀφ_j δ_iᵀδ_j/(n(n − 1))` by loops.
    fn by_pairs(landmarks: &Landmarks, bandwidth: usize, labels: &[usize]) -> f64 {
        let rows = &landmarks.rows;
        let n = rows.samples();
        let feature =
            |i: usize| &landmarks.feature(i)[bandwidth * landmarks.rank..][..landmarks.rank];
        let residual = |i: usize, c: usize| f64::from(labels[i] == c) - rows.row(i)[c];
        let mut sum = 0.0;
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let kernel: f64 = (feature(i).iter().zip(feature(j)))
                    .map(|(a, b)| f64::from(*a) * f64::from(*b))
                    .sum();
                let product = |c: usize| residual(i, c) * residual(j, c);
                sum += kernel * (0..rows.classes).map(product).sum::<f64>();
            }
        }
        sum / (n * (n - 1)) as f64
    }

    #[test]
    fn agrees_with_sums_over_pairs() {
        let mut rng = StdRng::seed_from_u64(1);
        for (n, m, scale) in [(2, 2, 1.0), (40, 3, 1.0), (60, 5, 12.0)] {
            let predictions = predictions(n, m, scale, &mut rng);
            for kernel in kernels() {
                let landmarks = Landmarks::new(kernel, &FACTORS, &predictions, 7, &mut rng);
                assert_eq!((landmarks.rank, landmarks.width()), (n.min(7), 3));
                let sets = (predictions.redrawer().draw)(4, &mut rng);
                let values = landmarks.values(&sets).unwrap();
                assert_eq!(values.len(), 4 * 3);
                for (set, values) in values.chunks(3).enumerate() {
                    for (bandwidth, value) in values.iter().enumerate() {
                        let expected = by_pairs(&landmarks, bandwidth, &sets.set(set));
                        assert!((value - expected).abs() < 1e-12, "{value}, {expected}");
                    }
                }
            }
        }
    }

    /// With a landmark at each prediction nothing is lost, but the digits of single precision.
    #[test]
    fn all_predictions_as_landmarks_are_the_kernel() {
        let mut rng = StdRng::seed_from_u64(2);
        let n = 30;
        for scale in [1.0, 8.0] {
            let predictions = predictions(n, 4, scale, &mut rng);
            // the eigenvalues of smoother kernels are too small for all to count
            let kernel = kernels()[0];
            let landmarks = Landmarks::new(kernel, &FACTORS, &predictions, n, &mut rng);
            let quadratic = Quadratic::new(kernel, &FACTORS, SkceForm::Unbiased, &predictions);
            let sets = (predictions.redrawer().draw)(5, &mut rng);
            let values = landmarks.values(&sets).unwrap();
            let expected = quadratic.values(&sets).unwrap();
            for (value, expected) in values.iter().zip(&expected) {
                assert!((value - expected).abs() < 1e-6, "{value}, {expected}");
            }
        }
    }

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
