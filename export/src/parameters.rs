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

    /// Returns a parameter that maps of the kind have.
    ///
    /// # Panics
    ///
    /// If there is none of the name.
    pub fn named(&self, name: &str) -> &NamedParameter {
        let found = self.0.iter().find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("the map has no parameter {name}"))
    }

    /// Returns the numbers of a parameter.
    pub fn values(&self, name: &str) -> &[f64] {
        &self.named(name).values
    }

    /// Makes a table with the shape of a parameter.
    pub fn table(&self, letter: &'static str, name: &str) -> Term {
        let parameter = self.named(name);
        Term::table(letter, parameter.shape.clone(), parameter.values.clone())
    }

    /// Makes a row of the numbers of a parameter, or a single number.
    pub fn numbers(&self, letter: &'static str, name: &str) -> Term {
        Term::numbers(letter, self.values(name).to_vec())
    }
}
