//! The estimates and tests that the command offers, with the names of the output.
//!
//! To add one, add an entry: to [`estimates`] or [`tests`] if it is of all predictions, else to those of a
//! kind of prediction.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Subject},
    error::Result,
    estimator::{
        Aspect, Binning, Ece, Estimator, Event, JointKernel, KolmogorovSmirnov, Skce,
        regression::{Ence, IntervalCoverage, Pinball, QuantileCalibration, Sharpness},
    },
    hypothesis::*,
    names::{self, Name},
    ops::Computation,
    score::{Brier, Corp, Crps, Divergence, LogScore, MeanEstimate, Quantify, Score, Spherical},
};

use crate::{
    kind::{Build, Estimates, Kind, Test, Vectors, View, Words},
    limits::{BLOCK, QUADRATIC_LIMIT},
    words::{Known, Missing, Told},
};

/// A value, or why there is none, with what it is of.
fn told(name: Name, of: &str, value: Result<f64>) -> (Name, Told<f64>) {
    (name, Told::new(of, Known::of(value)))
}

/// The estimates whose cost is the square of the number of samples; the unbiased one may be known.
pub fn estimates_of_pairs<P: Kind>(
    view: &View<P>,
    kernel: P::Joint,
    unbiased: Option<f64>,
) -> Estimates {
    let (predictions, targets, of) = (&view.predictions, &view.targets, &view.of.whole);
    let n = predictions.len();
    if n > QUADRATIC_LIMIT {
        let reason = format!(
            "its cost is the square of the number of samples, {n}, which is above {QUADRATIC_LIMIT}"
        );
        let skipped = |name| {
            let missing = Missing::Skipped(reason.clone());
            (name, Told::new(of, Known(Err(missing))))
        };
        return [names::SKCE_BIASED, names::SKCE_UNBIASED]
            .map(skipped)
            .into();
    }
    let skce = |skce: Skce<P::Joint>| skce.fair_estimate(predictions, targets);
    let biased = match unbiased {
        None => skce(Skce::biased(kernel)),
        // n²·SKCE_b = Σ_i h_ii + n(n − 1)·SKCE_uq
        Some(unbiased) => {
            let pairs = kernel.fair_pairs(Computation::Auto, predictions, targets);
            let mean = pairs.map(|pairs| pairs.diagonal().mean().into_scalar::<f64>());
            mean.map(|mean| (mean + (n as f64 - 1.0) * unbiased) / n as f64)
        }
    };
    let unbiased = unbiased.map_or_else(|| skce(Skce::unbiased(kernel)), Ok);
    vec![
        told(names::SKCE_BIASED, of, biased),
        told(names::SKCE_UNBIASED, of, unbiased),
    ]
}

/// The estimates of linear cost: that of all predictions, and those of a kind.
pub fn estimates<P: Kind>(view: &View<P>, kernel: P::Joint) -> Estimates {
    let linear = Skce::linear(kernel).size(&view.predictions, &view.targets);
    let linear = linear.map(|size| size.estimate());
    let mut estimates = vec![told(names::SKCE_LINEAR, &view.of.whole, linear)];
    estimates.extend(P::estimates(view));
    estimates
}

/// The ECE in 15 bins by the name that it has of a view.
pub fn ece_name(subject: Subject, class: Option<usize>) -> Name {
    let name = match (subject, class) {
        (Subject::Classes, _) => names::ECE_TOP_LABEL,
        (_, Some(_)) => names::ECE_AGAINST_REST,
        _ => names::ECE_EVENT,
    };
    Name {
        title: "ECE, 15 equal-width bins".into(),
        ..name
    }
}

/// The ECE of an event in 15 bins of equal width.
fn binned_ece(event: Event) -> Ece {
    Ece::new(Aspect::Event(event), Binning::Uniform { bins: 15 })
}

/// The proper scores of classes.
pub const SCORES: [(Name, &dyn Score<Categorical>); 3] = [
    (names::BRIER, &Brier),
    (names::LOG, &LogScore),
    (names::SPHERICAL, &Spherical),
];

/// The expected calibration error of an event, as `evaluate` and `compare` have it.
pub fn ece_of_event(
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    event: Event,
) -> Result<f64> {
    binned_ece(event).estimate(predictions, labels)
}

pub fn estimates_of_classes(view: &View<Categorical>) -> Estimates {
    let (predictions, labels, of) = (&view.predictions, &view.targets, &view.of);
    let one = Event::one_of(predictions);
    let mean = |mean: Result<MeanEstimate>| mean.map(|mean| mean.estimate);
    // the decompositions of scores of one event
    let corp =
        |key: [&'static str; 3], titles: [&'static str; 3], of: &str, score: &dyn Divergence| {
            let corp = Corp::of(score, one, predictions, labels);
            let parts = [
                |corp: Corp| corp.miscalibration,
                |corp: Corp| corp.discrimination,
                |corp: Corp| corp.uncertainty,
            ];
            [0, 1, 2].map(|part| {
                let value = corp.clone().map(parts[part]);
                told(Name::new(key[part], titles[part]), of, value)
            })
        };
    let brier = corp(
        [
            "brier_miscalibration",
            "brier_discrimination",
            "brier_uncertainty",
        ],
        [
            "Brier, CORP miscalibration",
            "Brier, CORP discrimination",
            "Brier, CORP uncertainty",
        ],
        &format!("{}, summed over both outcomes", of.one),
        &Brier,
    );
    let log = corp(
        [
            "log_miscalibration",
            "log_discrimination",
            "log_uncertainty",
        ],
        [
            "log, CORP miscalibration",
            "log, CORP discrimination",
            "log, CORP uncertainty",
        ],
        &of.one,
        &LogScore,
    );
    let cox = Cox::new(one);
    let in_the_large = cox.in_the_large(predictions, labels);
    let line = cox.fit(predictions, labels);
    let ece = ece_of_event(predictions, labels, view.event);
    let ks = KolmogorovSmirnov::new(view.event).estimate(predictions, labels);
    let mut estimates = vec![
        told(
            Name::new("ece_uniform", "ECE, 10 uniform bins a class"),
            &of.whole,
            Ece::uniform(10).estimate(predictions, labels),
        ),
        told(
            Name::new("ece_median_variance", "ECE, median-variance bins"),
            &of.whole,
            Ece::median_variance(100).estimate(predictions, labels),
        ),
        told(ece_name(predictions.subject(), view.class), &of.event, ece),
        told(names::KS, &of.event, ks),
        told(
            names::BRIER,
            &of.sum,
            mean(Brier.upper_bound(predictions, labels)),
        ),
    ];
    estimates.extend(brier);
    let score = LogScore.upper_bound(predictions, labels);
    estimates.push(told(names::LOG, &of.whole, mean(score)));
    estimates.extend(log);
    estimates.extend([
        told(
            Name::new(
                "cox_in_the_large",
                "Cox intercept, slope 1 (0 if calibrated)",
            ),
            &of.one,
            in_the_large.map(|intercept| intercept.estimate),
        ),
        told(
            Name::new(
                "cox_intercept",
                "Cox intercept, with slope (0 if calibrated)",
            ),
            &of.one,
            line.clone().map(|line| line.intercept.estimate),
        ),
        told(
            Name::new("cox_slope", "Cox slope (1 if calibrated)"),
            &of.one,
            line.map(|line| line.slope.estimate),
        ),
    ]);
    estimates
}

/// The estimates of predictions of real numbers; the log score only where there is a density.
pub fn estimates_of_vectors<P>(view: &View<P>) -> Estimates
where
    P: Vectors + Kind<Targets = Tensor<2>>,
{
    let (predictions, targets) = (&view.predictions, &view.targets);
    let mean = |mean: Result<MeanEstimate>| mean.map(|mean| mean.estimate);
    let coverage = |level| {
        let intervals = IntervalCoverage::estimate(predictions, targets, level);
        mean(intervals.map(|intervals| intervals.coverage))
    };
    let log = P::LOG_SCORE.map(|log_score| {
        let each = log_score(predictions, targets);
        let mean = each.map(|each| each.iter().sum::<f64>() / each.len() as f64);
        (names::LOG, mean)
    });
    let sharpness = Sharpness::estimate(predictions);
    let others = [
        (names::CRPS, mean(Crps.mean(predictions, targets))),
        (
            Name::new("pinball", "pinball loss, 19 levels"),
            mean(Pinball::default().estimate(predictions, targets)),
        ),
        (
            names::QUANTILE_CALIBRATION.with("19 levels"),
            QuantileCalibration::default().estimate(predictions, targets),
        ),
        (names::COVERAGE_50, coverage(0.5)),
        (names::COVERAGE_90, coverage(0.9)),
        (
            names::STANDARD_DEVIATION,
            mean(sharpness.map(|sharpness| sharpness.standard_deviation)),
        ),
        (
            Name::new("ence", "ENCE, 15 bins"),
            Ence::default().estimate(predictions, targets),
        ),
    ];
    let all = log.into_iter().chain(others);
    all.map(|(name, value)| told(name, &view.of.whole, value))
        .collect()
}

fn test<P: Kind>(
    key: &'static str,
    title: &'static str,
    of: fn(&Words) -> &str,
    build: Build<P>,
) -> Test<P> {
    let name = Name::new(key, title);
    Test { name, of, build }
}

fn whole(of: &Words) -> &str {
    &of.whole
}

fn event(of: &Words) -> &str {
    &of.event
}

fn one(of: &Words) -> &str {
    &of.one
}

/// The names of all tests: every test is there for classes.
pub fn test_keys() -> Vec<&'static str> {
    let tests = tests::<Categorical>().into_iter();
    tests.map(|test| test.name.key).collect()
}

/// The tests of all predictions, and those of a kind.
pub fn tests<P: Kind>() -> Vec<Test<P>> {
    let mut tests = vec![
        test(
            "skce_unbiased_asymptotic",
            "SKCE unbiased, asymptotic",
            whole,
            |kernel: P::Joint, _, _| Box::new(AsymptoticSkceTest::new(kernel)),
        ),
        test(
            "skce_linear_asymptotic",
            "SKCE linear, asymptotic",
            whole,
            |kernel, _, _| Box::new(AsymptoticBlockSkceTest::linear(kernel)),
        ),
        test(
            "skce_block_asymptotic",
            "SKCE blocks of 25, asymptotic",
            whole,
            |kernel, _, _| Box::new(AsymptoticBlockSkceTest::new(kernel, BLOCK)),
        ),
        test("cme", "CME, 10 locations", whole, |kernel, _, _| {
            Box::new(CmeTest::new(kernel, 10))
        }),
        test(
            "skce_unbiased_exact",
            "SKCE unbiased, exact",
            whole,
            |kernel, _, replicates| P::exact(Skce::unbiased(kernel), replicates),
        ),
        test(
            "skce_biased_distribution_free",
            "SKCE biased, distribution-free",
            whole,
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::biased(kernel))),
        ),
        test(
            "skce_unbiased_distribution_free",
            "SKCE unbiased, distribution-free",
            whole,
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::unbiased(kernel))),
        ),
        test(
            "skce_linear_distribution_free",
            "SKCE linear, distribution-free",
            whole,
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::linear(kernel))),
        ),
    ];
    tests.extend(P::tests());
    tests
}

pub fn tests_of_classes() -> Vec<Test<Categorical>> {
    fn exact(
        statistic: impl Statistic + 'static,
        replicates: usize,
    ) -> Box<dyn CalibrationTest<Categorical>> {
        Box::new(ExactTest::new(statistic).with_replicates(replicates))
    }
    fn event_of(view: &View<Categorical>) -> Event {
        Event::one_of(&view.predictions)
    }
    vec![
        test(
            "ece_top_label_exact",
            "ECE, 15 equal-width bins, exact",
            event,
            |_, view, replicates| {
                Box::new(ExactTest::new(binned_ece(view.event)).with_replicates(replicates))
            },
        ),
        test(
            "ece_top_label_consistency",
            "ECE, 15 equal-width bins, consistency",
            event,
            |_, view, replicates| {
                let ece = binned_ece(view.event);
                Box::new(ConsistencyTest::new(ece).with_replicates(replicates))
            },
        ),
        test(
            "spiegelhalter",
            "Spiegelhalter, normal",
            one,
            |_, view, _| Box::new(Spiegelhalter::new(event_of(view))),
        ),
        test(
            "spiegelhalter_exact",
            "Spiegelhalter, exact",
            one,
            |_, view, replicates| exact(Spiegelhalter::new(event_of(view)), replicates),
        ),
        test(
            "hosmer_lemeshow",
            "Hosmer-Lemeshow, chi-squared",
            one,
            |_, view, _| Box::new(HosmerLemeshow::new(event_of(view))),
        ),
        test(
            "hosmer_lemeshow_exact",
            "Hosmer-Lemeshow, exact",
            one,
            |_, view, replicates| exact(HosmerLemeshow::new(event_of(view)), replicates),
        ),
        test("cox", "Cox, chi-squared", one, |_, view, _| {
            Box::new(Cox::new(event_of(view)))
        }),
        test("cox_exact", "Cox, exact", one, |_, view, replicates| {
            exact(Cox::new(event_of(view)), replicates)
        }),
    ]
}
