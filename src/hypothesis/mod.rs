//! Tests of the hypothesis that a model is calibrated, with p-values.
//!
//! | test | statistic | null distribution | cost |
//! | --- | --- | --- | --- |
//! | [`OmnibusTest`] | several aspects together | redrawn targets, at every `n` | `n` and the labels that are redrawn, see there |
//! | [`GroupTest`] | the omnibus test of each group | redrawn targets, at every `n` | that of each |
//! | [`GivenTest`] | SKCE [given](crate::distribution::Given) a variable | redrawn targets, at every `n` | as the omnibus test |
//! | [`ExactTest`] | any estimator or function | redrawn targets, exact at every `n` | see there |
//! | [`ToleranceTest`] | the size of an error above a tolerance | asymptotic; of intervals Clopper–Pearson | that of the error |
//! | [`AsymptoticSkceTest`] | unbiased SKCE | a gamma distribution by three moments | `n²·m` |
//! | [`AsymptoticBlockSkceTest`] | block or linear SKCE | normal, as `n/B → ∞`; Student's of few blocks | `n·B·m` |
//! | [`DistributionFreeSkceTest`] | any SKCE; biased for positive definite kernels | a bound, valid at every `n`, loose | that of the estimate |
//! | [`CmeTest`] | `J` test locations | `F` or `χ²`, which do not keep the level of confident predictions | `n·J·(m + J)` |
//! | [`Spiegelhalter`] | Brier score of an event above its expectation | normal, or redrawn labels | `n` |
//! | [`HosmerLemeshow`] | counts of an event in groups | `χ²`, or redrawn labels | `n log n` |
//! | [`Cox`] | likelihood ratio of a line in the log-odds of an event | `χ²_2`, or redrawn labels | `n` |
//! | [`ConsistencyTest`] | any estimator or function | resampled predictions, redrawn labels | `R` estimates |
//!
//! Each test is a small value with `outcome(&predictions, &targets, &mut rng)`. That of an [`OmnibusTest`] and of a
//! [`GivenTest`] is an [`OmnibusOutcome`], which has the aspects too. The other tests of predictions implement the trait
//! [`CalibrationTest`], whose outcome is a [`TestOutcome`]; [`Summarised`] makes one of these two. Every outcome has
//! the field `p_value`. Most tests take any kind of predictions, by a kernel for them: see
//! [`TensorKernel`](crate::kernel::TensorKernel). The three tests of an event are for classes. A small
//! p-value is evidence against calibration. A large one is not evidence for it.
//!
//! An asymptotic approximation reports no p-value below 0.001, and says if too few errors are expected
//! for it: [`TestOutcome::is_bound`], [`TestOutcome::caveat`].
//!
//! [`guide::which_test`](crate::guide::which_test) helps to choose. Levels and powers over thousands of data
//! sets are in `docs/levels.md`.
//!
//! - To know whether a model is calibrated, and where it fails: [`OmnibusTest`]. It keeps its level on
//!   every data set, and has about the power of the best of its aspects. Its documentation has an example.
//! - To know for whom a model is not calibrated: [`GroupTest`], of named groups; [`GivenTest`], given a
//!   feature or an embedding.
//! - To test one estimator, such as the one that is reported: [`ExactTest`].
//! - To know how large the error is, and whether it is too large:
//!   [`Quantify`](crate::score::Quantify) and [`ToleranceTest`].
//! - To find the classes that are wrong: the aspects of [`OmnibusOutcome`], or [`class_wise`] with any
//!   test, and its p-values adjusted for the number of classes ([`holm`], [`benjamini_hochberg`]).
//! - To report the tests that medicine and meteorology use for two classes: [`Spiegelhalter`],
//!   [`HosmerLemeshow`], and [`Cox`], whose intercept and slope say how a model fails.
//! - To reproduce published results: one of the other tests, by its name.
//!
//! [`Unrelated`] is no test of calibration: it asks whether predictions and labels are of the same rows.

mod asymptotic_block;
mod asymptotic_quadratic;
mod by_group;
mod cme;
mod consistency;
mod cox;
mod distribution_free;
mod engine;
mod exact;
mod given;
mod hosmer_lemeshow;
mod logistic_line;
mod moments;
mod multiple;
mod omnibus;
mod outcome;
mod p_value;
mod relation;
mod spiegelhalter;
mod statistic;
mod tolerance;

pub use asymptotic_block::AsymptoticBlockSkceTest;
pub use asymptotic_quadratic::AsymptoticSkceTest;
pub use by_group::{Group, GroupOutcome, GroupTest, GroupsOutcome};
pub use cme::{CmeNull, CmeTest, Locations};
pub use consistency::ConsistencyTest;
pub use cox::{Coefficient, Cox, CoxFit};
pub use distribution_free::DistributionFreeSkceTest;
pub use engine::{Detail, Evaluator};
pub use exact::ExactTest;
pub use given::GivenTest;
pub use hosmer_lemeshow::HosmerLemeshow;
pub use multiple::{benjamini_hochberg, class_wise, holm};
pub use omnibus::{AspectOutcome, Omnibus, OmnibusOutcome, OmnibusTest, Summarised};
pub use outcome::TestOutcome;
pub use p_value::Probability;
pub use relation::Unrelated;
pub use spiegelhalter::Spiegelhalter;
pub use statistic::{Statistic, StatisticFunction};
pub use tolerance::ToleranceTest;

use rand::Rng;

use crate::{
    distribution::{Categorical, Predictive, weights_refused},
    error::{Error, Result},
};

/// The tests that take weights where an asymptotic test does not, for its error.
const EXACT: &str = "the exact test of the statistic, or the omnibus test, which take them";

/// Checks that the predictions of a test have no weights, which only exact tests take.
fn check_unweighted<P: Predictive>(predictions: &P, test: &'static str) -> Result<()> {
    match predictions.sample_weights() {
        Some(_) => Err(weights_refused(test, EXACT)),
        None => Ok(()),
    }
}

/// Checks that `h` has mean 0 over the pairs of samples if the model is calibrated: that predictions are known
/// distributions, or draws of one dimension, see
/// [`PairMatrix::fair`](crate::estimator::PairMatrix::fair).
fn check_fair<P: Predictive>(predictions: &P, targets: &P::Targets, test: &str) -> Result<()> {
    match predictions.dimensions() {
        1 => Ok(()),
        _ => check_known(predictions, targets, test),
    }
}

/// Checks that predictions are distributions that are known, not draws: what a null distribution is made from.
fn check_known<P: Predictive>(predictions: &P, targets: &P::Targets, test: &str) -> Result<()> {
    match predictions.pooled(targets) {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported {
            what: format!("the {test} has no null distribution for predictions by draws"),
            expected: "an exact test, which redraws the target from all draws",
        }),
    }
}

/// A test of the hypothesis that the predictions are calibrated, for predictions of a kind `P`. The [`OmnibusTest`] is
/// one by [`Summarised`].
pub trait CalibrationTest<P: Predictive = Categorical> {
    /// The outcome on data. A test that resamples draws from `rng`, on the host: the same generator and seed give
    /// the same p-value on every backend, up to rounding. `StdRng` of `rand` 0.10 is ChaCha12.
    ///
    /// # Errors
    ///
    /// Invalid predictions or targets, such as a label that is not a class; different numbers of
    /// predictions and targets; or too few samples for the statistic.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome>;
}
