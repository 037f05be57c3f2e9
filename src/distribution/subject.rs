use serde::{Deserialize, Serialize};

use super::{Categorical, Predictive};
use crate::error::{Error, Result};

/// The subject of the predictions of a [`Categorical`]: the classes, or one event.
///
/// Two classes can be alternatives, such as *cat* and *dog*, or an event and its complement, such as *dies*
/// and *survives*. Class 1 is then the event, and its probability is the prediction: a risk of 0.1 % is not
/// a confidence of 99.9 %. Tests, reports and the command line then describe the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The classes, all alike.
    #[default]
    Classes,
    /// One event: class 1 of two, with its probability as a risk.
    Event,
    /// One event: the model is right (class 1 of two), with the confidence as its probability. The confidence
    /// of a model of many classes can be below ½.
    Correctness,
}

impl Subject {
    /// Checks that there are two classes, if these are an event and its complement.
    ///
    /// # Errors
    ///
    /// Another number of classes.
    pub fn check(self, classes: usize) -> Result<()> {
        if self != Self::Classes && classes != 2 {
            return Err(Error::Unsupported {
                what: format!("predictions of an event with {classes} classes"),
                expected: "two: that it does not happen, and that it does",
            });
        }
        Ok(())
    }
}

impl Categorical {
    /// Sets the subject of the predictions.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::{distribution::{Categorical, Subject}, estimator::Event};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let rows = Tensor::from_floats([[0.999, 0.001], [0.98, 0.02]], &Device::default());
    /// let risks = Categorical::from_probabilities(rows)?.about(Subject::Event)?;
    /// assert_eq!(Event::of(&risks), Event::Class(1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An event of other than two classes.
    pub fn about(self, subject: Subject) -> Result<Self> {
        subject.check(self.dimensions())?;
        Ok(self.about_unchecked(subject))
    }

    /// The subject of the predictions, by default the classes.
    pub fn subject(&self) -> Subject {
        self.subject
    }
}
