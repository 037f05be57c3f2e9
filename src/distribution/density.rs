use burn::tensor::Tensor;

use super::{Predictive, Targets};
use crate::parallel::for_each_chunk;

/// Quantiles that a thread computes at once.
const AT_ONCE: usize = 64;

/// Predictions of vectors of `ℝ^d` whose coordinates have known moments, distribution functions and
/// quantiles.
pub trait Marginals: Predictive<Targets = Tensor<2>> {
    /// The means, `[n, d]`, differentiable.
    fn means(&self) -> Tensor<2>;

    /// The variances, `[n, d]`, differentiable.
    fn variances(&self) -> Tensor<2>;

    /// `F_ic(y_ic)`, the distribution function of each coordinate at the targets, `[n, d]`,
    /// differentiable where it is continuous.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2>;

    /// Copies the distributions to the host, where functions are computed in f64 for every dtype. Reads the
    /// parameters back once.
    fn on_host(&self) -> Box<dyn HostMarginals>;

    /// `F_ic⁻¹(level)`, `[n, d]`, detached; see [`HostMarginals::quantile`].
    ///
    /// # Panics
    ///
    /// If the level is not between 0 and 1, or a parameter is not valid.
    fn quantile(&self, level: f64) -> Tensor<2> {
        assert!(
            level > 0.0 && level < 1.0,
            "a quantile at level {level}, expected a number between 0 and 1, both excluded"
        );
        let [n, d] = self.means().dims();
        let marginals = self.on_host();
        let mut quantiles = vec![0.0; n * d];
        for_each_chunk(&mut quantiles, AT_ONCE, 64, |(chunk, quantiles)| {
            for (at, quantile) in (chunk * AT_ONCE..).zip(quantiles) {
                *quantile = marginals.quantile(at, level);
            }
        });
        Tensor::observed(&quantiles, d, (&self.device(), self.dtype()))
    }
}

/// The marginal distributions of predictions on the host. That of coordinate `c` of row `i` is number
/// `i·d + c`.
pub trait HostMarginals: Send + Sync {
    /// The probabilities of both sides of `x`.
    fn tails(&self, at: usize, x: f64) -> Tails;

    /// `F(x)` of every number at once, where none has atoms; None by default.
    ///
    /// - x: the argument for each number
    fn cdfs(&self, x: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let _ = x;
        None
    }

    /// The least `x` with `F(x) ≥ level`, for a level in `(0, 1)`.
    fn quantile(&self, at: usize, level: f64) -> f64;

    /// The probability of `x` itself: 0 except for discrete predictions.
    fn atom(&self, at: usize, x: f64) -> f64 {
        let _ = (at, x);
        0.0
    }

    /// The moments of the draws of a prediction without the one that equals `x`; None of predictions that are not draws.
    fn moments_without(&self, at: usize, x: f64) -> Option<Moments> {
        let _ = (at, x);
        None
    }

    /// Transforms `x` into a number that is uniform on `[0, 1]` if `v` is, and the model calibrated: the
    /// randomised probability integral transform `P(X < x) + v P(X = x)`. For samples the randomised rank
    /// of `x` among them, `(#{x_s < x} + v(1 + #{x_s = x}))/(S + 1)`. It is linear in `v`.
    fn transform(&self, at: usize, x: f64, v: f64) -> f64 {
        let (up_to, atom) = (self.tails(at, x).lower, self.atom(at, x));
        (up_to - atom + v * atom).clamp(0.0, 1.0)
    }
}

/// The probabilities of both sides of a number, each with the digits of its own size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tails {
    /// `F(x)`.
    pub lower: f64,
    /// `1 − F(x)`.
    pub upper: f64,
}

impl Tails {
    /// The tails at the place `z` of a symmetric distribution about 0, from the smaller one.
    pub(super) fn symmetric(z: f64, smaller: f64) -> Self {
        let [lower, upper] = if z > 0.0 {
            [1.0 - smaller, smaller]
        } else {
            [smaller, 1.0 - smaller]
        };
        Self { lower, upper }
    }
}

/// The mean and the variance of a distribution, or of some draws: there the variance is the sum of squares over their
/// number less one, and 0 of fewer than two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
}

/// The levels of the ends of a central interval.
pub(crate) fn central(level: f64) -> [f64; 2] {
    [0.5 - 0.5 * level, 0.5 + 0.5 * level]
}

/// Predictions with a density.
#[diagnostic::on_unimplemented(
    message = "predictions `{Self}` have no density",
    label = "predictions without a density",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`"
)]
pub trait Density: Predictive {
    /// `ln f_i(y_i)`, `[n]`, differentiable.
    fn log_density(&self, targets: &Self::Targets) -> Tensor<1>;

    /// Computes the log density of data, `[n]`, without gradients: −∞ where a target has density 0.
    fn log_density_of_data(&self, targets: &Self::Targets) -> Tensor<1> {
        self.log_density(targets)
    }

    /// Returns whether the entropies of such predictions are bounded from below: those of probabilities of
    /// classes are, by 0; those of densities are not.
    fn has_bounded_entropy() -> bool {
        false
    }
}
