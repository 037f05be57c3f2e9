//! The estimates and tests of predictions over real vectors.

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{AbsoluteMoments, Laplace, Marginals, Mixture, Normal, Samples},
    error::Result,
    estimator::{
        Skce,
        regression::{Ence, IntervalCoverage, Pinball, QuantileCalibration, Sharpness},
    },
    hypothesis::*,
    kernel::{RealKernel, TargetKernel, TensorKernel},
    score::{Crps, DawidSebastiani, LogScore, Score},
};
use clap::ValueEnum;

use crate::{
    output::{Name, key},
    quantities::TestName,
};

/// An estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum EstimateName {
    SkceBiased,
    SkceUnbiased,
    SkceLinear,
    Log,
    Crps,
    DawidSebastiani,
    Pinball,
    QuantileCalibration,
    #[value(name = "coverage_50")]
    Coverage50,
    #[value(name = "coverage_90")]
    Coverage90,
    StandardDeviation,
    Ence,
}

impl EstimateName {
    /// Whether the cost grows with the square of the number of samples.
    pub fn is_quadratic(self) -> bool {
        matches!(self, Self::SkceBiased | Self::SkceUnbiased)
    }

    /// A line for the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::SkceBiased => "SKCE, biased",
            Self::SkceUnbiased => "SKCE, unbiased",
            Self::SkceLinear => "SKCE, linear",
            Self::Log => "log score",
            Self::Crps => "CRPS",
            Self::DawidSebastiani => "Dawid-Sebastiani score",
            Self::Pinball => "pinball loss, 19 levels",
            Self::QuantileCalibration => "quantile calibration, 19 levels",
            Self::Coverage50 => "coverage of 50 % intervals",
            Self::Coverage90 => "coverage of 90 % intervals",
            Self::StandardDeviation => "mean standard deviation",
            Self::Ence => "ENCE, 15 bins",
        }
    }

    pub fn name(self) -> Name {
        Name {
            key: key(self),
            title: self.title(),
        }
    }

    pub fn compute<P: Scored>(
        self,
        kernel: TensorKernel<RealKernel>,
        predictions: &P,
        targets: &Tensor<2>,
    ) -> Result<f64>
    where
        RealKernel: TargetKernel<P>,
    {
        match self {
            Self::SkceBiased => Skce::biased(kernel).estimate(predictions, targets),
            Self::SkceUnbiased => Skce::unbiased(kernel).estimate(predictions, targets),
            Self::SkceLinear => Skce::linear(kernel).estimate(predictions, targets),
            Self::Log => predictions.log_score(targets),
            Self::Crps => Ok(Crps.mean(predictions, targets)?.estimate),
            Self::DawidSebastiani => Ok(DawidSebastiani.mean(predictions, targets)?.estimate),
            Self::Pinball => Ok(Pinball::default().estimate(predictions, targets)?.estimate),
            Self::QuantileCalibration => {
                QuantileCalibration::default().estimate(predictions, targets)
            }
            Self::Coverage50 => coverage(predictions, targets, 0.5),
            Self::Coverage90 => coverage(predictions, targets, 0.9),
            Self::StandardDeviation => Ok(Sharpness::estimate(predictions)?
                .standard_deviation
                .estimate),
            Self::Ence => Ence::default().estimate(predictions, targets),
        }
    }
}

fn coverage<P: Marginals>(predictions: &P, targets: &Tensor<2>, level: f64) -> Result<f64> {
    let intervals = IntervalCoverage::estimate(predictions, targets, level)?;
    Ok(intervals.coverage.estimate)
}

/// A family of the command line.
pub trait Scored: Marginals + AbsoluteMoments + 'static {
    /// The mean log score, where there is a density.
    fn log_score(&self, targets: &Tensor<2>) -> Result<f64>;

    /// The estimates that there are.
    fn estimates(&self) -> Vec<EstimateName> {
        EstimateName::value_variants().to_vec()
    }
}

macro_rules! with_density {
    ($($family:ty),*) => {$(
        impl Scored for $family {
            fn log_score(&self, targets: &Tensor<2>) -> Result<f64> {
                Ok(LogScore.mean(self, targets)?.estimate)
            }
        }
    )*};
}
with_density!(Normal, Laplace, Mixture<Normal>);

impl Scored for Samples {
    fn log_score(&self, _targets: &Tensor<2>) -> Result<f64> {
        unreachable!("not among the estimates")
    }

    fn estimates(&self) -> Vec<EstimateName> {
        let all = EstimateName::value_variants().iter().copied();
        all.filter(|estimate| *estimate != EstimateName::Log)
            .collect()
    }
}

/// A test that is not of classes.
pub fn test<P: Scored>(
    name: TestName,
    kernel: TensorKernel<RealKernel>,
    replicates: usize,
) -> Box<dyn CalibrationTest<P>>
where
    RealKernel: TargetKernel<P>,
{
    let unbiased = Skce::unbiased(kernel);
    let asymptotic = AsymptoticSkceTest::new(kernel).with_replicates(replicates);
    match name {
        TestName::SkceUnbiasedAsymptotic => Box::new(asymptotic),
        TestName::SkceUnbiasedBootstrap => {
            Box::new(asymptotic.with_null(NullDistribution::Bootstrap))
        }
        TestName::SkceLinearAsymptotic => Box::new(AsymptoticBlockSkceTest::linear(kernel)),
        TestName::SkceBlockAsymptotic => Box::new(AsymptoticBlockSkceTest::new(kernel, 25)),
        TestName::Cme => Box::new(CmeTest::new(kernel, 10)),
        TestName::SkceUnbiasedExact => {
            Box::new(ExactTest::new(unbiased).with_replicates(replicates))
        }
        TestName::SkceBiasedDistributionFree => {
            Box::new(DistributionFreeSkceTest::new(Skce::biased(kernel)))
        }
        TestName::SkceUnbiasedDistributionFree => Box::new(DistributionFreeSkceTest::new(unbiased)),
        TestName::SkceLinearDistributionFree => {
            Box::new(DistributionFreeSkceTest::new(Skce::linear(kernel)))
        }
        TestName::SkceFeatures | TestName::EceTopLabelExact | TestName::EceTopLabelConsistency => {
            unreachable!("of classes")
        }
    }
}
