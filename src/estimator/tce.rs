use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Binning, Event, ScoredSample, event::Outcomes};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
    estimator::Estimator,
};

/// The estimators of the calibration error of an event, `E|r − P(c | r)|^p`, by bins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TceForm {
    /// `Σ_b (n_b/n) |r̄_b − c̄_b|^p`: biased upward for small bins, downward for wide ones. For an infinite
    /// order it is the limit of the errors, `max_b |r̄_b − c̄_b|`: that of [`Mce`](super::Mce).
    PlugIn {
        /// The order `p ≥ 1`, which may be infinite.
        order: f64,
    },
    /// `Σ_b (n_b/n) [(r̄_b − c̄_b)² − s_b²/n_b]` with the sample variance `s_b²` of `r − c` in the bin, the
    /// order is 2. It is the mean of `(r_i − c_i)(r_j − c_j)` over the pairs of a bin: unbiased for `Σ_b
    /// (n_b/n) E[r − c | b]²` however the predictions vary within a bin, so that only the width of the bins
    /// remains as a bias, downward. For a calibrated model the expectation is 0, given the predictions too.
    /// Can be negative. A bin of one sample adds 0.
    Unbiased,
    /// `Σ_b (n_b/n) [(r̄_b − c̄_b)² − c̄_b(1 − c̄_b)/(n_b − 1)]`, the order is 2: the variance of `c̄_b` is
    /// subtracted, as Kumar et al. 2019 have it for one prediction a bin, where it is the same as
    /// [`Unbiased`](Self::Unbiased). Where predictions vary within a bin, with variance `v_b`, a part of
    /// the variance of the labels is not noise but known from the predictions, and subtracted too: of a
    /// calibrated model the expectation is `−Σ_b v_b/n` instead of 0. Can be negative. A bin of one sample
    /// adds 0.
    Debiased,
}

/// Statistics of the samples of a bin, of which [`TceForm::expected`] makes an estimate.
#[derive(Debug, Clone, Copy)]
pub struct EventBin {
    /// The sum `W_b` of their weights: their number `n_b` where there are none.
    pub weight: f64,
    /// Their effective number `W_b²/Σ w²`: `n_b` where there are no weights.
    pub size: f64,
    /// Their mean probability `r̄_b`.
    pub probability: f64,
    /// The frequency `c̄_b` of the event.
    pub frequency: f64,
    /// The mean of `(r − c)²`; with weights `Σ w² (r − c)²/Σ w²`.
    pub square: f64,
}

impl EventBin {
    /// The bin of these samples, whose scores are probabilities.
    pub(crate) fn of(rows: &[usize], sample: impl Fn(usize) -> ScoredSample) -> Self {
        let [mut weight, mut squares] = [0.0; 2];
        let [mut probability, mut frequency, mut square] = [0.0; 3];
        for &row in rows {
            let ScoredSample {
                score: r,
                occurred: c,
                weight: w,
            } = sample(row);
            weight += w;
            squares += w * w;
            probability += w * r;
            frequency += w * c;
            square += w * w * ((r - c) * (r - c));
        }
        Self {
            weight,
            size: weight * weight / squares,
            probability: probability / weight,
            frequency: frequency / weight,
            square: square / squares,
        }
    }

    /// `Σ w²`.
    pub(crate) fn squares(&self) -> f64 {
        self.weight * self.weight / self.size
    }
}

impl TceForm {
    /// The order `p`.
    pub fn order(self) -> f64 {
        match self {
            Self::PlugIn { order } => order,
            Self::Unbiased | Self::Debiased => 2.0,
        }
    }

    /// Checks that the order is at least 1.
    pub fn validate(self) -> Result<()> {
        let (order, name) = (self.order(), "the order of the calibration error");
        check_parameter(order >= 1.0, name, order, "a number of at least 1")
    }

    /// The error from its power: 0 where that is negative. For an infinite order they are the same.
    pub(crate) fn root(self, power: f64) -> f64 {
        if self.order().is_infinite() {
            return power;
        }
        power.max(0.0).powf(self.order().recip())
    }

    /// The term of a bin.
    fn of(self, bin: EventBin) -> f64 {
        let gap = (bin.probability - bin.frequency).abs();
        match self {
            Self::PlugIn { order } if order.is_infinite() => gap,
            Self::PlugIn { order } => gap.powf(order),
            _ if bin.size <= 1.0 => 0.0,
            Self::Unbiased => (bin.size * gap * gap - bin.square) / (bin.size - 1.0),
            Self::Debiased => gap * gap - bin.frequency * (1.0 - bin.frequency) / (bin.size - 1.0),
        }
    }

    /// The weighted sum over the bins of one event; of an infinite order the largest gap.
    pub fn expected(self, bins: impl Iterator<Item = EventBin>) -> f64 {
        if self.order().is_infinite() {
            return bins.map(|bin| self.of(bin)).fold(0.0, f64::max);
        }
        let (sum, samples) = bins.fold((0.0, 0.0), |(sum, samples), bin| {
            (sum + bin.weight * self.of(bin), samples + bin.weight)
        });
        sum / samples
    }
}

/// The order `p` of a calibration error is a finite number of at least 1.
pub(crate) fn check_order(order: f64) -> Result<()> {
    let is_valid = order.is_finite() && order >= 1.0;
    let name = "the order of the calibration error";
    check_parameter(is_valid, name, order, "a finite number of at least 1")
}

/// The calibration error of an event of order `p`, `TCE_p = (E|r − P(c | r)|^p)^{1/p}`, by bins; by
/// default that of the top label, unbiased, with 15 bins of equal mass.
///
/// Kumar et al. 2019, section 5; Gruber and Buettner 2022, Definition 2.5. With [`TceForm::PlugIn`] of
/// order 1 it is the [`Ece`](super::Ece) of the event, of order 2 the root mean squared calibration error
/// (Hendrycks et al. 2019, with bins of equal mass), and of an infinite order the [`Mce`](super::Mce). With
/// bins of equal width these are torchmetrics' `CalibrationError` with the norms `l1`, `l2` and `max`,
/// except for probabilities that lie on an edge of a bin: here bins are right-closed as those of Guo et al.
/// 2017, there they are left-closed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
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
            form: TceForm::Unbiased,
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

    /// The estimate of `TCE_p^p`, which can be negative unless plugged in; shapes, cost and errors as for
    /// [`estimate`](Self::estimate).
    pub fn power(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self.form.validate()?;
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        binned_power(&outcomes, self.binning, self.form)
    }
}

impl Estimator for Tce {
    /// The estimate of `TCE_p` from data: the root of [`power`](Self::power), 0 where that is
    /// negative. Cost and errors: those of [`Binning::partition`] too.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(self.form.root(self.power(predictions, labels)?))
    }
}

/// The weighted sum over the bins of one event.
pub(super) fn binned_power(outcomes: &Outcomes, binning: Binning, form: TceForm) -> Result<f64> {
    let weights = &outcomes.weights;
    let partition = binning.partition_weighted(&outcomes.probability, 1, weights)?;
    let bins = partition
        .iter()
        .map(|rows| EventBin::of(rows, |row| outcomes.sample(row)));
    Ok(form.expected(bins))
}
