//! Names of profiles and distances.

use crate::prelude::*;

#[test]
fn names_of_profiles_round_trip() {
    let generalised = Profile::GeneralisedExponential { exponent: 0.75 };
    let rational = Profile::RationalQuadratic { alpha: 2.5 };
    for profile in Profile::all().chain([generalised, rational]) {
        assert_eq!(profile.to_string().parse::<Profile>().unwrap(), profile);
    }
    assert_eq!(rational.to_string(), "rational-quadratic:2.5");
    assert_eq!(generalised.to_string(), "generalised-exponential:0.75");
    assert_eq!("matern32".parse::<Profile>().unwrap(), Profile::Matern32);
    assert_eq!(Profile::all().count(), Profile::names().count());
}

#[test]
fn wrong_names_of_profiles_are_refused() {
    for text in [
        "cauchy",
        "gaussian:1",
        "rational-quadratic",
        "rational-quadratic:x",
        "",
        "generalised-exponential:3",
    ] {
        refuses(text.parse::<Profile>());
    }
}

#[test]
fn names_of_distances_round_trip() {
    for distance in Distance::ALL {
        assert_eq!(distance.to_string().parse::<Distance>().unwrap(), distance);
    }
    refuses("l3".parse::<Distance>());
}
