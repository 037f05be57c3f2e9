use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Int, Tensor, activation::log_softmax},
};
use nalgebra::{DMatrix, DVector};

use super::{
    Fit, FitProgress, FitReport, Guarantees, Regularisation,
    data::FitData,
    descent::Limits,
    file::{Parts, Stored, parameter},
    linear::AffineFit,
    map::impl_recalibration,
};
use crate::{error::Result, host::to_vec, loss::Criterion};

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
#[derive(Module, Debug)]
pub struct MatrixScaling {
    /// `W`, of shape `[m, m]`.
    weight: Param<Tensor<2>>,
    /// `b`, of shape `[m]`.
    bias: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

/// Dirichlet calibration: `z ↦ W log softmax(z) + b` (Kull, Perello-Nieto, Kängsepp, Silva Filho,
/// Song, Flach 2019), with their off-diagonal and intercept regularisation.
///
/// May change the accuracy. Injective as [`MatrixScaling`] on log-probabilities, whatever the logits.
/// The regularised log loss is convex.
#[derive(Module, Debug)]
pub struct DirichletCalibration {
    /// `W`, of shape `[m, m]`.
    weight: Param<Tensor<2>>,
    /// `b`, of shape `[m]`.
    bias: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

/// What both are: their fit, affine map and file, of logits that go through `$features` first, which
/// `$normalises` them to log-probabilities or does not.
macro_rules! affine_map {
    ($config:ident, $map:ident, $kind:literal, $features:expr, $normalises:literal) => {
        impl Fit for $config {
            type Map = $map;

            fn fit_observed(
                &self,
                criterion: Option<&dyn Criterion>,
                logits: Tensor<2>,
                labels: Tensor<1, Int>,
                progress: &mut dyn FnMut(FitProgress),
            ) -> Result<$map> {
                let mut data = FitData::new(&logits, &labels)?;
                data.logits = to_vec($features(data.tensor(data.logits.clone())).inner());
                let fit = AffineFit {
                    diagonal: false,
                    regularisation: self.regularisation,
                    limits: Limits {
                        tolerance: self.tolerance,
                        iterations: self.max_iterations,
                    },
                    seed: self.seed,
                };
                let fitted = fit.fit(&data, criterion, progress)?;
                let m = data.classes;
                Ok($map {
                    weight: parameter(fitted.weight, [m, m], &data.device),
                    bias: parameter(fitted.bias, [m], &data.device),
                    report: Some(fitted.report),
                })
            }
        }

        impl $map {
            /// `W`, a row for each new logit, row after row.
            pub fn weight(&self) -> Vec<f64> {
                to_vec(self.weight.val())
            }

            /// `b`, one for each class.
            pub fn bias(&self) -> Vec<f64> {
                to_vec(self.bias.val())
            }

            fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
                let dtype = logits.dtype();
                let bias = self.bias.val().cast(dtype);
                let m = bias.dims()[0];
                let weight = self.weight.val().cast(dtype);
                $features(logits).matmul(weight.transpose()) + bias.reshape([1, m])
            }

            fn width(&self) -> Option<usize> {
                Some(self.bias.dims()[0])
            }

            fn keeps(&self) -> Guarantees {
                let (weight, m) = (self.weight(), self.bias.dims()[0]);
                let injective_on_log_probabilities = keeps_simplex(&weight, m);
                Guarantees {
                    injective: injective_on_log_probabilities
                        && ($normalises || sums_are_equal(&weight, m)),
                    injective_on_log_probabilities,
                    ..Guarantees::NONE
                }
            }
        }

        impl Stored for $map {
            const KIND: &'static str = $kind;

            fn restore(parts: &mut Parts) -> Result<Self, String> {
                let bias = parts.take::<1>("bias")?;
                let [m] = bias.dims();
                let weight = parts.take_shaped("weight", [m, m])?;
                Ok(Self {
                    weight,
                    bias,
                    report: None,
                })
            }
        }

        impl_recalibration!($map);
    };
}

affine_map!(
    MatrixScalingConfig,
    MatrixScaling,
    "matrix scaling",
    |z| z,
    false
);
affine_map!(
    DirichletCalibrationConfig,
    DirichletCalibration,
    "Dirichlet calibration",
    |z| log_softmax(z, 1),
    true
);

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
