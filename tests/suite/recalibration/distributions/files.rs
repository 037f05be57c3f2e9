use std::{fs, path::PathBuf};

use super::*;

/// A file name in the folder of this test run, removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Normal predictions of two coordinates with targets.
fn data() -> (Normal, Tensor<2>) {
    let (u, v) = (u(60), v(60));
    (
        Normal::new(matrix(&u, 2), matrix(&v, 2)),
        matrix(&spread(60, 0.3819), 2),
    )
}

macro_rules! saved_and_loaded {
    ($($name:ident: $config:expr => $map:ident, $state:ident, $other:ident, $output:expr;)*) => {$(
        #[test]
        fn $name() {
            let (p, y) = data();
            let map = $config.fit(p.clone(), y.clone()).unwrap();
            let file = Temporary::new(concat!("distribution_", stringify!($name), ".bpk"));
            map.save(&file.0).unwrap();
            let loaded = $map::load(&file.0, &device()).unwrap();
            assert_eq!(loaded.$state(), map.$state());
            assert_eq!(vector($output(loaded.forward(p.clone()), &y)), vector($output(map.forward(p.clone()), &y)));
            assert!(loaded.report().is_some());
            assert_eq!(loaded.kind(), map.kind());

            let error = $other::load(&file.0, &device()).unwrap_err();
            let expected = format!("the file holds a {}", map.kind());
            assert!(error.to_string().ends_with(&expected), "{error}");
            match load_map(&file.0, &device()) {
                // a temperature is the same map of logits and of distributions
                Ok(any) => assert_eq!((any.kind(), map.kind()), ("temperature scaling", any.kind())),
                Err(error) => {
                    let expected = format!(
                        "a {} is a map of normal or Laplace predictions (DistributionMap), expected one of classes: \
                         apply it with --family normal or laplace",
                        map.kind()
                    );
                    assert!(error.to_string().ends_with(&expected), "{error}");
                }
            }
            let whole = fs::read(&file.0).unwrap();
            for length in [0, 1, whole.len() / 2, whole.len() - 1] {
                fs::write(&file.0, &whole[..length]).unwrap();
                let error = $map::load(&file.0, &device()).map(|_| ());
                assert!(matches!(error, Err(Error::File { .. })), "{length}: {error:?}");
            }
        }
    )*};
}

saved_and_loaded! {
    temperature: TemperatureScalingConfig::new() => TemperatureScaling, temperature,
        VarianceScaling, |p: Normal, _: &Tensor<2>| p.standard_deviation();
    variance: VarianceScalingConfig::new() => VarianceScaling, factors,
        QuantileRecalibration, |p: Normal, _: &Tensor<2>| p.standard_deviation();
    location_scale: LocationScaleRecalibrationConfig::new() => LocationScaleRecalibration, powers,
        VarianceScaling, |p: Normal, _: &Tensor<2>| p.standard_deviation();
    quantile: QuantileRecalibrationConfig::new() => QuantileRecalibration, knots,
        TemperatureScaling,
        |p: burn_calibration::recalibration::QuantileRecalibrated<Normal>, y: &Tensor<2>| p.cdf(y);
}

#[test]
fn files_of_other_maps() {
    let file = Temporary::new("of_a_map_of_logits.bpk");
    let map = PlattScaling::from_parameters(&[[1.0, 0.0]], &device()).unwrap();
    map.save(&file.0).unwrap();
    let error = TemperatureScaling::load(&file.0, &device()).unwrap_err();
    ends(&error, "the file holds a Platt scaling");
    assert!(TemperatureScaling::load("no such file", &device()).is_err());
    // a knot that was changed
    let knots = vec![vec![(0.0, 0.0), (0.25, 0.5), (1.0, 1.0)]];
    let map = QuantileRecalibration::from_knots(knots, &device()).unwrap();
    map.save(&file.0).unwrap();
    let mut bytes = fs::read(&file.0).unwrap();
    let half = 0.5f64.to_le_bytes();
    let at = bytes.windows(8).position(|window| window == half).unwrap();
    bytes[at..at + 8].copy_from_slice(&1.5f64.to_le_bytes());
    fs::write(&file.0, bytes).unwrap();
    let error = QuantileRecalibration::load(&file.0, &device()).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}
