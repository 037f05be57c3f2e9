//! How large errors are, with their intervals.

use std::{fmt, ops::Not};

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Marginals, Predictive, Subject, Weighted as _},
    error,
    estimator::{Aspect, Event, Tce},
    hypothesis::Probability,
    names::{self, Name},
    numbers::{self, decimals, percent, points, significant},
    recalibration::LpCalibrationError,
    score::{
        ErrorSize, Interval, IntervalOverconfidence, MeanEstimate, ObservedExpected,
        Overconfidence, Quantify,
    },
};
use serde::Serialize;

use super::{
    number::without_rounding,
    value::{Computed, Named},
};

/// The size of an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Size {
    /// The unit in which it is printed.
    #[serde(skip)]
    pub unit: Unit,
    /// The meaning of the number and its limits, in words.
    #[serde(skip)]
    pub meaning: &'static str,
    /// The estimate with its interval.
    #[serde(flatten)]
    pub interval: Computed<Interval>,
    /// The test of a tolerated error, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Computed<Tolerance>>,
}

/// The expected and the observed number, and the error. The numbers count events; of classes they are the shares of right
/// labels, of real numbers the shares within central intervals of 90 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InTheLarge {
    /// The expected number or share.
    pub expected: f64,
    /// The observed number or share.
    pub observed: f64,
    /// The error by its name.
    #[serde(flatten)]
    pub error: Named<Size>,
}

impl InTheLarge {
    /// The numbers in words, as cells of a table: expected, observed, and the error with its interval.
    pub fn cells(&self) -> [String; 4] {
        let (_, size) = &self.error.0[0];
        let [expected, observed] = match size.unit {
            Unit::Ratio => [
                numbers::expected(self.expected),
                self.observed.round().to_string(),
            ],
            _ => [self.expected, self.observed].map(|share| percent(share, 1)),
        };
        let [error, interval] = size.cells();
        [expected, observed, error, interval]
    }
}

/// The unit in which a number is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// In points, hundredths of a probability.
    Points,
    /// As a ratio.
    Ratio,
    /// With an exponent.
    Number,
    /// With decimals.
    Decimals,
    /// As a percentage.
    Share,
    /// With four digits, in units of the targets.
    Quantity,
}

/// The hypothesis that an error is at most so large.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tolerance {
    /// The tolerated error.
    pub error: f64,
    /// The p-value of the hypothesis.
    pub p_value: f64,
    /// Whether the p-value is a bound, the least that a test reports.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_bound: bool,
    /// Whether the error has a sign, so that the hypothesis is about its absolute value.
    #[serde(skip)]
    pub is_signed: bool,
}

/// The options of sizes, and the words for their subject.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sizing<'a> {
    /// The level of the intervals.
    pub level: f64,
    /// The tolerated error that is tested, a probability.
    pub tolerance: Option<f64>,
    /// The order of the Lp errors that are bounded from below.
    pub lp_order: Option<f64>,
    /// The event, as "of the top label".
    pub of_event: &'a str,
}

impl<'a> Sizing<'a> {
    /// Sizes with intervals of a level.
    pub fn new(level: f64, of_event: &'a str) -> Self {
        Self {
            level,
            tolerance: None,
            lp_order: None,
            of_event,
        }
    }

    /// The size of an error in points, compared with the tolerance.
    fn in_points<P: Predictive>(
        &self,
        (predictions, targets): (&P, &P::Targets),
        error: &impl Quantify<P>,
        meaning: &'static str,
    ) -> Size {
        let size = error.size(predictions, targets);
        self.size(Unit::Points, meaning, size)
    }

    /// A size that is known, or why it is not.
    pub fn size(&self, unit: Unit, meaning: &'static str, size: error::Result<ErrorSize>) -> Size {
        let interval = size.clone().and_then(|size| size.interval(self.level));
        let tolerance = |error: f64| {
            let tolerance = |size: ErrorSize| {
                let p_value = size.p_value_above(error)?;
                let is_bound = size.is_bound(p_value);
                Ok(Tolerance {
                    error,
                    p_value,
                    is_bound,
                    is_signed: size.is_signed(),
                })
            };
            Computed::of(size.clone().and_then(tolerance))
        };
        Size {
            unit,
            meaning,
            interval: Computed::of(interval),
            tolerance: (self.tolerance.filter(|_| unit == Unit::Points)).map(tolerance),
        }
    }

    /// The unbiased SKCE, or that of blocks.
    pub fn skce(&self, size: error::Result<ErrorSize>) -> Size {
        const MEANING: &str = "Squared kernel calibration error of the whole prediction. The error of the model is at \
            least 0, and 0 only if the model is calibrated; the estimate can be below 0 by chance. Its size depends on \
            the kernel, so compare models only with the same kernel.";
        self.size(Unit::Number, MEANING, size)
    }

    /// The overconfidence of central intervals of 90 %.
    pub(super) fn of_intervals<P: Marginals>(&self, predictions: &P, targets: &Tensor<2>) -> Size {
        const MEANING: &str = "90 % minus the coverage of central 90 % intervals, in percentage points. Above 0 \
            predictions are too narrow, below 0 too wide.";
        let error = IntervalOverconfidence::default();
        self.in_points((predictions, targets), &error, MEANING)
    }

    /// The shares of targets within central intervals of 90 %.
    pub(super) fn intervals_in_the_large<P: Marginals>(
        &self,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Option<InTheLarge> {
        const LEVEL: f64 = 0.9;
        let size = self.of_intervals(predictions, targets);
        let excess = size.interval.0.as_ref().ok()?.estimate;
        Some(InTheLarge {
            expected: LEVEL,
            observed: LEVEL - excess,
            error: Named(vec![(names::OVERCONFIDENCE, size)]),
        })
    }

    /// Returns the expected and the observed number of an event.
    pub(super) fn event_in_the_large(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Option<InTheLarge> {
        let (plain, weights) = predictions.parted();
        let outcomes = Event::of(predictions).outcomes(&plain, labels).ok()?;
        let occurred: Vec<f64> = outcomes.occurred.iter().map(|&c| c as f64).collect();
        let (name, size) = self.of_event_in_the_large(predictions, labels);
        let count = match size.unit {
            Unit::Ratio => occurred.len() as f64,
            _ => 1.0,
        };
        let mean = |values: &[f64]| count * MeanEstimate::weighted(values, &weights).estimate;
        Some(InTheLarge {
            expected: mean(&outcomes.probability),
            observed: mean(&occurred),
            error: Named(vec![(name, size)]),
        })
    }

    /// The error of an event in the large: the ratio of observed to expected events, or the overconfidence.
    pub(super) fn of_event_in_the_large(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> (Name, Size) {
        const RATIO: &str = "Observed number of events divided by the expected number: 1 for a calibrated model, below \
            1 if probabilities are too high. Errors in opposite directions cancel.";
        const MEANING: &str = "Mean confidence minus accuracy, in percentage points, below 0 if the model is \
            underconfident. Over- and underconfidence of different samples cancel.";
        let event = Event::of(predictions);
        if predictions.subject() != Subject::Event {
            let excess = Overconfidence { event };
            let size = self.in_points((predictions, labels), &excess, MEANING);
            return (names::OVERCONFIDENCE, size);
        }
        let ratio = ObservedExpected::interval(event, predictions, labels, self.level);
        let size = Size {
            unit: Unit::Ratio,
            meaning: RATIO,
            interval: Computed::of(ratio),
            tolerance: None,
        };
        (names::OBSERVED_EXPECTED, size)
    }

    /// The errors of an event: in the large, in bins, and lower bounds where an order is asked for.
    pub(super) fn of_event(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Vec<(Name, Size)> {
        const EXCESS: &str = "The same as a difference, in percentage points.";
        const DEBIASED: &str = "Root mean squared distance between probability and frequency in 15 bins of equal mass, \
            minus the part due to chance. It uses only one probability of each prediction.";
        let (event, of) = (Event::of(predictions), self.of_event);
        let data = (predictions, labels);
        let (name, first) = self.of_event_in_the_large(predictions, labels);
        let mut name = name.of(of);
        let excess = (first.unit == Unit::Ratio).then(|| {
            if let Ok(counts) = ObservedExpected::of(event, predictions, labels) {
                let (observed, expected) = (counts.observed, numbers::expected(counts.expected));
                name = name.clone().with(format_args!("{observed} of {expected}"));
            }
            let size = self.in_points(data, &Overconfidence { event }, EXCESS);
            (names::OVERPREDICTION.of(of).with("points"), size)
        });
        if first.unit == Unit::Points {
            name = name.with("points");
        }
        let debiased = self.in_points(data, &Tce::default().with_event(event), DEBIASED);
        let mut sizes = vec![(name, first)];
        sizes.extend(excess);
        sizes.push((names::ECE_DEBIASED.of(of).with("points"), debiased));
        if let Some(order) = self.lp_order {
            sizes.extend(self.lp_errors(data, event, order));
        }
        sizes
    }

    /// The bounds of the error of an event, of its parts, and of the whole vector where that is another.
    fn lp_errors(
        &self,
        (predictions, labels): (&Categorical, &Tensor<1, Int>),
        event: Event,
        order: f64,
    ) -> Vec<(Name, Size)> {
        const MEANING: &str = "Lower bound of the error, by maps that are fitted to other samples.";
        let error = LpCalibrationError::new(order);
        let bound = |aspect| error.clone().with_aspect(aspect).bound(predictions, labels);
        let entry = |(name, size): (Name, error::Result<ErrorSize>)| {
            let name = name.with(format!("order {order}, at least, points"));
            (name, self.size(Unit::Points, MEANING, size))
        };
        let of_event = bound(Aspect::Event(event));
        let part = |part: usize| {
            of_event
                .clone()
                .map(|bound| bound.parts().expect("of an event")[part].clone())
        };
        let mut sizes = vec![
            (names::LP_ERROR, of_event.clone().map(|bound| bound.size())),
            (names::LP_OVER, part(0)),
            (names::LP_UNDER, part(1)),
        ];
        if event == Event::TopLabel {
            let of_vector = bound(Aspect::Vector).map(|bound| bound.size());
            sizes.push((names::LP_VECTOR, of_vector));
        }
        sizes.into_iter().map(entry).collect()
    }
}

impl Size {
    /// A number as people write it.
    fn number(&self, value: f64) -> String {
        match self.unit {
            Unit::Points => points(without_rounding(value), 2),
            Unit::Ratio => significant(value, 3),
            Unit::Share => percent(value, 2),
            Unit::Number | Unit::Decimals | Unit::Quantity => significant(value, 4),
        }
    }

    /// The estimate and its interval in words, as cells of a table.
    pub fn cells(&self) -> [String; 2] {
        match &self.interval.0 {
            Ok(interval) => {
                let [lower, upper] = [interval.lower, interval.upper].map(|end| self.number(end));
                [
                    self.number(interval.estimate),
                    format!("[{lower}, {upper}]"),
                ]
            }
            Err(_) => ["-", ""].map(str::to_owned),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match &self.interval.0 {
            Ok(interval) => interval,
            Err(reason) => return write!(f, "-  {reason}"),
        };
        let [estimate, interval] = self.cells();
        write!(
            f,
            "{estimate} {interval}, {} % interval",
            100.0 * known.level
        )?;
        // the interval is of an error that is at least 0
        if known.estimate < known.lower {
            f.write_str("; an unbiased estimate is below 0 by chance")?;
        }
        let Some(Computed(Ok(tolerance))) = &self.tolerance else {
            return Ok(());
        };
        let error = points(tolerance.error, 2);
        let p = probability(tolerance.p_value, tolerance.is_bound);
        let sign = if tolerance.is_bound { "" } else { "= " };
        let what = if tolerance.is_signed {
            "absolute value above"
        } else {
            "above"
        };
        write!(f, "; {what} {error}: p {sign}{p}")
    }
}

/// A p-value in words, or that it is at most so much: `0.0160`, `≤ 0.0010`.
pub fn probability(p: f64, is_bound: bool) -> String {
    let p = decimals(p, 4, 1);
    if is_bound { format!("≤ {p}") } else { p }
}

/// The same, as a test gives it.
pub fn shown(p: Probability) -> String {
    match p {
        Probability::Equal(p) => probability(p, false),
        Probability::AtMost(p) => probability(p, true),
    }
}
