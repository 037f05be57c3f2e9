//! Values with names, outcomes, kernels and p-values: in JSON, and in words.

use std::{
    fmt,
    io::{self, Write},
    process,
};

use burn_calibration::{
    error::{self, serialize_or_reason},
    kernel::{Kernel, RealKernel},
    names::Name,
};
use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::{bandwidth, finite, input::Result, kernel::distance_name};

/// Values under their names: an object in JSON.
pub struct Named<T>(pub Vec<(Name, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.key, value)))
    }
}

/// An outcome, or why there is none: `{"error": reason}` in JSON.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Known<T: Serialize>(#[serde(serialize_with = "serialize_or_reason")] pub Result<T>);

impl<T: Serialize> Known<T> {
    /// An outcome, if all its numbers are finite.
    pub fn of(outcome: error::Result<T>) -> Self {
        Self(finite(outcome))
    }
}

/// A number, or why there is none: null in JSON.
pub struct Number(pub Result<f64>);

impl Number {
    /// A number that is finite.
    pub fn of(value: error::Result<f64>) -> Self {
        Self(finite(value))
    }
}

fn finite<T: Serialize>(outcome: error::Result<T>) -> Result<T> {
    let outcome = outcome.map_err(|e| e.to_string())?;
    finite::check(&outcome).map_err(|reason| reason.trim_start().to_owned())?;
    Ok(outcome)
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().ok().serialize(serializer)
    }
}

/// Serializes a number under what it counts.
pub fn as_member<S: Serializer>(
    counted: &(&'static str, usize),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map([*counted])
}

/// A value before and after a recalibration.
#[derive(Serialize)]
pub struct Pair<T> {
    pub before: T,
    pub after: T,
}

impl<T> From<[T; 2]> for Pair<T> {
    fn from([before, after]: [T; 2]) -> Self {
        Self { before, after }
    }
}

/// The profile, the distance and the bandwidth of a kernel.
#[derive(Serialize)]
pub struct KernelWords {
    pub profile: String,
    pub distance: &'static str,
    pub bandwidth: f64,
}

impl From<&Kernel> for KernelWords {
    fn from(kernel: &Kernel) -> Self {
        Self {
            profile: kernel.profile.to_string(),
            distance: distance_name(kernel.distance),
            bandwidth: bandwidth::value(kernel),
        }
    }
}

impl fmt::Display for KernelWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            profile,
            distance,
            bandwidth,
        } = self;
        write!(
            f,
            "kernel: {profile} over {distance}, bandwidth {bandwidth:.10}"
        )
    }
}

/// The profile and the length scale of a kernel on targets.
#[derive(Serialize)]
pub struct TargetWords {
    pub profile: String,
    pub length_scale: f64,
}

impl From<RealKernel> for TargetWords {
    fn from(kernel: RealKernel) -> Self {
        Self {
            profile: format!("{:?}", kernel.profile).to_lowercase(),
            length_scale: kernel.length_scale,
        }
    }
}

impl fmt::Display for TargetWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (profile, length_scale) = (&self.profile, self.length_scale);
        write!(
            f,
            "kernel on targets: {profile}, length scale {length_scale:.10}"
        )
    }
}

/// Prints an outcome: one JSON object, or words. A number in it that is not finite is an error.
pub fn show(outcome: &(impl Serialize + fmt::Display), json: bool) -> Result<()> {
    finite::check(outcome)?;
    match json {
        true => say(serde_json::to_string(outcome).map_err(|e| e.to_string())? + "\n"),
        false => say(outcome),
    }
    Ok(())
}

/// Prints to standard output. If nobody reads it any more the program ends quietly, and with one line and
/// the exit code 1 if it is full.
pub fn say(text: impl fmt::Display) {
    let mut output = io::stdout().lock();
    let written = write!(output, "{text}").and_then(|()| output.flush());
    match written {
        Ok(()) => (),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            eprintln!("calibration: standard output: {error}");
            process::exit(1)
        }
    }
}

/// The name of a value on the command line and in JSON.
pub fn key(name: impl ValueEnum) -> String {
    name.to_possible_value()
        .expect("no value is hidden")
        .get_name()
        .to_owned()
}

/// Seven digits, with an exponent where it is small.
pub fn p_value(p: f64) -> String {
    match p {
        p if p >= 1e-3 => format!("{p:.7}"),
        p => format!("{p:.3e}"),
    }
}

/// A p-value, or that it is at most so much.
pub fn probability(p: f64, is_bound: bool) -> String {
    match is_bound {
        true => format!("≤ {p:.4}"),
        false => format!("{p:.4}"),
    }
}

/// A number, or its sign where it is infinite.
pub fn or_infinite(x: f64, write: impl Fn(f64) -> String) -> String {
    match x {
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "-∞".into(),
        x => write(x),
    }
}
