use std::{fs, path::PathBuf};

use super::*;
use crate::data::*;

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

macro_rules! saved_and_loaded {
    ($($name:ident: $config:expr => $map:ty;)*) => {$(
        #[test]
        fn $name() {
            for m in [2, 3] {
                let (rows, classes) = overconfident(50, m, 40);
                let map = $config.fit(tensor(&rows), labels(&classes)).unwrap();
                let file = Temporary::new(&format!("{}_{m}.bpk", stringify!($name)));
                map.save(&file.0).unwrap();
                let probe = tensor(&random_rows(20, m, 9.0, &mut rng(41)));
                let expected = vector(map.forward(probe.clone()));
                let loaded = <$map>::load(&file.0, &device()).unwrap();
                assert_eq!(vector(loaded.forward(probe.clone())), expected);
                assert!(loaded.report().is_some());
                let any = load_map(&file.0, &device()).unwrap();
                assert_eq!((any.kind(), any.guarantees()), (map.kind(), map.guarantees()));
                assert_eq!(vector(any.forward(probe)), expected);

                assert!(matches!(TemperatureScaling::load(&file.0, &device()), Err(Error::File { .. })));
                let whole = fs::read(&file.0).unwrap();
                for length in [0, 1, whole.len() / 2, whole.len() - 1] {
                    fs::write(&file.0, &whole[..length]).unwrap();
                    for error in [
                        <$map>::load(&file.0, &device()).map(|_| ()),
                        load_map(&file.0, &device()).map(|_| ()),
                    ] {
                        assert!(matches!(error, Err(Error::File { .. })), "{length}: {error:?}");
                    }
                }
            }
        }
    )*};
}

saved_and_loaded! {
    platt_scaling: PlattScalingConfig::new() => PlattScaling;
    beta_calibration: BetaCalibrationConfig::new() => BetaCalibration;
    isotonic_regression: IsotonicRegressionConfig::new() => IsotonicRegression;
    histogram_binning: HistogramBinningConfig::new() => HistogramBinning;
    spline_calibration: SplineCalibrationConfig::new() => SplineCalibration;
    venn_abers: VennAbersConfig::new() => VennAbers;
}

#[test]
fn files_of_other_maps() {
    let file = Temporary::new("of_another_map.bpk");
    let map = PlattScaling::from_parameters(&[[1.0, 0.0]], &device()).unwrap();
    map.save(&file.0).unwrap();
    let error = BetaCalibration::load(&file.0, &device()).unwrap_err();
    ends(&error, "the file holds a Platt scaling");
    assert!(IsotonicRegression::load(&file.0, &device()).is_err());
    // another name in place of its own
    let mut bytes = fs::read(&file.0).unwrap();
    let (from, to) = (b"Platt scaling", b"Plate scaling");
    let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    fs::write(&file.0, bytes).unwrap();
    let error = load_map(&file.0, &device()).unwrap_err().to_string();
    contains(&error, "it was changed after it was saved");
}
