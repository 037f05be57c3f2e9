//! Saved maps.

use std::{
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    thread,
};

use burn::{module::Module, nn::LinearConfig};
use burn_calibration::error::Result;
use safetensors::{Dtype, SafeTensors};

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
    assert_eq!(whole, map.to_bytes().unwrap(), "{kind}");
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
    for at in (0..whole.len()).step_by(if is_full() { 13 } else { 53 }) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        refused(&changed, at);
    }
    (map, loaded, any)
}

#[test]
fn every_map_of_logits_comes_back_bit_for_bit() {
    fn check<C: Fit<Map = M>, M: Recalibration>(
        name: &str,
        config: C,
        load: impl Fn(&Path) -> Result<M>,
    ) {
        for m in [2, 3] {
            let (rows, classes) = overconfident_rows(50, m, 4.0, 40);
            let fit = || config.fitted(&rows, &classes);
            let (map, loaded, any) = saved_and_loaded(fit, &load, |path| load_map(path, &device()));
            // a temperature keeps the means of distributions alone
            let mut of_classes = map.guarantees();
            of_classes.keeps_mean = false;
            assert_eq!((any.kind(), any.guarantees()), (map.kind(), of_classes));
            let probe = random_rows(20, m, 9.0, &mut rng(41));
            let bits = |map: &dyn Recalibration| -> Vec<u64> {
                let out = vector(map.forward(tensor(&probe)));
                out.iter().map(|z| z.to_bits()).collect()
            };
            assert_eq!(bits(&loaded), bits(&map), "{name}");
            assert_eq!(bits(&any), bits(&map), "{name}");
            let again = load_map_bytes(map.to_bytes().unwrap(), &device()).unwrap();
            assert_eq!(bits(&again), bits(&map), "{name}");
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
            let again = DistributionMap::from_bytes(map.to_bytes().unwrap(), &device()).unwrap();
            assert_eq!(again.named_parameters(), map.named_parameters());
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
    let knots = vec![[[0.0; 2], [0.25, 0.5], [1.0; 2]].map(Knot::from).to_vec()];
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

/// A map of a user's own kind.
#[derive(Debug, Default)]
struct OwnMap(FitRecord);

impl FittedMap for OwnMap {
    fn kind(&self) -> &'static str {
        "map of my own"
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::NONE
    }

    fn named_parameters(&self) -> Vec<NamedParameter> {
        vec![NamedParameter::new("share", vec![1], vec![0.5])]
    }

    fn fit_record(&self) -> &FitRecord {
        &self.0
    }

    fn fit_record_mut(&mut self) -> &mut FitRecord {
        &mut self.0
    }
}

/// Nothing is said of a kind that the library does not know; its own loader reads it.
#[test]
fn files_of_kinds_that_are_not_known() {
    let file = Temporary::new("own.map");
    let path = file.0.as_path();
    OwnMap::default().save(path).unwrap();
    for error in [
        load_map(path, &device()).unwrap_err(),
        DistributionMap::load(path, &device()).unwrap_err(),
    ] {
        ends(
            &error,
            "not a saved map: no kind of map is called map of my own",
        );
    }
    let restore = |saved: SavedMap| saved.fill(temperature_map(1.0)).map(|_| ());
    let own = SavedMap::load(path, "map of my own", &device(), restore);
    contains(&own.unwrap_err(), "temperature is missing"); // its parameter is another
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
    let nowhere = map.save("no/such/folder/map".as_ref());
    assert!(matches!(nowhere, Err(Error::File { .. })));
}

/// Over another file, and on a device that records gradients.
#[test]
fn a_file_is_replaced() {
    let file = Temporary::new("replaced.map");
    let of = |t| temperature_map(t);
    of(3.0).save(&file.0).unwrap();
    of(1.7).save(&file.0).unwrap();
    let on_autodiff = TemperatureScaling::load(&file.0, &device().autodiff()).unwrap();
    assert_eq!(on_autodiff.temperature(), 1.7);
}

/// A record of a model says what it is.
#[test]
fn a_record_of_burn_is_no_saved_map() {
    let file = Temporary::new("record.map");
    let path = file.0.as_path();
    let map = VectorScaling::from_parameters(vec![1.0, 2.0], vec![0.5, -0.5], &device()).unwrap();
    map.into_record().save(path).unwrap();
    for error in [
        load_map(path, &device()).unwrap_err(),
        VectorScaling::load(path, &device()).unwrap_err(),
        DistributionMap::load(path, &device()).unwrap_err(),
    ] {
        contains(&error, "it looks like a record of Burn");
    }
}

/// A saved map is what any reader of safetensors takes, with the metadata that the documentation names.
#[test]
fn a_file_is_safetensors_with_metadata() {
    let file = Temporary::new("any.map");
    let (weight, bias) = (vec![0.1, 1.0 / 3.0], vec![1e-300, -2.0]);
    let mut map = VectorScaling::from_parameters(weight.clone(), bias, &device()).unwrap();
    map.set_fitted_to(FittedTo {
        family: Some("categorical".into()),
        ..FittedTo::default()
    });
    map.save(&file.0).unwrap();
    let bytes = fs::read(&file.0).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().clone().unwrap();
    let expected = [
        ("format", "burn-calibration map"),
        ("version", "2"),
        ("kind", "vector scaling"),
        ("fitted_to", r#"{"family":"categorical"}"#),
    ];
    for (key, value) in expected {
        assert_eq!(metadata[key], value);
    }
    assert_eq!(metadata["checksum"].len(), 32);
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let saved = tensors.tensor("weight").unwrap();
    assert_eq!((saved.dtype(), saved.shape()), (Dtype::F64, &[2][..]));
    let numbers = saved.data().chunks(8);
    let numbers = numbers.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
    assert_eq!(numbers.collect::<Vec<_>>(), weight);
    let loaded = VectorScaling::load(&file.0, &device()).unwrap();
    assert_eq!(loaded.named_parameters(), map.named_parameters());
}

/// A map of its named parameters; parameters that a kind does not have, or not in this shape.
#[test]
fn maps_of_named_parameters() {
    let (rows, classes) = overconfident_rows(50, 3, 4.0, 40);
    let map = IsotonicRegressionConfig::new().fitted(&rows, &classes);
    let of = |parameters| IsotonicRegression::from_named_parameters(parameters, &device());
    let again = of(map.named_parameters()).unwrap();
    assert_eq!(again.named_parameters(), map.named_parameters());
    let refused = |parameters, expected: &str| contains(&of(parameters).unwrap_err(), expected);
    refused(vec![], "knots is missing");
    let mut other = map.named_parameters();
    other.push(NamedParameter::new("bias", vec![1], vec![0.0]));
    refused(other, "bias: no such map has it");
    let mut other = map.named_parameters();
    other[1].shape = vec![other[1].values.len()];
    refused(other, "expected 2 dimensions");
    let mut other = map.named_parameters();
    other[1].values.pop();
    refused(other, "numbers and the shape");
}
