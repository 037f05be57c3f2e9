//! Profiles and distances of kernels by name. The library's `FromStr` and `Display` will replace it.

use burn_calibration::kernel::{Distance, Profile};

/// The profile of a name.
pub fn profile(text: &str) -> Result<Profile, String> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let number = parameter.map(str::parse::<f64>);
    let profile = match (name, number) {
        ("exponential", None) => Profile::Exponential,
        ("gaussian", None) => Profile::Gaussian,
        ("matern32", None) => Profile::Matern32,
        ("matern52", None) => Profile::Matern52,
        ("rational-quadratic", Some(Ok(alpha))) => Profile::RationalQuadratic { alpha },
        ("generalised-exponential", Some(Ok(exponent))) => {
            Profile::GeneralisedExponential { exponent }
        }
        _ => {
            return Err("expected exponential, gaussian, matern32, matern52, \
                 rational-quadratic:ALPHA or generalised-exponential:EXPONENT"
                .into());
        }
    };
    match profile.validate() {
        Ok(()) => Ok(profile),
        Err(reason) => Err(reason.to_string()),
    }
}

/// The distance of a name.
pub fn distance(text: &str) -> Result<Distance, String> {
    match text {
        "tv" | "total-variation" => Ok(Distance::TotalVariation),
        "l1" => Ok(Distance::L1),
        "l2" | "euclidean" => Ok(Distance::Euclidean),
        _ => Err("expected total-variation (tv), l1 or euclidean (l2)".into()),
    }
}

/// The name of a profile.
pub fn profile_name(profile: Profile) -> String {
    match profile {
        Profile::Exponential => "exponential".into(),
        Profile::Gaussian => "gaussian".into(),
        Profile::Matern32 => "matern32".into(),
        Profile::Matern52 => "matern52".into(),
        Profile::RationalQuadratic { alpha } => format!("rational-quadratic:{alpha}"),
        Profile::GeneralisedExponential { exponent } => {
            format!("generalised-exponential:{exponent}")
        }
    }
}

/// The short name of a distance, which the output has.
pub fn distance_name(distance: Distance) -> &'static str {
    match distance {
        Distance::TotalVariation => "tv",
        Distance::L1 => "l1",
        Distance::Euclidean => "l2",
    }
}
