//! What the kernel of a kind of prediction gives: the SKCE, its size and its tests.

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Geometry, Given, QuantileForecasts},
    error,
    estimator::{JointKernel, PairMatrix, Skce},
    hypothesis::*,
    kernel::Kernel,
    names,
    ops::Computation,
};
use burn_calibration_report::{Distances, Estimate, NamedEstimates, View};
use rand::rngs::StdRng;

use super::test;
use crate::{
    args::KernelArgs,
    error::Result,
    kernel::fixed,
    kind::{Build, Kind, Test, WithKernel},
    limits::{BLOCK, QUADRATIC_LIMIT},
};

/// Quantities of a kernel on predictions and targets: none, unless there is such a kernel.
pub trait Pairs<P: Kind>: Distances<P> + 'static {
    /// The kernel on predictions that the arguments ask for, with its bandwidth fixed.
    fn asked(_args: &KernelArgs, _predictions: &P) -> Result<Option<Kernel>> {
        Ok(None)
    }

    /// The estimates whose cost is the square of the number of samples; the unbiased one may be known.
    fn quadratic(self, _view: &View<P>, _unbiased: Option<f64>) -> NamedEstimates {
        vec![]
    }

    /// The tests of the SKCE.
    fn tests() -> Vec<Test<P>> {
        vec![]
    }

    /// The outcome of a test given points beside the predictions.
    fn given(
        _test: GivenTest,
        _view: &View<P>,
        _points: Tensor<2>,
        _rng: &mut StdRng,
    ) -> Option<error::Result<OmnibusOutcome>> {
        None
    }
}

/// Forecasts by quantiles have no distance.
impl Pairs<QuantileForecasts> for () {}

impl<P, K> Pairs<P> for K
where
    P: Kind<Kernel = K> + WithKernel,
    K: JointKernel<P> + Copy + 'static,
    Skce<K>: Statistic<P>,
    Given<P>: Omnibus<Targets = P::Targets>,
{
    fn asked(args: &KernelArgs, predictions: &P) -> Result<Option<Kernel>> {
        fixed(args, predictions).map(Some)
    }

    fn quadratic(self, view: &View<P>, unbiased: Option<f64>) -> NamedEstimates {
        let (predictions, targets, of) = (&view.predictions, &view.targets, &view.of.whole);
        let n = predictions.len();
        if n > QUADRATIC_LIMIT {
            let reason = format!(
                "its cost grows with the square of the number of samples, {n}, which is above {QUADRATIC_LIMIT}"
            );
            let skipped = |name| (name, Estimate::skipped(of, &reason));
            let names = [names::SKCE_BIASED, names::SKCE_UNBIASED];
            return names.map(skipped).into();
        }
        let skce = |skce: Skce<K>| skce.fair_estimate(predictions, targets);
        // with weights the diagonal is another sum
        let unbiased = unbiased.filter(|_| predictions.sample_weights().is_none());
        let biased = match unbiased {
            None => skce(Skce::biased(self)),
            // n²·SKCE_b = Σ_i h_ii + n(n − 1)·SKCE_uq
            Some(unbiased) => {
                let pairs = PairMatrix::fair(&self, Computation::Auto, predictions, targets);
                let mean = pairs.map(|pairs| pairs.diagonal().mean().into_scalar::<f64>());
                mean.map(|mean| (mean + (n as f64 - 1.0) * unbiased) / n as f64)
            }
        };
        let unbiased = unbiased.map_or_else(|| skce(Skce::unbiased(self)), Ok);
        vec![
            (names::SKCE_BIASED, Estimate::new(of, biased)),
            (names::SKCE_UNBIASED, Estimate::new(of, unbiased)),
        ]
    }

    fn tests() -> Vec<Test<P>> {
        fn free<P: Geometry, K: JointKernel<P> + 'static>(
            skce: Skce<K>,
        ) -> Box<dyn CalibrationTest<P>> {
            Box::new(DistributionFreeSkceTest::new(skce))
        }
        let of_whole: [(&str, &str, Build<P>); 8] = [
            (
                "skce_unbiased_asymptotic",
                "SKCE unbiased, asymptotic",
                |kernel, _, _| Box::new(AsymptoticSkceTest::new(kernel)),
            ),
            (
                "skce_linear_asymptotic",
                "SKCE linear, asymptotic",
                |kernel, _, _| Box::new(AsymptoticBlockSkceTest::linear(kernel)),
            ),
            (
                "skce_block_asymptotic",
                "SKCE blocks of 25, asymptotic",
                |kernel, _, _| Box::new(AsymptoticBlockSkceTest::new(kernel, BLOCK)),
            ),
            ("cme", "CME, 10 locations", |kernel, _, _| {
                Box::new(CmeTest::new(kernel, 10))
            }),
            (
                "skce_unbiased_exact",
                "SKCE unbiased, exact",
                |kernel, _, replicates| {
                    Box::new(ExactTest::new(Skce::unbiased(kernel)).with_replicates(replicates))
                },
            ),
            (
                "skce_biased_distribution_free",
                "SKCE biased, distribution-free",
                |kernel, _, _| free(Skce::biased(kernel)),
            ),
            (
                "skce_unbiased_distribution_free",
                "SKCE unbiased, distribution-free",
                |kernel, _, _| free(Skce::unbiased(kernel)),
            ),
            (
                "skce_linear_distribution_free",
                "SKCE linear, distribution-free",
                |kernel, _, _| free(Skce::linear(kernel)),
            ),
        ];
        of_whole.map(|entry| test(|of| &of.whole, entry)).into()
    }

    fn given(
        test: GivenTest,
        view: &View<P>,
        points: Tensor<2>,
        rng: &mut StdRng,
    ) -> Option<error::Result<OmnibusOutcome>> {
        let given = Given::new(view.predictions.clone(), points);
        Some(test.outcome(&given, &view.targets, rng))
    }
}
