use rand::Rng;

use super::{
    classes::{ClassAspect, ClassData},
    combine::Family,
    quantiles::CoverageAspect,
    real::RealAspect,
};
use crate::{
    distribution::{Predictive, RedrawnBy},
    error::{Result, check_samples},
    hypothesis::engine::{Evaluator, Place},
    kernel::Kernel,
    numbers,
};

/// Kinds of predictions that have an [`OmnibusTest`](super::OmnibusTest).
#[diagnostic::on_unimplemented(
    message = "the omnibus test does not take predictions `{Self}`",
    label = "predictions without the distances and expectations that the test needs",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`",
    note = "for a quantile recalibration use `predictions.samples(n, &mut rng)`",
    note = "for other real predictions use `Samples::drawn_from(&predictions, n, &mut rng)`"
)]
pub trait Omnibus: Predictive {
    /// The aspects that are tested.
    ///
    /// - weight: that of a target among the draws of its prediction, where these are [`pooled`](crate::distribution::Redraws::pooled);
    ///   else 0
    /// - exact: the number of samples of classes up to which the SKCE is over all pairs
    ///
    /// # Errors
    ///
    /// An invalid kernel.
    fn aspects<'a>(
        &'a self,
        weight: f64,
        kernel: Kernel,
        exact: usize,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, RedrawnBy<Self>>>;

    /// The kernel on predictions of the SKCE.
    fn default_kernel() -> Kernel {
        Kernel::wasserstein()
    }
}

/// The computations of an omnibus test.
pub struct OmnibusPlan<'a, S>(Vec<PlanPart<'a, S>>);

/// An evaluator, and the aspects of its numbers.
type PlanPart<'a, S> = (Box<dyn Evaluator<S> + 'a>, Vec<TestedAspect>);

impl<'a, S> OmnibusPlan<'a, S> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds an evaluator, and the aspects of its numbers.
    pub(super) fn push(
        &mut self,
        evaluator: impl Evaluator<S> + 'a,
        aspects: impl IntoIterator<Item = TestedAspect>,
    ) {
        self.0
            .push((Box::new(evaluator), aspects.into_iter().collect()));
    }

    /// The aspects of the kernel alone, which are those of the last evaluator, given a variable.
    ///
    /// # Errors
    ///
    /// Fewer than two samples, which have no pairs.
    pub(in crate::hypothesis) fn kernel_aspects_alone(mut self, samples: usize) -> Result<Self> {
        check_samples("a test given a variable", 2, samples)?;
        Ok(Self(vec![
            self.0.pop().expect("the evaluator of the kernel"),
        ]))
    }

    /// The evaluators, and the aspects of all, each at its place among the numbers of all.
    pub(super) fn into_parts(self) -> (Vec<Box<dyn Evaluator<S> + 'a>>, Vec<TestedAspect>) {
        let (mut evaluators, mut aspects, mut width) = (Vec::new(), Vec::new(), 0);
        for (evaluator, own) in self.0 {
            aspects.extend(own.into_iter().map(|aspect| TestedAspect {
                at: width + aspect.at,
                ..aspect
            }));
            width += evaluator.width();
            evaluators.push(evaluator);
        }
        (evaluators, aspects)
    }
}

/// A number that is 0, or small, for a calibrated model.
pub(super) struct TestedAspect {
    pub aspect: Aspect,
    /// The place of the estimate among the numbers of its evaluator, then among those of all.
    pub at: usize,
    pub deviation: Deviation,
    pub family: Option<Family>,
}

impl TestedAspect {
    /// A number at its place among those of its evaluator that is large where the model is not calibrated.
    pub fn new(aspect: Aspect, at: usize) -> Self {
        Self {
            aspect,
            at,
            deviation: Deviation::None,
            family: None,
        }
    }
}

/// A property of calibrated predictions, with what its finding needs beside the numbers of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Aspect {
    Classes {
        aspect: ClassAspect,
        data: ClassData,
    },
    Real {
        aspect: RealAspect,
        dimensions: usize,
        /// Whether the predictions are draws: correlations with what they predict are not 0 on average then. For example,
        /// targets seem less far outside where the draws happen to be far from each other.
        are_draws: bool,
    },
    Quantiles(CoverageAspect),
    /// The SKCE at a bandwidth.
    Kernel {
        bandwidth: f64,
        estimator: &'static str,
        /// The quantities that the kernel compares.
        compared: &'static str,
    },
}

impl Aspect {
    /// The name in JSON and tables.
    pub fn name(&self) -> String {
        match self {
            Self::Classes { aspect, data } => aspect.name(data),
            Self::Real {
                aspect, dimensions, ..
            } => aspect.name(*dimensions),
            Self::Quantiles(aspect) => aspect.name(),
            Self::Kernel { bandwidth, .. } => format!("skce_bandwidth_{}", short(*bandwidth)),
        }
    }

    /// The class that it is of, if it is of one.
    pub fn class(&self) -> Option<usize> {
        match self {
            Self::Classes {
                aspect: ClassAspect::Frequency(class),
                ..
            } => Some(*class),
            _ => None,
        }
    }

    /// The mean of the estimate for a calibrated model, by that of redraws; none where it is 0, or has no words.
    pub fn if_calibrated(&self, drawn: &[f64]) -> Option<f64> {
        let is_of_draws =
            matches!(self, Self::Real { aspect, are_draws: true, .. } if aspect.is_trend());
        is_of_draws.then(|| drawn.iter().sum::<f64>() / drawn.len() as f64)
    }

    /// The finding of data.
    pub fn finding(&self, data: &Observed) -> String {
        match self {
            Self::Classes { aspect, data: of } => aspect.finding(of, data),
            Self::Real {
                aspect, dimensions, ..
            } => aspect.finding(*dimensions, data),
            Self::Quantiles(aspect) => aspect.finding(data),
            Self::Kernel {
                bandwidth,
                estimator,
                compared,
            } => {
                let (estimate, bandwidth) = (data.estimate, short(*bandwidth));
                format!(
                    "something is off {compared}: {estimator} {estimate:.2e}, bandwidth {bandwidth}"
                )
            }
        }
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

/// The observed numbers of an aspect, from which its finding is written.
pub(super) struct Observed<'a> {
    pub estimate: f64,
    /// The mean of the estimate for a calibrated model, unless it is 0.
    pub if_calibrated: Option<f64>,
    /// The row of the sample that they are of, if they are of one.
    pub row: Option<usize>,
    /// The part of the data that the finding names, if it names one.
    pub place: Option<Place>,
    pub class_name: &'a dyn Fn(usize) -> String,
}

impl Observed<'_> {
    /// One of two words: for an estimate above that of a calibrated model, and for others.
    pub fn either(&self, above: &'static str, below: &'static str) -> &'static str {
        if self.estimate > self.if_calibrated.unwrap_or(0.0) {
            above
        } else {
            below
        }
    }

    /// The estimate for a calibrated model, in words.
    pub fn expected(&self) -> String {
        match self.if_calibrated {
            Some(mean) => format!("{:.2} if calibrated", hundredths(mean)),
            None => "0 if calibrated".into(),
        }
    }
}

/// The bandwidths of the SKCE, in units of that of its kernel.
pub(super) const BANDWIDTHS: [f64; 3] = [0.25, 1.0, 4.0];
/// Landmarks of a kernel of low rank.
pub(super) const LANDMARKS: usize = 16;

/// The unbiased SKCE of all pairs, in words.
pub(super) const ALL_PAIRS: &str = "SKCE";
/// The SKCE by [`LANDMARKS`], in words.
pub(super) const BY_LANDMARKS: &str = "SKCE by 16 landmarks";

/// The aspects of an SKCE at all bandwidths.
pub(super) fn kernel_aspects(
    kernel: Kernel,
    estimator: &'static str,
    compared: &'static str,
) -> impl Iterator<Item = TestedAspect> {
    let aspect = move |(number, factor)| {
        let aspect = Aspect::Kernel {
            bandwidth: factor * kernel.fixed_bandwidth(),
            estimator,
            compared,
        };
        TestedAspect::new(aspect, number)
    };
    BANDWIDTHS.into_iter().enumerate().map(aspect)
}

/// A number rounded to two decimals, without a minus before 0.00.
pub(super) fn hundredths(value: f64) -> f64 {
    (100.0 * value).round() / 100.0 + 0.0
}

/// Three digits.
pub(super) fn short(value: f64) -> String {
    numbers::significant(value, 3)
}
