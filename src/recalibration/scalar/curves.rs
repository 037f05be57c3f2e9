//! The scalar maps of few parameters: their formulas.

use super::{
    EventMap,
    curve::{Curve, FLAT, Feature},
    event::EventOutcomes,
};
use crate::recalibration::common::*;

/// Makes a map of so many parameters an event of a [`Curve`], its parameters and its configuration.
macro_rules! curve_map {
    (
        $(#[$doc:meta])*
        $map:ident = $form:ident[$p:literal], $kind:literal, by $config:ident, $name:literal, $about:literal;
        $curve:ident = $features:expr, increasing: $increasing:literal, identity: $identity:expr,
        keeps: $keeps:expr;
    ) => {
        #[doc = concat!("Configuration of [`", stringify!($map), "`], which it fits.")]
        #[derive(Config, Debug)]
        pub struct $config {}

        $(#[$doc])*
        pub type $map = Fitted<$form>;

        #[doc = concat!("The parameters of [`", stringify!($map), "`].")]
        #[derive(Module, Debug)]
        pub struct $form {
            /// The parameters of each event, `[p, k]`.
            parameters: Parameter<2>,
        }

        const $curve: Curve<$p> = Curve {
            features: &$features,
            increasing: $increasing,
        };

        impl $form {
            fn new(parameters: &[[f64; $p]], device: &Device) -> Self {
                let rows = (0..$p).flat_map(|j| parameters.iter().map(move |row| row[j]));
                let shape = [$p, parameters.len()];
                Self {
                    parameters: Parameter::new(rows.collect(), shape, device),
                }
            }

            fn parameters(&self) -> Vec<[f64; $p]> {
                let ([_, k], values) = (self.parameters.dims(), self.parameters.to_vec());
                let of_event = |event| std::array::from_fn(|j| values[j * k + event]);
                (0..k).map(of_event).collect()
            }
        }

        impl $map {
            /// Makes a map with the given parameters: of class 1 alone for two classes, otherwise of each
            /// class.
            ///
            /// # Errors
            ///
            /// No parameters, those of two events (two classes have one), or one outside its domain.
            pub fn from_parameters(parameters: &[[f64; $p]], device: &Device) -> Result<Self> {
                Self::of_parameters($form::new(parameters, device))
            }

            /// Returns the parameters of each event: of class 1 for two classes, otherwise of each class.
            pub fn parameters(&self) -> Vec<[f64; $p]> {
                self.form.parameters()
            }
        }

        impl LogitFit for $config {
            type Form = $form;
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const DEFAULT: fn(u64) -> Self = |_| Self::new();

            fn find(&self, task: Task) -> Result<FitOutcome<$form>> {
                let (parameters, report) = $curve.fit(task);
                Ok(($form { parameters }, report).into())
            }
        }

        impl EventMap for $form {
            const KIND: &'static str = $kind;

            fn template(device: &Device) -> Self {
                Self::new(&[$identity], device)
            }

            fn check(&self) -> Result<(), String> {
                $curve.check(&self.parameters)
            }

            fn events(&self) -> usize {
                self.parameters.dims()[1]
            }

            fn keeps(&self) -> Guarantees {
                let keeps: fn([f64; $p]) -> Guarantees = $keeps;
                keeps(self.parameters()[0])
            }

            fn formula(&self, scores: Term) -> Term {
                $curve.formula(scores, &self.parameters)
            }

            fn log_probabilities(&self, scores: Tensor<2>) -> [Tensor<2>; 2] {
                let parameters = self.parameters.cast(scores.dtype());
                $curve.log_probabilities(scores, parameters)
            }
        }
    };
}

curve_map! {
    /// Platt scaling: `g = σ(a s + b)` of the log-odds `s` of class 1 of two classes, or of each class
    /// (J. Platt: *Probabilistic outputs for support vector machines*, 1999).
    ///
    /// Fitted to smoothed targets, `(N₊+1)/(N₊+2)` where the event occurs and `1/(N₋+2)` where not, as there
    /// and in scikit-learn: a class that is never seen, or separable data, have a finite fit. The log loss
    /// is convex. Newton steps with a line search cannot raise it, as in the solver of Lin, Lin and Weng: *A note
    /// on Platt's probabilistic outputs for support vector machines*, 2007. A step takes `n` exponentials an event.
    /// Equal log-odds throughout determine `b` alone and leave `a = 1`. The report has the mean over events of the
    /// log loss against smoothed targets.
    ///
    /// For two classes injective if `a ≠ 0` (in floating point: `|a| > 10⁻⁹`). A shift moves the decision: order and accuracy are kept for
    /// `a > 0` and `b = 0` only, which a fit gives by chance. For more classes nothing is kept for certain:
    /// the normalised values of several increasing functions need not keep the order, nor determine the
    /// prediction.
    PlattScaling = Platt[2], "Platt scaling", by PlattScalingConfig, "platt", "Platt scaling of each class";
    PLATT = [Feature::LogOdds], increasing: false, identity: [1.0, 0.0],
    keeps: |[a, b]| Guarantees::of_decision(a > FLAT && b == 0.0, a.abs() > FLAT);
}

curve_map! {
    /// Beta calibration: `g = σ(a log p − b log(1−p) + c)` with `a, b ≥ 0`, of the probability `p` of class
    /// 1 of two classes, or of each class (Kull, Silva Filho, Flach: *Beta calibration*, 2017).
    ///
    /// The family of likelihood ratios of two beta distributions; it holds the identity, `a = b = 1`,
    /// `c = 0`, and Platt scaling, `a = b`. `g` does not decrease with `p`.
    ///
    /// Fitted as [`PlattScaling`], with its smoothed targets. The log loss is convex: its minimum is that
    /// of all three parameters if it lies within the bounds, otherwise the least of those with `a = 0`, `b
    /// = 0` or both that do, each by Newton steps. Data of equal log-odds leave `a = b = 1`. A fit by
    /// another criterion descends in `√a` and `√b`. The report has the mean over events of the log loss
    /// against smoothed targets.
    ///
    /// For two classes injective unless `a = b = 0` (in floating point: `a + b ≤ 10⁻⁹`). Order and accuracy are kept if besides
    /// `c = (a−b) log 2`, where `g = ½` at `p = ½`, which a fit gives by chance. For more classes nothing is
    /// kept for certain.
    BetaCalibration = Beta[3], "beta calibration", by BetaCalibrationConfig, "beta", "Beta calibration of each class";
    BETA = [Feature::LogProbability, Feature::NegativeLogComplement], increasing: true, identity: [1.0, 1.0, 0.0],
    keeps: |[a, b, c]| {
        let increases = a + b > FLAT;
        let decides_alike = increases && c == (a - b) * std::f64::consts::LN_2;
        Guarantees::of_decision(decides_alike, increases)
    };
}

curve_map! {
    /// Quadratic scaling: `g = σ(a s + b s² + c)` of the log-odds `s` of class 1 of two classes, or of each
    /// class (Berta, Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
    ///
    /// The log-odds of an event whose scores are normal with different means and variances where it occurs and
    /// where not. Fitted as [`PlattScaling`], with its smoothed targets; convex.
    ///
    /// Not monotone: beyond `s = −a/2b` the order of two predictions turns round, and nothing is kept unless
    /// `b = 0`, where it is Platt scaling.
    QuadraticScaling = Quadratic[3], "quadratic scaling", by QuadraticScalingConfig,
    "quadratic", "Quadratic scaling of each class";
    QUADRATIC = [Feature::LogOdds, Feature::Square], increasing: false, identity: [1.0, 0.0, 0.0],
    keeps: |[a, b, c]| {
        let linear = b == 0.0;
        Guarantees::of_decision(linear && a > FLAT && c == 0.0, linear && a.abs() > FLAT)
    };
}

/// `(a, b)` of Platt scaling of an event.
pub(super) fn platt(event: &EventOutcomes) -> (f64, f64) {
    let ([a, b], _) = PLATT.fit_event(event);
    (a, b)
}
