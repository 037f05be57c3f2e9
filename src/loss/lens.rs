use std::borrow::Borrow;

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};
use serde::{Deserialize, Serialize};

use super::{Criterion, Input};
use crate::distribution::{Batch as _, Categorical, check_ranks};

/// The part of class predictions that is to be calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Lens {
    /// The confidence in the most likely class, see [`Categorical::top_label`].
    TopLabel,
    /// The probability of one class, see [`Categorical::class_wise`].
    Class(usize),
    /// The probability of each class: the mean of the criterion over all of them.
    ClassWise,
    /// The `k` largest probabilities, see [`Categorical::top_k`].
    TopK(usize),
}

/// A criterion of the predictions behind a [`Lens`], such as the SKCE of the confidence.
///
/// With `m` classes the criterion takes 2 columns in place of `m` (`k + 1` for the top `k`), and the
/// class-wise lens takes the criterion `m` times. Gradients flow to the probabilities that the lens shows;
/// nothing is read back from the device. Padding labels are not known behind a lens: leave out their rows.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::loss::{Lens, LensLoss, SkceLossConfig};
///
/// let device = Device::default();
/// let logits = Tensor::<2>::from_floats([[2.0, 0.1, 0.0], [0.3, 1.0, 0.0], [0.2, 0.1, 0.4]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
/// let penalty = LensLoss::new(Lens::TopLabel, SkceLossConfig::new().init());
/// assert_eq!(penalty.forward(logits, labels).dims(), [1]);
/// ```
#[derive(Module, Debug)]
#[must_use]
pub struct LensLoss<C> {
    /// The lens.
    #[module(skip)]
    pub lens: Lens,
    /// The criterion of what it shows.
    pub criterion: C,
}

impl<C> LensLoss<C> {
    /// Creates the loss.
    pub fn new(lens: Lens, criterion: C) -> Self {
        Self { lens, criterion }
    }

    /// Returns the loss, `[1]`: for logits and labels, or of predictions and their labels, see [`Input`].
    ///
    /// # Panics
    ///
    /// If the class or the number of ranks of the lens does not fit the number of classes; as the criterion.
    pub fn forward<I: Input<Predictions = Categorical>>(
        &self,
        input: I,
        labels: I::Targets,
    ) -> Tensor<1>
    where
        C: Criterion,
    {
        self.value(&input.into_predictions(), labels.borrow())
    }
}

impl<C: Criterion> Criterion for LensLoss<C> {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        predictions.batch_parts().0.assert_targets(labels);
        let m = predictions.classes();
        let of = |(predictions, labels): (Categorical, Tensor<1, Int>)| {
            self.criterion.value(&predictions, &labels)
        };
        let of_class = |class| of(predictions.class_wise_unchecked(class, labels));
        match self.lens {
            Lens::TopLabel => of(predictions.top_label_unchecked(labels)),
            Lens::Class(class) => {
                assert!(class < m, "the lens of class {class} of {m} classes");
                of_class(class)
            }
            Lens::ClassWise => {
                let sum = (1..m)
                    .map(of_class)
                    .fold(of_class(0), |sum, value| sum + value);
                sum * (m as f64).recip()
            }
            Lens::TopK(k) => {
                if let Err(error) = check_ranks(k, m) {
                    panic!("{error}");
                }
                of(predictions.top_k_unchecked(k, labels))
            }
        }
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(&[])
    }

    fn takes_weights(&self) -> bool {
        self.criterion.takes_weights()
    }
}
