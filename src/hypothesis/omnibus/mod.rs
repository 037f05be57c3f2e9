//! The omnibus test: one p-value for several aspects together, and findings about the aspects that fail.

mod aspect;
mod classes;
mod combine;
mod outcome;
mod predicted;
mod quantiles;
mod real;
mod statement;
mod step;
mod studentised;
mod transforms;
mod unshifted;

pub use aspect::{Omnibus, OmnibusPlan};
pub use outcome::{AspectOutcome, OmnibusOutcome};

use rand::Rng;
use statrs::distribution::{Binomial, Discrete};

use aspect::{Deviation, TestedAspect};
use combine::{AspectStatistics, Combined, Family, combine};

use super::{CalibrationTest, TestOutcome, engine::Engine, p_value::standardised};
use crate::{
    distribution::{Batch as _, RedrawnBy},
    error::{Result, check_count},
    kernel::Kernel,
    score::clopper_pearson,
};

/// The omnibus test: is the model calibrated, and if not, where does it fail?
///
/// It looks at several aspects, and combines them over the same redraws of the targets from the
/// predictions. For classes these are
///
/// | aspect | estimate | which failures |
/// | --- | --- | --- |
/// | `confidence` | mean confidence minus accuracy | over- and underconfidence |
/// | `brier_score` | mean Brier score minus its expectation (Spiegelhalter 1986) | too certain or not certain enough |
/// | `log_score` | mean log score minus its expectation | the same, and outcomes that were all but excluded |
/// | `class_c`, each | mean probability of the class minus its frequency | classes predicted too often or too rarely |
/// | `cumulative_confidence` | [`KolmogorovSmirnov`](crate::estimator::KolmogorovSmirnov) | confidences that are too high here and too low there |
/// | `binned_frequencies` | `Σ_b (O_b − E_b)²/V_b` over ten bins of equal mass: of class 1 of two classes, of right labels of more | the same, in waves and at the ends |
/// | `least_likely_label` | `−ln min_i p_{i, y_i}` | one label that was all but excluded |
/// | `other_labels`, of more than two classes | `χ²` of the wrong labels by most likely class, against the probabilities of the other classes | which class it is when it is not the most likely one |
/// | `label_pair`, of more than two classes | the largest deviation of one class among the wrong labels of one most likely class | classes that are taken for each other |
/// | `skce_bandwidth_ν`, three | unbiased SKCE at ¼, 1 and 4 times the bandwidth of the kernel | anything else |
///
/// `other_labels` and `label_pair` count as one, by the smaller of their p-values.
///
/// For predictions that are about one event ([`Subject`](crate::distribution::Subject)) the number of
/// events (`in_the_large`) takes the place of the classes, and the gap is summed up along its probability
/// (`cumulative_risk`); of the event that the model is right, `confidence` is that of the event.
///
/// For predictions over `ℝ^d` there are, by the probability integral transforms `u` and the normal scores
/// `z = Φ⁻¹(u)` of their targets,
///
/// | aspect | estimate | which failures |
/// | --- | --- | --- |
/// | `location`, of each coordinate | mean `u` minus ½ | targets that are too high or too low |
/// | `spread`, of each | `½ ln` of the variance of `(y − mean)/deviation` about its mean | too narrow or too wide, whatever the location |
/// | `coverage`, of each | the share of `u` between ¼ and ¾, less ½ | too narrow, too wide, heavy tails, and a wrong location |
/// | `location_by_mean`, `location_by_deviation`, of each | correlation of `u` with the ranks of the predicted means, and deviations | a location that is wrong here and there to different sides |
/// | `spread_by_mean`, `spread_by_deviation`, of each | correlation of `z²` with the same | errors that grow otherwise than predicted |
/// | `correlation` | the correlation of `z` of two coordinates less its mean over 200 redraws, of the pair that is furthest out | coordinates that are dependent otherwise than predicted |
/// | `tails` | mean `z²` minus 1, above | outliers, heavy tails |
/// | `furthest_target` | `−ln(N q)` of the least `q = 2 min(u, 1 − u)` of `N` | a single target that is all but excluded |
/// | `transforms` | the shares of `u` in twenty equal parts: `√(χ²/N)` | any other distribution of `u` |
///
/// and the SKCE as above. Where a predicted distribution function has a step at a target, as for counts and
/// draws, `u` is uniform on the step, and functions of it count by their means over the step: nothing is
/// drawn to decide ties. `furthest_target` takes the probability of targets as far out or further. For
/// [`QuantileForecasts`](crate::distribution::QuantileForecasts) there are the coverage of each level
/// (`level_τ`) and of each central interval (`interval_γ`), and, of the samples with the higher, lower,
/// wider and narrower forecasts, that of the level next to ½ and of the widest interval; a target that
/// equals a quantile counts in favour of the model.
///
/// For real vectors, location, spread, trends and correlations are divided by a standard deviation that is found in
/// the same set of targets, data or redrawn: an aspect that is right is rarely accused because of another that is
/// wrong; how often [`AspectOutcome::adjusted_p_value`] says. The same aspects of all coordinates count as the largest
/// of them, and so do the two trends of the location, those of the spread, and the bandwidths of the SKCE.
/// The least p-value is of p-values over weights, none below `1/(R + 1)` (Genovese, Roeder, Wasserman 2006). The location
/// of real targets has weight 4; spread, trends and correlation have 2; the others have 1. Up to 25 coordinates the
/// correlation is over all pairs, above over about 300 of near coordinates. Moments of draws are those without the target: in
/// `spread`, `½ ln` of `Σ(e² − b²s²)/((1 + 1/S) Σ s²)` for errors `e` from the mean of `S` draws, their deviations
/// `s`, and a common shift `b` (the ratio of spread and skill, Fortin et al. 2014).
///
/// A shift may be common in predicted deviations or in the unit of the targets. So the adjusted p-values of `spread`, but
/// for draws, and of `correlation` are also at least those of Student's test with the residuals of `z` from a regression
/// on a constant and `1/deviation`, and the finding has their spread.
///
/// Under the hypothesis the targets are draws from the predictions. So the data and `R` sets of redrawn
/// targets are exchangeable, and the p-value, the rank of the data's least p-value among theirs, is exact
/// at every sample size, for confident models too, and never below `1/(R + 1)`.
/// [`AspectOutcome::adjusted_p_value`] says what the adjusted p-value of an aspect guarantees. Where the
/// p-value is near the level the test goes on, up to [`most`](Self::with_most) redraws. For a number of
/// redraws that is fixed the p-value is exact; this number depends on the p-value, whose aspects are ranked
/// anew among all redraws, and no bound of what that does to the level is proved. `docs/levels.md` has the
/// levels that were measured with it.
///
/// Weights of samples stay as they are when targets are redrawn. They may depend on the predictions and on what is known
/// before the outcome, but not on the outcome: with those of a case-control sample half of calibrated models are
/// rejected.
///
/// Up to 10,000 samples the SKCE is over all pairs, above by 16 landmarks, at linear cost, drawn by the
/// generator. For real targets it is always by landmarks, of predictions and of targets. Mixtures of many components
/// are compared faster [by their quantiles](crate::distribution::Mixture::compared_by_quantiles).
/// [`Samples`](crate::distribution::Samples) count as draws from distributions that are not known
/// otherwise: the target is put among the draws of its prediction, and redrawn from all of them, as by
/// [`ExactTest`](super::ExactTest).
///
/// Cost of a redraw: of the order of the labels `f` that are not the most likely class, and `f²·m/2`
/// for each SKCE over all pairs, or `n²/2` where that is less; see [`ExactTest`](super::ExactTest).
///
/// Kernels are aggregated over bandwidths as by Schrab et al. 2023.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, hypothesis::OmnibusTest};
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // says 90 % each time, and is right half of the time
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 40], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2);
/// let outcome = OmnibusTest::new().outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0))?;
/// assert_eq!(outcome.p_value, 0.001);
/// assert_eq!(outcome.failing(0.05)[0].finding, "overconfident by 40.0 points");
/// println!("{outcome}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct OmnibusTest {
    /// The kernel on predictions of the SKCE; by default the exponential one over total variation for
    /// classes, over the 2-Wasserstein distance for others, with the median bandwidth.
    kernel: Option<Kernel>,
    redraws: usize,
    most: usize,
    /// The level near which the test goes on.
    level: f64,
    /// The probability that it stops on the wrong side.
    risk: f64,
    /// The number of samples of classes up to which the SKCE is over all pairs.
    exact: usize,
}

/// The number of samples up to which the SKCE of one test is over all pairs.
const QUADRATIC: usize = 10_000;

impl Default for OmnibusTest {
    fn default() -> Self {
        Self::new()
    }
}

impl OmnibusTest {
    /// Creates the test with 999 redraws, and up to 9,999 near the level of 5 %.
    pub fn new() -> Self {
        Self {
            kernel: None,
            redraws: 999,
            most: 9999,
            level: 0.05,
            risk: 1e-3,
            exact: QUADRATIC,
        }
    }

    /// Returns the same as one of several tests whose p-values are adjusted for their number, at most
    /// 5 % over that number where the model is not calibrated: it goes on near that level, up to a hundred
    /// times as many redraws as there are tests, so that an adjusted p-value can be as small as 0.01. Together
    /// they have no more pairs of samples than one test may have.
    pub fn as_one_of(self, tests: usize) -> Self {
        let count = tests as f64;
        Self {
            level: self.level / count,
            risk: self.risk / count,
            most: self.most.max((100 * tests).saturating_sub(1)),
            exact: (self.exact as f64 / count.sqrt()) as usize,
            ..self
        }
    }

    /// Returns a copy with another kernel on predictions.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self {
            kernel: Some(kernel),
            ..self
        }
    }

    /// Returns the same test with exactly this number of redraws.
    pub fn with_redraws(self, redraws: usize) -> Self {
        Self {
            redraws,
            most: redraws,
            ..self
        }
    }

    /// Returns the same test with at most this number of redraws where the p-value is near the level.
    pub fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Runs the test. The generator draws the targets, and landmarks.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, an invalid kernel, or no redraws.
    pub fn outcome<P: Omnibus>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusOutcome> {
        self.run(predictions, targets, rng, |plan| Ok(plan))
    }

    /// The same for a part of the aspects.
    pub(super) fn run<P: Omnibus>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
        part: impl for<'a> Fn(OmnibusPlan<'a, RedrawnBy<P>>) -> Result<OmnibusPlan<'a, RedrawnBy<P>>>,
    ) -> Result<OmnibusOutcome> {
        check_count("the number of redraws", self.redraws)?;
        let (plain, _) = predictions.parted();
        plain.check()?;
        let observed = plain.checked_targets(targets)?;
        let kernel = self.kernel.unwrap_or_else(P::default_kernel);
        let pooled = predictions.pooled(targets);
        let (predictions, weight) = pooled.as_ref().map_or((predictions, 0.0), |(p, w)| (p, *w));
        let plan = part(predictions.aspects(weight, kernel, self.exact, rng)?)?;
        let (evaluators, aspects) = plan.into_parts();
        let data = predictions.as_redrawn(&observed);
        drop(observed);
        let engine = Engine::new(predictions.redrawer(), data, &evaluators)?;
        self.decide(engine, &aspects, predictions.len(), rng)
    }

    /// Redraws until the number of redraws is that which is asked for, or the p-value is not near the level.
    fn decide<S>(
        &self,
        mut engine: Engine<S>,
        aspects: &[TestedAspect],
        samples: usize,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusOutcome> {
        engine.extend(self.redraws, rng)?;
        loop {
            let redraws = engine.len();
            let columns: Vec<AspectStatistics> = (aspects.iter())
                .map(|aspect| aspect.column(&engine.data, &engine.drawn))
                .collect();
            let combined = combine(&columns);
            if redraws >= self.most
                || is_decided(combined.exceedances, redraws, self.level, self.risk)
            {
                return Ok(OmnibusOutcome {
                    p_value: combined.p_value,
                    adjusted_p_value: None,
                    tests: 1,
                    redraws,
                    most: self.most.max(redraws),
                    resampling_interval: clopper_pearson(
                        combined.exceedances as f64,
                        redraws as f64,
                        0.99,
                    ),
                    samples,
                    aspects: outcomes(aspects, &engine, &combined),
                    errors: Vec::new(),
                    level: OmnibusOutcome::LEVEL,
                });
            }
            engine.extend(redraws.min(self.most - redraws), rng)?;
        }
    }
}

/// Returns whether the p-value of endless redraws is on one side of a level, except for a risk over all
/// numbers of redraws: once `(R + 1) b(R, level, g) ≤ risk`, for `g` redraws of `R` that reach the
/// statistic and the binomial probability `b` (Robbins 1970; Ding, Gandy, Hahn 2020; Gandy 2009 for the
/// idea).
fn is_decided(exceedances: usize, redraws: usize, level: f64, risk: f64) -> bool {
    let binomial = Binomial::new(level, redraws as u64).expect("a level between 0 and 1");
    (redraws + 1) as f64 * binomial.pmf(exceedances as u64) <= risk
}

impl TestedAspect {
    /// The statistic that is large where the model is not calibrated, of the numbers of all evaluators.
    fn column(&self, data: &[f64], drawn: &[Vec<f64>]) -> AspectStatistics {
        let at = self.at;
        let of_set = |number: &dyn Fn(usize) -> f64| match (self.deviation, number(at)) {
            (Deviation::None, value) => value,
            (_, 0.0) => 0.0,
            (Deviation::Known(deviation), value) => (value / deviation).abs(),
            (Deviation::OfSet, value) => (value / number(at + 1)).abs(),
        };
        let redraw = |set: usize| of_set(&|at| drawn[at][set]);
        let statistics = AspectStatistics {
            data: of_set(&|at| data[at]),
            drawn: (0..drawn[at].len()).map(redraw).collect(),
            family: self.aspect.class().map(|_| Family::Classes).or(self.family),
        };
        match self.family {
            Some(Family::OtherLabels | Family::Kernel) => statistics.ranked(), // on several scales
            _ => statistics,
        }
    }
}

fn outcomes<S>(
    aspects: &[TestedAspect],
    engine: &Engine<S>,
    combined: &Combined,
) -> Vec<AspectOutcome> {
    // gaps of all classes add up to 0: of two classes there is one
    let classes = aspects
        .iter()
        .filter(|tested| tested.aspect.class().is_some());
    let gaps = classes.count().saturating_sub(1).max(1);
    let outcome = |(k, tested): (usize, &TestedAspect)| {
        let (estimate, detail) = (engine.data[tested.at], engine.details[tested.at]);
        let alike = tested.aspect.class().map_or(1, |_| gaps);
        let least = detail.least_p_value * alike as f64;
        let outcome = AspectOutcome {
            name: tested.aspect.name(),
            finding: String::new(),
            aspect: tested.aspect,
            if_calibrated: tested.aspect.if_calibrated(&engine.drawn[tested.at]),
            row: detail.row,
            place: detail.place,
            estimate,
            standardised: Some(standardised(estimate, &engine.drawn[tested.at]))
                .filter(|z| !z.is_nan())
                .unwrap_or(0.0),
            p_value: combined.p_values[k],
            adjusted_p_value: combined.adjusted[k].max(least).min(1.0),
        };
        outcome.in_words(&|class| class.to_string())
    };
    // of the whole prediction, then of each class: of these there may be many
    let (classes, whole): (Vec<_>, Vec<_>) =
        (aspects.iter().enumerate()).partition(|(_, tested)| tested.aspect.class().is_some());
    whole.into_iter().chain(classes).map(outcome).collect()
}

/// An omnibus test as a [`CalibrationTest`], for functions that run tests of any kind: the outcome in short, whose estimate
/// and statistic are the largest standardised aspect. It has no aspects.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, hypothesis::{CalibrationTest, OmnibusTest, Summarised},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 40], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2);
/// let mut rng = StdRng::seed_from_u64(0);
/// let test: &dyn CalibrationTest = &Summarised(OmnibusTest::new());
/// assert_eq!(test.outcome(&predictions, &labels, &mut rng)?.p_value, 0.001);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[must_use]
pub struct Summarised<T = OmnibusTest>(
    /// The test: an [`OmnibusTest`], or a [`GivenTest`](super::GivenTest).
    pub T,
);

impl<P: Omnibus> CalibrationTest<P> for Summarised<OmnibusTest> {
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let outcome = self.0.outcome(predictions, targets, rng)?;
        let outcome = outcome.in_short("omnibus test");
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}
