use std::{fmt, marker::PhantomData};

use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor, activation::log_softmax},
};
use nalgebra::{DMatrix, DVector};

use super::{
    FitReport, Guarantees, Objective, Regularisation,
    data::FitData,
    descent::Limits,
    family::Settings,
    fit::{LogitFit, Progress},
    fitted::{Apply, Fitted, Form, expect_classes},
    linear,
    parameter::Parameter,
};
use crate::{error::Result, host::to_vec};

/// Configuration of [`MatrixScaling`], which it fits.
#[derive(Config, Debug)]
pub struct MatrixScalingConfig {
    /// The weight of the mean square of the off-diagonal entries of `W` (for logits over their root
    /// mean square) and of that of the intercepts. Default: by cross-validation in 5 folds.
    #[config(default = "Regularisation::CrossValidated { folds: 5 }")]
    pub regularisation: Regularisation,
    /// The largest derivative at which the fit has converged, of logits over their root mean square.
    /// Default: 10⁻⁷.
    #[config(default = 1e-7)]
    pub tolerance: f64,
    /// The most iterations. Default: 1000.
    #[config(default = 1000)]
    pub max_iterations: usize,
    /// The seed of the folds of a cross-validation. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
}

/// Configuration of [`DirichletCalibration`], which it fits.
#[derive(Config, Debug)]
pub struct DirichletCalibrationConfig {
    /// As of [`MatrixScalingConfig`], for log-probabilities over their root mean square. Default: by
    /// cross-validation in 5 folds.
    #[config(default = "Regularisation::CrossValidated { folds: 5 }")]
    pub regularisation: Regularisation,
    /// The largest derivative at which the fit has converged. Default: 10⁻⁷.
    #[config(default = 1e-7)]
    pub tolerance: f64,
    /// The most iterations. Default: 1000.
    #[config(default = 1000)]
    pub max_iterations: usize,
    /// The seed of the folds of a cross-validation. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
}

/// Matrix scaling: `z ↦ Wz + b` (Guo, Pleiss, Sun, Weinberger 2017), with off-diagonal and intercept
/// regularisation (ODIR: Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach 2019).
///
/// May change the accuracy. Logits that `W` takes to multiples of 1 do not change the prediction: they
/// are the multiples of one vector `v`, at least, and of no other where the map is injective. It is
/// injective on log-probabilities if all entries of `v` have the same sign, and on all logits if they
/// are equal, which is to say that all rows of `W` have the same sum. For invertible `W`, `v = W⁻¹1`.
/// The regularised log loss is convex.
pub type MatrixScaling = Fitted<Affine<Logits>>;

/// Dirichlet calibration: `z ↦ W log softmax(z) + b` (Kull, Perello-Nieto, Kängsepp, Silva Filho,
/// Song, Flach 2019), with their off-diagonal and intercept regularisation.
///
/// May change the accuracy. Injective as [`MatrixScaling`] on log-probabilities, whatever the logits.
/// The regularised log loss is convex.
pub type DirichletCalibration = Fitted<Affine<LogProbabilities>>;

/// The numbers that a matrix multiplies.
pub trait Features: Clone + fmt::Debug + Send + 'static {
    const KIND: &'static str;
    /// Whether they are the same for all logits of a prediction.
    const NORMALISED: bool;

    fn of(logits: Tensor<2>) -> Tensor<2>;
}

/// [`MatrixScaling`] multiplies the logits as they are.
#[derive(Debug, Clone)]
pub struct Logits;

impl Features for Logits {
    const KIND: &'static str = "matrix scaling";
    const NORMALISED: bool = false;

    fn of(logits: Tensor<2>) -> Tensor<2> {
        logits
    }
}

/// [`DirichletCalibration`] multiplies log-probabilities.
#[derive(Debug, Clone)]
pub struct LogProbabilities;

impl Features for LogProbabilities {
    const KIND: &'static str = "Dirichlet calibration";
    const NORMALISED: bool = true;

    fn of(logits: Tensor<2>) -> Tensor<2> {
        log_softmax(logits, 1)
    }
}

/// The parameters of [`MatrixScaling`] and [`DirichletCalibration`].
#[derive(Module, Debug)]
pub struct Affine<F: Features> {
    /// `W`, of shape `[m, m]`.
    weight: Parameter<2>,
    /// `b`, of shape `[m]`.
    bias: Parameter<1>,
    #[module(skip)]
    features: PhantomData<F>,
}

impl<F: Features> Affine<F> {
    fn fit(
        settings: Settings,
        mut data: FitData,
        criterion: Option<&dyn Objective>,
        progress: Progress<'_>,
    ) -> Result<(Self, FitReport)> {
        data.logits = to_vec(F::of(data.tensor(data.logits.clone())).inner());
        let (fitted, report) = linear::fit(false, settings, &data, criterion, progress)?;
        let form = Self::new(fitted.weight, fitted.bias, &data.device);
        Ok((form, report))
    }

    fn new(weight: Vec<f64>, bias: Vec<f64>, device: &Device) -> Self {
        let m = bias.len();
        Self {
            weight: Parameter::new(weight, [m, m], device),
            bias: Parameter::new(bias, [m], device),
            features: PhantomData,
        }
    }
}

impl<F: Features> Fitted<Affine<F>> {
    /// Gives `W`, a row for each new logit, row after row.
    pub fn weight(&self) -> Vec<f64> {
        self.form.weight.to_vec()
    }

    /// Gives `b`, one for each class.
    pub fn bias(&self) -> Vec<f64> {
        self.form.bias.to_vec()
    }
}

impl<F: Features> Form for Affine<F> {
    const KIND: &'static str = F::KIND;

    fn template(device: &Device) -> Self {
        Self::new(vec![1.0, 0.0, 0.0, 1.0], vec![0.0; 2], device)
    }

    fn check(&self) -> Result<(), String> {
        let [m] = self.bias.dims();
        self.weight.check_shape("weight", [m, m])
    }

    fn width(&self) -> Option<usize> {
        Some(self.bias.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        let (weight, m) = (self.weight.to_vec(), self.bias.dims()[0]);
        let injective_on_log_probabilities = keeps_simplex(&weight, m);
        Guarantees {
            injective: injective_on_log_probabilities
                && (F::NORMALISED || sums_are_equal(&weight, m)),
            injective_on_log_probabilities,
            ..Guarantees::NONE
        }
    }
}

impl<F: Features> Apply<Tensor<2>> for Affine<F> {
    type Output = Tensor<2>;

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let ([_, m], dtype) = (logits.dims(), logits.dtype());
        let weight = self.weight.cast(dtype);
        F::of(logits).matmul(weight.transpose()) + self.bias.cast(dtype).reshape([1, m])
    }
}

impl LogitFit for MatrixScalingConfig {
    type Form = Affine<Logits>;
    const NAME: &'static str = "matrix";
    const ABOUT: &'static str = "A matrix and intercepts, regularised";

    fn seeded(seed: u64) -> Self {
        Self::new().with_seed(seed)
    }

    fn find(
        &self,
        data: FitData,
        criterion: Option<&dyn Objective>,
        progress: Progress<'_>,
    ) -> Result<(Self::Form, FitReport)> {
        let settings = Settings {
            regularisation: self.regularisation,
            limits: Limits::new(self.tolerance, self.max_iterations),
            seed: self.seed,
        };
        Affine::fit(settings, data, criterion, progress)
    }
}

impl LogitFit for DirichletCalibrationConfig {
    type Form = Affine<LogProbabilities>;
    const NAME: &'static str = "dirichlet";
    const ABOUT: &'static str = "A matrix and intercepts of log-probabilities, regularised";

    fn seeded(seed: u64) -> Self {
        Self::new().with_seed(seed)
    }

    fn find(
        &self,
        data: FitData,
        criterion: Option<&dyn Objective>,
        progress: Progress<'_>,
    ) -> Result<(Self::Form, FitReport)> {
        let settings = Settings {
            regularisation: self.regularisation,
            limits: Limits::new(self.tolerance, self.max_iterations),
            seed: self.seed,
        };
        Affine::fit(settings, data, criterion, progress)
    }
}

/// Whether `softmax(W log p + b)` determines `p`.
///
/// If `p` and `q` have the same image, then `W(log p − log q)` is a multiple of 1. With `C` the matrix
/// that subtracts the mean of a vector, `log p − log q` is in the kernel of `CW`. It is 0 or has entries
/// of both signs, since `p` and `q` sum to 1, and every such vector is the difference of two
/// predictions. The kernel of `CW` must therefore be the multiples of one `v` with entries of one sign.
/// Then `CW + s11ᵀ` is invertible for `s ≠ 0`, and takes `v/(s·1ᵀv)` to 1.
fn keeps_simplex(weight: &[f64], m: usize) -> bool {
    let weight = DMatrix::from_row_slice(m, m, weight);
    let means = weight.row_mean();
    let shift = weight.amax();
    let matrix = DMatrix::from_fn(m, m, |i, j| weight[(i, j)] - means[j] + shift);
    let lu = matrix.lu();
    let pivots = lu.u().diagonal().abs();
    if pivots.min() <= m as f64 * f64::EPSILON * pivots.max() {
        return false;
    }
    let direction = lu.solve(&DVector::from_element(m, 1.0));
    direction.is_some_and(|v| v.iter().all(|x| *x > 0.0))
}

/// Whether the rows of `W` have the same sum, up to rounding: then `softmax(Wz + b)` does not depend on
/// what is added to all logits, and no other multiple of `v` than that of 1 is lost.
fn sums_are_equal(weight: &[f64], m: usize) -> bool {
    let sums: Vec<f64> = weight.chunks(m).map(|row| row.iter().sum()).collect();
    let largest = weight.iter().fold(0.0, |a: f64, w| a.max(w.abs()));
    let tolerance = m as f64 * f64::EPSILON * largest;
    (sums.iter()).all(|sum| (sum - sums[0]).abs() <= tolerance)
}
