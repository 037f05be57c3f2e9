use burn::{
    module::Module,
    tensor::{
        Device, Tensor,
        activation::{log_softmax, softmax},
    },
};
use nalgebra::{DMatrix, DVector};

use super::{
    FitReport, FitTask, Guarantees, Regularisation, at_least,
    family::{Settings, fit_family},
    fitted::{Form, fitted_map, regularised_map},
    linear::{AffineFamily, check_matrix},
    parameter::{Parameter, check_shape, parameter, parameter_row},
    temperature::TemperatureScalingConfig,
};
use crate::{
    error::{Result, check_parameter},
    host::to_vec,
};

/// Declares an affine map of features, its configuration, and its weights and intercepts as numbers.
macro_rules! affine_map {
    (
        $(#[$doc:meta])*
        $Map:ident: Affine<$rank:literal>, $kind:literal, of $seen:ident;
        $(#[$config_doc:meta])*
        $Config:ident;
        $(#[$strength:meta])*
        regularisation = $regularisation:tt
    ) => {
        fitted_map! {
            $(#[$doc])*
            $Map: Affine<$rank>, $kind,
            |width, device| Affine::identity(Features::$seen, width, device), logits
        }

        regularised_map! {
            $(#[$config_doc])*
            $Config for $Map by Affine($Map::KIND, Features::$seen);
            {}
            $(#[$strength])*
            regularisation = $regularisation,
            tolerance = 1e-7, max_iterations = 1000
        }

        impl $Map {
            /// Makes a map with the given weights, `a` or the rows of `W` after one another, and intercepts; of a
            /// structured one with `T = 1` and `ε = 10⁻⁶`.
            ///
            /// # Errors
            ///
            /// Fewer than two intercepts, another number of weights than they ask for, or a number that is not
            /// finite.
            pub fn from_parameters(
                weight: Vec<f64>,
                bias: Vec<f64>,
                device: &Device,
            ) -> Result<Self> {
                let form = Affine::from_numbers(Features::$seen, weight, bias, device)?;
                Ok(Self::new(form, None))
            }

            /// Returns the weights: `a`, one for each class, or `W`, a row for each new logit, row after row.
            pub fn weight(&self) -> Vec<f64> {
                to_vec(self.form.weight.val())
            }

            /// Returns the intercepts `b`, one for each class.
            pub fn bias(&self) -> Vec<f64> {
                to_vec(self.form.bias.val())
            }
        }
    };
}

affine_map! {
    /// Vector scaling: `z_c ↦ a_c z_c + b_c` (Guo, Pleiss, Sun, Weinberger 2017).
    ///
    /// The fit is to one more sample of each class without a label, spread evenly over the rows, and to a wrong
    /// prediction where there is none: otherwise parameters would diverge. The log loss is convex in `(a, b)`;
    /// on separable data it has no minimum, and the fit ends where its slope is below the tolerance.
    ///
    /// May change the accuracy. Injective if all `a_c` are the same number and not 0; on log-probabilities, if they have
    /// the same sign.
    VectorScaling: Affine<1>, "vector scaling", of Logits;
    /// Configuration of [`VectorScaling`], which it fits, without a regularisation by default. Derivatives are those for
    /// logits over their root mean square.
    VectorScalingConfig;
    /// The weight of the mean square of the intercepts. Default: 0.
    regularisation = "Regularisation::Fixed(0.0)"
}

affine_map! {
    /// Matrix scaling: `z ↦ Wz + b` (Guo, Pleiss, Sun, Weinberger 2017), with off-diagonal and intercept
    /// regularisation (ODIR: Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach 2019).
    ///
    /// The fit is to the pseudo-observations of [`VectorScaling`]: otherwise parameters would diverge.
    ///
    /// May change the accuracy. Logits that `W` takes to multiples of 1 do not change the prediction: they are the
    /// multiples of one vector `v`, at least, and of no other where the map is injective. It is injective on
    /// log-probabilities if all entries of `v` have the same sign, and on all logits if they are equal, which is to say
    /// that all rows of `W` have the same sum. For invertible `W`, `v = W⁻¹1`. The regularised log loss is convex.
    MatrixScaling: Affine<2>, "matrix scaling", of Logits;
    /// Configuration of [`MatrixScaling`], which it fits, with ODIR by cross-validation by default (Kull et al.):
    /// `Regularisation::Fixed(0.0)` is the estimator of Guo et al. Derivatives are those for logits over their root mean
    /// square.
    MatrixScalingConfig;
    /// The weight of the mean square of the off-diagonal entries of `W` (for logits over their root
    /// mean square) and of that of the intercepts. Default: by cross-validation in 5 folds.
    regularisation = "Regularisation::CrossValidated { folds: 5 }"
}

affine_map! {
    /// Dirichlet calibration: `z ↦ W log softmax(z) + b` (Kull, Perello-Nieto, Kängsepp, Silva Filho,
    /// Song, Flach 2019), with their off-diagonal and intercept regularisation.
    ///
    /// The fit is to the pseudo-observations of [`VectorScaling`]. May change the accuracy. Injective as
    /// [`MatrixScaling`] on log-probabilities, whatever the logits. The regularised log loss is convex.
    DirichletCalibration: Affine<2>, "Dirichlet calibration", of LogProbabilities;
    /// Configuration of [`DirichletCalibration`], which it fits, with ODIR by cross-validation as its authors do:
    /// `Regularisation::Fixed(0.0)` turns it off. Derivatives are those for log-probabilities over
    /// their root mean square.
    DirichletCalibrationConfig;
    /// The weight of the regularisation of [`MatrixScalingConfig`], for log-probabilities over their root mean
    /// square. Default: by cross-validation in 5 folds.
    regularisation = "Regularisation::CrossValidated { folds: 5 }"
}

affine_map! {
    /// Structured vector scaling: `a_c x_c + b_c` of log-probabilities `x` after a temperature (Berta,
    /// Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
    ///
    /// `x = log((1−ε) softmax(z/T) + ε/m)` with the temperature of the log loss and `ε = 1/(n+1)` of `n` samples,
    /// so that no probability is 0 where all predictions of the fit are right. The criterion is the mean log
    /// loss with `m/n · (Σ (a_c−1)² + Σ b_c²)`: strictly convex, with weights that fall with the sample size and
    /// need no cross-validation. From few samples the map is nearly the temperature.
    ///
    /// May change the accuracy. Injective if all `a_c` have the same sign.
    StructuredVectorScaling: Affine<1>, "structured vector scaling", of Smoothed;
    /// Configuration of [`StructuredVectorScaling`], which it fits, shrunk to the temperature as its authors do:
    /// `Regularisation::Fixed(0.0)` turns it off.
    StructuredVectorScalingConfig;
    /// The factor of the penalties. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)"
}

affine_map! {
    /// Structured matrix scaling: `Wx + b` of log-probabilities `x` after a temperature, as for
    /// [`StructuredVectorScaling`] (Berta, Holzmüller, Jordan, Bach 2025).
    ///
    /// The criterion is the mean log loss with
    /// `m/n · (Σ (W_cc−1)² + Σ b_c²) + m(m−1)/n · Σ_{c≠d} W_cd²`.
    ///
    /// May change the accuracy. Injective as a [`MatrixScaling`] of log-probabilities.
    StructuredMatrixScaling: Affine<2>, "structured matrix scaling", of Smoothed;
    /// Configuration of [`StructuredMatrixScaling`], which it fits, shrunk to the temperature as its authors do:
    /// `Regularisation::Fixed(0.0)` turns it off.
    StructuredMatrixScalingConfig;
    /// The factor of the penalties. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)"
}

/// The numbers that an affine map multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    Logits,
    LogProbabilities,
    /// Log-probabilities after a temperature, mixed with the uniform prediction.
    Smoothed,
}

/// The parameters of an affine map of features of logits. Its weights are of rank `D`: 1 of a diagonal, 2 of a matrix.
#[derive(Module, Debug)]
pub struct Affine<const D: usize> {
    #[module(skip)]
    seen: Features,
    /// `1/T` and `ε` of features that are smoothed, `[2]`.
    base: Option<Parameter<1>>,
    /// `a`, of shape `[m]`, or `W`, of shape `[m, m]`.
    weight: Parameter<D>,
    /// `b`, of shape `[m]`.
    bias: Parameter<1>,
}

impl<const D: usize> Affine<D> {
    fn fit(
        kind: &str,
        seen: Features,
        settings: Settings,
        task: &mut FitTask,
    ) -> Result<(Self, FitReport)> {
        if D == 2 {
            check_matrix(kind, task.data.classes)?;
        }
        let device = task.data.device.clone();
        let data = &mut task.data;
        let (n, m) = (data.samples() as f64, data.classes);
        // without weights: only its features are used
        let mut form = Self::new(seen, vec![0.0; m.pow(D as u32)], vec![0.0; m], &device);
        if seen == Features::Smoothed {
            let beta = TemperatureScalingConfig::inverse_temperature(data);
            form.base = Some(parameter_row(vec![beta, (n + 1.0).recip()], &device));
        }
        if seen != Features::Logits {
            data.logits = data.mapped(|logits| form.features(logits));
        }
        let family = if seen == Features::Smoothed {
            AffineFamily::structured
        } else {
            data.add_pseudo_observations();
            AffineFamily::new
        };
        let (family, theta, report) = fit_family(|data| family(data, D == 1), settings, task)?;
        let [weight, bias] = family.split(&theta);
        let found = Self {
            base: form.base,
            ..Self::new(seen, weight, bias, &device)
        };
        Ok((found, report))
    }

    fn identity(seen: Features, width: usize, device: &Device) -> Self {
        let weight = if D == 1 {
            vec![1.0; width]
        } else {
            DMatrix::identity(width, width).as_slice().to_vec()
        };
        Self::new(seen, weight, vec![0.0; width], device)
    }

    fn new(seen: Features, weight: Vec<f64>, bias: Vec<f64>, device: &Device) -> Self {
        let m = bias.len();
        let base = || parameter_row(vec![1.0, 1e-6], device);
        Self {
            seen,
            base: (seen == Features::Smoothed).then(base),
            weight: parameter(weight, [m; D], device),
            bias: parameter(bias, [m], device),
        }
    }

    /// Checked weights and intercepts.
    fn from_numbers(
        seen: Features,
        weight: Vec<f64>,
        bias: Vec<f64>,
        device: &Device,
    ) -> Result<Self> {
        let m = bias.len();
        at_least(
            2,
            "the number of intercepts",
            m,
            "at least 2, one for each class",
        )?;
        let (found, expected) = (weight.len(), m.pow(D as u32));
        check_parameter(
            found == expected,
            "the number of weights",
            found as f64,
            "that of the intercepts for a vector, its square for a matrix",
        )?;
        let numbers = weight.iter().chain(&bias);
        numbers.copied().try_for_each(|x| {
            check_parameter(x.is_finite(), "a parameter", x, "a finite number")
        })?;
        Ok(Self::new(seen, weight, bias, device))
    }

    /// `[1/T, ε]` of features that are smoothed.
    fn base(&self) -> Vec<f64> {
        self.base
            .as_ref()
            .map(|parameter| to_vec(parameter.val()))
            .unwrap_or_default()
    }

    /// The numbers that the weights multiply: `z`, `log softmax(z)`, or `log((1−ε) softmax(z/T) + ε/m)`.
    fn features(&self, logits: Tensor<2>) -> Tensor<2> {
        let ([_, m], dtype) = (logits.dims(), logits.dtype());
        let Some(base) = &self.base else {
            return match self.seen {
                Features::LogProbabilities => log_softmax(logits, 1),
                _ => logits,
            };
        };
        let base = base.val().cast(dtype);
        let [beta, part] = [0, 1].map(|k| base.clone().slice(k..k + 1).reshape([1, 1]));
        let probabilities = softmax(logits * beta, 1);
        (probabilities * (-part.clone() + 1.0) + part / m as f64).log()
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let (m, dtype) = (self.bias.dims()[0], logits.dtype());
        let (weight, features) = (self.weight.val().cast(dtype), self.features(logits));
        let scaled = if D == 1 {
            features * weight.reshape([1, m])
        } else {
            features.matmul(weight.reshape([m, m]).transpose())
        };
        scaled + self.bias.val().cast(dtype).reshape([1, m])
    }
}

/// The temperature and the smoothing of structured maps.
macro_rules! structured_maps {
    ($($Map:ident)*) => {$(
        impl $Map {
            /// Returns the temperature `T`.
            pub fn temperature(&self) -> f64 {
                self.form.base()[0].recip()
            }

            /// Returns the part `ε` of the uniform prediction.
            pub fn smoothing(&self) -> f64 {
                self.form.base()[1]
            }
        }
    )*};
}

structured_maps! { StructuredVectorScaling StructuredMatrixScaling }

impl<const D: usize> Form for Affine<D> {
    fn check(&self) -> Result<(), String> {
        let [m] = self.bias.dims();
        check_shape(&self.weight, "weight", [m; D])?;
        let Some(base) = &self.base else {
            return Ok(());
        };
        check_shape(base, "base", [2])?;
        let base = to_vec(base.val());
        if base[0] > 0.0 && base[1] > 0.0 && base[1] < 1.0 {
            return Ok(());
        }
        Err(format!(
            "the inverse temperature and the smoothing are {base:?}, expected a positive number and one \
             between 0 and 1"
        ))
    }

    fn width(&self) -> Option<usize> {
        Some(self.bias.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        let (weight, m) = (to_vec(self.weight.val()), self.bias.dims()[0]);
        let (injective, injective_on_log_probabilities) = if D == 1 {
            let one_sign = weight.iter().all(|a| *a > 0.0) || weight.iter().all(|a| *a < 0.0);
            let equal = weight.windows(2).all(|pair| pair[0] == pair[1]);
            (
                one_sign && (self.seen == Features::Smoothed || equal),
                one_sign,
            )
        } else {
            let keeps = keeps_simplex(&weight, m);
            (
                keeps && (self.seen != Features::Logits || sums_are_equal(&weight, m)),
                keeps,
            )
        };
        Guarantees {
            injective,
            injective_on_log_probabilities,
            ..Guarantees::NONE
        }
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
