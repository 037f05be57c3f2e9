use std::sync::Arc;

use burn::tensor::Tensor;
use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, seq::index};
use rayon::prelude::*;

use super::{
    HostKernel,
    low_rank::{LowRank, LowRankSums},
};
use crate::{
    distribution::{Categorical, ClassRows, Flip, LabelSets},
    error::Result,
    host::int_tensor,
    hypothesis::engine::{ClassPoints, Evaluator, PART, add_all},
    kernel::Kernel,
};

/// The unbiased SKCE of classes and a kernel of low rank. A label that differs from the most likely class
/// changes `2J` numbers of `z_jc = Σ_i φ_j(p_i) δ_ic`.
pub struct LowRankClassSkce {
    rows: Arc<ClassRows>,
    /// Single precision is enough of numbers that are summed in double.
    kernel: LowRank<f32>,
    /// The sums where all labels are the most likely class.
    base: LowRankSums,
}

impl LowRankClassSkce {
    /// Takes so many landmarks, drawn from the predictions; a fixed bandwidth times each factor.
    pub fn new(
        kernel: Kernel,
        factors: &[f64],
        all: impl Into<ClassPoints>,
        landmarks: usize,
        rng: &mut dyn Rng,
    ) -> Self {
        let all = all.into();
        let (n, d) = (all.rows.samples(), all.d);
        let on_host = HostKernel::new(kernel, factors, d);
        let chosen = index::sample(rng, n, landmarks.min(n));
        let points: Vec<f64> = chosen.iter().flat_map(|i| all.point(i)).copied().collect();
        let locations = on_host.matrices(&points, &points);
        let kernel = LowRank::new(n, &locations, |(first, count), of| {
            let own = &all.values()[first * d..][..count * d];
            on_host.at_each(own, &points, of);
        });
        let mut diagonal = vec![0.0; kernel.bandwidths()];
        for i in 0..n {
            add_to(
                &mut diagonal,
                all.rows.residual_square(i),
                kernel.squares(i),
            );
        }
        let z = sums(&all.rows, &kernel);
        Self {
            base: LowRankSums { z, diagonal },
            kernel,
            rows: all.rows,
        }
    }
}

/// `Σ_i (e_top − p)_c φ_j(p_i)`.
fn sums(rows: &ClassRows, kernel: &LowRank<f32>) -> Vec<f64> {
    let (n, m, width) = (rows.samples(), rows.classes, kernel.width());
    let part = |first: usize| {
        let mut sums = vec![0.0; m * width];
        for i in first..n.min(first + PART) {
            let (p, top) = (rows.row(i), rows.top[i] as usize);
            for (c, sums) in sums.chunks_mut(width).enumerate() {
                let residual = if c == top {
                    rows.error_probability[i]
                } else {
                    -p[c]
                };
                add_to(sums, residual, kernel.feature(i));
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

/// Adds what the labels that differ change, in vectors of the processor.
struct Flipped<'a> {
    landmarks: &'a LowRankClassSkce,
    flips: &'a [Flip],
    sums: &'a mut LowRankSums,
}

impl WithSimd for Flipped<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let LowRankClassSkce { rows, kernel, .. } = self.landmarks;
        let (width, LowRankSums { z, diagonal }) = (kernel.width(), self.sums);
        rows.for_each_flip(self.flips, |Flip { sample, class }, [of_top, of_class]| {
            let i = sample as usize;
            let (top, feature) = (rows.top[i], kernel.feature(i));
            add_to(&mut z[class as usize * width..][..width], 1.0, feature);
            add_to(&mut z[top as usize * width..][..width], -1.0, feature);
            let change = 2.0 * (of_top - of_class);
            add_to(diagonal, change, kernel.squares(i));
        });
    }
}

#[inline(always)]
fn add_to<T: Copy + Into<f64>>(sums: &mut [f64], factor: f64, numbers: &[T]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += factor * (*x).into();
    }
}

impl Evaluator<Categorical> for LowRankClassSkce {
    fn width(&self) -> usize {
        self.kernel.bandwidths()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let held = self.base.z.len() + self.base.diagonal.len();
        let sums = sets.sweep(&self.base, held, |sums, flips| {
            Arch::new().dispatch(Flipped {
                landmarks: self,
                flips,
                sums,
            });
        });
        let estimates = sums.into_iter().map(|sums| self.kernel.estimates(sums));
        Ok(estimates.flatten().collect())
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
        hypothesis::engine::ClassSkce,
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
    fn by_pairs(landmarks: &LowRankClassSkce, bandwidth: usize, labels: &[usize]) -> f64 {
        let (rows, kernel) = (&landmarks.rows, &landmarks.kernel);
        let (n, rank) = (rows.samples(), kernel.width() / kernel.bandwidths());
        let feature = |i: usize| &kernel.feature(i)[bandwidth * rank..][..rank];
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
                let landmarks = LowRankClassSkce::new(kernel, &FACTORS, &predictions, 7, &mut rng);
                let numbers = (landmarks.kernel.width(), landmarks.width());
                assert_eq!(numbers, (3 * n.min(7), 3));
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
            let landmarks = LowRankClassSkce::new(kernel, &FACTORS, &predictions, n, &mut rng);
            let quadratic = ClassSkce::new(kernel, &FACTORS, SkceForm::Unbiased, &predictions);
            let sets = (predictions.redrawer().draw)(5, &mut rng);
            let values = landmarks.values(&sets).unwrap();
            let expected = quadratic.values(&sets).unwrap();
            for (value, expected) in values.iter().zip(&expected) {
                assert!((value - expected).abs() < 1e-6, "{value}, {expected}");
            }
        }
    }
}
