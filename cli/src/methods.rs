//! The recalibration maps that the command offers: those of the library.

use std::sync::LazyLock;

use crate::error::{Result, wrong};
use burn_calibration::recalibration::{DistributionMethod, MapKind};
use clap::{ValueEnum, builder::PossibleValue};

/// The name of a kind of recalibration map: of classes, of distributions, or of both.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    name: &'static str,
    about: &'static str,
}

static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    let of_classes = MapKind::ALL.iter();
    let of_classes = of_classes.map(|kind| (kind.name(), kind.about()));
    let of_distributions = DistributionMethod::ALL.iter();
    let of_distributions = of_distributions.map(|method| (method.name(), method.about()));
    let named = |(name, _): &(&str, &str)| MapKind::ALL.iter().all(|kind| kind.name() != *name);
    let all = of_classes.chain(of_distributions.filter(named));
    all.map(|(name, about)| Method { name, about }).collect()
});

impl Method {
    /// The kind of map of classes.
    pub fn of_classes(self) -> Result<MapKind> {
        let found = self.name.parse();
        found.map_err(|_| wrong!("--method {}: of --family normal or laplace", self.name))
    }

    /// The kind of map of distributions.
    pub fn of_distributions(self) -> Result<DistributionMethod> {
        self.name.parse().map_err(|_| {
            let names = DistributionMethod::ALL.iter().map(|method| method.name());
            let (name, names) = (self.name, names.collect::<Vec<_>>().join(", "));
            wrong!("--method {name}: of classes, expected one of {names}")
        })
    }
}

/// Whether a map depends on no more than the order of the log-odds of each class, so that they may be
/// infinite.
pub fn takes_zeros(kind: MapKind) -> bool {
    matches!(
        kind,
        MapKind::Isotonic | MapKind::VennAbers | MapKind::Histogram
    )
}

impl ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Self] {
        &METHODS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(self.about))
    }
}
