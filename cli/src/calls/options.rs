//! The options of calls, with the defaults of the command, and their checks.

use burn_calibration::kernel::Profile;

use crate::{
    args::{BandwidthChoice, BinArgs, LEVEL, LensName, ORDER, TOLERANCE},
    error::{Result, ensure},
    limits,
};

/// The level of confidence intervals by default.
pub(super) const USUAL_LEVEL: f64 = 0.95;

/// The options of [`evaluate()`](crate::evaluate()).
#[derive(Debug, Clone)]
pub struct EvaluateOptions {
    /// The aspect that is tested.
    pub lens: LensName,
    /// The keys of tests in addition to the omnibus test.
    pub tests: Vec<String>,
    /// The level of the confidence intervals.
    pub level: f64,
    /// An error that is tolerated: tests whether errors are larger.
    pub tolerance: Option<f64>,
    /// The order of an Lp calibration error of which a lower bound is computed.
    pub lp_error: Option<f64>,
    /// The profile of the kernel.
    pub profile: Profile,
    /// The bandwidth of the kernel.
    pub bandwidth: BandwidthChoice,
    /// The number of bins.
    pub bins: u32,
    /// The number of redraws of the omnibus test and of resampling tests.
    pub redraws: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        Self {
            lens: LensName::Canonical,
            tests: Vec::new(),
            level: USUAL_LEVEL,
            tolerance: None,
            lp_error: None,
            profile: Profile::Exponential,
            bandwidth: BandwidthChoice::Median,
            bins: BinArgs::default().bins,
            redraws: limits::USUAL_REDRAWS,
            seed: 0,
        }
    }
}

/// The options of [`compare()`](crate::compare()).
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The level of the confidence intervals.
    pub level: f64,
    /// The number of redraws of the omnibus tests.
    pub redraws: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            level: USUAL_LEVEL,
            redraws: limits::USUAL_REDRAWS,
            seed: 0,
        }
    }
}

/// The options of [`report()`](crate::report()).
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// The title of the page.
    pub title: Option<String>,
    /// The number of bins.
    pub bins: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            title: None,
            bins: BinArgs::default().bins,
            seed: 0,
        }
    }
}

/// The options of [`monitor()`](crate::monitor()); those of a state that has rows are fixed.
#[derive(Debug, Clone, Default)]
pub struct MonitorOptions {
    /// The level of the test, 0.05 by default.
    pub level: Option<f64>,
    /// The least mean number of rows between false alarms of the detector, 10,000 by default.
    pub rows_between_alarms: Option<f64>,
}

impl EvaluateOptions {
    pub(super) fn check(&self) -> Result<()> {
        check(self.level, self.redraws, self.bins)?;
        if let Some(tolerance) = self.tolerance {
            TOLERANCE.check("tolerance", tolerance)?;
        }
        if let Some(order) = self.lp_error {
            ORDER.check("order of the Lp error", order)?;
        }
        let is_valid = match self.bandwidth {
            BandwidthChoice::Fixed(bandwidth) => limits::SCALES.contains(&bandwidth),
            BandwidthChoice::Median | BandwidthChoice::MedianWithDiagonal => true,
        };
        ensure!(
            is_valid,
            "the bandwidth is {:?}, expected a number from 1e-100 to 1e100, or the median",
            self.bandwidth
        );
        Ok(())
    }
}

/// Refuses numbers of options that the command refuses.
pub(super) fn check(level: f64, redraws: u32, bins: u32) -> Result<()> {
    LEVEL.check("level", level)?;
    let most = limits::REDRAWS;
    ensure!(
        (1..=most).contains(&redraws),
        "{redraws} redraws, expected a number from 1 to {most}"
    );
    ensure!(bins > 0, "0 bins, expected at least 1");
    Ok(())
}
