use rand::Rng;

use super::aspect::{
    ALL_PAIRS, Aspect, BANDWIDTHS, BY_LANDMARKS, Deviation, LANDMARKS, Observed, Omnibus,
    OmnibusPlan, TestedAspect, kernel_aspects, short,
};
use super::combine::Family;
use crate::{
    distribution::{Categorical, Geometry, Given, LabelSets, Predictive, Subject, Weighted as _},
    error::Result,
    estimator::{Event, SkceForm},
    hypothesis::engine::{
        BRIER, BinnedCounts, CHI_SQUARE, CLASSES, CONFIDENCE, ClassPoints, ClassSkce,
        CumulativeGap, LARGEST, LOG, LeastLikelyLabel, OtherLabels, Place, SampleSums,
        low_rank_of_labels, with_bandwidth_of_some,
    },
    kernel::Kernel,
    numbers::{self, counted},
    score::ObservedExpected,
};

/// Bins of the event of two classes, or of the most likely class.
const BINS: usize = 10;
/// Smallest `χ²` whose finding names counts in place of it: an outcome occurred that was all but excluded.
const HUGE: f64 = 1e6;
/// Confidences at which the cumulative gap is taken, about.
const GAPS: usize = 4096;

impl Omnibus for Categorical {
    fn default_kernel() -> Kernel {
        Kernel::exponential()
    }

    fn aspects<'a>(
        &'a self,
        _weight: f64,
        kernel: Kernel,
        exact: usize,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, LabelSets>> {
        class_aspects(self, kernel, exact, rng)
    }
}

/// The variable takes the place of the probabilities in the SKCE.
impl Omnibus for Given<Categorical> {
    fn aspects<'a>(
        &'a self,
        _weight: f64,
        kernel: Kernel,
        exact: usize,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, LabelSets>> {
        class_aspects(self, kernel, exact, rng)
    }
}

/// The aspects of classes, or of the event that the predictions are about: the number of events that are expected
/// in the place of both classes, and the gap summed up along its probability in the place of that along the
/// confidence. The SKCE compares the given points.
fn class_aspects<'a, P: Geometry<Unconditional = Categorical>>(
    compared: &'a P,
    kernel: Kernel,
    exact: usize,
    rng: &mut dyn Rng,
) -> Result<OmnibusPlan<'a, LabelSets>> {
    let predictions = compared.unconditional();
    let (n, m, subject) = (
        predictions.len(),
        predictions.classes(),
        predictions.subject(),
    );
    let (rows, (_, weights)) = (predictions.rows(), predictions.parted());
    let last: Vec<f64> = (0..n).map(|i| rows.row(i)[m - 1]).collect();
    let sums = SampleSums::new(predictions);
    let gap = match subject {
        Subject::Classes => CumulativeGap::new(predictions, Event::TopLabel, GAPS)?,
        _ => CumulativeGap::new(predictions, Event::Class(1), usize::MAX)?,
    };
    let counts = BinnedCounts::new(predictions, BINS)?;
    let others = OtherLabels::new(predictions).filter(|_| m > 2);
    let data = ClassData {
        subject,
        samples: n,
        classes: m,
        mean_of_last: weights.mean(&last),
        is_weighted: weights.are_given(),
        bins: counts.count(),
        pairs: others.as_ref().map_or(0, OtherLabels::pairs),
    };
    let tested = |aspect, at| TestedAspect::new(Aspect::Classes { aspect, data }, at);
    let mean = |aspect, at: usize| TestedAspect {
        deviation: Deviation::Known(sums.deviations[at]),
        ..tested(aspect, at)
    };
    // what is asked comes first
    let mut means = vec![
        match subject {
            Subject::Classes => mean(ClassAspect::Confidence, CONFIDENCE),
            Subject::Correctness => mean(ClassAspect::Confidence, CLASSES + 1),
            Subject::Event => mean(ClassAspect::InTheLarge, CLASSES + 1),
        },
        mean(ClassAspect::BrierScore, BRIER),
        mean(ClassAspect::LogScore, LOG),
    ];
    if subject == Subject::Classes {
        means.extend((0..m).map(|class| mean(ClassAspect::Frequency(class), CLASSES + class)));
    }
    let mut plan = OmnibusPlan::new();
    plan.push(sums, means);
    plan.push(gap, [tested(ClassAspect::CumulativeGap, 0)]);
    plan.push(counts, [tested(ClassAspect::BinnedFrequencies, 0)]);
    let least = LeastLikelyLabel::new(predictions);
    plan.push(least, [tested(ClassAspect::LeastLikelyLabel, 0)]);
    if let Some(others) = others {
        let of_others = |aspect, at| TestedAspect {
            family: Some(Family::OtherLabels),
            ..tested(aspect, at)
        };
        let all = of_others(ClassAspect::OtherLabels, CHI_SQUARE);
        let pair = of_others(ClassAspect::LabelPair, LARGEST);
        plan.push(others, [all, pair]);
    }
    match predictions.len() {
        ..2 => kernel.validate()?, // there are no pairs
        n if n <= exact => {
            let kernel = kernel.with_bandwidth_of_predictions(&compared.parted().0)?;
            let points = ClassPoints::of(compared);
            let skce = ClassSkce::new(kernel, &BANDWIDTHS, SkceForm::Unbiased, points);
            plan.push(skce, kernel_aspects(kernel, ALL_PAIRS, compared.compared()));
        }
        _ => {
            let kernel = with_bandwidth_of_some(kernel, &compared.parted().0, rng)?;
            let points = ClassPoints::of(compared);
            let skce = low_rank_of_labels(kernel, &BANDWIDTHS, points, LANDMARKS, rng);
            plan.push(
                skce,
                kernel_aspects(kernel, BY_LANDMARKS, compared.compared()),
            );
        }
    }
    Ok(plan)
}

/// An aspect of classes, or of the event that the predictions are about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ClassAspect {
    Confidence,
    /// The number of events.
    InTheLarge,
    BrierScore,
    LogScore,
    /// The frequency of a class.
    Frequency(usize),
    CumulativeGap,
    BinnedFrequencies,
    LeastLikelyLabel,
    /// The labels that are not the most likely class, against their probabilities among the others.
    OtherLabels,
    /// A label among those of a most likely class that are wrong.
    LabelPair,
}

/// The data that the findings of all aspects of classes share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClassData {
    subject: Subject,
    samples: usize,
    classes: usize,
    /// The mean probability of the last class, which is the event if there is one.
    mean_of_last: f64,
    is_weighted: bool,
    /// The number of bins of the frequencies.
    bins: usize,
    /// The number of pairs of a most likely class and another label.
    pairs: usize,
}

impl ClassAspect {
    pub fn name(self, data: &ClassData) -> String {
        let name = match self {
            Self::Frequency(class) => return format!("class_{class}"),
            Self::Confidence => "confidence",
            Self::InTheLarge => "in_the_large",
            Self::BrierScore => "brier_score",
            Self::LogScore => "log_score",
            Self::CumulativeGap if data.subject == Subject::Event => "cumulative_risk",
            Self::CumulativeGap => "cumulative_confidence",
            Self::BinnedFrequencies => "binned_frequencies",
            Self::LeastLikelyLabel => "least_likely_label",
            Self::OtherLabels => "other_labels",
            Self::LabelPair => "label_pair",
        };
        name.into()
    }

    pub fn finding(self, data: &ClassData, of: &Observed) -> String {
        let size = points(of.estimate);
        match self {
            Self::Confidence => {
                format!("{} by {size}", of.either("overconfident", "underconfident"))
            }
            Self::InTheLarge => data.in_the_large(of),
            Self::BrierScore if data.classes == 2 => {
                against("Brier score, summed over both outcomes,", of)
            }
            Self::BrierScore => against("Brier score", of),
            Self::LogScore => against("log score", of),
            Self::Frequency(class) => {
                let (name, often) = ((of.class_name)(class), of.either("often", "rarely"));
                format!("class {name} is predicted too {often}, by {size}")
            }
            Self::CumulativeGap if data.subject == Subject::Event => format!(
                "over the lower risks the expected and the observed frequency of the event differ by {size} of \
                 all samples"
            ),
            Self::CumulativeGap => {
                format!("confidence and accuracy differ by {size} over the less confident samples")
            }
            Self::BinnedFrequencies => data.binned(of),
            Self::LeastLikelyLabel => {
                let row = (of.row).map_or(String::new(), |row| format!(" (row {row})"));
                format!("a label of probability {} occurred{row}", rare(of.estimate))
            }
            Self::OtherLabels => format!(
                "where the most likely class is wrong, the labels do not follow the probabilities of the other \
                 classes: χ² = {} of {} pairs of classes",
                short(of.estimate),
                data.pairs
            ),
            Self::LabelPair => label_pair(of, data.is_weighted),
        }
    }
}

impl ClassData {
    fn in_the_large(&self, of: &Observed) -> String {
        let [expected, observed] = [self.mean_of_last, self.mean_of_last - of.estimate];
        let what = match [0, 1].map(of.class_name) {
            [no, yes] if [no.as_str(), &yes] == ["0", "1"] => {
                format!("risks are too {}", of.either("high", "low"))
            }
            [_, class] => {
                let often = of.either("often", "rarely");
                format!("class {class} is predicted too {often}")
            }
        };
        if self.is_weighted {
            let [expected, observed] = [expected, observed].map(|share| numbers::percent(share, 1));
            return format!("{what}: {expected} expected, {observed} observed, by weight");
        }
        let counts = ObservedExpected {
            observed: (observed * self.samples as f64).round().max(0.0) as usize,
            expected: expected * self.samples as f64,
            samples: self.samples,
        };
        format!("{what}: {counts}")
    }

    fn binned(&self, of: &Observed) -> String {
        let follows = match self.subject {
            Subject::Event => "the frequency of the event does not follow its risk".into(),
            Subject::Classes if self.classes == 2 => {
                let class = (of.class_name)(1);
                format!("the frequency of class {class} does not follow its probability")
            }
            _ => "the accuracy does not follow the confidence".into(),
        };
        let bins = counted(self.bins, "bin");
        match of.place {
            Some(Place::Bin {
                probability,
                observed,
                expected,
            }) if of.estimate >= HUGE => {
                // a count, up to the rounding of sums; of weights any number
                let observed = (1e6 * observed).round() / 1e6;
                let [probability, expected] = [probability, expected].map(short);
                format!(
                    "{follows}: {observed} observed and {expected} expected outcomes of mean probability \
                     {probability} in one of {bins}"
                )
            }
            _ => format!("{follows}: χ² = {} in {bins}", short(of.estimate)),
        }
    }
}

fn label_pair(data: &Observed, is_weighted: bool) -> String {
    let Some(Place::Pair {
        predicted,
        label,
        observed,
        expected,
        wrong,
    }) = data.place
    else {
        return String::new();
    };
    let [predicted, label] = [predicted, label].map(data.class_name);
    let often = if observed > expected { "more" } else { "less" };
    let counts = if is_weighted {
        let [observed, expected] = [observed, expected].map(|sum| numbers::percent(sum / wrong, 1));
        format!("{observed} of the wrong labels by weight, {expected} expected")
    } else {
        let expected = numbers::expected(expected);
        format!("{observed} of {wrong} wrong labels, {expected} expected")
    };
    format!(
        "where class {predicted} is the most likely and wrong, the label is class {label} {often} often than \
         predicted: {counts}"
    )
}

/// A mean score against its expectation.
fn against(score: &str, data: &Observed) -> String {
    let estimate = data.estimate;
    if estimate.is_infinite() {
        return format!("the {score} is infinite: a label of probability 0 occurred");
    }
    let (size, side) = (short(estimate.abs()), data.either("worse", "better"));
    format!("the {score} is {size} {side} than the probabilities promise")
}

fn points(value: f64) -> String {
    format!("{} points", numbers::points(value.abs(), 1))
}

/// `e^{−x}` in words.
fn rare(x: f64) -> String {
    match (-x).exp() {
        0.0 if x.is_finite() => format!("1e{:.0}", -x / std::f64::consts::LN_10),
        0.0 => "0".into(),
        p => format!("{p:.1e}"),
    }
}
