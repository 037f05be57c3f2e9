use std::fmt;

use burn::tensor::{Int, Tensor};

use super::Divergence;
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    estimator::{Block, Event},
};

/// The CORP decomposition of the mean score `S̄` of an event's probabilities `r_i`, by isotonic
/// regression (Dimitriadis, Gneiting, Jordan 2021):
///
/// ```text
/// S̄(r) = MCB − DSC + UNC,   MCB = S̄(r) − S̄(r̂),   DSC = S̄(c̄) − S̄(r̂),   UNC = S̄(c̄)
/// ```
///
/// with the isotonic regression `r̂_i` of the outcomes `c_i ∈ {0, 1}` on the `r_i`, by pooling adjacent
/// violators, and the frequency `c̄` of the event. It needs no bins and has nothing to choose: `r̂` has the
/// lowest mean score of all increasing functions of `r`, by every proper score at once. So MCB and DSC are
/// never negative; MCB is 0 exactly where the predictions are their own isotonic regression, and DSC where
/// that is constant.
///
/// Probabilities that differ by rounding alone, by `16 ε` of their size with the machine epsilon `ε` of their
/// dtype, are ties: one value of the regression.
///
/// Scores are sums over the two classes `(1 − r, r)`: the Brier score is `2(r − c)²`, twice that of most
/// texts on two classes. For predictions over two classes they are the scores of the predictions.
///
/// MCB is biased upward as an estimate of the model's miscalibration, of a calibrated model by about
/// `O(n^{−2/3})`, DSC likewise; the bias is far smaller than that of the decomposition by groups of equal
/// predictions (Murphy 1973), which it agrees with where frequencies increase with the predictions. A model
/// whose frequencies do not increase with its probabilities has a part of its miscalibration counted as
/// missing discrimination.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Corp {
    /// The mean score `S̄(r)`.
    pub score: f64,
    /// MCB: what the isotonic regression gains, at least 0 except for rounding.
    pub miscalibration: f64,
    /// DSC: what the isotonic regression gains over a constant prediction, at least 0.
    pub discrimination: f64,
    /// UNC: the score of the best constant prediction, the frequency of the event.
    pub uncertainty: f64,
    /// The number of distinct values of the isotonic regression.
    pub levels: usize,
    /// The number `n` of samples.
    pub samples: usize,
}

impl fmt::Display for Corp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.6} = {:.6} miscalibration − {:.6} discrimination + {:.6} uncertainty (n = {})",
            self.score, self.miscalibration, self.discrimination, self.uncertainty, self.samples
        )
    }
}

impl Corp {
    /// Decomposes the mean score of the probabilities of an event.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, estimator::Event, score::{Brier, Corp}};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::<2>::from_floats([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
    /// let predictions = Categorical::from_probabilities(rows)?;
    /// let corp = Corp::of(&Brier, Event::Class(1), &predictions, &labels)?;
    /// // the isotonic regression is 0, 1, 1: all that there is to know
    /// assert_eq!((corp.miscalibration, corp.levels), (0.25, 2));
    /// assert!((corp.discrimination - 4.0 / 9.0).abs() < 1e-12); // 2 · ⅓ · ⅔
    /// assert!((corp.uncertainty - 4.0 / 9.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m + n log n)`, on the host in f64.
    ///
    /// # Errors
    ///
    /// As [`Score::each`](super::Score::each), and an event that is not a class. The log score is infinite
    /// where what happened had probability 0; that of `1 − r` is computed in the dtype of the predictions,
    /// except for two classes, where it is that of the logits if they are known.
    pub fn of(
        score: &(impl Divergence + ?Sized),
        event: Event,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Self> {
        let outcomes = event.weighted_outcomes(predictions, labels)?;
        let mean = match (predictions.classes(), event) {
            (2, _) => score.mean(predictions, labels)?,
            (_, event) => {
                let (binary, occurred) = event.lens(predictions, labels)?;
                score.mean(&binary, &occurred)?
            }
        };
        let blocks = outcomes.isotonic();
        let n = outcomes.total();
        let two = |frequency: f64| [1.0 - frequency, frequency];
        let hits: f64 = blocks.iter().map(|block| block.hits).sum();
        let marginal = two(hits / n);
        let mean_of = |of: &dyn Fn(&[f64]) -> f64| {
            let term = |block: &Block| block.weight / n * of(&two(block.frequency()));
            blocks.iter().map(term).sum::<f64>()
        };
        Ok(Self {
            score: mean.estimate,
            miscalibration: mean.estimate - mean_of(&|q| score.entropy(q)),
            discrimination: mean_of(&|q| score.divergence(&marginal, q)),
            uncertainty: score.entropy(&marginal),
            levels: blocks.len(),
            samples: predictions.len(),
        })
    }

    /// Decomposes the mean score of each class against the rest.
    /// The errors are those of [`of`](Self::of), of any class.
    pub fn class_wise(
        score: &(impl Divergence + ?Sized),
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Vec<Self>> {
        let of_class = |class| Self::of(score, Event::Class(class), predictions, labels);
        (0..predictions.classes()).map(of_class).collect()
    }
}
