//! Log-odds that are linear in features of log-odds: what scalar maps of few parameters share.

use std::f64::consts::LN_2;

use super::{EventMap, event, event::EventOutcomes, logistic::Logistic, odds};
use crate::recalibration::common::*;

/// A feature `φ(s)` of log-odds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Feature {
    /// `s`.
    LogOdds,
    /// `s²`.
    Square,
    /// `log p`.
    LogProbability,
    /// `−log(1−p)`.
    NegativeLogComplement,
}

impl Feature {
    pub fn at(self, s: f64) -> f64 {
        match self {
            Self::LogOdds => s,
            Self::Square => s * s,
            Self::LogProbability => event::log_sigmoid(s),
            Self::NegativeLogComplement => -event::log_sigmoid(-s),
        }
    }

    fn of(self, s: Tensor<2>) -> Tensor<2> {
        match self {
            Self::LogOdds => s,
            Self::Square => s.square(),
            Self::LogProbability => odds::log_sigmoid(s),
            Self::NegativeLogComplement => -odds::log_sigmoid(-s),
        }
    }
}

/// The parameters of a map `σ(Σ_j a_j φ_j(s) + b)`, `P` of each event: a slope for each feature, and an intercept. Of
/// an `INCREASING` map the slopes are at least 0.
#[derive(Module, Debug)]
pub struct Curve<const P: usize, const INCREASING: bool> {
    /// The parameters of each event, `[p, k]`.
    parameters: Parameter<2>,
}

/// The names of the parameters.
const NAMES: &[&str] = &["a", "b", "c"];

/// In a flatter map rounding can make different log-odds equal: it is not called injective.
const FLAT: f64 = 1e-9;

impl<const P: usize, const INCREASING: bool> Curve<P, INCREASING> {
    const FEATURES: &'static [Feature] = match (P, INCREASING) {
        (2, _) => &[Feature::LogOdds],
        (_, true) => &[Feature::LogProbability, Feature::NegativeLogComplement],
        (_, false) => &[Feature::LogOdds, Feature::Square],
    };

    fn new(parameters: &[[f64; P]], device: &Device) -> Self {
        let rows = (0..P).flat_map(|j| parameters.iter().map(move |row| row[j]));
        Self {
            parameters: parameter(rows.collect(), [P, parameters.len()], device),
        }
    }

    fn of_events(&self) -> Vec<[f64; P]> {
        let (k, values) = (self.events(), to_vec(self.parameters.val()));
        let of_event = |event| std::array::from_fn(|j| values[j * k + event]);
        (0..k).map(of_event).collect()
    }

    /// The parameters of an event with the lowest log loss within the bounds: of the free minimum if it is
    /// there, otherwise of the lowest with some slopes 0 that is.
    pub fn fit_event(event: &EventOutcomes, smoothed: bool) -> ([f64; P], FitReport) {
        let loss = Logistic::new(event, Self::FEATURES, smoothed);
        let minimum = |set: usize| {
            let is_intercept = |j: usize| j == P - 1;
            loss.minimum(std::array::from_fn(|j| {
                is_intercept(j) || set >> j & 1 == 1
            }))
        };
        let inside = |parameters: &[f64; P]| parameters[..P - 1].iter().all(|a| *a >= 0.0);
        let all = (1 << (P - 1)) - 1;
        let free = minimum(all);
        if !INCREASING || inside(&free.0) {
            return free;
        }
        let mut best = minimum(0);
        let mut evaluations = free.1.evaluations + best.1.evaluations;
        for set in 1..all {
            let next = minimum(set);
            evaluations += next.1.evaluations;
            if inside(&next.0) && next.1.objective < best.1.objective {
                best = next;
            }
        }
        best.1.evaluations = evaluations;
        best
    }

    /// Fits the parameters of each event, to smoothed targets or as they are.
    pub fn fit(task: Task, smoothed: bool) -> Result<FitOutcome<Self>> {
        let reason = ": its parameters are those of the least log loss";
        no_criterion(task.criterion.is_some(), <Self as EventMap>::KIND, reason)?;
        let events = EventOutcomes::all(&task.data);
        let (mut found, mut reports) = (Vec::new(), Vec::new());
        for (fit, event) in (1..).zip(&events) {
            let (parameters, report) = Self::fit_event(event, smoothed);
            observer(task.progress, fit, events.len())(report.evaluations, report.objective);
            found.push(parameters);
            reports.push(report);
        }
        Ok((Self::new(&found, &task.data.device), summary(&reports)).into())
    }
}

impl<const P: usize, const INCREASING: bool> Fitted<Curve<P, INCREASING>> {
    /// Makes a map with the given parameters: of class 1 alone for two classes, otherwise of each class.
    ///
    /// # Errors
    ///
    /// No parameters, those of two events (two classes have one), or one outside its domain.
    pub fn from_parameters(parameters: &[[f64; P]], device: &Device) -> Result<Self> {
        Self::of_parameters(Curve::new(parameters, device))
    }

    /// Returns the parameters of each event: of class 1 for two classes, otherwise of each class.
    pub fn parameters(&self) -> Vec<[f64; P]> {
        self.form.of_events()
    }
}

impl<const P: usize, const INCREASING: bool> EventMap for Curve<P, INCREASING> {
    const KIND: &'static str = match (P, INCREASING) {
        (2, _) => "Platt scaling",
        (_, true) => "beta calibration",
        (_, false) => "quadratic scaling",
    };

    const ROWS: &'static [(&'static str, &'static [&'static str])] =
        &[("parameters", NAMES.split_at(P).0)];

    fn template(events: usize, device: &Device) -> Self {
        let slope = |j: usize| f64::from(j == 0 || j == 1 && INCREASING);
        Self::new(&vec![std::array::from_fn(slope); events], device)
    }

    fn check(&self) -> Result<(), String> {
        let [p, k] = self.parameters.dims();
        if p != P {
            return Err(format!("{p} parameters of an event, expected {P}"));
        }
        let slopes = &to_vec(self.parameters.val())[..(p - 1) * k];
        match slopes.iter().find(|slope| INCREASING && **slope < 0.0) {
            Some(slope) => Err(format!("a slope is {slope}, expected at least 0")),
            None => Ok(()),
        }
    }

    fn events(&self) -> usize {
        self.parameters.dims()[1]
    }

    fn keeps(&self) -> Guarantees {
        let parameters = self.of_events()[0];
        let (decides_alike, injective) = match (&parameters[..], INCREASING) {
            (&[a, b, c], true) => (c == (a - b) * LN_2, a + b > FLAT),
            (&[a, b, c], false) => {
                let is_line = b == 0.0;
                (a > 0.0 && c == 0.0, is_line && a.abs() > FLAT)
            }
            (platt, _) => (platt[0] > 0.0 && platt[1] == 0.0, platt[0].abs() > FLAT),
        };
        Guarantees::of_decision(decides_alike && injective, injective)
    }

    fn log_probabilities(&self, scores: Tensor<2>) -> [Tensor<2>; 2] {
        let parameters = self.parameters.val().cast(scores.dtype());
        let row = |j: usize| parameters.clone().slice(j..j + 1);
        let terms = Self::FEATURES.iter().enumerate();
        let t = terms.fold(row(P - 1), |sum, (j, feature)| {
            feature.of(scores.clone()) * row(j) + sum
        });
        [odds::log_sigmoid(t.clone()), odds::log_sigmoid(-t)]
    }
}

/// The report of all events: the mean value, the largest derivative, and the status of the first that has not
/// converged.
fn summary(reports: &[FitReport]) -> FitReport {
    let mut statuses = reports.iter().map(|report| report.status);
    let values = reports.iter().map(|report| report.objective);
    let gradients = reports.iter().filter_map(|report| report.gradient);
    FitReport::new(
        statuses
            .find(|status| *status != FitStatus::Converged)
            .unwrap_or(FitStatus::Converged),
        values.sum::<f64>() / reports.len() as f64,
        Some(gradients.fold(0.0, f64::max)),
        reports.iter().map(|report| report.evaluations).sum(),
    )
}
