//! The scalar maps of few parameters.

use super::curve::{Curve, CurveShape};
use crate::recalibration::common::*;

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
