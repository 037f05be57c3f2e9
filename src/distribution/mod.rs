//! What a model predicts, and the aspects of it whose calibration can be asked for.
//!
//! A [`Categorical`] holds checked class probabilities. It is built from logits or from
//! probabilities by name, never by guessing. A *lens* turns predictions and labels into simpler
//! ones: the confidence in the most likely class ([`Categorical::top_label`]) or one class against
//! the rest ([`Categorical::class_wise`]); every estimator and test applies to what it gives.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::distribution::Categorical;
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let logits = Tensor::<2>::from_floats([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 2], &device);
//! let predictions = Categorical::from_logits(logits)?;
//! assert_eq!((predictions.samples(), predictions.classes()), (2, 3));
//!
//! // the confidence in the most likely class, and whether it was right
//! let (confidence, correct) = predictions.top_label(&labels)?;
//! assert_eq!(confidence.classes(), 2);
//! assert_eq!(correct.try_into_vec_as::<i64>().unwrap(), [1, 0]);
//! # Ok(())
//! # }
//! ```

mod categorical;
mod dirichlet_model;
mod lens;

pub use categorical::{Categorical, residuals};
pub use dirichlet_model::DirichletModel;
