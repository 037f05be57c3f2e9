use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use super::{
    Fit, FitProgress, FitReport, Guarantees, Regularisation, TemperatureScalingConfig,
    data::FitData,
    descent::Limits,
    diagonal::centre,
    family::{Family, Settings, fit_family},
    file::{Parts, Stored, parameter},
    map::impl_recalibration,
    network::{Network, Sizes, Weights},
};
use crate::{
    error::{Error, Result},
    host::to_vec,
    loss::Criterion,
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
#[derive(Module, Debug)]
pub struct OrderPreserving {
    /// Of `log g`.
    network: Network,
    /// `1/T`, and the mean and standard deviation of the logits of the fit: `[3]`.
    scales: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

/// The order-invariant and order-preserving map OI (Rahimi et al. 2020, section 3.3): as
/// [`OrderPreserving`] with `g` from a network of the sorted logits, so that the map of permuted logits
/// is the permuted map.
///
/// Keeps the order of the classes, hence the accuracy; need not be injective.
#[derive(Module, Debug)]
pub struct OrderInvariant {
    /// Of `log g`.
    network: Network,
    /// `1/T`, and the mean and standard deviation of the logits of the fit: `[3]`.
    scales: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
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

/// What the network sees: the logits, or the sorted ones, to mean 0 and variance 1.
fn features(logits: &Tensor<2>, sorted: &Sorted, invariant: bool) -> Tensor<2> {
    match invariant {
        true => sorted.logits.clone(),
        false => logits.clone(),
    }
}

struct OrderFamily {
    sizes: Sizes,
    /// Random hidden units that do nothing yet: `[p]`.
    start: Tensor<1>,
    invariant: bool,
    beta: f64,
    mean: f64,
    spread: f64,
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
        let features = features(&logits, &sorted, self.invariant);
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

/// The weights of a fitted network with the scales it needs, and how the fit went.
type Fitted = (Weights, [f64; 3], FitReport);

/// The configuration of either map.
struct OrderFit<'a> {
    hidden: usize,
    invariant: bool,
    settings: Settings,
    criterion: Option<&'a dyn Criterion>,
}

impl OrderFit<'_> {
    fn fit(&self, data: &FitData, progress: &mut dyn FnMut(FitProgress)) -> Result<Fitted> {
        if self.hidden == 0 {
            return Err(Error::Parameter {
                name: "the number of hidden units",
                value: 0.0,
                expected: "at least 1",
            });
        }
        let (mean, spread) = centre(&data.logits);
        let sizes = Sizes {
            inputs: data.classes,
            hidden: self.hidden,
            outputs: data.classes - 1,
        };
        let family = OrderFamily {
            sizes,
            start: data.parameters(sizes.start(self.settings.seed)),
            invariant: self.invariant,
            beta: TemperatureScalingConfig::new().inverse_temperature(data),
            mean,
            spread,
        };
        let (theta, report) = fit_family(&family, data, self.settings, self.criterion, progress)?;
        let weights = family.sizes.weights(&data.parameters(theta));
        Ok((weights, [family.beta, mean, spread], report))
    }
}

/// What both are: their fit, map and file.
macro_rules! order_map {
    ($config:ident, $map:ident, $kind:literal, $invariant:literal) => {
        impl Fit for $config {
            type Map = $map;

            fn fit_observed(
                &self,
                criterion: Option<&dyn Criterion>,
                logits: Tensor<2>,
                labels: Tensor<1, Int>,
                progress: &mut dyn FnMut(FitProgress),
            ) -> Result<$map> {
                let data = FitData::new(&logits, &labels)?;
                let fit = OrderFit {
                    hidden: self.hidden,
                    invariant: $invariant,
                    settings: Settings {
                        regularisation: self.regularisation,
                        limits: Limits {
                            tolerance: self.tolerance,
                            iterations: self.max_iterations,
                        },
                        seed: self.seed,
                    },
                    criterion,
                };
                let (weights, scales, report) = fit.fit(&data, progress)?;
                Ok($map {
                    network: Network::new(weights, &data.device),
                    scales: parameter(scales.to_vec(), [3], &data.device),
                    report: Some(report),
                })
            }
        }

        impl $map {
            fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
                let scales = self.scales.val().cast(logits.dtype());
                let [beta, mean, spread] =
                    [0, 1, 2].map(|k| scales.clone().slice(k..k + 1).reshape([1, 1]));
                let sorted = Sorted::new(logits.clone());
                let features = (features(&logits, &sorted, $invariant) - mean) / spread;
                sorted.map(self.network.weights(&logits).factors(features), beta)
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

        impl Stored for $map {
            const KIND: &'static str = $kind;

            fn restore(parts: &mut Parts) -> Result<Self, String> {
                let scales = parts.take_shaped("scales", [3])?;
                let values = to_vec(scales.val());
                if !(values[0] > 0.0 && values[2] > 0.0) {
                    return Err(format!("the scales are {values:?}, expected positive ones"));
                }
                Ok(Self {
                    network: Network::restore(parts)?,
                    scales,
                    report: None,
                })
            }
        }

        impl_recalibration!($map);
    };
}

order_map!(
    OrderPreservingConfig,
    OrderPreserving,
    "order-preserving map",
    false
);
order_map!(
    OrderInvariantConfig,
    OrderInvariant,
    "order-invariant map",
    true
);
