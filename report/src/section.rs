use std::fmt::Debug;

use burn::tensor::Tensor;
use maud::Markup;
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{Report, drawn::Drawn, table::PageQuantity};
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Laplace, Mixture, Normal, Samples, Targets,
    },
    error::{Result, serialize_or_reason},
    estimator::{JointKernel, Skce},
    hypothesis::{Omnibus, OmnibusOutcome, OmnibusTest},
    kernel::Kernel,
    names::Name,
    score::{Improvement, Interval, LogScore, MeanEstimate, Quantify, Score},
};

/// Predictions that a [`ReportBuilder`](super::ReportBuilder) takes: the kind of prediction decides
/// what a page shows.
///
/// It is implemented for [`Categorical`](burn_calibration::distribution::Categorical), whose section is a
/// [`ReliabilitySection`](super::ReliabilitySection), for all that is [`Scored`], whose section is
/// a [`QuantileSection`](super::QuantileSection), and for
/// [`QuantileForecasts`](burn_calibration::distribution::QuantileForecasts), whose section is a
/// [`ForecastSection`](super::ForecastSection).
pub trait Reportable: Omnibus {
    /// The numbers and diagrams of one set of predictions.
    type Section: Section<Subject = Self::Subject, Kernel = Self::Kernel>;
    /// The description of the targets and of the diagrams.
    type Subject: Clone + Debug;
    /// The kernel of the SKCE; `()` of predictions without distances, which have none.
    type Kernel: Clone + Debug;
    /// The settings of the diagrams.
    type Options: Clone + Debug + Default;
    /// The largest number of samples of the SKCE, unless another is asked for.
    const SKCE_SAMPLES: usize;

    /// The kernel of the SKCE that is asked for, or else the usual one, with the bandwidth fixed at these samples.
    ///
    /// # Errors
    ///
    /// Parameters of the kernel that are not valid.
    fn fixed_kernel(
        &self,
        targets: &Self::Targets,
        kernel: Option<Self::Kernel>,
    ) -> Result<Self::Kernel>;

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

    /// Computes the paired changes to predictions of the same samples.
    fn changes(&self, after: &Self, plan: &Plan<Self>) -> Vec<Change>;
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

    /// The paired change of the log score to predictions after a recalibration. None for predictions without a
    /// density.
    fn log_improvement(&self, after: &Self, targets: &Tensor<2>) -> Option<Result<Improvement>> {
        let _ = (after, targets);
        None
    }
}

macro_rules! with_density {
    () => {
        fn log_score(&self, targets: &Tensor<2>) -> Option<Result<MeanEstimate>> {
            Some(LogScore.mean(self, targets))
        }

        fn log_improvement(
            &self,
            after: &Self,
            targets: &Tensor<2>,
        ) -> Option<Result<Improvement>> {
            Some(LogScore.improvement(self, after, targets))
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

    /// The unbiased SKCE with its confidence interval, or why there is none. None of predictions without a kernel.
    fn skce(&self) -> Option<&Result<Interval>>;

    #[doc(hidden)]
    fn page(report: &Report<Self>) -> Parts;

    #[doc(hidden)]
    fn drawings(&self, subject: &Self::Subject) -> Vec<(String, Drawn)>;

    #[doc(hidden)]
    fn quantities(&self) -> Vec<PageQuantity>;
}

/// The change of a score from before to after, in which each sample is compared with itself.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The key of the quantity in JSON, as `brier`.
    pub key: &'static str,
    /// The change, or why there is none.
    #[serde(serialize_with = "serialize_or_reason")]
    pub improvement: Result<Improvement>,
}

impl Change {
    pub(super) fn of(name: Name, improvement: Result<Improvement>) -> Self {
        let key = name.key;
        Self { key, improvement }
    }
}

/// The parts of a page that depend on the kind of prediction.
pub struct Parts {
    /// The words after the number of predictions.
    pub(super) of: String,
    /// A sentence about each set of predictions, without its first capital.
    pub(super) sentences: Vec<String>,
    /// The diagrams, each under a heading of its own. The first stands above the numbers.
    pub(super) diagrams: Vec<Markup>,
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
    /// The size of an error of all samples with its confidence interval.
    pub(super) fn interval(&self, error: &impl Quantify<P>, predictions: &P) -> Result<Interval> {
        error.size(predictions, self.targets)?.interval(self.level)
    }

    /// The SKCE of its samples with its confidence interval.
    pub(super) fn skce(&self, predictions: &P) -> Result<Interval>
    where
        P: Geometry,
        P::Kernel: JointKernel<P>,
    {
        let skce = Skce::unbiased(self.kernel.clone());
        let size = match self.rows {
            None => skce.size(predictions, self.targets),
            Some(rows) => skce.size(
                &predictions.select_rows(rows),
                &self.targets.select_rows(rows),
            ),
        };
        size?.interval(self.level)
    }

    /// The omnibus test of all samples, with the kernel of the SKCE on predictions.
    pub(super) fn omnibus(&self, kernel: Kernel, predictions: &P) -> Result<OmnibusOutcome> {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let test = OmnibusTest::new().with_kernel(kernel);
        test.outcome(predictions, self.targets, &mut rng)
    }
}
