use std::borrow::Borrow;

use burn::tensor::{Int, Tensor};

use crate::distribution::{Categorical, Predictive};

/// The output of a model, as the input of a loss: logits, as in Burn's losses, [`Probabilities`], or any
/// predictive distribution.
///
/// | input | targets |
/// | --- | --- |
/// | logits `Tensor<2>`, `[n, m]` | labels `Tensor<1, Int>`, `[n]` |
/// | [`Probabilities`], `[n, m]` | labels `Tensor<1, Int>`, `[n]` |
/// | `&P` of predictions `P` | `&P::Targets` |
///
/// Nothing is read back from a device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of a loss",
    label = "not the output of a model",
    note = "expected logits `Tensor<2>`, `Probabilities(tensor)`, or a reference to predictions, as \
            `&Given::logits(logits, inputs)`"
)]
pub trait Input {
    /// The kind of predictions.
    type Predictions: Predictive;

    /// The type of the observations.
    type Targets: Borrow<<Self::Predictions as Predictive>::Targets>;

    /// The predictions.
    ///
    /// # Panics
    ///
    /// On logits or probabilities of fewer than two columns.
    fn into_predictions(self) -> Self::Predictions;
}

/// Logits.
impl Input for Tensor<2> {
    type Predictions = Categorical;
    type Targets = Tensor<1, Int>;

    fn into_predictions(self) -> Categorical {
        Categorical::from_logits_unchecked(self)
    }
}

/// Class probabilities, `[n, m]`, as the input of a loss. A plain tensor is logits.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::loss::{Probabilities, SkceLossConfig};
///
/// let device = Device::default();
/// let probabilities = Tensor::<2>::from_floats([[0.9, 0.1], [0.4, 0.6]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0], &device);
/// let penalty = SkceLossConfig::new().init().forward(Probabilities(probabilities), labels);
/// ```
#[derive(Debug, Clone)]
pub struct Probabilities(pub Tensor<2>);

impl Input for Probabilities {
    type Predictions = Categorical;
    type Targets = Tensor<1, Int>;

    fn into_predictions(self) -> Categorical {
        Categorical::from_probabilities_unchecked(self.0)
    }
}

/// Predictive distributions of any kind.
impl<'a, P: Predictive> Input for &'a P {
    type Predictions = P;
    type Targets = &'a P::Targets;

    fn into_predictions(self) -> P {
        self.clone()
    }
}
