//! Moments, distribution functions, quantiles and densities of mixtures, from those of the components.

use burn::tensor::Tensor;

use super::{Component, Density, HostMarginals, Marginals, Mixture, Tails, Targets};
use crate::{distribution::Predictive, host::to_vec, parallel::for_each_chunk, root::enclose};

/// The number `Q` of quantiles that stand for a marginal distribution.
const QUANTILES: usize = 50;

impl<C: Component + Marginals> Mixture<C> {
    /// The same predictions, which kernels compare by their quantiles: by the 2-Wasserstein distance of their
    /// distributions on the line, `W₂² = ∫₀¹ (F⁻¹(u) − G⁻¹(u))² du` by the midpoint rule at the 50 levels
    /// `(j − ½)/50`, and in `ℝ^d` by the root of the sum of `W₂²` of the marginals.
    ///
    /// Take it for tests, estimates and pages of mixtures of many components, such as those of
    /// [`LocalRecalibration`](crate::recalibration::LocalRecalibration), or of thousands of predictions. A pair
    /// costs as much as one of predictions by 50 draws, instead of a linear program. The quantiles are points of
    /// `ℝ^{50 d}`, so kernels over them are positive definite. In several dimensions, kernels do not tell
    /// predictions with the same marginals apart. Everything else, such as draws and residuals, is that of the
    /// mixture. One component keeps its coordinates.
    ///
    /// The quantiles are computed here, once, on all threads of the host, and have no gradient: in training a
    /// penalty then has the gradient of its residuals alone.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::{Geometry, Mixture, Normal};
    /// use burn_calibration::kernel::Distance;
    ///
    /// let device = Device::default();
    /// // components at −1 and 1, and at 1 and 3: one is the other moved by 2
    /// let means = Tensor::<2>::from_floats([[-1.0], [1.0], [1.0], [3.0]], &device);
    /// let components = Normal::new(means.clone(), means.ones_like());
    /// let mixtures = Mixture::new(Tensor::full([2, 2], 0.5, &device), components).compared_by_quantiles();
    /// let distances = mixtures.distances(&mixtures, Distance::Euclidean, 1);
    /// let distance = distances.into_data().to_vec::<f32>().unwrap()[1];
    /// assert!((distance - 2.0).abs() < 1e-5);
    /// ```
    pub fn compared_by_quantiles(mut self) -> Self {
        let (k, d) = (self.components(), self.dimensions());
        if k == 1 {
            return self;
        }
        let marginals = self.on_host();
        let share = (QUANTILES as f64).recip();
        let mut quantiles = vec![0.0; self.len() * d * QUANTILES]; // [n, d, Q]
        for_each_chunk(&mut quantiles, QUANTILES, COST * k, |(at, quantiles)| {
            for (j, quantile) in quantiles.iter_mut().enumerate() {
                *quantile = share.sqrt() * marginals.quantile(at, share * (j as f64 + 0.5));
            }
        });
        let options = (&self.device(), self.dtype());
        self.quantiles = Some(Tensor::observed(&quantiles, d * QUANTILES, options));
        self
    }
}

/// The cost of a quantile for each component, in numbers that are read; it decides about threads.
const COST: usize = 256;

impl<C: Component + Marginals> Marginals for Mixture<C> {
    /// `Σ_k w_k μ_k`.
    fn means(&self) -> Tensor<2> {
        self.weighted_sum(self.all_components().means())
    }

    /// `Σ_k w_k [σ_k² + (μ_k − μ)²]`, the law of total variance.
    fn variances(&self) -> Tensor<2> {
        let means = self.all_components().means(); // [n·K, d]
        let deviations = means.clone() - self.repeated(&self.weighted_sum(means));
        self.weighted_sum(self.all_components().variances() + deviations.square())
    }

    /// `Σ_k w_k F_k(y)`.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        self.weighted_sum(self.all_components().cdf(&self.repeated(targets)))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        let mut weights = to_vec(self.weights());
        for weights in weights.chunks_mut(self.components()) {
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        Box::new(HostMixture {
            weights,
            each: self.components(),
            dimensions: self.dimensions(),
            components: self.all_components().on_host(),
        })
    }
}

impl<C: Component + Density> Density for Mixture<C> {
    /// `ln Σ_k w_k f_k(y)`, exact where all densities underflow.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let weights = self.weights(); // [n, K]
        let logs = self.all_components().log_density(&self.repeated(targets));
        let logs = logs.reshape(weights.dims());
        let shift = (weights.clone().log() + logs.clone()).detach().max_dim(1); // [n, 1]
        // Σ_k w_k e^{l_k − s} is in [1, K]; a weight of 0 may have any exponent
        let largest = logs.dtype().finfo().expect("a float tensor").max.ln();
        let exponents = (logs - shift.clone()).clamp_max(largest - 1.0);
        let sum = (weights * exponents.exp()).sum_dim(1);
        (sum.log() + shift).squeeze_dim(1)
    }
}

impl<C: Component> Mixture<C> {
    /// Each row once for each component, `[n, d] → [n·K, d]`.
    pub(crate) fn repeated(&self, rows: &Tensor<2>) -> Tensor<2> {
        let ([n, d], k) = (rows.dims(), self.components());
        rows.clone()
            .reshape([n, 1, d])
            .expand([n, k, d])
            .reshape([n * k, d])
    }

    /// `Σ_k w_ik x_{iK+k, c}`, `[n·K, d] → [n, d]`.
    pub(crate) fn weighted_sum(&self, x: Tensor<2>) -> Tensor<2> {
        let ([n, k], [_, d]) = (self.weights().dims(), x.dims());
        let terms = x.reshape([n, k, d]) * self.weights().reshape([n, k, 1]);
        terms.sum_dim(1).reshape([n, d])
    }
}

struct HostMixture {
    /// `n × K`.
    weights: Vec<f64>,
    /// The number `K` of components.
    each: usize,
    dimensions: usize,
    components: Box<dyn HostMarginals>,
}

impl HostMixture {
    /// Weight and number of each component of a coordinate.
    fn components_of(&self, at: usize) -> impl Iterator<Item = (f64, usize)> {
        let (row, coordinate) = (at / self.dimensions, at % self.dimensions);
        let rows = row * self.each..(row + 1) * self.each;
        rows.map(move |row| (self.weights[row], row * self.dimensions + coordinate))
    }
}

impl HostMarginals for HostMixture {
    fn tails(&self, at: usize, x: f64) -> Tails {
        let [mut lower, mut upper] = [0.0; 2];
        for (weight, component) in self.components_of(at) {
            let tails = self.components.tails(component, x);
            lower += weight * tails.lower;
            upper += weight * tails.upper;
        }
        Tails { lower, upper }
    }

    fn cdfs(&self, x: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let (d, k) = (self.dimensions, self.each);
        let components = self.components.cdfs(&|at| x(at / (k * d) * d + at % d))?;
        let sum = |at| -> f64 {
            let terms = self.components_of(at);
            terms
                .map(|(weight, component)| weight * components[component])
                .sum()
        };
        Some((0..self.weights.len() / k * d).map(sum).collect())
    }

    /// Finds the quantile between those of the components, where the logarithm of the smaller tail is that of the
    /// level.
    fn quantile(&self, at: usize, level: f64) -> f64 {
        let bounds = self
            .components_of(at)
            .map(|(_, component)| self.components.quantile(component, level));
        let ends = bounds.fold(
            [f64::INFINITY, f64::NEG_INFINITY],
            |[low, high], quantile| [low.min(quantile), high.max(quantile)],
        );
        let [_, quantile] = enclose(ends, 0.0, |x| {
            let Tails { lower, upper } = self.tails(at, x);
            if level < 0.5 {
                (lower / level).ln()
            } else {
                ((1.0 - level) / upper).ln()
            }
        });
        quantile
    }

    fn atom(&self, at: usize, x: f64) -> f64 {
        let atom = |(weight, component)| weight * self.components.atom(component, x);
        self.components_of(at).map(atom).sum()
    }
}
