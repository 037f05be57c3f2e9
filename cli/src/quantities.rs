//! The estimates and tests that the command offers: one table, with the names of the output.
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
    kind::{Build, Data, Estimate, Kind, Of, Test, Vectors, View},
    limits::BLOCK,
};

fn quadratic<P: Kind>(name: Name, run: fn(&Data<P>) -> Result<f64>) -> Estimate<P> {
    Estimate {
        is_quadratic: true,
        ..linear(name, run)
    }
}

fn linear<P: Kind>(name: Name, run: fn(&Data<P>) -> Result<f64>) -> Estimate<P> {
    Estimate {
        name,
        of: Of::Whole,
        is_quadratic: false,
        run,
    }
}

impl<P: Kind> Estimate<P> {
    fn of(self, of: Of) -> Self {
        Self { of, ..self }
    }
}

fn test<P: Kind>(key: &'static str, title: &'static str, build: Build<P>) -> Test<P> {
    let name = Name::new(key, title);
    Test {
        name,
        of: Of::Whole,
        build,
    }
}

impl<P: Kind> Test<P> {
    fn of(self, of: Of) -> Self {
        Self { of, ..self }
    }
}

/// The estimates of all predictions, and those of a kind.
pub fn estimates<P: Kind>() -> Vec<Estimate<P>> {
    fn skce<P: Kind>(skce: Skce<P::Joint>, data: &Data<P>) -> Result<f64> {
        skce.fair_estimate(data.predictions, data.targets)
    }
    let mut estimates = vec![
        quadratic(names::SKCE_BIASED, |data: &Data<P>| {
            let Some(unbiased) = data.unbiased else {
                return skce(Skce::biased(data.kernel), data);
            };
            // n²·SKCE_b = Σ_i h_ii + n(n − 1)·SKCE_uq
            let n = data.predictions.len() as f64;
            let (computation, kernel) = (Computation::Auto, data.kernel);
            let pairs = kernel.fair_pairs(computation, data.predictions, data.targets)?;
            let mean = pairs.diagonal().mean().into_scalar::<f64>();
            Ok((mean + (n - 1.0) * unbiased) / n)
        }),
        quadratic(names::SKCE_UNBIASED, |data| {
            let estimate = || skce(Skce::unbiased(data.kernel), data);
            data.unbiased.map_or_else(estimate, Ok)
        }),
        linear(names::SKCE_LINEAR, |data| {
            let linear = Skce::linear(data.kernel);
            Ok(linear.size(data.predictions, data.targets)?.estimate())
        }),
    ];
    estimates.extend(P::estimates());
    estimates
}

/// The tests of all predictions, and those of a kind.
pub fn tests<P: Kind>() -> Vec<Test<P>> {
    let mut tests = vec![
        test(
            "skce_unbiased_asymptotic",
            "SKCE unbiased, asymptotic",
            |kernel: P::Joint, _, _| Box::new(AsymptoticSkceTest::new(kernel)),
        ),
        test(
            "skce_linear_asymptotic",
            "SKCE linear, asymptotic",
            |kernel, _, _| Box::new(AsymptoticBlockSkceTest::linear(kernel)),
        ),
        test(
            "skce_block_asymptotic",
            "SKCE blocks of 25, asymptotic",
            |kernel, _, _| Box::new(AsymptoticBlockSkceTest::new(kernel, BLOCK)),
        ),
        test("cme", "CME, 10 locations", |kernel, _, _| {
            Box::new(CmeTest::new(kernel, 10))
        }),
        test(
            "skce_unbiased_exact",
            "SKCE unbiased, exact",
            |kernel, _, replicates| P::exact(Skce::unbiased(kernel), replicates),
        ),
        test(
            "skce_biased_distribution_free",
            "SKCE biased, distribution-free",
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::biased(kernel))),
        ),
        test(
            "skce_unbiased_distribution_free",
            "SKCE unbiased, distribution-free",
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::unbiased(kernel))),
        ),
        test(
            "skce_linear_distribution_free",
            "SKCE linear, distribution-free",
            |kernel, _, _| Box::new(DistributionFreeSkceTest::new(Skce::linear(kernel))),
        ),
    ];
    tests.extend(P::tests());
    tests
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

/// The names of all tests: every test is there for classes.
pub fn test_keys() -> Vec<&'static str> {
    let tests = tests::<Categorical>().into_iter();
    tests.map(|test| test.name.key).collect()
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

fn score(data: &Data<Categorical>, score: impl Score<Categorical>) -> Result<f64> {
    Ok(score.upper_bound(data.predictions, data.targets)?.estimate)
}

/// The expected calibration error of an event, as `evaluate` and `compare` have it.
pub fn ece_of_event(
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    event: Event,
) -> Result<f64> {
    binned_ece(event).estimate(predictions, labels)
}

pub fn estimates_of_classes() -> Vec<Estimate<Categorical>> {
    vec![
        linear(
            Name::new("ece_uniform", "ECE, 10 uniform bins a class"),
            |data| Ece::uniform(10).estimate(data.predictions, data.targets),
        ),
        linear(
            Name::new("ece_median_variance", "ECE, median-variance bins"),
            |data| Ece::median_variance(100).estimate(data.predictions, data.targets),
        ),
        linear(names::ECE_TOP_LABEL, |data| {
            ece_of_event(data.predictions, data.targets, data.event)
        })
        .of(Of::Event),
        linear(names::KS, |data| {
            KolmogorovSmirnov::new(data.event).estimate(data.predictions, data.targets)
        })
        .of(Of::Event),
        linear(names::BRIER, |data| score(data, Brier)).of(Of::WholeOfBoth),
        linear(
            Name::new("brier_miscalibration", "Brier, CORP miscalibration"),
            |data| Ok(corp(data, &Brier)?.miscalibration),
        )
        .of(Of::OneOfBoth),
        linear(
            Name::new("brier_discrimination", "Brier, CORP discrimination"),
            |data| Ok(corp(data, &Brier)?.discrimination),
        )
        .of(Of::OneOfBoth),
        linear(
            Name::new("brier_uncertainty", "Brier, CORP uncertainty"),
            |data| Ok(corp(data, &Brier)?.uncertainty),
        )
        .of(Of::OneOfBoth),
        linear(names::LOG, |data| score(data, LogScore)),
        linear(
            Name::new("log_miscalibration", "log, CORP miscalibration"),
            |data| Ok(corp(data, &LogScore)?.miscalibration),
        )
        .of(Of::One),
        linear(
            Name::new("log_discrimination", "log, CORP discrimination"),
            |data| Ok(corp(data, &LogScore)?.discrimination),
        )
        .of(Of::One),
        linear(
            Name::new("log_uncertainty", "log, CORP uncertainty"),
            |data| Ok(corp(data, &LogScore)?.uncertainty),
        )
        .of(Of::One),
        linear(
            Name::new(
                "cox_in_the_large",
                "Cox intercept, slope 1 (0 if calibrated)",
            ),
            |data| {
                let cox = Cox::new(Event::one_of(data.predictions));
                Ok(cox.in_the_large(data.predictions, data.targets)?.estimate)
            },
        )
        .of(Of::One),
        linear(
            Name::new(
                "cox_intercept",
                "Cox intercept, with slope (0 if calibrated)",
            ),
            |data| Ok(cox(data)?.intercept.estimate),
        )
        .of(Of::One),
        linear(
            Name::new("cox_slope", "Cox slope (1 if calibrated)"),
            |data| Ok(cox(data)?.slope.estimate),
        )
        .of(Of::One),
    ]
}

/// The decomposition of a score of one event.
fn corp(data: &Data<Categorical>, score: &dyn Divergence) -> Result<Corp> {
    let event = Event::one_of(data.predictions);
    Corp::of(score, event, data.predictions, data.targets)
}

fn cox(data: &Data<Categorical>) -> Result<CoxFit> {
    let cox = Cox::new(Event::one_of(data.predictions));
    cox.fit(data.predictions, data.targets)
}

pub fn tests_of_classes() -> Vec<Test<Categorical>> {
    vec![
        test(
            "ece_top_label_exact",
            "ECE, 15 equal-width bins, exact",
            |_, view, replicates| {
                Box::new(ExactTest::new(binned_ece(view.event)).with_replicates(replicates))
            },
        )
        .of(Of::Event),
        test(
            "ece_top_label_consistency",
            "ECE, 15 equal-width bins, consistency",
            |_, view, replicates| {
                let ece = binned_ece(view.event);
                Box::new(ConsistencyTest::new(ece).with_replicates(replicates))
            },
        )
        .of(Of::Event),
        test("spiegelhalter", "Spiegelhalter, normal", |_, view, _| {
            Box::new(Spiegelhalter::new(event_of(view)))
        })
        .of(Of::One),
        test(
            "spiegelhalter_exact",
            "Spiegelhalter, exact",
            |_, view, replicates| exact(Spiegelhalter::new(event_of(view)), replicates),
        )
        .of(Of::One),
        test(
            "hosmer_lemeshow",
            "Hosmer-Lemeshow, chi-squared",
            |_, view, _| Box::new(HosmerLemeshow::new(event_of(view))),
        )
        .of(Of::One),
        test(
            "hosmer_lemeshow_exact",
            "Hosmer-Lemeshow, exact",
            |_, view, replicates| exact(HosmerLemeshow::new(event_of(view)), replicates),
        )
        .of(Of::One),
        test("cox", "Cox, chi-squared", |_, view, _| {
            Box::new(Cox::new(event_of(view)))
        })
        .of(Of::One),
        test("cox_exact", "Cox, exact", |_, view, replicates| {
            exact(Cox::new(event_of(view)), replicates)
        })
        .of(Of::One),
    ]
}

fn exact(
    statistic: impl Statistic + 'static,
    replicates: usize,
) -> Box<dyn CalibrationTest<Categorical>> {
    Box::new(ExactTest::new(statistic).with_replicates(replicates))
}

/// The event of the tests of one event.
fn event_of(view: &View<Categorical>) -> Event {
    Event::one_of(&view.predictions)
}

/// The estimates of predictions of real numbers; the log score only where there is a density.
pub fn estimates_of_vectors<P: Vectors + Kind<Targets = Tensor<2>>>() -> Vec<Estimate<P>> {
    fn mean(mean: Result<MeanEstimate>) -> Result<f64> {
        Ok(mean?.estimate)
    }
    fn coverage<P: Vectors + Kind<Targets = Tensor<2>>>(data: &Data<P>, level: f64) -> Result<f64> {
        let intervals = IntervalCoverage::estimate(data.predictions, data.targets, level)?;
        Ok(intervals.coverage.estimate)
    }
    let mut estimates: Vec<Estimate<P>> = Vec::new();
    if P::LOG_SCORE.is_some() {
        estimates.push(linear(names::LOG, |data| {
            let log_score = P::LOG_SCORE.expect("a density");
            let each = log_score(data.predictions, data.targets)?;
            Ok(each.iter().sum::<f64>() / each.len() as f64)
        }));
    }
    estimates.extend([
        linear(names::CRPS, |data: &Data<P>| {
            mean(Crps.mean(data.predictions, data.targets))
        }),
        linear(Name::new("pinball", "pinball loss, 19 levels"), |data| {
            mean(Pinball::default().estimate(data.predictions, data.targets))
        }),
        linear(names::QUANTILE_CALIBRATION.with("19 levels"), |data| {
            QuantileCalibration::default().estimate(data.predictions, data.targets)
        }),
        linear(names::COVERAGE_50, |data| coverage(data, 0.5)),
        linear(names::COVERAGE_90, |data| coverage(data, 0.9)),
        linear(names::STANDARD_DEVIATION, |data| {
            mean(
                Sharpness::estimate(data.predictions).map(|sharpness| sharpness.standard_deviation),
            )
        }),
        linear(Name::new("ence", "ENCE, 15 bins"), |data| {
            Ence::default().estimate(data.predictions, data.targets)
        }),
    ]);
    estimates
}
