use std::path::Path;

use burn::tensor::activation::log_softmax;

use super::{common::*, ensemble::log_sum, file, registry::AnyMap, *};

/// A mixture of maps: `p' = Σ_k w_k p_k` with the probabilities `p_k` after each map and weights on the simplex;
/// the new logits are `log p'` (a linear opinion pool; of weights that a cross-validation chose, stacking:
/// Wolpert 1992, Breiman 1996).
///
/// Its log loss is at most that of any part plus `−log w_k`, on each prediction: where one map goes far
/// wrong, beyond the data that it was fitted to, the others bound the loss.
///
/// Promises to keep nothing: the most likely class is that of all parts only if they agree.
/// [`AutoRecalibrationConfig`] makes it, and [`load_map`] loads it.
#[derive(Debug)]
pub struct MapMixture {
    parts: Vec<MixturePart>,
    report: Option<FitReport>,
    fitted_to: FittedTo,
}

/// A map and its weight.
#[derive(Debug)]
struct MixturePart {
    /// The short name.
    name: &'static str,
    weight: f64,
    map: AnyMap,
}

/// The beginnings of the names of weights and of parameters.
const WEIGHTS: &str = "weights.";
const PARTS: &str = "parts.";

impl MapMixture {
    pub(super) const KIND: &'static str = "mixture of maps";

    /// Mixes maps of the given short names, with weights that sum to 1; or tells what is wrong with them.
    pub(super) fn new(
        parts: impl IntoIterator<Item = (&'static str, f64, AnyMap)>,
    ) -> Result<Self, String> {
        let part = |(name, weight, map)| MixturePart { name, weight, map };
        let parts: Vec<MixturePart> = parts.into_iter().map(part).collect();
        let weights: Vec<f64> = parts.iter().map(|part| part.weight).collect();
        let sum: f64 = weights.iter().sum();
        let positive = weights.iter().all(|weight| *weight > 0.0);
        if !(positive && (1.0 - 1e-5..=1.0 + 1e-5).contains(&sum)) {
            return Err(format!(
                "the weights are {weights:?}, expected positive numbers with the sum 1"
            ));
        }
        let mut widths: Vec<usize> = parts.iter().filter_map(|part| part.map.width()).collect();
        widths.dedup();
        if widths.len() > 1 {
            return Err(format!(
                "the maps are of {widths:?} classes, expected one number"
            ));
        }
        Ok(Self {
            parts,
            report: None,
            fitted_to: FittedTo::default(),
        })
    }

    /// The mixture of saved parameters, or what is wrong with them.
    pub(super) fn restore(mut saved: file::SavedParameters) -> Result<Self, String> {
        let names = saved.names_after(WEIGHTS);
        if names.is_empty() {
            return Err("it was saved by a version before 0.1: fit it again".into());
        }
        let mut parts = Vec::new();
        for name in names {
            let kind = MapKind::all().iter().find(|kind| kind.name() == name);
            let kind = kind.ok_or_else(|| format!("no map is called {name}"))?;
            let weight = saved.take_named::<1>(&format!("{WEIGHTS}{name}"))?;
            let map = kind.restore(saved.split_off(&format!("{PARTS}{name}.")))?;
            parts.push((kind.name(), to_scalar(weight), map));
        }
        let (report, fitted_to) = saved.into_said()?;
        Ok(Self {
            report,
            fitted_to,
            ..Self::new(parts)?
        })
    }

    /// Gives the weights of the maps that are parts, by their short names.
    pub fn weights(&self) -> Vec<(&'static str, f64)> {
        let named = |part: &MixturePart| (part.name, part.weight);
        self.parts.iter().map(named).collect()
    }
}

impl FittedMap for MapMixture {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn width(&self) -> Option<usize> {
        self.parts.iter().find_map(|part| part.map.width())
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::NONE
    }

    fn report(&self) -> Option<&FitReport> {
        self.report.as_ref()
    }

    fn fitted_to(&self) -> &FittedTo {
        &self.fitted_to
    }

    fn set_fitted_to(&mut self, to: FittedTo) {
        self.fitted_to = to;
    }

    /// The weights, then the parameters of each part after its name.
    fn named_parameters(&self) -> Vec<NamedParameter> {
        let weight = |part: &MixturePart| NamedParameter {
            name: format!("{WEIGHTS}{}", part.name),
            shape: vec![1],
            values: vec![part.weight],
        };
        let own = |part: &MixturePart| {
            let mut parameters = part.map.named_parameters();
            for parameter in &mut parameters {
                parameter.name = format!("{PARTS}{}.{}", part.name, parameter.name);
            }
            parameters
        };
        let weights = self.parts.iter().map(weight);
        weights.chain(self.parts.iter().flat_map(own)).collect()
    }

    fn save(&self, path: &Path) -> Result<()> {
        let tensors = self.named_parameters().into_iter().map(file::saved);
        file::write(self, tensors.collect(), path)
    }
}

impl Recalibration for MapMixture {
    fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        let term = |part: &MixturePart| {
            log_softmax(part.map.forward(logits.clone()), 1) + part.weight.ln()
        };
        log_sum(self.parts.iter().map(term).collect())
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use burn::tensor::{DType, TensorData, activation::softmax};

    use super::*;

    fn matrix(device: &Device) -> MatrixScaling {
        let weight = vec![1.0, 0.5, 0.0, -0.2, 0.8, 0.0, 0.0, 0.1, 1.2];
        MatrixScaling::from_parameters(weight, vec![0.3, 0.0, -0.1], device).unwrap()
    }

    fn mixture(device: &Device) -> MapMixture {
        let cool = TemperatureScaling::from_temperature(2.0, device).unwrap();
        let parts: [(_, _, AnyMap); 2] = [
            ("matrix", 0.75, matrix(device).into()),
            ("temperature", 0.25, cool.into()),
        ];
        MapMixture::new(parts).unwrap()
    }

    /// The mean of the probabilities, also where one of them is 0 but for the other, in f64 and f32.
    #[test]
    fn by_the_definition() {
        let device = Device::flex();
        let map = mixture(&device);
        assert_eq!(map.weights(), [("matrix", 0.75), ("temperature", 0.25)]);
        assert_eq!((map.width(), map.guarantees()), (Some(3), Guarantees::NONE));
        for (dtype, tolerance) in [(DType::F64, 1e-14), (DType::F32, 1e-6)] {
            for scale in [1e-6, 1.0, 1e3, 1e6] {
                let rows = [[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-3.0, 1.0, 1.0]];
                let z = Tensor::<2>::from_data(rows, (&device, dtype)) * scale;
                let out = map.forward(z.clone());
                assert_eq!(out.dtype(), dtype);
                assert!(to_vec(out.clone()).iter().all(|z| z.is_finite()));
                let expected = softmax(matrix(&device).forward(z.clone()), 1) * 0.75
                    + softmax(z / 2.0, 1) * 0.25;
                let pairs = to_vec(out.exp()).into_iter().zip(to_vec(expected));
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
        let path = std::env::temp_dir().join(format!("mixture-{}.map", std::process::id()));
        map.save(&path).unwrap();
        let loaded = load_map(&path, &device).unwrap();
        std::fs::remove_file(path).unwrap();
        let z = Tensor::<2>::from_data([[1.0, -2.0, 0.5]], (&device, DType::F64));
        assert_eq!(loaded.kind(), "mixture of maps");
        assert_eq!(loaded.fitted_to(), map.fitted_to());
        assert_eq!(to_vec(loaded.forward(z.clone())), to_vec(map.forward(z)));
        let names = |map: &dyn FittedMap| -> Vec<String> {
            let parameters = map.named_parameters().into_iter();
            parameters.map(|parameter| parameter.name).collect()
        };
        let mut saved = names(&map);
        saved.sort_unstable();
        let mut restored = names(loaded.as_ref());
        restored.sort_unstable();
        assert_eq!(saved, restored);
        assert_eq!(saved.len(), 5, "{saved:?}");
    }

    /// Parameters as an earlier version saved them, and of a map that there is not.
    #[test]
    fn files_of_other_versions() {
        let device = Device::flex();
        let error = |names: &[&str]| {
            let tensors = names
                .iter()
                .map(|&name| (name.into(), TensorData::from([1.0])));
            let parts = file::SavedParameters::new(tensors.collect(), &device);
            MapMixture::restore(parts).unwrap_err()
        };
        let before = error(&["form.weights", "form.temperature.temperature"]);
        assert!(before.contains("before 0.1"), "{before}");
        let unknown = error(&["weights.sharpness", "parts.sharpness.temperature"]);
        assert!(unknown.contains("no map is called sharpness"), "{unknown}");
        let left = [
            "weights.temperature",
            "parts.temperature.temperature",
            "parts.beta.x",
        ];
        assert!(error(&left).contains("parts.beta.x"), "{}", error(&left));
    }

    #[test]
    fn maps_that_do_not_fit_together() {
        let device = Device::flex();
        let config = DiagonalScalingConfig::new();
        let z = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]], (&device, DType::F64));
        let labels = Tensor::<1, Int>::from_data([0, 1, 1], &device);
        let of_two = StructuredVectorScalingConfig::new()
            .fit(z.clone(), labels.clone())
            .unwrap();
        let diagonal = config.fit(z, labels).unwrap(); // of any number of classes
        let with = |map: AnyMap, name, weight| {
            MapMixture::new([("matrix", 0.5, matrix(&device).into()), (name, weight, map)])
        };
        assert!(with(diagonal.clone().into(), "diagonal", 0.5).is_ok());
        let error = with(of_two.into(), "structured-vector", 0.5).unwrap_err();
        assert!(error.contains("[3, 2] classes"), "{error}");
        let error = with(diagonal.into(), "diagonal", 0.4).unwrap_err();
        assert!(error.contains("the sum 1"), "{error}");
    }
}
