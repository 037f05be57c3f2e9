use rand::Rng;

use super::aspect::{
    ALL_PAIRS, BANDWIDTHS, BY_LANDMARKS, Deviation, LANDMARKS, Omnibus, OmnibusPlan, Sentence,
    TestedAspect, of_kernel, short,
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
    let weighted = predictions.sample_weights().is_some();
    let gap = match subject {
        Subject::Classes => CumulativeGap::new(predictions, Event::TopLabel, GAPS)?,
        _ => CumulativeGap::new(predictions, Event::Class(1), usize::MAX)?,
    };
    let aspect = match subject {
        Subject::Event => {
            let sentence = |points| {
                format!(
                    "over the lower risks the expected and the observed frequency of the event differ by \
                     {points} of all samples"
                )
            };
            along("cumulative_risk", sentence)
        }
        _ => along("cumulative_confidence", |points| {
            format!("confidence and accuracy differ by {points} over the less confident samples")
        }),
    };
    plan.push(gap, [aspect]);
    let counts = BinnedCounts::new(predictions, BINS)?;
    let bins = match counts.count() {
        1 => "1 bin".into(),
        count => format!("{count} bins"),
    };
    let sentence = Sentence::new(move |data| {
        let follows = match subject {
            Subject::Event => "the frequency of the event does not follow its risk".into(),
            Subject::Classes if m == 2 => {
                let class = (data.class_name)(1);
                format!("the frequency of class {class} does not follow its probability")
            }
            _ => "the accuracy does not follow the confidence".into(),
        };
        let chi_square = data.estimate();
        if let Some(Place::Bin {
            probability,
            observed,
            expected,
        }) = data.place
            && chi_square >= HUGE
        {
            let [probability, observed, expected] = [probability, observed, expected].map(short);
            return format!(
                "{follows}: {observed} outcomes of mean probability {probability} in one of {bins}, where \
                 {expected} are expected"
            );
        }
        format!("{follows}: χ² = {} in {bins}", short(chi_square))
    });
    plan.push(
        counts,
        [TestedAspect::new("binned_frequencies", 0, sentence)],
    );
    let sentence = Sentence::new(|data| {
        let row = data
            .row
            .map_or(String::new(), |row| format!(" (row {row})"));
        let probability = rare(data.estimate());
        format!("a label of probability {probability} occurred{row}")
    });
    plan.push(
        LeastLikelyLabel::new(predictions),
        [TestedAspect::new("least_likely_label", 0, sentence)],
    );
    if let Some(others) = OtherLabels::new(predictions).filter(|_| m > 2) {
        let pairs = others.pairs();
        let aspects = [
            TestedAspect::new("other_labels", CHI_SQUARE, other_labels(pairs)),
            TestedAspect::new("label_pair", LARGEST, label_pair(weighted)),
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
    let mean = |number, name: &str, sentence| TestedAspect {
        deviation: Deviation::Known(sums.deviations[number]),
        ..TestedAspect::new(name, number, sentence)
    };
    let confidence = Sentence::new(|data| {
        let side = data.either("overconfident", "underconfident");
        format!("{side} by {}", points(data.estimate()))
    });
    let brier = match m {
        2 => against("Brier score, summed over both outcomes,"),
        _ => against("Brier score"),
    };
    let first = match predictions.subject() {
        Subject::Classes => mean(CONFIDENCE, "confidence", confidence),
        Subject::Correctness => mean(CLASSES + 1, "confidence", confidence),
        Subject::Event => {
            let (rows, (_, weights)) = (predictions.rows(), predictions.parted());
            let risks: Vec<f64> = (0..n).map(|i| rows.row(i)[1]).collect();
            let share = weights.are_given().then(|| weights.mean(&risks));
            let sentence = in_the_large((risks.iter().sum(), n), share);
            mean(CLASSES + 1, "in_the_large", sentence)
        }
    };
    let mut aspects = vec![
        first,
        mean(BRIER, "brier_score", brier),
        mean(LOG, "log_score", against("log score")),
    ];
    if predictions.subject() == Subject::Classes {
        aspects.extend((0..m).map(|class| {
            let sentence = Sentence::new(move |data| {
                let (name, often) = ((data.class_name)(class), data.either("often", "rarely"));
                let points = points(data.estimate());
                format!("class {name} is predicted too {often}, by {points}")
            });
            TestedAspect {
                class: Some(class),
                ..mean(CLASSES + class, &format!("class_{class}"), sentence)
            }
        }));
    }
    aspects
}

/// A gap that is summed up, with a sentence about its points.
fn along(name: &str, sentence: fn(String) -> String) -> TestedAspect {
    let sentence = Sentence::new(move |data| sentence(points(data.estimate())));
    TestedAspect::new(name, 0, sentence)
}

/// Of so many samples so many events are expected; with weights this share of them.
fn in_the_large((expected, samples): (f64, usize), weighted: Option<f64>) -> Sentence {
    Sentence::new(move |data| {
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
        match weighted {
            Some(share) => {
                let shares = [share, share - data.estimate()];
                let [expected, observed] = shares.map(|share| numbers::percent(share, 1));
                format!("{what}: {expected} expected, {observed} observed, by weight")
            }
            None => format!("{what}: {counts}"),
        }
    })
}

/// The labels that are not the most likely class, against their probabilities among the others.
fn other_labels(pairs: usize) -> Sentence {
    Sentence::new(move |data| {
        let chi_square = short(data.estimate());
        format!(
            "where the most likely class is wrong, the labels do not follow the probabilities of the other \
             classes: χ² = {chi_square} of {pairs} pairs of classes"
        )
    })
}

/// A label among those of a most likely class that are wrong: counts, or shares by weight.
fn label_pair(is_weighted: bool) -> Sentence {
    Sentence::new(move |data| {
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
            let [observed, expected] =
                [observed, expected].map(|sum| numbers::percent(sum / wrong, 1));
            format!("{observed} of the wrong labels by weight, {expected} expected")
        } else {
            let expected = numbers::expected(expected);
            format!("{observed} of {wrong} wrong labels, {expected} expected")
        };
        format!(
            "where class {predicted} is the most likely and wrong, the label is class {label} {often} often \
             than predicted: {counts}"
        )
    })
}

/// A mean score against its expectation.
fn against(score: &'static str) -> Sentence {
    Sentence::new(move |data| {
        let estimate = data.estimate();
        if estimate.is_infinite() {
            return format!("the {score} is infinite: a label of probability 0 occurred");
        }
        let (size, side) = (short(estimate.abs()), data.either("worse", "better"));
        format!("the {score} is {size} {side} than the probabilities promise")
    })
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
