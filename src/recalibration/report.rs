use std::fmt;

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStatus {
    /// At a minimum, to the tolerance.
    Converged,
    /// At the lower bound of the parameter: the criterion still falls there. For a temperature,
    /// the data are separable, or nearly so: every row is right, and sharper is better.
    LowerBound,
    /// At the upper bound of the parameter: the criterion still falls there. For a temperature,
    /// the logits are uninformative or misleading, and the uniform prediction is best.
    UpperBound,
    /// The criterion does not depend on the parameter, which stays at its neutral value. For a
    /// temperature, the logits of each row are all equal.
    Indifferent,
    /// The iterations ran out before the tolerance was met.
    IterationLimit,
}

/// What a fit reports of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitReport {
    /// How it ended.
    pub status: FitStatus,
    /// The value of the criterion at the fitted parameter.
    pub objective: f64,
    /// The derivative of the criterion with respect to the logarithm of the parameter, where the
    /// solver knows it.
    pub gradient: Option<f64>,
    /// How often the criterion (or its derivative) was evaluated.
    pub evaluations: usize,
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            FitStatus::Converged => "converged",
            FitStatus::LowerBound => "stopped at the lower bound of the parameter",
            FitStatus::UpperBound => "stopped at the upper bound of the parameter",
            FitStatus::Indifferent => "the criterion does not depend on the parameter",
            FitStatus::IterationLimit => "ran out of iterations",
        };
        write!(
            f,
            "{status} after {} evaluations at {:.6}",
            self.evaluations, self.objective
        )
    }
}
