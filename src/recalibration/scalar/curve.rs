//! Log-odds that are linear in features of log-odds: what scalar maps of few parameters share.

use super::{event, event::EventOutcomes, logistic::Logistic, odds};
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

    /// The feature as a formula, with `u = log(1 + exp(−|s|))`.
    fn term(self, s: Term, u: Term) -> Term {
        match self {
            Self::LogOdds => s,
            Self::Square => s.clone() * s,
            Self::LogProbability => s.with(Operation::Min, 0.0) - u,
            Self::NegativeLogComplement => s.with(Operation::Max, 0.0) + u,
        }
    }
}

/// A family of scalar maps `σ(Σ_j a_j φ_j(s) + b)` of `P` parameters an event: a slope for each feature, and an
/// intercept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve<const P: usize> {
    pub features: &'static [Feature],
    /// Whether the slopes are at least 0.
    pub increasing: bool,
}

/// In a flatter map rounding can make different log-odds equal: it is not called injective.
pub(super) const FLAT: f64 = 1e-9;

/// A descent by a criterion starts with slopes of at least this, standardised, where they are bounded
/// by 0: there it could not leave the bound.
const LEAST: f64 = 1e-4;

impl<const P: usize> Curve<P> {
    /// The logits of log-odds, `[n, k]`, by parameters, `[p, k]`.
    pub fn log_probabilities(self, scores: Tensor<2>, parameters: Tensor<2>) -> [Tensor<2>; 2] {
        let row = |j: usize| parameters.clone().slice(j..j + 1);
        let terms = self.features.iter().enumerate();
        let t = terms.fold(row(self.features.len()), |sum, (j, feature)| {
            feature.of(scores.clone()) * row(j) + sum
        });
        [odds::log_sigmoid(t.clone()), odds::log_sigmoid(-t)]
    }

    /// `σ(Σ_j a_j φ_j(s) + b)` of parameters, `[p, k]`.
    pub fn formula(self, scores: Term, parameters: &Parameter<2>) -> Term {
        let ([_, k], values) = (parameters.dims(), parameters.to_vec());
        let row = |j: usize| Term::numbers(["a", "b", "c"][j], values[j * k..][..k].to_vec());
        let farther = scores
            .clone()
            .with(Operation::Min, Term::from(-1.0) * scores.clone());
        let u = (Term::from(1.0) + farther.then(Operation::Exp))
            .then(Operation::Log)
            .named("u");
        let terms = self.features.iter().enumerate();
        let terms = terms.map(|(j, feature)| row(j) * feature.term(scores.clone(), u.clone()));
        let sum = terms.reduce(|sum, term| sum + term).expect("a feature");
        (sum + row(self.features.len())).then(Operation::Sigmoid)
    }

    /// Returns what is wrong with parameters, `[p, k]`.
    pub fn check(self, parameters: &Parameter<2>) -> Result<(), String> {
        let [p, k] = parameters.dims();
        if p != P {
            return Err(format!("{p} parameters of an event, expected {P}"));
        }
        let slopes = &parameters.to_vec()[..(p - 1) * k];
        match slopes.iter().find(|slope| self.increasing && **slope < 0.0) {
            Some(slope) => Err(format!("a slope is {slope}, expected at least 0")),
            None => Ok(()),
        }
    }

    /// The parameters of an event with the lowest log loss within the bounds: of the free minimum if it is
    /// there, otherwise of the lowest with some slopes 0 that is.
    pub fn fit_event(self, event: &EventOutcomes) -> ([f64; P], FitReport) {
        let loss = Logistic::new(event, self.features);
        let minimum = |set: usize| {
            let is_intercept = |j: usize| j == P - 1;
            loss.minimum(std::array::from_fn(|j| {
                is_intercept(j) || set >> j & 1 == 1
            }))
        };
        let inside = |parameters: &[f64; P]| parameters[..P - 1].iter().all(|a| *a >= 0.0);
        let all = (1 << (P - 1)) - 1;
        let free = minimum(all);
        if !self.increasing || inside(&free.0) {
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

    /// Fits the parameters of each event, `[p, k]`.
    pub fn fit(self, task: Task) -> (Parameter<2>, FitReport) {
        let (data, criterion, progress) = (&task.data, task.criterion, task.progress);
        let events = EventOutcomes::all(data);
        let fits = events.len() + usize::from(criterion.is_some());
        let mut minima = Vec::new();
        for (fit, event) in (1..).zip(&events) {
            let minimum = self.fit_event(event);
            observer(progress, fit, fits)(minimum.1.evaluations, minimum.1.objective);
            minima.push(minimum);
        }
        let (found, reports): (Vec<_>, Vec<_>) = minima.into_iter().unzip();
        let parameters = (0..P).flat_map(|j| found.iter().map(move |parameters| parameters[j]));
        let parameters = Parameter::new(parameters.collect(), [P, events.len()], &data.device);
        let Some(criterion) = criterion else {
            return (parameters, summary(&reports));
        };
        let mut observe = observer(progress, fits, fits);
        self.descend(data, &events, &parameters, criterion, &mut observe)
    }

    /// Descends a criterion in the weights of standardised features, bounded slopes as squares.
    fn descend(
        self,
        data: &FitData,
        events: &[EventOutcomes],
        start: &Parameter<2>,
        criterion: &dyn Objective,
        observe: &mut dyn FnMut(usize, f64),
    ) -> (Parameter<2>, FitReport) {
        let [p, k] = start.dims();
        let loss = |event| Logistic::<P>::new(event, self.features);
        let events: Vec<_> = events.iter().map(loss).collect();
        let scales = (0..p - 1).flat_map(|j| events.iter().map(move |event| event.scales[j]));
        let (means, spreads): (Vec<f64>, Vec<f64>) = scales.unzip();
        let mut theta = start.to_vec();
        let (slopes, intercepts) = theta.split_at_mut((p - 1) * k);
        for (at, slope) in slopes.iter_mut().enumerate() {
            intercepts[at % k] += *slope * means[at];
            *slope *= spreads[at];
            if self.increasing {
                *slope = slope.max(LEAST).sqrt();
            }
        }
        let [means, spreads] =
            [means, spreads].map(|numbers| data.parameters(numbers).reshape([p - 1, k]));
        let parameters = |theta: &Tensor<1>| {
            let theta = theta.clone().reshape([p, k]);
            let slopes = theta.clone().slice(0..p - 1);
            let slopes = if self.increasing {
                slopes.square()
            } else {
                slopes
            };
            let slopes = slopes / spreads.clone();
            let intercepts = theta.slice(p - 1..p) - (slopes.clone() * means.clone()).sum_dim(0);
            Tensor::cat(vec![slopes, intercepts], 0)
        };
        let scores = odds::log_odds(data.tensor(data.logits.clone()));
        let logits = |theta: &Tensor<1>| {
            let [occurs, not] = self.log_probabilities(scores.clone(), parameters(theta));
            odds::logits(occurs, not)
        };
        let at = of_logits(criterion, data, logits);
        let (theta, report) = minimise(at, &theta, Limits::new(1e-7, 200), observe);
        let found = parameters(&data.parameters(theta)).inner();
        (Parameter::from(found), report)
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
