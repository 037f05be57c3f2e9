use std::fmt::Debug;

use burn::tensor::Tensor;
use serde::Serialize;

use super::{Report, answer::interval, drawn::Drawn, table::Quantity};
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Laplace, Mixture, Normal, Samples, Targets,
    },
    error::Result,
    estimator::{JointKernel, Skce},
    hypothesis::{Omnibus, OmnibusOutcome},
    kernel::Kernel,
    score::{Interval, LogScore, MeanEstimate, Score},
};

/// Predictions that a [`ReportBuilder`](super::ReportBuilder) takes: the kind of prediction decides
/// what a page shows.
///
/// It is implemented for [`Categorical`](burn_calibration::distribution::Categorical), whose section is a
/// [`ReliabilitySection`](super::ReliabilitySection), and for all that is [`Scored`], whose section is
/// a [`QuantileSection`](super::QuantileSection).
pub trait Reportable: Omnibus + Geometry {
    /// The numbers and diagrams of one set of predictions.
    type Section: Section<Subject = Self::Subject, Kernel = Self::Kernel>;
    /// The description of the targets and of the diagrams.
    type Subject: Clone + Debug;
    /// The kernel of the SKCE.
    type Kernel: JointKernel<Self>;
    /// The settings of the diagrams.
    type Options: Clone + Debug + Default;
    /// The largest number of samples of the SKCE, unless another is asked for.
    const SKCE_SAMPLES: usize;

    /// The kernel of the SKCE, unless another is asked for.
    fn default_joint_kernel(targets: &Self::Targets) -> Self::Kernel;

    /// Describes the targets and the diagrams.
    ///
    /// # Errors
    ///
    /// Options that do not fit the predictions.
    fn subject(&self, targets: &Self::Targets, options: Self::Options) -> Result<Self::Subject>;

    /// Computes the numbers and diagrams.
    ///
    /// # Errors
    ///
    /// Invalid options of the diagrams.
    fn section(&self, plan: &Plan<Self>) -> Result<Self::Section>;
}

/// Predictions over `ℝ^d` that a report can show.
///
/// A kind of prediction of your own needs no more than `impl Scored for MyPredictions {}`.
pub trait Scored: AbsoluteMoments {
    /// The mean log score, or why it is infinite. None for predictions without a density.
    fn log_score(&self, targets: &Tensor<2>) -> Option<Result<MeanEstimate>> {
        let _ = targets;
        None
    }
}

macro_rules! with_density {
    () => {
        fn log_score(&self, targets: &Tensor<2>) -> Option<Result<MeanEstimate>> {
            Some(LogScore.mean(self, targets))
        }
    };
}

impl Scored for Normal {
    with_density!();
}

impl Scored for Laplace {
    with_density!();
}

impl<C: Component + AbsoluteMoments + Density> Scored for Mixture<C> {
    with_density!();
}

impl Scored for Samples {}

/// The numbers and diagrams of one set of predictions.
pub trait Section: Clone + Debug + Serialize {
    /// The description of the targets and of the diagrams.
    type Subject: Clone + Debug + Serialize;
    /// The kernel of the SKCE.
    type Kernel: Clone + Debug + Serialize;

    /// The outcome of the omnibus test of all samples, or why there is none.
    fn omnibus(&self) -> &Result<OmnibusOutcome>;

    /// The unbiased SKCE with its confidence interval, or why there is none.
    fn skce(&self) -> &Result<Interval>;

    #[doc(hidden)]
    fn page(report: &Report<Self>) -> Parts;

    #[doc(hidden)]
    fn drawings(&self, subject: &Self::Subject) -> Vec<(String, Drawn)>;

    #[doc(hidden)]
    fn quantities(&self) -> Vec<Quantity<Self>>;
}

/// The parts of a page that depend on the kind of prediction.
pub struct Parts {
    /// The words after the number of predictions.
    pub(super) of: String,
    /// A sentence about each set of predictions, without its first capital.
    pub(super) sentences: Vec<String>,
    /// The diagrams, each under a heading of its own.
    pub(super) diagrams: Vec<String>,
    /// The method of the intervals and the diagrams.
    pub(super) method: String,
    /// The kernel in words.
    pub(super) kernel: String,
}

/// The input of a [`Section`], beside the predictions.
#[derive(Debug)]
pub struct Plan<'a, P: Reportable> {
    pub(super) targets: &'a P::Targets,
    pub(super) subject: &'a P::Subject,
    pub(super) level: f64,
    /// The kernel, with a fixed bandwidth.
    pub(super) kernel: P::Kernel,
    /// The samples of the SKCE, where it is not of all.
    pub(super) rows: Option<&'a [usize]>,
    pub(super) seed: u64,
}

impl<P: Reportable> Plan<'_, P> {
    pub(super) fn skce(&self, predictions: &P) -> Result<Interval> {
        let skce = Skce::unbiased(self.kernel.clone());
        match self.rows {
            None => interval(&skce, (predictions, self.targets), self.level),
            Some(rows) => {
                let (predictions, targets) = (
                    predictions.select_rows(rows),
                    self.targets.select_rows(rows),
                );
                interval(&skce, (&predictions, &targets), self.level)
            }
        }
    }

    /// The omnibus test of all samples, with the kernel of the SKCE on predictions.
    pub(super) fn omnibus(&self, kernel: Kernel, predictions: &P) -> Result<OmnibusOutcome> {
        super::answer::omnibus(kernel, (predictions, self.targets), self.seed)
    }
}
