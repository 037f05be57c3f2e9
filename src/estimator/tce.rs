use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Binning, Event, event::Outcomes};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
    estimator::Estimator,
};

/// The estimators of the calibration error of an event, `E|r − P(c | r)|^p`, by bins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TceForm {
    /// `Σ_b (n_b/n) |r̄_b − c̄_b|^p`: biased upward for small bins, downward for wide ones.
    PlugIn {
        /// The order `p ≥ 1`.
        order: f64,
    },
    /// `Σ_b (n_b/n) [(r̄_b − c̄_b)² − c̄_b(1 − c̄_b)/(n_b − 1)]`, the order is 2: the variance of `c̄_b`
    /// is subtracted without bias, so that only the width of the bins remains as a bias, downward.
    /// Can be negative. A bin of one sample adds 0.
    Debiased,
}

impl TceForm {
    pub(crate) fn order(self) -> f64 {
        match self {
            Self::PlugIn { order } => order,
            Self::Debiased => 2.0,
        }
    }

    pub(crate) fn validate(self) -> Result<()> {
        check_order(self.order())
    }

    /// The term of a bin with mean probability `r̄` and frequency `c̄` of the event.
    fn of(self, size: f64, probability: f64, frequency: f64) -> f64 {
        let gap = (probability - frequency).abs();
        match self {
            Self::PlugIn { order } => gap.powf(order),
            Self::Debiased if size < 2.0 => 0.0,
            Self::Debiased => gap * gap - frequency * (1.0 - frequency) / (size - 1.0),
        }
    }

    /// The weighted sum over the bins of one event: size, mean probability and frequency of each.
    pub(crate) fn expected(self, bins: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
        let (sum, samples) = bins.fold((0.0, 0.0), |(sum, samples), (size, r, c)| {
            (sum + size * self.of(size, r, c), samples + size)
        });
        sum / samples
    }
}

/// The order `p` of a calibration error is a finite number of at least 1.
pub(super) fn check_order(order: f64) -> Result<()> {
    let is_valid = order.is_finite() && order >= 1.0;
    let name = "the order of the calibration error";
    check_parameter(is_valid, name, order, "a finite number of at least 1")
}

/// The calibration error of an event of order `p`, `TCE_p = (E|r − P(c | r)|^p)^{1/p}`, by bins; by
/// default that of the top label, debiased, with 15 bins of equal mass.
///
/// Kumar et al. 2019, section 5; Gruber and Buettner 2022, Definition 2.5. With [`TceForm::PlugIn`] of
/// order 1 it is the [`Ece`](super::Ece) of the event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tce {
    /// The event.
    pub event: Event,
    /// The bins.
    pub binning: Binning,
    /// The estimator.
    pub form: TceForm,
}

impl Default for Tce {
    fn default() -> Self {
        Self {
            event: Event::TopLabel,
            binning: Binning::EqualMass { bins: 15 },
            form: TceForm::Debiased,
        }
    }
}

impl Tce {
    /// Sets the event.
    pub fn with_event(self, event: Event) -> Self {
        Self { event, ..self }
    }

    /// Sets the bins.
    pub fn with_binning(self, binning: Binning) -> Self {
        Self { binning, ..self }
    }

    /// Sets the estimator.
    pub fn with_form(self, form: TceForm) -> Self {
        Self { form, ..self }
    }

    /// The estimate of `TCE_p^p`, which can be negative if debiased; shapes, cost and errors as for
    /// [`estimate`](Self::estimate).
    pub fn power(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.form.validate()?;
        let outcomes = self.event.outcomes(predictions, labels)?;
        binned_power(&outcomes, self.binning, self.form)
    }
}

impl Estimator for Tce {
    /// The estimate of `TCE_p` from data: the root of [`power`](Self::power), 0 where that is
    /// negative. Cost and errors: those of [`Binning::partition`] too.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let power = self.power(predictions, labels)?;
        Ok(power.max(0.0).powf(self.form.order().recip()))
    }
}

/// The weighted sum over the bins of one event.
pub(super) fn binned_power(outcomes: &Outcomes, binning: Binning, form: TceForm) -> Result<f64> {
    let bin = |rows: &Vec<usize>| {
        let size = rows.len() as f64;
        let probability: f64 = rows.iter().map(|&row| outcomes.probability[row]).sum();
        let occurred: i64 = rows.iter().map(|&row| outcomes.occurred[row]).sum();
        (size, probability / size, occurred as f64 / size)
    };
    let partition = binning.partition_rows(&outcomes.probability, 1)?;
    Ok(form.expected(partition.iter().map(bin)))
}
