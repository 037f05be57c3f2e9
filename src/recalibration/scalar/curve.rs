//! Log-odds that are linear in features of log-odds: the scalar maps of few parameters.

use std::f64::consts::LN_2;

use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    event::{self, EventOutcomes},
    logistic::Logistic,
    odds, recalibrated,
};
use crate::{
    error::Result,
    host::to_vec,
    recalibration::{
        FitReport, FitStatus, FitTask, Guarantees, LogitFit,
        fit::observer,
        fitted::{Form, fitted_map, valid_map},
        parameter::{Parameter, parameter},
        task::NoDescent,
    },
};

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
        let reason = "its parameters are those of the least log loss";
        NoDescent { map: kind, reason }.check(task.criterion)?;
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

fitted_map! {
    /// Platt scaling: `g = σ(a s + b)` of the log-odds `s` of class 1 of two classes, or of each class
    /// (J. Platt: *Probabilistic outputs for support vector machines*, 1999).
    ///
    /// Fitted to smoothed targets, `(N₊+1)/(N₊+2)` where the event occurs and `1/(N₋+2)` where not, as there
    /// and in scikit-learn: a class that is never seen, or separable data, have a finite fit. The log loss
    /// is convex. Newton steps with a line search cannot raise it, as in the solver of Lin, Lin and Weng: *A note
    /// on Platt's probabilistic outputs for support vector machines*, 2007. A step takes `n` exponentials an event.
    /// Equal log-odds throughout determine `b` alone and leave `a = 1`. The report has the mean over events of the
    /// log loss against smoothed targets. Another criterion than the log loss is an error.
    ///
    /// For two classes injective if `a ≠ 0` (in floating point: `|a| > 10⁻⁹`). A shift moves the decision: order and accuracy are kept for
    /// `a > 0` and `b = 0` only, which a fit gives by chance. For more classes nothing is kept for certain:
    /// the normalised values of several increasing functions need not keep the order, nor determine the
    /// prediction.
    PlattScaling: Curve<2>, "Platt scaling",
    |width, device| Curve::identity(CurveShape::Platt, width, device), logits
}

fitted_map! {
    /// Beta calibration: `g = σ(a log p − b log(1−p) + c)` with `a, b ≥ 0`, of the probability `p` of class
    /// 1 of two classes, or of each class (Kull, Silva Filho, Flach: *Beta calibration*, 2017).
    ///
    /// The family of likelihood ratios of two beta distributions; it holds the identity, `a = b = 1`,
    /// `c = 0`, and Platt scaling, `a = b`. `g` does not decrease with `p`.
    ///
    /// Fitted as [`PlattScaling`], with its smoothed targets. The log loss is convex:
    /// its minimum is that of all three parameters if it lies within the bounds, otherwise the least of those
    /// with `a = 0`, `b = 0` or both that do, each by Newton steps. Data of equal log-odds leave
    /// `a = b = 1`. The report has the mean over events of the log loss against smoothed targets.
    ///
    /// For two classes injective unless `a = b = 0` (in floating point: `a + b ≤ 10⁻⁹`). Order and accuracy are kept if besides
    /// `c = (a−b) log 2`, where `g = ½` at `p = ½`, which a fit gives by chance. For more classes nothing is
    /// kept for certain.
    BetaCalibration: Curve<3>, "beta calibration",
    |width, device| Curve::identity(CurveShape::Beta, width, device), logits
}

fitted_map! {
    /// Quadratic scaling: `g = σ(a s + b s² + c)` of the log-odds `s` of class 1 of two classes, or of each
    /// class (Berta, Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
    ///
    /// The log-odds of an event whose scores are normal with different means and variances where it occurs and
    /// where not. Fitted as [`PlattScaling`], with its smoothed targets; convex.
    ///
    /// Not monotone: beyond `s = −a/2b` the order of two predictions turns round, and nothing is kept unless
    /// `b = 0`, where it is Platt scaling.
    QuadraticScaling: Curve<3>, "quadratic scaling",
    |width, device| Curve::identity(CurveShape::Quadratic, width, device), logits
}

/// The configurations of the curves with their fits, and the parameters as numbers.
macro_rules! curve_maps {
    ($($(#[$doc:meta])* $Config:ident of $Map:ident, $shape:ident, $parameters:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Config, Debug)]
        #[must_use]
        pub struct $Config {
            /// Whether targets are `(N₊+1)/(N₊+2)` and `1/(N₋+2)` in the place of 1 and 0. Without it, the fit to
            /// separable data ends where its slope is below the tolerance. Default: yes.
            #[config(default = true)]
            pub smoothed: bool,
        }

        impl LogitFit for $Config {
            type Map = $Map;

            fn find(&self, task: &mut FitTask) -> Result<$Map> {
                let fitted = Curve::fit($Map::KIND, CurveShape::$shape, self.smoothed, task);
                fitted.map(|(form, report)| $Map::new(form, report))
            }
        }

        impl $Map {
            /// Makes a map with the given parameters: of class 1 alone for two classes, otherwise of each class.
            ///
            /// # Errors
            ///
            /// No parameters, those of two events (two classes have one), or one outside its domain.
            pub fn from_parameters(
                parameters: &[[f64; $parameters]],
                device: &Device,
            ) -> Result<Self> {
                let form = Curve::new(CurveShape::$shape, parameters, device);
                valid_map(Self::new(form, None))
            }

            /// Returns the parameters of each event: of class 1 for two classes, otherwise of each class.
            pub fn parameters(&self) -> Vec<[f64; $parameters]> {
                self.form.by_event()
            }
        }
    )*};
}

curve_maps! {
    /// Configuration of [`PlattScaling`], which it fits, with the smoothed targets of Platt: `with_smoothed(false)` is maximum likelihood.
    PlattScalingConfig of PlattScaling, Platt, 2;
    /// Configuration of [`BetaCalibration`], which it fits, by default with the smoothed targets of Platt: `with_smoothed(false)` is the
    /// maximum likelihood of Kull, Silva Filho and Flach.
    BetaCalibrationConfig of BetaCalibration, Beta, 3;
    /// Configuration of [`QuadraticScaling`], which it fits, by default with the smoothed targets of Platt: `with_smoothed(false)` is
    /// maximum likelihood.
    QuadraticScalingConfig of QuadraticScaling, Quadratic, 3;
}
