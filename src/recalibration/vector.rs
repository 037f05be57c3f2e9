use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use super::{
    Fit, FitProgress, FitReport, Guarantees, Regularisation,
    data::FitData,
    descent::Limits,
    file::{Parts, Stored, parameter},
    linear::AffineFit,
    map::impl_recalibration,
};
use crate::{error::Result, host::to_vec, loss::Criterion};

/// Configuration of [`VectorScaling`], which it fits.
#[derive(Config, Debug)]
pub struct VectorScalingConfig {
    /// The weight of the mean square of the intercepts. Default: 0.
    #[config(default = "Regularisation::Fixed(0.0)")]
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

/// Vector scaling: `z_c ↦ a_c z_c + b_c` (Guo, Pleiss, Sun, Weinberger 2017).
///
/// May change the accuracy. Injective if all `a_c` are the same number and not 0; on log-probabilities,
/// if they have the same sign. The log loss is convex in
/// `(a, b)`; on separable data it has no minimum, and the fit ends where its slope is below the
/// tolerance.
#[derive(Module, Debug)]
pub struct VectorScaling {
    /// `a`, of shape `[m]`.
    weight: Param<Tensor<1>>,
    /// `b`, of shape `[m]`.
    bias: Param<Tensor<1>>,
    #[module(skip)]
    report: Option<FitReport>,
}

impl Fit for VectorScalingConfig {
    type Map = VectorScaling;

    fn fit_observed(
        &self,
        criterion: Option<&dyn Criterion>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        progress: &mut dyn FnMut(FitProgress),
    ) -> Result<VectorScaling> {
        let data = FitData::new(&logits, &labels)?;
        let fit = AffineFit {
            diagonal: true,
            regularisation: self.regularisation,
            limits: Limits {
                tolerance: self.tolerance,
                iterations: self.max_iterations,
            },
            seed: self.seed,
        };
        let fitted = fit.fit(&data, criterion, progress)?;
        let m = data.classes;
        Ok(VectorScaling {
            weight: parameter(fitted.weight, [m], &data.device),
            bias: parameter(fitted.bias, [m], &data.device),
            report: Some(fitted.report),
        })
    }
}

impl VectorScaling {
    /// `a`, one for each class.
    pub fn weight(&self) -> Vec<f64> {
        to_vec(self.weight.val())
    }

    /// `b`, one for each class.
    pub fn bias(&self) -> Vec<f64> {
        to_vec(self.bias.val())
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let (m, dtype) = (self.weight.dims()[0], logits.dtype());
        let [weight, bias] =
            [&self.weight, &self.bias].map(|p| p.val().cast(dtype).reshape([1, m]));
        logits * weight + bias
    }

    fn width(&self) -> Option<usize> {
        Some(self.bias.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        let weight = self.weight();
        let one_sign = weight.iter().all(|a| *a > 0.0) || weight.iter().all(|a| *a < 0.0);
        Guarantees {
            injective: one_sign && weight.windows(2).all(|pair| pair[0] == pair[1]),
            injective_on_log_probabilities: one_sign,
            ..Guarantees::NONE
        }
    }
}

impl Stored for VectorScaling {
    const KIND: &'static str = "vector scaling";

    fn restore(parts: &mut Parts) -> Result<Self, String> {
        let weight = parts.take::<1>("weight")?;
        let bias = parts.take_shaped("bias", weight.dims())?;
        Ok(Self {
            weight,
            bias,
            report: None,
        })
    }
}

impl_recalibration!(VectorScaling);
