//! The answer of an omnibus test in sentences, which are the same wherever it is shown.

use super::{AspectOutcome, OmnibusOutcome, aspect::Aspect, classes::ClassAspect};
use crate::{
    hypothesis::p_value::Probability,
    names::{self, Name},
    numbers::{counted, points},
    score::Interval,
};

/// Errors below this are called small.
const SMALL: f64 = 0.01;
/// So are ratios of observed and expected events that are no further from 1.
const SMALL_RATIO: f64 = 0.1;

impl OmnibusOutcome {
    /// Adds the sizes of errors with their names of [`names`], so that the [`sentences`](Self::sentences) say how these
    /// agree with the verdict.
    pub fn beside(mut self, errors: impl IntoIterator<Item = (Name, Interval)>) -> Self {
        self.errors = errors.into_iter().collect();
        self
    }

    /// The verdict: the [`sentences`](Self::sentences) in one.
    pub fn verdict(&self) -> String {
        self.sentences().join(" ")
    }

    /// The answer with its p-value. Then, of the errors [`beside`](Self::beside) it: that they are small, if the
    /// model is not calibrated; which intervals exclude the value of a calibrated model, if there is no evidence.
    pub fn sentences(&self) -> Vec<String> {
        let conclusion = format!("{}: {}", self.conclusion(), self.probability());
        let adjusted = match self.adjusted_p_value {
            Some(_) => format!(", adjusted for {}", counted(self.tests, "test")),
            None => String::new(),
        };
        let at_least = match self.least_p_value() {
            Some(least) => {
                let redraws = counted(self.most, "redraw");
                format!("; {redraws} cannot give less than {least:.2}")
            }
            None => String::new(),
        };
        let level = self.level_in_words();
        let mut sentences = vec![format!("{conclusion}{adjusted}{at_least}{level}.")];
        if self.is_rejected() {
            sentences.extend(self.small_error());
        } else if self.least_p_value().is_none() {
            sentences.extend(self.excluding_intervals());
        }
        sentences
    }

    /// The answer without its p-value.
    pub fn conclusion(&self) -> &'static str {
        if self.is_rejected() {
            "The model is not calibrated"
        } else if self.least_p_value().is_some() {
            "There are too few redraws for a verdict"
        } else {
            "There is no evidence against calibration"
        }
    }

    /// The level of the verdict, as `, at the level of 10 %`; nothing at 5 %.
    pub fn level_in_words(&self) -> String {
        if self.level == Self::LEVEL {
            return String::new();
        }
        let percent = (self.level * 1e12).round() / 1e10; // 7 of 0.07, without the rounding of a product
        format!(", at the level of {percent} %")
    }

    /// The p-value of the verdict as it is printed, adjusted where this is one of several tests.
    pub fn probability(&self) -> Probability {
        self.adjusted_by_tests(self.p_value, self.adjusted_p_value.unwrap_or(self.p_value))
    }

    /// The adjusted p-value of an aspect as it is printed.
    pub fn adjusted(&self, aspect: &AspectOutcome) -> Probability {
        let p = aspect.adjusted_p_value;
        self.adjusted_by_tests(p / self.tests as f64, p)
    }

    /// An adjusted p-value is a bound if the p-value by redraws is one.
    fn adjusted_by_tests(&self, p: f64, adjusted: f64) -> Probability {
        match Probability::resampled(p, self.redraws) {
            Probability::AtMost(_) => Probability::AtMost(adjusted),
            Probability::Equal(_) => Probability::Equal(adjusted),
        }
    }

    /// The errors in points, if all of them are small; nothing where a finding is of something else than the event
    /// whose error is known, or of a larger error.
    fn small_error(&self) -> Option<String> {
        // of an event the kernel compares nothing but its probability
        let is_of_event = self.aspects.iter().all(|aspect| aspect.class().is_none());
        let is_other = |failing: &&AspectOutcome| match failing.aspect {
            Aspect::Classes { aspect, .. } => match aspect {
                ClassAspect::Frequency(_) | ClassAspect::CumulativeGap => {
                    failing.estimate.abs() >= SMALL
                }
                ClassAspect::LogScore => failing.estimate.is_infinite(),
                ClassAspect::LeastLikelyLabel
                | ClassAspect::OtherLabels
                | ClassAspect::LabelPair => true,
                _ => false,
            },
            Aspect::Kernel { .. } => !is_of_event,
            _ => true,
        };
        if self.failing(self.level).iter().any(is_other) {
            return None;
        }
        let keys = [
            names::OVERCONFIDENCE.key,
            names::OVERPREDICTION.key,
            names::ECE_DEBIASED.key,
        ];
        let (mut known, mut are_small) = (Vec::new(), true);
        for (name, size) in &self.errors {
            if name.key == names::OBSERVED_EXPECTED.key {
                // a point is much of a rare event
                are_small &= size.lower > 1.0 - SMALL_RATIO && size.upper < 1.0 + SMALL_RATIO;
            } else if keys.contains(&name.key) {
                are_small &= size.lower > -SMALL && size.upper < SMALL;
                known.push((name, size));
            }
        }
        if known.len() < 2 || !are_small {
            return None;
        }
        let sizes = known.into_iter().map(|(name, size)| {
            let [estimate, lower, upper] =
                [size.estimate, size.lower, size.upper].map(|x| points(x, 2));
            format!(
                "{} {estimate} points [{lower}, {upper}]",
                without_details(name)
            )
        });
        let sizes: Vec<String> = sizes.collect();
        Some(format!("The error is small: {}.", sizes.join(", ")))
    }

    /// The intervals that exclude the value of a calibrated model.
    fn excluding_intervals(&self) -> Option<String> {
        let excluding = self.errors.iter().filter_map(|(name, interval)| {
            let calibrated = f64::from(u8::from(name.key == names::OBSERVED_EXPECTED.key));
            let is_inside = (interval.lower..=interval.upper).contains(&calibrated);
            (!is_inside).then(|| format!("{} ({calibrated})", without_details(name)))
        });
        let excluding: Vec<String> = excluding.collect();
        let which = match excluding.len() {
            0 => return None,
            1 => "One interval excludes",
            _ => "Some intervals exclude",
        };
        let tests = match self.adjusted_p_value {
            Some(_) => " of all tests",
            None => "",
        };
        Some(format!(
            "{which} the value of a calibrated model: {}. An interval is of one quantity by itself. The verdict is \
             adjusted for all {} aspects{tests}.",
            excluding.join(", "),
            self.aspects.len(),
        ))
    }
}

/// A title up to its first comma.
fn without_details(name: &Name) -> &str {
    name.title.split(", ").next().unwrap_or_default()
}
