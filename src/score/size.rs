use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::{MeanEstimate, skce_improvement::pseudo_values};
use crate::{
    distribution::{Categorical, Marginals, Predictive},
    error::{Result, check_parameter, check_samples, serialize_or_infinite},
    estimator::{
        Event, JointKernel, PairMatrix, Skce, SkceForm, Tce, TceForm, check_level,
        regression::IntervalCoverage, student,
    },
};

/// A calibration error whose size is known up to its sampling error: [`Skce`], [`Tce`] (unbiased),
/// [`Overconfidence`].
///
/// With enough samples every model is found not to be calibrated, at errors that matter little. So ask
/// how large the error is, [`ErrorSize::interval`], and whether it is above what can be tolerated,
/// [`ToleranceTest`](crate::hypothesis::ToleranceTest).
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, score::{Overconfidence, Quantify}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 400], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..400, &device).remainder_scalar(5).equal_elem(0).int();
/// // 90 % sure, right in 80 %
/// let interval = Overconfidence::default().size(&predictions, &labels)?.interval(0.95)?;
/// assert!((interval.estimate - 0.1).abs() < 1e-6);
/// assert!(interval.lower > 0.05 && interval.upper < 0.15);
/// # Ok(())
/// # }
/// ```
pub trait Quantify<P: Predictive = Categorical> {
    /// Estimates the error and its sampling error.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, or too few samples.
    fn size(&self, predictions: &P, targets: &P::Targets) -> Result<ErrorSize>;
}

/// An estimate of a calibration error and its sampling error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorSize {
    law: Law,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Law {
    /// An unbiased estimate of an error that is never negative, by Student's distribution; the error is
    /// the root of it of this order.
    Mean {
        mean: MeanEstimate,
        order: f64,
    },
    Count(Count),
}

/// A promised frequency, and the number of `trials` in which it came true.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Count {
    promised: f64,
    successes: f64,
    trials: f64,
    /// Whether each trial came true or not: none in part.
    of_events: bool,
}

/// A two-sided confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// The estimate.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub estimate: f64,
    /// The lower end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub lower: f64,
    /// The upper end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub upper: f64,
    /// The probability that the interval covers the error, at least or about.
    pub level: f64,
}

impl ErrorSize {
    /// The error of whose power of this order there is an unbiased estimate.
    pub(crate) fn of_power(mean: MeanEstimate, order: f64) -> Self {
        Self {
            law: Law::Mean { mean, order },
        }
    }

    /// The estimate: of an error that is never negative, an unbiased estimate, which can be (its root is
    /// 0 then).
    pub fn estimate(&self) -> f64 {
        match self.law {
            Law::Mean { mean, order } => rooted(mean.estimate, order),
            Law::Count(count) => count.promised - count.successes / count.trials,
        }
    }

    /// The confidence interval of the error. Its ends are at least 0 where the error is never negative.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        let (lower, upper) = match self.law {
            Law::Mean { mean, order } => {
                let (lower, upper) = mean.confidence_interval(level)?;
                (rooted(lower.max(0.0), order), rooted(upper.max(0.0), order))
            }
            Law::Count(count) => {
                check_level(level)?;
                let outside = 0.5 * (1.0 - level);
                let least = least_frequency(count.successes, count.trials, outside);
                let failures = count.trials - count.successes;
                let most = 1.0 - least_frequency(failures, count.trials, outside);
                (count.promised - most, count.promised - least)
            }
        };
        Ok(Interval {
            estimate: self.estimate(),
            lower,
            upper,
            level,
        })
    }

    /// Tells whether the interval is proved to be at least of its level at every sample size.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.law, Law::Count(count) if count.of_events)
    }

    /// The p-value of the hypothesis that the error is at most `tolerance` in size: small if it is
    /// larger. Of over- and underconfidence both are asked for, by twice the smaller p-value.
    ///
    /// # Errors
    ///
    /// A tolerance that is negative or not finite.
    pub fn p_value_above(&self, tolerance: f64) -> Result<f64> {
        let (name, expected) = ("the tolerance", "a finite number of at least 0");
        let is_valid = tolerance.is_finite() && tolerance >= 0.0;
        check_parameter(is_valid, name, tolerance, expected)?;
        Ok(match self.law {
            Law::Mean { mean, .. } if mean.samples < 2 => 1.0,
            Law::Mean { mean, order } => {
                let tolerance = tolerance.powf(order);
                match mean.standard_error {
                    0.0 => f64::from(mean.estimate <= tolerance),
                    error => {
                        let t = (mean.estimate - tolerance) / error;
                        student::tail(t, mean.samples as f64 - 1.0)
                    }
                }
            }
            Law::Count(count) => {
                let below = |frequency, times| lower_tail(frequency, times, count.trials);
                let over = below(count.promised - tolerance, count.successes);
                let failures = count.trials - count.successes;
                let under = below(1.0 - count.promised - tolerance, failures);
                (2.0 * over.min(under)).min(1.0)
            }
        })
    }
}

/// The root of an order; 0 of what is negative, but for order 1.
fn rooted(value: f64, order: f64) -> f64 {
    match order {
        1.0 => value,
        2.0 => value.max(0.0).sqrt(),
        order => value.max(0.0).powf(order.recip()),
    }
}

/// The least frequency of which so many successes or more have at least the probability `outside`:
/// Clopper and Pearson 1934.
pub(super) fn least_frequency(successes: f64, trials: f64, outside: f64) -> f64 {
    match successes {
        0.0 => 0.0,
        successes => Beta::new(successes, trials - successes + 1.0)
            .expect("positive shapes")
            .inverse_cdf(outside),
    }
}

/// `P(at most so many successes)` at a frequency; 1 at a negative one, which has none.
fn lower_tail(frequency: f64, successes: f64, trials: f64) -> f64 {
    match frequency {
        frequency if frequency <= 0.0 || successes >= trials => 1.0,
        frequency => Beta::new(successes + 1.0, trials - successes)
            .expect("positive shapes")
            .sf(frequency),
    }
}

/// Unbiased: the jackknife of the U-statistic as [`Skce::improvement`], or the blocks of
/// [`SkceForm::Block`]. In expectation the squared standard error is never below the variance; of a
/// calibrated model it is up to twice as large, so the interval is wide there. Where few wrong labels are
/// expected, and most data sets hardly have any, the jackknife sees no variance: there the standard
/// error is at least the standard deviation of a calibrated model, which is known given the predictions.
/// That of blocks is not.
///
/// The draws of [`Samples`](crate::distribution::Samples) of one dimension are taken for draws of a
/// distribution that is not known, as by tests ([`JointKernel::with_fair_pairs`]): of a calibrated model the
/// estimate has mean 0, and is not that of [`Skce`] as an [`Estimator`](crate::estimator::Estimator), which
/// takes the draws for the whole distribution.
///
/// Cost: `n²·m` operations in tiles, `n·B·m` for blocks.
impl<P: Predictive, K: JointKernel<P>> Quantify<P> for Skce<K> {
    fn size(&self, predictions: &P, targets: &P::Targets) -> Result<ErrorSize> {
        self.form.check_size(predictions.len())?;
        if !matches!(self.form, SkceForm::Block(_)) {
            let what = "a jackknife standard error of the SKCE";
            check_samples(what, 3, predictions.len())?;
        }
        let values = |pairs: &dyn PairMatrix| match self.form {
            SkceForm::Block(size) => pairs.block_estimates(size),
            _ => pseudo_values(&pairs.row_sums()),
        };
        let values = (self.kernel).with_fair_pairs(predictions, targets, values)?;
        let mut mean = MeanEstimate::of(&values);
        if !matches!(self.form, SkceForm::Block(_)) {
            let least = least_error(&self.kernel, predictions)?;
            mean.standard_error = mean.standard_error.max(least);
        }
        Ok(ErrorSize::of_power(mean, 1.0))
    }
}

/// The standard deviation of the unbiased SKCE if the model is calibrated, where few errors are expected;
/// 0 elsewhere.
fn least_error<P: Predictive, K: JointKernel<P>>(kernel: &K, predictions: &P) -> Result<f64> {
    match predictions.expected_errors() {
        Some(errors) if errors <= FEW_ERRORS => {
            let kernel = kernel.fixed(predictions)?;
            let mut rng = StdRng::seed_from_u64(0); // for kernels without a closed form
            let variance = kernel.null_variance(predictions, &mut rng)?;
            Ok(variance.sqrt() / predictions.len() as f64)
        }
        _ => Ok(0.0),
    }
}

/// The number of expected wrong labels up to which a variance taken from the labels can miss those that
/// have not happened yet.
const FEW_ERRORS: f64 = 100.0;

/// The unbiased error of order 2, `Σ_b (n_b/n) [(r̄_b − c̄_b)² − s_b²/n_b]`, or the debiased one of
/// [`TceForm::Debiased`], and its root.
///
/// Given the bins, the variance is `Σ_b (n_b/n)² [4 (r̄_b − c̄_b)² v_b/n_b + 2 v_b²/n_b²]`, with the
/// variance `v_b` of `r − c` in the bin, by the delta method and exactly for normal means; of a bin of one
/// sample nothing is known, and it adds nothing. `v_b` is at least `c̃(1 − c̃)` with the frequency
/// `c̃ = (s + 1)/(n_b + 2)` of `s` events and one more of each outcome: that no label is wrong is no proof
/// that none can be. The width of the bins is a bias, downward, which the
/// interval does not know of.
///
/// A plug-in form is an error: its bias is as large as its standard error.
impl Quantify for Tce {
    fn size(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ErrorSize> {
        check_parameter(
            !matches!(self.form, TceForm::PlugIn { .. }),
            "the order of the plug-in form",
            self.form.order(),
            "the unbiased form, whose size can be told",
        )?;
        let estimate = self.power(predictions, labels)?;
        let outcomes = self.event.outcomes(predictions, labels)?;
        let pairs: Vec<(f64, f64)> = outcomes.pairs().collect();
        let n = pairs.len() as f64;
        let variance_of = |bin: &Vec<usize>| {
            let size = bin.len() as f64;
            if size < 2.0 {
                return 0.0;
            }
            let gaps = || bin.iter().map(|&i| pairs[i].0 - pairs[i].1);
            let gap = gaps().sum::<f64>() / size;
            let square: f64 = gaps().map(|d| (d - gap) * (d - gap)).sum();
            let events: f64 = bin.iter().map(|&i| pairs[i].1).sum();
            let smooth = (events + 1.0) / (size + 2.0);
            let v = (square / (size - 1.0)).max(smooth * (1.0 - smooth)) / size;
            (size / n).powi(2) * (4.0 * (gap * gap - v).max(0.0) * v + 2.0 * v * v)
        };
        let partition = self.binning.partition_rows(&outcomes.probability, 1)?;
        let variance: f64 = partition.iter().map(variance_of).sum();
        let mean = MeanEstimate {
            estimate,
            standard_error: variance.sqrt(),
            samples: pairs.len(),
        };
        Ok(ErrorSize::of_power(mean, 2.0))
    }
}

/// The mean probability of an event less its frequency, by default of the top label: overconfidence, or
/// underconfidence where it is negative. For predictions over `ℝ^d` there is [`IntervalOverconfidence`].
///
/// The interval is that of Clopper and Pearson for the frequency given the predictions: at least of its
/// level whatever the sample size, wider than need be where the frequencies of samples differ (Hoeffding
/// 1956).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overconfidence {
    /// The event.
    pub event: Event,
}

impl Quantify for Overconfidence {
    fn size(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ErrorSize> {
        let outcomes = self.event.outcomes(predictions, labels)?;
        let trials = outcomes.samples() as f64;
        Ok(ErrorSize {
            law: Law::Count(Count {
                promised: outcomes.probability.iter().sum::<f64>() / trials,
                successes: outcomes.occurred.iter().sum::<i64>() as f64,
                trials,
                of_events: true,
            }),
        })
    }
}

/// The level of central prediction intervals less their [coverage](IntervalCoverage): positive where
/// predictions are too narrow.
///
/// The interval is that of [`Overconfidence`]. Where a sample counts in part, as one of several coordinates
/// of which some are covered, or of counts and few draws, it is that of a fractional count: wider than need
/// be, since such shares vary less than events of the same frequency. That it covers there is found by
/// simulation, not proved, and a [`ToleranceTest`](crate::hypothesis::ToleranceTest) says that its p-value is an
/// approximation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalOverconfidence {
    /// The level of the prediction intervals, 0.9 by default.
    pub coverage: f64,
}

impl Default for IntervalOverconfidence {
    fn default() -> Self {
        Self { coverage: 0.9 }
    }
}

impl<P: Marginals> Quantify<P> for IntervalOverconfidence {
    fn size(&self, predictions: &P, targets: &Tensor<2>) -> Result<ErrorSize> {
        let covered = IntervalCoverage::each(predictions, targets, self.coverage)?;
        let is_event = |&share: &f64| share == 0.0 || share == 1.0;
        Ok(ErrorSize {
            law: Law::Count(Count {
                promised: self.coverage,
                successes: covered.iter().sum(),
                trials: predictions.len() as f64,
                of_events: predictions.dimensions() == 1 && covered.iter().all(is_event),
            }),
        })
    }
}
