//! What data can get wrong: one enum, each variant the violated condition with its values.
//!
//! Training losses assert shapes and panic, like Burn's own; everything that takes *data*
//! (estimates, tests, fits, files) returns [`Result`] instead and says which row, which class and
//! which value. Rows and classes are 0-based, as everywhere in this library.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::{distribution::Categorical, error::Error};
//!
//! let device = Device::default();
//! let rows = Tensor::<2>::from_floats([[0.5, 0.5], [0.75, 0.5]], &device);
//! let error = Categorical::from_probabilities(rows).unwrap_err();
//! assert!(matches!(error, Error::RowSum { row: 1, .. }));
//! assert!(error.to_string().starts_with("row 1: the probabilities sum to 1.25"));
//! ```

use burn::tensor::DType;
use thiserror::Error as ThisError;

/// The result of an operation on data.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A condition that the data, a parameter or a file violates.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Every logit and every probability must be a finite number.
    #[error("row {row}, class {class}: the {what} is {value}, expected a finite number")]
    NotFinite {
        /// What the number is: "logit" or "probability".
        what: &'static str,
        /// 0-based row.
        row: usize,
        /// 0-based class.
        class: usize,
        /// The offending value.
        value: f64,
    },

    /// Every probability must lie in `[0, 1]`.
    #[error("row {row}, class {class}: the probability is {value}, expected a number in [0, 1]")]
    ProbabilityRange {
        /// 0-based row.
        row: usize,
        /// 0-based class.
        class: usize,
        /// The offending value.
        value: f64,
    },

    /// The probabilities of a row must sum to 1.
    #[error("row {row}: the probabilities sum to {sum}, expected 1 within {tolerance:e}")]
    RowSum {
        /// 0-based row.
        row: usize,
        /// Their sum.
        sum: f64,
        /// The deviation from 1 that is accepted.
        tolerance: f64,
    },

    /// Every label must be a class.
    #[error("row {row}: the label is {label}, expected a class in 0..{classes}")]
    LabelRange {
        /// 0-based row.
        row: usize,
        /// The offending label.
        label: i64,
        /// Number of classes.
        classes: usize,
    },

    /// There must be one label for each prediction.
    #[error(
        "{predictions} predictions but {labels} labels, expected as many of one as of the other"
    )]
    LengthMismatch {
        /// Number of predictions.
        predictions: usize,
        /// Number of labels.
        labels: usize,
    },

    /// Every parameter of a prediction and every target must be a finite number.
    #[error("row {row}, coordinate {coordinate}: the {what} is {value}, expected a finite number")]
    NotFiniteReal {
        /// What the number is: "location", "scale", "sample" or "target".
        what: &'static str,
        /// 0-based row.
        row: usize,
        /// 0-based coordinate.
        coordinate: usize,
        /// The offending value.
        value: f64,
    },

    /// Every scale must be positive.
    #[error("row {row}, coordinate {coordinate}: the scale is {value}, expected a positive number")]
    Scale {
        /// 0-based row.
        row: usize,
        /// 0-based coordinate.
        coordinate: usize,
        /// The offending value.
        value: f64,
    },

    /// Every parameter of a Beta or Dirichlet distribution must be positive.
    #[error("row {row}, coordinate {coordinate}: {what} is {value}, expected a positive number")]
    NotPositive {
        /// The parameter: "α" or "β".
        what: &'static str,
        /// 0-based row.
        row: usize,
        /// 0-based coordinate.
        coordinate: usize,
        /// The offending value.
        value: f64,
    },

    /// Every target must lie where the predictions have a density.
    #[error("row {row}, coordinate {coordinate}: the target is {value}, expected {expected}")]
    TargetRange {
        /// 0-based row.
        row: usize,
        /// 0-based coordinate.
        coordinate: usize,
        /// The offending value.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },

    /// The coordinates of a point of the simplex must sum to 1.
    #[error(
        "row {row}: the coordinates of the target sum to {sum}, expected 1 within {tolerance:e}"
    )]
    TargetSum {
        /// 0-based row.
        row: usize,
        /// Their sum.
        sum: f64,
        /// The deviation from 1 that is accepted.
        tolerance: f64,
    },

    /// Every weight of a mixture must lie in `[0, 1]`.
    #[error("row {row}, component {component}: the weight is {value}, expected a number in [0, 1]")]
    Weight {
        /// 0-based row.
        row: usize,
        /// 0-based component.
        component: usize,
        /// The offending value.
        value: f64,
    },

    /// The weights of a mixture must sum to 1.
    #[error("row {row}: the weights sum to {sum}, expected 1 within {tolerance:e}")]
    WeightSum {
        /// 0-based row.
        row: usize,
        /// Their sum.
        sum: f64,
        /// The deviation from 1 that is accepted.
        tolerance: f64,
    },

    /// There must be one target for each prediction.
    #[error(
        "{predictions} predictions but {targets} targets, expected as many of one as of the other"
    )]
    TargetLength {
        /// Number of predictions.
        predictions: usize,
        /// Number of targets.
        targets: usize,
    },

    /// Targets and predictions must have the same dimension.
    #[error("targets of dimension {got}, expected {expected}")]
    DimensionMismatch {
        /// The dimension given.
        got: usize,
        /// The dimension expected.
        expected: usize,
    },

    /// Predictions of this kind have no such distance.
    #[error("there is no {distance} distance of such predictions, expected {expected}")]
    NoSuchDistance {
        /// The name of the distance asked for.
        distance: &'static str,
        /// What there is.
        expected: &'static str,
    },

    /// A distance or a profile must be one of those that have a name.
    #[error("there is no {what} {name:?}, expected one of {expected}")]
    UnknownName {
        /// What was named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        expected: String,
    },

    /// The quantity needs more samples than there are.
    #[error("{what} needs at least {needed} samples, got {got}")]
    TooFewSamples {
        /// The quantity.
        what: &'static str,
        /// The smallest number of samples for which it is defined.
        needed: usize,
        /// The number of samples given.
        got: usize,
    },

    /// A prediction must distinguish at least two classes.
    #[error(
        "the predictions have {got} columns, expected at least 2 classes; of two classes with log-odds z the logits are (0, z)"
    )]
    TooFewClasses {
        /// Number of columns given.
        got: usize,
    },

    /// A block must fit into the data.
    #[error("blocks of {size} samples from {samples} samples, expected a size in 2..={samples}")]
    BlockSize {
        /// The block size asked for.
        size: usize,
        /// Number of samples.
        samples: usize,
    },

    /// The bandwidth of a kernel must be a positive finite number.
    #[error("the kernel bandwidth is {value}, expected a positive finite number")]
    Bandwidth {
        /// The offending value.
        value: f64,
    },

    /// What is proved for positive definite kernels needs one.
    #[error(
        "{what} needs a kernel that is known to be positive definite on such predictions, expected one, or {expected}"
    )]
    NotPositiveDefinite {
        /// What needs it.
        what: &'static str,
        /// What there is instead.
        expected: &'static str,
    },

    /// A fused computation was asked for that does not exist.
    #[error("{kernel} has no fused path, expected an exponential or Gaussian profile and M = I")]
    NoFusedPath {
        /// The kernel.
        kernel: String,
    },

    /// Predictions must have the classes that they are compared over.
    #[error("the predictions have {got} classes, expected {expected}")]
    ClassMismatch {
        /// Number of classes of the predictions.
        got: usize,
        /// Number of classes expected.
        expected: usize,
    },

    /// A group of classes must hold one.
    #[error("group {group} holds no class")]
    EmptyGroup {
        /// 0-based number of the group.
        group: usize,
    },

    /// Each class must be in exactly one group.
    #[error("class {class} is in {groups} groups, expected it in exactly one")]
    NotAPartition {
        /// The class.
        class: usize,
        /// How often it occurs.
        groups: usize,
    },

    /// The matrix of a matrix-valued kernel must be square.
    #[error(
        "row {row} of the kernel matrix has {got} entries, expected {expected}, as many as rows"
    )]
    MatrixShape {
        /// 0-based row.
        row: usize,
        /// Its number of entries.
        got: usize,
        /// The number of rows.
        expected: usize,
    },

    /// The matrix of a matrix-valued kernel must be symmetric.
    #[error(
        "the kernel matrix is {value} at ({row}, {column}) and {mirrored} at ({column}, {row}), expected a symmetric matrix"
    )]
    MatrixAsymmetry {
        /// 0-based row.
        row: usize,
        /// 0-based column.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry with row and column exchanged.
        mirrored: f64,
    },

    /// The matrix of a matrix-valued kernel must be positive semi-definite.
    #[error(
        "the kernel matrix is not positive semi-definite: its Cholesky decomposition fails in row {row}"
    )]
    MatrixIndefinite {
        /// 0-based row.
        row: usize,
    },

    /// A parameter is outside its domain.
    #[error("{name} is {value}, expected {expected}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// The offending value.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },

    /// A score of a prediction must be a finite number: the log score is infinite where what was observed
    /// has probability or density 0.
    #[error("row {row}: the {score} of {target} is {value}, expected a finite number")]
    Score {
        /// The score.
        score: &'static str,
        /// 0-based row.
        row: usize,
        /// What was observed.
        target: String,
        /// Its value.
        value: f64,
    },

    /// Predictions and targets must have the same dtype.
    #[error("the dtype of the targets is {got:?}, expected {expected:?}, that of the predictions")]
    DTypeMismatch {
        /// The dtype given.
        got: DType,
        /// The dtype of the predictions.
        expected: DType,
    },

    /// The generalised entropy of the score has no lower bound, so that its mean bounds no
    /// calibration error.
    #[error(
        "the {score} gives no upper bound of a calibration error: the infimum of its entropy is −∞, expected a score whose entropy is bounded, such as the CRPS"
    )]
    NoUpperBound {
        /// The score.
        score: &'static str,
    },

    /// Of the predictions before and after a recalibration, one violates a condition.
    #[error("{when} recalibration: {reason}")]
    Recalibration {
        /// "before" or "after".
        when: &'static str,
        /// The condition.
        reason: Box<Error>,
    },

    /// All block estimates are equal: the statistic of the asymptotic test is undefined.
    #[error(
        "all {blocks} block estimates equal {value}, the asymptotic normal test needs their variance to be positive"
    )]
    ZeroVariance {
        /// Number of blocks.
        blocks: usize,
        /// Their common value.
        value: f64,
    },

    /// The residuals at the test locations are linearly dependent: their covariance has no inverse.
    #[error(
        "the residuals at {locations} test locations have a covariance of rank {rank}, expected distinct locations where labels vary, or fewer of them"
    )]
    SingularCovariance {
        /// Number of test locations.
        locations: usize,
        /// Rank of the covariance.
        rank: usize,
    },

    /// What needs all predictions at once has no accumulator that can be merged.
    #[error("{what} is not known from pieces of the predictions, expected {expected}")]
    NotMergeable {
        /// What needs them.
        what: &'static str,
        /// What can be merged.
        expected: &'static str,
    },

    /// Accumulators that are merged must be of the same classes, bins, kernel and block size.
    #[error("cannot merge: {what} is {own} in one and {other} in the other")]
    Merge {
        /// What differs.
        what: &'static str,
        /// That of the accumulator that was to take the other.
        own: String,
        /// That of the other.
        other: String,
    },

    /// Scores have a mean if all are finite.
    #[error(
        "the {score} of {infinite} of {samples} samples is infinite: the observed class has \
         probability 0"
    )]
    InfiniteScores {
        /// The score.
        score: &'static str,
        /// The number of samples whose score is infinite.
        infinite: u64,
        /// The number of samples.
        samples: u64,
    },

    /// A map without parameters to descend in cannot be fitted by a criterion.
    #[error("{map} cannot be fitted by a criterion: {reason}")]
    NoSuchFit {
        /// The map.
        map: &'static str,
        /// What it is fitted by.
        reason: &'static str,
    },

    /// A fitted map could not be saved or loaded.
    #[error("{path}: {reason}")]
    Map {
        /// The file.
        path: String,
        /// What is wrong with it, and what was expected.
        reason: String,
    },

    /// A picture or a report could not be written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it, and what was expected.
        reason: String,
    },
}

impl Error {
    /// The same of the predictions "before" or "after" a recalibration.
    pub(crate) fn of(self, when: &'static str) -> Self {
        Self::Recalibration {
            when,
            reason: Box::new(self),
        }
    }
}
