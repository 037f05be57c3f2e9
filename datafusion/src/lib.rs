//! Proper scores and calibration errors as aggregate functions of
//! [DataFusion](https://datafusion.apache.org), on predictions in Parquet files or any other table.
//!
//! ```sql
//! SELECT model, ece(p, y), brier(p, y), block_skce(p, y, 0.5, 25), block_skce_p_value(p, y, 0.5, 25)
//! FROM predictions GROUP BY model
//! ```
//!
//! `p` is a list of probabilities, `y` the label as a whole number from 0. A row whose prediction or label
//! is NULL is left out, as usual; a row that is not a prediction is an error. Of no rows the value is NULL.
//!
//! | function | is |
//! | --- | --- |
//! | `accuracy(p, y [, w])` | how often the most likely class is right |
//! | `brier(p, y [, w])`, `log_loss(p, y [, w])`, `spherical(p, y [, w])` | mean proper scores; infinite for a log loss if an observed class has probability 0 |
//! | `ece(p, y [, bins [, w]])` | expected calibration error of the top label, 15 bins of equal width unless given |
//! | `mce(p, y [, bins [, w]])` | maximum calibration error |
//! | `classwise_ece(p, y [, bins [, w]])` | mean over classes of the error of each against the rest |
//! | `block_skce(p, y, bandwidth, size [, w])` | squared kernel calibration error in blocks of `size` rows, exponential kernel over total variation |
//! | `block_skce_standard_error(p, y, bandwidth, size [, w])` | its standard error; NULL for one block |
//! | `block_skce_p_value(p, y, bandwidth, size)` | the asymptotic test of calibration; NULL for fewer than two blocks, or if all are equal |
//!
//! Behind each is an accumulator of [`burn_calibration_accumulator`]. The engine runs one for each
//! partition and group, sends their states, a column of bytes, wherever it merges them, and so does
//! Ballista between machines.
//!
//! # Weights
//!
//! A last argument `w` is the weight of a row, as of a survey: a number of at least 0, of which only ratios count.
//! `brier(p, y, w)` is `Σ w s/Σ w`. A row of weight 0 or NULL is left out. Whole numbers give the means of rows that
//! are repeated; a standard error differs, since a row is one sample whatever its weight. The test takes no weights.
//!
//! # Order
//!
//! Scores and binned errors come from sums of 32 digits: whatever the files, partitions and threads, their value is the
//! same f64, unless the exact value lies in the middle between two.
//!
//! The blocks of the SKCE are rows that follow each other in what one partition reads of a group, and the
//! engine promises no order of rows. If rows are exchangeable, as those of a test set are, the estimate is
//! unbiased and the test valid in any order, but the value is not unique: another run may form other
//! blocks. Each partition leaves out up to `size − 1` rows of a group. With `ORDER BY` within the call
//! and one partition it is unique: `block_skce(p, y, 0.5, 25 ORDER BY id)`.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! let context = SessionContext::new();
//! burn_calibration_datafusion::register_all(&context);
//! assert!(context.udaf("ece").is_ok());
//! # use datafusion::execution::FunctionRegistry;
//! ```

#![warn(missing_docs)]

mod arguments;
mod function;
mod running;

use datafusion::{logical_expr::AggregateUDF, prelude::SessionContext};

use function::{CalibrationFunction, Quantity};

/// Makes every function known to a session, also to its SQL.
pub fn register_all(context: &SessionContext) {
    for function in functions() {
        context.register_udaf(function);
    }
}

/// Every function, to register or to call from the DataFrame API.
pub fn functions() -> Vec<AggregateUDF> {
    let function = |&quantity: &Quantity| CalibrationFunction::new(quantity).into();
    Quantity::ALL.iter().map(function).collect()
}
