use rand::Rng;

use super::aspect::{
    ALL_PAIRS, Aspect, BANDWIDTHS, BY_LANDMARKS, Deviation, LANDMARKS, Observed, Omnibus,
    OmnibusPlan, TestedAspect, of_kernel, short,
};
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
    numbers,
    score::ObservedExpected,
};

/// Bins of the event of two classes, or of the most likely class.
const BINS: usize = 10;
/// A `χ²` whose size says nothing: an outcome occurred that was all but excluded.
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
        of_classes(self, kernel, exact, rng)
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
        of_classes(self, kernel, exact, rng)
    }
}

/// The aspects of classes, or of the event that the predictions are about: the number of events that are expected
/// in the place of both classes, and the gap summed up along its probability in the place of that along the
/// confidence. The SKCE compares the given points.
fn of_classes<'a, P: Geometry<Unconditional = Categorical>>(
    compared: &'a P,
    kernel: Kernel,
    exact: usize,
    rng: &mut dyn Rng,
) -> Result<OmnibusPlan<'a, LabelSets>> {
    let predictions = compared.unconditional();
    let mut plan = OmnibusPlan::new();
    let sums = SampleSums::new(predictions);
    let aspects = of_sums(predictions, &sums);
    plan.push(sums, aspects);
    let (subject, m) = (predictions.subject(), predictions.classes());
    let (gap, aspect) = match subject {
        Subject::Classes => (
            CumulativeGap::new(predictions, Event::TopLabel, GAPS)?,
            ClassAspect::CumulativeConfidence,
        ),
        Subject::Correctness => (
            CumulativeGap::new(predictions, Event::Class(1), usize::MAX)?,
            ClassAspect::CumulativeConfidence,
        ),
        Subject::Event => (
            CumulativeGap::new(predictions, Event::Class(1), usize::MAX)?,
            ClassAspect::CumulativeRisk,
        ),
    };
    plan.push(gap, [aspect.tested(0)]);
    let counts = BinnedCounts::new(predictions, BINS)?;
    let aspect = ClassAspect::BinnedFrequencies {
        bins: counts.count(),
        of: match subject {
            Subject::Event => Binned::Event,
            Subject::Classes if m == 2 => Binned::SecondClass,
            _ => Binned::TopLabel,
        },
    };
    plan.push(counts, [aspect.tested(0)]);
    plan.push(
        LeastLikelyLabel::new(predictions),
        [ClassAspect::LeastLikelyLabel.tested(0)],
    );
    if let Some(others) = OtherLabels::new(predictions).filter(|_| m > 2) {
        let pairs = others.pairs();
        let is_weighted = predictions.sample_weights().is_some();
        let aspects = [
            ClassAspect::OtherLabels { pairs }.tested(CHI_SQUARE),
            ClassAspect::LabelPair { is_weighted }.tested(LARGEST),
        ];
        plan.push(others, aspects);
    }
    match predictions.len() {
        ..2 => kernel.validate()?, // there are no pairs
        n if n <= exact => {
            let kernel = kernel.with_bandwidth_of_predictions(&compared.parted().0)?;
            let points = ClassPoints::of(compared);
            let skce = ClassSkce::new(kernel, &BANDWIDTHS, SkceForm::Unbiased, points);
            plan.push(skce, of_kernel(kernel, ALL_PAIRS, compared.compared()));
        }
        _ => {
            let kernel = with_bandwidth_of_some(kernel, &compared.parted().0, rng)?;
            let points = ClassPoints::of(compared);
            let skce = low_rank_of_labels(kernel, &BANDWIDTHS, points, LANDMARKS, rng);
            plan.push(skce, of_kernel(kernel, BY_LANDMARKS, compared.compared()));
        }
    }
    Ok(plan)
}

/// The aspects of sums over the samples: what is asked comes first.
fn of_sums(predictions: &Categorical, sums: &SampleSums) -> Vec<TestedAspect> {
    let (n, m) = (predictions.len(), predictions.classes());
    let mean = |number, aspect: ClassAspect| TestedAspect {
        deviation: Deviation::Known(sums.deviations[number]),
        ..aspect.tested(number)
    };
    let first = match predictions.subject() {
        Subject::Classes => mean(CONFIDENCE, ClassAspect::Confidence),
        Subject::Correctness => mean(CLASSES + 1, ClassAspect::Confidence),
        Subject::Event => {
            let (rows, (_, weights)) = (predictions.rows(), predictions.parted());
            let risks: Vec<f64> = (0..n).map(|i| rows.row(i)[1]).collect();
            let aspect = ClassAspect::InTheLarge {
                expected: risks.iter().sum(),
                samples: n,
                share: weights.are_given().then(|| weights.mean(&risks)),
            };
            mean(CLASSES + 1, aspect)
        }
    };
    let is_summed = m == 2;
    let mut aspects = vec![
        first,
        mean(BRIER, ClassAspect::BrierScore { is_summed }),
        mean(LOG, ClassAspect::LogScore),
    ];
    if predictions.subject() == Subject::Classes {
        aspects.extend((0..m).map(|class| mean(CLASSES + class, ClassAspect::Frequency(class))));
    }
    aspects
}

/// An aspect of classes, or of the event that the predictions are about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ClassAspect {
    Confidence,
    /// The number of events of so many samples against the expected one; with weights against this share.
    InTheLarge {
        expected: f64,
        samples: usize,
        share: Option<f64>,
    },
    BrierScore {
        /// Whether it is the sum over both outcomes.
        is_summed: bool,
    },
    LogScore,
    Frequency(usize),
    CumulativeConfidence,
    CumulativeRisk,
    BinnedFrequencies {
        of: Binned,
        bins: usize,
    },
    LeastLikelyLabel,
    /// The labels that are not the most likely class, against their probabilities among the others.
    OtherLabels {
        pairs: usize,
    },
    /// A label among those of a most likely class that are wrong: counts, or shares by weight.
    LabelPair {
        is_weighted: bool,
    },
}

/// The outcome whose frequency is counted in bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Binned {
    Event,
    SecondClass,
    TopLabel,
}

impl ClassAspect {
    /// The aspect of the number at a place.
    fn tested(self, at: usize) -> TestedAspect {
        TestedAspect::new(Aspect::Classes(self), at)
    }

    pub fn name(&self) -> String {
        let name = match self {
            Self::Frequency(class) => return format!("class_{class}"),
            Self::Confidence => "confidence",
            Self::InTheLarge { .. } => "in_the_large",
            Self::BrierScore { .. } => "brier_score",
            Self::LogScore => "log_score",
            Self::CumulativeConfidence => "cumulative_confidence",
            Self::CumulativeRisk => "cumulative_risk",
            Self::BinnedFrequencies { .. } => "binned_frequencies",
            Self::LeastLikelyLabel => "least_likely_label",
            Self::OtherLabels { .. } => "other_labels",
            Self::LabelPair { .. } => "label_pair",
        };
        name.into()
    }

    pub fn finding(&self, data: &Observed) -> String {
        let (estimate, size) = (data.estimate(), points(data.estimate()));
        match *self {
            Self::Confidence => {
                format!(
                    "{} by {size}",
                    data.either("overconfident", "underconfident")
                )
            }
            Self::InTheLarge {
                expected,
                samples,
                share,
            } => in_the_large(data, expected, samples, share),
            Self::BrierScore { is_summed: true } => {
                against("Brier score, summed over both outcomes,", data)
            }
            Self::BrierScore { is_summed: false } => against("Brier score", data),
            Self::LogScore => against("log score", data),
            Self::Frequency(class) => {
                let (name, often) = ((data.class_name)(class), data.either("often", "rarely"));
                format!("class {name} is predicted too {often}, by {size}")
            }
            Self::CumulativeConfidence => {
                format!("confidence and accuracy differ by {size} over the less confident samples")
            }
            Self::CumulativeRisk => format!(
                "over the lower risks the expected and the observed frequency of the event differ by {size} of \
                 all samples"
            ),
            Self::BinnedFrequencies { of, bins } => binned(data, of, bins),
            Self::LeastLikelyLabel => {
                let row = (data.row).map_or(String::new(), |row| format!(" (row {row})"));
                format!("a label of probability {} occurred{row}", rare(estimate))
            }
            Self::OtherLabels { pairs } => format!(
                "where the most likely class is wrong, the labels do not follow the probabilities of the other \
                 classes: χ² = {} of {pairs} pairs of classes",
                short(estimate)
            ),
            Self::LabelPair { is_weighted } => label_pair(data, is_weighted),
        }
    }
}

fn in_the_large(data: &Observed, expected: f64, samples: usize, share: Option<f64>) -> String {
    let observed = expected - data.estimate() * samples as f64;
    let counts = ObservedExpected {
        observed: observed.round().max(0.0) as usize,
        expected,
        samples,
    };
    let what = match [0, 1].map(data.class_name) {
        [no, yes] if [no.as_str(), &yes] == ["0", "1"] => {
            format!("risks are too {}", data.either("high", "low"))
        }
        [_, class] => {
            let often = data.either("often", "rarely");
            format!("class {class} is predicted too {often}")
        }
    };
    match share {
        Some(share) => {
            let shares = [share, share - data.estimate()];
            let [expected, observed] = shares.map(|share| numbers::percent(share, 1));
            format!("{what}: {expected} expected, {observed} observed, by weight")
        }
        None => format!("{what}: {counts}"),
    }
}

fn binned(data: &Observed, of: Binned, bins: usize) -> String {
    let follows = match of {
        Binned::Event => "the frequency of the event does not follow its risk".into(),
        Binned::SecondClass => {
            let class = (data.class_name)(1);
            format!("the frequency of class {class} does not follow its probability")
        }
        Binned::TopLabel => "the accuracy does not follow the confidence".into(),
    };
    let bins = match bins {
        1 => "1 bin".into(),
        bins => format!("{bins} bins"),
    };
    match data.place {
        Some(Place::Bin {
            probability,
            observed,
            expected,
        }) if data.estimate() >= HUGE => {
            let [probability, observed, expected] = [probability, observed, expected].map(short);
            format!(
                "{follows}: {observed} outcomes of mean probability {probability} in one of {bins}, where \
                 {expected} are expected"
            )
        }
        _ => format!("{follows}: χ² = {} in {bins}", short(data.estimate())),
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
    let estimate = data.estimate();
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
