use burn::{
    config::Config,
    module::{Module, Param},
    tensor::Tensor,
};

use super::{
    curve::{Curve, FLAT, curve_map},
    event::Event,
    logistic::Logistic,
};
use crate::recalibration::{FitReport, Guarantees, descent::Limits};

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
    /// The most evaluations of the log loss of a class; iterations of a fit by another criterion.
    /// Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Platt scaling: `g = σ(a s + b)` of the log-odds `s` of class 1 of two classes, or of each class
/// (J. Platt: *Probabilistic outputs for support vector machines*, 1999).
///
/// Fitted to smoothed targets, `(N₊+1)/(N₊+2)` where the event occurs and `1/(N₋+2)` where not, as there
/// and in scikit-learn: a class that is never seen, or separable data, have a finite fit. The log loss
/// is convex; Newton steps, each `n` exponentials an event, with the solver of Lin, Lin and Weng: *A
/// note on Platt's probabilistic outputs for support vector machines*, 2007, as the model: they
/// cannot rise. Equal log-odds throughout determine `b` alone and leave `a = 1`. The report has the
/// mean over events of the log loss against smoothed targets.
///
/// For two classes injective if `a ≠ 0` (in floating point: `|a| > 10⁻⁹`). A shift moves the decision: order and accuracy are kept for
/// `a > 0` and `b = 0` only, which a fit gives by chance. For more classes nothing is kept for certain:
/// the normalised values of several increasing functions need not keep the order, nor determine the
/// prediction.
#[derive(Module, Debug)]
pub struct PlattScaling {
    /// `a` and `b` of each event, of shape `[2, k]`.
    parameters: Param<Tensor<2>>,
    #[module(skip)]
    report: Option<FitReport>,
}

struct Sigmoid;

impl Curve for Sigmoid {
    const PARAMETERS: usize = 2;
    const INCREASING: bool = false;

    fn features(score: f64) -> Vec<f64> {
        vec![score]
    }

    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>> {
        vec![scores]
    }

    fn keeps(parameters: &[f64]) -> Guarantees {
        let (a, b) = (parameters[0], parameters[1]);
        let decides_alike = a > FLAT && b == 0.0;
        Guarantees {
            keeps_order: decides_alike,
            keeps_accuracy: decides_alike,
            injective: a.abs() > FLAT,
            injective_on_log_probabilities: a.abs() > FLAT,
        }
    }
}

/// `(a, b)` of an event.
pub(super) fn scale(event: &Event) -> (f64, f64) {
    let problem = Logistic::new(event, Sigmoid::features);
    let limits = Limits {
        tolerance: 1e-10,
        iterations: 200,
    };
    let parameters = problem.original(&problem.minimum(&[0], limits).weights);
    (parameters[0], parameters[1])
}

curve_map!(
    PlattScalingConfig,
    PlattScaling,
    Sigmoid,
    2,
    "Platt scaling"
);
