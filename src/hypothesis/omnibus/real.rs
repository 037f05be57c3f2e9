use burn::tensor::{Tensor, TensorData};
use rand::{Rng, RngExt, seq::index};
use rayon::prelude::*;

use super::aspects::{Aspect, BANDWIDTHS, Kind, Omnibus, Plan, of_kernel};
use crate::{
    distribution::{Geometry, HostMarginals, Marginals},
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
        let coordinate = |c: usize| (transforms.dimensions > 1).then_some(c);
        let aspect = |kind, name: &str, c: Option<usize>| Aspect {
            kind,
            name: c.map_or(name.into(), |c| format!("{name}_{c}")),
            deviation: None,
        };
        let of_both_sides = |aspect: Aspect| Aspect {
            deviation: Some(1.0),
            ..aspect
        };
        let mut aspects = Vec::new();
        for c in (0..transforms.dimensions).map(coordinate) {
            aspects.push(of_both_sides(aspect(Kind::Location(c), "location", c)));
            aspects.push(of_both_sides(aspect(Kind::Spread(c), "spread", c)));
        }
        aspects.push(aspect(Kind::Transforms, "transforms", None));
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

/// Statistics of the probability integral transforms `u`: for each coordinate the mean of `u − ½`, positive
/// where targets are high, and of `|2u − 1| − ½`, positive where predictions are too narrow; for all
/// together the largest distance of their distribution function from the diagonal.
struct Transforms {
    marginals: Box<dyn HostMarginals>,
    /// Uniform numbers that decide ties, the same in all sets.
    ties: Vec<f64>,
    dimensions: usize,
}

impl Transforms {
    fn new<P: Marginals>(predictions: &P, rng: &mut dyn Rng) -> Self {
        let [n, d] = predictions.means().dims();
        Self {
            marginals: predictions.on_host(),
            ties: (0..n * d).map(|_| rng.random()).collect(),
            dimensions: d,
        }
    }

    /// The randomised probability integral transform, which of one of the draws of its prediction is its rank
    /// among them.
    fn transform(&self, at: usize, y: f64, v: f64) -> f64 {
        match self.marginals.atom(at, y) {
            0.0 => self.marginals.transform(at, y, v),
            atom => {
                let (up_to, _) = self.marginals.tails(at, y);
                (up_to - atom + v * atom).clamp(0.0, 1.0)
            }
        }
    }

    fn of(&self, targets: &[f64]) -> Vec<f64> {
        let one_by_one = || {
            let pairs = targets.iter().zip(&self.ties).enumerate();
            let transform = |(at, (&y, &v)): (usize, (&f64, &f64))| self.transform(at, y, v);
            pairs.map(transform).collect()
        };
        let mut u: Vec<f64> = match self.marginals.cdfs(&|at| targets[at]) {
            Some(u) => u.into_iter().map(|u| u.clamp(0.0, 1.0)).collect(),
            None => one_by_one(),
        };
        let d = self.dimensions;
        let mut values = Vec::with_capacity(2 * d + 1);
        let n = (u.len() / d) as f64;
        for c in 0..d {
            let of_coordinate = || u.iter().skip(c).step_by(d);
            values.push(of_coordinate().map(|u| u - 0.5).sum::<f64>() / n);
            let spread = |u: &f64| (2.0 * u - 1.0).abs() - 0.5;
            values.push(of_coordinate().map(spread).sum::<f64>() / n);
        }
        u.sort_unstable_by(f64::total_cmp);
        let total = u.len() as f64;
        let gap = |(i, u): (usize, &f64)| (u - i as f64 / total).max((i + 1) as f64 / total - u);
        values.push(u.iter().enumerate().map(gap).fold(0.0, f64::max));
        values
    }
}

impl<P: Marginals> Evaluator<P> for Transforms {
    fn width(&self) -> usize {
        2 * self.dimensions + 1
    }

    fn values(&self, sets: &Vec<Vec<f64>>) -> Result<Vec<f64>> {
        let values: Vec<Vec<f64>> = sets.par_iter().map(|set| self.of(set)).collect();
        Ok(values.concat())
    }
}

/// The unbiased SKCE of kernels of low rank, `φ(P)ᵀφ(Q) · ψ(y)ᵀψ(y')`, by landmarks `T` among the
/// predictions and `τ` among targets drawn from them: `φ(P) = K_TT^{−½} k_P(T, P)` and
/// `ψ(y) = K_ττ^{−½} k_Y(τ, y)`, whose expectation under each prediction is known. With the residuals
/// `δ_i = ψ(y_i) − E ψ(Y_i)` and `z = Σ_i φ(P_i) δ_iᵀ` it is
/// `(‖z‖² − Σ_i ‖φ(P_i)‖²‖δ_i‖²)/(n(n − 1))`.
pub(in crate::hypothesis) struct Embeddings {
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
