use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use serde::Serialize;

use super::name::name;
use crate::{
    distribution::Categorical,
    error::Result,
    estimator::{
        Accuracy, Cwce, Ece, Estimator, JointKernel, KolmogorovSmirnov, Mce, Mmce, Skce, SmoothEce,
        Tce,
    },
    kernel::Kernel,
    recalibration::RefinementError,
    score::{Brier, LogScore, Score, Spherical},
};

/// A number that an [`EpochMetric`](super::EpochMetric) computes from predictions and labels.
///
/// Your own quantity is a type with a name and a value.
pub trait Quantity: Clone + Debug + Send + Sync {
    /// The name of the metric, by which Burn finds its values and names its files: different for
    /// different parameters, and without characters that file names cannot have.
    fn name(&self) -> String;

    /// Returns whether a larger value is a better one. Default: no, as for errors and losses.
    fn higher_is_better(&self) -> bool {
        false
    }

    /// The value on data.
    ///
    /// # Errors
    ///
    /// Errors of the quantity, where its value is undefined.
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64>;
}

/// An estimator is the quantity that it estimates, with its cost. It is named by its title alone
/// where it is the usual one.
macro_rules! estimator {
    ($estimator:ty, $title:literal, $usual:expr) => {
        #[doc = concat!("\"", $title, "\", and its parameters unless it is `", stringify!($usual), "`.")]
        impl Quantity for $estimator {
            fn name(&self) -> String {
                name($title, self, &$usual)
            }

            fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
                self.estimate(predictions, labels)
            }
        }
    };
}

estimator!(Ece, "ECE", Ece::default());
estimator!(Mce, "MCE", Mce::default());
estimator!(Tce, "TCE", Tce::default());
estimator!(Cwce, "Class-wise ECE", Cwce::default());
estimator!(
    KolmogorovSmirnov,
    "Kolmogorov-Smirnov",
    KolmogorovSmirnov::default()
);
estimator!(SmoothEce, "Smooth ECE", SmoothEce::default());
estimator!(Mmce, "MMCE", Mmce::default());
estimator!(RefinementError, "Refinement error", RefinementError);

/// "SKCE", and its parameters unless it is `Skce::unbiased(Kernel::exponential())`. Cost `O(n²·m)`,
/// of blocks `O(n·B·m)`.
impl<K: JointKernel<Categorical> + Serialize + Send + Sync> Quantity for Skce<K> {
    fn name(&self) -> String {
        name("SKCE", self, &Skce::unbiased(Kernel::exponential()))
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.estimate(predictions, labels)
    }
}

/// The mean of a proper score, which is the
/// [upper bound](crate::score::Score::upper_bound) of the proper calibration error.
macro_rules! score {
    ($score:ty, $title:literal) => {
        #[doc = concat!("\"", $title, "\".")]
        impl Quantity for $score {
            fn name(&self) -> String {
                $title.into()
            }

            fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
                Ok(self.upper_bound(predictions, labels)?.estimate)
            }
        }
    };
}

score!(Brier, "Brier score");
score!(LogScore, "Log loss");
score!(Spherical, "Spherical score");

/// "Accuracy": the share of samples whose most likely class is the right one.
impl Quantity for Accuracy {
    fn name(&self) -> String {
        "Accuracy".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.estimate(predictions, labels)
    }
}
