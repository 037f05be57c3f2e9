//! The recalibration maps that the command offers: those of the library.

use burn_calibration::recalibration::{DistributionMethod, MapKind};
use clap::builder::PossibleValue;

use crate::error::{Result, wrong};

/// The names of all kinds of maps: of classes, of distributions, or of both.
pub fn names() -> impl Iterator<Item = PossibleValue> {
    let of_classes = MapKind::ALL.iter();
    let of_classes = of_classes.map(|kind| (kind.name(), kind.about()));
    let of_distributions = DistributionMethod::ALL.iter();
    let of_distributions = of_distributions.map(|method| (method.name(), method.about()));
    let is_new = |(name, _): &(&str, &str)| MapKind::ALL.iter().all(|kind| kind.name() != *name);
    let all = of_classes.chain(of_distributions.filter(is_new));
    all.map(|(name, about)| PossibleValue::new(name).help(about))
}

/// The kind of map of classes of a name.
pub fn of_classes(name: &String) -> Result<MapKind> {
    let found = name.parse();
    found.map_err(|_| wrong!("--method {name}: of --family normal or laplace"))
}

/// The kind of map of distributions of a name.
pub fn of_distributions(name: &String) -> Result<DistributionMethod> {
    name.parse().map_err(|_| {
        let names = DistributionMethod::ALL.iter().map(|method| method.name());
        let names = names.collect::<Vec<_>>().join(", ");
        wrong!("--method {name}: of classes, expected one of {names}")
    })
}

/// Whether a map depends on no more than the order of the log-odds of each class, so that they may be
/// infinite.
pub fn takes_zeros(kind: MapKind) -> bool {
    matches!(
        kind,
        MapKind::Isotonic | MapKind::VennAbers | MapKind::Histogram
    )
}
