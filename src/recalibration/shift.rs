use std::ops::Range;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    FitReport, FitTask, Guarantees, Regularisation,
    data::FitData,
    family::{ParametricMaps, Ridge, Settings, fit_family},
    fitted::{Form, fitted_map, regularised_map, valid_map},
    parameter::{Parameter, parameter_row},
};
use crate::{error::Result, host::to_vec};

regularised_map! {
    /// Configuration of [`LogitShift`], which it fits: shrunk towards no shift; a regularisation of
    /// `Regularisation::Fixed(0.0)` is the maximum of the likelihood.
    LogitShiftConfig for LogitShift by Shift();
    {}
    /// The factor of the penalty `2/n · Σ b_c²`. Default: 1, which is a normal prior of each `b_c` of standard
    /// deviation 1/2, and of the log-odds of two classes of `√½`.
    regularisation = "Regularisation::Fixed(1.0)",
    tolerance = 1e-9, max_iterations = 200
}

fitted_map! {
    /// A shift of the logits of each class: `z_c ↦ z_c + b_c`.
    ///
    /// It corrects probabilities that are too high or too low for a class throughout, as after a change of the base
    /// rates, which [`PriorCorrection`](super::PriorCorrection) does for rates that are known (Saerens, Latinne,
    /// Decaestecker 2002). Of two classes it is the intercept of Platt scaling with a slope of 1: the update of the
    /// intercept of a clinical prediction model, or recalibration in the large (Steyerberg: *Clinical Prediction Models*,
    /// 2019, chapter 20).
    ///
    /// The criterion is the mean log loss with `2/n · Σ b_c²`, strictly convex, for `n` samples (their effective number
    /// with weights). The `b_c` sum to 0 by themselves. Cost: about ten times `n·m` exponentials.
    ///
    /// May change the accuracy. Injective.
    LogitShift: Shift, "logit shift", Shift::identity, logits
}

/// The parameters of [`LogitShift`].
#[derive(Module, Debug)]
pub struct Shift {
    /// `b`, of shape `[m]`.
    bias: Parameter<1>,
}

/// Shifts of logits of so many classes.
struct ShiftFamily {
    ridge: Ridge,
}

impl ParametricMaps for ShiftFamily {
    type Inputs = Vec<f64>;

    fn ridge(&self) -> &Ridge {
        &self.ridge
    }

    fn inputs(&self, data: &FitData) -> Vec<f64> {
        data.logits.clone()
    }

    fn pull(
        &self,
        bias: &[f64],
        logits: &Vec<f64>,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    ) {
        let m = bias.len();
        let mut shifted = logits[rows.start * m..rows.end * m].to_vec();
        for row in shifted.chunks_exact_mut(m) {
            row.iter_mut().zip(bias).for_each(|(z, b)| *z += b);
        }
        slopes(&mut shifted);
        for row in shifted.chunks_exact(m) {
            gradient
                .iter_mut()
                .zip(row)
                .for_each(|(sum, slope)| *sum += slope);
        }
    }
}

impl Shift {
    fn identity(width: usize, device: &Device) -> Self {
        Self {
            bias: parameter_row(vec![0.0; width], device),
        }
    }

    fn fit(settings: Settings, task: &mut FitTask) -> Result<(Self, FitReport)> {
        let family = |data: &FitData| ShiftFamily {
            ridge: Ridge {
                weights: vec![2.0 / data.mass(); data.classes],
                centre: vec![0.0; data.classes],
            },
        };
        let (_, bias, report) = fit_family(family, settings, task)?;
        let bias = parameter_row(bias, &task.data.device);
        Ok((Self { bias }, report))
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        let shape = [1, self.bias.dims()[0]];
        let bias = self.bias.val().cast(logits.dtype()).reshape(shape);
        logits + bias
    }
}

impl LogitShift {
    /// Makes a map with the given shifts, one for each class.
    ///
    /// # Errors
    ///
    /// Fewer than two shifts, or one that is not finite.
    pub fn from_shifts(bias: Vec<f64>, device: &Device) -> Result<Self> {
        let bias = parameter_row(bias, device);
        valid_map(Self::new(Shift { bias }, None))
    }

    /// Returns the shifts `b`, one for each class.
    pub fn shifts(&self) -> Vec<f64> {
        to_vec(self.form.bias.val())
    }
}

impl Form for Shift {
    fn check(&self) -> Result<(), String> {
        match self.bias.dims() {
            [0 | 1] => Err("fewer than two shifts".into()),
            _ => Ok(()),
        }
    }

    fn width(&self) -> Option<usize> {
        Some(self.bias.dims()[0])
    }

    fn keeps(&self) -> Guarantees {
        Guarantees::decision(false, true)
    }
}
