use std::ops::Range;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    FitReport, FitTask, Guarantees, Regularisation,
    data::{FitData, Moments},
    diagonal::centre,
    family::{ParametricMaps, Ridge, Settings, fit_family},
    fitted::{Form, fitted_map, regularised_map},
    network::{FactorNetwork, Sizes},
    parameter::{Parameter, check_shape, parameter_row},
    temperature::TemperatureScalingConfig,
};
use crate::{
    error::{Result, check_count},
    host::to_vec,
};

regularised_map! {
    /// Configuration of [`OrderPreserving`], which it fits, shrunk to the temperature by cross-validation by default:
    /// `Regularisation::Fixed(0.0)` is the estimator of Rahimi et al.
    OrderPreservingConfig for OrderPreserving by Order(Seen::Logits);
    {
        /// Hidden units of the network. Default: 16.
        hidden: usize = 16,
    }
    /// The weight of the squared distance of the network's weights from their start, where the map is the
    /// temperature. Default: by cross-validation in 5 folds.
    regularisation = "Regularisation::CrossValidated { folds: 5 }",
    tolerance = 1e-5, max_iterations = 200
}

regularised_map! {
    /// Configuration of [`OrderInvariant`], which it fits, shrunk to the temperature by cross-validation by default:
    /// `Regularisation::Fixed(0.0)` is the estimator of Rahimi et al.
    OrderInvariantConfig for OrderInvariant by Order(Seen::SortedLogits);
    {
        /// Hidden units of the network. Default: 16.
        hidden: usize = 16,
    }
    /// The weight of the squared distance of the network's weights from their start, where the map is the
    /// temperature. Default: by cross-validation in 5 folds.
    regularisation = "Regularisation::CrossValidated { folds: 5 }",
    tolerance = 1e-5, max_iterations = 200
}

/// Hidden units of a template: those of the configurations by default.
const HIDDEN: usize = 16;

fitted_map! {
    /// The intra order-preserving map OP (Rahimi, Shaban, Cheng, Hartley, Boots: *Intra order-preserving
    /// functions for calibration of multi-class neural networks*, 2020, Theorem 1): with
    /// `z₍₁₎ ≥ … ≥ z₍ₘ₎`,
    ///
    /// `f(z)₍ₖ₎ = −Σ_{j<k} w_j`, `w_k = (z₍ₖ₎ − z₍ₖ₊₁₎)·g_k(z)`,
    ///
    /// with positive `g` from a network of the logits. There the sums are over `j ≥ k`, with another `w_m`: the
    /// prediction is the same, but what is added to all logits rounds small differences away. Keeps the order of
    /// the classes, up to ties by rounding, and the most likely class of all logits, hence the accuracy; need
    /// not be injective. Without weights `g = 1/T` and the prediction is that of `z/T` with the temperature
    /// of the log loss, towards which it is regularised.
    OrderPreserving: Order, "order-preserving map",
    |width, device| Order::identity(Seen::Logits, width, device), logits
}

fitted_map! {
    /// The order-invariant and order-preserving map OI (Rahimi et al. 2020, section 3.3): as
    /// [`OrderPreserving`] with `g` from a network of the sorted logits, so that the map of permuted logits
    /// is the permuted map.
    ///
    /// Keeps the order of the classes and the accuracy as that does; need not be injective.
    OrderInvariant: Order, "order-invariant map",
    |width, device| Order::identity(Seen::SortedLogits, width, device), logits
}

/// The input of the network: that of [`OrderPreserving`], or of [`OrderInvariant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Logits,
    SortedLogits,
}

/// The parameters of [`OrderPreserving`] and of [`OrderInvariant`].
#[derive(Module, Debug)]
pub struct Order {
    #[module(skip)]
    seen: Seen,
    /// The network of `log g`.
    network: FactorNetwork,
    /// `1/T`, and the mean and standard deviation of the logits of the fit: `[3]`.
    scales: Parameter<1>,
}

/// Beyond what a hidden unit tells from infinity, whose sums can be no number.
const FAR: f64 = 1e20;
/// The largest step from one logit to the next: finite in f32, and so is a sum of them.
const FARTHEST: f64 = 1e30;

struct OrderFamily {
    network: Sizes,
    /// Its centre has random hidden units that do nothing yet.
    ridge: Ridge,
    beta: f64,
    mean: f64,
    spread: f64,
    seen: Seen,
}

/// The sorted logits of a fit.
struct SortedRows {
    /// `(z₍ₖ₎ − z₍ₖ₊₁₎)/T`: `[n, m − 1]`.
    gaps: Vec<f64>,
    /// Which of them each logit is: `[n, m]`.
    ranks: Vec<u32>,
    /// The inputs of the network, `[n, m]`.
    features: Vec<f64>,
}

impl OrderFamily {
    fn new(data: &FitData, hidden: usize, seed: u64, seen: Seen) -> Self {
        let Moments { mean, deviation } = centre(&data.logits);
        let network = Sizes {
            inputs: data.classes,
            hidden,
            outputs: data.classes - 1,
        };
        Self {
            network,
            ridge: network.ridge(seed),
            beta: TemperatureScalingConfig::inverse_temperature(data),
            mean,
            spread: deviation,
            seen,
        }
    }
}

impl ParametricMaps for OrderFamily {
    type Inputs = SortedRows;

    fn ridge(&self) -> &Ridge {
        &self.ridge
    }

    fn inputs(&self, data: &FitData) -> SortedRows {
        let (n, m) = (data.samples(), data.classes);
        let mut rows = SortedRows {
            gaps: Vec::with_capacity(n * (m - 1)),
            ranks: vec![0; n * m],
            features: Vec::with_capacity(n * m),
        };
        let mut order: Vec<u32> = Vec::new();
        for (row, ranks) in data.rows().zip(rows.ranks.chunks_exact_mut(m)) {
            order.clear();
            order.extend(0..m as u32);
            order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
            let sorted = order.iter().map(|&class| row[class as usize]);
            (0..)
                .zip(&order)
                .for_each(|(rank, &class)| ranks[class as usize] = rank);
            let below = sorted.clone().skip(1);
            let gaps = sorted
                .clone()
                .zip(below)
                .map(|(z, below)| self.beta * (z - below));
            rows.gaps.extend(gaps);
            let standardised = |z: f64| (z - self.mean) / self.spread;
            if self.seen == Seen::SortedLogits {
                rows.features.extend(sorted.map(standardised));
            } else {
                rows.features.extend(row.iter().copied().map(standardised));
            }
        }
        rows
    }

    fn pull(
        &self,
        theta: &[f64],
        inputs: &SortedRows,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    ) {
        let m = self.network.inputs;
        let features = &inputs.features[rows.start * m..rows.end * m];
        let mut gaps = inputs.gaps[rows.start * (m - 1)..rows.end * (m - 1)].to_vec();
        let ranks = &inputs.ranks[rows.start * m..rows.end * m];
        let pass = self.network.forward(theta, features);
        let mut logits = vec![0.0; ranks.len()];
        let mut sums = vec![0.0; m];
        let steps = gaps
            .chunks_exact(m - 1)
            .zip(pass.factors.chunks_exact(m - 1));
        let outputs = logits.chunks_exact_mut(m).zip(ranks.chunks_exact(m));
        for ((gaps, factors), (row, ranks)) in steps.zip(outputs) {
            for (k, (gap, factor)) in gaps.iter().zip(factors).enumerate() {
                sums[k + 1] = sums[k] - gap * factor;
            }
            row.iter_mut()
                .zip(ranks)
                .for_each(|(z, &rank)| *z = sums[rank as usize]);
        }
        slopes(&mut logits);
        // a gap lowers all logits below it
        let outputs = logits.chunks_exact(m).zip(ranks.chunks_exact(m));
        for (gaps, (row, ranks)) in gaps.chunks_exact_mut(m - 1).zip(outputs) {
            row.iter()
                .zip(ranks)
                .for_each(|(slope, &rank)| sums[rank as usize] = *slope);
            let mut below = 0.0;
            for (gap, slope) in gaps.iter_mut().zip(&sums[1..]).rev() {
                below -= slope;
                *gap *= below;
            }
        }
        self.network.pull(theta, features, &pass, gaps, gradient);
    }
}

impl Order {
    fn fit(
        seen: Seen,
        hidden: usize,
        settings: Settings,
        task: &mut FitTask,
    ) -> Result<(Self, FitReport)> {
        check_count("the number of hidden units", hidden)?;
        let family = |data: &FitData| OrderFamily::new(data, hidden, settings.seed, seen);
        let (family, theta, report) = fit_family(family, settings, task)?;
        let device = &task.data.device;
        let form = Self {
            seen,
            network: FactorNetwork::new(family.network, &theta, device),
            scales: parameter_row(vec![family.beta, family.mean, family.spread], device),
        };
        Ok((form, report))
    }

    fn identity(seen: Seen, width: usize, device: &Device) -> Self {
        let sizes = Sizes {
            inputs: width,
            hidden: HIDDEN,
            outputs: width - 1,
        };
        Self {
            seen,
            network: FactorNetwork::zeros(sizes, device),
            scales: parameter_row(vec![1.0, 0.0, 1.0], device),
        }
    }
}

impl Form for Order {
    fn check(&self) -> Result<(), String> {
        check_shape(&self.scales, "scales", [3])?;
        let values = to_vec(self.scales.val());
        if values[0] > 0.0 && values[2] > 0.0 {
            return self.network.check();
        }
        Err(format!("the scales are {values:?}, expected positive ones"))
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

impl Order {
    /// Sums from the largest logit down: no sum of positive numbers is rounded below one of them, so that
    /// nothing but a tie becomes as large as the largest.
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let [n, m] = logits.dims();
        let scales = self.scales.val().cast(logits.dtype());
        let [beta, mean, spread] =
            [0, 1, 2].map(|k| scales.clone().slice(k..k + 1).reshape([1, 1]));
        let (sorted, order) = logits.clone().sort_descending_with_indices(1);
        let features = match self.seen {
            Seen::Logits => logits,
            Seen::SortedLogits => sorted.clone(),
        };
        let features = ((features - mean) / spread).clamp(-FAR, FAR);
        let upper = sorted.clone().slice([0..n, 0..m - 1]);
        let gaps = upper - sorted.clone().slice([0..n, 1..m]);
        let apart = gaps.clone().greater_elem(0.0).float().cast(gaps.dtype());
        let steps = gaps * (self.network.factors(features) * beta);
        let steps = steps.max_pair(apart * f32::MIN_POSITIVE);
        let steps = steps.clamp_max(FARTHEST);
        let top = sorted.zeros_like().slice([0..n, 0..1]);
        let descending = -Tensor::cat(vec![top, steps], 1).cumsum(1);
        descending.gather(1, order.argsort(1)) // by the rank of each logit
    }
}
