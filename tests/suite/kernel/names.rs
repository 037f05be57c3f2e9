//! Names of profiles and distances.

use burn_calibration::{
    error::Error,
    kernel::{Distance, Profile},
};

#[test]
fn names_of_profiles_round_trip() {
    let generalised = Profile::GeneralisedExponential { exponent: 0.75 };
    let rational = Profile::RationalQuadratic { alpha: 2.5 };
    for profile in Profile::all().chain([generalised, rational]) {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    assert_eq!(rational.to_string(), "rational-quadratic:2.5");
    assert_eq!(generalised.to_string(), "generalised-exponential:0.75");
    assert_eq!("matern32".parse(), Ok(Profile::Matern32));
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
    ] {
        let error = text.parse::<Profile>().unwrap_err();
        assert!(
            matches!(error, Error::UnknownName { .. }),
            "{text}: {error}"
        );
    }
    let error = "cauchy".parse::<Profile>().unwrap_err().to_string();
    assert!(
        error.starts_with("there is no profile \"cauchy\", expected one of exponential,"),
        "{error}"
    );
    let error = "generalised-exponential:3".parse::<Profile>().unwrap_err();
    assert!(matches!(error, Error::Parameter { value: 3.0, .. }));
}

#[test]
fn names_of_distances_round_trip() {
    for distance in Distance::ALL {
        assert_eq!(distance.to_string().parse(), Ok(distance));
    }
    let error = "l3".parse::<Distance>().unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no distance \"l3\", expected one of total-variation, l1, euclidean"
    );
}
