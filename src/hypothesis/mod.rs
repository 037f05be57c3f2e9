//! Tests of the hypothesis that a model is calibrated, with p-values that mean what they say.
//!
//! | test | statistic | null distribution | cost |
//! | --- | --- | --- | --- |
//! | [`AsymptoticSkceTest`] | unbiased SKCE | bootstrap of the degenerate U-statistic | `n²(m + R)` |
//! | [`AsymptoticBlockSkceTest`] | block or linear SKCE | normal | `n·B·m` |
//! | [`DistributionFreeSkceTest`] | any SKCE | a bound, valid at every `n`, loose | that of the estimate |
//!
//! Each is a small value with `evaluate(&predictions, &labels, &mut rng)`, through the trait
//! [`CalibrationTest`], and gives a [`TestOutcome`]. A small p-value is evidence against
//! calibration; a large one is not evidence for it. Use the first for up to some ten thousand
//! samples, and the second beyond, with large blocks.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::distribution::Categorical;
//! use burn_calibration::hypothesis::{AsymptoticSkceTest, CalibrationTest};
//! use burn_calibration::kernel::Kernel;
//! use rand::{SeedableRng, rngs::StdRng};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! // says 90 % each time, and is right half of the time
//! let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 40], &device))?;
//! let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2);
//! let test = AsymptoticSkceTest::new(Kernel::exponential());
//! let outcome = test.evaluate(&predictions, &labels, &mut StdRng::seed_from_u64(0))?;
//! assert!(outcome.p_value() < 0.01);
//! println!("{outcome}");
//! # Ok(())
//! # }
//! ```

mod asymptotic_block;
mod asymptotic_quadratic;
mod bootstrap;
mod cme;
mod consistency;
mod distribution_free;
mod exact;
mod feature;
mod label_sampler;
mod moments;
mod multiple;
mod null;
mod outcome;
mod p_value;
mod quadratic_form;
mod redraw;
mod sample_matrix;
mod skce_replicates;
mod spectrum;
mod statistic;
mod sums;

pub use asymptotic_block::AsymptoticBlockSkceTest;
pub use asymptotic_quadratic::AsymptoticSkceTest;
pub use cme::{CmeNull, CmeTest, Locations};
pub use consistency::ConsistencyTest;
pub use distribution_free::DistributionFreeSkceTest;
pub use exact::ExactTest;
pub use feature::FeatureTest;
pub use multiple::{ClassWiseOutcome, benjamini_hochberg, class_wise, holm};
pub use null::NullDistribution;
pub use outcome::TestOutcome;
pub use statistic::{Resample, Statistic};

use burn::tensor::{Int, Tensor};
use rand::Rng;

use crate::{distribution::Categorical, error::Result};

/// A test of the hypothesis that the predictions are calibrated.
pub trait CalibrationTest {
    /// The outcome on data. A test that resamples draws from `rng`, on the host: the same seed gives
    /// the same p-value on every backend, up to rounding.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or too few
    /// samples for the statistic.
    fn evaluate(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome>;
}
