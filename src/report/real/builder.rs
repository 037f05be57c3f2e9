use burn::tensor::Tensor;

use super::{
    RealReport,
    summary::{LogScoreOf, PitOf, Plan},
};
use crate::{
    distribution::{AbsoluteMoments, Density, Samples, Targets},
    error::Result,
    estimator::regression::Pit,
    kernel::{RealKernel, TargetKernel, TensorKernel},
    report::builder::subset,
    score::{LogScore, Score},
};

/// Builds a [`RealReport`] from predictions over `ℝ^d`, their targets and, optionally, recalibrated
/// predictions of the same samples.
///
/// [`new`](Self::new) is for predictions with a density, [`without_density`](Self::without_density) for
/// others: these have no log score. The samples must be others than those on which the model was
/// trained and the recalibration was fitted: on these both look better than they are.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::Normal, report::RealReportBuilder};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let targets = Tensor::<2>::from_floats([[-1.0], [0.5], [2.0]], &Device::default());
/// let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
/// let report = RealReportBuilder::new(&predictions, &targets).build()?;
/// assert!((report.before.root_mean_squared_error - 1.75f64.sqrt()).abs() < 1e-6);
/// assert!(report.to_html().contains("3 predictions"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RealReportBuilder<'a, P> {
    predictions: &'a P,
    targets: &'a Tensor<2>,
    after: Option<&'a P>,
    log: Option<LogScoreOf<P>>,
    pit: PitOf<P>,
    title: String,
    bins: usize,
    level: f64,
    kernel: Option<TensorKernel<RealKernel>>,
    skce_samples: usize,
    seed: u64,
}

impl<'a, P: AbsoluteMoments + Density> RealReportBuilder<'a, P>
where
    RealKernel: TargetKernel<P>,
{
    /// Of predictions with a density and targets `[n, d]`.
    pub fn new(predictions: &'a P, targets: &'a Tensor<2>) -> Self {
        Self {
            log: Some(|predictions, targets| LogScore.mean(predictions, targets)),
            ..Self::without_density(predictions, targets)
        }
    }
}

impl RealReportBuilder<'_, Samples> {
    /// With draws from continuous distributions: the histogram is of the randomised ranks of the
    /// targets among them, [`Pit::ranks`], which are uniform for any number of draws.
    pub fn with_ranks(self) -> Self {
        Self {
            pit: Pit::ranks,
            ..self
        }
    }
}

impl<'a, P: AbsoluteMoments> RealReportBuilder<'a, P>
where
    RealKernel: TargetKernel<P>,
{
    /// Of predictions that have no density, or are not to be scored by it, and targets `[n, d]`.
    pub fn without_density(predictions: &'a P, targets: &'a Tensor<2>) -> Self {
        Self {
            predictions,
            targets,
            after: None,
            log: None,
            pit: Pit::randomised,
            title: "Calibration report".into(),
            bins: 10,
            level: 0.95,
            kernel: None,
            skce_samples: 2_000,
            seed: 0,
        }
    }

    /// And of recalibrated predictions of the same samples.
    pub fn with_after(self, after: &'a P) -> Self {
        Self {
            after: Some(after),
            ..self
        }
    }

    /// With a title.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// With another number of bins of the histogram, 10 by default.
    pub fn with_bins(self, bins: usize) -> Self {
        Self { bins, ..self }
    }

    /// With bands and confidence intervals of another probability, 0.95 by default.
    pub fn with_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// With another kernel for the SKCE, by default `exp(−W₂/ν) ⊗ exp(−‖y − y'‖²/2ℓ²)` with the medians
    /// of the predictions before and of the targets.
    pub fn with_kernel(self, kernel: TensorKernel<RealKernel>) -> Self {
        Self {
            kernel: Some(kernel),
            ..self
        }
    }

    /// With the SKCE on at most so many samples, 2,000 by default, drawn at random where there are
    /// more: it costs the square of their number. The page says so. The omnibus test is of all samples.
    pub fn with_skce_samples(self, skce_samples: usize) -> Self {
        Self {
            skce_samples,
            ..self
        }
    }

    /// With another seed, 0 by default: of the redraws and landmarks of the omnibus test, of the samples
    /// of the SKCE, and of transforms where the predicted distribution function has steps.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Computes all numbers and diagrams.
    ///
    /// Cost: `O(s²·d)` for the `s` samples of the SKCE, times the pairs of components or draws, and
    /// `O(n·d)` for all else; a redraw of the [`OmnibusTest`](crate::hypothesis::OmnibusTest) is one of
    /// these.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid; another number or dimension of targets, or of
    /// predictions after, than of predictions; an invalid kernel; fewer than two bins; a level that is
    /// not between 0 and 1. A score that is not finite and an SKCE of too few samples are no error: the
    /// page says why they are missing.
    pub fn build(self) -> Result<RealReport> {
        let (before, targets) = (self.predictions, self.targets);
        before.check()?;
        before.check_targets(targets)?;
        if let Some(after) = self.after {
            before.check_like(after)?;
            after.check()?;
            after.check_targets(targets)?;
        }
        let [n, dimensions] = targets.dims();
        let rows = subset(n, self.skce_samples, self.seed);
        let (points, observed) = match &rows {
            Some(rows) => (before.select_rows(rows), targets.select_rows(rows)),
            None => (before.clone(), targets.clone()),
        };
        let kernel = self.kernel.unwrap_or_else(|| {
            TensorKernel::wasserstein(RealKernel::gaussian(1.0).with_median_of(&observed))
        });
        let plan = Plan {
            targets,
            log: self.log,
            pit: self.pit,
            bins: self.bins,
            level: self.level,
            kernel: kernel.fixed(&points)?,
            rows: rows.as_deref(),
            seed: self.seed,
        };
        Ok(RealReport {
            before: plan.summary(before)?,
            after: self.after.map(|after| plan.summary(after)).transpose()?,
            title: self.title,
            samples: n,
            dimensions,
            level: self.level,
            kernel: plan.kernel,
            skce_samples: rows.as_ref().map_or(n, Vec::len),
            seed: self.seed,
        })
    }
}
