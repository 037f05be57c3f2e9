use super::{
    curve::{FLAT, OddsCurve, Scalar},
    event::log_sigmoid,
    odds,
};
use crate::recalibration::common::*;

/// Configuration of [`BetaCalibration`], which it fits.
#[derive(Config, Debug)]
pub struct BetaCalibrationConfig {
    /// The largest derivative at which the fit has converged, with respect to `c` and the slopes of
    /// features of mean 0 and variance 1, those at their bound excepted. Default: 10⁻¹⁰.
    ///
    /// In f32, and by a criterion other than the log loss, rounding can keep a fit from it, which then
    /// ends stalled.
    #[config(default = 1e-10)]
    pub tolerance: f64,
    /// The most iterations of the fit of a class, for each set of slopes that are 0, or of a fit by another
    /// criterion. Default: 200.
    #[config(default = 200)]
    pub max_iterations: usize,
}

/// Beta calibration: `g = σ(a log p − b log(1−p) + c)` with `a, b ≥ 0`, of the probability `p` of class
/// 1 of two classes, or of each class (Kull, Silva Filho, Flach: *Beta calibration*, 2017).
///
/// The family of likelihood ratios of two beta distributions; it holds the identity, `a = b = 1`,
/// `c = 0`, and Platt scaling, `a = b`. `g` does not decrease with `p`.
///
/// Fitted as [`PlattScaling`](super::PlattScaling), with its smoothed targets. The log loss is convex:
/// its minimum is that of all three parameters if it lies within the bounds, else the least of those
/// with `a = 0`, `b = 0` or both that do, each by Newton steps. Data of equal log-odds leave
/// `a = b = 1`. A fit by another criterion descends in `√a` and `√b`. The report has the mean over
/// events of the log loss against smoothed targets.
///
/// For two classes injective unless `a = b = 0` (in floating point: `a + b ≤ 10⁻⁹`). Order and accuracy are kept if besides
/// `c = (a−b) log 2`, where `g = ½` at `p = ½`, which a fit gives by chance. For more classes nothing is
/// kept for certain.
pub type BetaCalibration = Fitted<Scalar<Beta, 3>>;

/// The curve of [`BetaCalibration`].
#[derive(Debug, Clone)]
pub struct Beta;

impl OddsCurve<3> for Beta {
    const KIND: &'static str = "beta calibration";
    const INCREASING: bool = true;
    const IDENTITY: [f64; 3] = [1.0, 1.0, 0.0];

    fn features(score: f64) -> Vec<f64> {
        vec![log_sigmoid(score), -log_sigmoid(-score)]
    }

    fn feature_tensors(scores: Tensor<2>) -> Vec<Tensor<2>> {
        vec![
            odds::log_sigmoid(scores.clone()),
            -odds::log_sigmoid(-scores),
        ]
    }

    fn keeps([a, b, c]: [f64; 3]) -> Guarantees {
        let increases = a + b > FLAT;
        let decides_alike = increases && c == (a - b) * std::f64::consts::LN_2;
        Guarantees::of_decision(decides_alike, increases)
    }
}

impl LogitFit for BetaCalibrationConfig {
    type Form = Scalar<Beta, 3>;
    const NAME: &'static str = "beta";
    const ABOUT: &'static str = "Beta calibration of each class";
    const DEFAULT: fn(u64) -> Self = |_| Self::new();

    fn find(&self, task: Task) -> Result<FitOutcome<Self::Form>> {
        let limits = Limits::new(self.tolerance, self.max_iterations);
        Ok(Scalar::fit(limits, task).into())
    }
}
