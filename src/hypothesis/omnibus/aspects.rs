use burn::tensor::Tensor;
use rand::Rng;

use super::{event::about, real_kind::RealKind};
use crate::{
    distribution::{Categorical, Geometry, Given, Predictive},
    error::{Result, check_samples},
    estimator::{Event, SkceForm},
    hypothesis::engine::{
        BRIER, BinnedCounts, CLASSES, CONFIDENCE, ClassPoints, ClassSkce, CumulativeGap, Evaluator,
        LOG, LeastLikelyLabel, LowRankClassSkce, OfGiven, SampleSums, with_bandwidth_of_some,
    },
    kernel::{Bandwidth, Kernel},
};

/// Kinds of predictions that have an [`OmnibusTest`](super::OmnibusTest).
pub trait Omnibus: Predictive {
    /// The aspects that are tested.
    ///
    /// - weight: that of a target among the draws of its prediction, where these are [`pooled`](Predictive::pooled);
    ///   else 0
    ///
    /// # Errors
    ///
    /// An invalid kernel.
    fn aspects<'a>(
        &'a self,
        weight: f64,
        kernel: Kernel,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Self>>;

    /// The kernel on predictions of the SKCE.
    fn default_kernel() -> Kernel;
}

/// The computations of an omnibus test.
pub struct OmnibusPlan<'a, P: Predictive> {
    pub(super) evaluators: Vec<Box<dyn Evaluator<P> + 'a>>,
    /// The aspects of the numbers of the evaluators in turn.
    pub(super) aspects: Vec<TestedAspect>,
}

impl<P: Predictive> OmnibusPlan<'_, P> {
    /// The aspects of the kernel alone, which are those of the last evaluator, given a variable.
    ///
    /// # Errors
    ///
    /// Fewer than two samples, which have no pairs.
    pub(in crate::hypothesis) fn of_kernel(self, samples: usize) -> Result<Self> {
        check_samples("a test given a variable", 2, samples)?;
        let is_of_kernel = |aspect: &TestedAspect| matches!(aspect.kind, AspectKind::Skce(..));
        Ok(Self {
            evaluators: self.evaluators.into_iter().last().into_iter().collect(),
            aspects: self.aspects.into_iter().filter(is_of_kernel).collect(),
        })
    }
}

/// A number that is 0, or small, for a calibrated model.
pub(super) struct TestedAspect {
    pub kind: AspectKind,
    /// The name in JSON and tables.
    pub name: String,
    pub deviation: Deviation,
    /// Further numbers of the evaluator that the finding names.
    pub details: usize,
}

impl TestedAspect {
    /// The number of numbers of its evaluator that belong to the aspect.
    pub fn width(&self) -> usize {
        1 + usize::from(self.deviation == Deviation::OfSet) + self.details
    }
}

/// The standard deviation by which a number is divided that may be off to both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Deviation {
    /// The number is large where the model is not calibrated.
    None,
    /// The standard deviation given the predictions.
    Known(f64),
    /// The next number of the evaluator, of the same set of targets.
    OfSet,
}

/// The kinds of aspects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AspectKind {
    Confidence,
    /// Summed over the classes, which may be two.
    Brier {
        two: bool,
    },
    Log,
    Class(usize),
    /// The number of events, of which so many are expected of so many samples.
    InTheLarge(f64, usize),
    Cumulative,
    /// Along the probability of an event.
    CumulativeRisk,
    /// Counts in so many bins: of class 1 of two classes by its probability, or of right labels by confidence.
    Binned {
        bins: usize,
        two: bool,
    },
    /// Counts of an event in so many bins of its probability.
    BinnedRisk {
        bins: usize,
    },
    LeastLikely,
    /// The SKCE at this bandwidth, and where it looks.
    Skce(f64, &'static str),
    Real(RealKind),
}

/// The bandwidths of the SKCE, in units of that of its kernel.
pub(super) const BANDWIDTHS: [f64; 3] = [0.25, 1.0, 4.0];
/// The number of samples up to which the SKCE is over all pairs.
const QUADRATIC: usize = 10_000;
/// Bins of the event of two classes, or of the most likely class.
const BINS: usize = 10;
/// Confidences at which the cumulative gap is taken, about.
const GAPS: usize = 4096;
/// Landmarks of a kernel for more samples.
const LANDMARKS: usize = 16;

/// The aspects of an SKCE at all bandwidths, and where it looks.
pub(super) fn of_kernel(kernel: Kernel, at: &'static str) -> impl Iterator<Item = TestedAspect> {
    let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
        panic!("a fixed bandwidth");
    };
    let aspect = move |factor| TestedAspect {
        kind: AspectKind::Skce(factor * bandwidth, at),
        name: format!(
            "skce_bandwidth_{}",
            super::outcome::short(factor * bandwidth)
        ),
        deviation: Deviation::None,
        details: 0,
    };
    BANDWIDTHS.into_iter().map(aspect)
}

impl Omnibus for Categorical {
    fn default_kernel() -> Kernel {
        Kernel::exponential()
    }

    fn aspects<'a>(
        &'a self,
        _weight: f64,
        kernel: Kernel,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Self>> {
        let points = || self.probabilities().detach();
        of_classes(self, (self, self.into(), &points), kernel, rng)
    }
}

/// The variable takes the place of the probabilities in the SKCE.
impl Omnibus for Given<Categorical> {
    fn default_kernel() -> Kernel {
        Kernel::wasserstein()
    }

    fn aspects<'a>(
        &'a self,
        _weight: f64,
        kernel: Kernel,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Self>> {
        let points = || self.conditioning().detach();
        let plan = of_classes(
            self.predictions(),
            (self, self.into(), &points),
            kernel,
            rng,
        )?;
        let given = |evaluator| -> Box<dyn Evaluator<Self> + 'a> { Box::new(OfGiven(evaluator)) };
        Ok(OmnibusPlan {
            evaluators: plan.evaluators.into_iter().map(given).collect(),
            aspects: plan.aspects,
        })
    }
}

/// The aspects of classes; the SKCE compares the given points.
fn of_classes<'a>(
    predictions: &'a Categorical,
    compared: (&impl Geometry, ClassPoints, &dyn Fn() -> Tensor<2>),
    kernel: Kernel,
    rng: &mut dyn Rng,
) -> Result<OmnibusPlan<'a, Categorical>> {
    about(
        of_each_class(predictions, compared, kernel, rng)?,
        predictions,
    )
}

fn of_each_class<'a>(
    predictions: &'a Categorical,
    (geometry, compared, points): (&impl Geometry, ClassPoints, &dyn Fn() -> Tensor<2>),
    kernel: Kernel,
    rng: &mut dyn Rng,
) -> Result<OmnibusPlan<'a, Categorical>> {
    let (n, m) = (predictions.len(), predictions.classes());
    let sums = SampleSums::new(predictions);
    let mean = |kind, name: &str, number: usize| TestedAspect {
        kind,
        name: name.into(),
        deviation: Deviation::Known(sums.deviations[number]),
        details: 0,
    };
    let mut aspects = vec![
        mean(AspectKind::Confidence, "confidence", CONFIDENCE),
        mean(AspectKind::Brier { two: m == 2 }, "brier_score", BRIER),
        mean(AspectKind::Log, "log_score", LOG),
    ];
    let class = |c| mean(AspectKind::Class(c), &format!("class_{c}"), CLASSES + c);
    aspects.extend((0..m).map(class));
    let counts = BinnedCounts::new(predictions, BINS)?;
    let (bins, two) = (counts.count(), m == 2);
    let others = [
        (AspectKind::Cumulative, "cumulative_confidence"),
        (AspectKind::Binned { bins, two }, "binned_frequencies"),
        (AspectKind::LeastLikely, "least_likely_label"),
    ];
    aspects.extend(others.map(|(kind, name)| TestedAspect {
        kind,
        name: name.into(),
        deviation: Deviation::None,
        details: 0,
    }));
    let mut evaluators: Vec<Box<dyn Evaluator<Categorical> + 'a>> = vec![
        Box::new(sums),
        Box::new(CumulativeGap::new(predictions, Event::TopLabel, GAPS)?),
        Box::new(counts),
        Box::new(LeastLikelyLabel::new(predictions)),
    ];
    if n < 2 {
        kernel.validate()?; // there are no pairs
        return Ok(OmnibusPlan {
            evaluators,
            aspects,
        });
    }
    let kernel = if n <= QUADRATIC {
        kernel.with_bandwidth_of(&points())?
    } else {
        with_bandwidth_of_some(kernel, &points(), rng)?
    };
    evaluators.push(if n <= QUADRATIC {
        Box::new(ClassSkce::new(
            kernel,
            &BANDWIDTHS,
            SkceForm::Unbiased,
            compared,
        ))
    } else {
        Box::new(LowRankClassSkce::new(
            kernel,
            &BANDWIDTHS,
            compared,
            LANDMARKS,
            rng,
        ))
    });
    aspects.extend(of_kernel(kernel, geometry.compared()));
    Ok(OmnibusPlan {
        evaluators,
        aspects,
    })
}
