//! The tests that are compared.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Geometry, Marginals, Predictive},
    error::{Error, Result},
    estimator::{Ece, KolmogorovSmirnov, Mmce, Skce, Tce, regression::Pit},
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, CmeTest, ExactTest,
        FeatureTest, NullDistribution, Omnibus, OmnibusTest, ToleranceTest,
    },
    kernel::{Kernel, RealKernel, TargetKernel, TensorKernel},
    score::{Overconfidence, Quantify},
};
use rand::rngs::StdRng;

type Run<P> = dyn Fn(&P, &<P as Predictive>::Targets, &mut StdRng) -> Result<Vec<f64>> + Sync;

/// One or several p-values of a data set; of several the one that rejects most often is shown.
pub struct Test<P: Predictive> {
    pub name: String,
    pub p_values: Box<Run<P>>,
}

fn test<P: Predictive>(name: &str, test: impl CalibrationTest<P> + Sync + 'static) -> Test<P> {
    Test {
        name: name.into(),
        p_values: Box::new(move |predictions, targets, rng| {
            match test.evaluate(predictions, targets, rng) {
                Ok(outcome) => Ok(vec![outcome.p_value()]),
                // no rejection
                Err(Error::SingularCovariance { .. } | Error::ZeroVariance { .. }) => Ok(vec![1.0]),
                Err(error) => Err(error),
            }
        }),
    }
}

/// The omnibus test, and its aspects.
pub fn omnibus<P: Omnibus>(redraws: usize) -> [Test<P>; 2] {
    let test = OmnibusTest::new().with_redraws(redraws);
    let aspects = move |predictions: &P, targets: &P::Targets, rng: &mut StdRng| {
        let outcome = test.outcome(predictions, targets, rng)?;
        Ok(outcome
            .aspects
            .iter()
            .map(|aspect| aspect.p_value)
            .collect())
    };
    [
        self::test("omnibus", test),
        Test {
            name: "worst aspect".into(),
            p_values: Box::new(aspects),
        },
    ]
}

/// Whose levels are asked for.
pub fn levels(redraws: usize) -> Vec<Test<Categorical>> {
    let kernel = Kernel::exponential();
    let mut tests: Vec<_> = omnibus(redraws).into();
    tests.extend([
        test("feature", FeatureTest::new(kernel)),
        test("block, B = 5", AsymptoticBlockSkceTest::new(kernel, 5)),
        test("CME", CmeTest::new(kernel, 10)),
    ]);
    tests
}

/// Whose powers are compared; the asymptotic tests of the SKCE take long for many samples.
pub fn powers(redraws: usize, asymptotic: bool) -> Vec<Test<Categorical>> {
    let kernel = Kernel::exponential();
    let [omnibus, _] = omnibus(redraws);
    let quadratic = |null| AsymptoticSkceTest::new(kernel).with_null(null);
    fn exact<S>(statistic: S, redraws: usize) -> ExactTest<S> {
        ExactTest::new(statistic).with_replicates(redraws)
    }
    let mut tests = vec![
        omnibus,
        test("feature", FeatureTest::new(kernel)),
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
            test(
                "gamma, the default before",
                quadratic(NullDistribution::Gamma),
            ),
            test("bootstrap", quadratic(NullDistribution::Bootstrap)),
        ]);
    }
    tests
}

/// Of predictions of real numbers; the asymptotic test of the SKCE takes long for mixtures.
pub fn real<P: Marginals + Geometry + Omnibus>(redraws: usize, asymptotic: bool) -> Vec<Test<P>>
where
    RealKernel: TargetKernel<P>,
{
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
    let mut tests: Vec<_> = omnibus(redraws).into();
    tests.push(Test {
        name: "KS of the PIT".into(),
        p_values: Box::new(|predictions, targets, rng| {
            let pit = Pit::randomised(predictions, targets, rng)?;
            Ok(vec![pit.kolmogorov_smirnov(0).p_value])
        }),
    });
    if asymptotic {
        tests.push(test("gamma, SKCE", AsymptoticSkceTest::new(kernel)));
    }
    tests
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
    fn misses(name: &str, error: impl Quantify + Sync + 'static) -> Test<Categorical> {
        Test {
            name: name.into(),
            p_values: Box::new(
                move |predictions: &Categorical, labels: &Tensor<1, Int>, _| {
                    let interval = error.size(predictions, labels)?.interval(0.95)?;
                    let covers = interval.lower <= 0.0 && interval.upper >= 0.0;
                    Ok(vec![if covers { 1.0 } else { 0.05 }])
                },
            ),
        }
    }
    vec![
        misses("overconfidence", Overconfidence::default()),
        misses("ECE of order 2, unbiased", Tce::default()),
        misses("SKCE", Skce::unbiased(Kernel::exponential())),
    ]
}
