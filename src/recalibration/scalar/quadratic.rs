use super::curve::{FLAT, OddsCurve, Scalar};
use crate::recalibration::common::*;

/// Configuration of [`QuadraticScaling`], which it fits.
#[derive(Config, Debug)]
pub struct QuadraticScalingConfig {
    /// The largest derivative at which the fit has converged, with respect to `c` and the weights of
    /// features of mean 0 and variance 1. Default: 10⁻¹⁰.
    ///
    /// In f32, and by a criterion other than the log loss, rounding can keep a fit from it, which then
    /// ends stalled.
    #[config(default = 1e-10)]
    pub tolerance: f64,
    /// The most iterations of the fit of a class, or of a fit by another criterion. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Quadratic scaling: `g = σ(a s + b s² + c)` of the log-odds `s` of class 1 of two classes, or of each
/// class (Berta, Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
///
/// The log-odds of an event whose scores are normal with different means and variances where it occurs and
/// where not. Fitted as [`PlattScaling`](super::PlattScaling), with its smoothed targets; convex.
///
/// Not monotone: beyond `s = −a/2b` the order of two predictions turns round, and nothing is kept unless
/// `b = 0`, where it is Platt scaling.
pub type QuadraticScaling = Fitted<Scalar<Quadratic, 3>>;

/// The curve of [`QuadraticScaling`].
#[derive(Debug, Clone)]
pub struct Quadratic;

impl OddsCurve<3> for Quadratic {
    const KIND: &'static str = "quadratic scaling";
    const INCREASING: bool = false;
    const IDENTITY: [f64; 3] = [1.0, 0.0, 0.0];

    fn features(score: f64) -> Vec<f64> {
        vec![score, score * score]
    }

    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>> {
        vec![scores.clone(), scores.square()]
    }

    fn keeps([a, b, c]: [f64; 3]) -> Guarantees {
        let linear = b == 0.0;
        Guarantees::of_decision(linear && a > FLAT && c == 0.0, linear && a.abs() > FLAT)
    }
}

impl LogitFit for QuadraticScalingConfig {
    type Form = Scalar<Quadratic, 3>;
    const NAME: &'static str = "quadratic";
    const ABOUT: &'static str = "Quadratic scaling of each class";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn find(&self, task: Task) -> Result<FitOutcome<Self::Form>> {
        let limits = Limits::new(self.tolerance, self.max_iterations);
        Ok(Scalar::fit(limits, task).into())
    }
}
