use burn::tensor::activation::softmax;

use super::{affine::Affine, common::*, linear::AffineFamily};

regularised_map! {
    /// Configuration of [`StructuredVectorScaling`], which it fits.
    StructuredVectorScalingConfig for Structured<1>,
    "structured-vector", "Vector scaling after a temperature, shrunk towards it (SVS)";
    /// What the penalties are multiplied by. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)",
    /// The largest derivative at which the fit has converged. Default: 10⁻⁷.
    tolerance = 1e-7,
    max_iterations = 1000,
    /// The seed of the folds of a cross-validation. Default: 0.
    seed,
}

regularised_map! {
    /// Configuration of [`StructuredMatrixScaling`], which it fits.
    StructuredMatrixScalingConfig for Structured<2>,
    "structured-matrix", "Matrix scaling after a temperature, shrunk towards it (SMS)";
    /// What the penalties are multiplied by. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)",
    /// The largest derivative at which the fit has converged. Default: 10⁻⁷.
    tolerance = 1e-7,
    max_iterations = 1000,
    /// The seed of the folds of a cross-validation. Default: 0.
    seed,
}

/// Structured vector scaling: `a_c x_c + b_c` of log-probabilities `x` after a temperature (Berta,
/// Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
///
/// `x = log((1−ε) softmax(z/T) + ε/m)` with the temperature of the log loss and `ε = 1/(n+1)` of `n` samples,
/// so that no probability is 0 where all predictions of the fit are right. The criterion is the mean log
/// loss with `m/n · (Σ (a_c−1)² + Σ b_c²)`: strictly convex, with weights that fall with the sample size and
/// need no cross-validation. From few samples the map is nearly the temperature.
///
/// May change the accuracy. Injective if all `a_c` have the same sign.
pub type StructuredVectorScaling = Fitted<Structured<1>>;

/// Structured matrix scaling: `Wx + b` of log-probabilities `x` after a temperature, as for
/// [`StructuredVectorScaling`] (Berta, Holzmüller, Jordan, Bach 2025).
///
/// The criterion is the mean log loss with
/// `m/n · (Σ (W_cc−1)² + Σ b_c²) + m(m−1)/n · Σ_{c≠d} W_cd²`.
///
/// May change the accuracy. Injective as a [`MatrixScaling`](super::MatrixScaling) of log-probabilities.
pub type StructuredMatrixScaling = Fitted<Structured<2>>;

/// The parameters of [`StructuredVectorScaling`], `D = 1`, and [`StructuredMatrixScaling`], `D = 2`.
#[derive(Module, Debug)]
pub struct Structured<const D: usize> {
    /// `1/T` and `ε`: `[2]`.
    base: Parameter<1>,
    affine: Affine<D, false>,
}

/// `log((1−ε) softmax(βz) + ε/m)`: `[n, m]`, from `[n, m]` and `(β, ε)`, `[2]`.
fn smoothed(logits: Tensor<2>, base: Tensor<1>) -> Tensor<2> {
    let [_, m] = logits.dims();
    let [beta, part] = [0, 1].map(|k| base.clone().slice(k..k + 1).reshape([1, 1]));
    let probabilities = softmax(logits * beta, 1);
    (probabilities * (-part.clone() + 1.0) + part / m as f64).log()
}

impl<const D: usize> Structured<D> {
    fn fit(settings: Settings, mut task: Task) -> Result<FitOutcome<Self>> {
        let data = &mut task.data;
        let beta = TemperatureScalingConfig::inverse_temperature(data);
        let base = vec![beta, (data.samples() as f64 + 1.0).recip()];
        let base = Parameter::new(base, [2], &data.device);
        let logits = data.tensor(data.logits.clone()).inner();
        let of_fit = base.cast(logits.dtype());
        data.logits = to_vec(smoothed(logits, of_fit));
        let family = AffineFamily::structured(&task.data, D == 1);
        let found = Affine::fit_family(&family, settings, task)?;
        Ok(found.map(|affine| Self { base, affine }))
    }
}

impl<const D: usize> Fitted<Structured<D>> {
    /// Gives the temperature `T`.
    pub fn temperature(&self) -> f64 {
        self.form.base.to_vec()[0].recip()
    }

    /// Gives the part `ε` of the uniform prediction.
    pub fn smoothing(&self) -> f64 {
        self.form.base.to_vec()[1]
    }

    /// Gives the weights: `a`, one for each class, or `W`, a row for each new logit, row after row.
    pub fn weight(&self) -> Vec<f64> {
        self.form.affine.weight()
    }

    /// Gives `b`, one for each class.
    pub fn bias(&self) -> Vec<f64> {
        self.form.affine.bias()
    }
}

impl<const D: usize> Form for Structured<D> {
    const KIND: &'static str = match D {
        1 => "structured vector scaling",
        _ => "structured matrix scaling",
    };

    fn template(device: &Device) -> Self {
        Self {
            base: Parameter::new(vec![1.0, 1e-6], [2], device),
            affine: Affine::template(device),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.base.check_shape("base", [2])?;
        let base = self.base.to_vec();
        if base[0] > 0.0 && base[1] > 0.0 && base[1] < 1.0 {
            return self.affine.check();
        }
        Err(format!(
            "the inverse temperature and the smoothing are {base:?}, expected a positive number and one \
             between 0 and 1"
        ))
    }

    fn width(&self) -> Option<usize> {
        self.affine.width()
    }

    fn keeps(&self) -> Guarantees {
        let kept = self.affine.keeps();
        Guarantees {
            injective: kept.injective_on_log_probabilities, // it normalises the logits itself
            ..kept
        }
    }
}

impl<const D: usize> Apply<Tensor<2>> for Structured<D> {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let base = self.base.cast(logits.dtype());
        self.affine.apply(smoothed(logits, base))
    }
}
