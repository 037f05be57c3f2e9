use std::path::Path;

use burn::tensor::activation::log_softmax;

use super::{
    FittedTo, LogitMap, MapKind, NamedParameter, Recalibration, common::*, ensemble::log_sum,
    file::SavedParameters,
};

/// A mixture of maps: `p' = Σ_k w_k p_k` with the probabilities `p_k` after each map and weights on the simplex;
/// the new logits are `log p'` (a linear opinion pool; of weights that a cross-validation chose, stacking:
/// Wolpert 1992, Breiman 1996).
///
/// Its log loss is at most that of any part plus `−log w_k`, on each prediction: where one map goes far
/// wrong, beyond the data that it was fitted to, the others bound the loss.
///
/// It guarantees nothing: the most likely class is that of the parts only if they agree.
/// [`AutoRecalibrationConfig`](super::AutoRecalibrationConfig) makes it, and [`load_map`](super::load_map)
/// loads it.
#[derive(Debug, Clone)]
pub struct MapMixture {
    parts: Vec<(f64, LogitMap)>,
    fitted_to: FittedTo,
}

/// The short name, as a part and among the candidates of a choice.
pub(super) const MIXTURE: &str = "mixture";
/// The beginnings of the names of weights and of parameters.
const WEIGHTS: &str = "weights.";
const PARTS: &str = "parts.";

impl MapMixture {
    pub(super) const KIND: &'static str = "mixture of maps";

    /// Saves the map, as [`FittedMap::save`], to a path of any type.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        FittedMap::save(self, path.as_ref())
    }

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
        let parts: Vec<(f64, LogitMap)> = parts.into_iter().collect();
        let mut names = Vec::new();
        for (_, map) in &parts {
            if map.method().is_none() {
                return Err(format!("a part is a {} itself", map.kind()));
            }
            if names.contains(&map.name()) {
                return Err(format!("two parts are called {}", map.name()));
            }
            names.push(map.name());
        }
        let weights: Vec<f64> = parts.iter().map(|(weight, _)| *weight).collect();
        let sum: f64 = weights.iter().sum();
        let positive = weights.iter().all(|weight| *weight > 0.0);
        if !(positive && (1.0 - 1e-5..=1.0 + 1e-5).contains(&sum)) {
            return Err(format!(
                "the weights are {weights:?}, expected positive numbers with the sum 1"
            ));
        }
        let mut widths: Vec<usize> = parts.iter().filter_map(|(_, map)| map.width()).collect();
        widths.dedup();
        if widths.len() > 1 {
            return Err(format!(
                "the maps are of {widths:?} classes, expected one number"
            ));
        }
        Ok(Self {
            parts,
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
            if name == MIXTURE {
                return Err(format!("a part is a {} itself", Self::KIND)); // of no depth that a file may give
            }
            let weight = weight.iter::<f64>().next().unwrap_or(f64::NAN);
            parts.push((weight, LogitMap::of_part(&mut saved, PARTS, &name)?));
        }
        let (_, fitted_to) = saved.into_said()?;
        Ok(Self {
            fitted_to,
            ..Self::of_parts(parts)?
        })
    }

    /// Returns the weights of the maps that are parts, by their short names.
    pub fn weights(&self) -> Vec<(&'static str, f64)> {
        let named = |(weight, map): &(f64, LogitMap)| (map.name(), *weight);
        self.parts.iter().map(named).collect()
    }
}

impl LogitMap {
    /// The short name of the kind, that of mixtures for one of them.
    fn name(&self) -> &'static str {
        self.method().map_or(MIXTURE, MapKind::name)
    }

    /// The parameters of a part of another map, after a beginning and the name of the kind.
    pub(super) fn parameters_of_part(&self, beginning: &str) -> Vec<NamedParameter> {
        let mut parameters = self.named_parameters();
        for parameter in &mut parameters {
            parameter.name = format!("{beginning}{}.{}", self.name(), parameter.name);
        }
        parameters
    }

    /// The map that [`parameters_of_part`](Self::parameters_of_part) were saved of, by the name of its kind; or what is
    /// wrong with them.
    pub(super) fn of_part(
        saved: &mut SavedParameters,
        beginning: &str,
        name: &str,
    ) -> Result<Self, String> {
        let kind = if name == MIXTURE {
            MapMixture::KIND
        } else {
            name.parse::<MapKind>().map_err(|e| e.to_string())?.kind()
        };
        let own = saved.split_off(&format!("{beginning}{name}."));
        Self::restore(kind, own).expect("a map of each kind")
    }
}

impl FittedMap for MapMixture {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn width(&self) -> Option<usize> {
        self.parts.iter().find_map(|(_, map)| map.width())
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
        let weight = |(weight, map): &(f64, LogitMap)| {
            NamedParameter::row(format!("{WEIGHTS}{}", map.name()), &[*weight])
        };
        let own = |(_, map): &(f64, LogitMap)| map.parameters_of_part(PARTS);
        let weights = self.parts.iter().map(weight);
        weights.chain(self.parts.iter().flat_map(own)).collect()
    }

    fn formula(&self) -> Option<Formula> {
        let weighted = |(weight, map): &(f64, LogitMap)| {
            let probabilities = map.formula()?.results()[0].1.clone();
            Some(Term::from(*weight) * probabilities.named("q"))
        };
        let terms: Option<Vec<Term>> = self.parts.iter().map(weighted).collect();
        let sum = terms?.into_iter().reduce(|sum, term| sum + term)?;
        Some(Formula::of_probabilities(sum))
    }
}

impl Recalibration for MapMixture {
    fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        let term = |(weight, map): &(f64, LogitMap)| {
            log_softmax(map.forward(logits.clone()), 1) + weight.ln()
        };
        log_sum(self.parts.iter().map(term).collect())
    }
}
