use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

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
use crate::error::Result;

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
pub type VectorScaling = Fitted<Scales>;

/// The parameters of [`VectorScaling`].
#[derive(Module, Debug)]
pub struct Scales {
    /// `a`, of shape `[m]`.
    weight: Parameter<1>,
    /// `b`, of shape `[m]`.
    bias: Parameter<1>,
}

impl LogitFit for VectorScalingConfig {
    type Form = Scales;
    const NAME: &'static str = "vector";
    const ABOUT: &'static str = "A scale and an intercept for each class";

    fn seeded(seed: u64) -> Self {
        Self::new().with_seed(seed)
    }

    fn find(
        &self,
        data: FitData,
        criterion: Option<&dyn Objective>,
        progress: Progress<'_>,
    ) -> Result<(Scales, FitReport)> {
        let settings = Settings {
            regularisation: self.regularisation,
            limits: Limits::new(self.tolerance, self.max_iterations),
            seed: self.seed,
        };
        let (fitted, report) = linear::fit(true, settings, &data, criterion, progress)?;
        Ok((
            Scales::new(fitted.weight, fitted.bias, &data.device),
            report,
        ))
    }
}

impl Scales {
    fn new(weight: Vec<f64>, bias: Vec<f64>, device: &Device) -> Self {
        let m = bias.len();
        let [weight, bias] = [weight, bias].map(|values| Parameter::new(values, [m], device));
        Self { weight, bias }
    }
}

impl VectorScaling {
    /// Gives `a`, one for each class.
    pub fn weight(&self) -> Vec<f64> {
        self.form.weight.to_vec()
    }

    /// Gives `b`, one for each class.
    pub fn bias(&self) -> Vec<f64> {
        self.form.bias.to_vec()
    }
}

impl Form for Scales {
    const KIND: &'static str = "vector scaling";

    fn template(device: &Device) -> Self {
        Self::new(vec![1.0; 2], vec![0.0; 2], device)
    }

    fn check(&self) -> Result<(), String> {
        self.bias.check_shape("bias", self.weight.dims())
    }

    fn width(&self) -> Option<usize> {
        Some(self.bias.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        let weight = self.weight.to_vec();
        let one_sign = weight.iter().all(|a| *a > 0.0) || weight.iter().all(|a| *a < 0.0);
        Guarantees {
            injective: one_sign && weight.windows(2).all(|pair| pair[0] == pair[1]),
            injective_on_log_probabilities: one_sign,
            ..Guarantees::NONE
        }
    }
}

impl Apply<Tensor<2>> for Scales {
    type Output = Tensor<2>;

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let ([_, m], dtype) = (logits.dims(), logits.dtype());
        let [weight, bias] = [&self.weight, &self.bias].map(|p| p.cast(dtype).reshape([1, m]));
        logits * weight + bias
    }
}
