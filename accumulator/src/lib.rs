//! Evaluation in pieces: sums over predictions that can be saved and that merge exactly.
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
//! # Exactness
//!
//! Sums are kept without rounding, as whole numbers of the smallest positive f64. So they do not depend on
//! the order of their terms: merging accumulators of any partition of the predictions, in any order, gives
//! the result of a single pass bit for bit, in estimates and in files (for the SKCE, with partitions into
//! whole blocks). The terms are computed on the host in f64, that of a sample or a block from its own
//! numbers; they are the same to the bit where `exp` and `log` of the platform are. From f32 predictions
//! the estimates are those of the same numbers in f64; from logits probabilities are computed again in f64.
//!
//! This crate has no quantities that need all predictions at once: no median bandwidths, bins of equal mass
//! or quadratic estimators.
//!
//! # Weights
//!
//! [`Rows::weighted`] gives each sample a weight, at least 0 and finite; a sample of weight 0 is left out.
//! Sums of weights and of their products are also exact, for any sizes: 1e-300 and 1e300 can be summed.
//! Only ratios matter, but across all pieces, so the weights of all pieces must be on one scale. A piece
//! with weights and one without weights do not merge. Predictions that carry weights are refused, because
//! their weights have mean 1 in each piece. Equal weights give the estimates without weights bit for bit.
//! Integer weights give the means of repeated rows; standard errors and effective numbers differ, because a
//! row is one sample for any weight.
//!
//! # Files
//!
//! serde serialises an accumulator in any format. Loading sums that no predictions can have is an error.
//! [`Saved::save`] writes JSON, `{"kind", "version", "crc", "payload"}`. [`Saved::load`] refuses another
//! kind or version, and changed files. A sum is `±Σ_k limbs[k] 2^{32(first+k)−1074}`.
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
mod block_weights;
mod class_bin;
mod evaluation;
mod exact_sum;
mod format;
mod means;
mod moments;
mod rows;
mod score;
mod weight_sums;

pub use bin::{BinAccumulator, BinTotals};
pub use block_skce::BlockSkceAccumulator;
pub use block_weights::BlockWeights;
pub use class_bin::ClassBinAccumulator;
pub use evaluation::Evaluation;
pub use format::Saved;
pub use means::Means;
pub use rows::Rows;
pub use score::{Kept, ScoreAccumulator};

use std::fmt::Debug;

use burn::tensor::{Int, Tensor};

use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
};

/// Sums over predictions of classes and their labels.
///
/// `merge` is associative and commutative, and an accumulator that took nothing is its unit.
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

    /// The number of samples, without those of weight 0.
    fn samples(&self) -> u64;

    /// Returns whether samples have weights; None where nothing that was taken tells.
    fn weighted(&self) -> Option<bool>;

    /// The number `m` of classes.
    fn classes(&self) -> usize;

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

/// The most samples: up to there counts are exact as f64.
const MOST: u64 = 1 << 53;

/// The sum of counts, if it is at most [`MOST`].
fn total(counts: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut counts = counts.into_iter();
    let total = counts.try_fold(0u64, |all, count| all.checked_add(count));
    total.filter(|&total| total <= MOST)
}

/// Checks that the samples of two accumulators together are not too many to count.
fn check_total(own: u64, other: u64) -> Result<()> {
    match total([own, other]) {
        Some(_) => Ok(()),
        None => Err(Error::Unsupported {
            what: format!("cannot merge: the pieces have {own} and {other} samples"),
            expected: "at most 2^53 together; is one of them merged with itself again and again?",
        }),
    }
}

/// Checks that all samples have weights, or none has.
fn check_weighted(own: Option<bool>, other: Option<bool>) -> Result<()> {
    match (own, other) {
        (Some(own), Some(other)) if own != other => Err(Error::Unsupported {
            what: "cannot merge samples with weights and samples without".into(),
            expected: "weights in every piece, on one scale, or in none",
        }),
        _ => Ok(()),
    }
}

/// Checks that an accumulator can take rows.
fn check_rows(own: &impl Accumulator, rows: &Rows) -> Result<()> {
    rows.check_classes(own.classes())?;
    check_weighted(own.weighted(), rows.are_weighted())
}

/// Checks that accumulators are of as many classes, and their samples can be counted together.
fn check_merge<A: Accumulator>(own: &A, other: &A) -> Result<()> {
    check_equal("the number of classes", own.classes(), other.classes())?;
    check_weighted(own.weighted(), other.weighted())?;
    check_total(own.samples(), other.samples())
}

/// Checks counts of a file: what is wrong with those that are too many.
fn check_counts(counts: impl IntoIterator<Item = u64>) -> Result<(), String> {
    match total(counts) {
        Some(_) => Ok(()),
        None => Err("it counts more than 2^53 samples".into()),
    }
}

/// Checks that there is a sample.
fn check_samples(accumulator: &impl Accumulator) -> Result<()> {
    burn_calibration::error::checks::check_samples("an estimate", 1, accumulator.samples() as usize)
}
