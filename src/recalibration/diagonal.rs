use super::{
    common::*,
    monotone::{Located, Monotone},
    network::Sizes,
};

/// Configuration of [`DiagonalScaling`], which it fits.
#[derive(Config, Debug)]
pub struct DiagonalScalingConfig {
    /// Hidden units of the network that gives the slope. Default: 16.
    #[config(default = 16)]
    pub hidden: usize,
    /// Knots, at quantiles of the logits of the fit. Default: 33.
    #[config(default = 33)]
    pub knots: usize,
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

/// The diagonal order-preserving map DIAG: `z_c ↦ w(z_c)` with one increasing function `w` for all
/// logits (Rahimi, Shaban, Cheng, Hartley, Boots: *Intra order-preserving functions for calibration of
/// multi-class neural networks*, 2020, section 3.4).
///
/// Keeps the order of the classes, hence the accuracy, and has an [inverse](Self::inverse) as a map of
/// logits. `w` is the integral of a positive network, as there, but by a quadrature that is exact: the
/// network is evaluated at the knots and linear between them, so that `w` increases by construction.
/// Beyond the knots it goes on with the slope at its ends. Without weights it is `z/T` with the
/// temperature of the log loss, towards which it is regularised.
///
/// On log-probabilities it is injective as a map of predictions too. Proof: let
/// `w(log p_c) = w(log q_c) + κ` for all classes. If `κ > 0`, then `p_c > q_c` for all, but both sum to 1.
///
/// On other logits it is injective only where `w` is affine. Elsewhere slopes differ at some `x` and `y`.
/// For small `κ` the logits `(x, y)` and `(w⁻¹(w(x) − κ), w⁻¹(w(y) − κ))` are of different predictions,
/// which become the same.
pub type DiagonalScaling = Fitted<Diagonal>;

/// The parameters of [`DiagonalScaling`].
#[derive(Module, Debug)]
pub struct Diagonal {
    /// `[k]`, increasing.
    knots: Parameter<1>,
    /// `w` at the knots, `[k]`.
    values: Parameter<1>,
    /// The slope of `w` at the knots, `[k]`, positive.
    slopes: Parameter<1>,
}

struct DiagonalFamily {
    network: Sizes,
    /// Random hidden units that do nothing yet: `[p]`.
    start: Tensor<1>,
    /// `1/T`.
    beta: f64,
    /// On the device of the fit: `[k]`, and to mean 0 and variance 1: `[k, 1]`.
    knots: Tensor<1>,
    standardised: Tensor<2>,
}

/// Logits one after the other among the knots.
struct Logits {
    shape: [usize; 2],
    located: Located,
    powers: Tensor<2>,
}

impl DiagonalFamily {
    fn function(&self, theta: &Tensor<1>) -> Monotone {
        let [k] = self.knots.dims();
        let factors = self
            .network
            .weights(theta)
            .factors(self.standardised.clone());
        let slopes = factors.reshape([k]) * self.beta;
        let first = self.knots.clone().slice(0..1) * self.beta;
        Monotone::integrate(self.knots.clone(), slopes, first)
    }
}

impl Family for DiagonalFamily {
    type Inputs = Logits;

    fn start(&self) -> Vec<f64> {
        to_vec(self.start.clone().inner())
    }

    fn inputs(&self, data: &FitData) -> Logits {
        let shape = [data.samples(), data.classes];
        let logits = data.parameters(data.logits.clone());
        let located = Located::new(logits, self.knots.clone());
        Logits {
            shape,
            powers: located.powers(),
            located,
        }
    }

    fn logits(&self, theta: &Tensor<1>, inputs: &Logits) -> Tensor<2> {
        let function = self.function(theta);
        let logits = function.at(&inputs.located, inputs.powers.clone());
        logits.reshape(inputs.shape)
    }

    fn penalty(&self, theta: &Tensor<1>) -> Tensor<1> {
        (theta.clone() - self.start.clone()).square().sum()
    }
}

/// Distinct quantiles of the numbers, at most so many; at least three, beside the numbers if need be.
fn quantiles(mut numbers: Vec<f64>, count: usize) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len() - 1;
    let rank = |k: usize| (k as f64 / (count - 1) as f64 * last as f64).round() as usize;
    let mut knots: Vec<f64> = (0..count).map(|k| numbers[rank(k)]).collect();
    // so far apart that they differ in f32 as well
    let least = 1e-5 * numbers[0].abs().max(numbers[last].abs());
    knots.dedup_by(|next, knot| *next - *knot <= least);
    if knots.len() < 3 {
        let (low, high) = (numbers[0], numbers[last]);
        let width = (high - low).max(1e-3 * high.abs().max(low.abs())).max(1e-3);
        knots = vec![low - 0.5 * width, low + 0.5 * width, low + 1.5 * width];
    }
    knots
}

impl LogitFit for DiagonalScalingConfig {
    type Form = Diagonal;
    const NAME: &'static str = "diagonal";
    const ABOUT: &'static str = "One increasing function of each logit (DIAG)";
    const DEFAULT: fn(u64) -> Self = |seed| Self::new().with_seed(seed);

    fn find(&self, mut task: Task) -> Result<(Diagonal, FitReport)> {
        at_least(1, "the number of hidden units", self.hidden, "at least 1")?;
        at_least(3, "the number of knots", self.knots, "at least 3")?;
        let data = &task.data;
        let knots = quantiles(data.logits.clone(), self.knots);
        let k = knots.len();
        let (mean, spread) = centre(&data.logits);
        let standardised = knots.iter().map(|x| (x - mean) / spread).collect();
        let network = Sizes {
            inputs: 1,
            hidden: self.hidden,
            outputs: 1,
        };
        let family = DiagonalFamily {
            network,
            start: data.parameters(network.start(self.seed)),
            beta: TemperatureScalingConfig::new().inverse_temperature(data),
            knots: data.parameters(knots),
            standardised: data.parameters(standardised).reshape([k, 1]),
        };
        let limits = Limits::new(self.tolerance, self.max_iterations);
        let settings = Settings::new(self.regularisation, limits, self.seed);
        let (theta, report) = fit_family(&family, settings, &mut task)?;
        let data = &task.data;
        let function = family.function(&data.parameters(theta));
        let [knots, values, slopes] = [function.knots, function.values, function.slopes]
            .map(|tensor| Parameter::new(to_vec(tensor.inner()), [k], &data.device));
        let form = Diagonal {
            knots,
            values,
            slopes,
        };
        Ok((form, report))
    }
}

/// The mean and the standard deviation, 1 if that is 0.
pub(super) fn centre(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    match variance.sqrt() {
        0.0 => (mean, 1.0),
        spread => (mean, spread),
    }
}

impl Diagonal {
    /// `w` in the dtype of a tensor.
    fn function(&self, like: &Tensor<2>) -> Monotone {
        Monotone {
            knots: self.knots.cast(like.dtype()),
            values: self.values.cast(like.dtype()),
            slopes: self.slopes.cast(like.dtype()),
        }
    }
}

impl DiagonalScaling {
    /// Gives the knots of `w` with its values and slopes there.
    pub fn knots(&self) -> Vec<(f64, f64, f64)> {
        let Diagonal {
            knots,
            values,
            slopes,
        } = &self.form;
        let values = values.to_vec().into_iter().zip(slopes.to_vec());
        (knots.to_vec().into_iter().zip(values))
            .map(|(x, (value, slope))| (x, value, slope))
            .collect()
    }

    /// Gives the logits of recalibrated logits: `w⁻¹` of each entry, to about the rounding of the dtype
    /// times the ratio of the steepest to the flattest slope.
    ///
    /// # Shapes
    ///
    /// - recalibrated: `[n, m]`
    /// - output: `[n, m]`, in the dtype of the input
    pub fn inverse(&self, recalibrated: Tensor<2>) -> Tensor<2> {
        self.form.function(&recalibrated).inverse(recalibrated)
    }
}

impl Form for Diagonal {
    const KIND: &'static str = "diagonal scaling";

    fn template(device: &Device) -> Self {
        let of = |values: [f64; 3]| Parameter::new(values.to_vec(), [3], device);
        Self {
            knots: of([-1.0, 0.0, 1.0]),
            values: of([-1.0, 0.0, 1.0]),
            slopes: of([1.0; 3]),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.values.check_shape("values", self.knots.dims())?;
        self.slopes.check_shape("slopes", self.knots.dims())?;
        let increases = |parameter: &Parameter<1>| {
            let numbers = parameter.to_vec();
            numbers.len() >= 3 && numbers.windows(2).all(|pair| pair[0] < pair[1])
        };
        let positive = self.slopes.to_vec().iter().all(|slope| *slope > 0.0);
        match increases(&self.knots) && increases(&self.values) && positive {
            true => Ok(()),
            false => Err("the function does not increase".into()),
        }
    }

    fn keeps(&self) -> Guarantees {
        let slopes = self.slopes.to_vec();
        Guarantees {
            injective: slopes.windows(2).all(|pair| pair[0] == pair[1]), // w is affine
            ..Guarantees::ALL
        }
    }
}

impl Apply<Tensor<2>> for Diagonal {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        self.function(&logits).forward(logits)
    }
}
