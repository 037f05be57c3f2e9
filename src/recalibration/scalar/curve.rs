//! Scalar maps of few parameters: log-odds that are linear in features of log-odds.

use std::{array, fmt, marker::PhantomData};

use super::{
    event::EventOutcomes,
    logistic::{Logistic, Minimum},
    odds,
};
use crate::recalibration::common::*;

/// A family of scalar maps `σ(Σ_j a_j φ_j(s) + b)` of the log-odds `s`, with `P` parameters of an
/// event: a slope for each feature, and the intercept.
pub trait OddsCurve<const P: usize>: Clone + fmt::Debug + Send + 'static {
    /// The kind of the map, in words.
    const KIND: &'static str;
    /// Whether the slopes are at least 0.
    const INCREASING: bool;
    /// The parameters of the identity.
    const IDENTITY: [f64; P];

    /// `φ_j(s)`.
    fn features(score: f64) -> Vec<f64>;

    /// `φ_j` of each entry: `[n, k]` each.
    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>>;

    /// What the map of two classes keeps.
    fn keeps(parameters: [f64; P]) -> Guarantees;
}

/// The parameters of a scalar map of few parameters.
#[derive(Module, Debug)]
pub struct Scalar<C: Clone + fmt::Debug + Send, const P: usize> {
    /// The parameters of each event, of shape `[P, k]`.
    parameters: Parameter<2>,
    #[module(skip)]
    curve: PhantomData<C>,
}

impl<C: OddsCurve<P>, const P: usize> Scalar<C, P> {
    fn new(parameters: &[[f64; P]], device: &Device) -> Self {
        let rows = (0..P).flat_map(|j| parameters.iter().map(move |row| row[j]));
        Self {
            parameters: Parameter::new(rows.collect(), [P, parameters.len()], device),
            curve: PhantomData,
        }
    }

    fn parameters(&self) -> Vec<[f64; P]> {
        let ([_, k], values) = (self.parameters.dims(), self.parameters.to_vec());
        (0..k)
            .map(|event| array::from_fn(|j| values[j * k + event]))
            .collect()
    }

    /// Fits the parameters of each event.
    pub(super) fn fit(limits: Limits, task: Task) -> (Self, FitReport) {
        let (data, criterion, progress) = (&task.data, task.criterion, task.progress);
        let events = EventOutcomes::all(data);
        let fits = events.len() + usize::from(criterion.is_some());
        let problems: Vec<_> = (events.iter())
            .map(|event| Logistic::new(event, C::features))
            .collect();
        let mut minima = Vec::new();
        for (fit, problem) in (1..).zip(&problems) {
            let minimum = least::<C, P>(problem, limits);
            observer(progress, fit, fits)(minimum.report.evaluations, minimum.report.objective);
            minima.push(minimum);
        }
        let mut report = summary(&minima);
        let mut weights: Vec<_> = minima.into_iter().map(|minimum| minimum.weights).collect();
        if let Some(criterion) = criterion {
            let mut observe = observer(progress, fits, fits);
            (weights, report) =
                descend::<C, P>(data, &problems, &weights, criterion, limits, &mut observe);
        }
        let original = |(problem, weights): (&Logistic, &Vec<f64>)| {
            let original = problem.original(weights);
            array::from_fn(|j| original[j])
        };
        let parameters: Vec<_> = problems.iter().zip(&weights).map(original).collect();
        (Self::new(&parameters, &data.device), report)
    }
}

impl<C: OddsCurve<P>, const P: usize> Fitted<Scalar<C, P>> {
    /// Makes a map with the given parameters: of class 1 alone for two classes, else of each class.
    ///
    /// # Errors
    ///
    /// No parameters, those of two events (two classes have one), or one outside its domain.
    pub fn from_parameters(parameters: &[[f64; P]], device: &Device) -> Result<Self> {
        check::<C, P>(parameters)?;
        Ok(Self::new(Scalar::new(parameters, device), None))
    }

    /// Gives the parameters of each event: of class 1 for two classes, else of each class.
    pub fn parameters(&self) -> Vec<[f64; P]> {
        self.form.parameters()
    }
}

impl<C: OddsCurve<P>, const P: usize> Form for Scalar<C, P> {
    const KIND: &'static str = C::KIND;

    fn template(device: &Device) -> Self {
        Self::new(&[C::IDENTITY], device)
    }

    fn check(&self) -> Result<(), String> {
        let [p, _] = self.parameters.dims();
        if p != P {
            return Err(format!("{p} parameters of an event, expected {P}"));
        }
        check::<C, P>(&self.parameters()).map_err(|error| error.to_string())
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.parameters.dims()[1]))
    }

    fn keeps(&self) -> Guarantees {
        match self.parameters()[..] {
            [two_classes] => C::keeps(two_classes),
            _ => Guarantees::NONE,
        }
    }
}

impl<C: OddsCurve<P>, const P: usize> Apply<Tensor<2>> for Scalar<C, P> {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let parameters = self.parameters.cast(logits.dtype());
        combine(C::feature_tensors(odds::log_odds(logits)), parameters)
    }
}

/// Parameters of one event, or of three or more, in their domain.
fn check<C: OddsCurve<P>, const P: usize>(parameters: &[[f64; P]]) -> Result<()> {
    let events = parameters.len();
    check_parameter(
        events != 0 && events != 2,
        "the number of events with parameters",
        events as f64,
        "1 for two classes, else one for each class",
    )?;
    for (j, &value) in parameters.iter().flat_map(|row| row.iter().enumerate()) {
        let (least, expected) = if C::INCREASING && j + 1 < P {
            (0.0, "a finite number of at least 0")
        } else {
            (f64::MIN, "a finite number")
        };
        let inside = value.is_finite() && value >= least;
        check_parameter(inside, "a parameter", value, expected)?;
    }
    Ok(())
}

/// In a flatter map rounding can make different log-odds equal: it is not called injective.
pub(super) const FLAT: f64 = 1e-9;

/// A descent by a criterion starts with slopes of at least this, standardised, where they are bounded
/// by 0: there it could not leave the bound.
const LEAST: f64 = 1e-4;

/// The logits of features, `[n, k]` each, and their weights, `[p, k]`.
fn combine(features: Vec<Tensor<2>>, weights: Tensor<2>) -> Tensor<2> {
    let [p, k] = weights.dims();
    let row = |j: usize| weights.clone().slice([j..j + 1, 0..k]);
    let terms = features.into_iter().enumerate();
    let t = terms.fold(row(p - 1), |sum, (j, feature)| feature * row(j) + sum);
    odds::logits(odds::log_sigmoid(t.clone()), odds::log_sigmoid(-t))
}

/// The minimum within the bounds: of the free ones if it is there, else the lowest of those with some
/// slopes 0 that are.
fn least<C: OddsCurve<P>, const P: usize>(problem: &Logistic, limits: Limits) -> Minimum {
    let slopes = P - 1;
    let all: Vec<usize> = (0..slopes).collect();
    let inside = |minimum: &Minimum| minimum.weights[..slopes].iter().all(|a| *a >= 0.0);
    let free = problem.minimum(&all, limits);
    if !C::INCREASING || inside(&free) {
        return free;
    }
    let mut best = problem.minimum(&[], limits);
    let mut evaluations = free.report.evaluations + best.report.evaluations;
    for set in 1..(1 << slopes) - 1 {
        let features: Vec<usize> = all.iter().copied().filter(|j| set >> j & 1 == 1).collect();
        let minimum = problem.minimum(&features, limits);
        evaluations += minimum.report.evaluations;
        if inside(&minimum) && minimum.report.objective < best.report.objective {
            best = minimum;
        }
    }
    best.report.evaluations = evaluations;
    best
}

/// The report of all events: the mean value, the largest derivative, and the status of the first that has not
/// converged.
fn summary(minima: &[Minimum]) -> FitReport {
    let reports = minima.iter().map(|minimum| &minimum.report);
    let mut statuses = reports.clone().map(|report| report.status);
    let values = reports.clone().map(|report| report.objective);
    let gradients = reports.clone().filter_map(|report| report.gradient);
    FitReport::new(
        statuses
            .find(|status| *status != FitStatus::Converged)
            .unwrap_or(FitStatus::Converged),
        values.sum::<f64>() / minima.len() as f64,
        Some(gradients.fold(0.0, f64::max)),
        reports.map(|report| report.evaluations).sum(),
    )
}

/// Descends a criterion in the weights of the standardised features, bounded slopes as squares.
fn descend<C: OddsCurve<P>, const P: usize>(
    data: &FitData,
    problems: &[Logistic],
    start: &[Vec<f64>],
    criterion: &dyn Objective,
    limits: Limits,
    observe: &mut dyn FnMut(usize, f64),
) -> (Vec<Vec<f64>>, FitReport) {
    let (p, k) = (P, problems.len());
    let scores = odds::log_odds(data.tensor(data.logits.clone()));
    let standardised = |(j, feature): (usize, Tensor<2>)| {
        let row = |value: fn(&super::logistic::StandardisedFeature) -> f64| {
            let values = problems.iter().map(|problem| value(&problem.columns[j]));
            data.parameters(values.collect()).reshape([1, k])
        };
        (feature - row(|column| column.mean)) / row(|column| column.spread)
    };
    let features: Vec<_> = (C::feature_tensors(scores).into_iter().enumerate())
        .map(standardised)
        .collect();
    let labels = data.labels_tensor();
    let bounded = |j: usize| C::INCREASING && j + 1 < p;
    let objective = |theta: &Tensor<1>| {
        let theta = theta.clone().reshape([p, k]);
        let row = |j: usize| {
            let row = theta.clone().slice([j..j + 1, 0..k]);
            if bounded(j) { row.square() } else { row }
        };
        let weights = Tensor::cat((0..p).map(row).collect(), 0);
        criterion.objective(&combine(features.clone(), weights), &labels)
    };
    let root = |j: usize, w: f64| if bounded(j) { w.max(LEAST).sqrt() } else { w };
    let theta: Vec<f64> = (0..p)
        .flat_map(|j| start.iter().map(move |weights| root(j, weights[j])))
        .collect();
    let (theta, report) = minimise(of_tensor(objective, &data.device), &theta, limits, observe);
    let square = |j: usize, x: f64| if bounded(j) { x * x } else { x };
    let of_event = |event: usize| (0..p).map(|j| square(j, theta[j * k + event])).collect();
    ((0..k).map(of_event).collect(), report)
}
