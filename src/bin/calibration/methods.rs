//! The recalibration maps that the command offers: those of the library.

use std::sync::LazyLock;

use burn_calibration::recalibration::MapKind;
use clap::{ValueEnum, builder::PossibleValue};

/// A kind of recalibration map.
#[derive(Debug, Clone, Copy)]
pub struct Method(pub &'static MapKind);

static METHODS: LazyLock<Vec<Method>> =
    LazyLock::new(|| MapKind::all().iter().map(Method).collect());

/// Whether a map depends on no more than the order of the log-odds of each class, so that they may be
/// infinite.
pub fn takes_zeros(kind: &MapKind) -> bool {
    ["isotonic", "venn-abers", "histogram"].contains(&kind.name())
}

impl ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Self] {
        &METHODS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}
