//! The estimates and tests that the command offers, with the names of the output.
//!
//! To add one, add an entry: to [`Pairs`] if it is by a kernel, otherwise to those of a kind of prediction.

mod pairs;

pub use pairs::Pairs;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    error::Result,
    estimator::{
        Cwce, Ece, Estimator, Event, KolmogorovSmirnov, Tce, TceForm,
        regression::{Ence, IntervalCoverage, Pinball, QuantileCalibration, Sharpness},
    },
    hypothesis::*,
    names::{self, Name},
    score::{Brier, Corp, Crps, Divergence, LogScore, MeanEstimate, Score},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    args::{BinArgs, Norm},
    kind::{Build, Estimates, Kind, SubjectWords, Test, Vectors, View},
    words::{Estimate, Known, Told, key},
};

/// An estimate, or why there is none, with what it is of.
pub fn told(name: Name, of: &str, value: Result<impl Into<Estimate>>) -> (Name, Told<Estimate>) {
    let value = Known::of(value.map(Into::into));
    let of = of.to_owned();
    let if_calibrated = None;
    (
        name,
        Told {
            of,
            if_calibrated,
            value,
        },
    )
}

/// The mean of an estimate over labels that are drawn from the predictions: from 100 of small data to 4 of large.
fn if_calibrated(
    predictions: &Categorical,
    estimate: impl Fn(&Tensor<1, Int>) -> Result<f64>,
) -> Option<f64> {
    const NUMBERS: usize = 2_000_000;
    let size = (predictions.len() * predictions.classes()).max(1);
    let draws = (NUMBERS / size).clamp(4, 100);
    let mut rng = StdRng::seed_from_u64(0);
    let estimates = (0..draws).map(|_| estimate(&predictions.sample(&mut rng)).ok());
    let sum: Option<f64> = estimates.sum();
    Some(sum? / draws as f64)
}

/// An estimate that a calibrated model also has above 0, with its mean for such a model.
fn told_with_calibrated(
    name: Name,
    of: &str,
    estimator: &dyn Estimator,
    view: &View<Categorical>,
) -> (Name, Told<Estimate>) {
    let (predictions, labels) = (&view.predictions, &view.targets);
    let (name, estimate) = told(name, of, estimator.estimate(predictions, labels));
    let if_calibrated = if_calibrated(predictions, |labels| {
        estimator.estimate(predictions, labels)
    });
    (
        name,
        Told {
            if_calibrated,
            ..estimate
        },
    )
}

/// The estimates of linear cost: that of a kernel, and those of a kind.
pub fn estimates<P: Kind>(view: &View<P>, kernel: P::Kernel) -> Estimates {
    let mut estimates = kernel.linear(view);
    estimates.extend(P::estimates(view));
    estimates
}

/// The error of an event in bins, by a norm.
fn binned(bins: &BinArgs, norm: Norm, event: Event) -> Tce {
    (Tce::default().with_event(event))
        .with_binning(bins.binning())
        .with_form(TceForm::PlugIn {
            order: norm.order(),
        })
}

/// The ECE of an event, and the error by the norm that is asked for, each by the name that it has of a view, as
/// `evaluate` and `compare` have them.
pub fn binned_errors(bins: &BinArgs, view: &View<Categorical>) -> Vec<(Name, Tce)> {
    use names::*;
    let predictions = &view.predictions;
    let error = |norm| {
        let (what, [top_label, against_rest, of_event]) = match norm {
            Norm::One => ("ECE", [ECE_TOP_LABEL, ECE_AGAINST_REST, ECE_EVENT]),
            Norm::Two => (
                "RMS calibration error",
                [RMSCE_TOP_LABEL, RMSCE_AGAINST_REST, RMSCE_EVENT],
            ),
            Norm::Max => ("MCE", [MCE_TOP_LABEL, MCE_AGAINST_REST, MCE_EVENT]),
        };
        let name = match (predictions.subject(), view.class) {
            (Subject::Classes, _) => top_label,
            (_, Some(_)) => against_rest,
            _ => of_event,
        };
        let title = format!("{what}, {} equal-{} bins", bins.bins, key(bins.binning));
        let title = title.into();
        (Name { title, ..name }, binned(bins, norm, view.event()))
    };
    let mut norms = vec![Norm::One, bins.norm];
    norms.dedup();
    norms.into_iter().map(error).collect()
}

/// Names of the parts of scores: miscalibration, discrimination, uncertainty.
const BRIER_PARTS: [Name; 3] = [
    Name::new("brier_miscalibration", "Brier, CORP miscalibration"),
    Name::new("brier_discrimination", "Brier, CORP discrimination"),
    Name::new("brier_uncertainty", "Brier, CORP uncertainty"),
];
const LOG_PARTS: [Name; 3] = [
    Name::new("log_miscalibration", "log, CORP miscalibration"),
    Name::new("log_discrimination", "log, CORP discrimination"),
    Name::new("log_uncertainty", "log, CORP uncertainty"),
];

pub fn estimates_of_classes(view: &View<Categorical>) -> Estimates {
    let (predictions, labels, of) = (&view.predictions, &view.targets, &view.of);
    let one = Event::one_of(predictions);
    // the decomposition of a score of one event; that of a calibrated model has a miscalibration above 0 too
    let parts = |names: [Name; 3], of: &str, score: &dyn Divergence| {
        let corp = |labels: &_| Corp::of(score, one, predictions, labels);
        let parts = corp(labels).map(|c| [c.miscalibration, c.discrimination, c.uncertainty]);
        let part = |(k, name)| told(name, of, parts.clone().map(|parts| parts[k]));
        let mut parts: Vec<_> = names.into_iter().enumerate().map(part).collect();
        parts[0].1.if_calibrated =
            if_calibrated(predictions, |labels| Ok(corp(labels)?.miscalibration));
        parts
    };
    let score = |name, of, score: &dyn Score<Categorical>| {
        let mean = score.upper_bound(predictions, labels);
        told(name, of, mean.map(|mean| mean.estimate))
    };
    let ece =
        |key, title, ece: Ece| told_with_calibrated(Name::new(key, title), &of.whole, &ece, view);
    let cox = |key, title, value| told(Name::new(key, title), &of.one, value);
    let binned = binned_errors(&view.bins, view);
    let ks = KolmogorovSmirnov::new(view.event());
    let in_the_large = Cox::new(one).in_the_large(predictions, labels);
    let line = Cox::new(one).fit(predictions, labels);
    let [intercept, slope] = match line {
        Ok(line) => [Ok(line.intercept.estimate), Ok(line.slope.estimate)],
        Err(error) => [Err(error.clone()), Err(error)],
    };
    let bins = "ECE, median-variance bins";
    let summed = format!("{}, summed over both outcomes", of.one);
    let mut estimates = vec![
        ece(
            "ece_uniform",
            "ECE, 10 uniform bins per class",
            Ece::uniform(10),
        ),
        ece("ece_median_variance", bins, Ece::median_variance(100)),
    ];
    if predictions.subject() == Subject::Classes {
        let bins = format_args!("{} equal-{} bins", view.bins.bins, key(view.bins.binning));
        let name = names::ECE_CLASS_WISE.with(bins);
        let cwce = Cwce::default().with_binning(view.bins.binning());
        estimates.push(told_with_calibrated(name, &of.whole, &cwce, view));
    }
    let binned = binned.into_iter();
    estimates.extend(binned.map(|(name, tce)| told_with_calibrated(name, &of.event, &tce, view)));
    estimates.push(told_with_calibrated(names::KS, &of.event, &ks, view));
    estimates.push(score(names::BRIER, &of.sum, &Brier));
    estimates.extend(parts(BRIER_PARTS, &summed, &Brier));
    estimates.push(score(names::LOG, &of.whole, &LogScore));
    estimates.extend(parts(LOG_PARTS, &of.one, &LogScore));
    let title = "Cox intercept, slope 1 (0 if calibrated)";
    let in_the_large = in_the_large.map(|intercept| intercept.estimate);
    estimates.push(cox("cox_in_the_large", title, in_the_large));
    let title = "Cox intercept, with slope (0 if calibrated)";
    estimates.push(cox("cox_intercept", title, intercept));
    estimates.push(cox("cox_slope", "Cox slope (1 if calibrated)", slope));
    estimates
}

/// The estimates of predictions of real numbers; the log score only where there is a density.
pub fn estimates_of_vectors<P>(view: &View<P>) -> Estimates
where
    P: Vectors + Kind<Targets = Tensor<2>>,
{
    let (predictions, targets) = (&view.predictions, &view.targets);
    let mean = |mean: Result<MeanEstimate>| mean.map(|mean| mean.estimate);
    let coverage = |level| mean(IntervalCoverage::new(level).coverage(predictions, targets));
    let scores = [(names::LOG, P::LOG_SCORE), (names::CRPS_FAIR, P::FAIR_CRPS)];
    let scores = (scores.into_iter())
        .filter_map(|(name, score)| Some((name, mean(score?.mean(predictions, targets)))));
    let crps = mean(Crps.mean(predictions, targets));
    let pinball = Pinball::default().estimate(predictions, targets);
    let quantiles = QuantileCalibration::default().estimate(predictions, targets);
    let deviation = Sharpness.estimate(predictions, targets);
    let ence = Ence::default().estimate(predictions, targets);
    let others = [
        (names::CRPS, crps),
        (Name::new("pinball", "pinball loss, 19 levels"), pinball),
        (names::QUANTILE_CALIBRATION.with("19 levels"), quantiles),
        (names::COVERAGE_50, coverage(0.5)),
        (names::COVERAGE_90, coverage(0.9)),
        (names::STANDARD_DEVIATION, deviation),
        (Name::new("ence", "ENCE, 15 bins"), ence),
    ];
    let all = scores.chain(others);
    all.map(|(name, value)| told(name, &view.of.whole, value))
        .collect()
}

/// The names of all tests: every test is there for classes.
pub fn test_keys() -> Vec<&'static str> {
    let tests = tests::<Categorical>().into_iter();
    tests.map(|test| test.name.key).collect()
}

/// A test with what it is of.
fn test<P: Kind>(
    of: fn(&SubjectWords) -> &str,
    (key, title, build): (&'static str, &'static str, Build<P>),
) -> Test<P> {
    let name = Name::new(key, title);
    Test { name, of, build }
}

/// The tests by a kernel, and those of a kind.
pub fn tests<P: Kind>() -> Vec<Test<P>> {
    P::Kernel::tests().into_iter().chain(P::tests()).collect()
}

pub fn tests_of_classes() -> Vec<Test<Categorical>> {
    type Boxed = Box<dyn CalibrationTest<Categorical>>;
    fn exact(statistic: impl Statistic + 'static, replicates: usize) -> Boxed {
        Box::new(ExactTest::new(statistic).with_replicates(replicates))
    }
    fn one(view: &View<Categorical>) -> Event {
        Event::one_of(&view.predictions)
    }
    let of_event: [(&str, &str, Build<Categorical>); 2] = [
        (
            "ece_top_label_exact",
            "ECE, exact",
            |_, view, replicates| exact(binned(&view.bins, Norm::One, view.event()), replicates),
        ),
        (
            "ece_top_label_consistency",
            "ECE, consistency",
            |_, view, n| {
                let ece = binned(&view.bins, Norm::One, view.event());
                Box::new(ConsistencyTest::new(ece).with_replicates(n))
            },
        ),
    ];
    let of_one: [(&str, &str, Build<Categorical>); 6] = [
        ("spiegelhalter", "Spiegelhalter, normal", |_, view, _| {
            Box::new(Spiegelhalter::new(one(view)))
        }),
        (
            "spiegelhalter_exact",
            "Spiegelhalter, exact",
            |_, view, replicates| exact(Spiegelhalter::new(one(view)), replicates),
        ),
        (
            "hosmer_lemeshow",
            "Hosmer-Lemeshow, chi-squared",
            |_, view, _| Box::new(HosmerLemeshow::new(one(view))),
        ),
        (
            "hosmer_lemeshow_exact",
            "Hosmer-Lemeshow, exact",
            |_, view, replicates| exact(HosmerLemeshow::new(one(view)), replicates),
        ),
        ("cox", "Cox, chi-squared", |_, view, _| {
            Box::new(Cox::new(one(view)))
        }),
        ("cox_exact", "Cox, exact", |_, view, n| {
            exact(Cox::new(one(view)), n)
        }),
    ];
    let of_event = of_event.map(|entry| test(|of| &of.event, entry));
    let of_one = of_one.map(|entry| test(|of| &of.one, entry));
    of_event.into_iter().chain(of_one).collect()
}
