//! The values of options, and how they are read.

use burn_calibration::{estimator::Binning, kernel::RealKernel};
use burn_calibration_report::Bins;
use clap::{
    ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde::Serialize;

use super::BinArgs;
use crate::{
    error::{self, ensure},
    limits::SCALES,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinningName {
    Width,
    Mass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
pub enum Norm {
    #[value(name = "1")]
    #[serde(rename = "1")]
    One,
    #[value(name = "2")]
    #[serde(rename = "2")]
    Two,
    #[value(name = "max")]
    #[serde(rename = "max")]
    Max,
}

impl Default for BinArgs {
    fn default() -> Self {
        Self {
            bins: 15,
            binning: BinningName::Width,
            norm: Norm::One,
        }
    }
}

impl Norm {
    /// The order of the norm.
    pub fn order(self) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Two => 2.0,
            Self::Max => f64::INFINITY,
        }
    }
}

impl BinArgs {
    /// The bins of the library.
    pub fn binning(&self) -> Binning {
        let bins = self.bins as usize;
        match self.binning {
            BinningName::Width => Binning::Uniform { bins },
            BinningName::Mass => Binning::EqualMass { bins },
        }
    }

    /// Returns the bins, if they are not the default.
    pub fn asked(&self) -> Option<Self> {
        Some(*self).filter(|bins| *bins != Self::default())
    }
}

impl From<BinArgs> for Bins {
    fn from(args: BinArgs) -> Self {
        Self {
            binning: args.binning(),
            order: args.norm.order(),
        }
    }
}

/// The numbers that an option takes.
#[derive(Clone, Copy)]
pub struct Domain {
    contains: fn(f64) -> bool,
    /// The words for them.
    expected: &'static str,
}

/// A tolerated error.
pub const TOLERANCE: Domain = Domain {
    contains: |x| (0.0..1.0).contains(&x),
    expected: "a number of at least 0 and less than 1",
};
/// The level of an interval or of a test.
pub const LEVEL: Domain = Domain {
    contains: |x| x > 0.0 && x < 1.0,
    expected: "a number between 0 and 1, both excluded",
};
/// The order of a norm.
pub const ORDER: Domain = Domain {
    contains: |x| x.is_finite() && x >= 1.0,
    expected: "a finite number of at least 1",
};
/// A bandwidth, a length scale, or another positive number.
pub const POSITIVE: Domain = Domain {
    contains: |x| SCALES.contains(&x),
    expected: "a positive number from 1e-100 to 1e100",
};
/// A number that is not infinite.
pub const FINITE: Domain = Domain {
    contains: f64::is_finite,
    expected: "a finite number",
};

impl Domain {
    /// The parser of an option.
    pub fn parser(self) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
        move |text| self.parse(text)
    }

    fn parse(self, text: &str) -> Result<f64, String> {
        let number = text.parse().ok().filter(|number| (self.contains)(*number));
        number.ok_or_else(|| format!("expected {}", self.expected))
    }

    /// Checks a number of a program.
    pub fn check(self, name: &str, value: f64) -> error::Result<()> {
        let expected = self.expected;
        ensure!(
            (self.contains)(value),
            "the {name} is {value}, expected {expected}"
        );
        Ok(())
    }
}

/// The aspect of predictions of classes that is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LensName {
    /// The whole vector of probabilities
    Canonical,
    /// Whether the most likely class is right
    TopLabel,
    /// Each class against the rest
    ClassWise,
}

/// A value that is yes or no.
pub fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|answer| answer == "yes")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetKernelName {
    Gaussian,
    Laplacian,
}

impl TargetKernelName {
    /// The kernel of a length scale.
    pub fn with_length_scale(self, length_scale: f64) -> RealKernel {
        match self {
            Self::Gaussian => RealKernel::gaussian(length_scale),
            Self::Laplacian => RealKernel::laplacian(length_scale),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LengthScale {
    Fixed(f64),
    Median,
}

pub fn length_scale(text: &str) -> Result<LengthScale, String> {
    if text == "median" {
        return Ok(LengthScale::Median);
    }
    let fixed = POSITIVE.parse(text).map(LengthScale::Fixed);
    fixed.map_err(|expected| format!("{expected}, or median"))
}

/// The bandwidth of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandwidthChoice {
    /// A number.
    Fixed(f64),
    /// The median distance of all pairs of different samples, or of a fixed subsample of more than 4,096.
    Median,
    /// The median of all ordered pairs, the zeros of the diagonal included.
    MedianWithDiagonal,
}

pub fn bandwidth(text: &str) -> Result<BandwidthChoice, String> {
    match text {
        "median" => Ok(BandwidthChoice::Median),
        "median-with-diagonal" => Ok(BandwidthChoice::MedianWithDiagonal),
        _ => POSITIVE
            .parse(text)
            .map(BandwidthChoice::Fixed)
            .map_err(|expected| format!("{expected}, median or median-with-diagonal")),
    }
}
