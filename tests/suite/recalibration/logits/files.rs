//! Saved maps.

use std::{fs, path::PathBuf};

use super::{fitted, overconfident};
use crate::data::*;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn every_kind_comes_back_bit_for_bit() {
    let (rows, _) = overconfident(40, 86);
    for (name, map) in fitted() {
        let path = file(&format!("{name}.map")); // without the extension of Burn
        map.save(&path).unwrap();
        let loaded = load_map(&path, &device()).unwrap();
        assert_eq!(loaded.kind(), map.kind());
        assert_eq!(loaded.guarantees(), map.guarantees());
        assert!(loaded.report().is_some());
        let bits = |map: &dyn Recalibration| -> Vec<u64> {
            let out = vector(map.forward(tensor(&rows)));
            out.iter().map(|z| z.to_bits()).collect()
        };
        assert_eq!(bits(&*loaded), bits(map.as_ref()), "{name}");
        fs::remove_file(path).unwrap();
    }
}

/// Cut anywhere, or with any byte changed, a file is an error; never a panic.
#[test]
fn broken_files_are_errors() {
    for (name, map) in fitted() {
        let path = file(&format!("{name} broken.map"));
        map.save(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(whole.len() / 40) {
            fs::write(&path, &whole[..length]).unwrap();
            let error = load_map(&path, &device()).unwrap_err();
            assert!(matches!(error, Error::File { .. }), "{name}: {error}");
            assert!(error.to_string().contains("not a saved map"), "{error}");
        }
        let mut changed = whole.clone();
        for at in (0..whole.len()).step_by(13) {
            changed[at] ^= 0x5a;
            fs::write(&path, &changed).unwrap();
            let error = load_map(&path, &device()).unwrap_err();
            assert!(
                matches!(error, Error::File { .. }),
                "{name}, byte {at}: {error}"
            );
            changed[at] = whole[at];
        }
        fs::remove_file(path).unwrap();
    }
}

/// Two fits of the same data make the same file.
#[test]
fn the_same_fit_is_the_same_file() {
    for ((name, map), (_, again)) in fitted().into_iter().zip(fitted()) {
        let path = file(&format!("{name} twice.map"));
        let bytes = |map: &dyn Recalibration| {
            map.save(&path).unwrap();
            fs::read(&path).unwrap()
        };
        assert_eq!(bytes(&*map), bytes(&*again), "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_map_of_another_kind_is_named() {
    let (logits, classes) = overconfident(30, 87);
    let path = file("another kind.map");
    let map = VectorScalingConfig::new();
    let map = map.fit(tensor(&logits), labels(&classes)).unwrap();
    map.save(&path).unwrap();
    let message = TemperatureScaling::load(&path, &device())
        .unwrap_err()
        .to_string();
    ends(
        &message,
        "not a saved temperature scaling: the file holds a vector scaling",
    );
    assert!(VectorScaling::load(&path, &device()).is_ok());
    fs::remove_file(path).unwrap();
    let missing = load_map("no such file", &device()).unwrap_err().to_string();
    begins(&missing, "no such file: not a saved map: ");
}
