//! The tests that are compared.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Geometry, Marginals, Normal, Predictive},
    error::{Error, Result},
    estimator::{Ece, KolmogorovSmirnov, Mmce, Skce, Tce, regression::Pit},
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, CmeTest, ConsistencyTest,
        DistributionFreeSkceTest, ExactTest, Omnibus, OmnibusOutcome, OmnibusTest, Summarised,
        ToleranceTest,
    },
    kernel::{Kernel, RealKernel, TargetKernel, TensorKernel},
    score::{Overconfidence, Quantify},
};
use rand::rngs::StdRng;
use statrs::distribution::{ContinuousCDF, StudentsT};

use burn_calibration_testing::bootstrap::Bootstrap;

use crate::models::Trend;

/// The p-values of each column of a table.
pub type PValues = Vec<Vec<f64>>;
type Run<P> = dyn Fn(&P, &<P as Predictive>::Targets, &mut StdRng) -> Result<PValues> + Sync;

/// What is asked of a data set, in one or several columns. Of several p-values in a column the one that
/// rejects most often is shown.
pub struct Test<P: Predictive> {
    pub columns: Vec<&'static str>,
    pub p_values: Box<Run<P>>,
}

/// A column of one p-value.
fn single<P: Predictive>(
    name: &'static str,
    p_value: impl Fn(&P, &P::Targets, &mut StdRng) -> Result<f64> + Sync + 'static,
) -> Test<P> {
    Test {
        columns: vec![name],
        p_values: Box::new(move |predictions, targets, rng| {
            Ok(vec![vec![p_value(predictions, targets, rng)?]])
        }),
    }
}

pub fn test<P: Predictive>(
    name: &'static str,
    test: impl CalibrationTest<P> + Sync + 'static,
) -> Test<P> {
    single(name, move |predictions, targets, rng| {
        match test.outcome(predictions, targets, rng) {
            Ok(outcome) => Ok(outcome.p_value),
            // no rejection
            Err(Error::SingularCovariance { .. } | Error::ZeroVariance { .. }) => Ok(1.0),
            Err(error) => Err(error),
        }
    })
}

/// The omnibus test, and its aspects.
pub fn aspects<P: Omnibus>(redraws: usize) -> Test<P> {
    let test = OmnibusTest::new().with_redraws(redraws);
    Test {
        columns: vec!["omnibus", "worst aspect"],
        p_values: Box::new(move |predictions, targets, rng| {
            let outcome = test.outcome(predictions, targets, rng)?;
            let aspects = outcome.aspects.iter().map(|aspect| aspect.p_value);
            Ok(vec![vec![outcome.p_value], aspects.collect()])
        }),
    }
}

/// Whose levels are asked for.
pub fn levels(redraws: usize) -> Vec<Test<Categorical>> {
    let kernel = Kernel::exponential();
    vec![
        aspects(redraws),
        test("block, B = 5", AsymptoticBlockSkceTest::new(kernel, 5)),
        test("CME", CmeTest::new(kernel, 10)),
    ]
}

/// Each class against the rest, adjusted together: the smallest adjusted p-value.
pub fn class_wise(redraws: usize) -> Test<Categorical> {
    single(
        "any verdict",
        move |predictions: &Categorical, labels, rng| {
            let m = predictions.classes();
            let test = OmnibusTest::new().with_redraws(redraws).as_one_of(m);
            let outcome = |class| {
                let (against_rest, is_class) = predictions.class_wise(class, labels)?;
                test.outcome(&against_rest, &is_class, rng)
            };
            let outcomes = (0..m).map(outcome).collect::<Result<Vec<_>>>()?;
            let adjusted = OmnibusOutcome::together(outcomes).into_iter();
            let p_values = adjusted.filter_map(|outcome| outcome.adjusted_p_value);
            Ok(p_values.fold(1.0, f64::min))
        },
    )
}

/// Tests that are asymptotic, or that bound their level, and the exact test of the same estimate.
pub fn asymptotic(redraws: usize) -> Vec<Test<Categorical>> {
    let kernel = Kernel::exponential();
    let biased = DistributionFreeSkceTest::new(Skce::biased(kernel));
    vec![
        test("SKCE, gamma", AsymptoticSkceTest::new(kernel)),
        test(
            "SKCE, bootstrap",
            Bootstrap {
                kernel,
                replicates: 1000,
            },
        ),
        test(
            "SKCE, exact",
            ExactTest::new(Skce::unbiased(kernel)).with_replicates(redraws),
        ),
        test("linear", AsymptoticBlockSkceTest::linear(kernel)),
        test("block, B = 5", AsymptoticBlockSkceTest::new(kernel, 5)),
        test("block, B = 16", AsymptoticBlockSkceTest::new(kernel, 16)),
        test("block, B = 50", AsymptoticBlockSkceTest::new(kernel, 50)),
        test("CME", CmeTest::new(kernel, 10)),
        test(
            "ECE, consistency",
            ConsistencyTest::new(Ece::default()).with_replicates(redraws),
        ),
        test("distribution-free, biased", biased),
    ]
}

/// Whose powers are compared; the asymptotic tests of the SKCE take long for many samples.
pub fn powers(redraws: usize, asymptotic: bool) -> Vec<Test<Categorical>> {
    let kernel = Kernel::exponential();
    fn exact<S>(statistic: S, redraws: usize) -> ExactTest<S> {
        ExactTest::new(statistic).with_replicates(redraws)
    }
    let mut tests = vec![
        test(
            "omnibus",
            Summarised(OmnibusTest::new().with_redraws(redraws)),
        ),
        test(
            "exact, SKCE unbiased",
            exact(Skce::unbiased(kernel), redraws),
        ),
        test("exact, SKCE biased", exact(Skce::biased(kernel), redraws)),
        test("exact, MMCE", exact(Mmce::default(), redraws)),
        test("exact, ECE", exact(Ece::default(), redraws)),
        test("exact, TCE unbiased", exact(Tce::default(), redraws)),
        test("exact, KS", exact(KolmogorovSmirnov::default(), redraws)),
    ];
    if asymptotic {
        tests.extend([
            test("gamma, the default before", AsymptoticSkceTest::new(kernel)),
            test(
                "bootstrap",
                Bootstrap {
                    kernel,
                    replicates: 1000,
                },
            ),
        ]);
    }
    tests
}

/// Of predictions of real numbers; the asymptotic test of the SKCE takes long for mixtures.
pub fn real<P: Marginals + Geometry + Omnibus>(redraws: usize, asymptotic: bool) -> Vec<Test<P>>
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    let pit = |predictions: &P, targets: &P::Targets, rng: &mut StdRng| {
        let pit = Pit::randomised(predictions, targets, rng)?;
        Ok(pit.kolmogorov_smirnov(0).p_value)
    };
    let mut tests = vec![aspects(redraws), single("KS of the PIT", pit)];
    if asymptotic {
        tests.push(test("gamma, SKCE", AsymptoticSkceTest::new(kernel)));
    }
    tests
}

/// The omnibus test, its aspect of a trend alone, and the usual test of the trend: Student's of the correlation of two
/// columns.
pub fn trend(redraws: usize, trend: Trend) -> Test<Normal> {
    Test {
        columns: vec!["omnibus", "the aspect alone", "Student's test"],
        p_values: Box::new(move |predictions, targets: &Tensor<2>, rng| {
            let test = OmnibusTest::new().with_redraws(redraws);
            let outcome = test.outcome(predictions, targets, rng)?;
            let name = match trend {
                Trend::VarianceByDeviation => "spread_by_deviation",
                Trend::Slope => "location_by_mean",
                Trend::Correlation => "correlation",
            };
            let aspect = outcome.aspects.iter().find(|aspect| aspect.name == name);
            let alone = aspect.expect("the aspect").p_value;
            let [means, deviations] = [predictions.means(), predictions.variances().sqrt()];
            let scores = (targets.clone() - means.clone()) / deviations.clone();
            let [first, last] = [0, scores.dims()[1] - 1];
            let column = |of: &Tensor<2>, at: usize| -> Vec<f64> {
                of.clone().slice_dim(1, at).into_data().iter().collect()
            };
            let (x, y) = match trend {
                Trend::VarianceByDeviation => (
                    column(&deviations, 0),
                    column(&(scores.clone() * scores), 0),
                ),
                Trend::Slope => (column(&means, 0), column(&scores, 0)),
                Trend::Correlation => (column(&scores, first), column(&scores, last)),
            };
            Ok([outcome.p_value, alone, of_correlation(&x, &y)]
                .map(|p| vec![p])
                .to_vec())
        }),
    }
}

/// The two-sided p-value of Student's test of a correlation.
fn of_correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let [mean_x, mean_y] = [x, y].map(|numbers| numbers.iter().sum::<f64>() / n);
    let sum = |of: fn(f64, f64) -> f64| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| of(x - mean_x, y - mean_y))
            .sum()
    };
    let [xx, xy, yy] = [sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y)];
    let r = xy / (xx * yy).sqrt();
    let t = r * ((n - 2.0) / (1.0 - r * r)).sqrt();
    let student = StudentsT::new(0.0, 1.0, n - 2.0).expect("degrees of freedom");
    2.0 * student.cdf(-t.abs())
}

/// Whether errors are above some tolerances.
pub fn tolerance(tolerance: f64) -> Vec<Test<Categorical>> {
    vec![
        test(
            "overconfidence",
            ToleranceTest::new(Overconfidence::default(), tolerance),
        ),
        test(
            "ECE of order 2, unbiased",
            ToleranceTest::new(Tce::default(), tolerance),
        ),
    ]
}

/// Whether a confidence interval of 95 % misses 0, the error of a calibrated model: as p-values.
pub fn coverage() -> Vec<Test<Categorical>> {
    fn misses(name: &'static str, error: impl Quantify + Sync + 'static) -> Test<Categorical> {
        single(name, move |predictions, labels: &Tensor<1, Int>, _| {
            let interval = error.size(predictions, labels)?.interval(0.95)?;
            let covers = interval.lower <= 0.0 && interval.upper >= 0.0;
            Ok(if covers { 1.0 } else { 0.05 })
        })
    }
    vec![
        misses("overconfidence", Overconfidence::default()),
        misses("ECE of order 2, unbiased", Tce::default()),
        misses("SKCE", Skce::unbiased(Kernel::exponential())),
    ]
}
