//! Evaluation in pieces: sums over predictions that can be saved and merged in any order.
//!
//! Predictions can be in shards, on several machines or in a query engine. Each piece goes into an
//! [`Accumulator`]. The merged accumulators give the estimates of all predictions together.
//!
//! | accumulator | estimates | as |
//! | --- | --- | --- |
//! | [`ScoreAccumulator`] | a proper score with its standard error | [`Score`](burn_calibration::score::Score) |
//! | [`BinAccumulator`] | ECE, MCE, accuracy, the reliability diagram of an event | [`Ece`](burn_calibration::estimator::Ece), [`Mce`](burn_calibration::estimator::Mce), [`Tce`](burn_calibration::estimator::Tce) |
//! | [`ClassBinAccumulator`] | the class-wise error | [`Cwce`](burn_calibration::estimator::Cwce) |
//! | [`BlockSkceAccumulator`] | the block SKCE, its standard error and p-value | [`Skce::block`](burn_calibration::estimator::Skce::block), [`AsymptoticBlockSkceTest`](burn_calibration::hypothesis::AsymptoticBlockSkceTest) |
//! | [`Evaluation`] | all of these in one pass | |
//! | [`Means`] | means of any numbers of samples, such as the CRPS of regressions | [`Score::mean`](burn_calibration::score::Score::mean) |
//!
//! # Order
//!
//! Sums are kept in two f64 each, with 106 bits or 32 decimal digits, and so are the deviations of standard errors. A sum
//! of up to a million rows for each piece, merged in any order and grouping, differs from the exact one by at most
//! `10⁻²⁵ Σ|x|`, where `x` are its terms, and in practice by far less: most sums of probabilities and scores are exact,
//! since their digits fit. A mean divides `Σ w x` by `Σ w`. It has this error relative to the mean of `|x|`; where terms
//! of both signs cancel, as those of the SKCE in blocks do, the error relative to the mean itself is larger by
//! `Σ|x|/|Σ x|`. Estimates are f64, with errors of `10⁻¹⁶`: the same whatever the order, unless the exact value lies
//! within that error of the middle between two f64. For the SKCE this holds for partitions into whole blocks.
//!
//! The terms are computed on the host in f64, that of a sample or a block from its own numbers; they are the same to the
//! bit where `exp` and `log` of the platform are. From f32 predictions the estimates are those of the same numbers in
//! f64; from logits probabilities are computed again in f64.
//!
//! This crate has no quantities that need all predictions at once: no median bandwidths, bins of equal mass
//! or quadratic estimators.
//!
//! # Weights
//!
//! [`Rows::weighted`] gives each sample a weight, 0 or from 1e-100 to 1e100; a sample of weight 0 is left out. Only
//! ratios matter, but across all pieces, so the weights of all pieces must be on one scale. A piece with weights and one
//! without weights do not merge. Predictions that carry weights are refused, because their weights have mean 1 in each
//! piece. Equal weights give the estimates without weights bit for bit. Integer weights give the means of repeated
//! rows; standard errors and effective numbers differ, because a row is one sample for any weight.
//!
//! # Files
//!
//! serde serialises an accumulator in any format. Loading sums that no predictions can have is an error.
//! [`Saved::save`] writes JSON, `{"kind", "version", "crc", "payload"}`. [`Saved::load`] refuses another
//! kind or version, and changed files. A sum is a text of two numbers, such as `"0.3 -1.1e-17"`, and their exact sum.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{
//!     distribution::Categorical,
//!     kernel::{Bandwidth, Kernel},
//! };
//! use burn_calibration_accumulator::{Accumulator, Evaluation, Saved};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! # let device = Device::default();
//! # let folder = std::env::temp_dir();
//! # let shard = |p: [[f32; 2]; 4]| Categorical::from_probabilities(Tensor::from_floats(p, &device));
//! # let first = shard([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])?;
//! # let second = shard([[0.5, 0.5], [0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])?;
//! # let labels = Tensor::<1, Int>::from_ints([0, 1, 1, 0], &device);
//! let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5)); // the same everywhere
//! let empty = Evaluation::new(15, 2)?.with_skce(kernel, 2)?; // 15 bins, 2 classes, blocks of 2
//!
//! // on one machine
//! let mut part = empty.clone();
//! part.update(&first, &labels)?;
//! let path = folder.join(format!("burn-calibration-part-{}.json", std::process::id()));
//! part.save(&path)?;
//!
//! // on another
//! let mut all = empty;
//! all.update(&second, &labels)?;
//! all.merge(&Evaluation::load(&path)?)?;
//! # std::fs::remove_file(&path).unwrap();
//! assert_eq!(all.samples(), 8);
//! println!("Brier score {}", all.brier().mean()?);
//! println!("ECE {}", all.top_label().ece()?);
//! println!("{}", all.skce().expect("asked for").outcome()?); // with a p-value
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

mod bin;
mod block_skce;
mod class_bin;
mod double_double;
mod evaluation;
mod format;
mod means;
mod moments;
mod observations;
mod rows;
mod score;
mod weights;

pub use bin::{BinAccumulator, BinTotals};
pub use block_skce::BlockSkceAccumulator;
pub use class_bin::ClassBinAccumulator;
pub use evaluation::Evaluation;
pub use format::Saved;
pub use means::Means;
pub use observations::Observations;
pub use rows::Rows;
pub use score::{Kept, ScoreAccumulator};
pub use weights::BlockWeights;

use std::fmt::Debug;

use burn::tensor::{Int, Tensor};

use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
};

/// Sums over predictions of classes and their labels.
///
/// `merge` is associative and commutative to the rounding of sums, and an accumulator that took nothing is its unit.
pub trait Accumulator: Saved + Clone + Debug + PartialEq {
    /// Takes predictions and their labels.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or predictions with
    /// another number of classes; then the accumulator does not change.
    fn update(&mut self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<()> {
        self.update_rows(&Rows::new(predictions, labels)?)
    }

    /// Adds predictions and labels on the host, which are checked once for several accumulators.
    ///
    /// # Errors
    ///
    /// Predictions with another number of classes, or with weights if others had none; then the accumulator
    /// does not change.
    fn update_rows(&mut self, rows: &Rows) -> Result<()>;

    /// Adds the sums of another accumulator.
    ///
    /// # Errors
    ///
    /// [`Error::Merge`] if their settings differ; then the accumulator does not change.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Returns the numbers of samples and of classes, and whether there are weights.
    fn observations(&self) -> Observations;

    /// The number of samples, without those of weight 0.
    fn samples(&self) -> u64 {
        self.observations().samples
    }

    /// The bytes of memory that it uses, including its own size.
    fn bytes(&self) -> usize;
}

/// Checks that two accumulators are made alike.
fn check_equal<T: PartialEq + Debug>(what: &'static str, own: T, other: T) -> Result<()> {
    if own == other {
        Ok(())
    } else {
        Err(Error::Merge {
            what,
            own: format!("{own:?}"),
            other: format!("{other:?}"),
        })
    }
}
