use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use serde::Serialize;
use serde_json::Value;

use crate::{
    distribution::Categorical,
    error::Result,
    estimator::{
        Accuracy, Cwce, Ece, Estimator, JointKernel, KolmogorovSmirnov, Mce, Mmce, Skce, SmoothEce,
        Tce,
    },
    file::Digest,
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

/// File systems allow 255 bytes.
const LONGEST: usize = 120;

/// The title, and in brackets the parameters that are not the usual ones, by the names that they are saved
/// under: a parameter that is added later, with its usual value, changes no name. What is too long for a
/// file name ends with its digest.
fn name(title: &str, value: &impl Serialize, usual: &impl Serialize) -> String {
    let [value, usual] = [to_value(value), to_value(usual)];
    let mut words = Vec::new();
    differences(&value, &usual, &mut words);
    if words.is_empty() {
        return title.into();
    }
    let name = format!("{title} [{}]", words.join(" "));
    if name.len() <= LONGEST {
        return name;
    }
    let beginning: String = name.chars().take(LONGEST - 36).collect();
    format!("{beginning} {}]", Digest::of(name.as_bytes()))
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("parameters without maps of odd keys")
}

/// The words of the fields that differ.
fn differences(value: &Value, usual: &Value, words: &mut Vec<String>) {
    match (value, usual) {
        (value, usual) if value == usual => {}
        (Value::Object(fields), Value::Object(usual)) if fields.keys().eq(usual.keys()) => {
            for (key, field) in fields.iter().filter(|(key, field)| usual[*key] != **field) {
                words.push(key.clone());
                differences(field, &usual[key], words);
            }
        }
        (value, _) => spell(value, words),
    }
}

/// Collects all words of a value.
fn spell(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, field)| {
            words.push(key.clone());
            spell(field, words);
        }),
        Value::Array(entries) => entries.iter().for_each(|entry| spell(entry, words)),
        Value::String(text) => words.push(text.clone()),
        other => words.push(other.to_string()),
    }
}
