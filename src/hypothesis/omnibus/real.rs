use burn::tensor::{Tensor, TensorData};
use rand::{Rng, seq::index};
use rayon::prelude::*;

use super::{
    aspects::{BANDWIDTHS, Omnibus, Plan, of_kernel},
    transforms::{RealKind, Transforms},
};
use crate::{
    distribution::{Geometry, Marginals},
    error::{Result, check_parameter},
    host::to_vec,
    hypothesis::engine::{Evaluator, HostKernel, inverse_root},
    kernel::{Bandwidth, Kernel, RealKernel, TargetKernel},
    ops::{Matrix, add_product},
};

/// Landmarks among predictions, and among targets.
const LANDMARKS: usize = 16;
/// Predictions and targets whose median distances are taken.
const MEDIAN_OF: usize = 256;

impl<P: Marginals + Geometry> Omnibus for P
where
    RealKernel: TargetKernel<P>,
{
    fn default_kernel() -> Kernel {
        Kernel::wasserstein()
    }

    fn aspects<'a>(
        &'a self,
        weight: f64,
        kernel: Kernel,
        rng: &mut dyn Rng,
    ) -> Result<Plan<'a, Self>> {
        let transforms = Transforms::new(self, rng);
        let mut aspects = RealKind::aspects(self.dimensions());
        let mut evaluators: Vec<Box<dyn Evaluator<Self> + 'a>> = vec![Box::new(transforms)];
        let n = self.len();
        if n > 1 {
            let some = index::sample(rng, n, n.min(MEDIAN_OF)).into_vec();
            let kernel = kernel.with_bandwidth_of_predictions(&self.select_rows(&some))?;
            let embeddings =
                Embeddings::new((self, weight), kernel, &BANDWIDTHS, None, LANDMARKS, rng)?;
            evaluators.push(Box::new(embeddings));
            aspects.extend(of_kernel(kernel, self.compared()));
        } else {
            kernel.validate()?; // there are no pairs
        }
        Ok(Plan {
            evaluators,
            aspects,
        })
    }
}

/// The unbiased SKCE of kernels of low rank, `φ(P)ᵀφ(Q) · ψ(y)ᵀψ(y')`, by landmarks `T` among the
/// predictions and `τ` among targets drawn from them: `φ(P) = K_TT^{−½} k_P(T, P)` and
/// `ψ(y) = K_ττ^{−½} k_Y(τ, y)`, whose expectation under each prediction is known. With the residuals
/// `δ_i = ψ(y_i) − E ψ(Y_i)` and `z = Σ_i φ(P_i) δ_iᵀ` it is
/// `(‖z‖² − Σ_i ‖φ(P_i)‖²‖δ_i‖²)/(n(n − 1))`.
struct Embeddings {
    /// The weight of a target among the draws of its prediction.
    weight: f64,
    /// `φ(P_i)` for each bandwidth, `[n, J]`.
    features: Vec<Vec<f64>>,
    rank: usize,
    targets: HostKernel,
    /// `τ`, `[r, d]`.
    landmarks: Vec<f64>,
    dimensions: usize,
    /// `K_ττ^{−½}`, `[r, r]`, symmetric.
    whiten: Vec<f64>,
    /// `E ψ(Y_i)`, `[n, r]`.
    expectations: Vec<f64>,
}

impl Embeddings {
    /// Takes the same landmarks for all bandwidths: that of the kernel, which is fixed, times each factor.
    /// By default the kernel on targets is Gaussian, with the median distance of drawn ones.
    ///
    /// - weight: that of a target among the draws of its prediction, or 0
    pub fn new<P: Marginals + Geometry>(
        (predictions, weight): (&P, f64),
        on_predictions: Kernel,
        factors: &[f64],
        on_targets: Option<RealKernel>,
        landmarks: usize,
        rng: &mut dyn Rng,
    ) -> Result<Self>
    where
        RealKernel: TargetKernel<P>,
    {
        let predictions = predictions.detach();
        let n = predictions.len();
        let rows = index::sample(rng, n, n.min(MEDIAN_OF.max(landmarks))).into_vec();
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
        let on_targets =
            on_targets.unwrap_or_else(|| RealKernel::gaussian(1.0).with_median_of(&tensor(&drawn)));
        let targets = HostKernel::new(on_targets.kernel(), &[1.0], d);
        let landmarks = drawn[..rank * d].to_vec();
        let whiten = inverse_root(&targets.matrices(&landmarks, &landmarks)[0], rank);
        let whiten = whiten.as_slice().to_vec();
        let expected = on_targets.expectation(&predictions, &tensor(&landmarks), 1); // [1, n, r]
        let expectations = product(&to_vec(expected), &whiten, rank);
        let locations = predictions.select_rows(&rows[..rank]);
        let features = factors.iter().map(|factor| {
            let kernel = scaled(on_predictions, *factor);
            let gram = kernel.between_of(&locations, &locations);
            let root = inverse_root(&to_vec(gram), rank);
            let k = to_vec(kernel.between_of(&predictions, &locations)); // [1, n, J]
            product(&k, root.as_slice(), rank)
        });
        Ok(Self {
            features: features.collect(),
            weight,
            rank,
            targets,
            landmarks,
            dimensions: d,
            whiten,
            expectations,
        })
    }

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

    fn of(&self, targets: &[f64]) -> Vec<f64> {
        let r = self.rank;
        let n = targets.len() / self.dimensions;
        let residuals = self.residuals(targets);
        let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        let estimate = |features: &Vec<f64>| {
            let mut z = vec![0.0; r * r];
            add_product(
                &mut z,
                r,
                Matrix::new(features, r, [n, r]).transposed(),
                Matrix::new(&residuals, r, [n, r]),
            );
            let rows = features.chunks(r).zip(residuals.chunks(r));
            let diagonal: f64 = rows.map(|(phi, delta)| square(phi) * square(delta)).sum();
            (square(&z) - diagonal) / (n as f64 * (n as f64 - 1.0))
        };
        self.features.iter().map(estimate).collect()
    }
}

/// A kernel with a fixed bandwidth, at another.
fn scaled(kernel: Kernel, factor: f64) -> Kernel {
    match kernel.bandwidth {
        Bandwidth::Fixed(value) => kernel.with_bandwidth(Bandwidth::Fixed(factor * value)),
        _ => kernel,
    }
}

/// `[n, r]` times a symmetric `[r, r]`.
fn product(rows: &[f64], matrix: &[f64], r: usize) -> Vec<f64> {
    let mut products = vec![0.0; rows.len()];
    let rows = Matrix::new(rows, r, [rows.len() / r, r]);
    add_product(&mut products, r, rows, Matrix::new(matrix, r, [r, r]));
    products
}

impl<P: Marginals> Evaluator<P> for Embeddings {
    fn width(&self) -> usize {
        self.features.len()
    }

    fn values(&self, sets: &Vec<Vec<f64>>) -> Result<Vec<f64>> {
        let values: Vec<Vec<f64>> = sets.par_iter().map(|set| self.of(set)).collect();
        Ok(values.concat())
    }
}
