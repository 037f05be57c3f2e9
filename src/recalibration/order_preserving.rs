use super::{
    common::*,
    diagonal::centre,
    network::{Network, Sizes},
};

/// Configuration of [`OrderPreserving`], which it fits.
#[derive(Config, Debug)]
pub struct OrderPreservingConfig {
    /// Hidden units of the network. Default: 16.
    #[config(default = 16)]
    pub hidden: usize,
    /// The weight of the squared distance of the network's weights from their start, where the map is the
    /// temperature. Default: by cross-validation in 5 folds.
    #[config(default = "Regularisation::CrossValidated { folds: 5 }")]
    pub regularisation: Regularisation,
    /// The largest derivative at which the fit has converged. Default: 10⁻⁵.
    #[config(default = 1e-5)]
    pub tolerance: f64,
    /// The most iterations. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
    /// The seed of the hidden units and of the folds. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
}

/// Configuration of [`OrderInvariant`], which it fits.
#[derive(Config, Debug)]
pub struct OrderInvariantConfig {
    /// Hidden units of the network. Default: 16.
    #[config(default = 16)]
    pub hidden: usize,
    /// The weight of the squared distance of the network's weights from their start, where the map is the
    /// temperature. Default: by cross-validation in 5 folds.
    #[config(default = "Regularisation::CrossValidated { folds: 5 }")]
    pub regularisation: Regularisation,
    /// The largest derivative at which the fit has converged. Default: 10⁻⁵.
    #[config(default = 1e-5)]
    pub tolerance: f64,
    /// The most iterations. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
    /// The seed of the hidden units and of the folds. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
}

/// The intra order-preserving map OP (Rahimi, Shaban, Cheng, Hartley, Boots: *Intra order-preserving
/// functions for calibration of multi-class neural networks*, 2020, Theorem 1): with
/// `z₍₁₎ ≥ … ≥ z₍ₘ₎`,
///
/// `f(z)₍ₖ₎ = Σ_{j≥k} w_j`, `w_k = (z₍ₖ₎ − z₍ₖ₊₁₎)·g_k(z)` for `k < m`, `w_m = z₍ₘ₎/T`,
///
/// with positive `g` from a network of the logits. Keeps the order of the classes, hence the
/// accuracy; need not be injective. Without weights `g = 1/T` and the map is `z/T` with the temperature
/// of the log loss, towards which it is regularised.
pub type OrderPreserving = Fitted<Order<false>>;

/// The order-invariant and order-preserving map OI (Rahimi et al. 2020, section 3.3): as
/// [`OrderPreserving`] with `g` from a network of the sorted logits, so that the map of permuted logits
/// is the permuted map.
///
/// Keeps the order of the classes, hence the accuracy; need not be injective.
pub type OrderInvariant = Fitted<Order<true>>;

/// The parameters of [`OrderPreserving`], and of [`OrderInvariant`], whose network sees the logits sorted.
#[derive(Module, Debug)]
pub struct Order<const SORTED: bool> {
    /// Of `log g`.
    network: Network,
    /// `1/T`, and the mean and standard deviation of the logits of the fit: `[3]`.
    scales: Parameter<1>,
}

/// Logits in descending order.
#[derive(Debug, Clone)]
struct Sorted {
    /// `z₍₁₎ ≥ … ≥ z₍ₘ₎`: `[n, m]`.
    logits: Tensor<2>,
    /// Which of them each logit is: `[n, m]`.
    rank: Tensor<2, Int>,
}

impl Sorted {
    fn new(logits: Tensor<2>) -> Self {
        let (logits, order) = logits.sort_descending_with_indices(1);
        Self {
            logits,
            rank: order.argsort(1),
        }
    }

    /// What the network sees, of the logits themselves.
    fn features(&self, logits: Tensor<2>, sorted: bool) -> Tensor<2> {
        if sorted { self.logits.clone() } else { logits }
    }

    /// `f(z)` of the factors `g_k`, `[n, m − 1]`, and `1/T`, `[1, 1]`.
    fn map(&self, factors: Tensor<2>, beta: Tensor<2>) -> Tensor<2> {
        let [n, m] = self.logits.dims();
        let upper = self.logits.clone().slice([0..n, 0..m - 1]);
        let lower = self.logits.clone().slice([0..n, 1..m]);
        let gaps = (upper - lower.clone()) * factors * beta.clone();
        let last = lower.slice([0..n, m - 2..m - 1]) * beta;
        // from the least logit up: nothing rounds a sum of w_j ≥ 0 below the one before, and ties stay
        let ascending = Tensor::cat(vec![last, gaps.flip([1])], 1).cumsum(1);
        ascending.flip([1]).gather(1, self.rank.clone())
    }
}

struct OrderFamily {
    sizes: Sizes,
    /// Random hidden units that do nothing yet: `[p]`.
    start: Tensor<1>,
    beta: f64,
    mean: f64,
    spread: f64,
    sorted: bool,
}

impl Family for OrderFamily {
    /// The sorted logits, and what the network sees.
    type Inputs = (Sorted, Tensor<2>);

    fn start(&self) -> Vec<f64> {
        to_vec(self.start.clone().inner())
    }

    fn inputs(&self, data: &FitData) -> Self::Inputs {
        let logits = data.tensor(data.logits.clone());
        let sorted = Sorted::new(logits.clone());
        let features = sorted.features(logits, self.sorted);
        (sorted, (features - self.mean) * self.spread.recip())
    }

    fn logits(&self, theta: &Tensor<1>, (sorted, features): &Self::Inputs) -> Tensor<2> {
        let factors = self.sizes.weights(theta).factors(features.clone());
        let beta = Tensor::full([1, 1], self.beta, (&features.device(), features.dtype()));
        sorted.map(factors, beta)
    }

    fn penalty(&self, theta: &Tensor<1>) -> Tensor<1> {
        (theta.clone() - self.start.clone()).square().sum()
    }
}

impl<const SORTED: bool> Order<SORTED> {
    fn fit(hidden: usize, settings: Settings, mut task: Task) -> Result<(Self, FitReport)> {
        at_least(1, "the number of hidden units", hidden, "at least 1")?;
        let data = &task.data;
        let (mean, spread) = centre(&data.logits);
        let sizes = Sizes {
            inputs: data.classes,
            hidden,
            outputs: data.classes - 1,
        };
        let family = OrderFamily {
            sizes,
            start: data.parameters(sizes.start(settings.seed)),
            beta: TemperatureScalingConfig::new().inverse_temperature(data),
            mean,
            spread,
            sorted: SORTED,
        };
        let (theta, report) = fit_family(&family, settings, &mut task)?;
        let data = &task.data;
        let weights = sizes.weights(&data.parameters(theta));
        let form = Self {
            network: Network::new(weights, &data.device),
            scales: Parameter::new(vec![family.beta, mean, spread], [3], &data.device),
        };
        Ok((form, report))
    }
}

impl<const SORTED: bool> Form for Order<SORTED> {
    const KIND: &'static str = match SORTED {
        false => "order-preserving map",
        true => "order-invariant map",
    };

    fn template(device: &Device) -> Self {
        Self {
            network: Network::template(device),
            scales: Parameter::new(vec![1.0, 0.0, 1.0], [3], device),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.scales.check_shape("scales", [3])?;
        let values = self.scales.to_vec();
        match values[0] > 0.0 && values[2] > 0.0 {
            true => self.network.check(),
            false => Err(format!("the scales are {values:?}, expected positive ones")),
        }
    }

    fn width(&self) -> Option<usize> {
        Some(self.network.outputs() + 1)
    }

    fn keeps(&self) -> Guarantees {
        Guarantees {
            injective: false,
            injective_on_log_probabilities: false,
            ..Guarantees::ALL
        }
    }
}

impl<const SORTED: bool> Apply<Tensor<2>> for Order<SORTED> {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let scales = self.scales.cast(logits.dtype());
        let [beta, mean, spread] =
            [0, 1, 2].map(|k| scales.clone().slice(k..k + 1).reshape([1, 1]));
        let weights = self.network.weights(&logits);
        let sorted = Sorted::new(logits.clone());
        let features = (sorted.features(logits, SORTED) - mean) / spread;
        sorted.map(weights.factors(features), beta)
    }
}

impl LogitFit for OrderPreservingConfig {
    type Form = Order<false>;
    const NAME: &'static str = "order-preserving";
    const ABOUT: &'static str = "Order-preserving network (OP)";
    const DEFAULT: fn(u64) -> Self = |seed| Self::new().with_seed(seed);

    fn find(&self, task: Task) -> Result<(Self::Form, FitReport)> {
        let limits = Limits::new(self.tolerance, self.max_iterations);
        let settings = Settings::new(self.regularisation, limits, self.seed);
        Order::fit(self.hidden, settings, task)
    }
}

impl LogitFit for OrderInvariantConfig {
    type Form = Order<true>;
    const NAME: &'static str = "order-invariant";
    const ABOUT: &'static str = "Order-preserving network that treats classes alike (OI)";
    const DEFAULT: fn(u64) -> Self = |seed| Self::new().with_seed(seed);

    fn find(&self, task: Task) -> Result<(Self::Form, FitReport)> {
        let limits = Limits::new(self.tolerance, self.max_iterations);
        let settings = Settings::new(self.regularisation, limits, self.seed);
        Order::fit(self.hidden, settings, task)
    }
}
