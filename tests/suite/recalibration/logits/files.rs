//! Saved maps.

use std::{fs, path::PathBuf};

use burn_pack::Writer;

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

/// A file of parameters as a version before 0.1 wrote it: the kind without an envelope, the fit beside it.
fn earlier(path: &PathBuf, kind: &str, parameters: &[(&str, &[f64])]) {
    let packed = |(name, values): &(&str, &[f64])| {
        let (bytes, shape, dtype) = TensorData::from(*values).into_parts();
        burn_pack::Tensor::new((*name).to_owned(), dtype, shape, None, bytes)
    };
    let writer = Writer::new(parameters.iter().map(packed).collect());
    let fit = r#"{"status":"Converged","objective":0.5,"evaluations":7}"#;
    let writer = writer.with_metadata("burn-calibration", kind);
    let bytes = writer.with_metadata("fit", fit).into_bytes().unwrap();
    fs::write(path, bytes.to_vec()).unwrap();
}

/// Weights and intercepts were one level deeper.
#[test]
fn an_earlier_structured_map() {
    let path = file("earlier structured.map");
    let (weight, bias) = ([0.5, 2.0, 1.5], [0.1, -0.3, 0.2]);
    let parameters: [(&str, &[f64]); 3] = [
        ("form.base", &[1.0, 1e-6]),
        ("form.affine.weight", &weight),
        ("form.affine.bias", &bias),
    ];
    earlier(&path, "structured vector scaling", &parameters);
    let loaded = StructuredVectorScaling::load(&path, &device()).unwrap();
    fs::remove_file(path).unwrap();
    let map = StructuredVectorScaling::from_parameters(weight.into(), bias.into(), &device());
    assert_eq!(loaded.named_parameters(), map.unwrap().named_parameters());
    assert_eq!(loaded.report().unwrap().evaluations, 7);
}

/// Mixtures that cannot be restored: of an earlier version, of a map that there is not, and with more than maps have.
#[test]
fn mixtures_of_other_versions() {
    let path = file("earlier mixture.map");
    let error = |names: &[&str]| {
        let one: &[f64] = &[1.0];
        let parameters: Vec<_> = names.iter().map(|name| (*name, one)).collect();
        earlier(&path, "mixture of maps", &parameters);
        load_map(&path, &device()).unwrap_err()
    };
    let before = error(&["weights", "temperature.temperature"]);
    contains(&before, "before 0.1");
    let unknown = error(&["weights.sharpness", "parts.sharpness.temperature"]);
    contains(&unknown, "no map of logits is called sharpness");
    let parts = ["weights.temperature", "parts.temperature.temperature"];
    let left = error(&[&parts[..], &["parts.beta.x"]].concat());
    contains(&left, "parts.beta.x");
    fs::remove_file(path).unwrap();
}
