use std::fmt::Debug;

use maud::Markup;
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{
    Answer, Assessed, InTheLarge, Report, Size, Sizing,
    distances::Distances,
    drawn::Drawn,
    estimate::NamedEstimates,
    view::{SubjectWords, View},
};
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Laplace, Mixture, Normal, Samples, Targets,
    },
    error::{Result, serialize_or_reason},
    hypothesis::{Omnibus, OmnibusTest},
    names::Name,
    score::{FairCrps, Improvement, LogScore, Score},
};

/// A score with its name.
pub type NamedScore<P> = (Name, &'static dyn Score<P>);

/// Predictions that a [`ReportBuilder`](super::ReportBuilder) takes: the kind of prediction decides
/// what a page shows.
///
/// It is implemented for [`Categorical`](burn_calibration::distribution::Categorical), whose section is a
/// [`ReliabilitySection`](super::ReliabilitySection), for all that is [`Scored`], whose section is
/// a [`QuantileSection`](super::QuantileSection), and for
/// [`QuantileForecasts`](burn_calibration::distribution::QuantileForecasts), whose section is a
/// [`ForecastSection`](super::ForecastSection).
pub trait Reportable: Omnibus + 'static {
    /// The diagrams of one set of predictions.
    type Section: Section<Subject = Self::Subject, Kernel = Self::Kernel>;
    /// The description of the targets and of the diagrams.
    type Subject: Clone + Debug;
    /// The kernel of the SKCE; `()` of predictions without distances, which have none.
    type Kernel: Distances<Self> + Debug;
    /// The settings of the diagrams.
    type Options: Clone + Debug + Default;

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

    /// Returns the sizes of the errors but the SKCE, the first of them in the large.
    fn sizes(&self, _targets: &Self::Targets, _sizing: &Sizing) -> Vec<(Name, Size)> {
        Vec::new()
    }

    /// Returns what was expected, what was observed, and the error in the large, of predictions that have one.
    fn in_the_large(&self, _targets: &Self::Targets, _sizing: &Sizing) -> Option<InTheLarge> {
        None
    }

    /// Returns the words for what numbers of the predictions are of, or of a class against the rest; classes have names.
    fn words(&self, _class: Option<usize>, _names: &[String]) -> SubjectWords {
        SubjectWords::default()
    }

    /// Returns what happened on average, and what was predicted, of classes.
    fn summary(&self, _targets: &Self::Targets) -> NamedEstimates {
        Vec::new()
    }

    /// Computes the estimates that need no kernel.
    ///
    /// - seed: of the labels that a calibrated model would have
    fn estimates(view: &View<Self>, seed: u64) -> NamedEstimates;

    /// Returns the view of a page.
    fn view(&self, plan: &Plan<Self>) -> View<Self> {
        View::new(self.clone(), plan.targets.clone(), None, &[])
    }

    /// Computes the diagrams.
    ///
    /// # Errors
    ///
    /// Invalid options of the diagrams.
    fn section(&self, plan: &Plan<Self>) -> Result<Self::Section>;

    /// Returns the scores whose paired changes a page and `compare` show.
    fn scores() -> Vec<NamedScore<Self>>;
}

/// Predictions after a recalibration, of the kind of the predictions before or of another one with the same section.
/// Every [`Reportable`] kind is that.
pub trait After<P: Reportable>: Debug {
    /// Computes the answer, the diagrams, and the changes of the scores that both have.
    ///
    /// # Errors
    ///
    /// Another dimension than before, or predictions or targets that are not valid; those of [`Reportable::section`].
    fn assessed_after(
        &self,
        before: &P,
        plan: &Plan<P>,
    ) -> Result<(Assessed<P::Section>, Vec<Change>)>;
}

impl<P, Q> After<P> for Q
where
    P: Reportable,
    Q: Reportable<
            Targets = P::Targets,
            Section = P::Section,
            Subject = P::Subject,
            Kernel = P::Kernel,
        >,
{
    fn assessed_after(
        &self,
        before: &P,
        plan: &Plan<P>,
    ) -> Result<(Assessed<P::Section>, Vec<Change>)> {
        let targets = plan.targets;
        match (self.dimensions(), before.dimensions()) {
            (got, expected) if got == expected => {}
            (got, expected) => return Err(P::Targets::mismatch(got, expected)),
        }
        let (after, _) = self.parted();
        after.check()?;
        after.check_targets(targets)?;
        let own = Plan {
            targets,
            subject: plan.subject,
            level: plan.level,
            kernel: plan.kernel,
            seed: plan.seed,
            rows: plan.rows,
        };
        let scores = Self::scores();
        let change = |(name, score): NamedScore<P>| {
            let (_, other) = scores.iter().find(|(other, _)| *other == name)?;
            Some(Change {
                key: name.key,
                improvement: Improvement::between(&(before, score), &(self, *other), targets)
                    .map_err(|error| error.at_rows(plan.rows)),
            })
        };
        let changes = P::scores().into_iter().filter_map(change).collect();
        Ok((own.assessed(self)?, changes))
    }
}

/// Predictions over `ℝ^d` that a report can show.
///
/// A kind of prediction of your own needs no more than `impl Scored for MyPredictions {}`.
pub trait Scored: AbsoluteMoments + 'static {
    /// The log score, of predictions with a density.
    const LOG_SCORE: Option<&'static dyn Score<Self>> = None;
    /// The fair CRPS, of draws that are each as likely as the others.
    const FAIR_CRPS: Option<&'static dyn Score<Self>> = None;
}

impl Scored for Normal {
    const LOG_SCORE: Option<&'static dyn Score<Self>> = Some(&LogScore);
}

impl Scored for Laplace {
    const LOG_SCORE: Option<&'static dyn Score<Self>> = Some(&LogScore);
}

impl<C: Component + AbsoluteMoments + Density + 'static> Scored for Mixture<C> {
    const LOG_SCORE: Option<&'static dyn Score<Self>> = Some(&LogScore);
}

impl Scored for Samples {
    const FAIR_CRPS: Option<&'static dyn Score<Self>> = Some(&FairCrps);
}

/// The diagrams of one set of predictions.
pub trait Section: Clone + Debug + Serialize {
    /// The description of the targets and of the diagrams.
    type Subject: Clone + Debug + Serialize;
    /// The kernel of the SKCE.
    type Kernel: Clone + Debug + Serialize;

    #[doc(hidden)]
    fn page(report: &Report<Self>) -> Parts;

    #[doc(hidden)]
    fn sentence(set: &Assessed<Self>) -> String;

    #[doc(hidden)]
    fn drawings(&self, subject: &Self::Subject) -> Vec<(String, Drawn)>;
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

/// The parts of a page that depend on the kind of prediction.
pub struct Parts {
    /// The words after the number of predictions.
    pub(super) of: String,
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
    pub(super) seed: u64,
    /// The row of the data of each sample; empty where all rows are samples.
    pub(super) rows: &'a [usize],
}

impl<P: Reportable> Plan<'_, P> {
    /// The answer, the numbers and the diagrams of a set of predictions.
    pub(super) fn assessed(&self, predictions: &P) -> Result<Assessed<P::Section>> {
        let page = predictions.section(self)?;
        let (view, mut rng) = (predictions.view(self), StdRng::seed_from_u64(self.seed));
        let test = OmnibusTest::new();
        let kernel = self.kernel.on_predictions();
        let test = kernel.map_or(test, |kernel| test.with_kernel(kernel));
        let omnibus = view.omnibus(test, &mut rng);
        let sizing = Sizing::new(self.level, &view.of.event);
        let sizes = view.sizes(&sizing, Some(self.kernel));
        let mut estimates = self.kernel.linear_skce(&view);
        estimates.extend(P::estimates(&view, self.seed));
        let answer = Answer::new(omnibus, sizes).with_estimates(estimates);
        let answer = answer.at_rows(self.rows);
        Ok(Assessed::new(
            answer,
            predictions.summary(self.targets),
            page,
        ))
    }
}
