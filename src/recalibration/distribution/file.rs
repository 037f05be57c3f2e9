use super::{DistributionTemperature, QuantileRecalibration, VarianceScaling};
use crate::recalibration::file::Stored;

/// Whether a saved map of this kind is one of distributions.
pub(in crate::recalibration) fn is_of_distributions(kind: &str) -> bool {
    [
        DistributionTemperature::KIND,
        VarianceScaling::KIND,
        QuantileRecalibration::KIND,
    ]
    .contains(&kind)
}

/// What a map of distributions shares with the others: its kind, report and file.
macro_rules! impl_distribution_map {
    ($map:ty) => {
        impl $map {
            /// The kind of the map, as in a saved file.
            pub fn kind(&self) -> &'static str {
                <Self as $crate::recalibration::file::Stored>::KIND
            }

            /// How the fit went; none for a map that was loaded or built from its parameters.
            pub fn report(&self) -> Option<&$crate::recalibration::FitReport> {
                self.report.as_ref()
            }

            /// Saves the map with its kind to a Burn record file, written aside and renamed.
            ///
            /// # Errors
            ///
            /// [`Error::Map`]($crate::error::Error::Map) if the file cannot be written.
            pub fn save(&self, path: impl AsRef<::std::path::Path>) -> $crate::error::Result<()> {
                $crate::recalibration::file::save(self, path.as_ref())
            }

            /// Loads a map that [`save`](Self::save) wrote.
            ///
            /// # Errors
            ///
            /// [`Error::Map`]($crate::error::Error::Map) if the file cannot be read, is not a record,
            /// is truncated, holds another kind of map, or parameters that no such map has.
            pub fn load(
                path: impl AsRef<::std::path::Path>,
                device: &::burn::tensor::Device,
            ) -> $crate::error::Result<Self> {
                $crate::recalibration::file::load(path.as_ref(), device)
            }
        }
    };
}
pub(super) use impl_distribution_map;
