//! Saved maps.

use std::{
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    thread,
};

use burn::{module::Module, nn::LinearConfig};
use burn_calibration::error::Result;
use burn_pack::Writer;

use super::distributions::{matrix, spread, u, v};
use crate::prelude::*;

/// A file in the folder of this test run that no other test has, removed at the end.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        let test = thread::current().name().unwrap().replace("::", "-");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        Self(folder.join(format!("{test} {name}")))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What holds for a file of any kind of map, given the ways to load one of the kind and one of any kind: two fits
/// make the same file; what comes back has the numbers of the map; one of another kind is named; cut anywhere, or
/// with a byte changed, a file is an error and never a panic.
fn saved_and_loaded<M: FittedMap, A: Debug>(
    fit: impl Fn() -> M,
    load: impl Fn(&Path) -> Result<M>,
    load_any: impl Fn(&Path) -> Result<A>,
) -> (M, M, A) {
    let (map, file) = (fit(), Temporary::new("any.map")); // without the extension of Burn
    let kind = map.kind();
    let path = file.0.as_path();
    let bytes = |map: &M| {
        map.save(path).unwrap();
        fs::read(path).unwrap()
    };
    let whole = bytes(&map);
    assert_eq!(whole, bytes(&fit()), "{kind}");
    let (loaded, any) = (load(path).unwrap(), load_any(path).unwrap());
    assert_eq!(
        (loaded.kind(), loaded.guarantees(), loaded.width()),
        (kind, map.guarantees(), map.width())
    );
    assert_eq!(loaded.named_parameters(), map.named_parameters());
    assert!(loaded.report().is_some(), "{kind}");

    let of_another = match kind {
        "temperature scaling" => VectorScaling::load(path, &device()).unwrap_err(),
        _ => TemperatureScaling::load(path, &device()).unwrap_err(),
    };
    ends(&of_another, &format!("the file holds a {kind}"));
    let refused = |bytes: &[u8], at: usize| {
        fs::write(path, bytes).unwrap();
        for error in [load(path).err(), load_any(path).err()] {
            let error = error.unwrap_or_else(|| panic!("{kind}, {at}"));
            assert!(matches!(error, Error::File { .. }), "{kind}, {at}: {error}");
            if bytes.len() < whole.len() {
                contains(&error, "not a saved ");
            }
        }
    };
    let lengths = (0..whole.len()).step_by(whole.len() / 40);
    lengths.for_each(|length| refused(&whole[..length], length));
    refused(&whole[..whole.len() - 1], whole.len() - 1);
    for at in (0..whole.len()).step_by(13) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        refused(&changed, at);
    }
    (map, loaded, any)
}

#[test]
fn every_map_of_logits_comes_back_bit_for_bit() {
    fn check<C: Fit<Map = Fitted<F>>, F: Module>(
        name: &str,
        config: C,
        load: impl Fn(&Path) -> Result<Fitted<F>>,
        _: Fitted<F>,
    ) where
        Fitted<F>: Recalibration,
    {
        for m in [2, 3] {
            let (rows, classes) = overconfident_rows(50, m, 4.0, 40);
            let fit = || config.fitted(&rows, &classes);
            let (map, loaded, any) = saved_and_loaded(fit, &load, |path| load_map(path, &device()));
            assert_eq!(
                (any.kind(), any.guarantees()),
                (map.kind(), map.guarantees())
            );
            let probe = random_rows(20, m, 9.0, &mut rng(41));
            let bits = |map: &dyn Recalibration| -> Vec<u64> {
                let out = vector(map.forward(tensor(&probe)));
                out.iter().map(|z| z.to_bits()).collect()
            };
            assert_eq!(bits(&loaded), bits(&map), "{name}");
            assert_eq!(bits(&*any), bits(&map), "{name}");
        }
    }
    each_map!(check);
}

#[test]
fn every_map_of_distributions_comes_back() {
    let p = Normal::new(matrix(&u(60), 2), matrix(&v(60), 2));
    let y = matrix(&spread(60, 0.3819), 2);
    macro_rules! check {
        ($config:ident, $map:ident, $output:expr) => {
            let fit = || $config::new().fit_to(&p, &y);
            let load = |path: &Path| $map::load(path, &device());
            let (map, loaded, any) =
                saved_and_loaded(fit, load, |path| DistributionMap::load(path, &device()));
            let [before, after] = [&map, &loaded].map(|map| map.forward(p.clone()));
            assert_eq!(vector($output(before)), vector($output(after)));
            assert_eq!(any.kind(), map.kind());
        };
    }
    let deviation = |p: Normal| p.standard_deviation();
    check!(TemperatureScalingConfig, TemperatureScaling, deviation);
    check!(VarianceScalingConfig, VarianceScaling, deviation);
    check!(
        LocationScaleRecalibrationConfig,
        LocationScaleRecalibration,
        deviation
    );
    let at_y = |p: QuantileRecalibrated<Normal>| p.cdf(&y);
    check!(QuantileRecalibrationConfig, QuantileRecalibration, at_y);
}

/// A map of distributions is none of logits; a map of other parameters, or under another name, was changed.
#[test]
fn files_of_other_maps() {
    let file = Temporary::new("other.map");
    let knots = vec![vec![(0.0, 0.0), (0.25, 0.5), (1.0, 1.0)]];
    let map = QuantileRecalibration::from_knots(knots, &device()).unwrap();
    map.save(&file.0).unwrap();
    ends(
        &load_map(&file.0, &device()).unwrap_err(),
        "a quantile recalibration is a map of normal or Laplace predictions (DistributionMap), expected one of \
         classes: apply it with --family normal or laplace",
    );
    let change = |from: &[u8], to: &[u8]| {
        let mut bytes = fs::read(&file.0).unwrap();
        let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        fs::write(&file.0, bytes).unwrap();
    };
    change(&0.5f64.to_le_bytes(), &1.5f64.to_le_bytes());
    let error = QuantileRecalibration::load(&file.0, &device()).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    let map = PlattScaling::from_parameters(&[[1.0, 0.0]], &device()).unwrap();
    map.save(&file.0).unwrap();
    assert!(IsotonicRegression::load(&file.0, &device()).is_err());
    change(b"Platt scaling", b"Plate scaling");
    let error = load_map(&file.0, &device()).unwrap_err();
    contains(&error, "it was changed after it was saved");
}

/// What is not there, is a model, or is no record; and a folder that is not there.
#[test]
fn files_of_no_map() {
    let check = |path: &Path| {
        let error = TemperatureScaling::load(path, &device()).unwrap_err();
        let start = format!("{}: not a saved temperature scaling: ", path.display());
        begins(&error, &start);
        assert!(matches!(error, Error::File { .. }));
    };
    check(Path::new("no such file"));
    let missing = load_map("no such file", &device()).unwrap_err();
    begins(&missing, "no such file: not a saved map: ");
    let file = Temporary::new("no map.bpk");
    let linear = LinearConfig::new(2, 3).init(&Device::flex());
    linear.save_file(&file.0).unwrap();
    check(&file.0);
    fs::write(&file.0, b"not a record").unwrap();
    check(&file.0);
    let map = temperature_map(2.0);
    let nowhere = map.save("no/such/folder/map");
    assert!(matches!(nowhere, Err(Error::File { .. })));
}

/// Over another file, on a device that records gradients, and as the record of a module.
#[test]
fn a_file_is_replaced_and_is_a_record() {
    let file = Temporary::new("record.bpk");
    let of = |t| temperature_map(t);
    of(3.0).save(&file.0).unwrap();
    of(1.7).save(&file.0).unwrap();
    let on_autodiff = TemperatureScaling::load(&file.0, &device().autodiff()).unwrap();
    assert_eq!(on_autodiff.temperature(), 1.7);
    let as_module = of(1.0).try_load_file(&file.0).unwrap();
    assert_eq!(as_module.temperature(), 1.7);
}

/// A file of parameters as a version before 0.1 wrote it: the kind without an envelope, the fit beside it.
fn earlier(path: &Path, kind: &str, parameters: &[(&str, &[f64])]) {
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
    let file = Temporary::new("structured.map");
    let path = file.0.as_path();
    let (weight, bias) = ([0.5, 2.0, 1.5], [0.1, -0.3, 0.2]);
    let parameters: [(&str, &[f64]); 3] = [
        ("form.base", &[1.0, 1e-6]),
        ("form.affine.weight", &weight),
        ("form.affine.bias", &bias),
    ];
    earlier(path, "structured vector scaling", &parameters);
    let loaded = StructuredVectorScaling::load(path, &device()).unwrap();
    let map = StructuredVectorScaling::from_parameters(weight.into(), bias.into(), &device());
    assert_eq!(loaded.named_parameters(), map.unwrap().named_parameters());
    assert_eq!(loaded.report().unwrap().evaluations, 7);
}

/// Mixtures of maps are no longer maps: a file of one says so, as a map and as that of a correction.
#[test]
fn mixtures_of_earlier_versions() {
    let file = Temporary::new("mixture.map");
    let path = file.0.as_path();
    let one: &[f64] = &[1.0];
    let halves: &[f64] = &[0.5, 0.5];
    let parts = [
        ("weights.temperature", one),
        ("parts.temperature.temperature", one),
    ];
    earlier(path, "mixture of maps", &parts);
    let error = load_map(path, &device()).unwrap_err();
    contains(&error, "mixtures are no longer maps: fit again");
    let rates = [("trained_at", halves), ("prior", halves)];
    let corrected = [&rates[..], &[("mixture.weights.temperature", one)]].concat();
    earlier(path, "prior correction", &corrected);
    let error = load_map(path, &device()).unwrap_err();
    contains(&error, "mixtures are no longer maps: fit again");
}
