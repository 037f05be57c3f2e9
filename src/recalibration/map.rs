use std::{fmt, path::Path};

use burn::tensor::Tensor;

use super::FitReport;
use crate::error::Result;

/// What a fitted map keeps of the predictions that it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantees {
    /// Whether the order of the classes of a row never changes: a class above another stays above
    /// it, up to rounding, and ties stay ties. It implies the same accuracy, top-k accuracy included.
    pub keeps_order: bool,
    /// Whether the most likely class of a row never changes, hence the accuracy.
    pub keeps_accuracy: bool,
    /// Whether different predictions stay different, whatever their logits: no information is lost,
    /// so that a difference of proper scores is the difference of the calibration errors (Gruber and
    /// Buettner 2022, Proposition 4.4). False where it is not proved.
    ///
    /// A prediction has many logits: adding a number to a row does not change it. A map that acts on
    /// each logit can therefore take different predictions to the same one, though it is injective as a
    /// map of logits.
    pub injective: bool,
    /// The same where the logits are log-probabilities, `log softmax(z)`, of which each prediction has
    /// one row: in the fit, and wherever the map is used.
    pub injective_on_log_probabilities: bool,
}

impl Guarantees {
    /// Keeps the order, the accuracy and all information.
    pub(super) const ALL: Self = Self {
        keeps_order: true,
        keeps_accuracy: true,
        injective: true,
        injective_on_log_probabilities: true,
    };

    /// Keeps nothing for certain.
    pub(super) const NONE: Self = Self {
        keeps_order: false,
        keeps_accuracy: false,
        injective: false,
        injective_on_log_probabilities: false,
    };
}

/// A fitted map from logits to recalibrated logits.
pub trait Recalibration: fmt::Debug + Send {
    /// The kind of the map, as in a saved file: "temperature scaling".
    fn kind(&self) -> &'static str;

    /// The recalibrated logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - output: `[n, m]`, in the dtype of the logits
    ///
    /// # Panics
    ///
    /// If the map was fitted to another number of classes.
    fn forward(&self, logits: Tensor<2>) -> Tensor<2>;

    /// The number of classes that the map was fitted to; none if it takes any.
    fn classes(&self) -> Option<usize>;

    /// What the map keeps.
    fn guarantees(&self) -> Guarantees;

    /// How the fit went; none for a map that was loaded or built from its parameters.
    fn report(&self) -> Option<&FitReport>;

    /// Saves the map with its kind to a Burn record file, written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::Map`](crate::error::Error::Map) if the file cannot be written.
    fn save(&self, path: &Path) -> Result<()>;
}

/// Implements [`Recalibration`] by the inherent functions `apply`, `keeps` and `width` and the field
/// `report`, and `load` by [`Stored`](super::file::Stored).
macro_rules! impl_recalibration {
    ($map:ty) => {
        impl $crate::recalibration::Recalibration for $map {
            fn kind(&self) -> &'static str {
                <Self as $crate::recalibration::file::Stored>::KIND
            }

            fn forward(&self, logits: ::burn::tensor::Tensor<2>) -> ::burn::tensor::Tensor<2> {
                if let Some(expected) = self.width() {
                    let [_, m] = logits.dims();
                    assert_eq!(m, expected, "logits of {m} classes, expected {expected}");
                }
                self.apply(logits)
            }

            fn classes(&self) -> Option<usize> {
                self.width()
            }

            fn guarantees(&self) -> $crate::recalibration::Guarantees {
                self.keeps()
            }

            fn report(&self) -> Option<&$crate::recalibration::FitReport> {
                self.report.as_ref()
            }

            fn save(&self, path: &::std::path::Path) -> $crate::error::Result<()> {
                $crate::recalibration::file::save(self, path)
            }
        }

        impl $map {
            /// Loads a map that [`save`]($crate::recalibration::Recalibration::save) wrote; see
            /// [`load_map`]($crate::recalibration::load_map) for files of any kind.
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
pub(super) use impl_recalibration;
