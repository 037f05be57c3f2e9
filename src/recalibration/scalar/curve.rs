//! Scalar maps of few parameters: log-odds that are linear in features of log-odds.

use crate::prelude::Categorical;
use burn::tensor::Tensor;

use super::{
    event::Event,
    logistic::{Logistic, Minimum},
    odds,
};
use crate::{
    error::{Error, Result},
    loss::Criterion,
    recalibration::{
        FitProgress, FitReport, FitStatus, Guarantees,
        data::FitData,
        descent::{Limits, minimise},
    },
};

/// A family of scalar maps `σ(Σ_j a_j φ_j(s) + b)` of the log-odds `s`.
pub(super) trait Curve {
    /// The parameters of an event: a slope for each feature, and the intercept.
    const PARAMETERS: usize;
    /// Whether the slopes are at least 0.
    const INCREASING: bool;

    /// `φ_j(s)`.
    fn features(score: f64) -> Vec<f64>;

    /// `φ_j` of each entry: `[n, k]` each.
    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>>;

    /// What the map of two classes keeps.
    fn keeps(parameters: &[f64]) -> Guarantees;
}

/// Parameters of one event, or of three or more, in their domain.
pub(super) fn check<C: Curve>(parameters: &[Vec<f64>]) -> Result<()> {
    let events = parameters.len();
    if events == 0 || events == 2 {
        return Err(Error::Parameter {
            name: "the number of events with parameters",
            value: events as f64,
            expected: "1 for two classes, else one for each class",
        });
    }
    for row in parameters {
        for (j, &value) in row.iter().enumerate() {
            let bounded = C::INCREASING && j + 1 < C::PARAMETERS;
            let expected = match bounded {
                true => "a finite number of at least 0",
                false => "a finite number",
            };
            if !value.is_finite() || bounded && value < 0.0 {
                return Err(Error::Parameter {
                    name: "a parameter",
                    value,
                    expected,
                });
            }
        }
    }
    Ok(())
}

/// In a flatter map rounding can make different log-odds equal: it is not called injective.
pub(super) const FLAT: f64 = 1e-9;

/// A descent by a criterion starts with slopes of at least this, standardised, where they are bounded
/// by 0: there it could not leave the bound.
const LEAST: f64 = 1e-4;

/// The logits, `[n, m]`, of parameters `[p, k]`.
pub(super) fn forward<C: Curve>(logits: Tensor<2>, parameters: Tensor<2>) -> Tensor<2> {
    combine(C::feature_tensors(odds::log_odds(logits)), parameters)
}

/// The logits of features, `[n, k]` each, and their weights, `[p, k]`.
fn combine(features: Vec<Tensor<2>>, weights: Tensor<2>) -> Tensor<2> {
    let [p, k] = weights.dims();
    let row = |j: usize| weights.clone().slice([j..j + 1, 0..k]);
    let terms = features.into_iter().enumerate();
    let t = terms.fold(row(p - 1), |sum, (j, feature)| feature * row(j) + sum);
    odds::logits(odds::log_sigmoid(t.clone()), odds::log_sigmoid(-t))
}

/// The parameters of each event, and how the fit went.
pub(super) fn fit<C: Curve>(
    data: &FitData,
    limits: Limits,
    criterion: Option<&dyn Criterion>,
    progress: &mut dyn FnMut(FitProgress),
) -> (Vec<Vec<f64>>, FitReport) {
    let events = Event::all(data);
    let fits = events.len() + usize::from(criterion.is_some());
    let mut observe = |fit, evaluations, objective| {
        progress(FitProgress {
            fit,
            fits,
            evaluations,
            objective,
        })
    };
    let problems: Vec<_> = (events.iter())
        .map(|event| Logistic::new(event, C::features))
        .collect();
    let mut minima = Vec::new();
    for (fit, problem) in (1..).zip(&problems) {
        let minimum = least::<C>(problem, limits);
        observe(fit, minimum.evaluations, minimum.value);
        minima.push(minimum);
    }
    let mut report = summary(&minima);
    let mut weights: Vec<_> = minima.into_iter().map(|minimum| minimum.weights).collect();
    if let Some(criterion) = criterion {
        let mut observe = |evaluations, objective| observe(fits, evaluations, objective);
        (weights, report) =
            descend::<C>(data, &problems, &weights, criterion, limits, &mut observe);
    }
    let parameters = problems.iter().zip(&weights);
    (
        parameters.map(|(problem, w)| problem.original(w)).collect(),
        report,
    )
}

/// The minimum within the bounds: of the free ones if it is there, else the lowest of those with some
/// slopes 0 that are.
fn least<C: Curve>(problem: &Logistic, limits: Limits) -> Minimum {
    let slopes = C::PARAMETERS - 1;
    let all: Vec<usize> = (0..slopes).collect();
    let inside = |minimum: &Minimum| minimum.weights[..slopes].iter().all(|a| *a >= 0.0);
    let free = problem.minimum(&all, limits);
    if !C::INCREASING || inside(&free) {
        return free;
    }
    let mut best = problem.minimum(&[], limits);
    let mut evaluations = free.evaluations + best.evaluations;
    for set in 1..(1 << slopes) - 1 {
        let features: Vec<usize> = all.iter().copied().filter(|j| set >> j & 1 == 1).collect();
        let minimum = problem.minimum(&features, limits);
        evaluations += minimum.evaluations;
        if inside(&minimum) && minimum.value < best.value {
            best = minimum;
        }
    }
    Minimum {
        evaluations,
        ..best
    }
}

/// Of all events: the mean value, the largest derivative, and the status of the first that has not
/// converged.
fn summary(minima: &[Minimum]) -> FitReport {
    let mut statuses = minima.iter().map(|minimum| minimum.status);
    let values = minima.iter().map(|minimum| minimum.value);
    let gradients = minima.iter().map(|minimum| minimum.gradient);
    FitReport {
        status: statuses
            .find(|status| *status != FitStatus::Converged)
            .unwrap_or(FitStatus::Converged),
        objective: values.sum::<f64>() / minima.len() as f64,
        gradient: Some(gradients.fold(0.0, f64::max)),
        evaluations: minima.iter().map(|minimum| minimum.evaluations).sum(),
        regularisation: None,
    }
}

/// Descends a criterion in the weights of the standardised features, bounded slopes as squares.
fn descend<C: Curve>(
    data: &FitData,
    problems: &[Logistic],
    start: &[Vec<f64>],
    criterion: &dyn Criterion,
    limits: Limits,
    observe: &mut dyn FnMut(usize, f64),
) -> (Vec<Vec<f64>>, FitReport) {
    let (p, k) = (C::PARAMETERS, problems.len());
    let scores = odds::log_odds(data.tensor(data.logits.clone()));
    let standardised = |(j, feature): (usize, Tensor<2>)| {
        let row = |value: fn(&super::logistic::Column) -> f64| {
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
        criterion.value(
            &Categorical::from_logits_unchecked(combine(features.clone(), weights)),
            &labels,
        )
    };
    let root = |j: usize, w: f64| if bounded(j) { w.max(LEAST).sqrt() } else { w };
    let theta: Vec<f64> = (0..p)
        .flat_map(|j| start.iter().map(move |weights| root(j, weights[j])))
        .collect();
    let (theta, report) = minimise(objective, &theta, &data.device, limits, observe);
    let square = |j: usize, x: f64| if bounded(j) { x * x } else { x };
    let of_event = |event: usize| (0..p).map(|j| square(j, theta[j * k + event])).collect();
    ((0..k).map(of_event).collect(), report)
}

/// What a map of [`Curve`] is: its fit, parameters and file.
macro_rules! curve_map {
    ($config:ident, $map:ident, $curve:ty, $p:literal, $kind:literal) => {
        impl $crate::recalibration::Fit for $config {
            type Map = $map;

            fn fit_observed(
                &self,
                criterion: Option<&dyn $crate::loss::Criterion>,
                logits: ::burn::tensor::Tensor<2>,
                labels: ::burn::tensor::Tensor<1, ::burn::tensor::Int>,
                progress: &mut dyn FnMut($crate::recalibration::FitProgress),
            ) -> $crate::error::Result<$map> {
                let data = $crate::recalibration::data::FitData::new(&logits, &labels)?;
                let limits = $crate::recalibration::descent::Limits {
                    tolerance: self.tolerance,
                    iterations: self.max_iterations,
                };
                let (parameters, report) =
                    super::curve::fit::<$curve>(&data, limits, criterion, progress);
                Ok($map::new(&parameters, Some(report), &data.device))
            }
        }

        impl $map {
            /// A map with the given parameters: of class 1 alone for two classes, else of each class.
            ///
            /// # Errors
            ///
            /// No parameters, those of two events (two classes have one), or one outside its domain.
            pub fn from_parameters(
                parameters: &[[f64; $p]],
                device: &::burn::tensor::Device,
            ) -> $crate::error::Result<Self> {
                let parameters: Vec<_> = parameters.iter().map(|row| row.to_vec()).collect();
                super::curve::check::<$curve>(&parameters)?;
                Ok(Self::new(&parameters, None, device))
            }

            fn new(
                parameters: &[Vec<f64>],
                report: Option<$crate::recalibration::FitReport>,
                device: &::burn::tensor::Device,
            ) -> Self {
                let rows = (0..$p).flat_map(|j| parameters.iter().map(move |row| row[j]));
                let shape = [$p, parameters.len()];
                Self {
                    parameters: $crate::recalibration::file::parameter(
                        rows.collect(),
                        shape,
                        device,
                    ),
                    report,
                }
            }

            /// The parameters of each event: of class 1 for two classes, else of each class.
            pub fn parameters(&self) -> Vec<[f64; $p]> {
                let [_, k] = self.parameters.dims();
                let values = $crate::host::to_vec(self.parameters.val());
                (0..k)
                    .map(|event| ::std::array::from_fn(|j| values[j * k + event]))
                    .collect()
            }

            fn apply(&self, logits: ::burn::tensor::Tensor<2>) -> ::burn::tensor::Tensor<2> {
                let parameters = self.parameters.val().cast(logits.dtype());
                super::curve::forward::<$curve>(logits, parameters)
            }

            fn width(&self) -> Option<usize> {
                Some(super::odds::classes(self.parameters.dims()[1]))
            }

            fn keeps(&self) -> $crate::recalibration::Guarantees {
                match &self.parameters()[..] {
                    [two_classes] => <$curve as super::curve::Curve>::keeps(two_classes),
                    _ => $crate::recalibration::Guarantees::NONE,
                }
            }
        }

        impl $crate::recalibration::file::Stored for $map {
            const KIND: &'static str = $kind;

            fn restore(parts: &mut $crate::recalibration::file::Parts) -> Result<Self, String> {
                let parameters = parts.take::<2>("parameters")?;
                let [p, _] = parameters.dims();
                if p != $p {
                    return Err(format!("{p} parameters of an event, expected {}", $p));
                }
                let map = Self {
                    parameters,
                    report: None,
                };
                let parameters: Vec<_> = map.parameters().iter().map(|row| row.to_vec()).collect();
                super::curve::check::<$curve>(&parameters).map_err(|error| error.to_string())?;
                Ok(map)
            }
        }

        $crate::recalibration::map::impl_recalibration!($map);
    };
}
pub(super) use curve_map;
