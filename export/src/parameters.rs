//! The parameters of a map by their names.

use burn_calibration::recalibration::{FittedMap, NamedParameter};

use crate::Term;

/// The parameters of a fitted map.
pub struct Parameters(Vec<NamedParameter>);

impl Parameters {
    /// Takes the parameters of a map.
    pub fn new(map: &dyn FittedMap) -> Self {
        Self(map.named_parameters())
    }

    /// Returns a parameter that maps of the kind have. Panics if there is none of the name.
    pub fn named(&self, name: &str) -> &NamedParameter {
        let found = self.0.iter().find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("the map has no parameter {name}"))
    }

    /// Returns the numbers of a parameter.
    pub fn values(&self, name: &str) -> &[f64] {
        &self.named(name).values
    }

    /// Makes a table with the shape of a parameter, or a single number.
    pub fn term(&self, letter: &'static str, name: &str) -> Term {
        let NamedParameter { shape, values, .. } = self.named(name);
        match values[..] {
            [number] => number.into(),
            _ => Term::table(letter, shape.clone(), values.clone()),
        }
    }
}
