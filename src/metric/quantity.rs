use std::fmt::Debug;

use burn::tensor::{Int, Tensor};

use super::name::name;
use crate::{
    distribution::Categorical,
    error::Result,
    estimator::{
        Cwce, Ece, JointKernel, KdeTce, KolmogorovSmirnov, Mce, Mmce, Skce, SmoothEce, Tce,
    },
    kernel::Kernel,
    score::ProperScore,
};

/// A number that predictions and labels have: what an [`EpochMetric`](super::EpochMetric) shows.
///
/// One of your own is a type with a name and a value.
pub trait Quantity: Clone + Debug + Send + Sync {
    /// The name of the metric, by which Burn finds its values and names its files: different for
    /// different parameters, and without characters that file names cannot have.
    fn name(&self) -> String;

    /// Whether a larger value is a better one. Default: no, as for errors and losses.
    fn higher_is_better(&self) -> bool {
        false
    }

    /// The value on data.
    ///
    /// # Errors
    ///
    /// What makes the value undefined.
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
estimator!(KdeTce, "KDE TCE", KdeTce::default());
estimator!(SmoothEce, "Smooth ECE", SmoothEce::default());
estimator!(Mmce, "MMCE", Mmce::default());

/// "SKCE", and its parameters unless it is `Skce::unbiased(Kernel::exponential())`. Cost `O(n²·m)`,
/// of blocks `O(n·B·m)`.
impl<K: JointKernel<Categorical> + Send + Sync> Quantity for Skce<K> {
    fn name(&self) -> String {
        name("SKCE", self, &Skce::unbiased(Kernel::exponential()))
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.estimate(predictions, labels)
    }
}

/// "Brier score", "Log loss" or "Spherical score": the mean, which is the
/// [upper bound](ProperScore::upper_bound) of the proper calibration error.
impl Quantity for ProperScore {
    fn name(&self) -> String {
        match self {
            Self::Brier => "Brier score",
            Self::Log => "Log loss",
            Self::Spherical => "Spherical score",
        }
        .into()
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(self.upper_bound(predictions, labels)?.estimate)
    }
}
