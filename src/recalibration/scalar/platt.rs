use super::{
    curve::{FLAT, OddsCurve, Scalar},
    event::EventOutcomes,
    logistic::Logistic,
};
use crate::recalibration::common::*;

/// Configuration of [`PlattScaling`], which it fits.
#[derive(Config, Debug)]
pub struct PlattScalingConfig {
    /// The largest derivative at which the fit has converged, with respect to `b` and the slope of
    /// log-odds of mean 0 and variance 1. Default: 10⁻¹⁰.
    ///
    /// In f32, and by a criterion other than the log loss, rounding can keep a fit from it, which then
    /// ends stalled.
    #[config(default = 1e-10)]
    pub tolerance: f64,
    /// The most iterations of the fit of a class, or of a fit by another criterion. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
}

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
pub type PlattScaling = Fitted<Scalar<Platt, 2>>;

/// The curve of [`PlattScaling`].
#[derive(Debug, Clone)]
pub struct Platt;

impl OddsCurve<2> for Platt {
    const KIND: &'static str = "Platt scaling";
    const INCREASING: bool = false;
    const IDENTITY: [f64; 2] = [1.0, 0.0];

    fn features(score: f64) -> Vec<f64> {
        vec![score]
    }

    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>> {
        vec![scores]
    }

    fn keeps([a, b]: [f64; 2]) -> Guarantees {
        Guarantees::of_decision(a > FLAT && b == 0.0, a.abs() > FLAT)
    }
}

/// `(a, b)` of an event.
pub(super) fn scale(event: &EventOutcomes) -> (f64, f64) {
    let problem = Logistic::new(event, Platt::features);
    let minimum = problem.minimum(&[0], Limits::new(1e-10, 200));
    let parameters = problem.original(&minimum.weights);
    (parameters[0], parameters[1])
}

impl LogitFit for PlattScalingConfig {
    type Form = Scalar<Platt, 2>;
    const NAME: &'static str = "platt";
    const ABOUT: &'static str = "Platt scaling of each class";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn find(&self, task: Task) -> Result<FitOutcome<Self::Form>> {
        let limits = Limits::new(self.tolerance, self.max_iterations);
        Ok(Scalar::fit(limits, task).into())
    }
}
