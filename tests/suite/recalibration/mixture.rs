//! Mixtures of maps.

use burn::tensor::activation::softmax;

use super::{NO_GUARANTEES, files::Temporary};
use crate::prelude::*;

fn matrix(device: &Device) -> MatrixScaling {
    let weight = vec![1.0, 0.5, 0.0, -0.2, 0.8, 0.0, 0.0, 0.1, 1.2];
    MatrixScaling::from_parameters(weight, vec![0.3, 0.0, -0.1], device).unwrap()
}

fn mixture(device: &Device) -> MapMixture {
    let cool = TemperatureScaling::from_temperature(2.0, device).unwrap();
    MapMixture::new([(0.75, matrix(device).into()), (0.25, cool.into())]).unwrap()
}

/// The mean of the probabilities, also where one of them is 0 but for the other, in f64 and f32.
#[test]
fn by_the_definition() {
    let device = Device::flex();
    let map = mixture(&device);
    assert_eq!(map.weights(), [("matrix", 0.75), ("temperature", 0.25)]);
    assert_eq!((map.width(), map.guarantees()), (Some(3), NO_GUARANTEES));
    for (dtype, tolerance) in [(DType::F64, 1e-14), (DType::F32, 1e-6)] {
        for scale in [1e-6, 1.0, 1e3, 1e6] {
            let rows = [[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-3.0, 1.0, 1.0]];
            let z = Tensor::<2>::from_data(rows, (&device, dtype)) * scale;
            let out = map.forward(z.clone());
            assert_eq!(out.dtype(), dtype);
            all_finite(vector(out.clone()));
            let expected =
                softmax(matrix(&device).forward(z.clone()), 1) * 0.75 + softmax(z / 2.0, 1) * 0.25;
            let pairs = vector(out.exp()).into_iter().zip(vector(expected));
            pairs.for_each(|(p, q)| assert_relative_eq!(p, q, epsilon = tolerance));
        }
    }
}

/// A file holds the parts in use, and restores them.
#[test]
fn saved_and_loaded() {
    let device = Device::flex();
    let mut map = mixture(&device);
    let columns = vec!["a".into(), "b".into(), "c".into()];
    let family = Some("categorical".into());
    map.set_fitted_to(FittedTo {
        family,
        logits: None,
        columns,
    });
    let file = Temporary::new("mixture.map");
    let path = &file.0;
    map.save(path).unwrap();
    let loaded = load_map(path, &device).unwrap();
    let z = Tensor::<2>::from_data([[1.0, -2.0, 0.5]], (&device, DType::F64));
    assert_eq!(loaded.kind(), "mixture of maps");
    assert_eq!(loaded.fitted_to(), map.fitted_to());
    assert_eq!(vector(loaded.forward(z.clone())), vector(map.forward(z)));
    let names = |map: &dyn FittedMap| -> std::collections::BTreeSet<String> {
        let parameters = map.named_parameters().into_iter();
        parameters.map(|parameter| parameter.name).collect()
    };
    assert_eq!(names(&map), names(&*loaded));
    assert_eq!(names(&map).len(), 5);
}

#[test]
fn maps_that_do_not_fit_together() {
    let device = Device::flex();
    let config = DiagonalScalingConfig::new();
    let z = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]], (&device, DType::F64));
    let labels = Tensor::<1, Int>::from_data([0, 1, 1], &device);
    let of_two = StructuredVectorScalingConfig::new().fit_to(&z, &labels);
    let diagonal = config.fit(z, labels).unwrap(); // of any number of classes
    let with = |weight, map: LogitMap| {
        let mixed = MapMixture::new([(0.5, matrix(&device).into()), (weight, map)]);
        mixed.map_err(|error| error.to_string())
    };
    assert!(with(0.5, diagonal.clone().into()).is_ok());
    let error = with(0.5, of_two.into()).unwrap_err();
    contains(&error, "[3, 2] classes");
    let error = with(0.4, diagonal.into()).unwrap_err();
    contains(&error, "the sum 1");
    let error = with(0.5, matrix(&device).into()).unwrap_err();
    contains(&error, "two parts are called matrix");
    let error = with(0.5, mixture(&device).into()).unwrap_err();
    contains(&error, "a mixture of maps itself");
}

/// A file may name a mixture as a part, of which the parts are mixtures, and so on.
#[test]
fn a_file_with_a_mixture_in_it_is_refused() {
    let file = Temporary::new("mixture.safetensors");
    let path = &file.0;
    save_safetensors(&mixture(&Device::flex()), path).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    let changed = header.replace("\"weights.temperature\"", "\"weights.mixture\"");
    assert_ne!(header, changed);
    let changed = format!("{changed:length$}"); // as long as before
    bytes[8..8 + length].copy_from_slice(changed.as_bytes());
    std::fs::write(path, bytes).unwrap();
    let error = load_map(path, &Device::flex()).err().unwrap().to_string();
    contains(&error, "a part is a mixture of maps itself");
}
