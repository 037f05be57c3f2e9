//! Profiles and distances of kernels by name.

use crate::error::Result;
use burn_calibration::kernel::{Distance, Profile};

/// The profile of a name.
pub fn profile(text: &str) -> Result<Profile, String> {
    text.parse().map_err(|e| format!("{e}"))
}

/// The distance of a name, or of a short one.
pub fn distance(text: &str) -> Result<Distance, String> {
    let short = |distance: &Distance| distance_name(*distance) == text;
    match Distance::ALL.iter().find(|distance| short(distance)) {
        Some(distance) => Ok(*distance),
        None => text.parse().map_err(|e| format!("{e}")),
    }
}

/// The short name of a distance, which the output has.
pub fn distance_name(distance: Distance) -> &'static str {
    match distance {
        Distance::TotalVariation => "tv",
        Distance::Euclidean => "l2",
        other => other.name(),
    }
}
