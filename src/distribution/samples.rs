use std::ops::Range;

use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::{
    Geometry, Halves, HostMarginals, Marginals, Moments, Predictive, Redraws, Sampler, Tails,
    location_scale::{assert_targets, check_real},
    predictive::in_batches,
    weights::{carries_weights, refuse},
};
use crate::{
    error::{Error, Result},
    host::to_vec,
    ops::{WeightedPoints, transport_distances},
    radial::{CoordinateSum, Distance},
};

/// Predictions by Monte Carlo samples: `n` rows of `S` vectors of `ℝ^d`, each of the same weight. Use it
/// for any distribution that can be sampled.
///
/// For estimators and losses a prediction is the empirical distribution of its samples, so all expectations
/// are sums. The target does not have this distribution. So tests, and sizes of errors
/// ([`Quantify`](crate::score::Quantify)), ask whether the target is one more draw from the distribution of
/// the samples ([`Redraws::pooled`]), for any number of samples. The order of the samples of a prediction counts only
/// for estimates and tests of the SKCE that use their halves, as
/// [`Skce::fair_estimate`](crate::estimator::Skce::fair_estimate).
///
/// The distance is the 2-Wasserstein distance of the empirical distributions: for `d = 1` between sorted
/// samples, otherwise a linear program for each pair of predictions, over `S²` costs: keep `S` small there.
/// A pair of predictions costs `S²` values of the kernel on targets.
///
/// For `d = 1` and as many samples in each prediction the distance is that of points of `ℝ^S`; for
/// `d > 1` kernels over it are not positive definite, as those of a [`Mixture`](super::Mixture), unless samples
/// are [`compared_by_quantiles`](Self::compared_by_quantiles).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::{Geometry, Samples}, kernel::Distance};
///
/// let device = Device::default();
/// let draws = Tensor::<3>::from_floats([[[0.0], [1.0]], [[4.0], [3.0]]], &device); // n = S = 2
/// let predictions = Samples::new(draws);
/// let distances = predictions.distances(&predictions, Distance::Euclidean, 1);
/// let distance = distances.into_data().to_vec::<f32>().unwrap()[1];
/// assert!((distance - 3.0).abs() < 1e-6); // 0 to 3 and 1 to 4
/// ```
#[derive(Debug, Clone)]
pub struct Samples {
    /// `[n, S, d]`.
    draws: Tensor<3>,
    sample_weights: Option<Tensor<2>>,
    /// Whether kernels compare the marginals.
    by_quantiles: bool,
}

impl Samples {
    /// Creates predictions from draws.
    ///
    /// # Shapes
    ///
    /// - draws: `[n, S, d]`, finite (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If there are no samples, or they have no coordinates.
    pub fn new(draws: Tensor<3>) -> Self {
        let [_, s, d] = draws.dims();
        assert!(
            s > 0 && d > 0,
            "predictions of {s} samples of dimension {d}"
        );
        Self {
            draws,
            sample_weights: None,
            by_quantiles: false,
        }
    }

    /// The same predictions, which kernels compare by their quantiles, the sorted draws: by the root of the sum of
    /// the squared 2-Wasserstein distances of the marginals. For `d = 1` that is the distance that they have.
    ///
    /// Take it for thousands of predictions, or many draws, of several dimensions: there are no linear programs, and
    /// kernels are positive definite. They do not tell predictions with the same marginals apart.
    pub fn compared_by_quantiles(self) -> Self {
        Self {
            by_quantiles: true,
            ..self
        }
    }

    /// Independent draws from any predictions of real vectors, without gradients. Use it for kernels on
    /// predictions that have no distance or no closed form.
    ///
    /// # Panics
    ///
    /// If the number of draws from each prediction is 0.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::{Laplace, Predictive, Samples};
    /// use rand::{SeedableRng, rngs::StdRng};
    ///
    /// let device = Device::default();
    /// let column = |value: f32| Tensor::<2>::full([10, 1], value, &device);
    /// let predictions = Laplace::new(column(2.0), column(5.0));
    /// let samples = Samples::drawn_from(&predictions, 100, &mut StdRng::seed_from_u64(0));
    /// assert_eq!((samples.len(), samples.draws_each()), (10, 100));
    /// ```
    pub fn drawn_from<P: Predictive<Targets = Tensor<2>>>(
        predictions: &P,
        each: usize,
        rng: &mut dyn Rng,
    ) -> Self {
        let n = predictions.len();
        let rows: Vec<usize> = (0..n * each).map(|draw| draw / each).collect();
        let draws = predictions.observed(&predictions.sampler()(&rows, rng)); // [n · S, d]
        let d = draws.dims()[1];
        Self::new(draws.reshape([n, each, d]))
    }

    /// The draws, `[n, S, d]`.
    pub fn draws(&self) -> Tensor<3> {
        self.draws.clone()
    }

    /// The number `S` of samples in each prediction.
    pub fn draws_each(&self) -> usize {
        self.draws.dims()[1]
    }

    /// The draw of this number from each prediction, `[n, d]`.
    pub(crate) fn draw(&self, number: usize) -> Tensor<2> {
        let [n, _, d] = self.draws.dims();
        let draws = self.draws().slice([0..n, number..number + 1, 0..d]);
        draws.reshape([n, d])
    }

    /// All draws in sequence, `[n · S, d]`.
    pub(crate) fn flat(&self) -> Tensor<2> {
        let [n, s, d] = self.draws.dims();
        self.draws().reshape([n * s, d])
    }
}

impl Predictive for Samples {
    type Targets = Tensor<2>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    /// The draws of each prediction in a row, `[n, S · d]`.
    fn parameter(&self) -> Tensor<2> {
        let [n, s, d] = self.draws.dims();
        self.draws().reshape([n, s * d])
    }

    fn dimensions(&self) -> usize {
        self.draws.dims()[2]
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        let [_, s, d] = self.draws.dims();
        let draws = f(self.parameter());
        let n = draws.dims()[0];
        Self {
            sample_weights: self.sample_weights.clone().map(f),
            by_quantiles: self.by_quantiles,
            ..Self::new(draws.reshape([n, s, d]))
        }
    }

    fn check(&self) -> Result<()> {
        refuse(&self.sample_weights)?;
        check_real(&self.parameter(), "the sample").map(|_| ())
    }

    fn sampler(&self) -> Sampler<Self> {
        let [_, s, d] = self.draws.dims();
        let draws = to_vec(self.draws());
        Box::new(move |rows, rng| {
            rows.iter()
                .flat_map(|row| {
                    let at = (row * s + rng.random_range(0..s)) * d;
                    draws[at..at + d].to_vec()
                })
                .collect()
        })
    }
}

carries_weights!([] Samples);

impl Redraws for Samples {
    fn halves(&self) -> Option<Halves<Self>> {
        let [n, s, d] = self.draws.dims();
        let part = |draws: Range<usize>| Self {
            by_quantiles: self.by_quantiles,
            ..Self::new(self.draws().slice([0..n, draws, 0..d]))
        };
        (s > 1).then(|| Halves {
            compared: part(0..s / 2),
            expected: part(s / 2..s),
        })
    }

    fn pooled(&self, targets: &Tensor<2>) -> Option<(Self, f64)> {
        let [n, s, d] = self.draws.dims();
        let targets = targets.clone().to_device(&self.device());
        let draws = Tensor::cat(vec![self.draws(), targets.reshape([n, 1, d])], 1);
        let pooled = Self {
            draws,
            ..self.clone()
        };
        Some((pooled, ((s + 1) as f64).recip()))
    }
}

impl Geometry for Samples {
    fn check_distance(&self, distance: Distance) -> Result<()> {
        match distance.sum() {
            CoordinateSum::Squares => Ok(()),
            CoordinateSum::Magnitudes => Err(Error::Unsupported {
                what: format!("there is no {distance} distance of such predictions"),
                expected: "Euclidean, the 2-Wasserstein distance",
            }),
        }
    }

    /// Sorts the samples of `d = 1`, or of each marginal, and divides them by `√S`: their Euclidean distance is the
    /// 2-Wasserstein distance between as many samples.
    fn coordinates(&self) -> Option<Tensor<2>> {
        let [n, s, d] = self.draws.dims();
        let marginals = || self.draws().swap_dims(1, 2).reshape([n * d, s]);
        let sorted = || marginals().sort(1).reshape([n, d * s]);
        (d == 1 || self.by_quantiles).then(|| sorted() * (s as f64).sqrt().recip())
    }

    /// The standard deviation of the draws about their mean, a mean over the predictions.
    fn spread(&self) -> Option<Tensor<1>> {
        let draws = self.draws.clone().detach(); // [n, S, d]
        let centred = draws.clone() - draws.mean_dim(1);
        let variances = centred.square().mean_dim(1).sum_dim(2); // [n, 1, 1]
        Some(variances.sqrt().mean())
    }

    fn distances(&self, other: &Self, distance: Distance, batches: usize) -> Tensor<3> {
        let (s, t) = (self.draws_each(), other.draws_each());
        if let (true, Some(x), Some(y)) = (s == t, self.coordinates(), other.coordinates()) {
            return distance.between(in_batches(x, batches), in_batches(y, batches));
        }
        let options = (&self.device(), self.dtype());
        let side = |samples: &Self, s: usize| {
            let weights = Tensor::full(
                [batches, samples.len() / batches, s],
                (s as f64).recip(),
                options,
            );
            WeightedPoints {
                weights,
                points: in_batches(samples.flat(), batches),
            }
        };
        transport_distances(side(self, s), side(other, t), distance)
    }
}

/// Moments, distribution function and quantiles of the empirical distribution.
impl Marginals for Samples {
    fn means(&self) -> Tensor<2> {
        mean_over_draws(self.draws())
    }

    /// `S⁻¹ Σ_s (x_s − x̄)²`, that of the empirical distribution.
    fn variances(&self) -> Tensor<2> {
        let [n, _, d] = self.draws.dims();
        let deviations = self.draws() - self.means().reshape([n, 1, d]);
        mean_over_draws(deviations.square())
    }

    /// `S⁻¹ #{x_s ≤ y}`; its gradient is 0.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        let [n, s, d] = self.draws.dims();
        assert_targets(targets, [n, d]);
        let targets = targets.clone().reshape([n, 1, d]).expand([n, s, d]);
        let ones = self.draws.ones_like();
        mean_over_draws(ones.mask_fill(self.draws().greater(targets), 0.0))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        let s = self.draws_each();
        let mut sorted = to_vec(self.draws().swap_dims(1, 2)); // n · d times S
        sorted
            .chunks_mut(s)
            .for_each(|draws| draws.sort_by(f64::total_cmp));
        let sums = sorted.chunks(s).map(Sums::of).collect();
        Box::new(SortedDraws {
            draws: sorted,
            sums,
            each: s,
        })
    }
}

/// `S⁻¹ Σ_s x_is`, `[n, S, d] → [n, d]`.
pub(super) fn mean_over_draws(x: Tensor<3>) -> Tensor<2> {
    let s = x.dims()[1];
    x.sum_dim(1).squeeze_dim::<2>(1) * (s as f64).recip()
}

/// The draws of each coordinate in increasing order.
struct SortedDraws {
    draws: Vec<f64>,
    sums: Vec<Sums>,
    /// The number `S` of draws.
    each: usize,
}

/// The sums of the distances of draws from their median, and of the squares: that of all but one has the digits of
/// those that are left.
struct Sums {
    distances: f64,
    squares: f64,
}

impl Sums {
    /// - sorted: in increasing order
    fn of(sorted: &[f64]) -> Self {
        let distances = || sorted.iter().map(|draw| draw - middle(sorted));
        Self {
            distances: distances().sum(),
            squares: distances().map(|distance| distance * distance).sum(),
        }
    }
}

fn middle(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

impl SortedDraws {
    fn of(&self, at: usize) -> &[f64] {
        &self.draws[at * self.each..][..self.each]
    }

    /// The rank of a quantile among the draws, `⌈S · level⌉`.
    fn rank(&self, level: f64) -> usize {
        let share = |rank: usize| rank as f64 / self.each as f64;
        // from just below S · level, whose rounding could skip a draw
        let mut rank = ((level * self.each as f64) as usize).max(2) - 1;
        while rank < self.each && share(rank) < level {
            rank += 1;
        }
        rank
    }
}

impl HostMarginals for SortedDraws {
    fn tails(&self, at: usize, x: f64) -> Tails {
        let below = self.of(at).partition_point(|&draw| draw <= x);
        let share = |count| count as f64 / self.each as f64;
        Tails {
            lower: share(below),
            upper: share(self.each - below),
        }
    }

    /// The inverse of the empirical distribution function, type 1 of Hyndman and Fan 1996: draw
    /// `⌈S · level⌉` in increasing order.
    fn quantile(&self, at: usize, level: f64) -> f64 {
        self.of(at)[self.rank(level) - 1]
    }

    fn atom(&self, at: usize, x: f64) -> f64 {
        let draws = self.of(at);
        let equal =
            draws.partition_point(|&draw| draw <= x) - draws.partition_point(|&draw| draw < x);
        equal as f64 / self.each as f64
    }

    fn moments_without(&self, at: usize, x: f64) -> Option<Moments> {
        let (middle, sums, left) = (middle(self.of(at)), &self.sums[at], self.each - 1);
        let distance = x - middle;
        let mean = (sums.distances - distance) / left as f64;
        let square = sums.squares - distance * distance - left as f64 * (mean * mean);
        let variance = if left > 1 {
            (square / (left - 1) as f64).max(0.0)
        } else {
            0.0
        };
        (left > 0).then_some(Moments {
            mean: middle + mean,
            variance,
        })
    }

    fn transform(&self, at: usize, x: f64, v: f64) -> f64 {
        let draws = self.of(at);
        let below = draws.partition_point(|&draw| draw < x);
        let equal = draws.partition_point(|&draw| draw <= x) - below;
        (below as f64 + v * (1 + equal) as f64) / (self.each + 1) as f64
    }
}
