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
/// May change the accuracy. Injective if `W` is invertible and all entries of `W⁻¹1` have the same
/// sign. The regularised log loss is convex.
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
/// May change the accuracy. Injective as [`MatrixScaling`]. The regularised log loss is convex.
#[derive(Module, Debug)]
pub struct DirichletCalibration {
    /// `W`, of shape `[m, m]`.
    weight: Param<Tensor<2>>,
    /// `b`, of shape `[m]`.
    bias: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

/// What both are: their fit, affine map and file, of logits that go through `$features` first.
macro_rules! affine_map {
    ($config:ident, $map:ident, $kind:literal, $features:expr) => {
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
                Guarantees {
                    keeps_order: false,
                    keeps_accuracy: false,
                    injective: keeps_simplex(&self.weight(), self.bias.dims()[0]),
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

affine_map!(MatrixScalingConfig, MatrixScaling, "matrix scaling", |z| z);
affine_map!(
    DirichletCalibrationConfig,
    DirichletCalibration,
    "Dirichlet calibration",
    |z| log_softmax(z, 1)
);

/// Whether `softmax(W log p + b)` determines `p`: if `W(log p − log q) = κ1`, then
/// `log p − log q = κW⁻¹1`, which cannot have one sign in all entries, as both sum to 1, unless
/// `κ = 0`.
fn keeps_simplex(weight: &[f64], m: usize) -> bool {
    let lu = DMatrix::from_row_slice(m, m, weight).lu();
    let direction = lu.solve(&DVector::from_element(m, 1.0));
    direction.is_some_and(|v| v.iter().all(|x| *x > 0.0) || v.iter().all(|x| *x < 0.0))
}
