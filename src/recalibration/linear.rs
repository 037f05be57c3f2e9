//! Affine maps of the logits: what vector, matrix and Dirichlet scaling share.

use super::common::*;

/// Affine maps of the logits over their spread `s`: `θ = (W·s, b)`.
pub(super) struct AffineFamily {
    classes: usize,
    diagonal: bool,
    spread: f64,
    /// `s/T` at the start, within bounds.
    sharpness: f64,
}

impl AffineFamily {
    fn new(data: &FitData, diagonal: bool) -> Self {
        let spread = data.spread();
        // separable data have no temperature: the start stays moderate, the descent goes on
        let beta = TemperatureScalingConfig::new().inverse_temperature(data);
        Self {
            classes: data.classes,
            diagonal,
            spread,
            sharpness: (beta * spread).clamp(0.01, 100.0),
        }
    }

    fn weights(&self) -> usize {
        match self.diagonal {
            true => self.classes,
            false => self.classes * self.classes,
        }
    }

    /// `[m]` or `[m²]`, and `[m]`.
    fn split(&self, theta: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
        let weights = self.weights();
        (
            theta.clone().slice(0..weights),
            theta.clone().slice(weights..weights + self.classes),
        )
    }
}

impl Family for AffineFamily {
    /// The logits over their spread.
    type Inputs = Tensor<2>;

    fn start(&self) -> Vec<f64> {
        let m = self.classes;
        let mut theta = vec![0.0; self.weights() + m];
        (0..m).for_each(|c| theta[if self.diagonal { c } else { c * m + c }] = self.sharpness);
        theta
    }

    fn inputs(&self, data: &FitData) -> Tensor<2> {
        data.tensor(data.logits.iter().map(|z| z / self.spread).collect())
    }

    fn logits(&self, theta: &Tensor<1>, inputs: &Tensor<2>) -> Tensor<2> {
        let (weight, bias) = self.split(theta);
        forward(self.diagonal, inputs.clone(), weight, bias)
    }

    /// The mean square of the off-diagonal weights and that of the intercepts (Kull et al. 2019,
    /// section 3: ODIR).
    fn penalty(&self, theta: &Tensor<1>) -> Tensor<1> {
        let (weight, bias) = self.split(theta);
        let intercepts = bias.square().mean();
        if self.diagonal {
            return intercepts;
        }
        let m = self.classes;
        let eye = Tensor::<2>::eye(m, &theta.device()).cast(theta.dtype());
        let off_diagonal =
            (weight * (-eye.reshape([m * m]) + 1.0)).square().sum() / (m * (m - 1)) as f64;
        off_diagonal + intercepts
    }
}

/// The affine map of rows, `[n, m]`, with weights `[m]` or `[m²]` and intercepts `[m]`.
pub(super) fn forward(
    diagonal: bool,
    rows: Tensor<2>,
    weight: Tensor<1>,
    bias: Tensor<1>,
) -> Tensor<2> {
    let [_, m] = rows.dims();
    let scaled = match diagonal {
        true => rows * weight.reshape([1, m]),
        false => rows.matmul(weight.reshape([m, m]).transpose()),
    };
    scaled + bias.reshape([1, m])
}

/// Fits the weights of the logits, `[m]` of a diagonal map, else `[m, m]`, the row of a new logit after the
/// other, and the intercepts, `[m]`.
pub(super) fn fit(
    diagonal: bool,
    settings: Settings,
    task: &mut Task,
) -> Result<([Vec<f64>; 2], FitReport)> {
    let family = AffineFamily::new(&task.data, diagonal);
    let (mut theta, report) = fit_family(&family, settings, task)?;
    let bias = theta.split_off(family.weights());
    let weight = theta.into_iter().map(|w| w / family.spread).collect();
    Ok(([weight, bias], report))
}
