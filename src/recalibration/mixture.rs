use std::path::Path;

use burn::tensor::activation::log_softmax;

use super::{
    FittedTo, LogitMap, MapKind, NamedParameter, Recalibration,
    common::*,
    ensemble::log_sum,
    file::{self, SavedParameters},
};

/// A mixture of maps: `p' = Σ_k w_k p_k` with the probabilities `p_k` after each map and weights on the simplex;
/// the new logits are `log p'` (a linear opinion pool; of weights that a cross-validation chose, stacking:
/// Wolpert 1992, Breiman 1996).
///
/// Its log loss is at most that of any part plus `−log w_k`, on each prediction: where one map goes far
/// wrong, beyond the data that it was fitted to, the others bound the loss.
///
/// Promises to keep nothing: the most likely class is that of all parts only if they agree.
/// [`AutoRecalibrationConfig`](super::AutoRecalibrationConfig) makes it, and [`load_map`](super::load_map) loads it.
#[derive(Debug, Clone)]
pub struct MapMixture {
    parts: Vec<MixturePart>,
    fitted_to: FittedTo,
}

/// A map and its weight.
#[derive(Debug, Clone)]
struct MixturePart {
    kind: MapKind,
    weight: f64,
    map: LogitMap,
}

/// The beginnings of the names of weights and of parameters.
const WEIGHTS: &str = "weights.";
const PARTS: &str = "parts.";

impl MapMixture {
    pub(super) const KIND: &'static str = "mixture of maps";

    /// Mixes maps with weights that sum to 1.
    ///
    /// # Errors
    ///
    /// Weights that are not positive or do not sum to 1, maps of different numbers of classes, two of one kind, or
    /// a mixture as a part.
    pub fn new(parts: impl IntoIterator<Item = (f64, LogitMap)>) -> Result<Self> {
        let failed = |reason| Error::Unsupported {
            what: format!("the {} failed: {reason}", Self::KIND),
            expected: "maps of different kinds and as many classes, with weights that sum to 1",
        };
        Self::of_parts(parts).map_err(failed)
    }

    fn of_parts(parts: impl IntoIterator<Item = (f64, LogitMap)>) -> Result<Self, String> {
        let mut found: Vec<MixturePart> = Vec::new();
        for (weight, map) in parts {
            let itself = || format!("a part is a {} itself", map.kind());
            let kind = map.method().ok_or_else(itself)?;
            if found.iter().any(|part| part.kind == kind) {
                return Err(format!("two parts are called {kind}"));
            }
            found.push(MixturePart { kind, weight, map });
        }
        let weights: Vec<f64> = found.iter().map(|part| part.weight).collect();
        let sum: f64 = weights.iter().sum();
        let positive = weights.iter().all(|weight| *weight > 0.0);
        if !(positive && (1.0 - 1e-5..=1.0 + 1e-5).contains(&sum)) {
            return Err(format!(
                "the weights are {weights:?}, expected positive numbers with the sum 1"
            ));
        }
        let mut widths: Vec<usize> = found.iter().filter_map(|part| part.map.width()).collect();
        widths.dedup();
        if widths.len() > 1 {
            return Err(format!(
                "the maps are of {widths:?} classes, expected one number"
            ));
        }
        Ok(Self {
            parts: found,
            fitted_to: FittedTo::default(),
        })
    }

    /// The mixture of saved parameters, or what is wrong with them.
    pub(super) fn restore(mut saved: SavedParameters) -> Result<Self, String> {
        let weights = saved.split_off(WEIGHTS).tensors;
        if weights.is_empty() {
            return Err("it was saved by a version before 0.1: fit it again".into());
        }
        let mut parts = Vec::new();
        for (name, weight) in weights {
            let kind: MapKind = name.parse().map_err(|e: Error| e.to_string())?;
            let weight = weight.iter::<f64>().next().unwrap_or(f64::NAN);
            let own = saved.split_off(&format!("{PARTS}{name}."));
            let map = LogitMap::restore(kind.kind(), own).expect("a map of each kind");
            parts.push((weight, map?));
        }
        let (_, fitted_to) = saved.into_said()?;
        Ok(Self {
            fitted_to,
            ..Self::of_parts(parts)?
        })
    }

    /// Gives the weights of the maps that are parts, by their short names.
    pub fn weights(&self) -> Vec<(&'static str, f64)> {
        let named = |part: &MixturePart| (part.kind.name(), part.weight);
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
        None
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
            name: format!("{WEIGHTS}{}", part.kind),
            shape: vec![1],
            values: vec![part.weight],
        };
        let own = |part: &MixturePart| {
            let mut parameters = part.map.named_parameters();
            for parameter in &mut parameters {
                parameter.name = format!("{PARTS}{}.{}", part.kind, parameter.name);
            }
            parameters
        };
        let weights = self.parts.iter().map(weight);
        weights.chain(self.parts.iter().flat_map(own)).collect()
    }

    fn formula(&self) -> Option<Formula> {
        let weighted = |part: &MixturePart| {
            let probabilities = part.map.formula()?.results()[0].1.clone();
            Some(Term::from(part.weight) * probabilities.named("q"))
        };
        let terms: Option<Vec<Term>> = self.parts.iter().map(weighted).collect();
        let sum = terms?.into_iter().reduce(|sum, term| sum + term)?;
        Some(Formula::of_probabilities(sum))
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
    use burn::tensor::TensorData;

    use super::*;

    /// Parameters as an earlier version saved them, and of a map that there is not.
    #[test]
    fn files_of_other_versions() {
        let error = |names: &[&str]| {
            let tensor = |&name: &&str| (name.into(), TensorData::from([1.0]));
            let tensors = names.iter().map(tensor).collect();
            let parts = SavedParameters::new(tensors, &Device::flex());
            MapMixture::restore(parts).unwrap_err()
        };
        let before = error(&["weights", "temperature.temperature"]);
        assert!(before.contains("before 0.1"), "{before}");
        let unknown = error(&["weights.sharpness", "parts.sharpness.temperature"]);
        assert!(
            unknown.contains("no map of logits is called sharpness"),
            "{unknown}"
        );
        let left = [
            "weights.temperature",
            "parts.temperature.temperature",
            "parts.beta.x",
        ];
        assert!(error(&left).contains("parts.beta.x"), "{}", error(&left));
    }
}
