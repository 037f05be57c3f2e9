//! The estimates and tests that the command offers, under the names of its output.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::Result,
    estimator::{Aspect, Binning, Ece, Event, KolmogorovSmirnov, Skce},
    hypothesis::*,
    kernel::Kernel,
    score::ProperScore,
};
use clap::ValueEnum;

use crate::output::{Name, key};

/// An estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum EstimateName {
    SkceBiased,
    SkceUnbiased,
    SkceLinear,
    EceUniform,
    EceMedianVariance,
    EceTopLabel,
    Ks,
    Brier,
    Log,
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
            Self::EceUniform => "ECE, 10 uniform bins a class",
            Self::EceMedianVariance => "ECE, median-variance bins",
            Self::EceTopLabel => "ECE, top label, 15 equal-width bins",
            Self::Ks => "Kolmogorov-Smirnov, top label",
            Self::Brier => "Brier score",
            Self::Log => "log score",
        }
    }

    pub fn name(self) -> Name {
        Name {
            key: key(self),
            title: self.title(),
        }
    }

    /// The estimate; `event` is the one whose probability the top-label quantities look at.
    pub fn compute(
        self,
        kernel: Kernel,
        event: Event,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<f64> {
        let score = |score: ProperScore| Ok(score.upper_bound(predictions, labels)?.estimate);
        match self {
            Self::SkceBiased => Skce::biased(kernel).estimate(predictions, labels),
            Self::SkceUnbiased => Skce::unbiased(kernel).estimate(predictions, labels),
            Self::SkceLinear => Skce::linear(kernel).estimate(predictions, labels),
            Self::EceUniform => Ece::uniform(10).estimate(predictions, labels),
            Self::EceMedianVariance => Ece::median_variance(100).estimate(predictions, labels),
            Self::EceTopLabel => top_label_ece(event).estimate(predictions, labels),
            Self::Ks => KolmogorovSmirnov::new(event).estimate(predictions, labels),
            Self::Brier => score(ProperScore::Brier),
            Self::Log => score(ProperScore::Log),
        }
    }
}

/// A test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum TestName {
    SkceUnbiasedAsymptotic,
    SkceUnbiasedBootstrap,
    SkceLinearAsymptotic,
    SkceBlockAsymptotic,
    SkceFeatures,
    Cme,
    SkceUnbiasedExact,
    EceTopLabelExact,
    EceTopLabelConsistency,
    SkceBiasedDistributionFree,
    SkceUnbiasedDistributionFree,
    SkceLinearDistributionFree,
}

impl TestName {
    /// A line for the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::SkceUnbiasedAsymptotic => "SKCE unbiased, asymptotic",
            Self::SkceUnbiasedBootstrap => "SKCE unbiased, bootstrap",
            Self::SkceLinearAsymptotic => "SKCE linear, asymptotic",
            Self::SkceBlockAsymptotic => "SKCE blocks of 25, asymptotic",
            Self::SkceFeatures => "features, linear cost",
            Self::Cme => "CME, 10 locations",
            Self::SkceUnbiasedExact => "SKCE unbiased, exact",
            Self::EceTopLabelExact => "ECE top label, exact",
            Self::EceTopLabelConsistency => "ECE top label, consistency",
            Self::SkceBiasedDistributionFree => "SKCE biased, distribution-free",
            Self::SkceUnbiasedDistributionFree => "SKCE unbiased, distribution-free",
            Self::SkceLinearDistributionFree => "SKCE linear, distribution-free",
        }
    }

    pub fn name(self) -> Name {
        Name {
            key: key(self),
            title: self.title(),
        }
    }

    /// Whether it looks at classes, and there is none of predictions over real vectors.
    pub fn is_of_classes(self) -> bool {
        matches!(
            self,
            Self::SkceFeatures | Self::EceTopLabelExact | Self::EceTopLabelConsistency
        )
    }

    /// The test; `event` as for estimates.
    pub fn build(
        self,
        kernel: Kernel,
        event: Event,
        replicates: usize,
    ) -> Box<dyn CalibrationTest> {
        let unbiased = Skce::unbiased(kernel);
        let asymptotic = AsymptoticSkceTest::new(kernel).with_replicates(replicates);
        let ece = top_label_ece(event);
        match self {
            Self::SkceUnbiasedAsymptotic => Box::new(asymptotic),
            Self::SkceUnbiasedBootstrap => {
                Box::new(asymptotic.with_null(NullDistribution::Bootstrap))
            }
            Self::SkceLinearAsymptotic => Box::new(AsymptoticBlockSkceTest::linear(kernel)),
            Self::SkceBlockAsymptotic => Box::new(AsymptoticBlockSkceTest::new(kernel, 25)),
            Self::SkceFeatures => Box::new(FeatureTest::new(kernel)),
            Self::Cme => Box::new(CmeTest::new(kernel, 10)),
            Self::SkceUnbiasedExact => {
                Box::new(ExactTest::new(unbiased).with_replicates(replicates))
            }
            Self::EceTopLabelExact => Box::new(ExactTest::new(ece).with_replicates(replicates)),
            Self::EceTopLabelConsistency => {
                Box::new(ConsistencyTest::new(ece).with_replicates(replicates))
            }
            Self::SkceBiasedDistributionFree => {
                Box::new(DistributionFreeSkceTest::new(Skce::biased(kernel)))
            }
            Self::SkceUnbiasedDistributionFree => Box::new(DistributionFreeSkceTest::new(unbiased)),
            Self::SkceLinearDistributionFree => {
                Box::new(DistributionFreeSkceTest::new(Skce::linear(kernel)))
            }
        }
    }
}

/// With 15 bins of equal width.
fn top_label_ece(event: Event) -> Ece {
    Ece::new(Aspect::Event(event), Binning::Uniform { bins: 15 })
}
