use statrs::distribution::{Beta, ContinuousCDF};

use super::{BoundedMean, Interval, MeanEstimate};
use crate::{
    distribution::Weights,
    error::{Error, Result, check_parameter},
    estimator::{ASYMPTOTIC_FLOOR, check_level, student},
};

/// An estimate of a calibration error and its sampling error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ErrorSize {
    /// The estimate: of an error that is never negative, an unbiased estimate, which can be (its root is
    /// 0 then).
    pub estimate: f64,
    pub(super) law: SizeLaw,
    /// The number of wrong labels, and that from which on the law holds.
    pub(super) errors: Option<[usize; 2]>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SizeLaw {
    /// An unbiased estimate, by Student's distribution.
    Mean(MeanEstimate),
    Quadratic(QuadraticSize),
    /// A lower bound of the power of this order of the error: there is no upper end.
    AtLeast {
        power: BoundedMean,
        order: f64,
    },
    Count(Count),
    /// A mean of differences between what is promised and what occurred, which can be off to both sides.
    Difference(BoundedMean),
}

/// An unbiased estimate of the power of this order of an error that is at most `most`: quadratic in the residuals.
/// Its variance is `variance` if the model is calibrated. At an error of power `θ` it is larger by `slope·θ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QuadraticSize {
    pub power: MeanEstimate,
    pub order: f64,
    pub variance: f64,
    pub slope: f64,
    pub most: f64,
}

impl QuadraticSize {
    /// The hull of Student's interval and of all `θ` with `(estimate − θ)² ≤ t² (variance + slope θ)`.
    fn interval(&self, level: f64) -> Result<[f64; 2]> {
        let of_student = self.power.interval(level)?;
        if self.power.effective < 2.0 {
            return Ok([0.0, rooted(self.most, self.order)]);
        }
        let freedom = self.power.effective - 1.0;
        let t = student::upper_quantile(0.5 * (1.0 - level), freedom);
        let estimate = self.power.estimate;
        let middle = estimate + 0.5 * t * t * self.slope;
        let half = (middle * middle - estimate * estimate + t * t * self.variance).sqrt();
        let ends = [
            of_student.lower.min(middle - half),
            of_student.upper.max(middle + half),
        ];
        Ok(ends.map(|end| rooted(end.clamp(0.0, self.most), self.order)))
    }

    /// The standard error at an error.
    fn standard_error(&self, power: f64) -> f64 {
        let there = self.variance + self.slope * power;
        self.power.standard_error.max(there.sqrt())
    }
}

/// A promised frequency, and the number of `trials` in which it came true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub promised: f64,
    pub successes: f64,
    pub trials: f64,
    /// Whether each trial came true or not: none in part.
    pub of_events: bool,
}

impl SizeLaw {
    /// The size of a promised frequency, the same for all, minus the frequency of occurrences. Each occurrence counts in
    /// whole if `of_events`.
    pub fn frequency(
        promised: f64,
        occurred: Vec<f64>,
        weights: &Weights,
        of_events: bool,
    ) -> Self {
        if !weights.are_given() {
            return Self::Count(Count {
                promised,
                successes: occurred.iter().sum(),
                trials: occurred.len() as f64,
                of_events,
            });
        }
        let terms = occurred.iter().map(|c| promised - c).collect();
        let mean = BoundedMean::new(terms, promised - 1.0, promised);
        Self::Difference(mean.with_weights(weights.clone()))
    }
}

impl ErrorSize {
    pub(super) fn of(law: SizeLaw) -> Self {
        let estimate = match &law {
            SizeLaw::Mean(mean) => mean.estimate,
            SizeLaw::Quadratic(form) => rooted(form.power.estimate, form.order),
            SizeLaw::AtLeast { power, order } => rooted(power.estimate(), *order),
            SizeLaw::Count(count) => count.promised - count.successes / count.trials,
            SizeLaw::Difference(mean) => mean.estimate(),
        };
        Self {
            estimate,
            law,
            errors: None,
        }
    }

    fn check_errors(&self) -> Result<()> {
        match self.errors {
            Some([got, needed]) => check_errors("the size of the SKCE", got, needed),
            None => Ok(()),
        }
    }

    /// The confidence interval of the error. Its ends are at least 0 where the error is never negative, and
    /// at most its largest possible value. The upper end of a lower bound, [`LpBound`](super::LpBound), is
    /// infinite.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1; too few wrong labels, of the SKCE of classes.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        self.check_errors()?;
        let [lower, upper] = match &self.law {
            SizeLaw::Mean(mean) => {
                let Interval { lower, upper, .. } = mean.interval(level)?;
                [lower.max(0.0), upper.max(upper - mean.estimate)]
            }
            SizeLaw::Quadratic(form) => form.interval(level)?,
            SizeLaw::AtLeast { power, order } => {
                let lower = power.interval(level)?.lower.max(0.0);
                [rooted(lower, *order), f64::INFINITY]
            }
            SizeLaw::Count(count) => {
                check_level(level)?;
                let frequency = clopper_pearson(count.successes, count.trials, level);
                [frequency.upper, frequency.lower].map(|end| count.promised - end)
            }
            SizeLaw::Difference(mean) => {
                let Interval { lower, upper, .. } = mean.interval(level)?;
                [lower, upper]
            }
        };
        Ok(Interval {
            estimate: self.estimate,
            lower,
            upper,
            level,
        })
    }

    /// Returns whether the interval is proved to be at least of its level at every sample size.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.law, SizeLaw::Count(count) if count.of_events)
    }

    /// Returns whether a p-value of [`p_value_above`](Self::p_value_above) is the least that an approximation gives: then
    /// it is a bound.
    pub fn is_bound(&self, p_value: f64) -> bool {
        match &self.law {
            SizeLaw::Count(_) => false,
            SizeLaw::Difference(_) => p_value <= 2.0 * ASYMPTOTIC_FLOOR,
            _ => p_value <= ASYMPTOTIC_FLOOR,
        }
    }

    /// Returns whether the error has a sign, as overconfidence has: then
    /// [`p_value_above`](Self::p_value_above) is of its absolute value.
    pub fn is_signed(&self) -> bool {
        matches!(self.law, SizeLaw::Count(_) | SizeLaw::Difference(_))
    }

    /// The p-value of the hypothesis that the error is at most `tolerance` in size: small if it is
    /// larger. Of over- and underconfidence both are asked for, by twice the smaller p-value.
    ///
    /// # Errors
    ///
    /// A tolerance that is negative or not finite; too few wrong labels, of the SKCE of classes.
    pub fn p_value_above(&self, tolerance: f64) -> Result<f64> {
        let (name, expected) = ("the tolerance", "a finite number of at least 0");
        let is_valid = tolerance.is_finite() && tolerance >= 0.0;
        check_parameter(is_valid, name, tolerance, expected)?;
        self.check_errors()?;
        let of_mean = |mean: &MeanEstimate, tolerance: f64, error: f64| {
            let p = match (mean.effective, error) {
                (..2.0, _) => 1.0,
                (_, 0.0) => f64::from(mean.estimate <= tolerance),
                (effective, _) => {
                    student::upper_tail((mean.estimate - tolerance) / error, effective - 1.0)
                }
            };
            p.max(ASYMPTOTIC_FLOOR)
        };
        Ok(match &self.law {
            SizeLaw::Mean(mean) => of_mean(mean, tolerance, mean.standard_error),
            SizeLaw::Quadratic(form) => {
                let tolerance = tolerance.powf(form.order);
                of_mean(&form.power, tolerance, form.standard_error(tolerance))
            }
            SizeLaw::AtLeast { power, order } => power.p_value_above(tolerance.powf(*order)),
            SizeLaw::Count(count) => {
                let below = |frequency, times| lower_tail(frequency, times, count.trials);
                let over = below(count.promised - tolerance, count.successes);
                let failures = count.trials - count.successes;
                let under = below(1.0 - count.promised - tolerance, failures);
                (2.0 * over.min(under)).min(1.0)
            }
            SizeLaw::Difference(mean) => {
                let (over, under) = (
                    mean.p_value_above(tolerance),
                    mean.p_value_below(-tolerance),
                );
                (2.0 * over.min(under)).min(1.0)
            }
        })
    }
}

/// The wrong labels from which on the residuals tell the variance of a quadratic form of them.
pub(super) const FEWEST_ERRORS: usize = 20;

/// Checks that enough labels are wrong for the variance of the quantity.
pub(super) fn check_errors(what: &'static str, got: usize, needed: usize) -> Result<()> {
    if got < needed {
        return Err(Error::TooFewErrors { what, needed, got });
    }
    Ok(())
}

/// The root of an order; 0 of what is negative, except for order 1.
fn rooted(value: f64, order: f64) -> f64 {
    match order {
        1.0 => value,
        2.0 => value.max(0.0).sqrt(),
        order => value.max(0.0).powf(order.recip()),
    }
}

/// The confidence interval of a frequency with so many successes (Clopper and Pearson 1934).
pub(crate) fn clopper_pearson(successes: f64, trials: f64, level: f64) -> Interval {
    // the least frequency of which so many successes or more have at least the probability outside
    let least = |successes: f64| match successes {
        0.0 => 0.0,
        successes => Beta::new(successes, trials - successes + 1.0)
            .expect("positive shapes")
            .inverse_cdf(0.5 * (1.0 - level)),
    };
    Interval {
        estimate: successes / trials,
        lower: least(successes),
        upper: 1.0 - least(trials - successes),
        level,
    }
}

/// `P(at most so many successes)` at a frequency; 1 at a negative one, which has none. Counts need not be whole.
pub(crate) fn lower_tail(frequency: f64, successes: f64, trials: f64) -> f64 {
    match frequency {
        frequency if frequency <= 0.0 || successes >= trials => 1.0,
        frequency => Beta::new(successes + 1.0, trials - successes)
            .expect("positive shapes")
            .sf(frequency),
    }
}
