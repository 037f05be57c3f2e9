use burn::tensor::{Int, Tensor, activation::log_softmax};
use serde::{Deserialize, Serialize};

use super::MeanEstimate;
use crate::{
    distribution::{Categorical, residuals},
    error::{Error, Result},
    host::to_vec,
    ops::softmax,
};

/// A strictly proper score for categorical predictions, as a loss (Gruber and Buettner 2022,
/// Table 1; Gneiting and Raftery 2007).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProperScore {
    /// `‖p − e_y‖²`, in `[0, 2]`.
    Brier,
    /// `−log p_y`, in nats, in `[0, ∞]`.
    Log,
    /// `1 − p_y/‖p‖₂`, in `[0, 1]`.
    Spherical,
}

impl ProperScore {
    /// The score of each prediction, differentiable, from probabilities.
    ///
    /// The log score of a probability below `√min_positive` (10⁻¹⁹ in f32, 10⁻¹⁵⁴ in f64) is that of
    /// this bound, with gradient 0, as in Burn's cross-entropy; from logits it is exact.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`
    /// - labels: `[n]`, classes in `0..m` (not checked here)
    /// - output: `[n]`
    pub fn values(self, probabilities: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        match self {
            Self::Brier => residuals(probabilities, labels)
                .square()
                .sum_dim(1)
                .squeeze_dim(1),
            Self::Log => {
                let least = probabilities
                    .dtype()
                    .finfo()
                    .expect("a float tensor")
                    .min_positive;
                observed(probabilities, labels)
                    .clamp_min(least.sqrt())
                    .log()
                    .neg()
            }
            Self::Spherical => {
                let norm = probabilities
                    .clone()
                    .square()
                    .sum_dim(1)
                    .sqrt()
                    .squeeze_dim(1);
                let ratio: Tensor<1> = observed(probabilities, labels) / norm;
                ratio.neg() + 1.0
            }
        }
    }

    /// The score of each prediction, differentiable, from logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - labels: `[n]`, classes in `0..m` (not checked here)
    /// - output: `[n]`
    pub fn values_from_logits(self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        match self {
            Self::Log => observed(log_softmax(logits, 1), labels).neg(),
            _ => self.values(softmax(logits), labels),
        }
    }

    /// The score of one prediction `p` with label `y` on the host, `log_p = log p_y`.
    pub(crate) fn of(self, p: &[f64], y: usize, log_p: f64) -> f64 {
        let squares = || p.iter().map(|p| p * p).sum::<f64>();
        match self {
            Self::Brier => {
                let deltas = p.iter().enumerate().map(|(c, p)| f64::from(c == y) - p);
                deltas.map(|delta| delta * delta).sum()
            }
            Self::Log => -log_p,
            Self::Spherical => 1.0 - p[y] / squares().sqrt(),
        }
    }

    /// The name, as errors have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brier => "Brier score",
            Self::Log => "log score",
            Self::Spherical => "spherical score",
        }
    }

    /// The upper bound `U_S = E[S] − inf_P g_S(P)` of the proper calibration error, where the
    /// infimum of the generalised entropy `g_S` over the simplex is 0 for each of these scores
    /// (Gruber and Buettner 2022, Theorem 4.3): the mean score.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or, for the log
    /// score of predictions built from probabilities, an observed class of probability 0.
    pub fn upper_bound(
        self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<MeanEstimate> {
        Ok(MeanEstimate::of(&self.each(predictions, labels)?))
    }

    /// The score of each prediction, checked to be finite, on the host.
    ///
    /// # Errors
    ///
    /// As [`upper_bound`](Self::upper_bound).
    pub(super) fn each(
        self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Vec<f64>> {
        let classes = predictions.check_labels(labels)?;
        let values = match self {
            Self::Log => to_vec(observed(predictions.log_probabilities(), labels.clone()).neg()),
            _ => to_vec(self.values(predictions.probabilities(), labels.clone())),
        };
        match values.iter().position(|value| value.is_infinite()) {
            Some(row) => Err(Error::ZeroProbability {
                row,
                class: classes[row],
            }),
            None => Ok(values),
        }
    }
}

/// The entry of each row at its label: `[n, m] → [n]`.
fn observed(rows: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [n, _] = rows.dims();
    rows.gather(1, labels.reshape([n, 1])).squeeze_dim(1)
}
