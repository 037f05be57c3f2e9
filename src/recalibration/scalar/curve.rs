//! Log-odds that are linear in features of log-odds: what scalar maps of few parameters share.

use std::f64::consts::LN_2;

use super::{event, event::EventOutcomes, logistic::Logistic, odds, recalibrated};
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

/// A kind of curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveShape {
    Platt,
    /// The slopes are at least 0.
    Beta,
    Quadratic,
}

impl CurveShape {
    fn features(self) -> &'static [Feature] {
        match self {
            Self::Platt => &[Feature::LogOdds],
            Self::Beta => &[Feature::LogProbability, Feature::NegativeLogComplement],
            Self::Quadratic => &[Feature::LogOdds, Feature::Square],
        }
    }
}

/// The parameters of a map `σ(Σ_j a_j φ_j(s) + b)`, `P` of each event: a slope for each feature, and an intercept.
#[derive(Module, Debug)]
pub struct Curve<const P: usize> {
    #[module(skip)]
    shape: CurveShape,
    /// The parameters of each event, `[p, k]`.
    parameters: Parameter<2>,
}

/// The names of the parameters.
const NAMES: &[&str] = &["a", "b", "c"];

/// In a flatter map rounding can make different log-odds equal: it is not called injective.
const FLAT: f64 = 1e-9;

impl<const P: usize> Curve<P> {
    pub fn new(shape: CurveShape, parameters: &[[f64; P]], device: &Device) -> Self {
        let rows = (0..P).flat_map(|j| parameters.iter().map(move |row| row[j]));
        Self {
            shape,
            parameters: parameter(rows.collect(), [P, parameters.len()], device),
        }
    }

    pub fn identity(shape: CurveShape, width: usize, device: &Device) -> Self {
        let slope = |j: usize| f64::from(j == 0 || j == 1 && shape == CurveShape::Beta);
        let events = vec![std::array::from_fn(slope); odds::events(width)];
        Self::new(shape, &events, device)
    }

    fn events(&self) -> usize {
        self.parameters.dims()[1]
    }

    /// The parameters of each event.
    pub fn by_event(&self) -> Vec<[f64; P]> {
        let (k, values) = (self.events(), to_vec(self.parameters.val()));
        let of_event = |event| std::array::from_fn(|j| values[j * k + event]);
        (0..k).map(of_event).collect()
    }

    /// The parameters of an event with the lowest log loss within the bounds: of the free minimum if it is
    /// there, otherwise of the lowest with some slopes 0 that is.
    pub fn fit_event(
        shape: CurveShape,
        event: &EventOutcomes,
        smoothed: bool,
    ) -> ([f64; P], FitReport) {
        let loss = Logistic::new(event, shape.features(), smoothed);
        let minimum = |set: usize| {
            let is_intercept = |j: usize| j == P - 1;
            loss.minimum(std::array::from_fn(|j| {
                is_intercept(j) || set >> j & 1 == 1
            }))
        };
        let inside = |parameters: &[f64; P]| parameters[..P - 1].iter().all(|a| *a >= 0.0);
        let all = (1 << (P - 1)) - 1;
        let free = minimum(all);
        if shape != CurveShape::Beta || inside(&free.0) {
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
    pub fn fit(
        kind: &str,
        shape: CurveShape,
        smoothed: bool,
        task: &mut FitTask,
    ) -> Result<(Self, FitReport)> {
        let reason = ": its parameters are those of the least log loss";
        no_criterion(task.criterion, kind, reason)?;
        let events = EventOutcomes::all(&task.data);
        let (mut found, mut reports) = (Vec::new(), Vec::new());
        for (fit, event) in (1..).zip(&events) {
            let (parameters, report) = Self::fit_event(shape, event, smoothed);
            let mut observe = observer(&mut *task.progress, fit, events.len());
            observe(report.evaluations, report.objective);
            found.push(parameters);
            reports.push(report);
        }
        let form = Self::new(shape, &found, &task.data.device);
        Ok((form, summary(&reports)))
    }

    pub fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        recalibrated(logits, |scores| {
            let parameters = self.parameters.val().cast(scores.dtype());
            let row = |j: usize| parameters.clone().slice(j..j + 1);
            let terms = self.shape.features().iter().enumerate();
            let t = terms.fold(row(P - 1), |sum, (j, feature)| {
                feature.of(scores.clone()) * row(j) + sum
            });
            [odds::log_sigmoid(t.clone()), odds::log_sigmoid(-t)]
        })
    }
}

impl<const P: usize> Form for Curve<P> {
    fn check(&self) -> Result<(), String> {
        let [p, k] = self.parameters.dims();
        odds::check_events(k)?;
        if p != P {
            return Err(format!("{p} parameters of an event, expected {P}"));
        }
        let slopes = &to_vec(self.parameters.val())[..(p - 1) * k];
        let mut negative = slopes.iter().filter(|slope| **slope < 0.0);
        match negative.next() {
            Some(slope) if self.shape == CurveShape::Beta => {
                Err(format!("a slope is {slope}, expected at least 0"))
            }
            _ => Ok(()),
        }
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.events()))
    }

    fn keeps(&self) -> Guarantees {
        if self.events() > 1 {
            return Guarantees::NONE;
        }
        let parameters = self.by_event()[0];
        let (decides_alike, injective) = match (&parameters[..], self.shape) {
            (&[a, b, c], CurveShape::Beta) => (c == (a - b) * LN_2, a + b > FLAT),
            (&[a, b, c], _) => {
                let is_line = b == 0.0;
                (a > 0.0 && c == 0.0, is_line && a.abs() > FLAT)
            }
            (platt, _) => (platt[0] > 0.0 && platt[1] == 0.0, platt[0].abs() > FLAT),
        };
        Guarantees::decision(decides_alike && injective, injective)
    }

    fn row_names(&self, _: &str) -> &'static [&'static str] {
        NAMES.split_at(P).0
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
