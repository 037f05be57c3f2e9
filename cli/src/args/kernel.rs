//! The kernel.

use burn_calibration::kernel::{Distance, Profile};
use clap::{Args, ValueEnum};

use super::number;
use crate::{
    kernel,
    limits::{MEDIAN, SCALES},
};

#[derive(Debug, Args)]
pub struct KernelShapeArgs {
    /// Profile of the kernel: exponential, gaussian, matern32, matern52, rational-quadratic:ALPHA or
    /// generalised-exponential:EXPONENT
    #[arg(long = "kernel", value_name = "PROFILE", default_value = "exponential", value_parser = kernel::profile)]
    pub profile: Profile,

    /// Distance of the kernel: total-variation (tv), l1 or euclidean (l2, the 2-Wasserstein distance of
    /// families other than categorical). By default total-variation for the exponential profiles of
    /// classes, and euclidean otherwise
    #[arg(long, value_name = "DISTANCE", value_parser = kernel::distance)]
    pub distance: Option<Distance>,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel: a positive number; the median of the distances of all pairs of
    /// different samples (of the predictions before, where two are compared), or of 5000 samples, drawn,
    /// where there are more than 20000; that of so many samples, drawn; or, as in the published results, the median with the distance of each sample to itself
    #[arg(long, default_value = "median", value_name = "NUMBER|median|median:SAMPLES|median-with-diagonal", value_parser = bandwidth)]
    pub bandwidth: BandwidthChoice,
}

/// The kernel on targets that are no classes.
#[derive(Debug, Args)]
pub struct TargetKernelArgs {
    /// Profile of the kernel on targets; of families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets: a positive number, or the median of the distances of
    /// all pairs of targets
    #[arg(long, default_value = "median", value_name = "NUMBER|median", value_parser = length_scale)]
    pub length_scale: LengthScale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetKernelName {
    Gaussian,
    Laplacian,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LengthScale {
    Fixed(f64),
    Median,
}

pub fn positive(text: &str) -> Result<f64, String> {
    let expected = "a positive number from 1e-100 to 1e100";
    number(text, |value| SCALES.contains(value), expected)
}

fn length_scale(text: &str) -> Result<LengthScale, String> {
    if text == "median" {
        return Ok(LengthScale::Median);
    }
    let fixed = positive(text).map(LengthScale::Fixed);
    fixed.map_err(|expected| format!("{expected}, or median"))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandwidthChoice {
    Fixed(f64),
    Median,
    /// The median of all ordered pairs, the zeros of the diagonal included.
    MedianWithDiagonal,
    MedianOf(usize),
}

fn bandwidth(text: &str) -> Result<BandwidthChoice, String> {
    let samples = text.strip_prefix("median:").and_then(|n| n.parse().ok());
    match (text, samples) {
        ("median", _) => Ok(BandwidthChoice::Median),
        ("median-with-diagonal", _) => Ok(BandwidthChoice::MedianWithDiagonal),
        (_, Some(samples @ 2..=MEDIAN)) => Ok(BandwidthChoice::MedianOf(samples)),
        _ => positive(text)
            .map(BandwidthChoice::Fixed)
            .map_err(|expected| {
                format!(
                    "{expected}, median, median-with-diagonal, or median:SAMPLES with 2 to {MEDIAN}"
                )
            }),
    }
}
