use burn::tensor::Tensor;
use statrs::function::beta::beta_reg;

use super::{
    Density, HostMarginals, Marginals, Predictive, Sampler, Targets,
    dirichlet::{check_unit_interval, draw_dirichlet},
    gamma::stirling_tensor,
    location_scale::check_positive,
};
use crate::{error::Result, host::to_vec};

/// Beta predictions of numbers in the unit interval: `n` rows of `d` independent coordinates with the
/// densities `y^{α_c − 1} (1 − y)^{β_c − 1}/B(α_c, β_c)`.
///
/// There is no closed form of a Hilbertian distance between them: for kernels take
/// [`Samples::drawn_from`](super::Samples::drawn_from) them.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Beta, Marginals};
///
/// let device = Device::default();
/// let shape = |value: f32| Tensor::<2>::full([1, 1], value, &device);
/// let predictions = Beta::new(shape(2.0), shape(3.0));
/// let mean = predictions.means().into_data().to_vec::<f32>().unwrap()[0];
/// assert!((mean - 0.4).abs() < 1e-6);
/// ```
#[derive(Debug, Clone)]
pub struct Beta {
    /// `[n, d]`.
    alpha: Tensor<2>,
    /// `[n, d]`.
    beta: Tensor<2>,
}

impl Beta {
    /// Creates predictions from the two parameters.
    ///
    /// # Shapes
    ///
    /// - alpha, beta: `[n, d]`, positive (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn new(alpha: Tensor<2>, beta: Tensor<2>) -> Self {
        assert_eq!(
            alpha.dims(),
            beta.dims(),
            "shapes of the parameters α and β"
        );
        Self { alpha, beta }
    }

    /// The parameters `α`, `[n, d]`.
    pub fn alpha(&self) -> Tensor<2> {
        self.alpha.clone()
    }

    /// The parameters `β`, `[n, d]`.
    pub fn beta(&self) -> Tensor<2> {
        self.beta.clone()
    }
}

impl Predictive for Beta {
    type Targets = Tensor<2>;

    fn parameter(&self) -> Tensor<2> {
        self.alpha()
    }

    fn dimensions(&self) -> usize {
        self.alpha.dims()[1]
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self::new(f(self.alpha()), f(self.beta()))
    }

    fn check(&self) -> Result<()> {
        check_positive(&self.alpha, "α")?;
        check_positive(&self.beta, "β")
    }

    /// Checks that there is one vector of numbers in `[0, 1]` for each prediction; at 0 and 1 the
    /// density may be 0 or infinite.
    fn check_targets(&self, targets: &Tensor<2>) -> Result<()> {
        targets.check(self.len(), self.dimensions(), self.dtype())?;
        check_unit_interval(targets, 0.0..=1.0, "a number in [0, 1]")
    }

    fn sampler(&self) -> Sampler<Self> {
        let (alpha, beta) = (to_vec(self.alpha()), to_vec(self.beta()));
        let d = self.dimensions();
        Box::new(move |rows, rng| {
            let coordinates = rows.iter().flat_map(|row| row * d..(row + 1) * d);
            let draw = |at: usize| draw_dirichlet(&[alpha[at], beta[at]], rng)[0];
            coordinates.map(draw).collect()
        })
    }
}

impl Density for Beta {
    /// Sums the log densities of [`Dirichlet`](super::Dirichlet) predictions of `(y, 1 − y)` over
    /// coordinates.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let total = self.alpha() + self.beta();
        let term = |parameter: Tensor<2>, point: Tensor<2>| {
            let ratio = point.clone() * total.clone() / parameter.clone();
            parameter.clone() * ratio.log() - point.log() - stirling_tensor(parameter)
        };
        let terms = term(self.alpha(), targets.clone())
            + term(self.beta(), targets.clone().neg() + 1.0)
            + stirling_tensor(total.clone());
        terms.sum_dim(1).squeeze_dim(1)
    }
}

impl Marginals for Beta {
    /// `α/(α + β)`.
    fn means(&self) -> Tensor<2> {
        self.alpha() / (self.alpha() + self.beta())
    }

    /// `αβ/((α + β)² (α + β + 1))`.
    fn variances(&self) -> Tensor<2> {
        let total = self.alpha() + self.beta();
        self.alpha() * self.beta() / (total.clone().square() * (total + 1.0))
    }

    /// The regularised incomplete beta function, on the host, without gradients.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        let marginals = self.on_host();
        let targets = to_vec(targets.clone()).into_iter().enumerate();
        let levels: Vec<f64> = targets.map(|(at, y)| marginals.tails(at, y).0).collect();
        Tensor::observed(&levels, self.dimensions(), (&self.device(), self.dtype()))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        let (alpha, beta) = (to_vec(self.alpha()), to_vec(self.beta()));
        Box::new(OnHost(alpha.into_iter().zip(beta).collect()))
    }
}

/// The parameters `(α, β)` of each coordinate.
struct OnHost(Vec<(f64, f64)>);

impl HostMarginals for OnHost {
    /// `I(y; α, β)` and `I(1 − y; β, α)`.
    fn tails(&self, at: usize, y: f64) -> (f64, f64) {
        let (a, b) = self.0[at];
        match y {
            y if y <= 0.0 => (0.0, 1.0),
            y if y >= 1.0 => (1.0, 0.0),
            y => (beta_reg(a, b, y), beta_reg(b, a, 1.0 - y)),
        }
    }

    /// Bisects on `y`, or on `1 − y` where that is smaller.
    fn quantile(&self, at: usize, level: f64) -> f64 {
        let (a, b) = self.0[at];
        match beta_reg(a, b, 0.5) >= level {
            true => bisect(|y| beta_reg(a, b, y) < level),
            false => 1.0 - bisect(|x| beta_reg(b, a, x) < 1.0 - level),
        }
    }
}

/// The least number in `[0, ½]` that is not below, to the last digits.
fn bisect(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 0.5);
    while high - low > f64::EPSILON * high && high > f64::MIN_POSITIVE {
        // towards 0 by large steps
        let middle = if low == 0.0 {
            high / 64.0
        } else {
            0.5 * (low + high)
        };
        match below(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}
