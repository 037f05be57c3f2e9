//! Classes and numbers: what differs between them.

use burn::tensor::{Device, Int, Tensor};
use burn_calibration::distribution::Normal;
use burn_calibration::{
    distribution::Batch as _,
    error::Result,
    estimator::{Tce, regression::QuantileCalibration},
    hypothesis::Omnibus,
    prelude::*,
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    data::{Kind, Rows},
    setting::Numbers,
};

/// The bandwidth by which all networks are compared, in units of total variation.
const WIDTH: f64 = 0.5;
/// That of predicted normal distributions, by their 2-Wasserstein distance: targets are standardised.
const WIDTH_REAL: f64 = 0.5;
/// The length scale of the kernel on targets.
pub const LENGTH: f64 = 0.5;
/// No predicted standard deviation is below this.
const FLOOR: f64 = 1e-3;
/// Redraws and most samples of the omnibus test.
const REDRAWS: usize = 199;
const MOST_TESTED: usize = 1000;

/// The predictions of a network.
pub trait Task: Predictive + Omnibus {
    /// Outputs of the network.
    fn outputs(kind: Kind) -> usize;

    /// From the output `[n, outputs]`.
    fn of(output: Tensor<2>) -> Self;

    fn targets(rows: &Rows, device: &Device) -> Self::Targets;

    /// The log score, `[1]`.
    fn base(&self, targets: &Self::Targets) -> Tensor<1>;

    /// With the temperature that these validation predictions ask for, and the temperature.
    fn recalibrated(self, validation: Self, targets: Self::Targets) -> Result<(Self, f64)>;

    /// All but the p-value.
    fn numbers(&self, targets: &Self::Targets) -> Result<Numbers>;

    /// The p-value of the omnibus test on the first thousand.
    fn p_value(&self, targets: &Self::Targets) -> Result<f64> {
        let rows = 0..self.len().min(MOST_TESTED);
        let test = OmnibusTest::new().with_redraws(REDRAWS);
        let mut rng = StdRng::seed_from_u64(0);
        let targets = burn_calibration::distribution::Targets::slice_rows(targets, rows.clone());
        let outcome = test.outcome(&self.slice_rows(rows), &targets, &mut rng)?;
        Ok(outcome.p_value)
    }
}

impl Task for Categorical {
    fn outputs(kind: Kind) -> usize {
        match kind {
            Kind::Classes(m) => m,
            Kind::Real => unreachable!("numbers are predicted by a normal distribution"),
        }
    }

    fn of(output: Tensor<2>) -> Self {
        Self::from_logits_unchecked(output)
    }

    fn targets(rows: &Rows, device: &Device) -> Tensor<1, Int> {
        rows.labels(device)
    }

    fn base(&self, labels: &Tensor<1, Int>) -> Tensor<1> {
        ScoreLoss::new(LogScore).value(self, labels)
    }

    fn recalibrated(self, validation: Self, labels: Tensor<1, Int>) -> Result<(Self, f64)> {
        let logits = |p: &Self| p.logits().unwrap_or_else(|| p.log_probabilities());
        let map = TemperatureScalingConfig::new().fit(logits(&validation), labels)?;
        Ok((
            Self::from_logits(map.forward(logits(&self)))?,
            map.temperature(),
        ))
    }

    fn numbers(&self, labels: &Tensor<1, Int>) -> Result<Numbers> {
        let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(WIDTH));
        Ok(Numbers {
            accuracy: Accuracy.estimate(self, labels)?,
            log_loss: LogScore.mean(self, labels)?.estimate,
            brier: Brier.mean(self, labels)?.estimate,
            skce: Skce::unbiased(kernel).estimate(self, labels)?,
            ece: Tce::default().estimate(self, labels)?,
            p_value: None,
        })
    }
}

impl Task for Normal {
    fn outputs(_: Kind) -> usize {
        2
    }

    fn of(output: Tensor<2>) -> Self {
        Self::from_raw(output, FLOOR)
    }

    fn targets(rows: &Rows, device: &Device) -> Tensor<2> {
        rows.numbers(device)
    }

    fn base(&self, targets: &Tensor<2>) -> Tensor<1> {
        ScoreLoss::new(LogScore).value(self, targets)
    }

    fn recalibrated(self, validation: Self, targets: Tensor<2>) -> Result<(Self, f64)> {
        let map = VarianceScalingConfig::new().fit(validation, targets)?;
        let factor = map.factors()[0];
        Ok((map.forward(self), factor * factor))
    }

    fn numbers(&self, targets: &Tensor<2>) -> Result<Numbers> {
        let kernel = real_kernel(Bandwidth::Fixed(WIDTH_REAL));
        let square = (self.mean() - targets.clone()).square().mean();
        Ok(Numbers {
            accuracy: f64::from(square.into_scalar::<f32>()).sqrt(),
            log_loss: LogScore.mean(self, targets)?.estimate,
            brier: Crps.mean(self, targets)?.estimate,
            skce: Skce::unbiased(kernel).estimate(self, targets)?,
            ece: QuantileCalibration::default().estimate(self, targets)?,
            p_value: None,
        })
    }
}

/// `exp(−W₂/ν) ⊗ exp(−(y − y')²/2ℓ²)`.
pub fn real_kernel(bandwidth: Bandwidth) -> TensorKernel<RealKernel> {
    TensorKernel::wasserstein(RealKernel::gaussian(LENGTH)).with_bandwidth(bandwidth)
}
